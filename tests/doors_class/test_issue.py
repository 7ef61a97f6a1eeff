"""`treadle class --issue`: a report that a maintainer can run without Treadle."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.classes.drive import PROGRAMS, campaign, subject
from treadle.classes.races import one_race_one_fault
from treadle.classes.result import Options
from treadle.doors.class_.issue import issue_of


def test_the_report_has_expected_seen_schedule_versions_and_a_program_that_runs(tmp_path: Path) -> None:
    result = campaign("class_bank:Account", methods=("deposit",), calls=1)
    result.subject = subject("class_bank:Account")
    one_race_one_fault(result)
    text = issue_of(result, Options())
    assert "**Expected:** what the calls give one after the other" in text
    assert "gives `None`, afterwards" in text
    assert re.search(r"\*\*Seen:\*\* deposit \|\| deposit: no order of the calls gives", text)
    assert "reads Account#1.balance -> 0" in text
    assert f"CPython {sys.version.split()[0]}" in text
    program = text.partition("```python\n")[2].partition("```")[0]
    assert "treadle" not in program
    file = tmp_path / "program.py"
    file.write_text(f"import sys\nsys.path.insert(0, {str(PROGRAMS)!r})\n{program.replace('10000', '20')}")
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 or "failed in round" in done.stdout, done.stderr
