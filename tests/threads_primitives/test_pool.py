"""A pool of threads: who waits for a task, and who keeps the execution going."""

from __future__ import annotations

import contextlib
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.threads_primitives.running import AtRandom, execute, inside
from treadle.threads.primitives.pool import DEFAULT_WORKERS, PoolGuard


def test_an_idle_worker_does_not_keep_the_execution_going() -> None:
    def main() -> None:
        pool = ThreadPoolExecutor(2)
        assert pool.submit(len, "abc").result() == 3  # and nobody shuts it down

    run = execute(main)
    assert run.stop_reason == ""
    assert [strand.treadle_name for strand, _ in run.unfinished] == ["T1"]


def test_a_pool_is_as_large_on_every_machine() -> None:
    assert inside(lambda: ThreadPoolExecutor()._max_workers) == DEFAULT_WORKERS


def test_a_pool_tells_what_it_has_left_to_do() -> None:
    def main() -> tuple[str, int]:
        with ThreadPoolExecutor(1) as pool:
            guard: Any = pool._work_queue
            assert type(guard) is PoolGuard
            pool.submit(int)
            left = guard.qsize()
        return guard.describe(), left

    assert inside(main)[0] == "no tasks"
    assert inside(main)[1] in (0, 1)


def test_a_pool_that_outlives_its_execution_works_in_the_next_one() -> None:
    """As one of a module that is not rewritten, and that the test imports: its workers ended with the execution."""
    kept: list[ThreadPoolExecutor] = []

    def main() -> int:
        if not kept:
            kept.append(ThreadPoolExecutor(1))
        return kept[0].submit(len, "abc").result()

    assert [inside(main) for _ in range(3)] == [3, 3, 3]
    try:
        assert kept[0].submit(len, "ab").result(10) == 2  # and outside
    finally:
        kept[0].shutdown()


def test_what_nobody_has_begun_can_be_taken_away() -> None:
    """As servers do with `executor._work_queue` when they close."""

    def main() -> tuple[int, bool]:
        begun, go_on = threading.Event(), threading.Event()

        def wait() -> None:
            begun.set()
            go_on.wait()

        with ThreadPoolExecutor(1) as pool:
            waits = pool.submit(wait)
            begun.wait()
            later = pool.submit(int)
            taken = 0
            with contextlib.suppress(queue.Empty):
                while True:
                    pool._work_queue.get_nowait().future.cancel()
                    taken += 1
            go_on.set()
        return taken, later.cancelled() and waits.done()

    assert inside(main) == (1, True)


def test_a_worker_of_a_daemon_is_one_too_and_no_deadlock_when_its_pool_is_shut_down() -> None:
    """As those of a scheduler in the background, which goes on when the test is over."""

    def main() -> None:
        pool = ThreadPoolExecutor(1)
        done, never = threading.Event(), threading.Event()

        def background() -> None:
            pool.submit(done.set)
            never.wait()

        threading.Thread(target=background, daemon=True).start()
        done.wait()
        pool.shutdown()

    assert {execute(main, AtRandom(seed)).stop_reason for seed in range(20)} == {""}


class _ShutsDownByItself(ThreadPoolExecutor):
    """As pools of servers that wait for their workers with a timeout."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._shutdown_lock:
            self._shutdown = True
            self._work_queue.put(None)  # type: ignore[arg-type]
        for worker in self._threads:
            worker.join(5)


def test_a_program_that_shuts_its_pool_down_by_itself_wakes_every_worker_up() -> None:
    def main() -> tuple[list[int], list[bool]]:
        with _ShutsDownByItself(2) as pool:
            results = [future.result() for future in [pool.submit(len, "ab"), pool.submit(len, "abc")]]
        return results, [worker.is_alive() for worker in pool._threads]

    results, alive = inside(main)
    assert results == [2, 3]
    assert not any(alive)
