"""A strand that is ended runs its `finally` blocks, but only so far."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from treadle.threads.last_points import at_last_point
from treadle.threads.unwinding import StrandEnd


def ending(guard: Any = None) -> Any:
    return SimpleNamespace(endings=0, guard=guard, waits=0)


def test_it_is_ended_once_and_then_let_go_on_to_its_end() -> None:
    strand = ending()
    with pytest.raises(StrandEnd):
        at_last_point(strand)
    for _ in range(199):
        at_last_point(strand)
    with pytest.raises(StrandEnd):
        at_last_point(strand)


@pytest.mark.parametrize("free", [False, True])
def test_a_finally_block_does_not_wait(free: bool) -> None:
    strand = ending(SimpleNamespace(ready=lambda kind, strand: free))
    strand.endings = 1
    if free:
        at_last_point(strand)
    else:
        with pytest.raises(StrandEnd):
            at_last_point(strand)
