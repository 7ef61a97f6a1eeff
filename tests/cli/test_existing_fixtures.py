"""Tests as projects have them, with what surrounds a test: folders, fixtures, clocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_existing_projects import HEAD, explored
from treadle.cli import tidying

IN_FOLDER = """
def test_it(tmp_path):
    def note(name):
        tmp_path.mkdir(exist_ok=True)
        (tmp_path / "notes").mkdir(exist_ok=True)
        (tmp_path / "notes" / name).write_text(name)

    both(lambda: note("one"), lambda: note("two"))
    assert len(list((tmp_path / "notes").iterdir())) == 2
"""


@pytest.mark.parametrize(
    "source",
    [
        IN_FOLDER,
        IN_FOLDER.replace("(tmp_path)", "(tmp_path_factory)").replace(
            "    def note", "    tmp_path = tmp_path_factory.mktemp('x')\n    def note"
        ),
    ],
    ids=["tmp_path", "tmp_path_factory"],
)
def test_the_folder_of_a_test_has_the_same_name_in_every_execution(cli: Cli, project: Path, source: str) -> None:
    found = explored(cli, project, source, "--executions", "30")
    assert found["cut_by"] == "executions", found
    assert found["statistics"]["total_runs"] < 100, found


SERVER = """
import http.server, socket, socketserver, urllib.request
import pytest

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"yes")

    def log_message(self, *words):
        pass

server = worker = None

def begin():
    global server, worker
    assert server is None
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        address = found.getsockname()
    server = socketserver.TCPServer(address, Handler)
    worker = threading.Thread(target=server.serve_forever, daemon=True)
    worker.start()

def end():
    global server
    server.shutdown()
    worker.join()
    server.server_close()
    server = None

def ask():
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_address[1]}/") as answer:
        return answer.read()
"""

OF_A_FIXTURE = """
@pytest.fixture(scope="SCOPE")
def address():
    begin()
    yield
    end()

def test_it(address):
    assert ask() == b"yes"
"""

OF_THE_MODULE = """
setup_module, teardown_module = lambda: begin(), lambda: end()

def test_it():
    assert ask() == b"yes"
"""

OF_THE_CLASS = """
import unittest

class TestAnswers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        begin()

    @classmethod
    def tearDownClass(cls):
        end()

    def test_it(self):
        assert ask() == b"yes"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "test"),
    [
        (OF_A_FIXTURE.replace("SCOPE", "session"), "test_it"),
        (OF_THE_MODULE, "test_it"),
        (OF_THE_CLASS, "TestAnswers::test_it"),
    ],
    ids=["session", "setup_module", "setUpClass"],
)
def test_a_server_for_all_tests_is_a_strand_of_every_execution(cli: Cli, project: Path, source: str, test: str) -> None:
    found = explored(cli, project, SERVER + source, "--seconds", "3", test=test)
    assert found["verdict"] == "PASSED-WITHIN-BOUNDS" or found["executions"] > 3, found


NOBODY_ENDS_IT = """
import unittest

with socket.socket() as found:
    found.bind(("127.0.0.1", 0))
    ADDRESS = found.getsockname()

class TestAnswers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = socketserver.TCPServer(ADDRESS, Handler)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()

    def test_it(self):
        with urllib.request.urlopen("http://127.0.0.1:%d/" % ADDRESS[1], timeout=5) as answer:
            assert answer.read() == b"yes"
"""

ENDS_LATER = """
import queue, unittest

orders, answers, stopped = queue.Queue(), queue.Queue(), False
begun = []

def work():
    while not stopped:
        try:
            answers.put(orders.get(timeout=0.2) * 2)
        except queue.Empty:
            pass

class TestAnswers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not begun:  # once is enough
            begun.append(threading.Thread(target=work, daemon=True))
            begun[0].start()

    @classmethod
    def tearDownClass(cls):
        global stopped
        stopped = True

    def test_it(self):
        orders.put(2)
        assert answers.get(timeout=5) == 4
"""


@pytest.mark.slow
@pytest.mark.parametrize("source", [NOBODY_ENDS_IT, ENDS_LATER], ids=["nobody ends it", "ends later"])
def test_a_thread_of_a_class_that_outlives_it_is_one_of_every_execution(cli: Cli, project: Path, source: str) -> None:
    found = explored(cli, project, SERVER + source, "--seconds", "3", test="TestAnswers::test_it")
    assert found["verdict"] == "PASSED-WITHIN-BOUNDS" or found["executions"] > 3, found
    assert "started before" not in str(found), found


KEPT_PER_THREAD = """
import pytest
import store

@pytest.fixture(scope="module")
def opened():
    store.open("first")
    stop = threading.Event()
    threading.Thread(target=stop.wait, daemon=True).start()
    yield
    stop.set()

def test_it(opened):
    both(store.open, store.open)
    assert store.OPENED == ["first", None, None]
"""
STORE = """
import threading
OPENED = []
local = threading.local()

def open(name=None):
    if not hasattr(local, "connection"):
        local.connection = name
        OPENED.append(name)
"""


def test_what_a_fixture_keeps_for_its_thread_is_not_there_when_it_is_set_up_again(cli: Cli, project: Path) -> None:
    """As a connection to a database that was taken away at its end."""
    found = explored(cli, project, KEPT_PER_THREAD, store=STORE)
    assert found["verdict"] == "PASSED-EXHAUSTIVE", found


CUT_OFF = """
import pytest

@pytest.fixture
def used():
    lock = threading.Lock()
    for _ in range(100):
        with lock:
            pass
    return lock

def test_it(used):
    both(used.locked, used.locked)
"""


def test_an_execution_that_is_cut_off_in_a_fixture_is_no_failure_of_the_next(cli: Cli, project: Path) -> None:
    found = explored(cli, project, CUT_OFF, "--operations", "50", "--strategy", "random", "--executions", "3")
    assert found["cut_by"] == "operations", found


MEASURED = """
import timeit

def test_it():
    assert timeit.timeit(lambda: both(lambda: time.sleep(1), lambda: time.sleep(1)), number=2) >= 2
"""


def test_what_timeit_measures_is_the_time_in_which_threads_sleep(cli: Cli, project: Path) -> None:
    assert explored(cli, project, MEASURED)["cut_by"] != "everywhere"


NEVER_TORN_DOWN = """
import pytest, selectors

@pytest.fixture(scope="session")
def used():
    yield
    selectors.DefaultSelector().select()

def test_it(used):
    both(str, str)

def test_that(used):
    both(str, str)
"""


def test_a_tear_down_that_does_not_end_does_not_keep_the_verdict(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidying, "PATIENCE", 0.5)
    assert explored(cli, project, NEVER_TORN_DOWN)["verdict"] == "NOTHING-TO-EXPLORE"


def test_what_comes_after_a_tear_down_that_does_not_end_is_named(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidying, "PATIENCE", 0.5)
    source = NEVER_TORN_DOWN.replace("session", "module").replace("def test_that", "def test_it_too")
    (project / "test_b.py").write_text("import treadle\n@treadle.explore()\ndef test_after():\n    pass\n")
    (project / "test_a.py").write_text(
        HEAD + "import treadle\n" + source.replace("def test", "@treadle.explore()\ndef test")
    )
    answer = cli("explore", ".")
    assert "test_b.py::test_after" in answer.err + answer.out
    assert "not run, because the tear-down of test_a.py::test_it_too does not end" in answer.err + answer.out


SUSPENDED = """
import selectors, socket

def loop():
    one, other = socket.socketpair()
    waiting = selectors.DefaultSelector()
    waiting.register(one, selectors.EVENT_READ)
    while True:
        yield other
        waiting.select()

kept = loop()  # stands, after an execution, where nobody can put it back

def test_it():
    next(kept)
    seen = []
    both(lambda: seen.append(1), lambda: seen.append(2))
"""


def test_what_an_execution_closed_and_the_next_waits_for_is_named(cli: Cli, project: Path) -> None:
    (project / "test_existing.py").write_text(HEAD + SUSPENDED)
    answer = cli("explore", "test_existing.py::test_it")
    assert answer.code == 2
    assert "loop waits for what is closed: something that an execution before left behind" in answer.err
