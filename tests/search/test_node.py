"""A node of a cluster, without the cluster: its worker processes, and the code of a project."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

from treadle.search import node


def asked(server: str) -> bytes:
    return pickle.dumps((f"tests.search.answering:{server}", "here", os.getcwd(), [os.getcwd()], {}, ""))


def test_a_process_is_started_once_and_ends_with_its_campaign() -> None:
    ask = asked("AnsweringServer")
    assert node.prepare(ask) == ""
    [one] = node._FREE[node._key(ask)]
    assert node.run_task(ask, pickle.dumps("one"), 3) == [("done", 3, "here: one")]
    assert [free.process for free in node._FREE[node._key(ask)]] == [one.process]
    node.finish(ask, "")
    assert node._key(ask) not in node._FREE
    assert one.process.ended() == "signal 9"


def test_a_server_that_cannot_be_made_is_told_before_anything_runs() -> None:
    assert node.prepare(asked("Nobody")) == "its worker process ended (exit code 70)"


def test_a_node_that_has_no_shipped_code_asks_for_it() -> None:
    ask = pickle.dumps(("tests.search.answering:AnsweringServer", "here", "", [], {}, "never shipped"))
    assert node.run_task(ask, pickle.dumps("one"), 3) == [("unshipped", 3)]


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
    assert sorted(path.name for path in there.iterdir()) == ["bank.py", "rates.csv"]
    node.finish(b"", "a campaign")
    assert not there.exists()
    (tmp_path / "bank.py").write_text("a = 2")
    assert node.digest(tmp_path) != before
