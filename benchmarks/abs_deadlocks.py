"""Executions to a deadlock, with and without `--goal deadlock`: `python -m benchmarks.abs_deadlocks FOLDER`.

FOLDER has ABS models with main blocks; it is only read. An exploration ends after STATES, so that the figures are the
same on every machine.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.rows import Rows
from treadle.abs.explore.deadlock import DeadlockGoal
from treadle.abs.explore.tree import TreeExplorer
from treadle.abs.language.depth import deep_recursion
from treadle.abs.machine.criteria import OrderSelection, ReductionName
from treadle.abs.machine.machine import ActorMachine
from treadle.abs.machine.system import main_root
from treadle.doors.actor.generated import MAIN_BOUNDS
from treadle.doors.actor.loaded import AbsModel

STATES = 200_000
REDUCE: tuple[ReductionName, ...] = ("none", "exact")  # what published counts are about, and what `explore` does


def explored(model: AbsModel, reduce: ReductionName, guided: bool) -> str:
    """The execution that is the first deadlock; all executions (of which deadlocks) and states; processor seconds."""
    busy = time.process_time()
    machine = ActorMachine(model.image, MAIN_BOUNDS, OrderSelection(reduce=reduce), None)
    root = main_root(machine, model.program)
    explorer = TreeExplorer(machine, root.entry.key)
    explorer.hopeless = DeadlockGoal(machine).hopeless if guided else None
    explorer.on_state = lambda progress: progress.states < STATES
    first = 0
    with deep_recursion():
        for leaf in explorer.leaves(root.state):
            if leaf.deadlock and not first:
                first = explorer.progress.tests
    seen = explorer.progress
    told = f"first {first or '-'}, {seen.tests} ({seen.deadlocks}), {seen.states} states"
    return f"{told}, {time.process_time() - busy:.1f} s" + ", stopped" * explorer.stopped


def table(folder: Path) -> None:
    rows = Rows("explore: deadlocks with and without the goal", ["model", "reduce", "without", "with"])
    for file in sorted(folder.glob("*.abs")):
        model = AbsModel.load(str(file))
        for reduce in REDUCE:
            told = {"without": explored(model, reduce, False), "with": explored(model, reduce, True)}
            rows.add(model=file.stem, reduce=reduce, **told)
    rows.table()


if __name__ == "__main__":
    table(Path(sys.argv[1]))
