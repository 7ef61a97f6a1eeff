"""Regular expressions in z3: what is a word of theirs is what `re` matches, and groups are where `re` finds them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import z3
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import treadle
from treadle.symbolic.expr import patterns as known_patterns
from treadle.symbolic.expr import terms
from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.expr.terms import STR
from treadle.symbolic.solve.regular import Language, always_set, is_exact, is_of_ascii, parsed
from treadle.symbolic.solve.solver import Answer, Solver

# everything built here has an unknown in it, and is an Expr
x: Any = terms
patterns: Any = known_patterns
S = x.var("s", STR)
HOW = st.sampled_from(("match", "fullmatch", "search"))
TEXTS = st.text("abAB1 -_\n.\u0661\u212a\u00e9", max_size=6)

_ATOMS = st.sampled_from(
    (
        *"abA1_.",
        "\\d",
        "\\w",
        "\\s",
        "\\D",
        "\\S",
        "[ab]",
        "[^a]",
        "[a-z1]",
        "[^\\d_]",
        "^",
        "$",
        "\\Z",
        "\\b",
        "\\.",
        "\n",
    )
)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeats = st.sampled_from(("*", "+", "?", "{2}", "{1,2}", "{,1}", "*?", "+?", "{2,}"))
    return st.one_of(
        st.lists(inner, max_size=3).map("".join),
        st.tuples(inner, inner).map("|".join),
        inner.map("({})".format),
        inner.map("(?:{})".format),
        inner.map("(?={})".format),
        inner.map("(?!{})".format),
        st.tuples(inner.map("(?:{})".format), repeats).map("".join),
    )


PATTERNS = st.recursive(_ATOMS, _grown, max_leaves=6)
FLAGS = st.sampled_from((0, 0, re.IGNORECASE, re.DOTALL, re.ASCII, re.MULTILINE, re.IGNORECASE | re.ASCII))


def _is_word(text: str, pattern: str, flags: int, how: str) -> bool:
    said = "".join(c if " " <= c <= "~" and c != "\\" else f"\\u{{{ord(c):x}}}" for c in text)

    def constant(known: str) -> Any:
        return z3.StringVal("".join(f"\\u{{{ord(c):x}}}" for c in known))

    items, all_flags = parsed(pattern, flags)
    return bool(
        z3.is_true(z3.simplify(z3.InRe(z3.StringVal(said), Language(constant, None).whole(items, all_flags, how))))
    )


@settings(max_examples=300)
@given(PATTERNS, FLAGS, HOW, TEXTS)
def test_the_words_in_z3_are_what_matches(pattern: str, flags: int, how: str, text: str) -> None:
    try:
        expected = patterns.is_match(text, pattern, flags, how)
    except re.error:
        assume(False)
    assume(text.isascii() or not is_of_ascii(pattern, flags))
    if is_exact(pattern, flags, how):
        assert _is_word(text, pattern, flags, how) == expected
    elif expected:
        assert _is_word(text, pattern, flags, how)  # more may be words, never less


@settings(max_examples=25)
@given(PATTERNS, HOW)
def test_a_solver_is_never_told_that_a_match_is_impossible_when_there_is_one(pattern: str, how: str) -> None:
    try:
        is_exact(pattern, 0, how)
    except re.error:
        assume(False)
    node = patterns.matched(S, pattern, 0, how)
    for wanted in (node, x.not_(node)):
        answer = Solver().check([], wanted)
        if answer.answer is Answer.UNSAT:
            some = ["", *(a + b for a in ("", *"abA1_ .\n") for b in ("", *"abA1_ .\n"))]
            assert not any(evaluate(wanted, {S: text}) for text in some)


@pytest.mark.parametrize(
    ("pattern", "how", "group", "wanted"),
    [
        (r"([A-Z]{2})-(\d{3})", "fullmatch", 2, "042"),
        (r"(\w+)@(\w+)\.com", "match", 2, "here"),
        (r"v(\d+)(?:\.(\d+))?", "search", 2, "7"),
        (r"(a*)(a|b)c", "match", 1, "aa"),
        (r"(?P<key>[a-z]+)\s*=\s*(?P<value>.*)$", "match", 2, "x y"),
        (r"(yes|no)|(\d+)", "fullmatch", 2, "12"),
    ],
)
def test_a_text_is_found_whose_group_is_a_given_one(pattern: str, how: str, group: int, wanted: str) -> None:
    node = patterns.group(S, pattern, 0, how, group)
    found = Solver().check([patterns.matched(S, pattern, 0, how)], x.eq(node, wanted))
    assert found.model is not None
    match = getattr(re.compile(pattern), how)(found.model[S])
    assert match is not None
    assert match[group] == wanted


def test_groups_that_every_match_sets() -> None:
    assert always_set(r"(a)(b)?(?:(c)|d)(e)+", 0) == {0, 1, 4}


def test_a_text_whose_optional_group_takes_no_part() -> None:
    pattern = r"(\d+)(px|em)?"
    there, missing = (
        patterns.matched(S, pattern, 0, "fullmatch"),
        x.not_(patterns.has_group(S, pattern, 0, "fullmatch", 2)),
    )
    found = Solver().check([there], missing)
    assert found.model is not None
    assert str(found.model[S]).isdecimal()


def test_where_a_match_begins() -> None:
    start = patterns.group_start(S, "b+", 0, "search", 0)
    found = Solver().check([patterns.matched(S, "b+", 0, "search")], x.eq(start, 2))
    assert found.model is not None
    match = re.search("b+", str(found.model[S]))
    assert match is not None
    assert match.start() == 2


PROGRAM = """
import re

PART = re.compile("([a-c]{2})-([x-z]*)")


def part(s: str) -> str:
    found = PART.fullmatch(s)
    if found is None:
        raise ValueError("no part")
    if found[2] == "zyx" and found.start(2) == 3:
        return found.group(1, 2)[0]
    first, rest = found.groups()
    return "long" if len(rest) > 4 else first + "!"
"""


@pytest.mark.slow
def test_a_function_that_asks_a_pattern_has_every_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("unit_pattern.py").write_text(PROGRAM)
    suite = treadle.unit("unit_pattern:part", write_file=False, probe=False)
    assert (suite.tests, suite.complete, suite.disagreements) == (4, True, [])
    assert {"long", None} <= {case.outcome.value for case in suite.cases}


@pytest.mark.slow
def test_a_pattern_with_look_around_is_tried_with_texts_that_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("unit_ahead.py").write_text(
        "import re\n\n\ndef ahead(s: str) -> bool:\n    return bool(re.match('(?=q)qu[u-z]!', s))\n"
    )
    suite = treadle.unit("unit_ahead:ahead", write_file=False, probe=False)
    assert not suite.complete
    assert {case.outcome.value for case in suite.cases} == {True, False}


@pytest.mark.parametrize(
    "pattern", ["[^a-\U0010ffff]", "[^\x20-\U000e0041]", "[\x00-\U0010ffff]x", "[^\x00-\U0010ffff]"]
)
@pytest.mark.parametrize("text", ["", "a", " ", "\x01", "ax"])
def test_classes_that_reach_beyond_what_the_solver_has(pattern: str, text: str) -> None:
    assert is_exact(pattern, 0, "match")
    assert _is_word(text, pattern, 0, "match") == patterns.is_match(text, pattern, 0, "match")


def test_a_letter_that_the_solver_does_not_have_is_not_exact() -> None:
    assert not is_exact("\U000e0041", 0, "match")
    assert not is_exact("[\U000e0041-\U0010ffff]", 0, "match")
