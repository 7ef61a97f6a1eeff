"""Several processes: the same tests whatever their number, and nothing lost but what a dead one was doing."""

from __future__ import annotations

import io
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle
from tests.symbolic.exploring import PROGRAMS, load
from tests.symbolic.random_programs import programs, target
from treadle.cli.main import main
from treadle.core.errors import UsageError
from treadle.doors.unit.result import Suite
from treadle.doors.unit.result_json import suite_facts
from treadle.search import workers as workers_room
from treadle.search.cluster import Workforce
from treadle.search.workers import WorkerPool, receive, send
from treadle.symbolic.explore import run_one
from treadle.symbolic.path import Limit, SymbolicPath
from treadle.symbolic.solve.answers import KNOWN_ANSWERS
from treadle.units import parallel as unit_parallel
from treadle.units.explore import ExploredTarget, Session
from treadle.units.options import UnitOptions
from treadle.units.target import resolve
from treadle.units.worker import CasePickler, PathsTask, _plain


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PROGRAMS))
    for name in ("unit_parted", "unit_growing", "unit_paper"):
        load(name)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is run in this process while workers are starting: all paths are theirs."""
    usual = unit_parallel._Coordinator._run_one_here

    def patient(self: Any) -> bool:
        return False if self.pool.coming else usual(self)

    monkeypatch.setattr(unit_parallel._Coordinator, "_run_one_here", patient)


def explored(*texts: str, workers: int, **options: Any) -> list[ExploredTarget]:
    sessions = [
        Session(target, UnitOptions(**{"summaries": False, **options})) for text in texts for target in resolve(text)
    ]
    if workers == 1:
        return [session.explore() for session in sessions]
    return unit_parallel.explore_all(sessions, texts, Workforce(workers))


def facts(result: ExploredTarget) -> tuple[Any, ...]:
    seen = result.seen
    pending = [a.choices for a in seen.pending]
    cases = [(c.choices, c.conditions, c.symbolic) for c in result.cases]
    told = [[str(part) for part in story] for story, _ in seen.ends], [end for _, end in seen.ends]
    return (cases, pending, dict(seen.cut), seen.cut_at_loops, seen.unsupported, seen.sampled, told, result.finished)


def test_a_path_with_its_cases_can_be_sent() -> None:
    session = Session(resolve("unit_paper:mist")[0], UnitOptions(summaries=False))
    ran = run_one(session.cases, SymbolicPath(session.solver()))
    stream = io.BytesIO()
    send(stream, ("ran", 1, ran.choices, _plain(ran)), CasePickler)
    stream.seek(0)
    *_, back = receive(stream)
    assert back.result.found[0].conditions == ran.result.found[0].conditions  # type: ignore[union-attr]


# --- the same tests ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("workers", [2, 3])
def test_a_module_gives_the_same_file_with_any_number_of_workers(workers: int) -> None:
    options: dict[str, Any] = {"k": 1, "write_file": False, "paths": 20, "probe": False}
    one = treadle.unit("unit_parted", **options)
    many = treadle.unit("unit_parted", **options, workers=workers)
    assert many.source == one.source
    assert _without(many) == _without(one)
    assert "type of parameter 'thing'" in one.left_out[0]
    assert not one.complete  # a function that was left out is not covered


def _without(suite: Suite) -> dict[str, Any]:
    """Everything that --json says but how often summaries were used, which depends on who ran what."""
    return {key: value for key, value in suite_facts(suite).to_json().items() if key != "summaries"}


@pytest.mark.slow
@pytest.mark.usefixtures("elsewhere")
def test_more_than_a_hundred_paths_of_one_function() -> None:
    [one] = explored("unit_parted:switches", workers=1)
    [many] = explored("unit_parted:switches", workers=2)
    assert one.paths == 128
    assert facts(many) == facts(one)


@pytest.mark.slow
@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("limit", [1, 37, 127])
def test_a_limit_on_paths_is_that_of_the_whole_function(limit: int) -> None:
    [one] = explored("unit_parted:switches", workers=1, paths=limit)
    [many] = explored("unit_parted:switches", workers=2, paths=limit)
    assert facts(many) == facts(one)


@pytest.mark.slow
@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("dies", [0, 2, 5])
def test_what_a_long_path_leaves_is_begun_before_it_ends(dies: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With tasks of no length each path takes longer than one; also when a worker dies with what it has told."""
    texts = ("unit_parted:switches", "unit_paper:List.rem_all", "unit_parted:sizes")
    one = explored(*texts, workers=1, k=1, paths=100)
    told: list[int] = []
    usual = unit_parallel._Tree.add_early

    def add_early(self: Any, node: Any, left: Any) -> None:
        told.append(len(left))
        usual(self, node, left)

    monkeypatch.setattr(unit_parallel, "_BUDGET", 0.0)
    monkeypatch.setattr(unit_parallel._Tree, "add_early", add_early)
    if dies:
        monkeypatch.setattr(WorkerPool, "give", _killing(dies))
    many = explored(*texts, workers=2, k=1, paths=100)
    assert [facts(result) for result in many] == [facts(result) for result in one]
    assert sum(told) > 50


@pytest.mark.usefixtures("elsewhere")
def test_what_a_solver_has_answered_goes_to_the_other_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    [one] = explored("unit_parted:worded", workers=1)
    sent: list[Any] = []
    usual = WorkerPool.give

    def give(self: Any, process: Any, number: int, task: PathsTask) -> None:
        sent.extend(task.known)
        usual(self, process, number, task)

    monkeypatch.setattr(WorkerPool, "give", give)
    monkeypatch.setattr(unit_parallel, "_BUDGET", 0.0)
    # how fast this machine answers, and whether it is done before a worker is up, decides nothing here
    monkeypatch.setattr(KNOWN_ANSWERS, "worth_telling", 0.0)
    monkeypatch.setattr(unit_parallel._Coordinator, "_run_one_here", lambda self: False)
    KNOWN_ANSWERS.forget()
    [many] = explored("unit_parted:worded", workers=2)
    assert facts(many) == facts(one)
    assert sent


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(
    "options",
    [
        {"heap": "solver"},
        {"summaries": True},
        {"select": "branches"},
        {"select": "local-paths"},
        {"none": False, "alias": False},
    ],
    ids=str,
)
def test_with_other_options(options: dict[str, Any]) -> None:
    texts = ("unit_paper:List.rem_all", "unit_paper:lcm", "unit_parted:sizes")
    one = explored(*texts, workers=1, k=1, **options)
    many = explored(*texts, workers=2, k=1, **options)
    assert [facts(r)[0] for r in many] == [facts(r)[0] for r in one]
    assert [r.seen.cut for r in many] == [r.seen.cut for r in one]


@pytest.mark.slow
@pytest.mark.usefixtures("elsewhere")
@settings(max_examples=2)
@given(st.lists(programs(), min_size=6, max_size=6, unique=True))
def test_random_programs(found: list[str]) -> None:
    texts = [target(program) for program in found]
    one = explored(*texts, workers=1, k=1)
    many = explored(*texts, workers=2, k=1)
    assert [facts(result) for result in many] == [facts(result) for result in one]


def test_a_case_that_cannot_be_sent_behind_a_limit_is_passed_over(
    elsewhere: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker goes on with its paths after the limit is reached, and tells of them one by one."""
    usual = unit_parallel._Coordinator._hear

    def hear(self: Any, worker: Any, message: Any) -> None:
        usual(self, worker, message)
        for tree in self.trees:
            tree.settle()

    monkeypatch.setattr(unit_parallel._Coordinator, "_hear", hear)
    lines = ["NOTHING = object()", "def found(a: int, b: int, c: int) -> object:"]
    lines += [f"    if {name} < 0:\n        return 1" for name in "abc"]
    lines += ["    return NOTHING", "def slow(a: int) -> int:", "    for i in range(20_000):", "        a += i % 2"]
    (tmp_path / "unit_unsendable.py").write_text("\n".join([*lines, "    return a", ""]))
    result, _ = explored("unit_unsendable.py", workers=2, paths=1)
    assert len(result.cases) == 1
    assert result.seen.cut[Limit.PATHS] > 0


def test_a_short_function_does_not_wait_for_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[PathsTask] = []
    monkeypatch.setattr(WorkerPool, "give", lambda self, process, number, task: given.append(task))
    [result] = explored("unit_growing:straight", workers=2)
    assert (result.paths, given) == (2, [])


@pytest.mark.slow
@pytest.mark.usefixtures("elsewhere")
def test_growing_goes_on_in_parallel() -> None:
    treadle.unit("unit_growing:stairs", k=1, output="test_one.py")
    one = treadle.unit("unit_growing:stairs", more=True, write_file=False)
    many = treadle.unit("unit_growing:stairs", more=True, write_file=False, workers=2)
    assert one.more is not None
    assert one.more.tests > 0
    assert many.source == one.source


@pytest.mark.slow
@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(
    "options",
    [
        {"heap": "lazy"},
        {"summaries": False},
        {"select": "local-paths"},
        {"select": "branches"},
        {"select": "statements"},
        {"select": "points", "points": ["unit_growing.py:20", "unit_growing.py:24"]},
        {"missing": True},
        {"missing": True, "select": "branches"},
        {"missing": True, "select": "local-paths"},
        {"missing": True, "select": "statements"},
        {"paths": 7},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_the_file_is_the_same_byte_for_byte(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """As one process writes it; and the next --more adds the same."""
    monkeypatch.setenv("PYTHONPATH", str(PROGRAMS))
    Path("tests").mkdir()
    Path("tests/test_own.py").write_text(
        "from unit_growing import grid, stairs\n\n\ndef test_own():\n    grid(1, 1)\n    stairs(2, 3)\n"
    )
    texts = [f"unit_growing:{name}" for name in ("stairs", "grid", "total")[: 1 if "points" in options else 3]]
    written: list[list[str]] = []
    for workers, name in ((1, "test_one.py"), (3, "test_many.py")):
        treadle.unit(*texts, k=1, output=name, workers=workers, **options)
        written.append([Path(name).read_text()])
        if "missing" not in options:
            treadle.unit(*texts, more=True, workers=workers, **options)
            written[-1].append(Path(name).read_text())
    assert written[0] == written[1]


# --- what can go wrong -------------------------------------------------------------------------------------


def _killing(after: int) -> Callable[[Any, Any, int, PathsTask], None]:
    """Kill a worker, once, right after it has got this many tasks."""
    left = after

    def give(self: Any, process: Any, number: int, task: PathsTask) -> None:
        nonlocal left
        process.tasks.append(number)
        process.tell((number, task))
        left -= 1
        if left == 0:
            os.kill(process.pid, signal.SIGKILL)

    return give


@pytest.mark.slow
@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("after", [1, 3])
def test_a_dead_worker_costs_time_only(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WorkerPool, "give", _killing(after))
    [result] = explored("unit_parted:switches", workers=2)
    assert not result.seen.cut
    assert not result.warnings
    assert len(set(result.finished)) == len(result.finished) == 128


@pytest.mark.slow
@pytest.mark.usefixtures("elsewhere")
def test_a_path_with_which_two_workers_die_is_lost_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    deadly: list[Any] = []

    def give(self: Any, process: Any, number: int, task: PathsTask) -> None:
        process.tasks.append(number)
        process.tell((number, task))
        if not deadly:
            deadly.append(task.start)
        if task.start is not None and task.start.choices == deadly[0].choices:
            os.kill(process.pid, signal.SIGSTOP)  # whatever it has done by now is not told
            os.kill(process.pid, signal.SIGKILL)

    monkeypatch.setattr(WorkerPool, "give", give)
    [result] = explored("unit_parted:switches", workers=2)
    if result.seen.cut[Limit.LOST]:
        # what was below the lost path is lost with it: its trail is kept for --more
        assert result.seen.cut[Limit.LOST] == len(result.seen.pending) == 1
        assert not result.seen.complete
        assert result.warnings == ["two worker processes died (signal 9) on one path, which has no test"]
        [left] = [a.choices for a in result.seen.pending]
        [target] = resolve("unit_parted:switches")
        rest = Session(target, UnitOptions(summaries=False), start=result.seen.pending).explore()
        assert all(trail[: len(left)] == left for trail in rest.finished)
        result.finished += rest.finished
    assert len(set(result.finished)) == len(result.finished) == 128


@pytest.mark.usefixtures("elsewhere")
def test_workers_that_die_again_and_again_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def give(self: Any, process: Any, number: int, task: PathsTask) -> None:
        process.tasks.append(number)
        os.kill(process.pid, signal.SIGKILL)

    monkeypatch.setattr(WorkerPool, "give", give)
    monkeypatch.setattr(workers_room, "_SPARE", 1)
    [result] = explored("unit_parted:switches", workers=2)
    assert result.paths == 0
    assert result.seen.cut[Limit.LOST] > 0
    assert not result.seen.complete


def test_workers_that_do_not_start_leave_the_work_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_room, "_COMMAND", "import sys; sys.exit(3)")
    [result] = explored("unit_growing:stairs", workers=2, k=1)
    [usual] = explored("unit_growing:stairs", workers=1, k=1)
    assert facts(result) == facts(usual)
    assert all("did not start (exit code 3)" in warning for warning in result.warnings)


@pytest.mark.usefixtures("elsewhere")
def test_ctrl_c_keeps_what_was_found() -> None:
    def stop(text: str, number: int, all_: int, found: int) -> None:
        if found == 7 and text != "running the tests":
            raise KeyboardInterrupt

    suite = treadle.unit("unit_parted:switches", write_file=False, progress=stop, workers=2)
    [result] = suite.explored
    assert result.stopped
    assert suite.tests >= 7
    assert suite.complete == (not result.seen.pending) == (suite.tests == 128)


@pytest.mark.usefixtures("elsewhere")
def test_time_that_is_up_keeps_what_was_found() -> None:
    [result] = explored("unit_parted:switches", workers=2, seconds=1e-9)
    assert not result.seen.complete
    assert result.seen.cut[Limit.TIME] == len(result.seen.pending) >= 1


@pytest.mark.usefixtures("elsewhere")
def test_errors_are_those_of_one_process() -> None:
    with pytest.raises(UsageError) as alone:
        treadle.unit("unit_parted:unknown", write_file=False, probe=False)
    with pytest.raises(UsageError) as together:
        treadle.unit("unit_parted:unknown", write_file=False, workers=2, probe=False)
    assert str(together.value) == str(alone.value)


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_wrong_numbers(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["unit", "unit_parted:deep", "--workers", number])
    assert left.value.code == 2
    assert "a number of processes, 1 or more, or auto" in capsys.readouterr().err
    assert list(Path().iterdir()) == []


def test_auto_is_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["unit", "unit_growing:straight", "--workers", "auto", "--json"])
    assert left.value.code == 0
    assert json.loads(capsys.readouterr().out)["tests"] == 2
