"""Ctrl-C and full disks, each in a process of its own: what was there stays, and it is said what was kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.symbolic.exploring import PROGRAMS
from treadle.core.files import is_unedited
from treadle.doors.unit import store as unit_store
from treadle.doors.unit.files import tests_in as number_of
from treadle.symbolic.solve.solver import Solver
from treadle.units.grow import TargetMemory

SRC = Path(__file__).parents[2] / "src"
FILE = Path("test_x.py")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def treadle(*args: str, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """`treadle unit` in a fresh process; `before` is run there first."""
    script = f"import os, signal\n{textwrap.dedent(before)}\nfrom treadle.cli.main import main\nmain()\n"
    paths = os.pathsep.join([str(SRC), str(PROGRAMS), "."])
    done = subprocess.run(
        [sys.executable, "-c", script, "unit", *args],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", **environment},
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def kept(target: str) -> TargetMemory:
    found = unit_store.load(target)
    assert found is not None
    return found


def _nothing_half_written() -> None:
    assert [p for p in Path().rglob("*") if p.name.endswith(".part") or p.name.startswith(".unit")] == []
    for file in Path(".treadle").rglob("*.json"):
        json.loads(file.read_text())
    if FILE.exists():
        assert is_unedited(FILE.read_text())


# --- Ctrl-C ------------------------------------------------------------------------------------------------

# While a path is being run, and while the books are being kept: there it must not lose the path.
_WHILE_EXPLORING = {
    "in a path": """
        from treadle.units.explore import Session
        usual = Session._cases
        def pressed(self, path):
            if len(self.result.cases) == 5:
                os.kill(os.getpid(), signal.SIGINT)
            return usual(self, path)
        Session._cases = pressed
        """,
    "between two paths": """
        from treadle.units.explore import Session
        usual = Session._decided_already
        def pressed(self, case):
            if len(self.result.cases) == 4:
                os.kill(os.getpid(), signal.SIGINT)
            return usual(self, case)
        Session._decided_already = pressed
        """,
}


@pytest.mark.slow
@pytest.mark.parametrize("when", _WHILE_EXPLORING)
def test_while_exploring_it_keeps_what_was_found(when: str) -> None:
    done = treadle("unit_growing:stairs", "--output", str(FILE), before=_WHILE_EXPLORING[when])
    assert done.returncode == 0
    assert "5 paths, 5 tests" in done.stdout
    assert "cut by Ctrl-C; --more goes on from there" in done.stdout
    assert "every path" not in done.stdout
    more = treadle("unit_growing:stairs", "--more")
    direct = json.loads(treadle("unit_growing:stairs", "--json", "--output", "test_y.py").stdout)
    assert f"({direct['tests']} in the file)" in more.stdout
    assert direct["stopped"] is False
    _nothing_half_written()


@pytest.mark.slow
def test_functions_that_were_not_begun_are_named() -> None:
    targets = ("unit_growing:stairs", "unit_growing:straight", "--output", str(FILE))
    found = json.loads(treadle(*targets, "--json", before=_WHILE_EXPLORING["between two paths"]).stdout)
    assert (found["tests"], found["stopped"], found["complete"]) == (5, True, False)
    assert found["left_out"] == ["unit_growing:straight: stopped before it"]


def test_a_question_to_the_solver_does_not_swallow_it() -> None:
    """z3 would take Ctrl-C for itself, and answer that it does not know."""
    told: dict[str, object] = {}

    class Asked:
        def set(self, name: str, value: object) -> None:
            told[name] = value

    Solver()._limit(Asked(), 1.0)
    assert told["ctrl_c"] is False


# The program is imported by the process that runs its tests: that is the moment.
_PROGRAM = """
import os
import signal

if "TREADLE_CHECK" in os.environ and "PRESS" in os.environ:
    os.kill(os.getppid(), signal.SIGINT)


def loop(n: int) -> int:
    while n > 3:
        n -= 2
    return n
"""


@pytest.mark.slow
def test_while_the_tests_are_run_nothing_changes() -> None:
    Path("pressing.py").write_text(_PROGRAM)
    stopped = treadle("pressing:loop", "--allow-effects", "--output", str(FILE), PRESS="1")
    said = "treadle: stopped while the generated tests were being run: no file was written or changed"
    assert (stopped.returncode, stopped.stdout, stopped.stderr.strip()) == (130, "", said)
    assert not FILE.exists()
    assert not Path(".treadle", "unit").exists()
    assert treadle("pressing:loop", "--allow-effects", "-k", "1", "--output", str(FILE)).returncode == 0
    before, store = FILE.read_text(), kept("pressing:loop")
    again = treadle("pressing:loop", "--allow-effects", "--more", PRESS="1")
    assert (again.returncode, again.stderr.strip()) == (130, said)
    assert (FILE.read_text(), kept("pressing:loop")) == (before, store)
    assert "(3 in the file)" in treadle("pressing:loop", "--allow-effects", "--more").stdout
    _nothing_half_written()


_WHILE_WRITING = """
    usual = os.{name}
    def pressed(*args):
        os.kill(os.getpid(), signal.SIGINT)
        return usual(*args)
    os.{name} = pressed
    """


@pytest.mark.slow
def test_while_writing_it_is_all_or_nothing() -> None:
    assert treadle("unit_growing:grid", "-k", "1", "--output", str(FILE)).returncode == 0
    before, store = FILE.read_text(), kept("unit_growing:grid")
    # the files are being prepared: nothing
    done = treadle("unit_growing:grid", "--more", "--no-summaries", before=_WHILE_WRITING.format(name="fsync"))
    assert done.returncode == 130
    assert done.stderr.strip() == "treadle: stopped while the files were being written: no file was written or changed"
    assert (FILE.read_text(), kept("unit_growing:grid")) == (before, store)
    # they take their places: all of it, and then it is done
    done = treadle("unit_growing:grid", "--more", "--no-summaries", before=_WHILE_WRITING.format(name="replace"))
    assert done.returncode == 0
    assert "added to test_x.py" in done.stdout
    assert kept("unit_growing:grid").k == 2
    assert number_of(FILE.read_text()) > number_of(before)
    assert "k 2 -> 3" in treadle("unit_growing:grid", "--more").stdout
    _nothing_half_written()


# --- a full disk -------------------------------------------------------------------------------------------

_FULL = """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
    """


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limits on the size of files")
def test_no_room_for_the_tests_while_they_are_run() -> None:
    assert treadle("unit_growing:stairs", "-k", "1", "--output", str(FILE)).returncode == 0
    before, store = FILE.read_text(), kept("unit_growing:stairs")
    for size in (0, 700, 3000):
        done = treadle("unit_growing:stairs", "--more", "--no-summaries", before=_FULL.format(size=size))
        assert done.returncode == 2
        assert done.stderr.startswith("treadle: tests cannot be run without temporary files (")
        assert done.stderr.count("\n") == 1
        assert (FILE.read_text(), kept("unit_growing:stairs")) == (before, store)
        _nothing_half_written()
    assert treadle("unit_growing:stairs", "--more").returncode == 0


# The disk is full for files whose name has this in it.
_FULL_FOR = """
    import errno, pathlib
    usual = os.fsync
    def full(number):
        if "{part}" in os.readlink(f"/proc/self/fd/{{number}}"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        usual(number)
    os.fsync = full
    """
_LINUX = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks /proc for the name of a file")


@_LINUX
@pytest.mark.slow
def test_no_room_for_the_test_file() -> None:
    target = ("unit_growing:grid", "--output", str(FILE))
    full = _FULL_FOR.format(part="test_x.py")
    done = treadle(*target, before=full)
    said = "treadle: cannot write 'test_x.py' (No space left on device); no file was changed\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    assert not FILE.exists()
    assert not unit_store.place("unit_growing:grid").exists()
    assert treadle(*target, "-k", "1").returncode == 0
    before, store = FILE.read_text(), kept("unit_growing:grid")
    done = treadle("unit_growing:grid", "--more", before=full)
    assert (done.returncode, done.stderr) == (2, said)
    assert (FILE.read_text(), kept("unit_growing:grid")) == (before, store)
    _nothing_half_written()


@_LINUX
@pytest.mark.slow
def test_no_room_for_what_more_needs() -> None:
    """A first run writes its tests all the same; one that adds does not, since the next would add them again."""
    target, full = ("unit_growing:grid", "--output", str(FILE)), _FULL_FOR.format(part="unit_growing-grid")
    done = treadle(*target, "-k", "1", before=full)
    assert done.returncode == 0
    assert "--more will not be able to go on: cannot write .treadle/unit (No space left on device)" in done.stderr
    assert not unit_store.place("unit_growing:grid").exists()
    assert treadle(*target, "-k", "1").returncode == 0
    before, store = FILE.read_text(), kept("unit_growing:grid")
    done = treadle("unit_growing:grid", "--more", before=full)
    assert done.returncode == 2
    assert "cannot write .treadle/unit (No space left on device); no test was added" in done.stderr
    assert (FILE.read_text(), kept("unit_growing:grid")) == (before, store)
    # another suite takes the place of the first: what was kept of that one must not outlive it
    done = treadle(*target, "-k", "3", before=full)
    assert done.returncode == 0
    assert not unit_store.place("unit_growing:grid").exists()
    assert "nothing to go on from" in treadle("unit_growing:grid", "--more").stderr
    _nothing_half_written()


@pytest.mark.slow
def test_no_room_for_summaries() -> None:
    """They cost the reuse, nothing else."""
    Path("prices.py").write_text(_PRICES)
    full = """
        import errno
        from treadle.symbolic.python.summaries import store as summary_store
        usual, sync = summary_store.write_whole, os.fsync
        def no_room(descriptor):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        def full(path, text):
            os.fsync = no_room
            try:
                usual(path, text)
            finally:
                os.fsync = sync
        summary_store.write_whole = full
        """
    target = ("prices:total", "--output", str(FILE), "--json")
    done = treadle(*target, before=full)
    assert done.returncode == 0, done.stderr
    assert ".treadle/summaries cannot be written (No space left on device)" in done.stderr
    assert list(Path(".treadle", "summaries").iterdir()) == []
    _nothing_half_written()
    first, second = (json.loads(treadle(*target).stdout) for _ in range(2))
    assert (first["summaries"]["computed"], second["summaries"]["reused"]) == (1, 1)
    assert json.loads(done.stdout)["cases"] == first["cases"]


_PRICES = """
def reduced(price: int, code: int) -> int:
    if code == 1:
        return price - 1
    if code == 2:
        return price - 2
    return price


def total(a: int, b: int) -> int:
    return reduced(a, b) + reduced(b, a) + reduced(a, 1)
"""
