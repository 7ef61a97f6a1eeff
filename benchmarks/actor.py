"""`treadle actor`: the published table (`benchmarks.table1`), how each bound grows, and memory.

Rates are per second of processor time.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from benchmarks import table1
from benchmarks.environments import CHECKOUT
from benchmarks.rows import Rows
from treadle.abs.machine.criteria import SOUND_REDUCTIONS, Bounds, OrderSelection, ReductionName
from treadle.doors.actor.generated import generate

EXAMPLES = CHECKOUT / "examples" / "abs"
# Beyond this a row says nothing new about the rate.
MOST_STATES = 60_000
_FACT = "factorial.abs:Fact.ft"
_PSORT = "pipeline_sort.abs:Stage.feed"


def main(quick: bool = False) -> None:
    """Table 1, the growth of each bound, and memory at half a million states."""
    if not quick:
        table1.table()
    growth()
    if not quick:
        memory()


def explored(target: str, bounds: Bounds, reduce: ReductionName, most: int) -> tuple[int, int, float, bool]:
    """Tests, states, seconds of processor time, and whether the limit was reached."""
    again, seconds, made = 0, 0.0, None
    while again == 0 or (seconds < 0.2 and again < 20):  # small rows are repeated until the clock can tell
        made = generate(
            str(EXAMPLES / target), bounds=bounds, selection=OrderSelection(reduce=reduce), keep=0, states=most
        )
        seconds += made.processor_seconds
        again += 1
    assert made is not None
    return made.tests, made.states, max(seconds / again, 1e-6), bool(made.stopped)


def growth() -> None:
    """How tests and states grow as one bound rises."""
    rows = Rows("actor: growth", ["bound", "value", "reduce", "tests", "states", "states/s"])
    for name, first, values in (("loop", Bounds(1, 4, 2), (1, 2, 3, 4)), ("actors", Bounds(2, 4, 1), (1, 2, 3, 4))):
        for value in values:
            bounds = Bounds(value, 4, 2) if name == "loop" else Bounds(first.loop, 4, value)
            for reduce in SOUND_REDUCTIONS[1:]:
                tests, states, seconds, _ = explored(_FACT, bounds, reduce, MOST_STATES)
                rows.add(
                    bound=name, value=value, reduce=reduce, tests=tests, states=states, **{"states/s": states / seconds}
                )
    rows.table()


def memory() -> None:
    """The peak memory of a process that explores 500 000 states and keeps all their cases."""
    code = (
        "import resource, benchmarks.actor as b\n"
        "made = b.generate(str(b.EXAMPLES / b._PSORT), bounds=b.Bounds(2, None, 2),"
        " selection=b.OrderSelection(reduce='stable'), states=500_000)\n"
        "print(made.states, len(made.cases), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=CHECKOUT, check=True)
    states, cases, kilobytes = map(int, done.stdout.split())
    rows = Rows("actor: memory", ["states", "cases", "megabytes"])
    rows.add(states=states, cases=cases, megabytes=kilobytes / 1024)
    rows.table()


if __name__ == "__main__":
    main("--quick" in sys.argv)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB", file=sys.stderr)
