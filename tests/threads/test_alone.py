"""What is kept for a strand alone: the attributes of a `threading.local`, and no trace of much that main does first."""

from __future__ import annotations

import threading

import treadle
from tests.threads_primitives.running import execute
from treadle.threads import native_locals
from treadle.threads.execution import ALONE_SEEN

KEPT = threading.local()


def test_each_strand_has_entries_of_its_own_in_the_state_of_its_os_thread() -> None:
    shown = vars(native_locals)["_SHOWN"]
    seen: list[object] = []

    def main() -> None:
        shown.entries["ours"] = "main"

        def work() -> None:
            seen.append(shown.entries.get("ours"))
            shown.entries["ours"] = "T1"

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        seen.append(shown.entries.pop("ours"))

    execute(main)
    assert seen == [None, "main"]
    assert not native_locals.are_exchanged()


def test_what_main_has_is_put_back_when_another_strand_was_the_last() -> None:
    KEPT.name = "outside"

    def test() -> None:
        thread = threading.Thread(target=lambda: setattr(KEPT, "name", "T1"), daemon=True)
        thread.start()
        KEPT.name = "main"

    assert not treadle.check(test).failed
    assert KEPT.name == "outside"


def long_before_the_threads(wrong: bool) -> None:
    total = [0]
    for number in range(ALONE_SEEN):
        total[0] += number
    begun = total[0]

    def add() -> None:
        total[0] += 1

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total[0] == begun + 2 or not wrong


def test_much_that_main_does_before_any_thread_is_no_part_of_the_trace() -> None:
    result = treadle.check(lambda: long_before_the_threads(False))
    assert result.verdict.is_pass
    assert ALONE_SEEN <= result.statistics["longest"] < ALONE_SEEN + 100


def test_a_race_after_a_long_beginning_is_found_and_replayed() -> None:
    (finding,) = treadle.check(lambda: long_before_the_threads(True)).findings
    assert finding.replay
