"""Tests as projects have them, with what surrounds a test: folders, fixtures of a wider scope, imports, clocks, signals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_existing_projects import explored

IN_FOLDER = """
def test_it(tmp_path):
    def note(name):
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
    assert found["executions"] >= 2, found
    assert found["verdict"].startswith("PASSED") or found["cut_by"] == "executions", found


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
        (
            "def setup_module():\n    begin()\ndef teardown_module():\n    end()\ndef test_it():\n    assert ask() == b'yes'",
            "test_it",
        ),
        (OF_THE_CLASS, "TestAnswers::test_it"),
    ],
    ids=["session", "setup_module", "setUpClass"],
)
def test_a_server_for_all_tests_is_a_strand_of_every_execution(cli: Cli, project: Path, source: str, test: str) -> None:
    found = explored(cli, project, SERVER + source, "--seconds", "3", test=test)
    assert found["verdict"] == "PASSED-WITHIN-BOUNDS" or found["executions"] > 3, found
