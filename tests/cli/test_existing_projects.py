"""Tests as projects have them: one small project for each thing that once kept a test from a verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli

HEAD = """
import os, queue, sys, threading, time

def both(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""

SAFE = """
def test_it():
    total = [0]
    lock = threading.Lock()

    def add():
        with lock:
            total[0] += 1

    both(add, add)
    assert total == [2]
"""


def explored(
    cli: Cli, project: Path, source: str, *options: str, settings: str = "", test: str = "test_it", **files: str
) -> dict[str, Any]:
    """The result of exploring a test of a project with these files."""
    # pytest-asyncio, where it is installed, warns of every project that does not say this
    said = 'asyncio_default_fixture_loop_scope = "function"\n' if find_spec("pytest_asyncio") else ""
    (project / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\n{said}{settings}")
    (project / "test_existing.py").write_text(HEAD + source)
    for name, text in files.items():
        (project / f"{name}.py").write_text(text)
    answer = cli("explore", f"test_existing.py::{test}", "--json", *options)
    assert answer.out, answer.err
    return dict(json.loads(answer.out))


@pytest.mark.parametrize(
    "settings",
    [
        "filterwarnings = ['error']\n",
        "addopts = '-ra --strict-markers --strict-config -W error'\nxfail_strict = true\n",
        "addopts = '-p no:cacheprovider --import-mode=importlib'\n",
    ],
)
def test_whatever_the_project_tells_pytest(cli: Cli, project: Path, settings: str) -> None:
    assert explored(cli, project, SAFE, settings=settings)["verdict"].startswith("PASSED")


CONFTEST = """
import pytest

class Item(pytest.Function):
    def runtest(self):
        self.obj()

def pytest_pycollect_makeitem(collector, name, obj):
    if name.startswith("test_") and callable(obj):
        return Item.from_parent(collector, name=name)

@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield)

@pytest.fixture(autouse=True)
def around(monkeypatch):
    monkeypatch.setenv("AROUND", "1")
    yield
"""


def test_hooks_and_collectors_of_its_own(cli: Cli, project: Path) -> None:
    assert explored(cli, project, SAFE, conftest=CONFTEST)["verdict"].startswith("PASSED")


# What a program may have lying about: in sys.modules, and among its globals.
ODD_MODULES = """
import sys

class Slotted:
    __slots__ = ()
    answer = 42

class Nothing:
    def __getattribute__(self, name):
        raise RuntimeError(name)

sys.modules["oddities"] = Slotted()
sys.modules["odd_nothing"] = Nothing()
"""

ODD_OBJECTS = """
import functools
import oddities

class Meta(type):
    @property
    def __module__(cls):
        raise AttributeError("none")

class WithMeta(metaclass=Meta):
    @property
    def __module__(self):
        return "elsewhere"

class Partial(functools.partial):
    pass

class Frozen:
    __slots__ = ("a", "__weakref__")
    def __setattr__(self, name, value):
        raise AttributeError("frozen")

class Proxy:
    __slots__ = ("__wrapped",)
    def __init__(self, wrapped):
        object.__setattr__(self, "_Proxy__wrapped", wrapped)
    __dict__ = property(lambda self: object.__getattribute__(self, "_Proxy__wrapped").__dict__)
    def __getattr__(self, name):
        return getattr(object.__getattribute__(self, "_Proxy__wrapped"), name)

class Unbound:
    __slots__ = ()
    @property
    def __class__(self):
        raise RuntimeError("working outside of request context")

with_meta, partial, frozen, unbound = WithMeta(), Partial(int, "3"), Frozen(), Unbound()
partial.extra = 1
proxy = Proxy(partial)
""" + SAFE.replace("total[0] += 1", "total[0] += oddities.answer - 41 + partial() - 3")


def test_objects_that_must_not_be_asked(cli: Cli, project: Path) -> None:
    found = explored(cli, project, ODD_OBJECTS, oddities=ODD_MODULES)
    for name in ("oddities", "odd_nothing"):
        sys.modules.pop(name, None)
    assert found["verdict"].startswith("PASSED")


REPLACED = """
import sys, types

count = 0

def add():
    global count
    count = count + 1

class Itself(types.ModuleType):
    add = staticmethod(add)
    count = property(lambda self: count)

sys.modules["replaced"] = Itself("replaced")
"""

USES_REPLACED = """
import replaced

def test_it():
    both(replaced.add, replaced.add)
    assert replaced.count == 2
"""


def test_a_package_that_replaces_its_own_module_is_looked_into(cli: Cli, project: Path) -> None:
    found = explored(cli, project, USES_REPLACED, "--instrument", "replaced", replaced=REPLACED)
    sys.modules.pop("replaced", None)
    assert [finding["message"] for finding in found["findings"]] == ["AssertionError: assert 1 == 2"]  # a lost update


LONG = """
def test_it():
    total, lock = [0], threading.Lock()

    def add():
        for _ in range(3000):
            with lock:
                total[0] += 1

    both(add, add)
    assert total == [6000]
"""


@pytest.mark.slow
def test_a_long_test_is_run_to_its_end(cli: Cli, project: Path) -> None:
    found = explored(cli, project, LONG, "--executions", "4")
    assert found["verdict"] == "CUT"
    assert "is used up" in str(found["reason"])  # and none was stopped


@pytest.mark.slow
def test_a_finite_loop_is_no_livelock_and_its_bug_is_found_with_few_preemptions(cli: Cli, project: Path) -> None:
    source = LONG.replace("with lock:", "if not lock.locked():").replace("3000", "4000").replace("[6000]", "[8000]")
    found = explored(cli, project, source, "--executions", "10")
    assert found["verdict"] == "FAILED"
    assert found["findings"][0]["kind"] == "assertion"


def test_the_limit_of_operations_is_an_option(cli: Cli, project: Path) -> None:
    found = explored(cli, project, LONG, "--executions", "2", "--operations", "500")
    assert found["reason"] == "2 of 2 executions were stopped after 500 operations: not a pass"


EARLY = """
def test_it():
    found = {}

    def first():
        found["a"] = 1

    def second():
        time.sleep(1)
        found["b"] = found["a"]

    both(first, second)
    assert found["b"] == 1
"""


def test_threads_that_only_sleeps_order_are_told_so(cli: Cli, project: Path) -> None:
    found = explored(cli, project, EARLY)
    assert found["verdict"] == "PASSED-WITHIN-BOUNDS"
    assert found["bounds"] == {"sleeps or timeouts that end early": 0}
    (warning,) = found["warnings"]
    assert warning["kind"] == "ordered by sleeps"
    assert "when one ends early, exception: KeyError: " in warning["message"]
    assert warning["message"].endswith("see it with --timeouts any")


POLLING = """
def test_it():
    done = []
    thread = threading.Thread(target=lambda: done.append(1))
    thread.start()
    end = time.time() + 10
    while not done and time.time() < end:
        time.sleep(0.01)
    thread.join()
    assert done
"""


def test_a_test_that_polls_with_sleeps_has_more_than_one_schedule(cli: Cli, project: Path) -> None:
    assert explored(cli, project, POLLING, "--executions", "200")["verdict"] != "NOTHING-TO-EXPLORE"


STREAMS = """
import faulthandler

def test_it():
    faulthandler.dump_traceback_later(1000)
    faulthandler.cancel_dump_traceback_later()
    done = []

    def go():
        os.write(sys.stdout.fileno(), b"x")
        sys.stdout.buffer.write(b"y")
        done.append(1)

    both(go, go)
    assert len(done) == 2
"""


def test_output_has_a_file_behind_it(cli: Cli, project: Path) -> None:
    assert explored(cli, project, STREAMS)["verdict"].startswith("PASSED")


MODULES = """
import json

import pytest

@pytest.mark.parametrize("options", [{"serializer": json}])
def test_it(options):
    done = []
    both(lambda: done.append(options), lambda: done.append(options))
    assert len(done) == 2
"""


def test_parameters_that_cannot_be_copied(cli: Cli, project: Path) -> None:
    assert explored(cli, project, MODULES)["verdict"].startswith("PASSED")


FAULTS = """
import faulthandler

def pytest_configure(config):
    faulthandler.dump_traceback_later(1000, exit=True)

def pytest_unconfigure(config):
    faulthandler.cancel_dump_traceback_later()
    faulthandler.dump_traceback_later(1000, exit=True)
    faulthandler.cancel_dump_traceback_later()
"""


@pytest.mark.slow
def test_a_conftest_that_wants_tracebacks_written(project: Path) -> None:
    (project / "conftest.py").write_text(FAULTS)
    (project / "test_it.py").write_text(HEAD + STREAMS)
    words = [sys.executable, "-m", "treadle", "explore", "test_it.py::test_it"]  # a process has real streams
    done = subprocess.run(words, cwd=project, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.stdout.startswith("PASSED"), done.stderr


PATCHED = """
def test_it(monkeypatch):
    slept, seen = [], []
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(time, "monotonic", lambda: 5.0)
    monkeypatch.setattr(threading, "Thread", type("Own", (threading.Thread,), {}))

    def go():
        time.sleep(10)
        seen.append(time.monotonic())

    both(go, go)
    assert seen == [5.0, 5.0] and slept == [10, 10]
"""


def test_what_the_test_itself_exchanges_holds(cli: Cli, project: Path) -> None:
    assert explored(cli, project, PATCHED)["verdict"].startswith("PASSED")


CHANCE = """
import uuid

def test_it():
    seen = []
    both(lambda: seen.append(uuid.uuid4()), lambda: seen.append(uuid.uuid4()))
    if str(seen[0]) < "8":
        seen.append(os.urandom(4))
    assert len(set(seen)) == len(seen)
"""


def test_chance_is_the_same_in_every_execution(cli: Cli, project: Path) -> None:
    assert explored(cli, project, CHANCE)["verdict"].startswith("PASSED")


GREENLETS = """
import greenlet

def test_it():
    seen = []

    def go():
        greenlet.greenlet(lambda: seen.append(1)).switch()

    both(go, go)
    assert seen == [1, 1]
"""


def test_greenlets_of_the_program_are_refused_with_the_way_out(cli: Cli, project: Path) -> None:
    (project / "test_existing.py").write_text(HEAD + GREENLETS)
    answer = cli("explore", "test_existing.py::test_it")
    assert answer.code == 2
    assert "switches greenlets of its own" in answer.err
    assert "TREADLE_STRANDS=threads" in answer.err


CHILD = """
import subprocess

def test_it():
    done = []

    def go():
        words = [sys.executable, "-S", "-c", "print(1)"]
        done.append(subprocess.run(words, capture_output=True, timeout=60).stdout)

    both(go, go)
    assert done == [b"1\\\\n"] * 2
"""


def test_a_timeout_for_another_process_is_real(cli: Cli, project: Path) -> None:
    found = explored(cli, project, CHILD.replace("\\\\", "\\"), "--executions", "3")
    assert found["verdict"] != "FAILED"
    assert found["executions"] >= 1  # how many are left after the search started again depends on the other process


# ---------------------------------------------------------------------- packages that real projects use in their tests

FREEZEGUN = """
import datetime
import freezegun

@freezegun.freeze_time("2012-01-14")
def test_it():
    seen = []
    both(lambda: seen.append(datetime.datetime.now()), lambda: seen.append(time.time()))
    assert datetime.datetime(2012, 1, 14) in seen and 1326499200.0 in seen
"""

TIME_MACHINE = """
import datetime
import time_machine

def test_it():
    seen = []
    with time_machine.travel(0.0, tick=False):
        both(lambda: seen.append(time.time()), lambda: seen.append(datetime.datetime.now(datetime.timezone.utc).year))
    assert sorted(seen) == [0.0, 1970]
"""

WRAPT = """
import wrapt

class Counter:
    n = 0

class Proxy(wrapt.ObjectProxy):
    pass

@wrapt.decorator
def through(wrapped, instance, args, kwargs):
    return wrapped(*args, **kwargs)

shared = Proxy(Counter())

@through
def test_it():
    lock = threading.Lock()

    @through
    def add():
        with lock:
            shared.n += 1

    both(add, add)
    assert shared.n == 2
    shared.n = 0
"""

WERKZEUG = """
from werkzeug.local import Local, LocalProxy, LocalStack

stack = LocalStack()
current = LocalProxy(lambda: stack.top)
unbound = LocalProxy(Local(), "nothing")

def test_it():
    seen = []

    def go(n):
        stack.push(n)
        seen.append(current + 0)
        stack.pop()

    both(lambda: go(1), lambda: go(2))
    assert sorted(seen) == [1, 2]
"""

CFFI = """
import cffi

ffi = cffi.FFI()
ffi.cdef("int abs(int);")
libc = ffi.dlopen(None)
sys.modules["a_library"] = libc

def test_it():
    seen = []
    both(lambda: seen.append(libc.abs(-1)), lambda: seen.append(libc.abs(-2)))
    assert sorted(seen) == [1, 2]
"""


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("freezegun", FREEZEGUN),
        ("time_machine", TIME_MACHINE),
        ("wrapt", WRAPT),
        ("werkzeug", WERKZEUG),
        ("cffi", CFFI),
    ],
)
def test_packages_that_exchange_or_wrap_things(cli: Cli, project: Path, package: str, source: str) -> None:
    pytest.importorskip(package, reason=f"{package} is in the extra `dev`, and not installed here")
    found = explored(cli, project, source, "--executions", "100")
    sys.modules.pop("a_library", None)
    assert found["findings"] == []
    assert found["executions"] > 1


NOT_FULL = """
def test_it(monkeypatch):
    waiting = queue.Queue(maxsize=1)
    waited = []
    real = waiting.not_full.wait

    def wait(timeout=None):
        waited.append(timeout)
        return real(timeout)

    monkeypatch.setattr(waiting.not_full, "wait", wait)
    both(lambda: [waiting.put(n) for n in range(2)], lambda: [waiting.get() for _ in range(2)])
    assert waiting.empty()
"""

CAPTURED = """
def test_it({fixture}):
    both(lambda: print("one"), lambda: os.write(1, b"two") if {fixture!r} == "capfd" else print("two"))
    out = {fixture}.readouterr().out
    assert "one" in out and "two" in out
"""


def test_a_queue_whose_condition_the_test_exchanges(cli: Cli, project: Path) -> None:
    assert explored(cli, project, NOT_FULL, "--executions", "200")["findings"] == []


@pytest.mark.parametrize("fixture", ["capsys", "capfd"])
def test_output_that_the_test_reads_itself(cli: Cli, project: Path, fixture: str) -> None:
    source = CAPTURED.replace("{fixture!r}", repr(fixture)).replace("{fixture}", fixture)
    found = explored(cli, project, source, "--executions", "20")
    assert found["findings"] == []
    assert found["executions"] >= 1


def test_a_plugin_of_its_own_and_the_mode_of_asyncio(cli: Cli, project: Path) -> None:
    plugin = "import pytest\n\n@pytest.fixture(autouse=True)\ndef numbers():\n    return [1]\n"
    settings = "addopts = '-p own_plugin'\nasyncio_mode = 'auto'\npythonpath = ['.']\n"
    found = explored(cli, project, SAFE.replace("test_it()", "test_it(numbers)"), settings=settings, own_plugin=plugin)
    sys.modules.pop("own_plugin", None)
    assert found["verdict"].startswith("PASSED")


LAZY = """
import importlib.util, sys

spec = importlib.util.find_spec("loaded_late")
spec.loader = importlib.util.LazyLoader(spec.loader)
module = importlib.util.module_from_spec(spec)
sys.modules["loaded_late"] = module
spec.loader.exec_module(module)
"""

LATE = """
import loading
import loaded_late

def test_it():
    both(loaded_late.add, loaded_late.add)
    assert len(loaded_late.added) == 2
"""


def test_a_module_that_is_loaded_when_it_is_used(cli: Cli, project: Path) -> None:
    late = "added = []\n\ndef add():\n    added.append(1)\n"
    found = explored(cli, project, LATE, loading=LAZY, loaded_late=late)
    for name in ("loading", "loaded_late"):
        sys.modules.pop(name, None)
    assert found["findings"] == []
    assert found["verdict"].startswith("PASSED")


MARKED = """
import asyncio
import pytest

@pytest.mark.asyncio
async def test_it():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(1))
    thread.start()
    await asyncio.to_thread(seen.append, 2)
    thread.join()
    assert sorted(seen) == [1, 2]
"""


def test_a_coroutine_that_pytest_asyncio_is_told_of_has_a_runner_in_every_execution(cli: Cli, project: Path) -> None:
    found = explored(cli, project, MARKED, "--executions", "50", settings="asyncio_mode = 'strict'\n")
    assert found["findings"] == []
    assert found["executions"] > 1


OWN_CASE = """
import asyncio, unittest

class Case(unittest.TestCase):
    async def asyncSetUp(self):
        self.ready = True

    def _callSetUp(self):
        self.loop = asyncio.new_event_loop()
        self.addCleanup(self.loop.close)
        self.loop.run_until_complete(self.asyncSetUp())

    def _callTestMethod(self, method):
        self.loop.run_until_complete(method())

class Tests(Case):
    async def test_it(self):
        assert self.ready
        total, lock = [0], threading.Lock()

        def add():
            with lock:
                total[0] += 1

        both(add, add)
        assert total == [2]

    @unittest.expectedFailure
    async def test_known_to_fail(self):
        both(str, str)
        assert not self.ready
"""


@pytest.mark.parametrize("name", ["test_it", "test_known_to_fail"])
def test_a_case_that_runs_its_methods_in_its_own_way(cli: Cli, project: Path, name: str) -> None:
    result = explored(cli, project, OWN_CASE, test=f"Tests::{name}")
    assert not result["findings"]
    assert result["executions"]


RAISES_IN_A_THREAD = """
def test_it():
    lock, done = threading.Lock(), []

    def work(number):
        with lock:
            done.append(number)
        if number:
            raise ValueError("the second one always ends so")

    both(lambda: work(0), lambda: work(1))
    assert len(done) == 2

def test_racy():
    seen = [0]

    def work():
        before = seen[0]
        seen[0] = before + 1
        if seen[0] != before + 1:
            raise ValueError("interrupted")

    both(work, work)
"""


@pytest.mark.slow
def test_an_exception_that_ends_a_thread_in_every_plain_run_is_a_warning(cli: Cli, project: Path) -> None:
    result = explored(cli, project, RAISES_IN_A_THREAD)
    assert result["verdict"].startswith("PASSED")
    assert [one["kind"] for one in result["warnings"]] == ["exception in a thread"]


@pytest.mark.slow
def test_one_that_only_a_schedule_brings_about_is_a_failure(cli: Cli, project: Path) -> None:
    assert explored(cli, project, RAISES_IN_A_THREAD, test="test_racy")["verdict"] == "FAILED"


A_SERVER_FROM_BEFORE = """
import socket, socketserver

class Handler(socketserver.BaseRequestHandler):
    answers = {"what": b"yes"}

    def handle(self):
        self.request.sendall(self.answers["what"])

server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, args=(0.01,), name="the server", daemon=True).start()

def test_it():
    def ask():
        with socket.create_connection(server.server_address) as asking:
            assert asking.recv(3) == b"yes"

    both(ask, ask)
"""


@pytest.mark.slow
def test_code_of_the_program_in_a_thread_from_before_is_no_failure(cli: Cli, project: Path) -> None:
    (project / "test_existing.py").write_text(HEAD + A_SERVER_FROM_BEFORE)
    answer = cli("explore", "test_existing.py::test_it", "--seconds", "5")
    assert "FAILED" not in answer.out
    assert "was started before the test, so Treadle does not control it" in answer.err


LEAVES_BEHIND = """
import pytest

class Noisy:
    def __del__(self):
        raise ValueError("left behind")

@pytest.fixture(autouse=True, scope="module")
def leaves():
    yield
    cycle = [Noisy()]
    cycle.append(cycle)

def test_it():
    both(int, int)
"""


def test_what_fails_when_pytest_tidies_up_is_no_internal_error(cli: Cli, project: Path) -> None:
    """With warnings as errors, pytest raises at its very end what collecting the garbage brings up."""
    found = explored(cli, project, LEAVES_BEHIND, settings="filterwarnings = ['error']\n")
    assert found["verdict"] == "NOTHING-TO-EXPLORE"


ENDS_ELSEWHERE = """
import _thread, os, sys, threading

class Session:
    def __init__(self):
        self.lock, self.closed = threading.RLock(), []

    def __del__(self):
        with self.lock:
            self.closed.append(1)

handed, begun, ended = [], _thread.allocate_lock(), _thread.allocate_lock()
begun.acquire()
ended.acquire()

def drop():
    while True:
        begun.acquire()
        handed.clear()
        ended.release()

_thread.start_new_thread(drop, ())

def drop_in_another_thread(closed):
    session = Session()
    session.closed = closed
    handed.append(session)
    del session
    begun.release()
    ended.acquire()
"""
DROPS = """
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "site-packages"))
import native

def test_it():
    closed = []
    both(lambda: native.drop_in_another_thread(closed), lambda: closed.append(2))
    assert sorted(closed) == [1, 2]
"""


def test_a_finaliser_that_a_thread_of_a_library_runs_is_no_reason_to_refuse(cli: Cli, project: Path) -> None:
    """As gRPC's own threads do, which drop the last references to what a channel had."""
    (project / "site-packages").mkdir()
    (project / "site-packages" / "native.py").write_text(ENDS_ELSEWHERE)
    found = explored(cli, project, DROPS)
    assert found["verdict"] == "PASSED-WITHIN-BOUNDS"


# Each of these passes whenever it is run plainly, and no schedule is to blame for what it sees here.
NO_ALARM = {
    "everywhere": """
import _thread
Real = type(_thread.allocate_lock())

def test_it():
    seen = []
    both(lambda: seen.append(type(threading.Lock())), lambda: seen.append(type(threading.Lock())))
    assert seen == [Real, Real]
""",
    "threads": """
class Shown:
    def __init__(self):
        self.times = 0

    def __repr__(self):
        self.times += 1
        return "shown"

def test_it():
    row = [Shown()]
    seen = []
    both(lambda: seen.append(repr(row)), lambda: seen.append(repr(row)))
    assert seen == ["[shown]"] * 2
""",
}


@pytest.mark.parametrize("cut_by", NO_ALARM)
def test_what_no_schedule_of_real_threads_can_show_is_no_failure(cli: Cli, project: Path, cut_by: str) -> None:
    found = explored(cli, project, NO_ALARM[cut_by])
    assert (found["verdict"], found["cut_by"], found["findings"]) == ("CUT", cut_by, [])
    assert "assert" in found["warnings"][0]["message"]


TRAPS = """
import types

@types.coroutine
def rest():
    yield
"""
AWAITS = """
from traps import rest

def test_it():
    total = []

    async def work():
        await rest()
        total.append(1)

    def run():
        coroutine = work()
        coroutine.send(None)
        try:
            coroutine.send(None)
        except StopIteration:
            pass

    both(run, run)
    assert total == [1, 1]
"""


def test_a_generator_that_types_coroutine_has_marked(cli: Cli, project: Path) -> None:
    assert explored(cli, project, AWAITS, traps=TRAPS)["verdict"].startswith("PASSED")


def test_a_project_with_modules_named_like_those_of_the_standard_library(project: Path) -> None:
    for name in ("contextvars", "queue"):
        (project / name).mkdir()
        (project / name / "__init__.py").write_text("mine = True\n")
    (project / "test_named.py").write_text(
        "import threading\n"
        "def test_it():\n"
        "    found = []\n"
        "    threads = [threading.Thread(target=lambda: found.append(len(found))) for _ in range(2)]\n"
        "    [thread.start() for thread in threads]\n"
        "    [thread.join() for thread in threads]\n"
        "    assert found == [0, 1]\n"
    )
    line = [sys.executable, "-m", "treadle", "explore", "test_named.py::test_it"]
    ran = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.split()[0]) == (1, "FAILED"), ran.stderr
    assert "note:" not in ran.stdout  # it fails in a fresh process, too
