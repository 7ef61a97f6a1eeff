"""A barrier as CPython's, where its operations meet."""

from __future__ import annotations

import threading

from tests.threads_primitives.running import execute, outcomes, together
from treadle.core.operation import PUT, WAIT
from treadle.threads.primitives.barrier import BarrierGuard


def test_who_comes_while_the_last_round_drains_waits_for_the_next() -> None:
    def main() -> None:
        barrier = threading.Barrier(2)
        guard = barrier._cond  # type: ignore[attr-defined]
        assert type(guard) is BarrierGuard
        assert guard.describe() == "0 of 2 have come"
        barrier._state = 1  # type: ignore[attr-defined]
        assert guard.guards() == 1 << WAIT
        barrier._state = 0  # type: ignore[attr-defined]
        assert guard.guards() == 1 << PUT

    execute(main)


def test_a_reset_breaks_who_waits_and_leaves_the_barrier_whole() -> None:
    def main() -> tuple[str, bool]:
        barrier, seen = threading.Barrier(2), list[str]()

        def come() -> None:
            try:
                barrier.wait()
                seen.append("met")
            except threading.BrokenBarrierError:
                seen.append("broken")

        thread = threading.Thread(target=come, daemon=True)
        thread.start()
        barrier.reset()
        if barrier.n_waiting:  # it came behind the reset
            barrier.wait()
        thread.join()
        return seen[0], barrier.broken

    assert outcomes(main, 60) == {("met", False), ("broken", False), "stuck"}


def test_an_abort_is_told_to_everybody_who_comes() -> None:
    def main() -> list[str]:
        barrier, seen = threading.Barrier(3), list[str]()

        def come() -> None:
            try:
                barrier.wait()
            except threading.BrokenBarrierError:
                seen.append("broken")

        together(come, come, barrier.abort)
        return seen

    assert outcomes(lambda: tuple(main()), 30) == {("broken", "broken")}
