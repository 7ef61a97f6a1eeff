"""One codec for the trails of all doors: what was written is read back, and nothing else is read at all."""

from __future__ import annotations

import base64
import importlib
import json
import zlib
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import treadle
from treadle.cli.main import main
from treadle.core.choice import (
    KINDS,
    CallComes,
    Choice,
    ConditionGoes,
    MessageDelivered,
    OptionDrawn,
    ReferenceAliases,
    Stop,
    StrandRuns,
    TaskChosen,
    WaysJoined,
)
from treadle.core.errors import UsageError
from treadle.core.trail import Trail

# Strings that version 1 printed for the bundled examples, with what they showed.
FIRST_VERSION: list[dict[str, Any]] = json.loads((Path(__file__).parent / "first_version.json").read_text())

name = st.text(st.characters(codec="utf-8"), max_size=8)
drawn = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.binary(max_size=5)
    | st.fractions(),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=4,
)
stop = st.builds(Stop, name, name, name, st.integers(1, 99))
choice: st.SearchStrategy[Choice] = st.one_of(
    st.builds(StrandRuns, name, st.none() | stop),
    st.builds(MessageDelivered, st.integers(0, 2**64 - 1), name, name),
    st.builds(TaskChosen, name, name, st.integers(1, 9), st.lists(st.integers(0, 9), max_size=3).map(tuple)),
    st.builds(ConditionGoes, st.booleans(), name),
    st.builds(WaysJoined, st.booleans(), st.none() | st.integers(0, 9), name),
    st.builds(ReferenceAliases, name, name),
    st.builds(OptionDrawn, name, drawn),
    st.builds(CallComes, name, st.integers(0, 3)),
)
trail = st.builds(
    Trail,
    st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=8).map(lambda t: f"{t}.py::test"),
    st.lists(choice, max_size=5).map(tuple),
    st.sampled_from(["explore", "unit", "actor"]),
    st.dictionaries(st.just("seed"), st.integers(0, 9)),
    st.none() | st.frozensets(name, max_size=3),
    name,
    name,
)


@given(trail)
def test_what_was_written_is_read_back(written: Trail) -> None:
    assert Trail.parse(str(written)) == written
    assert Trail.parse(json.dumps(written.to_json())) == written
    again = Trail.parse(str(written))
    assert [type(c.value) for c in again.choices if isinstance(c, OptionDrawn)] == [
        type(c.value) for c in written.choices if isinstance(c, OptionDrawn)
    ]


def test_every_kind_of_choice_can_be_written() -> None:
    """The strategy above has them all, and no two share a letter or a word."""
    assert {kind.__name__ for _, _, kind in KINDS} == {kind.__name__ for kind in Choice.__subclasses__()}
    assert len({letter for letter, _, _ in KINDS}) == len({word for _, word, _ in KINDS}) == len(KINDS)


def test_a_forced_choice_is_left_out_and_what_was_offered_is_not_part_of_a_choice() -> None:
    free, forced = ConditionGoes(True, "x > 0", offered=2), ConditionGoes(False, "x > 1", offered=1)
    assert forced.forced
    assert not free.forced
    assert not replace(free, offered=0).forced
    assert Trail("m:f", (free, forced)).choices == (ConditionGoes(True, "x > 0"),)


def test_what_cannot_be_written_is_not_written() -> None:
    with pytest.raises(TypeError, match="cannot hold"):
        str(Trail("m:f", (OptionDrawn("x", {1: 2}),)))  # type: ignore[arg-type]


def test_half_characters_of_a_message_are_spelt_out() -> None:
    written = Trail("m:f", (), message="\ud800 is no text")
    assert Trail.parse(json.dumps(written.to_json())).message == "\\ud800 is no text"


def test_a_task_is_read_as_a_person_writes_it() -> None:
    task = TaskChosen("fork1", "grab", 2, (0, 1))
    assert str(task) == "fork1.grab#2[0,1]"
    assert TaskChosen.parse(str(task)) == task
    with pytest.raises(ValueError, match="names no task"):
        TaskChosen.parse("fork1 grab")


def test_a_trail_of_another_door_is_wrong_use() -> None:
    with pytest.raises(UsageError, match="does not make"):
        Trail("m:f", (ConditionGoes(True),)).only(StrandRuns)


# ---------------------------------------------------------------------- what is damaged

WHOLE = Trail(
    "test_bank.py::test_two",
    (
        StrandRuns("T1", Stop("reads", "A#1.x", "f", 2)),
        StrandRuns("T2"),
        TaskChosen("a", "m", 2, (1,)),
        OptionDrawn("x", (1, b"a", Fraction(1, 3), float("inf"), 1 << 70)),
        WaysJoined(True, 3),
    ),
    settings={"seed": 3, "instrument": ["pkg"], "timeouts": "any"},
    shared=frozenset({"A#1"}),
    kind="assertion",
    message="1 == 2",
)
SAMPLES = [str(WHOLE), *(known["trail"] for known in FIRST_VERSION[:4])]


@given(st.data())
def test_a_mutated_string_is_a_trail_or_one_sentence(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(SAMPLES))
    at = data.draw(st.integers(0, len(text)))
    upto = data.draw(st.integers(at, min(len(text), at + 6)))
    _trail_or_sentence(text[:at] + data.draw(st.text(max_size=4)) + text[upto:])


json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)


@given(st.data())
def test_mutated_content_is_a_trail_or_one_sentence(data: st.DataObject) -> None:
    """Beneath the check sum of the compressed form, and in files: any part is something else."""
    first = FIRST_VERSION[8]["json"]
    content = data.draw(st.sampled_from([WHOLE.to_json(), first, _content(str(WHOLE)), _content(SAMPLES[1])]))
    changed = _changed(data, json.loads(json.dumps(content)))
    if isinstance(changed, list):
        for mark in ("tr1", "tr2"):
            _trail_or_sentence(f"{mark}:t.py::test:{_packed(changed)}")
    else:
        _trail_or_sentence(json.dumps(changed))


def _changed(data: st.DataObject, content: Any) -> Any:
    """One part of it, somewhere, is exchanged."""
    if data.draw(st.integers(0, 3)) == 0 or not isinstance(content, list | dict) or not content:
        return data.draw(json_value)
    place = data.draw(st.sampled_from(sorted(content) if isinstance(content, dict) else range(len(content))))
    content[place] = _changed(data, content[place])
    return content


def _content(text: str) -> Any:
    packed = text.rpartition(":")[2]
    return json.loads(zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))))


def _packed(content: Any) -> str:
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(content).encode())).decode().rstrip("=")


def _trail_or_sentence(text: str) -> None:
    said = ""
    try:
        read = Trail.parse(text)
    except UsageError as sentence:
        said = str(sentence)
    if said:
        assert len(said.encode().splitlines()) == 1
    else:
        assert Trail.parse(str(read)) == replace(read, message=read.message[:80])


@pytest.mark.parametrize(
    ("packed", "why"),
    [
        (base64.urlsafe_b64encode(zlib.compress(b"[" + b" " * (40 << 20) + b"]", 9)).decode(), "too large"),
        (base64.urlsafe_b64encode(zlib.compress(b"[" * 100_000)).decode(), "damaged"),
        (_packed([[["s", "T1"]], "explore", "", "", {}, None])[:-8], "breaks off"),
        (_packed([[["z", "T1"]], "explore", "", "", {}, None]), "unknown kind"),
        (_packed([[["s", "T1"]], "explore", "", "", {"seed": "x"}, None]), "seed"),
        (_packed([[["s"]], "explore", "", "", {}, None]), "fields"),
        (_packed([[["o", "x", {"fraction": "1e999999999"}]], "unit", "", "", {}, None]), "no fraction"),
        (_packed([[["o", "x", {"fraction": "1/0"}]], "unit", "", "", {}, None]), "no fraction"),
        (_packed([[], "explore", "", ""]), "parts"),
        (_packed([[], "a\nb", "", "", {}, None]), "no door"),
    ],
)
def test_why_something_is_no_trail_is_said(packed: str, why: str) -> None:
    with pytest.raises(UsageError, match=f"not a trail.*{why}"):
        Trail.parse(f"tr2:t.py::test:{packed}")


@pytest.mark.parametrize(
    "text", ["tr2:" + "x" * 5000, "x" * 5000, "tr2:a\0b.py::t:" + str(WHOLE).rpartition(":")[2], "{"]
)
def test_the_command_says_one_sentence_as_well(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["replay", text])
    assert ended.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


# ---------------------------------------------------------------------- version 1


@pytest.mark.parametrize("known", FIRST_VERSION, ids=lambda known: known.get("function") or known["model"])
def test_what_version_1_wrote_is_read_and_becomes_version_2(known: dict[str, Any]) -> None:
    read = Trail.parse(known["trail"])
    assert read.choices
    assert (read.door, read.kind, read.message) == (
        "actor" if "model" in known else "explore",
        known["kind"],
        known["message"][:80],
    )
    assert str(read).startswith("tr2:")
    assert Trail.parse(str(read)) == read
    if "json" in known:
        assert Trail.parse(json.dumps(known["json"])).choices == read.choices


@pytest.mark.parametrize(
    "known", [known for known in FIRST_VERSION if "function" in known], ids=lambda known: known["function"]
)
def test_what_version_1_found_in_the_examples_is_found_again(known: dict[str, Any]) -> None:
    test = getattr(importlib.import_module(known["module"]), known["function"])
    (finding,) = treadle.replay(known["trail"], test).findings
    assert finding.kind == known["kind"]
    assert finding.message.startswith(known["message"])  # pytest adds what was compared
    assert finding.replay.startswith("tr2:")


@pytest.mark.parametrize("known", [known for known in FIRST_VERSION if "model" in known], ids=lambda one: one["model"])
def test_what_version_1_found_in_models_is_found_again(
    known: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    with pytest.raises(SystemExit) as ended:
        main(["replay", known["trail"], "--json"])
    assert ended.value.code == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["kind"], finding["message"]) == (known["kind"], known["message"])


def test_fields_of_choices_are_what_the_codec_can_read() -> None:
    """A field of another type would fail when the module is imported; this says it beside the other facts."""
    assert {str(f.type) for _, _, kind in KINDS for f in fields(kind)} <= {
        "str", "int", "bool", "int | None", "tuple[int, ...]", "Stop | None", "Drawn",
    }  # fmt: skip
