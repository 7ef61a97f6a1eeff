"""What Treadle throws through a program is an object that a program may keep, and refer to weakly."""

import weakref

import pytest

from treadle.threads.unwinding import Asks, StrandEnd


@pytest.mark.parametrize("kind", [StrandEnd, Asks])
def test_a_weak_reference_is_told_when_it_dies(kind: type[BaseException]) -> None:
    told: list[object] = []
    error = kind()
    reference = weakref.ref(error, told.append)
    del error
    assert told == [reference]
    assert reference() is None
