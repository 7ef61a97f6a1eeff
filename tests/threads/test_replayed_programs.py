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


_PLAIN_SCRIPT = """
import contextvars
import treadle


def program():
    var = contextvars.ContextVar("var", default=0)
    context = contextvars.copy_context()
    seen = []

    def write():
        for number in (1, 2):
            context.run(var.set, number)

    def read():
        for _ in range(2):
            seen.append(context.get(var, 0))

    treadle.parallel(write, read)
    assert seen != [1, 2]


if __name__ == "__main__":
    print(treadle.check(program).findings[0].replay)
"""


def test_what_a_plain_script_finds_replays_where_pytest_has_made_a_decimal_context(tmp_path: Path) -> None:
    (tmp_path / "plain_script.py").write_text(_PLAIN_SCRIPT)
    found = subprocess.run([sys.executable, "plain_script.py"], cwd=tmp_path, capture_output=True, text=True)
    words = [sys.executable, "-m", "treadle", "replay", found.stdout.strip()]
    replayed = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert replayed.returncode == 1, replayed.stdout + replayed.stderr
