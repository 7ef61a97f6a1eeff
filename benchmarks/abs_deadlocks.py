"""Executions to a deadlock, with and without `--goal deadlock`: `python -m benchmarks.abs_deadlocks FOLDER`.

FOLDER has ABS models with main blocks; it is only read. Nothing is reduced and each exploration has SECONDS.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.rows import Rows
from treadle.doors.actor.models import explore_model

SECONDS = 6.0


def explored(model: Path, goal: str) -> str:
    """Executions (of which deadlocks) and states, in processor seconds."""
    busy = time.process_time()
    result = explore_model(str(model), seconds=SECONDS, reduce="none", goal=goal)
    told = f"{result.executions} ({result.statistics['deadlocks']}), {result.statistics['states']} states"
    return f"{told}, {time.process_time() - busy:.1f} s" + ", stopped" * (result.cut_by == "seconds")


def table(folder: Path) -> None:
    rows = Rows("explore: deadlocks with and without the goal", ["model", "without", "with"])
    for model in sorted(folder.glob("*.abs")):
        rows.add(model=model.stem, without=explored(model, ""), **{"with": explored(model, "deadlock")})
    rows.table()


if __name__ == "__main__":
    table(Path(sys.argv[1]))
