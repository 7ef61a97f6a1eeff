"""Files over sockets let one strand in at a time."""

from __future__ import annotations

import io
import socket
from typing import Any

from tests.threads_primitives.running import execute, inside, together
from treadle.threads.primitives import buffers


def test_a_second_reader_waits_for_the_first_and_gets_the_next_line() -> None:
    lines: list[bytes] = []

    def main() -> None:
        one, other = socket.socketpair()
        with one, other, one.makefile("rb") as file:
            together(
                lambda: lines.append(file.readline()),
                lambda: lines.append(file.readline()),
                lambda: other.sendall(b"one\ntwo\n"),
            )

    execute(main)
    assert lines == [b"one\n", b"two\n"]


def test_a_file_made_inside_is_still_the_kind_it_was_asked_for() -> None:
    def main() -> tuple[bool, bool]:
        one, other = socket.socketpair()
        with one, other, one.makefile("rb") as reading, one.makefile("wb", buffering=0) as raw:
            return isinstance(reading, io.BufferedReader), isinstance(raw, socket.SocketIO)

    assert inside(main) == (True, True)


def test_outside_an_execution_a_file_is_cpythons_own() -> None:
    one, other = socket.socketpair()
    with one, other:
        file: Any = buffers.makefile(one, "rb")
        assert type(file) is io.BufferedReader
        file.close()
