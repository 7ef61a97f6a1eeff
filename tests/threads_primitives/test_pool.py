"""A pool of threads: who waits for a task, and who keeps the execution going."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.threads_primitives.running import execute, inside
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
