"""Streams between the tasks of one test, without sockets."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import treadle
from treadle import Verdict
from treadle.core.errors import Unsupported
from treadle.tasks import network


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        writer.write(line)
        await writer.drain()
    writer.close()


def explored(test: Any, **options: Any) -> treadle.Result:
    return treadle.check(test, executions=300, **options)


def port_of(server: Any) -> int:
    return int(server.sockets[0].getsockname()[1])


def test_lines_come_back_in_their_order() -> None:
    async def test() -> None:
        async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
            reader, writer = await asyncio.open_connection("localhost", port_of(server))
            writer.write(b"one\ntwo\n")
            writer.write_eof()
            assert await reader.read() == b"one\ntwo\n"
            writer.close()
            await writer.wait_closed()

    result = explored(test)
    assert not result.findings, result.findings[0].message
    assert result.verdict in (Verdict.NOTHING_TO_EXPLORE, Verdict.PASSED_EXHAUSTIVE)


def test_what_arrives_at_one_moment_on_two_connections_comes_in_any_order() -> None:
    seen: set[bytes] = set()

    async def test() -> None:
        got: list[bytes] = []

        async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            got.append(await reader.readline())
            writer.close()

        server = await asyncio.start_server(note, "localhost", 8000)
        ends = [await asyncio.open_connection("localhost", 8000) for _ in range(2)]
        await asyncio.sleep(1)
        for number, (_, writer) in enumerate(ends):
            writer.write(b"%d\n" % number)
        for reader, writer in ends:
            await reader.read()
            writer.close()
        server.close()
        seen.add(b"".join(got))

    result = explored(test)
    assert not result.findings
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE
    assert seen == {b"0\n1\n", b"1\n0\n"}


def test_a_message_may_come_in_pieces_only_as_written() -> None:
    """Two tasks that write to one connection: the order of their steps is the order of the bytes."""
    seen: set[bytes] = set()

    async def test() -> None:
        got = asyncio.get_running_loop().create_future()

        async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            got.set_result(await reader.read())
            writer.close()

        server = await asyncio.start_server(note, "localhost", 8000)
        _, writer = await asyncio.open_connection("localhost", 8000)

        async def say(text: bytes) -> None:
            writer.write(text)
            await asyncio.sleep(0)
            writer.write(text)

        await asyncio.gather(say(b"a"), say(b"b"))
        writer.close()
        seen.add(await got)
        server.close()

    result = treadle.check(test, any_order=True, executions=3000)
    assert not result.findings
    assert seen == {b"aabb", b"abab", b"abba", b"baab", b"baba", b"bbaa"}


def test_a_writer_waits_until_it_is_read() -> None:
    async def test() -> None:
        async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(10)
            assert len(await reader.read()) == 300_000
            writer.close()

        server = await asyncio.start_server(slow, "localhost", 8000)
        reader, writer = await asyncio.open_connection("localhost", 8000)
        before = asyncio.get_running_loop().time()
        for _ in range(3):
            writer.write(b"x" * 100_000)
            await writer.drain()
        assert round(asyncio.get_running_loop().time() - before, 3) == 10
        writer.close()
        await reader.read()
        server.close()

    assert not explored(test).findings


def test_nobody_listens() -> None:
    async def test() -> None:
        with pytest.raises(ConnectionRefusedError, match="nothing in this test listens"):
            await asyncio.open_connection("localhost", 6379)

    assert not explored(test).findings


def test_the_real_world_is_refused() -> None:
    async def test() -> None:
        await asyncio.open_connection("example.org", 80)

    with pytest.raises(Unsupported, match=r"test_network.py:\d+ uses"):
        explored(test)


def test_a_protocol_and_a_path(tmp_path: Path) -> None:
    path = tmp_path / "socket"

    class Upper(asyncio.Protocol):
        def connection_made(self, transport: Any) -> None:
            self.transport = transport

        def data_received(self, data: bytes) -> None:
            self.transport.write(data.upper())

        def eof_received(self) -> bool:
            return False

    async def test() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_unix_server(Upper, path)
        path.chmod(0o600)
        assert path.is_socket()
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(b"abc")
        assert await reader.readexactly(3) == b"ABC"
        writer.close()
        await writer.wait_closed()
        server.close()
        await server.wait_closed()
        assert path.exists() == (sys.version_info < (3, 13))

    assert not explored(test).findings


def test_a_path_in_no_folder_is_refused_as_by_asyncio() -> None:
    async def test() -> None:
        with pytest.raises(FileNotFoundError):
            await asyncio.start_unix_server(lambda reader, writer: None, "/no/such/socket")

    assert not explored(test).findings


def test_two_loops_in_two_threads() -> None:
    def test() -> None:
        ready = threading.Event()

        async def serve() -> None:
            done = asyncio.Event()

            async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                writer.write(await reader.readline())
                writer.close()
                done.set()

            server = await asyncio.start_server(answer, "localhost", 8000)
            ready.set()
            await done.wait()
            server.close()

        async def ask() -> None:
            reader, writer = await asyncio.open_connection("localhost", 8000)
            writer.write(b"hello\n")
            assert await reader.read() == b"hello\n"
            writer.close()

        thread = threading.Thread(target=lambda: asyncio.run(serve()))
        thread.start()
        ready.wait()
        asyncio.run(ask())
        thread.join()

    result = treadle.check(test, executions=60)
    assert not result.findings, result.findings[0].message


def test_a_client_that_waits_for_nobody_is_a_deadlock() -> None:
    async def test() -> None:
        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()

        await asyncio.start_server(silent, "localhost", 8000)
        reader, _writer = await asyncio.open_connection("localhost", 8000)
        await reader.read()

    result = explored(test)
    assert result.findings[0].kind == "deadlock"
    assert "StreamReader.read" in result.findings[0].message + str(result.findings[0].waiting)


def test_a_server_says_of_which_kind_its_sockets_are() -> None:
    async def test() -> None:
        server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        listening = server.sockets[0]
        assert (listening.family, listening.type) == (socket.AF_INET, socket.SOCK_STREAM)
        assert listening.fileno() >= 0
        assert listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
        server.close()
        await server.wait_closed()

    assert not treadle.check(test).failed


def test_an_address_of_this_machine_is_here_as_the_loopback_is(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "203.0.113.7"  # kept for examples: no machine has it

    async def test() -> None:
        async with await asyncio.start_server(echo, address, 8000):
            reader, writer = await asyncio.open_connection(address, 8000)
            writer.write(b"one\n")
            writer.write_eof()
            assert await reader.read() == b"one\n"
            writer.close()
            await writer.wait_closed()

    with pytest.raises(Unsupported, match="a network connection of the real world"):
        explored(test)
    monkeypatch.setattr(network, "is_own", lambda host: host == address)
    assert not explored(test).findings


def test_which_addresses_this_machine_has() -> None:
    hosts: list[Any] = ["127.0.0.3", "203.0.113.7", "localhost", None]
    assert [network.is_own(host) for host in hosts] == [True, False, False, False]


def test_a_host_may_be_named_in_bytes() -> None:
    """As anyio does."""

    async def test() -> None:
        found = await asyncio.get_running_loop().getaddrinfo(b"localhost", 8000)
        assert found

    assert not treadle.check(test).findings
