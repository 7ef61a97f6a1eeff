"""`treadle run`: an ABS model once, in one order of tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from treadle.core.errors import UsageError
from treadle.core.files import check_may_write, write_sealed
from treadle.core.packages import with_extra
from treadle.core.verdict import exit_code_of


@click.command()
@click.argument("model", metavar="MODEL.abs")
@click.option("--seed", type=int, metavar="N", help="Pick the next task at random, the same way for the same N.")
@click.option("--order", metavar="'STEP STEP ...'", help="Run the tasks in this order, as a finding tells it.")
@click.option("--tasks", type=click.IntRange(1), default=100_000, metavar="N", help="Give up after N tasks.")
@click.option("--loop", type=click.IntRange(1), default=10_000_000, metavar="N", help="Give up a step of N loop turns.")
@click.option("--picture", type=click.Path(path_type=Path), metavar="FILE", help="Draw the run (SVG).")
@click.option("--force", is_flag=True, help="Replace a picture even if it was edited by hand.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(
    model: str,
    seed: int | None,
    order: str | None,
    tasks: int,
    loop: int,
    picture: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Run the main block of an ABS model once: what it prints, and the fields of its objects at the end.

    Exit code 1: the run ends in a deadlock or a task ends with an exception.
    """
    if not model.endswith(".abs"):
        raise UsageError(f"'{model}' is no ABS model (.abs)")
    if order is not None and seed is not None:
        raise UsageError("--order and --seed are two ways to say the same; give one")
    if picture is not None:
        check_may_write(picture, "--picture", force)
    run = with_extra("run", "treadle.doors.actor.models").run_model(
        model, order=None if order is None else order.split(), seed=seed, tasks=tasks, loop=loop
    )
    if picture is not None:
        drawn = with_extra("run", "treadle.doors.actor.picture").picture(run, title=Path(model).name)
        write_sealed(picture, drawn, "--picture", force)
    if as_json:
        told: dict[str, Any] = {
            "target": model,
            "outcome": run.outcome,
            "output": run.output,
            "order": run.order,
            "final": run.final,
            "failures": run.failures,
            "failed_at": run.failed_at,
            "waiting": run.waiting,
        }
        print(json.dumps(told))
    else:
        print(run.output, end="" if run.output.endswith("\n") or not run.output else "\n")
        for name, fields in run.final.items():
            if name != "main":
                told_fields = ", ".join(f"{f} = {'null' if v is None else v}" for f, v in fields.items())
                print(f"{name}: {run.classes[name]}({told_fields})")
        print(f"{run.outcome} after {len(run.order)} task{'s' * (len(run.order) != 1)}")
        for waiting in run.waiting:
            print(f"  waits: {waiting}")
        for failure, place in zip(run.failures, run.failed_at, strict=True):
            print(f"  failed: {failure} in {place}")
    return exit_code_of(failed=run.deadlocked or bool(run.failures))
