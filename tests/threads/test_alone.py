"""What is kept for a strand alone: the attributes of a `threading.local`, and no trace of much that main does first."""

from __future__ import annotations

import gc
import threading
from typing import Any

import pytest

import treadle
from tests.threads_primitives.running import execute
from treadle.threads import native_locals
from treadle.threads.execution import ALONE_SEEN
from treadle.threads.primitives.local import RealLocal

KEPT = threading.local()


def test_each_strand_has_attributes_of_its_own_in_a_local_that_is_c() -> None:
    kept = native_locals_of()
    seen: list[object] = []

    def main() -> None:
        kept.name = "main"

        def work() -> None:
            seen.append(getattr(kept, "name", None))
            kept.name = "T1"

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        seen.append(kept.name)

    execute(main)
    assert seen == [None, "main"]
    assert not native_locals.are_exchanged()


def test_what_belonged_to_a_local_that_has_died_is_not_put_back_for_another_at_its_address() -> None:
    seen: list[object] = []

    def main() -> None:
        locals_ = [native_locals_of() for _ in range(20)]
        for one in locals_:
            one.name = "main"

        def work() -> None:
            locals_.clear()
            locals_.extend(native_locals_of() for _ in range(20))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        seen.extend(getattr(one, "name", None) for one in locals_)

    execute(main)
    assert seen == [None] * 20


@pytest.mark.skipif(not native_locals._EXCHANGES, reason="nothing is exchanged")
def test_the_collector_does_not_come_while_entries_are_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    execute(lambda: None)  # so that it is known where they are
    entries: Any = native_locals._SHOWN.dictionary
    usual = native_locals._made_for

    def made_for(key: str) -> Any:
        if gc.isenabled():  # then it may come with any object that is made
            gc.collect()
        return usual(key)

    monkeypatch.setattr(native_locals, "_made_for", made_for)
    locals_ = [native_locals_of() for _ in range(2)]
    for one in locals_:
        one.name = "taken"
    ring: list[Any] = [locals_]
    ring.append(ring)
    del locals_, one, ring  # they go when the collector comes
    before = len(entries)
    taken = native_locals._taken_out(entries)
    entries.update({key: entry for key, (entry, _) in taken.items()})
    assert len(entries) == before
    assert gc.isenabled()


def native_locals_of() -> Any:
    """As a library makes it that nobody rewrites."""
    return RealLocal()


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
