"""An event as CPython's, where its operations meet."""

from __future__ import annotations

import threading

from tests.threads_primitives.running import execute, inside
from treadle.core.operation import LOOK, SIGNAL, WAIT
from treadle.threads.primitives.event import EventGuard


def test_each_method_is_one_operation_and_a_wait_of_no_time_a_look() -> None:
    def main() -> None:
        event = threading.Event()
        assert not event.wait(0)
        event.set()
        assert event.is_set()
        assert event.wait()
        event.clear()

    kinds = [op[0] for _, op in execute(main).trace if op[1] == "Event#1"]
    assert kinds == [LOOK, SIGNAL, LOOK, WAIT, SIGNAL]


def test_an_event_of_a_module_is_as_it_was_when_the_execution_is_over() -> None:
    event = threading.Event()
    event.set()
    before = event._cond  # type: ignore[attr-defined]

    def main() -> str:
        event.clear()
        guard = event._cond  # type: ignore[attr-defined]
        assert type(guard) is EventGuard
        return guard.describe()

    assert inside(main) == "not set"
    assert event.is_set()
    assert event._cond is before  # type: ignore[attr-defined]
