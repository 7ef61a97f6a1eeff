"""Conformance: what a search with reduction shows contains what every schedule with finer points shows.

The short form takes every n-th case; `make conformance` takes all of them. It judges the table of what only reads: a
writer that is declared a reader turns a case red.
"""

from __future__ import annotations

import collections
import os
from typing import Any

import pytest

from tests.threads_sight.conformance import CRASH, cases, everything, reduced
from treadle.threads import known

LONG = bool(os.environ.get("TREADLE_CONFORMANCE"))
# So many cases are one test.
_TOGETHER = 10
_ALL = list(cases())
_CHOSEN = _ALL if LONG else _ALL[::41]
_GROUPS = [_CHOSEN[start : start + _TOGETHER] for start in range(0, len(_CHOSEN), _TOGETHER)]


@pytest.mark.slow
@pytest.mark.parametrize("group", range(len(_GROUPS)))
def test_no_outcome_is_lost(group: int) -> None:
    lost: list[Any] = []
    undecided = 0
    for case in _GROUPS[group]:
        shown, all_shown = reduced(case), everything(case)
        if shown is None:
            continue  # a pass would be one within bounds, and name what was taken as one step
        if all_shown is None:
            undecided += 1
        elif CRASH not in shown | all_shown and not all_shown <= shown:  # behind a crash nobody sees the others
            lost.append((case, sorted(all_shown - shown)))
    assert not lost
    assert undecided <= _TOGETHER // 2


@pytest.mark.parametrize("kind", ["generator", "csv reader"])
def test_who_takes_from_an_iterator_through_another_changes_both(kind: str) -> None:
    """Also where the other one's type is made when its module is imported: those of itertools are, from 3.12 on."""
    shown, all_shown = reduced((kind, (1,), "list", "list")), everything((kind, (1,), "list", "list"))
    assert shown is not None
    assert all_shown is not None
    assert any("ValueError" in outcome for outcome in all_shown)
    assert all_shown <= shown


# A method that changes its object, and a case that notices when it is called a reader.
_WRITERS = [
    (list, ("list", (1,), "pop", "len")),
    (list, ("list", (1,), "append", "len")),
    (dict, ("dict", (1,), "popitem", "len")),
    (set, ("set", (1,), "pop", "len")),
    (collections.deque, ("deque", (1,), "append", "len")),
    (bytearray, ("bytearray", (1,), "append", "len")),
]


@pytest.mark.parametrize(("kind", "case"), _WRITERS, ids=lambda value: str(value))
def test_declaring_a_writer_a_reader_is_noticed(
    kind: type, case: tuple[str, tuple[int, ...], str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = everything(case)
    assert right is not None
    assert reduced(case) == right
    monkeypatch.setitem(known.READERS, kind, known.READERS[kind] | {case[2]})
    wrong = reduced(case)
    assert wrong is None or not right <= wrong
