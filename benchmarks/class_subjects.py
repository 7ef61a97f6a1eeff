"""The six subjects of AutoConTest's table 1, re-created in Python by their published defects, and its example.

First fault, assembled tests and coverage, against random generation with the same explorer (the paper's ConTeGen*);
then sequence generation with and without the prunings (table 2), and how coverage M grows (figure 10), on the fixed
classes, where no fault ends a campaign: docs/img/class_growth.svg. The paper: first faults after 22 to 65 s, all by the
first generated test; random generation misses two of six in an hour; pruning is 1 530 times faster.
"""

from __future__ import annotations

import time
from typing import Any

from benchmarks.environments import CHECKOUT
from benchmarks.rows import Rows
from treadle.report import coverage_curve

SUBJECTS = {
    "motivating example": "motivating:CUT",
    "1 IntRange": "int_range:IntRange",
    "2 AsMap": "as_map:AsMap",
    "3 Vector 1.1.7": "vector117:Vector",
    "4 NumberAxis": "number_axis:NumberAxis",
    "5 Logger": "logger:Logger",
    "6 Vector 1.4.2": "vector142:Vector",
}
HOME = "benchmarks.subjects.classes."
# The growth of coverage: seconds for each campaign, moments at which it is looked at, what the work is divided into.
GROWTH_SECONDS, MOMENTS = 2.0, 100
PARTS = ("calls", "sequences", "interleavings", "findings")


def main(quick: bool = False) -> None:
    budget = 10.0 if quick else 60.0
    rows = Rows(
        "class_subjects",
        ["subject", "generator", "verdict", "first_fault_s", "by_test", "tests", "pairs", "traces", "executions"],
    )
    for name, target in SUBJECTS.items():
        module, cls = target.split(":")
        for generator, this in (("coverage", cls), ("random", cls), ("coverage", f"Fixed{cls}")):
            result = campaign(f"{HOME}{module}:{this}", generator, budget)
            first = result.faults[0] if result.faults else None
            rows.add(
                subject=name if this == cls else f"{name}, fixed",
                generator=generator,
                verdict=result.verdict.value,
                first_fault_s=None if result.first_fault is None else round(result.first_fault, 2),
                by_test=None if first is None else first.found_in_test,
                tests=result.tests_assembled,
                pairs=result.pairs,
                traces=result.traces,
                executions=result.interleavings_tried,
                seconds=round(result.seconds, 1),
            )
    rows.table()
    prunings(budget)
    growth(GROWTH_SECONDS)


def growth(budget: float) -> None:
    """How many method traces are covered after so much work, by both generators."""
    rows = Rows("class_growth", ["subject", "generator", "traces", "saturated_after", "tests", *PARTS])
    total: dict[str, list[int]] = {generator: [0] * (MOMENTS + 1) for generator in ("coverage", "random")}
    for name, target in SUBJECTS.items():
        module, cls = target.split(":")
        for generator, sums in total.items():
            result = campaign(f"{HOME}{module}:Fixed{cls}", generator, budget)
            for moment in range(MOMENTS + 1):
                until = moment * budget / MOMENTS
                sums[moment] += max((mark.traces for mark in result.growth if mark.seconds <= until), default=0)
            work = {part: round(result.work.get(part, 0.0), 2) for part in PARTS}
            known = {
                "traces": result.traces,
                "saturated_after": result.saturated_after,
                "tests": result.tests_assembled,
            }
            rows.add(subject=name, generator=generator, **known, **work)
    rows.table()
    curve = [dict(zip(total, moment, strict=True)) for moment in zip(*total.values(), strict=True)]
    said = f"Method traces covered, seven fixed subjects, {budget:g} s each"
    drawn = coverage_curve.svg(curve, said, f"{budget:g} s of work", "method traces")
    (CHECKOUT / "docs" / "img" / "class_growth.svg").write_text(drawn)


def campaign(target: str, generator: str, budget: float) -> Any:
    from treadle.classes.result import Options
    from treadle.classes.subject import examine, find_class
    from treadle.doors.class_.without_effects import run_class

    return run_class(examine(target, find_class(target)), Options(budget=budget, generator=generator))


def prunings(budget: float) -> None:
    """The first iteration of sequence generation at the paper's level 3, with all prunings and with D1 alone."""
    rows = Rows("class_prunings", ["subject", "prunings", "seconds", "extensions", "executed", "gain", "length"])
    for name, target in SUBJECTS.items():
        module, cls = target.split(":")
        for label, prune in (("all", ("D1", "D2", "D3", "B1", "B2")), ("D1 alone", ("D1",))):
            rows.add(subject=name, prunings=label, **first_iteration(f"{HOME}{module}:{cls}", frozenset(prune), budget))
    rows.table()


def first_iteration(target: str, prune: frozenset[str], budget: float) -> dict[str, Any]:
    from treadle.classes import choosing
    from treadle.classes.pools import Pools
    from treadle.classes.sequences import FIRST_LEVEL, Automaton, SequenceGenerator
    from treadle.classes.stage import Stage
    from treadle.classes.subject import examine, find_class

    subject = examine(target, find_class(target))
    pools = Pools(subject, {})
    with Stage(subject) as stage:
        root = choosing.roots(stage, pools, lambda: True)[0]
        calls, _ = choosing.candidate_calls(stage, pools, root, subject.methods, lambda: True)
        automaton = Automaton(stage, root)
        automaton.start()
        generator = SequenceGenerator(automaton, list(calls), prune, FIRST_LEVEL)
        started = time.perf_counter()
        beta = generator.generate(set(), lambda: time.perf_counter() < started + budget)
        seconds = time.perf_counter() - started
    return {
        "seconds": round(seconds, 3) if seconds < budget else f"{budget:g}+",
        "extensions": generator.extensions,
        "executed": automaton.executed,
        "gain": len(beta.improvement) if beta else 0,
        "length": len(beta.calls) if beta else 0,
    }


if __name__ == "__main__":
    main()
