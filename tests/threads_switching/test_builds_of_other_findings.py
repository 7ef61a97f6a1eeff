"""On which builds: findings of event loops, of actors, and through code of the standard library."""

from __future__ import annotations

import asyncio
import functools
import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any

import pykka
import pytest

import treadle
from treadle.core.builds import Builds
from treadle.core.errors import UsageError
from treadle.core.result import Finding, Result, Verdict
from treadle.doors.schedule.campaign import check_schedules
from treadle.report.explore_page import result_part
from treadle.report.page import render
from treadle.threads.switching import running_name
from treadle.threads.watchdog import OutOfTime

_ASYNCIO = f"every build, if its asyncio does what that of {running_name()} does"


class Counter:
    def __init__(self) -> None:
        self.value = 0

    def add(self) -> None:
        self.value += 1

    def add_with_call(self) -> None:
        self.value = int(self.value) + 1


async def _add_later(counter: Counter) -> None:
    value = counter.value
    await asyncio.sleep(0)
    counter.value = value + 1


def two_tasks() -> None:
    async def main() -> None:
        counter = Counter()
        await asyncio.gather(_add_later(counter), _add_later(counter))
        assert counter.value == 2

    asyncio.run(main())


def first_comes_first() -> None:
    """asyncio promises this order."""
    order: list[int] = []

    async def note(number: int) -> None:
        order.append(number)

    async def main() -> None:
        await asyncio.gather(note(1), note(2))
        assert order == [1, 2]

    asyncio.run(main())


def _loop_and_thread(step: Callable[[Counter], None]) -> Callable[[], None]:
    def test() -> None:
        async def main() -> None:
            counter = Counter()
            await asyncio.gather(asyncio.to_thread(step, counter), _add_now(counter))
            assert counter.value == 2

        asyncio.run(main())

    return test


async def _add_now(counter: Counter) -> None:
    counter.value += 1


def _on(result: Result) -> str:
    assert result.verdict is Verdict.FAILED
    return str(result.findings[0].builds)


@pytest.mark.parametrize("model", ["free", "gil", "auto"])
def test_tasks_of_one_loop_switch_at_awaits_on_every_build(model: str) -> None:
    result = treadle.check(two_tasks, switches=model)
    assert _on(result) == _ASYNCIO
    assert not result.switches  # there is nothing that a model decides


def test_an_order_that_asyncio_does_not_choose_needs_another_event_loop() -> None:
    result = treadle.check(first_comes_first, any_order=True)
    assert _on(result) == "every build, if its event loop does not keep the order of call_soon, as asyncio's own does"
    with pytest.raises(UsageError, match="any_order"):
        treadle.check(first_comes_first, any_order=True, switches="gil")


def test_a_thread_beside_a_loop_is_explored_under_gil() -> None:
    test = _loop_and_thread(Counter.add_with_call)
    assert _on(treadle.check(test, source=_loop_and_thread, switches="gil")) == _ASYNCIO
    atomic = _loop_and_thread(Counter.add)
    assert treadle.check(atomic, source=_loop_and_thread, switches="gil").verdict is Verdict.PASSED_EXHAUSTIVE
    found = _on(treadle.check(atomic, source=_loop_and_thread))
    assert found.startswith("free-threaded builds (3.13t, 3.14t), PyPy; not on CPython 3.11 to 3.14 with the GIL")


def test_a_deadline_that_strikes_early_settles_what_others_leave_open() -> None:
    """The time limit of `join` ends only when all wait, in the search that found it; a GIL does not help by then."""

    def test() -> None:
        counter = Counter()
        other = threading.Thread(target=counter.add)
        other.start()
        counter.add()
        other.join(5)
        assert other.is_alive() or counter.value == 2

    found = _on(treadle.check(test))
    assert found.startswith("free-threaded builds (3.13t, 3.14t), PyPy; not on CPython 3.11 to 3.14 with the GIL")


class Linked:
    other: Linked | None = None

    @functools.cached_property
    def first(self) -> int:
        return 1 if self.other is None else self.other.second + 1

    @functools.cached_property
    def second(self) -> int:
        return 1 if self.other is None else self.other.first + 1


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="functools.cached_property has no lock any more")
def test_models_stay_in_modules_that_are_rewritten() -> None:
    """What a module had before the first execution is put back behind each, the models in it included."""

    def test() -> None:
        one, two = Linked(), Linked()
        one.other, two.other = Linked(), Linked()
        treadle.parallel(lambda: one.first, lambda: two.second)

    assert _on(treadle.check(test, instrument=["functools"])).startswith("every build, if its functools.py")


_NUMBERS = itertools.count()


def test_a_counter_that_starts_over_keeps_its_name() -> None:
    def test() -> None:
        assert treadle.parallel(lambda: next(_NUMBERS), lambda: next(_NUMBERS)) == [0, 1]

    result = treadle.check(test)
    assert _on(result) == "every build"
    assert result.evidence is not None
    assert result.evidence.shared == []  # what modules hold is always taken for shared
    assert f"{__name__}._NUMBERS" in str(result.findings[0].steps)


def test_code_of_the_standard_library_may_be_another_elsewhere() -> None:
    """`functools.cached_property` has a lock until 3.11, and none later: two computations show it."""

    class Made:
        @functools.cached_property
        def number(self) -> object:
            return object()

    def test() -> None:
        made = Made()
        first, second = treadle.parallel(lambda: made.number, lambda: made.number)
        assert first is not second  # fails where both get one object, with and without the lock

    result = treadle.check(test, instrument=["functools"])
    assert "functools.py" in _on(result)
    assert f"does what that of {running_name()} does" in _on(result)


class Recorder(pykka.ThreadingActor):  # type: ignore[misc]  # pykka has no types
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def on_receive(self, message: Any) -> Any:
        if message == "all":
            return self.seen
        self.seen.append(message)
        return None


class Forwarder(pykka.ThreadingActor):  # type: ignore[misc]  # pykka has no types
    def __init__(self, to: Any) -> None:
        super().__init__()
        self.to = to

    def on_receive(self, message: Any) -> Any:
        self.to.tell(message)


def two_forwarders() -> None:
    recorder = Recorder.start()
    first, second = Forwarder.start(recorder), Forwarder.start(recorder)
    first.tell(1)
    second.tell(2)
    first.stop()
    second.stop()
    seen = recorder.ask("all")
    pykka.ActorRegistry.stop_all()
    assert seen == [1, 2]


def test_an_order_of_messages_can_come_on_every_build() -> None:
    assert _on(treadle.check(two_forwarders)) == "every build"
    found: list[Finding] = check_schedules(two_forwarders).findings
    assert str(found[0].builds) == "every build"


def test_a_page_has_the_builds_and_names_the_model_of_a_pass() -> None:
    failed = render([result_part(treadle.check(two_forwarders))])
    assert '"builds":"every build"' in failed
    passed = treadle.check(_loop_and_thread(Counter.add), source=_loop_and_thread, switches="gil")
    assert f'"verdict":"PASSED-EXHAUSTIVE (gil, {running_name()})"' in render([result_part(passed)])


def test_what_else_must_hold_is_said_with_every_form() -> None:
    builds = Builds(("3.11",), ("3.12", "3.13", "3.14"), only_if="it rains")
    assert str(builds).endswith("; not on CPython 3.12 to 3.14 with the GIL; all of this if it rains")
    assert builds.to_json()["only_if"] == "it rains"


def test_a_failure_is_told_when_the_time_is_over_while_its_builds_are_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One execution of a test with a server may take longer than what is left."""

    def main() -> None:
        counter = Counter()
        treadle.parallel(counter.add, counter.add)
        assert counter.value == 2

    def run_out(*_: Any) -> str:
        raise OutOfTime

    monkeypatch.setattr("treadle.doors.explore.models._impossible_switch", run_out)
    finding = treadle.check(main).findings[0]
    assert finding.builds is not None
    assert "there was no time to look" in finding.builds.on
