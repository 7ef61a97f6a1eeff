"""Functions that read and write files are tried in a folder of their own, and so are their tests."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.doors_unit.suites import suite_of
from treadle.observe.effects import EffectGuard, EffectRefused
from treadle.units.imports import Imports
from treadle.units.probing import files
from treadle.units.probing.call import Probe, Prober
from treadle.units.probing.values import ValuePool
from treadle.units.target import resolve

pytestmark = pytest.mark.usefixtures("empty_folder")


# What is called, and what its tests must say.
PROGRAMS = {
    "save": (
        """
        def save(path, items):
            if not items:
                raise ValueError("nothing")
            with open(path, "w") as f:
                for item in items:
                    f.write(f"{item}")
            return len(items)
        """,
        ["save(", ".read_text() == "],
    ),
    "load": (
        """
        import os

        def load(path: str) -> list[str]:
            if not os.path.exists(path):
                return []
            with open(path) as f:
                return [line.strip() for line in f if not line.startswith("#")]
        """,
        ['.write_text("', 'assert result == ["a", "b"]'],
    ),
    "config": (
        """
        import json

        def config(path: str) -> dict:
            with open(path) as f:
                data = json.load(f)
            if "version" not in data:
                raise KeyError("version")
            if data["version"] > 2:
                raise ValueError("too new")
            return data
        """,
        ["""write_text('{"version": """, '"too new"'],
    ),
    "ensure": (
        """
        import os

        def ensure(folder: str) -> bool:
            if os.path.isdir(folder):
                return False
            os.makedirs(folder)
            return True
        """,
        [".is_dir()"],
    ),
    "clean": (
        """
        from pathlib import Path

        def clean(folder: Path, suffix: str) -> int:
            count = 0
            for path in folder.iterdir():
                if path.suffix == suffix:
                    path.unlink()
                    count += 1
            return count
        """,
        ["assert not Path(", ".exists()"],
    ),
    "backup": (
        """
        import shutil
        from pathlib import Path

        def backup(source: Path, target: Path, overwrite: bool = False) -> bool:
            if not source.is_file():
                raise FileNotFoundError(source)
            if target.exists() and not overwrite:
                return False
            shutil.copyfile(source, target)
            return True
        """,
        ["assert result is True\\n    assert Path("],
    ),
    "atomic": (
        """
        import os
        import tempfile

        def atomic(path: str, text: str) -> str:
            if not text:
                return "empty"
            number, name = tempfile.mkstemp(dir=os.path.dirname(path) or ".")
            with os.fdopen(number, "w") as f:
                f.write(text)
            os.replace(name, path)
            return "done"
        """,
        ['monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))', 'read_text() == "'],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_files_are_found_and_left_in_a_folder_of_the_test(name: str) -> None:
    program, said = PROGRAMS[name]
    before = sorted(os.listdir())
    suite = suite_of(f"files_{name}", program, name)
    assert suite.coverage.percent("branches") == 100
    assert [text for text in said if text.replace("\\n", "\n") not in suite.source] == []
    assert "monkeypatch.chdir(tmp_path)" in suite.source
    assert "patch(" not in suite.source
    assert sorted({*os.listdir(), f"files_{name}.py"} - {"__pycache__", ".treadle"}) == sorted(
        [*before, f"files_{name}.py"]
    )


@pytest.mark.slow
def test_files_outside_of_that_folder_are_not_touched(tmp_path_factory: pytest.TempPathFactory) -> None:
    there = tmp_path_factory.mktemp("somebody")
    (there / "kept").mkdir()
    program = f"""
        import os
        import shutil

        def evil(path: str) -> int:
            if path:
                open("{there}/written", "w").write(path)
                shutil.rmtree("{there}/kept", ignore_errors=True)
                os.rmdir("{there}/kept")
            return 1
    """
    suite = suite_of("files_evil", program, "evil")
    assert [path.name for path in there.iterdir()] == ["kept"]
    assert suite.tests == suite.source.count("def test_")


@pytest.mark.slow
def test_the_folder_where_a_call_ran_is_in_no_test() -> None:
    program = """
        import os

        def place(path: str) -> str:
            found = os.path.abspath(path)
            if os.path.exists(found):
                return found
            raise FileNotFoundError(found)
    """
    suite = suite_of("files_place", program, "place")
    assert suite.coverage.percent("branches") == 100
    assert tempfile.gettempdir() not in suite.source
    assert "treadle_" not in suite.source


def test_a_call_that_closes_a_standard_stream_makes_no_test(tmp_path: Path) -> None:
    Path("files_stream.py").write_text("def read(path):\n    with open(path) as f:\n        return f.name\n")
    target = resolve("files_stream:read")[0]
    prober = Prober(target, ValuePool(target.function, Imports()), str(tmp_path))
    spare = os.dup(0)
    try:
        reached = prober.call(Probe((("path", "0"),)))
    finally:
        os.dup2(spare, 0)
        os.close(spare)
    assert reached is not None
    assert reached.refused


def test_a_call_finds_its_files_and_no_others(tmp_path: Path) -> None:
    program = "import os\n\ndef names(path):\n    open('new', 'w').close()\n    return sorted(os.listdir(path))\n"
    Path("files_names.py").write_text(program)
    target = resolve("files_names:names")[0]
    prober = Prober(target, ValuePool(target.function, Imports()), str(tmp_path))
    given = (("path", '"."'), (f"{files.FILE}a/b.txt", '"text"'), (f"{files.FILE}c", "None"))
    for _ in range(2):
        reached = prober.call(Probe(given), world=True)
        assert reached is not None
        assert reached.result == ["a", "c", "new"]
        assert reached.left == {"a": None, "a/b.txt": b"text", "c": None, "new": b""}
        assert "files" in reached.asked


def test_a_deletion_in_an_open_folder_elsewhere_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    there, scratch = tmp_path_factory.mktemp("somebody"), tmp_path_factory.mktemp("scratch")
    (there / "kept").touch()
    os.chdir(scratch)
    folder = os.open(there, os.O_RDONLY)
    try:
        with EffectGuard(str(scratch)), pytest.raises(EffectRefused):
            os.unlink("kept", dir_fd=folder)
    finally:
        os.close(folder)
    assert (there / "kept").exists()


@pytest.mark.slow
@pytest.mark.fresh
def test_the_folder_of_a_test_in_the_style_of_unittest() -> None:
    program = PROGRAMS["load"][0]
    suite = suite_of("files_unittest", program, "load", style="unittest")
    assert "self.enterContext(contextlib.chdir(tmp_path))" in suite.source
