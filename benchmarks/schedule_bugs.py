"""Bugs of actor programs: how many schedules and how long `treadle schedule` needs for each, and what others need.

Every program of subjects/actors has known bugs and a corrected twin. For each bug, 20 repetitions: Treadle starts from
a random execution each time; the others run until they find it or the budget is used up. A repetition that finds
nothing counts with the whole budget, as in the Bita paper.
"""

from __future__ import annotations

import importlib
import logging
import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks.rows import Rows
from benchmarks.schedule_baselines import RandomDelays, run_really, strategy
from treadle.doors.schedule.campaign import check_schedules
from treadle.messages.criteria import PCR, PR, Criterion, Goals
from treadle.messages.follow import FollowSchedule
from treadle.messages.loom import DELIVERIES, MessageLoom
from treadle.messages.oracles import judge

PYKKA = ("load_generator", "redis_client", "graph_engine", "barber", "messenger", "process_registry")
THESPIAN = ("bank", "cache", "two_phase_commit")
REPETITIONS = 20
BUDGET = 100  # executions of a baseline
DELAYS = (0.1, 0.2, 0.3)
# Real executions of real programs take seconds each: these are enough to compare a clock with a clock.
REAL_BUDGET = 12
REAL_PATIENCE = 20.0


def main(quick: bool = False) -> None:
    logging.disable(logging.CRITICAL)
    repetitions = 3 if quick else REPETITIONS
    _bugs(repetitions, 30 if quick else BUDGET)
    _deliveries()
    _twins(40 if quick else 200)
    _coverage(15 if quick else 30, 2 if quick else 5)
    _size()
    if not quick:
        _real()


def subjects() -> list[tuple[str, str, Any]]:
    """(program, bug, module) for every known bug."""
    found = []
    for name in (*PYKKA, *THESPIAN):
        module = importlib.import_module(f"benchmarks.subjects.actors.{name}")
        found += [(name, bug, module) for bug in module.BUGS]
    return found


def _test(module: Any, bug: str) -> Callable[[], None]:
    return lambda: module.run(bug)


def _bugs(repetitions: int, budget: int) -> None:
    rows = Rows(
        "schedule_bugs",
        ["program", "bug", "schedules", "most", "seconds", "delays_runs", "delays_found", "d300_seconds"]
        + ["random_runs", "pct_runs", "library"],
    )
    for name, bug, module in subjects():
        row: dict[str, Any] = {"program": name, "bug": bug, "repetitions": repetitions}
        row |= _treadle(module, bug, repetitions)
        for baseline in ("delays", "random", "pct"):
            row |= _baseline(module, bug, baseline, repetitions, budget)
        row["library"] = "found" if _library(module, bug) else "-"
        rows.add(**row)
    rows.table()


def _treadle(module: Any, bug: str, repetitions: int) -> dict[str, Any]:
    schedules, seconds, found, order = [], [], 0, []
    for seed in range(repetitions):
        started = time.perf_counter()
        result = check_schedules(
            _test(module, bug), source=module.run, executions=300, initial=RandomDelays(seed, 0.1), delivery="promised"
        )
        seconds.append(time.perf_counter() - started)
        schedules.append(result.executions - 1)
        found += result.failed
        if result.findings:
            order = result.findings[0].order  # type: ignore[attr-defined]
    return {
        "schedules": statistics.mean(schedules),
        "most": max(schedules),
        "found": found,
        "seconds": statistics.mean(seconds),
        "order": order,
    }


def _baseline(module: Any, bug: str, name: str, repetitions: int, budget: int) -> dict[str, Any]:
    runs, cpu, virtual, found = [], [], [], 0
    with MessageLoom(_test(module, bug), source=module.run) as loom:
        for repetition in range(repetitions):
            started, elapsed, hit = time.perf_counter(), 0.0, False
            for number in range(budget):
                chooser = strategy(name, 1000 * repetition + number)
                chooser.begin()
                run = loom.run(chooser)
                elapsed += run.clock.now - run.clock.start
                if judge(run):
                    hit = True
                    break
            runs.append(number + 1)
            cpu.append(time.perf_counter() - started)
            virtual.append(elapsed)
            found += hit
    row = {f"{name}_runs": statistics.mean(runs), f"{name}_found": found, f"{name}_seconds": statistics.mean(cpu)}
    if name == "delays":
        for most in DELAYS:
            row[f"d{round(most * 1000)}_seconds"] = statistics.mean(virtual) * most / DELAYS[0]
    return row


def _library(module: Any, bug: str) -> bool:
    with MessageLoom(_test(module, bug), source=module.run) as loom:
        follow = FollowSchedule()
        follow.begin()
        return bool(judge(loom.run(follow)))


def _deliveries() -> None:
    """Executions until a bug is found, by what messages may overtake; "-": it is not found."""
    rows = Rows("schedule_deliveries", ["program", "bug", *DELIVERIES])
    for name, bug, module in subjects():
        row: dict[str, Any] = {"program": name, "bug": bug}
        for delivery in DELIVERIES:
            result = check_schedules(_test(module, bug), source=module.run, executions=300, delivery=delivery)
            row[delivery] = result.executions if result.failed else "-"
        rows.add(**row)
    rows.table()


def _twins(executions: int) -> None:
    """No alarm on a corrected program."""
    rows = Rows("schedule_twins", ["program", "verdict", "executions", "events", "actors", "infeasible", "seconds"])
    for name in (*PYKKA, *THESPIAN):
        module = importlib.import_module(f"benchmarks.subjects.actors.{name}")
        result = check_schedules(_test(module, ""), source=module.run, executions=executions, delivery="promised")
        rows.add(
            program=name,
            verdict=result.verdict.value,
            executions=result.executions,
            events=result.events,
            actors=result.actors,
            infeasible=result.infeasible,
            seconds=result.seconds,
        )
    rows.table()


def _coverage(executions: int, repetitions: int) -> None:
    """Pairs covered (Definition 4): one criterion at a time, as many executions of Treadle as of random delays, and, as
    in the paper's table III, as many random delays as fit in the time that Treadle took."""
    rows = Rows(
        "schedule_coverage",
        ["program", "criterion", "executions", "pairs", "random", "ratio", "after_5", "random_after_5", "in_time"],
    )
    ratios: dict[str, list[float]] = {"PR": [], "PCR": []}
    for name, criterion in [(name, criterion) for name in (*PYKKA, *THESPIAN) for criterion in (PR, PCR)]:
        module = importlib.import_module(f"benchmarks.subjects.actors.{name}")
        ours, theirs, in_time = [], [], []
        for seed in range(repetitions):
            curve: list[int] = []
            started = time.perf_counter()
            check_schedules(
                _test(module, ""),
                source=module.run,
                executions=executions,
                delivery="promised",
                criteria=[criterion.name],
                observe=_curve(criterion, curve),
                seed=seed,
            )
            seconds = time.perf_counter() - started
            delayed: list[int] = []
            clocks = _random_delays(module, criterion, len(curve), seed, delayed)
            ours.append(curve)
            theirs.append(delayed)
            in_time.append(
                max((pairs for pairs, clock in zip(delayed, clocks, strict=True) if clock <= seconds), default=0)
            )
        pairs, random_pairs = (statistics.mean(curve[-1] for curve in curves) for curves in (ours, theirs))
        ratios[criterion.name].append(pairs / max(1, random_pairs))
        rows.add(
            program=name,
            criterion=criterion.name,
            executions=statistics.mean(map(len, ours)),
            pairs=pairs,
            random=random_pairs,
            ratio=ratios[criterion.name][-1],
            after_5=statistics.mean(curve[min(4, len(curve) - 1)] for curve in ours),
            random_after_5=statistics.mean(curve[min(4, len(curve) - 1)] for curve in theirs),
            in_time=statistics.mean(in_time),
        )
    for name, found in ratios.items():
        rows.add(program="geometric mean", criterion=name, ratio=statistics.geometric_mean(found))
    rows.table()


def _random_delays(module: Any, criterion: Criterion, executions: int, seed: int, curve: list[int]) -> list[float]:
    """The pairs that random delays of up to 300 ms cover, and the clock after each execution."""
    clocks: list[float] = []
    elapsed = 0.0
    add = _curve(criterion, curve)
    with MessageLoom(_test(module, ""), source=module.run) as loom:
        for number in range(executions):
            chooser = RandomDelays(1000 * seed + number, 0.3)
            chooser.begin()
            run: Any = loom.run(chooser)
            elapsed += run.clock.now - run.clock.start
            clocks.append(elapsed)
            add(run.journal.receives())
    return clocks


def _curve(criterion: Criterion, curve: list[int]) -> Callable[[Any], None]:
    goals = Goals(criterion)

    def add(receives: Any) -> None:
        goals.add(receives)
        curve.append(goals.pairs_covered())

    return add


def _size() -> None:
    """A hundred actors and ten thousand receives, three executions."""
    rows = Rows("schedule_size", ["program", "actors", "events", "executions", "seconds"])
    module = importlib.import_module("benchmarks.subjects.actors.hops")
    result = check_schedules(_test(module, ""), source=module.run, executions=3, delivery="promised")
    rows.add(
        program="hops",
        actors=result.actors,
        events=result.events,
        executions=result.executions,
        seconds=result.seconds,
    )
    rows.table()


def _real() -> None:
    """Real threads and real delays, on Pykka: how long one bug takes there, and how long here."""
    rows = Rows("schedule_real", ["program", "bug", "d_ms", "runs", "found", "seconds", "treadle_seconds", "ratio"])
    for name, bug, module in subjects():
        if name not in PYKKA:
            continue
        ours = check_schedules(
            _test(module, bug), source=module.run, executions=300, delivery="promised"
        ).seconds_to_failure
        total, found, number = 0.0, False, 0
        for number in range(1, REAL_BUDGET + 1):
            failed, seconds = run_really(_test(module, bug), number, 0.1, REAL_PATIENCE)
            total += seconds
            if failed:
                found = True
                break
        rows.add(
            program=name,
            bug=bug,
            d_ms=100,
            runs=number,
            found=found,
            seconds=total,
            treadle_seconds=ours,
            ratio=total / ours,
        )
    rows.table()
