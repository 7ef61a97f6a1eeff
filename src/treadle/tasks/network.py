"""Connections between the tasks of one execution: `start_server` and `open_connection` without sockets.

Decides what asyncio and a network leave open. Bytes of one connection arrive in the order in which they were written,
and what waits is read at once. What arrives at one moment on different connections (bytes, an end, a new connection)
comes in any order: an arrival is a timer of that moment, and timers of one moment are a choice (see `environment`).

What is encrypted, has a socket of its own, or talks to a thread that has one, goes through real sockets of this host: a
server gets one when somebody comes with a socket.

The layer below a connection is `Network`: which addresses there are, and how an arrival gets from one end to the other.
"""

from __future__ import annotations

import asyncio
import asyncio.selector_events as selector_events
import functools
import os
import socket
import stat
import sys
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

from treadle.core.operation import READ, WRITE
from treadle.tasks.outside import refuse
from treadle.threads.hooks.points import touch
from treadle.threads.primitives.inside import here
from treadle.threads.primitives.outside import BEFORE_CONNECTING, is_bound_here
from treadle.threads.strands import Strand

if TYPE_CHECKING:
    from treadle.tasks.loop import Loop

# Every name that means the machine on which a test runs.
_THIS_HOST = frozenset({None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::"})
_FIRST_FREE_PORT = 49_152
_HIGH_WATER = 64 * 1024  # asyncio's own default
_BACKLOG = 100  # as well

_Base: Any = selector_events.BaseSelectorEventLoop
_Unix: Any = asyncio.SelectorEventLoop  # which has methods for Unix sockets where there are any

Address = Any  # (host, port), or the path of a Unix socket


class Network:
    """The addresses of one execution, and the way between two ends."""

    def __init__(self) -> None:
        self.listening: dict[Any, MemoryServer] = {}
        self.free_port = _FIRST_FREE_PORT

    def listen(self, server: MemoryServer, port: Any) -> Any:
        """Take an address; a port of 0 is a free one."""
        if port == 0:
            while self.free_port in self.listening:
                self.free_port += 1
            port = self.free_port
            self.free_port += 1
        if port in self.listening:
            raise OSError(98, f"error while attempting to bind on address {port!r}: address already in use")
        self.listening[port] = server
        return port

    def next_port(self) -> int:
        self.free_port += 1
        return self.free_port - 1

    def arrive(self, loop: Loop, callback: Callable[[], None]) -> None:
        """Something comes to a loop, from this one or another thread's, now."""
        if here() is not None and loop._is_own_thread():
            loop.call_at(loop.execution.clock.now, callback)
        else:
            loop.call_soon_threadsafe(loop.call_at, loop.execution.clock.now, callback)


def _seen(thing: Any, kind: int = WRITE) -> None:
    """An operation on a connection or a server, as one on any shared object."""
    strand = here()
    if strand is not None:
        touch(strand, kind, thing, None)


class ConnectionEnd(asyncio.Transport):
    """One end of a connection."""

    _start_tls_compatible = True

    def __init__(self, network: Network, loop: Loop, own: Address, other: Address) -> None:
        super().__init__({"sockname": own, "peername": other, "socket": None})
        self.network, self.loop = network, loop
        self.peer: ConnectionEnd
        self.server: MemoryServer | None = None
        self.protocol: Any = None
        self.waiting: list[bytes] = []  # bytes on their way to this end
        self.end_waits = self.end_told = False  # has the peer said that no more will come? And was the protocol told?
        self.on_its_way = False  # will the loop of this end be told of an arrival?
        self.reading = True
        self.writable = True  # may the protocol of this end write?
        self.eof_written = self.closing = self.lost = False
        self.limits = _HIGH_WATER // 4, _HIGH_WATER

    # ------------------------------------------------------------------ what the protocol calls

    def write(self, data: Any) -> None:
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"data argument must be a bytes-like object, not {type(data).__name__!r}")
        if self.eof_written:
            raise RuntimeError("Cannot call write() after write_eof()")
        _seen(self)
        if not data or self.lost or self.closing or self.peer.lost:
            return
        self.peer.waiting.append(bytes(data))
        self.peer.expect()
        if self.writable and self.get_write_buffer_size() > self.limits[1]:
            self.writable = False
            self.protocol.pause_writing()

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def write_eof(self) -> None:
        _seen(self)
        if not self.eof_written and not self.closing:
            self.eof_written = True
            self.peer.expect_end()

    def can_write_eof(self) -> bool:
        return True

    def close(self) -> None:
        _seen(self)
        if not self.closing:
            self.closing = True
            self.peer.expect_end()
            self.loop.call_soon(self.lose, None)

    def abort(self) -> None:
        self.close()

    def is_closing(self) -> bool:
        _seen(self, READ)
        return self.closing

    def pause_reading(self) -> None:
        _seen(self)
        self.reading = False

    def resume_reading(self) -> None:
        _seen(self)
        self.reading = True
        if self.waiting or (self.end_waits and not self.end_told):
            self.expect()

    def is_reading(self) -> bool:
        _seen(self, READ)
        return self.reading and not self.closing

    def get_write_buffer_size(self) -> int:
        _seen(self.peer, READ)
        return sum(map(len, self.peer.waiting))

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self.limits

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        high = (_HIGH_WATER if low is None else 4 * low) if high is None else high
        low = high // 4 if low is None else low
        if not high >= low >= 0:
            raise ValueError(f"high ({high!r}) must be >= low ({low!r}) must be >= 0")
        self.limits = low, high

    def set_protocol(self, protocol: Any) -> None:
        self.protocol = protocol

    def get_protocol(self) -> Any:
        return self.protocol

    # ------------------------------------------------------------------ what the other end does

    def expect(self) -> None:
        """Something is on its way to this end."""
        if not self.on_its_way:
            self.on_its_way = True
            self.network.arrive(self.loop, self.receive)

    def expect_end(self) -> None:
        self.end_waits = True
        self.expect()

    def receive(self) -> None:
        _seen(self)
        self.on_its_way = False
        if self.protocol is None or not self.reading or self.closing or self.lost:
            return
        data = b"".join(self.waiting)
        self.waiting.clear()
        if data:
            self._give(data)
            self.peer.has_been_read()
        if self.end_waits and not self.end_told and self.reading and not self.closing:
            self.end_told = True
            if not self.protocol.eof_received():
                self.close()

    def _give(self, data: bytes) -> None:
        if isinstance(self.protocol, asyncio.BufferedProtocol):
            while data:
                buffer = memoryview(self.protocol.get_buffer(len(data)))
                size = min(len(buffer), len(data))
                buffer[:size] = data[:size]
                self.protocol.buffer_updated(size)
                data = data[size:]
        else:
            self.protocol.data_received(data)

    def has_been_read(self) -> None:
        """The other end has read: this one may write again."""
        if not self.writable and not self.lost and self.get_write_buffer_size() <= self.limits[0]:
            self.writable = True
            if self.loop._is_own_thread():
                self.protocol.resume_writing()
            else:
                self.loop.call_soon_threadsafe(self.protocol.resume_writing)

    def lose(self, error: BaseException | None) -> None:
        if not self.lost:
            _seen(self)
            self.lost = True
            self.waiting.clear()
            self.peer.has_been_read()
            if self.protocol is not None:
                self.protocol.connection_lost(error)
            if self.server is not None:
                self.server.detach(self)

    def __repr__(self) -> str:
        return f"<connection {self.get_extra_info('sockname')} to {self.get_extra_info('peername')}>"


class _Listener:
    """What a program asks for the port of its server, and for its kind. For all else a real socket is opened."""

    type, proto = socket.SOCK_STREAM, 0

    def __init__(self, server: MemoryServer) -> None:
        self.server = server
        address = server.address
        if isinstance(address, str):
            self.family = socket.AF_UNIX
        else:
            self.family = socket.AF_INET6 if ":" in str(address[0]) else socket.AF_INET

    def getsockname(self) -> Address:
        return self.server.address

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.server.open()
        return getattr(self.server.real, name)


class MemoryServer(asyncio.AbstractServer):
    """What `create_server` makes inside an execution."""

    def __init__(self, network: Network, loop: Loop, factory: Callable[[], Any], host: Any, port: Any) -> None:
        self.network, self.loop, self.factory = network, loop, factory
        self.port = network.listen(self, port)
        self.address: Address = self.port if isinstance(self.port, str) else (_numeric(host), self.port)
        self.serving = False
        self.closed = False
        self.early: list[ConnectionEnd] = []  # connections that came before it serves
        self.connections: list[ConnectionEnd] = []
        self.real: socket.socket | None = None
        self.by_socket = 0  # connections that came to it
        self.waiters: list[Any] = []
        self.forever: Any = None

    @property
    def sockets(self) -> tuple[Any, ...]:
        return () if self.closed else (_Listener(self),)

    def get_loop(self) -> Any:
        return self.loop

    def is_serving(self) -> bool:
        _seen(self, READ)
        return self.serving

    async def start_serving(self) -> None:
        self.start()
        await asyncio.sleep(0)

    def start(self) -> None:
        _seen(self)
        self.serving = True
        for connection in self.early:
            self.network.arrive(self.loop, functools.partial(self.accept, connection))
        self.early.clear()

    async def serve_forever(self) -> None:
        if self.forever is not None:
            raise RuntimeError(f"server {self!r} is already being awaited on serve_forever()")
        if self.closed:
            raise RuntimeError(f"server {self!r} is closed")
        self.start()
        self.forever = self.loop.create_future()
        try:
            await self.forever
        except asyncio.CancelledError:
            try:
                self.close()
                await self.wait_closed()
            finally:
                raise
        finally:
            self.forever = None

    def open(self) -> None:
        """Somebody comes with a real socket: listen on one."""
        if self.serving and self.real is None:
            if isinstance(self.address, str):
                self.real = socket.socket(socket.AF_UNIX)
                _take_away(self.address)
            else:
                self.real = socket.socket(socket.AF_INET6 if ":" in self.address[0] else socket.AF_INET)
                self.real.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.real.setblocking(False)
            self.real.bind(self.address)
            self.real.listen(_BACKLOG)
            self.loop._start_serving(self.factory, self.real, None, self)

    def _attach(self, transport: Any = None) -> None:
        self.by_socket += 1

    def _detach(self, transport: Any = None) -> None:
        self.by_socket -= 1
        self._wake_when_empty()

    def _wake_when_empty(self) -> None:
        if self.closed and not self.connections and not self.by_socket:
            self.wake()

    def close(self) -> None:
        _seen(self)
        if self.closed:
            return
        self.closed, self.serving = True, False
        if self.real is not None:
            self.loop._stop_serving(self.real)
        if isinstance(self.address, str) and sys.version_info >= (3, 13):
            _take_away(self.address)
        self.network.listening.pop(self.port, None)
        for connection in self.early:
            connection.close()
        if self.forever is not None and not self.forever.done():
            self.forever.cancel()
        self._wake_when_empty()

    def close_clients(self) -> None:
        for connection in self.connections[:]:
            connection.close()

    abort_clients = close_clients

    async def wait_closed(self) -> None:
        """Until 3.12, closed is closed; since then, when the last connection has ended as well."""
        _seen(self)
        if self.closed and (sys.version_info < (3, 12) or not (self.connections or self.by_socket)):
            return
        waiter = self.loop.create_future()
        self.waiters.append(waiter)
        await waiter

    def wake(self) -> None:
        for waiter in self.waiters:
            if not waiter.done():
                waiter.set_result(None)
        self.waiters.clear()

    def accept(self, connection: ConnectionEnd) -> None:
        _seen(self)
        if self.closed:
            connection.close()
        elif not self.serving:
            self.early.append(connection)
        else:
            self.connections.append(connection)
            connection.server = self
            connection.protocol = self.factory()
            connection.protocol.connection_made(connection)
            if connection.waiting or connection.end_waits:
                connection.expect()

    def detach(self, connection: ConnectionEnd) -> None:
        _seen(self)
        if connection in self.connections:
            self.connections.remove(connection)
        self._wake_when_empty()

    def __repr__(self) -> str:
        return f"<server on {self.address}>"


def _numeric(host: Any) -> str:
    """The address of a name of this host."""
    first = host if isinstance(host, str) or host is None else next(iter(host), None)
    return first if first in ("::1", "::") else "0.0.0.0" if first in (None, "", "0.0.0.0") else "127.0.0.1"


@functools.cache
def is_own(host: str) -> bool:
    """Is it an address of this machine? To no other can anything be bound."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)  # a name would be looked up
            with closing(socket.SocketType(family, socket.SOCK_DGRAM)) as sock:
                sock.bind((host, 0))
        except (OSError, TypeError):
            continue
        return True
    return False


def _only_here(loop: Loop, *hosts: Any) -> None:
    for host in (os.fsdecode(host) if isinstance(host, bytes) else host for host in hosts):
        if host not in _THIS_HOST and not str(host).startswith("127.") and not is_own(host):
            refuse(loop.execution, f"a network connection of the real world ({host})")


def _needs_a_socket(options: dict[str, Any]) -> bool:
    return bool(options.get("ssl")) or options.get("sock") is not None


def _open_server(strand: Strand, address: Any) -> None:
    """A strand connects a real socket: is there a server that has none yet?"""
    network: Network | None = getattr(strand.execution, "network", None)
    port = address[1] if isinstance(address, tuple) else address
    if network is not None and port in network.listening:
        network.listening[port].open()


BEFORE_CONNECTING.append(_open_server)


async def create_server(
    loop: Loop, factory: Callable[[], Any], host: Any = None, port: Any = None, **options: Any
) -> Any:
    """`loop.create_server`"""
    _only_here(loop, *([host] if isinstance(host, str) or host is None else host))
    if _needs_a_socket(options):
        return await _Base.create_server(loop, factory, host, port, **options)
    return await _start(loop, factory, host, port, options)


async def create_unix_server(loop: Loop, factory: Callable[[], Any], path: Any = None, **options: Any) -> Any:
    """`loop.create_unix_server`"""
    if path is None or _needs_a_socket(options):
        return await _Unix.create_unix_server(loop, factory, path, **options)
    address = os.fsdecode(path)
    if not (address.startswith("\0") or address in loop.execution.network.listening):  # those have no file
        _take_away(address)
        with closing(socket.SocketType(socket.AF_UNIX)) as place:
            place.bind(address)  # programs look at its file, and give it other rights
    return await _start(loop, factory, None, address, options)


def _take_away(address: str) -> None:
    """The file of a Unix socket, if there is one."""
    try:
        if stat.S_ISSOCK(os.stat(address).st_mode):
            os.remove(address)
    except (OSError, ValueError):
        pass  # who binds is told


async def _start(loop: Loop, factory: Callable[[], Any], host: Any, port: Any, options: dict[str, Any]) -> MemoryServer:
    server = MemoryServer(loop.execution.network, loop, factory, host, port or 0)
    if options.get("start_serving", True):
        await server.start_serving()
    return server


async def create_connection(
    loop: Loop, factory: Callable[[], Any], host: Any = None, port: Any = None, **options: Any
) -> tuple[Any, Any]:
    """`loop.create_connection`"""
    _only_here(loop, host)
    if port in loop.execution.network.listening and not _needs_a_socket(options):
        return await _connect(loop, factory, ("127.0.0.1", port), port)
    try:
        return await _Base.create_connection(loop, factory, host, port, **options)  # type: ignore[no-any-return]
    except ConnectionRefusedError as error:
        message = f"Connect call failed {host}:{port}: nothing in this test listens there"
        raise ConnectionRefusedError(error.errno, message) from None


async def create_unix_connection(
    loop: Loop, factory: Callable[[], Any], path: Any = None, **options: Any
) -> tuple[Any, Any]:
    """`loop.create_unix_connection`"""
    address = "" if path is None else os.fsdecode(path)
    if address in loop.execution.network.listening and not _needs_a_socket(options):
        return await _connect(loop, factory, address, address)
    if path is not None and os.path.exists(path) and not is_bound_here(os.fspath(path)):
        refuse(loop.execution, "a Unix socket of the real world")
    return await _Unix.create_unix_connection(loop, factory, path, **options)  # type: ignore[no-any-return]


async def create_datagram_endpoint(
    loop: Loop, factory: Callable[[], Any], local_addr: Any = None, remote_addr: Any = None, **options: Any
) -> tuple[Any, Any]:
    """`loop.create_datagram_endpoint`"""
    _only_here(loop, *(address[0] for address in (local_addr, remote_addr) if isinstance(address, tuple)))
    return await _Base.create_datagram_endpoint(loop, factory, local_addr, remote_addr, **options)  # type: ignore[no-any-return]


async def sock_connect(loop: Loop, sock: Any, address: Any) -> Any:
    """`loop.sock_connect`"""
    if isinstance(address, tuple):
        _only_here(loop, address[0])
    return await _Base.sock_connect(loop, sock, address)


async def getaddrinfo(loop: Loop, host: Any, port: Any, **options: Any) -> Any:
    """`loop.getaddrinfo`: no thread is needed to know this host."""
    _only_here(loop, host)
    await asyncio.sleep(0)
    return socket.getaddrinfo(host, port, **options)


async def sendfile(loop: Loop, transport: Any, *args: Any, **options: Any) -> Any:
    """`loop.sendfile`"""
    if isinstance(transport, ConnectionEnd):
        refuse(loop.execution, "a network connection of the real world (loop.sendfile)")
    return await _Base.sendfile(loop, transport, *args, **options)


async def _connect(loop: Loop, factory: Callable[[], Any], address: Address, port: Any) -> tuple[ConnectionEnd, Any]:
    network: Network = loop.execution.network
    await asyncio.sleep(0)  # a connection is never made at once
    server = network.listening.get(port)
    if server is None:
        raise ConnectionRefusedError(111, f"Connect call failed {address}: nothing in this test listens there")
    _seen(server)
    own = "" if isinstance(address, str) else ("127.0.0.1", network.next_port())
    client = ConnectionEnd(network, loop, own, address)
    served = ConnectionEnd(network, server.loop, address, own)
    client.peer, served.peer = served, client
    client.protocol = factory()
    client.protocol.connection_made(client)
    network.arrive(server.loop, functools.partial(server.accept, served))
    return client, client.protocol


# methods of the loop
LOCAL = (
    *(create_connection, create_server, create_unix_connection, create_unix_server, create_datagram_endpoint),
    *(getaddrinfo, sendfile, sock_connect),
)
