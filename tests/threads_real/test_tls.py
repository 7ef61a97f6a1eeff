"""TLS between threads of one test: who shakes hands, reads or writes lets the others run."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import treadle
from treadle.threads.primitives import tls

# A certificate for localhost that signs itself, and its key: they protect nothing.
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUQ77JtJXKOZ0SjMscrc/+HxDMB+IwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExODEwNDA0MloYDzIxMjYxMDI1
MTA0MDQyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQRnZ4dYIyR1eBgs4gBlKcqiEH/PaWXM0pInN9ddnihEr4uYioQNcdW
rFPOiTf6HLrJ1YgvcoAT8UgopNKHyS4To28wbTAdBgNVHQ4EFgQUfjU32u4WOCH+
90qxTfpd2POkP1wwHwYDVR0jBBgwFoAUfjU32u4WOCH+90qxTfpd2POkP1wwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgVYXhLVuuVETy1qbZZ25nbHM+OTEUi1e2ft+z+autqrUCIQCB
qZCTRRMGleKaki2577KajwFpUX89TKFVUtgqk1XdAA==
-----END CERTIFICATE-----
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/lDbR1m+RPom8pvE
99R4/flsQtaVR8kEBv6EOcG4YXWhRANCAAQRnZ4dYIyR1eBgs4gBlKcqiEH/PaWX
M0pInN9ddnihEr4uYioQNcdWrFPOiTf6HLrJ1YgvcoAT8UgopNKHyS4T
-----END PRIVATE KEY-----
"""


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    path = tmp_path / "certificate.pem"
    path.write_text(CERTIFICATE)
    return path


def _served(certificate: Path, serve: Callable[[ssl.SSLSocket], None], ask: Callable[[ssl.SSLSocket], None]) -> None:
    """A server in a thread, and a client in this one."""
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(certificate)
    ours = ssl.create_default_context(cafile=str(certificate))
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            connection, _ = listening.accept()
            with theirs.wrap_socket(connection, server_side=True) as encrypted:
                serve(encrypted)

        thread = threading.Thread(target=accept)
        thread.start()
        with (
            socket.create_connection(listening.getsockname()) as connection,
            ours.wrap_socket(connection, server_hostname="localhost") as encrypted,
        ):
            ask(encrypted)
        thread.join()


def test_both_sides_wait_as_strands(certificate: Path) -> None:
    def serve(connection: ssl.SSLSocket) -> None:
        connection.sendall(connection.recv(100).upper())

    def ask(connection: ssl.SSLSocket) -> None:
        connection.sendall(b"hello")
        assert connection.recv(100) == b"HELLO"

    result = treadle.check(lambda: _served(certificate, serve, ask), executions=30)
    assert not result.findings
    assert result.executions > 1


def test_more_than_the_kernel_takes_at_once(certificate: Path) -> None:
    large = bytes(2_000_000)

    def serve(connection: ssl.SSLSocket) -> None:
        connection.sendall(large)

    def ask(connection: ssl.SSLSocket) -> None:
        got = 0
        while part := connection.recv(1 << 20):
            got += len(part)
        assert got == len(large)

    assert not treadle.check(lambda: _served(certificate, serve, ask), executions=2).findings


def test_who_is_never_answered_is_told_when_the_time_is_over(certificate: Path) -> None:
    def test() -> None:
        context = ssl.create_default_context(cafile=str(certificate))
        over = threading.Event()
        with socket.create_server(("127.0.0.1", 0)) as silent:

            def accept() -> None:
                with silent.accept()[0]:
                    over.wait()

            thread = threading.Thread(target=accept)
            thread.start()
            connection = socket.create_connection(silent.getsockname(), timeout=3600)
            with connection, pytest.raises(TimeoutError):
                context.wrap_socket(connection, server_hostname="localhost")
            over.set()
            thread.join()

    assert not treadle.check(test, executions=3).findings


def test_outside_of_an_execution_it_is_what_it_was(certificate: Path) -> None:
    assert {name for _, names in tls.PATCHES for name in names} >= {"do_handshake", "read", "send"}
    _served(certificate, lambda connection: connection.sendall(b"x"), lambda connection: print(connection.recv(1)))
