"""A node of a cluster, without the cluster: its worker processes, and the code of a project."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

from treadle.search import node


def asked(server: str) -> bytes:
    return pickle.dumps((f"tests.search.answering:{server}", "here", os.getcwd(), [os.getcwd()], {}, ""))


def ran(ask: bytes, *tasks: tuple[int, str]) -> list[Any]:
    return node.unpacked(node.run_tasks(ask, pickle.dumps(tasks)), "/home/project")


def test_what_is_said_of_the_shipped_folder_is_said_of_the_project() -> None:
    said = [("done", 1, {"/tmp/sent/a.py": ("at /tmp/sent/a.py:7, /tmp/sent/b.py:8", "a.py", 7)})]
    at_home = {"/home/project/a.py": ("at /home/project/a.py:7, /home/project/b.py:8", "a.py", 7)}
    assert node.unpacked(node.packed(said, "/tmp/sent"), "/home/project") == [("done", 1, at_home)]


def test_a_process_is_started_once_replaced_when_it_dies_and_ends_with_its_campaign() -> None:
    ask = asked("AnsweringServer")
    assert node.prepare(ask) == ""
    [one] = node._FREE[node._key(ask)]
    tasks = [(3, "one"), (4, "die"), (5, "two")]
    assert ran(ask, *tasks[:1]) == [("done", 3, "here: one")]
    assert [free.process for free in node._FREE[node._key(ask)]] == [one.process]
    died = ("died", [4], "the worker process died (exit code 7)")
    assert ran(ask, *tasks) == [("done", 3, "here: one"), died, ("done", 5, "here: two")]
    [another] = node._FREE[node._key(ask)]
    assert another.process is not one.process
    node.finish(ask, "")
    assert node._key(ask) not in node._FREE
    assert another.process.ended() == "signal 9"


def test_a_server_that_cannot_be_made_is_told_before_anything_runs() -> None:
    assert node.prepare(asked("Nobody")) == "its worker process ended (exit code 70)"


def test_a_node_that_has_no_shipped_code_asks_for_it() -> None:
    ask = pickle.dumps(("tests.search.answering:AnsweringServer", "here", "", [], {}, "never shipped"))
    assert ran(ask, (3, "one")) == [("unshipped",)]


def test_what_is_shipped_and_compared_is_the_code_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "bank.py").write_text("a = 1")
    (tmp_path / "rates.csv").write_text("1,2")
    for other in ("env/pyvenv.cfg", "env/lib.py", ".treadle/kept.py", "__pycache__/bank.pyc"):
        (tmp_path / other).parent.mkdir(exist_ok=True)
        (tmp_path / other).write_text("")
    before = node.digest(tmp_path)
    facts = node.look_around("", "a campaign", node.zipped(tmp_path))
    assert facts.code == before
    there = Path(node._FOLDERS["a campaign"])
    node.look_around("", "a campaign", node.zipped(tmp_path))  # once more, for a node that is new
    assert Path(node._FOLDERS["a campaign"]) == there
    assert sorted(path.name for path in there.iterdir()) == ["bank.py", "rates.csv"]
    node.finish(b"", "a campaign")
    assert not there.exists()
    (tmp_path / "bank.py").write_text("a = 2")
    assert node.digest(tmp_path) != before
