"""The one encoder of results: the fields of a dataclass are its JSON, under the names they say."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from treadle.core.json_form import NOT_IN_JSON, JsonForm, in_json_as, json_names, plain
from treadle.core.verdict import Verdict


@dataclass
class Inner(JsonForm):
    kind: str = "x"
    hidden: int = field(default=1, metadata=NOT_IN_JSON)


@dataclass
class Outer(JsonForm):
    name: str
    verdict: Verdict = Verdict.CUT
    seconds: float = 0.12345
    covered: int = field(default=2, metadata=in_json_as("coverage.pairs"))
    known: int = field(default=3, metadata=in_json_as("coverage.known"))
    told: list[str] = field(default_factory=list, metadata=in_json_as("told", " and ".join))
    beside: Inner = field(default_factory=Inner, metadata=in_json_as("*"))
    parts: list[Inner] = field(default_factory=list, metadata=in_json_as("parts", if_any=True))


def test_fields_are_told_under_their_names() -> None:
    assert Outer("a", told=["b", "c"]).to_json() == {
        "name": "a",
        "verdict": "CUT",
        "seconds": 0.123,
        "coverage": {"pairs": 2, "known": 3},
        "told": "b and c",
        "kind": "x",
    }
    assert json_names(Outer)[:5] == ["name", "verdict", "seconds", "coverage.pairs", "coverage.known"]


def test_what_may_be_empty_is_told_where_it_is_not() -> None:
    assert "parts" not in Outer("a").to_json()
    assert Outer("a", parts=[Inner("y")]).to_json()["parts"] == [{"kind": "y"}]


def test_values_are_plain() -> None:
    assert plain({1: (Path("a") / "b", {"c"}), "d": None}) == {"1": ["a/b", ["c"]], "d": None}


def test_what_has_no_form_is_not_written_as_something_else() -> None:
    @dataclass
    class Other:
        x: int = 1

    with pytest.raises(TypeError, match="Other has no form in JSON"):
        plain([Other()])
