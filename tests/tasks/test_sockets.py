"""Event loops that talk to threads, or to each other, through real sockets of this host."""

from __future__ import annotations

import asyncio
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

import treadle
from tests.tasks.test_network import port_of
from treadle.core.errors import Unsupported


def _ask(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.sendall(b"hello\n")
        return sock.makefile("rb").readline()


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()


@pytest.mark.parametrize("has_a_socket", [True, False])
@pytest.mark.parametrize("any_order", [True, False])
def test_a_thread_with_a_socket_talks_to_a_server_of_a_loop(has_a_socket: bool, any_order: bool) -> None:
    """As clients of HTTP do in a thread, with the server in the loop of the test."""

    async def test() -> None:
        if has_a_socket:
            listening = socket.socket()
            listening.bind(("127.0.0.1", 0))
            server = await asyncio.start_server(_echo, sock=listening)
        else:
            server = await asyncio.start_server(_echo, "127.0.0.1", 0)
        port = port_of(server)
        assert await asyncio.to_thread(_ask, port) == b"hello\n"
        server.close()
        await server.wait_closed()

    result = treadle.check(test, executions=20, any_order=any_order)
    assert not result.findings
    assert result.executions > 1, result.reason


def test_a_task_talks_to_a_server_of_a_thread() -> None:
    async def test() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:

            def serve() -> None:
                sock, _ = listening.accept()
                with sock:
                    sock.sendall(sock.makefile("rb").readline().upper())

            thread = threading.Thread(target=serve)
            thread.start()
            reader, writer = await asyncio.open_connection("localhost", listening.getsockname()[1])
            writer.write(b"hello\n")
            assert await reader.read() == b"HELLO\n"
            writer.close()
            thread.join()

    assert not treadle.check(test, executions=20).findings


def test_nobody_answers_on_a_real_socket_is_a_deadlock() -> None:
    async def test() -> None:
        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asyncio.Event().wait()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        await asyncio.to_thread(_ask, port_of(server))

    assert [finding.kind for finding in treadle.check(test, executions=5).findings] == ["deadlock"]


def test_datagrams() -> None:
    class Got(asyncio.DatagramProtocol):
        def __init__(self) -> None:
            self.data: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        def datagram_received(self, data: bytes, address: Any) -> None:
            self.data.set_result(data)

    async def test() -> None:
        loop = asyncio.get_running_loop()
        one, got = await loop.create_datagram_endpoint(Got, ("127.0.0.1", 0))
        other, _ = await loop.create_datagram_endpoint(Got, remote_addr=one.get_extra_info("sockname"))
        other.sendto(b"hello")
        assert await got.data == b"hello"
        one.close()
        other.close()

    assert not treadle.check(test, executions=5).findings


def test_a_unix_socket_of_a_thread(tmp_path: Path) -> None:
    path = tmp_path / "socket"

    async def test() -> None:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(path))
            listening.listen(1)

            def serve() -> None:
                with listening.accept()[0] as connection:
                    connection.sendall(connection.recv(100).upper())

            thread = threading.Thread(target=serve)
            thread.start()
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(b"hello\n")
            async with asyncio.timeout(1):
                assert await reader.readline() == b"HELLO\n"
            writer.close()
            thread.join()
        path.unlink()

    assert not treadle.check(test, executions=50).findings


def test_a_thread_comes_to_a_unix_server_of_a_loop(tmp_path: Path) -> None:
    path = str(tmp_path / "socket")

    def ask() -> bytes:
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(path)
            asking.sendall(b"hello\n")
            return asking.recv(100)

    async def test() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write((await reader.readline()).upper())
            writer.close()

        async with await asyncio.start_unix_server(answer, path):
            assert await asyncio.to_thread(ask) == b"HELLO\n"
        Path(path).unlink(missing_ok=True)  # from 3.13 on the server does that

    assert not treadle.check(test, executions=20).findings


def test_a_unix_socket_of_somebody_else_is_refused_and_no_failure(tmp_path: Path) -> None:
    path = str(tmp_path / "socket")

    async def test() -> None:
        await asyncio.open_unix_connection(path)

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(1)
        with pytest.raises(Unsupported, match="a Unix socket of the real world"):
            treadle.check(test)
