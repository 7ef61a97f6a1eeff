"""What plain threads show on a build without a GIL is found, or a pass names the call that is several steps there."""

from __future__ import annotations

import json
import os
import threading

import pytest

import treadle
from tests.threads_switching.half_seen import BOTH, DATA, PAIRS, Both, outcome
from tests.threads_switching.missed_marks import Pair
from treadle.core.operation import READ, WRITE, Operation
from treadle.threads.without_gil import LOOKERS, LOOKS, READERS, half_seen

_TABLES: dict[str, dict[str, bool]] = json.loads(DATA.read_text(encoding="utf-8"))
SEEN = [name for name in (*PAIRS, *BOTH) if any(table.get(name) for table in _TABLES.values())]
# Of calls that are several steps many look alike; `make conformance` has them all.
SHORT = SEEN if os.environ.get("TREADLE_CONFORMANCE") else [*SEEN[::4], "next of zip", "lru_cache", "match of a list"]

# What programs rely on, and no build without a GIL was seen to break.
AT_ONCE = ["list of a list", "sorted of a dict's values", "copy of a dict", "list of a dict's keys", "join of a list"]
AT_ONCE += ["star of a list", "star star of a dict", "dict of a dict", "update of another of a dict", "slice of a list"]
AT_ONCE += [
    "count of a deque",
    "in of a deque",
    "& of a set",
    "repr of a list",
    "list.extend of a list",
    "bytes of a bytearray",
]
AT_ONCE += ["list.append", "list.pop", "deque.append", "deque.popleft", "dict.setdefault", "dict.pop", "dict.popitem"]
AT_ONCE += ["set.pop", "set.remove", "next of count", "dict.update of a dict"]


def look_beside(pair: Pair) -> None:
    thing = pair.make()
    looked: list[bool] = []
    treadle.parallel(lambda: pair.write(thing), lambda: looked.append(bool(pair.look(thing))))
    assert looked == [False]


def do_both(both: Both) -> None:
    thing = both.make()
    first: list[object] = []
    second: list[object] = []
    treadle.parallel(lambda: outcome(both, thing, first), lambda: outcome(both, thing, second))
    assert both.ok(thing, first + second)


def explored(name: str, **options: str) -> treadle.Result:
    def test() -> None:
        if name in PAIRS:
            look_beside(PAIRS[name])
        else:
            do_both(BOTH[name])

    return treadle.check(test, instrument=["tests.threads_switching"], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(set(SHORT)))
def test_what_a_build_without_a_gil_shows_is_no_exhaustive_pass(name: str) -> None:
    result = explored(name)
    assert result.verdict.value in ("FAILED", "PASSED-WITHIN-BOUNDS"), result.reason


@pytest.mark.parametrize("name", AT_ONCE)
def test_what_is_one_step_there_is_an_exhaustive_pass(name: str) -> None:
    assert name not in SEEN
    assert explored(name).verdict.value == "PASSED-EXHAUSTIVE"


def test_a_pass_names_the_call() -> None:
    assert "next of zip, which is several steps without a GIL" in explored("next of zip").reason


def test_a_missing_key_of_a_default_dictionary_is_looked_for_made_and_kept() -> None:
    """With a factory in C that is one step where there is a GIL, and loses an item where there is none."""
    name = "defaultdict(list)[key]"
    finding = explored(name).findings[0]
    assert finding.builds is not None
    assert not finding.builds.possible
    assert explored(name, switches="gil").verdict.value == "PASSED-EXHAUSTIVE"


def test_with_a_gil_the_same_calls_are_one_step() -> None:
    assert explored("list.sort", switches="gil").verdict.value == "PASSED-EXHAUSTIVE"


def test_a_lock_around_them_is_enough() -> None:
    """No race, nothing seen half done."""

    def test() -> None:
        xs, lock = [2, 1], threading.Lock()

        def sort() -> None:
            with lock:
                xs.sort()

        def look() -> None:
            with lock:
                assert len(xs) == 2

        treadle.parallel(sort, look)

    assert treadle.check(test, instrument=["tests.threads_switching"]).verdict.value == "PASSED-EXHAUSTIVE"


SORTS: Operation = (WRITE, "list#1", None)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ((READ, "list#1", None), True),  # it is empty meanwhile
        ((WRITE, "list#1", None), False),  # who writes waits for its lock
        ((READ, "list#2", None), False),
    ],
)
def test_who_may_see_a_sort_half_done(other: Operation, told: bool) -> None:
    assert bool(half_seen({(SORTS, "list.sort", READERS)}, [(SORTS, other)])) is told


def test_items_that_move_are_seen_by_who_looks_at_items_and_not_at_the_length() -> None:
    read: Operation = (READ, "list#1", None)
    moves = (SORTS, "list.insert", LOOKERS)
    assert half_seen({moves}, [(read, SORTS)]) == set()
    assert half_seen({moves, (read, "", LOOKS)}, [(read, SORTS)]) == {
        "list.insert, which is several steps without a GIL"
    }
