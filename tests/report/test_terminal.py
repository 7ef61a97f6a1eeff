"""What reaches a terminal: its width, its encoding, and nothing of the program that it would obey."""

from __future__ import annotations

import asyncio
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

import treadle
from treadle.core.result import Finding, Result, Verdict
from treadle.report import console
from treadle.report.lines import Lines
from treadle.report.terminal import PLAIN, harmless

# Fails in every schedule but the first, with text that would clear a screen and cannot be written in ASCII.
PROGRAM = """
import threading

class Cell:
    def __init__(self):
        self.value = 0
    def add(self):
        self.value = round(self.value + 1)

def test_lost():
    cell = Cell()
    threads = [threading.Thread(target=cell.add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cell.value == 2, "\\x1b[2J\\x9b31mé… after a long sentence that does not fit into sixty columns at all"
"""


def command(folder: Path) -> list[str]:
    (folder / "test_it.py").write_text(PROGRAM, encoding="utf-8")
    return [sys.executable, "-m", "treadle", "explore", "test_it.py::test_lost"]


@pytest.mark.slow
@pytest.mark.parametrize(("width", "widest"), [(60, range(50, 61)), (200, range(101, 201))])
def test_the_terminal_is_used_as_wide_as_it_is(tmp_path: Path, width: int, widest: range) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    words = command(tmp_path)
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL
    ) as run:
        os.close(theirs)
        shown = b""
        try:
            while some := os.read(ours, 65536):
                shown += some
        except OSError:  # how a terminal ends on Linux
            pass
        os.close(ours)
    assert run.returncode == 1
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("replay:", "saved:"))]
    assert "T2" in text
    assert max(map(len, lines)) in widest
    assert "self.value = round(self.value + 1)" in text


def test_nothing_is_lost_or_obeyed_where_only_ascii_can_be_written(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    run = subprocess.run(command(tmp_path), cwd=tmp_path, env=environment, capture_output=True, timeout=120)
    said = run.stdout.decode("ascii")
    assert run.returncode == 1, said + run.stderr.decode()
    assert r"^[[2J?31m\xe9... after a long sentence" in said
    assert run.stderr == b""


def test_escape_codes_become_pictures_of_themselves() -> None:
    assert harmless("\x1b[31mred\x07\r\x7f\x9b") == "␛[31mred␇␍␡\ufffd"
    assert harmless("two\nlines\tand é…") == "two\nlines\tand é…"


def test_the_program_colours_nothing() -> None:
    finding = Finding("exception", "\x1b[31mred\x1b]0;title\x07", "tr2:x", "T1 \x1b[1m")
    warning = Finding("odd", "\x1b[5m")
    result = Result("t.py::test[\x1b[0m]", Verdict.FAILED, 1, False, "dpor", 0.1, [finding], [warning])
    file = io.StringIO()
    console.show(result, file=file)
    assert "\x1b" not in file.getvalue()
    assert "␛[31mred␛]0;title␇" in file.getvalue()


def test_what_cannot_be_encoded_is_written_in_ascii() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=PLAIN)
    file.write("a … → é ␛ \udcff")
    file.flush()
    assert file.buffer.getvalue() == rb"a ... -> \xe9 ^[ \udcff"


def test_sentences_are_wrapped_in_a_terminal_and_commands_are_not() -> None:
    file = io.StringIO()
    out = Lines(file, width=40)
    out._force_terminal = True
    out.say("a sentence that is longer than forty columns are", indent=2)
    out.say("treadle replay 'tr2:a/long/path.py::test:and-what-follows'", indent=2, whole=True)
    assert file.getvalue().splitlines() == [
        "  a sentence that is longer than forty",
        "    columns are",
        "  treadle replay 'tr2:a/long/path.py::test:and-what-follows'",
    ]


def test_in_a_pipe_one_sentence_is_one_line() -> None:
    file = io.StringIO()
    Lines(file, width=40).say("a sentence that is longer than forty columns are")
    assert len(file.getvalue().splitlines()) == 1


@pytest.mark.parametrize(
    ("cut_by", "helps", "does_not"),
    [
        ("seconds", "raise --seconds, bound the search with --preemptions 2", "--executions"),
        ("executions", "raise --executions, bound the search with --preemptions 2", "--seconds"),
        ("operations", "raise --operations", "--preemptions"),
        ("space", "--strategy dpor", "--executions"),
        ("unseen", "--instrument", "raise"),
        ("interrupted", "let it run to its end", "--"),
        ("incomplete", "", "--"),
    ],
)
def test_a_cut_advises_against_what_cut(cut_by: str, helps: str, does_not: str) -> None:
    result = Result("t.py::test", Verdict.CUT, 1, False, "dpor", 0.1, reason="...", cut_by=cut_by)
    assert helps in console.advice(result)
    assert does_not not in console.advice(result)
    result.statistics["granularity"] = "messages"
    assert "--preemptions" not in console.advice(result)


def test_a_bound_that_holds_is_not_advised() -> None:
    result = Result("t.py::test", Verdict.CUT, 1, False, "dpor", 0.1, bounds={"preemptions": 2}, cut_by="seconds")
    assert console.advice(result) == "raise --seconds, or make the test smaller"


def test_a_loop_with_one_order_is_told_how_to_open_others() -> None:
    async def sleepy() -> None:
        await asyncio.sleep(1)

    result = treadle.check(sleepy)
    assert result.verdict is Verdict.NOTHING_TO_EXPLORE
    assert "--any-order" in console.advice(result)
    assert "--any-order" not in console.advice(treadle.check(lambda: None))
