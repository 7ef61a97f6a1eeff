"""The parts of an event loop under control, each by itself."""

from __future__ import annotations

import asyncio
import functools
import socket
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from tests.tasks.running import execute, inside, strand
from treadle.core.errors import Unsupported, UsageError
from treadle.core.operation import EVERY_KIND, PUT, READ, STEP, WAIT, WRITE
from treadle.search.random_walk import RandomWalk
from treadle.tasks import environment, handles, oracles, outside, patches, running, steps, unseen
from treadle.tasks.choices import OpenChoice, choose
from treadle.tasks.chosen_steps import announce
from treadle.tasks.drawing import DrawnLoop
from treadle.tasks.drawn_steps import draw_steps
from treadle.tasks.execution import TaskExecution
from treadle.tasks.loop import Loop
from treadle.tasks.network import MemoryServer, Network
from treadle.tasks.work import Queue, WatchedSockets


async def nothing() -> None:
    pass


# ---------------------------------------------------------------------- which loop runs where


def test_a_strand_does_not_see_the_loop_of_another() -> None:
    seen: list[Any] = []

    def main() -> None:
        async def body() -> None:
            thread = threading.Thread(target=lambda: seen.append(running.running_or_none()))
            thread.start()
            thread.join()
            seen.append(running.get_running_loop() is asyncio.get_running_loop())

        asyncio.run(body())

    execute(main)
    assert seen == [None, True]


def test_only_the_first_thread_gets_a_loop_without_setting_one() -> None:
    def main() -> list[str]:
        found = [type(running.get_event_loop()).__name__]

        def ask() -> None:
            try:
                running.get_event_loop()
            except RuntimeError as error:
                found.append(str(error))

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        return found

    assert inside(main) == ["Loop", "There is no current event loop in thread 'T1'."]


def test_what_is_no_loop_is_refused_as_by_asyncio() -> None:
    with pytest.raises(TypeError, match="loop must be an instance of AbstractEventLoop or None, not 'int'"):
        execute(lambda: running.set_event_loop(3))


def test_asyncio_is_its_own_again_behind_the_block() -> None:
    before = asyncio.tasks.Task, asyncio.events.new_event_loop, asyncio.SelectorEventLoop
    with patches.controlled():
        assert asyncio.tasks.Task is not before[0]
        loop = asyncio.new_event_loop()  # nobody executes anything
        assert not isinstance(loop, Loop)
        loop.close()
    assert (asyncio.tasks.Task, asyncio.events.new_event_loop, asyncio.SelectorEventLoop) == before


def test_a_loop_factory_of_another_library_is_replaced_and_told() -> None:
    def main() -> bool:
        factory: Any = type("uvloop_factory", (), {"__module__": "uvloop"})
        with asyncio.Runner(loop_factory=factory) as runner:
            return isinstance(runner.get_loop(), Loop)

    found: list[bool] = []
    run = execute(lambda: found.append(main()))
    assert found == [True]
    assert [one.message for one in oracles.warnings(run)] == [
        "the loop factory of uvloop is replaced: the test runs on Treadle's own event loop"
    ]


# ---------------------------------------------------------------------- choices


def test_a_choice_takes_one_option_and_then_lets_the_chooser_on() -> None:
    def main() -> list[int]:
        choice = OpenChoice()
        before = choice.guards()
        choice.taken = 1
        return [before, choice.guards()]

    assert inside(main) == [1 << PUT, 1 << WAIT]


def test_a_choice_without_options_is_refused_and_one_of_one_is_none() -> None:
    with pytest.raises(UsageError, match="at least one option"):
        choose([])
    run = execute(lambda: choose(["only"]))
    assert [one.treadle_name for one in run.strands] == ["main"]


# ---------------------------------------------------------------------- what is not there


def test_what_leaves_the_process_ends_the_execution_whatever_the_program_does() -> None:
    def main() -> None:
        loop = SimpleNamespace(execution=strand().execution)
        try:
            outside.refused("a subprocess", "subprocess_exec")(loop)
        except Unsupported:
            pass  # a program that catches everything

    with pytest.raises(Unsupported, match=r"test_parts.py:\d+ uses a subprocess of the real world"):
        execute(main)


# ---------------------------------------------------------------------- hooks that record nothing


def test_hooks_that_record_nothing_do_what_python_does() -> None:
    thing = SimpleNamespace(x=1, table={})

    def main() -> None:
        unseen.store(2, thing, "x")
        assert unseen.load(thing, "x") == 2
        unseen.set_item(3, thing.table, "k")
        assert unseen.inside("k", thing.table)

    assert [op for _, op in execute(main).trace if op[0] in (READ, WRITE)] == []


def test_a_model_stands_in_where_nothing_is_recorded_too() -> None:
    made_before = threading.Lock()

    def main() -> bool:
        return bool(unseen.function(made_before.acquire)())

    assert inside(main) is True
    assert not made_before.locked()  # the model was taken, and the real one left alone


def test_a_loop_that_waits_has_the_search_begin_again_with_all_accesses() -> None:
    run = execute(lambda: unseen.UNSEEN_HOOKS["_treadle_spin"]())
    assert (run.spins, run.revealed, run.stop_reason) == (True, True, "blocked")


# ---------------------------------------------------------------------- what a loop waits for


def test_a_loop_has_work_when_it_is_woken() -> None:
    def main() -> list[object]:
        loop: Any = asyncio.new_event_loop()
        queue = loop.queue
        assert type(queue) is Queue
        before = queue.describe(), queue.guards() == EVERY_KIND
        queue.woken = True
        return [*before, queue.guards() == EVERY_KIND]

    assert inside(main) == ["nothing is scheduled", False, True]


def test_a_watched_socket_is_found_without_waiting() -> None:
    one, other = socket.socketpair()
    with one, other:
        watched = WatchedSockets()
        watched.register(one, 1)
        assert watched.select(None) == []  # it never waits
        other.send(b"x")
        assert [(key.fileobj, events) for key, events in watched.select(None)] == [(one, 1)]


# ---------------------------------------------------------------------- what the world does between two steps


def timer(number: int, delay: float) -> Any:
    return SimpleNamespace(number=number, delay=delay)


def test_a_timer_does_not_strike_before_one_that_was_set_earlier_for_no_longer() -> None:
    first, longer, shorter = timer(0, 5), timer(1, 9), timer(2, 1)
    assert environment.that_may_strike([shorter, longer, first]) == [first, shorter]


def test_timers_of_different_deadlines_keep_their_order() -> None:
    early, late = (SimpleNamespace(explicit=True, _when=when) for when in (1, 2))
    assert environment.in_some_order([early, late]) == [early, late]


def test_a_timeout_is_known_by_what_it_calls() -> None:
    timeout = asyncio.timeout_at(None)
    assert environment.is_timeout(timeout._on_timeout)  # type: ignore[attr-defined]
    assert not environment.is_timeout(print)


# ---------------------------------------------------------------------- handles and steps


def test_what_is_made_late_is_made_once_and_per_object() -> None:
    class Owner:
        kept: Any = handles.MadeLate(list)

    one, other = Owner(), Owner()
    one.kept.append(1)
    assert (one.kept, other.kept) == ([1], [])
    assert isinstance(Owner.kept, handles.MadeLate)


def test_a_cancelled_handle_is_a_write_of_what_its_step_reads() -> None:
    def main() -> None:
        loop: Any = asyncio.new_event_loop()
        loop.call_soon(print).cancel()
        loop.close()

    run = execute(main, any_order=True)
    assert [op[1] for _, op in run.trace if op[0] == WRITE and str(op[1]).startswith("handle")] == ["handle#1"]


def test_a_task_is_called_by_its_author_or_by_its_coroutine() -> None:
    def main() -> list[str]:
        async def body() -> list[str]:
            both = [asyncio.create_task(nothing()), asyncio.create_task(nothing(), name="mine")]
            names = [steps.task_name(one) for one in both]
            told = [steps.describe_task(one).partition(" (")[0] for one in both]
            await asyncio.gather(*both)
            return [*names, *told]

        return asyncio.run(body())

    assert inside(main) == ["nothing", "mine", "task nothing is scheduled", "task mine is scheduled"]


def test_what_a_suspended_task_awaits_is_told_by_the_function_of_asyncio() -> None:
    def main() -> str:
        async def body() -> str:
            lock = asyncio.Lock()
            async with lock:
                waits = asyncio.create_task(lock.acquire())
                await asyncio.sleep(0)
                told = steps.awaited(waits)
            await waits
            return told

        return asyncio.run(body())

    assert inside(main) == "Lock.acquire"


def test_the_causes_of_a_step_are_two_numbers_in_one() -> None:
    assert steps.causes(-1, -1) == 0
    assert steps.causes(4, -1) == 5
    assert steps.causes(-1, 0) != steps.causes(0, -1)


def test_a_callback_is_seen_through_its_partials() -> None:
    async def body() -> None:
        pass

    assert steps.is_seen(functools.partial(functools.partial(asyncio.sleep), 1))
    assert not steps.is_seen(functools.partial(print))


# ---------------------------------------------------------------------- loops that only draw


def drawn(main: Any) -> TaskExecution:
    return execute(main, RandomWalk(1), any_order=True, only_steps=True, only_draws=True)


def test_a_loop_that_only_draws_runs_tasks_to_their_end() -> None:
    order: list[int] = []

    def main() -> None:
        async def work(number: int) -> None:
            await asyncio.sleep(0)
            order.append(number)

        async def body() -> None:
            assert type(asyncio.get_running_loop()) is DrawnLoop
            await asyncio.gather(*(work(number) for number in range(3)))

        asyncio.run(body())

    run = drawn(main)
    assert sorted(order) == [0, 1, 2]
    assert [one.treadle_name for one in run.strands] == ["main"]  # no strand stands for a task


def test_drawing_stops_where_there_is_nothing_to_do() -> None:
    def main() -> None:
        loop: Any = asyncio.new_event_loop()
        loop.call_soon(int)
        loop.call_soon(int).cancel()
        assert draw_steps(loop, loop.execution, 10) == 1
        loop.close()

    drawn(main)


def test_a_loop_announces_its_first_callback_or_that_it_waits() -> None:
    def main() -> list[int]:
        loop: Any = asyncio.new_event_loop()
        announced: list[int] = []
        for do in (lambda: None, lambda: loop.call_soon(int), lambda: loop._ready[0].cancel()):
            do()
            announce(loop)
            announced.append(strand().pending[0])
            strand().guard = strand().touched = None  # it does not wait after all
        loop.close()
        return announced

    assert inside(main, any_order=True) == [WAIT, STEP, WAIT]


# ---------------------------------------------------------------------- the network


def test_addresses_are_taken_once_and_a_port_of_zero_is_a_free_one() -> None:
    network, server = Network(), object.__new__(MemoryServer)
    first = network.listen(server, 0)
    assert network.listen(server, 0) != first
    with pytest.raises(OSError, match="address already in use"):
        network.listen(server, first)
