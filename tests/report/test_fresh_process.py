"""How tests ended in a fresh process is told by a word of its own, not by what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.report.fresh_process import FreshTests, ImportRefused, run_tests

_FOUR = """
import time
from pathlib import Path

def test_passes():
    assert True

def test_fails():
    raise AssertionError("it would use the network, and did not finish")

def test_writes():
    try:
        Path("made.txt").write_text("made")
    except PermissionError:
        pass

def test_waits():
    time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 0], ids=["alone", "together"])
def test_every_test_tells_how_it_ended(tmp_path: Path, at_once: int) -> None:
    file = tmp_path / "test_four.py"
    file.write_text(_FOUR, encoding="utf-8")
    with FreshTests(file, at_once=at_once, effects="refused", seconds_of_a_test=1) as tests:
        ended = {name: outcome.ended for name, outcome in tests.outcomes().items()}
    writes = "refused" if at_once else "passed"  # together, what the program does about it counts
    assert ended == {"test_passes": "passed", "test_fails": "failed", "test_writes": writes, "test_waits": "endless"}


@pytest.mark.slow
def test_an_import_that_would_change_the_world_says_what_it_would_do(tmp_path: Path) -> None:
    file = tmp_path / "test_writing.py"
    file.write_text('open("made.txt", "w").close()\n\ndef test_one():\n    pass\n', encoding="utf-8")
    with pytest.raises(ImportRefused, match=r"^the code cannot be imported: it would write the file 'made.txt'$"):
        run_tests(file, effects="refused")
