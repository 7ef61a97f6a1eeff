"""`treadle unit` never touches the world, nor does the code under test touch the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import treadle


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
