"""Code under test is kept from changing the world, and from the streams of the command."""

from __future__ import annotations

import ctypes.util
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from treadle.observe.effects import EffectGuard, EffectRefused
from treadle.observe.streams import protected_streams


@pytest.mark.parametrize(
    "act",
    [
        lambda: Path("made.txt").write_text("no"),
        lambda: os.open("made.txt", os.O_CREAT | os.O_WRONLY),
        lambda: os.remove("there.txt"),
        lambda: os.rename("there.txt", "gone.txt"),
        lambda: os.mkdir("folder"),
        lambda: os.truncate("there.txt", 0),
        lambda: os.symlink("there.txt", "link.txt"),
        lambda: shutil.rmtree("."),
        lambda: subprocess.run(["true"]),
        lambda: os.putenv("TREADLE_TRIED", "1"),
        lambda: Path("there.txt").unlink(),
    ],
)
def test_effects_are_refused(act: Callable[[], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.txt").write_text("kept")
    guard = EffectGuard()
    with guard, pytest.raises(EffectRefused):
        act()
    assert guard.refused
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("there.txt", "kept")]


def test_reading_and_the_scratch_folder_are_allowed(tmp_path: Path) -> None:
    there = tmp_path / "there.txt"
    there.write_text("read")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    guard = EffectGuard(str(scratch))
    with guard:
        assert there.read_text() == "read"
        (scratch / "made.txt").write_text("made")
        (scratch / "made.txt").unlink()
        with pytest.raises(EffectRefused):
            (scratch / ".." / "out.txt").write_text("no")
    there.write_text("written")  # the guard is closed
    assert len(guard.refused) == 1


def test_what_is_swallowed_is_known(tmp_path: Path) -> None:
    guard = EffectGuard()
    with guard:
        try:
            (tmp_path / "made.txt").write_text("no")
        except OSError:
            pass
    assert len(guard.refused) == 1


@pytest.mark.parametrize(
    "what", ["sys.stdout.close()", "os.close(1)", "sys.stdout = None", "os.dup2(os.open(os.devnull, 1), 1)"]
)
def test_the_streams_come_back(what: str) -> None:
    program = (
        "import os, sys\nfrom treadle.observe.streams import protected_streams\n"
        f"with protected_streams():\n    {what}\nprint('still here')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "still here\n", "")


def test_nothing_changes_when_nothing_is_done() -> None:
    before = (sys.stdin, sys.stdout, sys.stderr)
    with protected_streams():
        pass
    assert (sys.stdin, sys.stdout, sys.stderr) == before


def test_an_import_may_keep_what_it_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "kept_compiled.py").write_text("here = True\n")
    with EffectGuard() as guard:
        importlib.import_module("kept_compiled")
    assert guard.refused == []
    assert list((tmp_path / "__pycache__").glob("kept_compiled.*.pyc"))


def test_asking_the_system_is_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages look for libraries when they are imported, which starts processes and makes temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", None)  # as in a process that has not asked yet
    with EffectGuard() as guard:
        assert tempfile.gettempdir()
        ctypes.util.find_library("c")
    assert not guard.refused
