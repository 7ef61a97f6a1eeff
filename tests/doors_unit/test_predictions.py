"""Predictions on code as installed packages write it: the real run agrees, and every path is there."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from tests.symbolic.exploring import explored, load
from treadle.doors.unit.suite import Suite, unit
from treadle.units.target import resolve

# function -> paths with k = 2; nothing is sampled in them
PATHS = {
    "iterable": 3,
    "is_three": 2,
    "named": 2,
    "anything": 2,
    "half": 1,
    "lowered": 1,  # what the contract inside of the other decorator asks is assumed
    "entered": 2,
    "intervals": 8,
    "nowhere": 2,
    "tables": 1,
    "Shelf.double": 2,  # for a Shelf and for an Attic: a Loft has another method of this name
    "sorted_by": 2,
    "Pattern.tips": 2,
    "unique": 3,
    "shown": 5,  # each of the two may be None; the texts of two objects differ, that of one is the same twice
    "number": 2,
    "walked": 5,  # None; a group that cannot be walked over; none, one or two rounds
    "added": 3,
    "Lenient.__init__": 4,
    "converted": 1,
    "joined": 1,
    "leave": 3,
    "member": 1,
    "cornered": 2,
    "renamed": 6,  # None; no corner; one or two of other names; the first or the second is it
    "dated": 4,  # None; no year; an early one, a late one
    "titled": 9,  # each may be None and have a year or not, and they may be the same
    "said": 2,
    "sorted_wrongly": 2,  # None, or a list: its method takes no argument by position
    "asked_too_much": 1,
    "names_of_parameters": 1,  # which are those of what stands for dict
    "texts_of_heirs": 1,
    "caused": 2,
    "spread_in_a_set": 10,
    "Notes.first": 2,
    "Ledger.size": 2,  # the constructor fills what it is given: one without rows has its field set
    "grown_by_itself": 8,  # two lists of up to two elements, or one that meets its own growth
    "_Private.counted": 2,
    "wrong_calls": 4,
    "hexed": 2,
    "sized": 3,  # a Narrow; a Wide and None, which super refuses in two ways
}


@functools.cache
def whole_module() -> Suite:
    load("unit_predictions")
    return unit("unit_predictions", k=2, write_file=False)


@pytest.mark.slow
def test_no_prediction_disagrees_with_the_real_run() -> None:
    suite = whole_module()
    assert [(c.target, c.arguments, why) for c, why in suite.disagreements] == []


def test_a_class_with_two_names_is_tested_once() -> None:
    load("unit_predictions")
    names = [target.text for target in resolve("unit_predictions")]
    assert len(names) == len(set(names))


def test_a_target_named_twice_is_tested_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    load("unit_predictions")
    suite = unit("unit_predictions:anything", "unit_predictions:anything")
    assert suite.tests == 2


def test_what_the_code_prints_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """It would stand in the middle of the JSON that the command prints."""
    explored("unit_predictions:said")
    assert capsys.readouterr() == ("", "")


def test_a_decorator_is_part_of_what_is_tested() -> None:
    [case] = explored("unit_predictions:half").cases
    assert case.outcome.value == case.arguments["n"] // 2 * 2


def test_a_field_that_a_descriptor_sets_is_not_taken_to_be_missing() -> None:
    found = explored("unit_predictions:measured")
    assert [place.what for place in found.seen.unsupported] == [
        "the field '_half': Measure sets fields by computed names"
    ]


def test_which_object_a_text_is_cannot_be_written() -> None:
    """A literal in a test is another object than the program's, unless Python shares it."""
    found = explored("unit_predictions:suppressed")
    assert sorted(case.outcome.value for case in found.cases) == [2, 3]
    assert [place.what for place in found.seen.unsupported] == ["whether a text is the very object '==none=='"]


@pytest.mark.parametrize(
    ("name", "why", "cases"),
    [
        ("ended_early", "a generator that is dropped inside 'try' or 'with'", 1),
        ("rows", "a cache that may give the same object again", 0),
        ("is_thousand", "whether a number is the very object 1000", 1),
    ],
)
def test_what_only_the_interpreter_decides_is_not_predicted(name: str, why: str, cases: int) -> None:
    found = explored(f"unit_predictions:{name}")
    assert [place.what for place in found.seen.unsupported] == [why]
    assert len(found.cases) == cases


SAMPLED = {"Lenient.__init__": ["the tuple 'args' has at most 3 elements"]}


@pytest.mark.parametrize("name", PATHS)
def test_every_path_is_followed(name: str) -> None:
    found = explored(f"unit_predictions:{name}")
    sampled = [one.what for one in found.seen.sampled]
    assert (found.paths, sampled, found.seen.unsupported) == (PATHS[name], SAMPLED.get(name, []), [])


@pytest.mark.parametrize("heap", ["solver", "lazy"])
def test_a_field_that_only_the_library_can_fill_is_not_taken_for_none(
    heap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`is not None` was predicted for a test that could only give None."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path(f"lazy_pattern_{heap}.py").write_text(
        "import re\n\n\nclass Reader:\n    def __init__(self, pattern: str) -> None:\n        self.pattern = pattern\n"
        "        self.compiled = None\n\n    def ready(self) -> bool:\n        if self.compiled is None:\n"
        "            self.compiled = re.compile(self.pattern)\n        return True\n"
    )
    suite = unit(f"lazy_pattern_{heap}:Reader.ready", write_file=False, heap=heap, probe=False)
    assert suite.disagreements == []
    assert any("no unknown one can be made" in place.what for place in suite.unsupported)
