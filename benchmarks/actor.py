"""`treadle actor` on the programs and parameters of the published table: rates of states and tests beside its figures.

The table (Test Case Generation of Actor Systems, 2014; aPET under SWI-Prolog on a 3.2 GHz Core i5) is an order of
magnitude, not a race on one machine. Cons, Prod and Fact are the same programs, and the counts must agree; the others
are written anew after their description, so only the rates compare. Rates are per second of processor time.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from dataclasses import dataclass

from benchmarks.environments import CHECKOUT
from benchmarks.rows import Rows
from treadle.abs.machine.criteria import REDUCTIONS, Bounds, OrderSelection, ReductionName
from treadle.doors.actor.models import generate

EXAMPLES = CHECKOUT / "examples" / "abs"
# Beyond this a row says nothing new about the rate.
MOST_STATES = 60_000


@dataclass(frozen=True, slots=True)
class Published:
    """One row of the table: tests, milliseconds and states, ignoring and exploiting independence."""

    name: str
    target: str
    bounds: Bounds
    ignoring: tuple[int, int, int]
    exploiting: tuple[int, int, int]
    same_program: bool = False


def _row(
    name: str, target: str, bounds: tuple[int, int | None, int | None], first: tuple[int, int, int],
    second: tuple[int, int, int], same: bool = False,
) -> Published:  # fmt: skip
    return Published(name, target, Bounds(*bounds), first, second, same)


_QSORT, _PSORT = "quicksort.abs:Client.qsort", "pipeline_sort.abs:Stage.feed"
_RSIM, _DHT, _MAIL = "registration.abs:Simulator.simulate", "hash_table.abs:User.use", "mail_server.abs:Client.sendAll"
_CONS, _PROD = "producer_consumer.abs:Consumer.consumeN", "producer_consumer.abs:Producer.produceList"
_FACT = "factorial.abs:Fact.ft"
TABLE = [
    _row("QSort(2,-,1)", _QSORT, (2, None, 1), (236, 1934, 2688), (236, 1934, 2688)),
    _row("QSort(3,-,1)", _QSORT, (3, None, 1), (1728, 39084, 44895), (1728, 39084, 44895)),
    _row("QSort(2,-,2)", _QSORT, (2, None, 2), (1017, 21708, 19300), (1017, 21825, 19300)),
    _row("PSort(1,-,1)", _PSORT, (1, None, 1), (478, 696, 1637), (239, 347, 821)),
    _row("PSort(2,-,1)", _PSORT, (2, None, 1), (3423, 200_000, 470_087), (3425, 200_000, 470_451)),
    _row("PSort(1,-,2)", _PSORT, (1, None, 2), (13678, 19072, 43341), (6839, 9508, 21673)),
    _row("RSim(1,-,1)", _RSIM, (1, None, 1), (9, 8, 25), (4, 5, 14)),
    _row("RSim(2,-,1)", _RSIM, (2, None, 1), (441, 333, 1350), (14, 20, 80)),
    _row("RSim(2,-,2)", _RSIM, (2, None, 2), (4111, 3101, 11841), (59, 82, 340)),
    _row("DHT(1,4,1)", _DHT, (1, 4, 1), (35, 665, 3179), (21, 124, 555)),
    _row("DHT(2,4,1)", _DHT, (2, 4, 1), (97, 8171, 19018), (55, 2864, 2332)),
    _row("DHT(1,5,1)", _DHT, (1, 5, 1), (35, 6425, 30231), (21, 343, 1623)),
    _row("DHT(1,5,2)", _DHT, (1, 5, 2), (53, 21092, 98117), (39, 2615, 12613)),
    _row("Mail(2,4,2)", _MAIL, (2, 4, 2), (161, 1033, 4540), (58, 236, 944)),
    _row("Mail(3,4,2)", _MAIL, (3, 4, 2), (400, 12321, 46760), (232, 1029, 4310)),
    _row("Mail(2,5,2)", _MAIL, (2, 5, 2), (161, 4226, 13756), (58, 641, 2096)),
    _row("Mail(2,5,3)", _MAIL, (2, 5, 3), (161, 4495, 14908), (58, 665, 2240)),
    _row("Cons(2,-,-)", _CONS, (2, None, None), (15, 10, 30), (9, 7, 19), True),
    _row("Cons(3,-,-)", _CONS, (3, None, None), (159, 118, 334), (33, 26, 75), True),
    _row("Cons(4,-,-)", _CONS, (4, None, None), (3039, 2562, 6639), (153, 138, 351), True),
    _row("Prod(2,-,-)", _PROD, (2, None, None), (29, 30, 52), (17, 16, 31), True),
    _row("Prod(3,-,-)", _PROD, (3, None, None), (398, 745, 819), (82, 140, 169), True),
    _row("Prod(4,-,-)", _PROD, (4, None, None), (9155, 30268, 20679), (465, 1393, 1041), True),
    _row("Fact(2,4,2)", _FACT, (2, 4, 2), (720, 944, 2430), (270, 451, 1128), True),
    _row("Fact(3,4,2)", _FACT, (3, 4, 2), (1104, 1425, 3576), (432, 665, 1664), True),
    _row("Fact(2,3,2)", _FACT, (2, 3, 2), (72, 286, 720), (54, 222, 564), True),
    _row("Fact(3,4,3)", _FACT, (3, 4, 3), (3416, 4704, 11938), (960, 1668, 4094), True),
]


def main(quick: bool = False) -> None:
    """Table 1, the growth of each bound, and memory at half a million states."""
    table(quick)
    growth()
    if not quick:
        memory()


def table(quick: bool) -> None:
    rows = Rows(
        "actor: Table 1",
        [
            "row",
            "reduce",
            "tests",
            "states",
            "states/s",
            "tests/s",
            "paper states",
            "paper states/s",
            "ratio",
            "agrees",
        ],
    )
    for published in TABLE:
        compared: list[tuple[ReductionName, tuple[int, int, int] | None]] = [
            ("stable", published.ignoring),
            ("independent", published.exploiting),
            ("exact", None),
        ]
        for reduce, figures in compared:
            most = 10_000 if quick else MOST_STATES
            tests, states, seconds, stopped = explored(published.target, published.bounds, reduce, most)
            row: dict[str, object] = {
                "row": published.name,
                "reduce": reduce,
                "tests": tests,
                "states": states,
                "seconds": round(seconds, 4),
                "states/s": states / seconds,
                "tests/s": tests / seconds,
                "stopped": stopped,
            }
            if figures is not None:
                paper_tests, milliseconds, paper_states = figures
                rate = paper_states / milliseconds * 1000
                row |= {"paper states": paper_states, "paper states/s": rate, "ratio": states / seconds / rate}
                if published.same_program:
                    row["agrees"] = (tests, states) == (paper_tests, paper_states)
            rows.add(**row)
    rows.table()


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
            for reduce in REDUCTIONS[1:]:
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
        " selection=b.Selection(reduce='stable'), states=500_000)\n"
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
