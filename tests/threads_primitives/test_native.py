"""Threads of native code, which wait where nobody sees it."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

import pytest

import treadle
from treadle.core.result import Verdict
from treadle.threads.primitives.native import is_native

# Stands for gRPC's: a thread that polls in native code, started by whoever comes first, and a pair of sockets to wake
# event loops, for as long as the process runs.
POLLER = """
import _thread, socket, threading

class Poller:
    def __init__(self):
        self.wanted, self.done, self.sockets = _thread.allocate_lock(), _thread.allocate_lock(), ()
        self.over = False
        self.wanted.acquire()
        self.done.acquire()

    def __call__(self):
        while not self.over:
            self.wanted.acquire()
            self.done.release()

    def use(self):
        if not self.sockets:
            threading.Thread(target=self, daemon=True).start()
            self.sockets = socket.socketpair()
        self.wanted.release()
        self.done.acquire()
        self.sockets[0].send(b"x")
        return self.sockets[1].recv(1)
"""


@pytest.fixture
def poller(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    module: Any = types.ModuleType("native")
    module.__file__ = f"/native{EXTENSION_SUFFIXES[0]}"
    monkeypatch.setitem(sys.modules, "native", module)
    exec(POLLER, vars(module))
    made = module.Poller()
    yield made
    made.over = True  # a thread beside them would be seen by other tests
    made.wanted.release()


def test_a_thread_that_waits_in_native_code_runs_beside_and_outlives_the_execution(poller: Any) -> None:
    def test() -> None:
        seen: list[int] = []
        assert poller.use() == b"x"
        treadle.parallel(lambda: seen.append(1), lambda: seen.append(2))
        assert len(seen) == 2

    result = treadle.check(test, executions=10)
    assert (result.verdict, result.findings) == (Verdict.PASSED_WITHIN_BOUNDS, [])
    assert result.executions > 1


def test_native_is_compiled_code_of_a_package_and_not_of_python(poller: Any) -> None:
    def python() -> None:
        pass

    assert is_native(poller)
    ours: list[Any] = [python, len, [].append, "x".join]
    assert [is_native(one) for one in ours] == [False] * 4
