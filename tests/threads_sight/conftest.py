"""What tests of single hooks share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from treadle.threads import shapes
from treadle.threads.instrument.swap import REWRITTEN


@pytest.fixture
def rewritten(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """The module of the test is one of the program."""
    monkeypatch.setitem(REWRITTEN, request.module.__name__, 1)
    shapes.forget()
    yield
    shapes.forget()
