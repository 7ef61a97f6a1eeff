"""Long executions: after the last interruption a strand goes on unseen until it has to wait. Nothing that fails there
is lost, nothing is claimed that was not seen, and a strand that waits in a loop is looked at again."""

from __future__ import annotations

import asyncio
import concurrent.futures
import queue
import threading
import time
from collections.abc import Callable

import pytest

import treadle
from treadle.doors.explore import campaign
from treadle.search import auto, few_preemptions
from treadle.threads import watchdog
from treadle.threads.execution import Execution
from treadle.threads.loom import Loom
from treadle.threads.strands import STATE


class Box:
    def __init__(self) -> None:
        self.value = 0
        self.noise = 0
        self.ready = False


@pytest.fixture(autouse=True)
def long_after_a_few_operations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Executions of these small tests count as long ones. Gives the steps from which on they coasted."""
    monkeypatch.setattr(few_preemptions, "LONG", 10)
    monkeypatch.setattr(few_preemptions, "WINDOW", 30)
    monkeypatch.setattr(auto, "LONG", 10)
    monkeypatch.setattr(auto, "_MOST_COMPARED", 30)
    coasted: list[int] = []
    usual = Loom.run

    def run(self: Loom, *arguments: object) -> object:
        done = usual(self, *arguments)  # type: ignore[arg-type]
        coasted.append(done.coasted_from)
        assert not STATE.coasting
        return done

    monkeypatch.setattr(Loom, "run", run)
    return coasted


def _run(*bodies: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def an_update_is_lost_and_seen_long_after() -> None:
    box, lock = Box(), threading.Lock()

    def work() -> None:
        for number in range(30):
            if number < 10:
                box.value = box.value + 1
            with lock:
                box.noise += 1

    _run(work, work)
    assert box.noise == 60
    assert box.value == 20


def all_is_locked() -> None:
    box, lock = Box(), threading.Lock()

    def work() -> None:
        for _ in range(40):
            with lock:
                box.value += 1

    _run(work, work)
    assert box.value == 80


def queues_and_conditions() -> None:
    jobs: queue.Queue[int] = queue.Queue(2)
    done: list[int] = []
    changed = threading.Condition()

    def work() -> None:
        while (job := jobs.get()) >= 0:
            with changed:
                done.append(job)
                changed.notify_all()
            time.sleep(0.01)

    def feed() -> None:
        for number in range(40):
            jobs.put(number)
        with changed:
            changed.wait_for(lambda: len(done) == 40)
        jobs.put(-1)
        jobs.put(-1)

    _run(work, work, feed)
    assert sorted(done) == list(range(40))


def one_waits_in_a_loop() -> None:
    box, lock = Box(), threading.Lock()

    def wait() -> None:
        while not box.ready:
            pass

    def work() -> None:
        for _ in range(40):
            with lock:
                box.value += 1
        box.ready = True

    _run(wait, work)
    assert box.value == 40


def polls_a_queue_without_a_pause() -> None:
    jobs: queue.Queue[int] = queue.Queue()
    box = Box()

    def poll() -> None:
        while True:
            try:
                jobs.get_nowait()
                return
            except queue.Empty:
                box.noise += 1

    def work() -> None:
        for _ in range(40):
            box.value += 1
        jobs.put(1)

    _run(poll, work)


def both_wait_for_ever_late() -> None:
    first, second, box = threading.Lock(), threading.Lock(), Box()

    def work(one: threading.Lock, other: threading.Lock) -> None:
        for _ in range(25):
            with one:
                box.noise += 1
            with one, other:
                box.value += 1

    _run(lambda: work(first, second), lambda: work(second, first))


async def tasks_with_many_steps() -> None:
    box = Box()

    async def work() -> None:
        for _ in range(20):
            box.value += 1
            await asyncio.sleep(0)

    await asyncio.gather(work(), work())


def test_where_steps_of_tasks_are_those_of_the_search_all_is_looked_at(long_after_a_few_operations: list[int]) -> None:
    treadle.check(tasks_with_many_steps, any_order=True, executions=10)
    assert set(long_after_a_few_operations) == {-1}


def test_what_fails_after_nobody_looked_is_found_and_replays(long_after_a_few_operations: list[int]) -> None:
    result = treadle.check(an_update_is_lost_and_seen_long_after, executions=200, builds=False)
    assert result.verdict.name == "FAILED"
    assert max(long_after_a_few_operations) > 0
    assert "== 20" in result.findings[0].message
    assert result.findings[0].replay  # there is none that was not followed


def test_a_deadlock_is_found_and_replays(long_after_a_few_operations: list[int]) -> None:
    result = treadle.check(both_wait_for_ever_late, executions=300, builds=False)
    assert (result.verdict.name, result.findings[0].kind) == ("FAILED", "deadlock")
    assert result.findings[0].replay
    assert max(long_after_a_few_operations) > 0


def test_what_takes_too_long_to_be_seen_again_is_told_without_a_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    def never_ends(loom: Loom, limit: int, strategy: object) -> Execution:
        raise watchdog.OutOfTime

    monkeypatch.setattr(campaign, "run_to", never_ends)
    result = treadle.check(an_update_is_lost_and_seen_long_after, executions=200, builds=False)
    assert (result.verdict.name, result.findings[0].replay) == ("FAILED", "")
    assert "too long to be recorded" in result.findings[0].notes[0]


@pytest.mark.parametrize("program", [all_is_locked, queues_and_conditions])
def test_what_was_not_seen_is_no_pass(program: Callable[[], None], long_after_a_few_operations: list[int]) -> None:
    result = treadle.check(program, executions=30)
    assert result.verdict.name == "CUT"
    assert sum(step >= 0 for step in long_after_a_few_operations) >= 20


def test_a_strand_that_waits_in_a_loop_is_looked_at_again(long_after_a_few_operations: list[int]) -> None:
    result = treadle.check(one_waits_in_a_loop, executions=20)
    assert not result.findings
    assert long_after_a_few_operations[-10:] == [-1] * 10  # and from then on all executions are


def test_what_happened_unseen_during_an_iteration_may_be_what_the_loop_waits_for() -> None:
    def polls_for_the_last_of_many() -> None:
        done, items = threading.Event(), list(range(200))

        def work() -> None:
            while items:
                items.pop()
            done.set()

        def wait() -> None:
            while not done.is_set():
                time.sleep(0.01)

        _run(work, wait)

    result = treadle.check(polls_for_the_last_of_many, executions=40)
    assert not result.findings
    assert not result.warnings  # such as a livelock in one execution, which did not fail when it was run again


@pytest.mark.slow  # the watch looks once a second
def test_a_strand_that_never_waits_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "_COASTS_FOR", 0.0)
    result = treadle.check(polls_a_queue_without_a_pause, executions=5)
    assert not result.findings


def test_what_only_failed_unseen_is_told() -> None:
    def fails_where_nobody_looks() -> None:
        unseen: list[bool] = []
        lock = threading.Lock()

        def work() -> None:
            for _ in range(40):
                with lock:
                    unseen.append(STATE.coasting)

        _run(work, work)
        assert not any(unseen)

    result = treadle.check(fails_where_nobody_looks, executions=30)
    assert result.verdict.name == "CUT"
    assert any("did not fail when it was run again" in warning.message for warning in result.warnings)


def events_barriers_and_semaphores() -> None:
    go, gate, room, box = threading.Event(), threading.Barrier(3), threading.Semaphore(1), Box()
    lock = threading.RLock()

    def work() -> None:
        assert go.wait(5)
        for _ in range(10):
            with room, lock, lock:
                box.value += 1
        gate.wait()
        assert box.value == 30

    timer = threading.Timer(1.0, go.set)
    timer.start()
    _run(work, work, work)
    timer.join()


def pools_and_futures() -> None:
    def square(number: int) -> int:
        time.sleep(0.001 * (number % 3))
        return number * number

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(square, number) for number in range(15)]
        assert sorted(one.result() for one in concurrent.futures.as_completed(futures)) == [n * n for n in range(15)]
        assert list(pool.map(square, range(5))) == [0, 1, 4, 9, 16]


def queues_that_are_joined() -> None:
    jobs: queue.PriorityQueue[int] = queue.PriorityQueue()
    done: queue.SimpleQueue[int] = queue.SimpleQueue()
    local = threading.local()

    def work() -> None:
        local.sum = 0
        while True:
            try:
                local.sum += jobs.get(timeout=1.0)
            except queue.Empty:
                break
            jobs.task_done()
        done.put(local.sum)

    for number in range(20):
        jobs.put(number)
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    jobs.join()
    assert done.get() + done.get() == 190
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()


def a_loop_in_a_thread() -> None:
    loop = asyncio.new_event_loop()
    runner = threading.Thread(target=loop.run_forever)
    runner.start()

    async def add(one: int, other: int) -> int:
        await asyncio.sleep(0.01)
        return one + other

    results = [asyncio.run_coroutine_threadsafe(add(number, 1), loop) for number in range(8)]
    assert [one.result(5) for one in results] == list(range(1, 9))
    loop.call_soon_threadsafe(loop.stop)
    runner.join()
    loop.close()


@pytest.mark.parametrize(
    "program", [events_barriers_and_semaphores, pools_and_futures, queues_that_are_joined, a_loop_in_a_thread]
)
@pytest.mark.parametrize("operations", [0, 7, 40])
def test_what_the_models_do_unseen_is_the_same(
    program: Callable[[], None],
    operations: int,
    monkeypatch: pytest.MonkeyPatch,
    long_after_a_few_operations: list[int],
) -> None:
    monkeypatch.setattr(auto, "_MOST_COMPARED", operations)
    monkeypatch.setattr(few_preemptions, "WINDOW", operations)
    result = treadle.check(program, executions=25)
    assert not result.findings
    assert result.verdict.name == "CUT"
    assert max(long_after_a_few_operations) >= 0


def waits_that_may_be_over_at_any_time() -> None:
    lock, box, asked = threading.Lock(), Box(), [threading.Event() for _ in range(12)]

    def hold() -> None:
        for event in asked:
            with lock:
                box.noise = 1
                event.wait()
                box.noise = 0

    def ask() -> None:
        for event in asked:
            if lock.acquire(timeout=1.0):
                assert box.noise == 0
                lock.release()
            event.set()

    _run(hold, ask)


def test_a_wait_whose_time_runs_out_unseen_gets_nothing(
    monkeypatch: pytest.MonkeyPatch, long_after_a_few_operations: list[int]
) -> None:
    monkeypatch.setattr(auto, "_MOST_COMPARED", 0)
    monkeypatch.setattr(few_preemptions, "WINDOW", 5)
    result = treadle.check(waits_that_may_be_over_at_any_time, executions=30, timeouts="any")
    assert not result.findings
    assert min(long_after_a_few_operations) >= 0  # nothing failed that does not when it is looked at
