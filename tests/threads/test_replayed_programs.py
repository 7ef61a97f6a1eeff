"""Random programs: every finding fails in the same way in a process with another hash seed, in another folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.threads import replayed_programs


def _run(words: list[str], folder: Path, hash_seed: int, given: str = "") -> list[dict[str, object]]:
    """What one of the two processes prints."""
    source = Path(replayed_programs.__file__)
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "TREADLE_CACHE": str(folder / "cache")}
    command = [sys.executable, str(source), *words]
    done = subprocess.run(command, cwd=folder, env=environment, input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="each replay runs in a process forked from an empty one")
@settings(max_examples=1, deadline=None, phases=[Phase.generate])
@given(seed=st.integers(0, 2**32))
def test_every_finding_replays_elsewhere(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    folder = tmp_path_factory.mktemp("programs")
    (folder / "elsewhere").mkdir()
    path = replayed_programs.write(folder, seed, number=12)
    told = _run(["search", str(path), "12"], folder, hash_seed=3)
    assert {"FAILED"} <= {str(one["verdict"]) for one in told} <= replayed_programs.VERDICTS
    lines = "\n".join(map(json.dumps, told))
    assert _run(["replay", str(path)], folder / "elsewhere", hash_seed=11, given=lines) == []
