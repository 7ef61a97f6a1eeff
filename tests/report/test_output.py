"""Console, progress line, settings and store: what each says, and what it refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from treadle.core.choice import Stop, StrandRuns
from treadle.core.errors import UsageError
from treadle.core.result import Evidence, Finding, Result, Verdict
from treadle.core.settings import read_settings
from treadle.core.trail import Trail
from treadle.core.words import choices
from treadle.report import console, progress, store
from treadle.report.progress import Progress, count, describe, duration


def result(verdict: Verdict, **more: object) -> Result:
    made = Result("t.py::test", verdict, 12, verdict is Verdict.PASSED_EXHAUSTIVE, "dpor", 0.5)
    for name, value in more.items():
        setattr(made, name, value)
    return made


def printed(shown: Result) -> str:
    file = io.StringIO()
    console.show(shown, file=file)
    return file.getvalue()


def test_only_an_exhaustive_pass_speaks_of_every_schedule() -> None:
    for verdict in Verdict:
        text = printed(result(verdict, bounds={"preemptions": 2}))
        assert ("every one" in text) == (verdict is Verdict.PASSED_EXHAUSTIVE)
        assert text.startswith(verdict.value)


@pytest.mark.parametrize(("checked", "said"), [(32, "32 more to check them\n"), (0, "no more to check them: bounded")])
def test_the_evidence_says_whether_a_pass_was_checked(checked: int, said: str) -> None:
    file = io.StringIO()
    evidence = Evidence(3, checked, [], [], [])
    console.show(result(Verdict.PASSED_EXHAUSTIVE, evidence=evidence), file=file, explain_pass=True)
    assert f"3 classes of schedules were run, and {said}" in file.getvalue()


def test_a_bounded_pass_names_its_bounds() -> None:
    text = printed(result(Verdict.PASSED_WITHIN_BOUNDS, bounds={"preemptions": 1, "delays": 2}))
    assert "at most 1 preemption and at most 2 delays" in text
    assert "were not run" in text


def test_a_pass_names_what_it_takes_for_granted() -> None:
    evidence = Evidence(3, 32, [], [], ["cache", "cache.put"], orders=["t.py:7"])
    granted = {"calls taken as one step": 1, "orders of sets": 1}
    text = printed(result(Verdict.PASSED_WITHIN_BOUNDS, bounds=granted, evidence=evidence, atomic_modules=["cache"]))
    assert "no schedule that was run fails (12 executions)" in text
    assert "taken as one step on shared objects: cache.put;" in text
    assert "hashes decide an order at t.py:7, and other orders are not tried" in text
    assert "at most" not in text
    text = printed(result(Verdict.PASSED_WITHIN_BOUNDS, bounds={"preemptions": 2, **granted}, evidence=evidence))
    assert "no schedule with at most 2 preemptions fails" in text
    assert "t.py:7" in text


def test_atomic_modules_and_warnings_are_told() -> None:
    left = Finding("strand left running", "T1 was still running at the end")
    text = printed(result(Verdict.PASSED_EXHAUSTIVE, atomic_modules=["json", "lib"], warnings=[left]))
    assert "not rewritten): json, lib" in text
    assert "warning: strand left running: T1" in text


def test_a_pass_over_packages_that_were_not_looked_into_says_how_to() -> None:
    told = printed(
        result(Verdict.PASSED_WITHIN_BOUNDS, bounds={"calls taken as one step": 5}, atomic_modules=["cache"])
    )
    assert "next: no schedule switches inside of what was called as one step" in told
    assert "--instrument cache" in told
    assert "next:" not in printed(result(Verdict.PASSED_WITHIN_BOUNDS, bounds={"preemptions": 2}))


def test_a_message_with_brackets_is_printed_as_it_is() -> None:
    finding = Finding("exception", "KeyError: [red]x[/red]", "tr1:t.py::test[a]:x", "[bold]table[/bold]")
    text = printed(result(Verdict.FAILED, findings=[finding]))
    assert "KeyError: [red]x[/red]" in text
    assert "[bold]table[/bold]" in text
    assert "treadle replay 'tr1:t.py::test[a]:x'" in text


def test_a_trail_with_a_quote_can_still_be_pasted() -> None:
    assert console.replay_command(Finding("x", "", "tr1:t.py::t['a']:z")) == (
        "treadle replay 'tr1:t.py::t['\"'\"'a'\"'\"']:z'"
    )


def test_the_progress_line() -> None:
    line = describe("test_x", 1200, 0.5, 12_000, "dpor")
    assert line == "test_x  dpor  1 200 executions  2 400/s  about 12 000 in all, 4 s left"
    assert "left" not in describe("test_x", 1200, 0.5, None, "random")


def test_progress_behind_the_words_of_another_goes_back_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([0.0, 0.5, 2.0, 2.1, 4.0])
    monkeypatch.setattr(progress, "_now", lambda: next(times))
    file = tmp_path / "terminal"
    with progress.LineEnd(file.open("w"), 20) as line:
        for executions in (10, 1_000, 1_100, 2_000):  # too early, shown, too soon, shown
            line(executions)
    written = file.read_text().split("\x1b7")[1:]
    assert written == [" 1 000 executions  5\x1b[K\x1b8", " 2 000 executions  5\x1b[K\x1b8", "\x1b[K\x1b8"]


def test_the_progress_line_is_silent_when_not_a_terminal() -> None:
    file = io.StringIO()
    with Progress("test_x", file) as progress:
        progress(1, None, "dpor")
    assert file.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.2, "1 s"), (59, "59 s"), (600, "10 min"), (1e6, "11 days"), (1e12, "31 688 years")],
)
def test_lengths_of_time(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_large_numbers_are_powers_of_ten() -> None:
    assert count(999_999_999) == "999 999 999"
    assert count(3e12) == "10^12"


def settings(folder: Path, text: str) -> dict[str, object]:
    (folder / "pyproject.toml").write_text(text)
    return read_settings(folder)


def test_settings_are_found_above(tmp_path: Path) -> None:
    settings(tmp_path, '[tool.treadle]\nstrategy = "dpor"\nseconds = 1.5\ninstrument = ["lib"]\n')
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert read_settings(tmp_path / "a" / "b") == {"strategy": "dpor", "seconds": 1.5, "instrument": ["lib"]}


def test_tables_of_other_commands_are_left_to_them(tmp_path: Path) -> None:
    assert settings(tmp_path, "[tool.treadle.class]\nbudget = 3\n") == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[tool.treadle]\nstategy = 'dpor'\n", "did you mean 'strategy'?"),
        ("[tool.treadle]\nexecutions = 'many'\n", "executions must be a whole number, not 'many'"),
        ("[tool.treadle]\nexecutions = true\n", "executions must be a whole number, not True"),
        ("[tool.treadle]\ninstrument = 'lib'\n", "instrument must be a list of package names"),
        ("[tool.treadle]\ninstrument = [1]\n", "instrument must be a list of package names"),
        ("[tool]\ntreadle = 3\n", "tool.treadle must be a table"),
        ("[tool.treadle\n", "is not valid TOML"),
    ],
)
def test_wrong_settings_are_wrong_use(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as wrong:
        settings(tmp_path, text)
    assert sentence in str(wrong.value)


def test_a_word_that_is_near_nothing_gets_the_list() -> None:
    assert choices("xyz", ["one", "two"]) == "; there are: one, two"


def test_a_saved_finding_is_the_trail_again(tmp_path: Path) -> None:
    trail = Trail(
        "t.py::test",
        (StrandRuns("T1", Stop("reads", "A#1.x", "f", 2)), StrandRuns("T2")),
        settings={"seed": 3},
        kind="x",
        message="m",
    )
    path = store.save(tmp_path, "t.py::test", Finding("x", "m", str(trail), trail=trail))
    assert store.load(path) == trail
    assert json.loads(path.read_text())["replay"] == str(trail)
    assert [entry.suffix for entry in path.parent.iterdir()] == [".json"]


@pytest.mark.parametrize("content", [b"", b"text", b"[]", b"{}", b'{"treadle": "tr9"}', b"\xff\xfe\x00"])
def test_a_damaged_file_is_wrong_use(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"x\.json is not a replay file"):
        store.load(path)
