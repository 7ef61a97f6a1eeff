"""Files over pipes: a strand that waits for one lets the others run."""

from __future__ import annotations

import configparser
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import treadle
from tests.threads_primitives.running import together
from treadle.threads import files
from treadle.threads.primitives import pipes


def explored(test: Callable[[], Any], **options: Any) -> treadle.Result:
    return treadle.check(test, **{"seconds": 20.0} | options)


@pytest.fixture
def named(tmp_path: Path) -> Callable[[], Path]:
    """Makes a new named pipe, in each execution."""

    def make() -> Path:
        path = tmp_path / "pipe"
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        return path

    return make


def test_a_file_over_a_pipe_is_read_by_one_strand_while_another_writes() -> None:
    def test() -> None:
        reading, writing = os.pipe()
        got: list[str] = []

        def read() -> None:
            with os.fdopen(reading) as file:
                got.append(file.read())

        def write() -> None:
            with os.fdopen(writing, "w") as file:
                file.write("hello")

        together(read, write)
        assert got == ["hello"]

    assert explored(test).verdict.is_pass


def test_which_of_two_strands_writes_first_is_explored() -> None:
    def test() -> None:
        reading, writing = os.pipe()
        with open(reading, "rb", buffering=0) as out, open(writing, "wb", buffering=0) as into:
            together(lambda: into.write(b"a"), lambda: into.write(b"b"))
            assert out.read(2) == b"ab"

    assert explored(test).failed


def test_more_than_a_pipe_holds_is_written_piece_by_piece() -> None:
    many = 300_000

    def test() -> None:
        reading, writing = os.pipe()
        got: list[bytes] = []

        def write() -> None:
            with open(writing, "wb") as into:
                into.write(b"x" * many)

        with open(reading, "rb") as out:
            together(lambda: got.append(out.read()), write)
        assert len(got[0]) == many

    result = explored(test, executions=2)
    assert result.executions == 2
    assert not result.findings


def test_both_ends_of_a_named_pipe_are_opened_by_strands(named: Callable[[], Path]) -> None:
    def test() -> None:
        path = named()
        got: list[str] = []

        def read() -> None:
            with open(path) as file:
                got.append(file.read())

        together(read, lambda: path.write_text("hello"))
        assert got == ["hello"]

    assert explored(test).verdict.is_pass


def test_code_that_is_not_rewritten_opens_a_named_pipe(named: Callable[[], Path]) -> None:
    def test() -> None:
        path = named()
        config = configparser.ConfigParser()
        together(lambda: config.read(path), lambda: path.write_text("[part]\nkey = value\n"))
        assert config["part"]["key"] == "value"

    assert explored(test, executions=20).executions
    assert not explored(test, executions=20).findings


def test_descriptors_of_a_named_pipe(named: Callable[[], Path]) -> None:
    def test() -> None:
        path = named()
        got: list[bytes] = []

        def read() -> None:
            descriptor = os.open(path, os.O_RDONLY)
            got.append(os.read(descriptor, 10))
            os.close(descriptor)

        def write() -> None:
            descriptor = os.open(path, os.O_WRONLY)
            os.write(descriptor, b"hello")
            os.close(descriptor)

        together(read, write)
        assert got == [b"hello"]

    assert explored(test).verdict.is_pass


def test_a_named_pipe_that_nobody_reads_is_a_deadlock(named: Callable[[], Path]) -> None:
    def test() -> None:
        path = named()
        together(lambda: path.write_text("a"), lambda: path.write_text("b"))

    assert [finding.kind for finding in explored(test).findings] == ["deadlock"]


def test_a_process_that_waits_for_one_strand_while_another_reads_what_it_says() -> None:
    code = "import sys\nfor line in iter(sys.stdin.readline, ''): print(line.strip()[::-1], flush=True)"

    def test() -> None:
        said: queue.Queue[str] = queue.Queue()
        words = [sys.executable, "-I", "-S", "-u", "-c", code]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            lines = process.stdout

            def read() -> None:
                for line in lines:
                    said.put(line)

            reader = threading.Thread(target=read)
            reader.start()
            time.sleep(1)  # until the reader waits
            process.stdin.write("abc\n")
            process.stdin.flush()
            assert said.get() == "cba\n"
            process.stdin.close()
            reader.join()

    result = explored(test, executions=3)
    assert result.executions
    assert not result.findings


def test_bad_arguments_are_refused_as_ever() -> None:
    def test() -> None:
        reading, writing = os.pipe()
        threading.Thread(target=int).start()
        with pytest.raises(ValueError, match="binary mode doesn't take an encoding"):
            open(reading, "rb", encoding="utf-8")  # noqa: SIM115
        os.close(reading)
        os.close(writing)

    assert not explored(test, executions=5).findings


def test_outside_an_execution_open_is_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    with pipes.open_(path) as file:
        assert file.read() == "x"
    assert not files.is_pipe(path)
    assert not files.is_pipe(object())
