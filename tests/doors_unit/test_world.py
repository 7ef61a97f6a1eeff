"""`treadle unit` never touches the world, nor does the code under test touch the command."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import treadle
from treadle.core.errors import UsageError


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_a_deletion_that_the_program_swallows_does_not_happen() -> None:
    """Stubbed, the path is followed to its end; the real run of its test must delete nothing, in either round."""
    Path("world_clean.py").write_text(
        "import os\n\n\ndef clean(n: int) -> int:\n    try:\n        os.unlink('precious.txt')\n"
        "    except OSError:\n        return 1\n    return 0\n"
    )
    Path("precious.txt").write_text("kept")
    Path("treadle_stubs.py").write_text(
        "from treadle.stubs import case\n\n\n@case('os.unlink')\ndef absent(path):\n    raise OSError('no such file')\n"
    )
    suite = treadle.unit("world_clean:clean", write_file=False)
    assert suite.paths == 1
    assert any("--allow-effects" in place.what for place in suite.unsupported), suite.unsupported
    assert Path("precious.txt").read_text() == "kept"


def test_a_program_that_closes_the_streams_does_not_silence_the_command() -> None:
    Path("world_streams.py").write_text(
        "import sys\n\n\ndef quiet(n: int) -> int:\n    if n < 0:\n        sys.stdout.close()\n    return n\n"
    )
    command = [sys.executable, "-m", "treadle", "unit", "world_streams:quiet", "--json", "--output", "test_x.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert json.loads(done.stdout)["target"] == "world_streams:quiet"


def test_importing_the_code_changes_nothing() -> None:
    Path("world_import.py").write_text("open('made.txt', 'w').close()\n\n\ndef f(n: int) -> int:\n    return n\n")
    with pytest.raises(UsageError, match=r"cannot be imported: it would write the file 'made.txt'; pass --allow-eff"):
        treadle.unit("world_import:f", write_file=False)
    assert not Path("made.txt").exists()
    assert treadle.unit("world_import:f", write_file=False, allow_effects=True).tests == 1
    assert Path("made.txt").exists()


@pytest.mark.slow
def test_an_import_that_swallows_the_refusal_changes_nothing_either() -> None:
    Path("world_log.py").write_text(
        "import os\n\nos.environ['WORLD_LOG'] = '1'\n"
        "try:\n    open('made.txt', 'w').close()\nexcept OSError:\n    pass\n"
        "\n\ndef f(n: int) -> int:\n    return n\n"
    )
    suite = treadle.unit("world_log:f", write_file=False)
    assert (suite.tests, suite.complete) == (1, True)
    assert suite.warnings == ["while it was imported, the code was refused to write the file 'made.txt'"]
    assert not Path("made.txt").exists()


@pytest.mark.slow
def test_a_constructor_changes_nothing() -> None:
    Path("world_made.py").write_text(
        "class C:\n    def __init__(self, n: int) -> None:\n"
        "        self.n = n\n        open('made.txt', 'w').close()\n\n"
        "    def f(self) -> int:\n        return 1 if self.n > 0 else 0\n"
    )
    suite = treadle.unit("world_made:C.f", write_file=False)
    assert "object.__new__(C)" in suite.source
    assert suite.tests == 2
    assert not Path("made.txt").exists()


@pytest.mark.slow
def test_a_module_that_is_loaded_already_is_imported_again_under_guard() -> None:
    Path("world_loaded.py").write_text(
        "import os\n\nif 'TREADLE_CHECK' in os.environ:\n    os.mkdir('made')\n\n\n"
        "def f(n: int) -> int:\n    return n\n"
    )
    with pytest.raises(UsageError, match=r"cannot be imported: it would change files \(os.mkdir .*; pass --allow-eff"):
        treadle.unit("world_loaded:f", write_file=False)
    assert not Path("made").exists()


@pytest.mark.slow
def test_no_test_is_written_of_luck_or_of_the_hour() -> None:
    Path("unit_luck.py").write_text(
        "import random\nfrom datetime import datetime\n\n\n"
        "def coin():\n    if random.random() < 0.5:\n        return 'heads'\n    return 'tails'\n\n\n"
        "def greeting():\n    if datetime.now().hour < 12:\n        return 'morning'\n    return 'day'\n\n\n"
        "def shuffled(xs: list[int]):\n    random.shuffle(xs)\n    return len(xs)\n"
    )
    suite = treadle.unit("unit_luck", write_file=False)
    tests = {node.name: ast.unparse(node) for node in ast.parse(suite.source).body if isinstance(node, ast.FunctionDef)}
    coins = [text for name, text in tests.items() if "coin" in name]
    assert all("patch" in text for text in coins)
    assert not any("== 'morning'" in text or "== 'day'" in text for text in tests.values())
    assert any("shuffled" in name for name in tests)
