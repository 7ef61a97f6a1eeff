"""TLS over real sockets: who shakes hands, reads or writes waits as a strand, and not in C where nobody else can run.

Whether a call has to read or to write first only TLS knows: it is tried without blocking, says which, and is tried
again when the socket can be read or written. What was decrypted before needs neither.
"""

from __future__ import annotations

import functools
import socket
from typing import Any

try:
    import ssl
except ImportError:  # an interpreter without it
    ssl = None  # type: ignore[assignment]

from treadle.threads.primitives.inside import here
from treadle.threads.primitives.outside import act, await_socket

_real_settimeout: Any = socket.SocketType.settimeout
_HANDSHAKE = "do_handshake"
_METHODS = (_HANDSHAKE, "read", "write", "send", "unwrap")


def _patient(name: str) -> Any:
    real: Any = vars(ssl.SSLSocket)[name]

    @functools.wraps(real)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        strand = here()
        if strand is None or self._sslobj is None:
            return real(self, *args, **kwargs)
        timeout = self.gettimeout()
        if timeout == 0:  # the program waits elsewhere
            act(strand)
            return real(self, *args, **kwargs)
        if name == _HANDSHAKE:
            args, kwargs = (), {}  # `block` would make it wait in C
        while True:
            act(strand)
            _real_settimeout(self, 0.0)
            try:
                return real(self, *args, **kwargs)
            except ssl.SSLWantReadError:
                way = "r"
            except ssl.SSLWantWriteError:
                way = "w"
            finally:
                if self.fileno() >= 0:
                    _real_settimeout(self, timeout)
            await_socket(strand, self, way, name)

    return method


PATCHES: list[tuple[Any, dict[str, Any]]] = (
    [] if ssl is None else [(ssl.SSLSocket, {name: _patient(name) for name in _METHODS})]
)
