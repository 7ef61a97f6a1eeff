"""`--terminate`: paths end where a depth or a function of the user's says, and the suite says so."""

from __future__ import annotations

from pathlib import Path

import pytest

import treadle
from treadle.symbolic.path import Limit
from treadle.units.explore import Session
from treadle.units.options import UnitOptions
from treadle.units.target import resolve

PROGRAM = """
def count(n: int) -> int:
    found = 0
    while n > found:
        found += 1
    return found
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("unit_counting.py").write_text(PROGRAM)


def explored(**options: str) -> tuple[int, int]:
    """Paths to their end, and paths that a criterion ended."""
    [target] = resolve("unit_counting:count")
    found = Session(target, UnitOptions(k=9, **options)).explore()  # type: ignore[arg-type]
    return found.paths, found.seen.cut[Limit.CRITERION]


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_a_path_decides_at_most_so_many_conditions(depth: int) -> None:
    assert explored(terminate=f"depth-{depth}") == (depth, 2)  # both ways of the next one are cut


def test_a_function_is_asked_at_every_line_with_the_path_so_far() -> None:
    Path("unit_criterion.py").write_text(
        "seen = []\n\n\ndef ends(path):\n"
        "    seen.append((path.depth, path.functions, path.lines[-1][1], path.conditions))\n"
        "    return [line for _, line in path.lines].count(5) > 2\n"
    )
    assert explored(terminate="unit_criterion:ends") == (3, 1)
    import unit_criterion  # type: ignore[import-not-found]

    assert unit_criterion.seen[0] == (0, ("count",), 3, ())
    assert (2, ("count",), 5, ("n > 0", "n >= 2")) in unit_criterion.seen


@pytest.mark.slow
def test_a_suite_within_a_criterion_is_complete_and_one_that_misses_a_branch_is_not() -> None:
    suite = treadle.unit("unit_counting:count", k=9, terminate="depth-2", write_file=False)
    assert (suite.tests, suite.complete, suite.cut[Limit.CRITERION]) == (2, True, 2)
    suite = treadle.unit("unit_counting:count", k=9, terminate="depth-1", write_file=False)
    assert (suite.tests, suite.complete) == (1, False)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("5", "not a criterion"),
        ("unit_missing:ends", "ModuleNotFoundError"),
        ("unit_counting:none", "has no attribute 'none'"),
        ("unit_counting:__name__", "no function"),
        ("math:sqrt", "the function fails: TypeError"),
    ],
)
def test_what_is_no_criterion_is_one_sentence(text: str, why: str) -> None:
    with pytest.raises(treadle.UsageError, match=why):
        explored(terminate=text)


def test_it_is_for_the_whole_tree() -> None:
    with pytest.raises(treadle.UsageError, match="leave out --select"):
        treadle.unit("unit_counting:count", terminate="depth-2", select="branches", write_file=False)
