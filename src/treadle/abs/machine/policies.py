"""In which order an actor takes its tasks: any, or by a policy of its own (seed 001, section 3.3).

A class, or one `new`, names its policy with `[Scheduler: fifo(queue)]`. Only the name is looked at: a scheduler with
another name is refused, its body is never run. A policy belongs to the actor, that is, to the first object of a group.
"""

from __future__ import annotations

from typing import Literal

from treadle.abs.language import syntax as S
from treadle.abs.language.errors import unsupported
from treadle.abs.language.names import did_you_mean
from treadle.core.errors import UsageError

TaskPolicy = Literal["all", "fifo", "lifo"]
TASK_POLICIES: tuple[TaskPolicy, ...] = ("all", "fifo", "lifo")
# the scheduler of the ABS tools that takes the first of a queue in no particular order is any order too
_BY_NAME: dict[str, TaskPolicy] = {
    "fifo": "fifo",
    "lifo": "lifo",
    "random": "all",
    "randomscheduler": "all",
    "defaultscheduler": "all",
}


def policy_named(scheduler: S.Exp | None) -> TaskPolicy | None:
    """The policy that an annotation names; None if there is none."""
    if scheduler is None:
        return None
    name = scheduler.name if isinstance(scheduler, S.FunctionCall | S.Var) else ""
    policy = _BY_NAME.get(name.rpartition(".")[2])
    if policy is None:
        known = ", ".join(_BY_NAME)
        raise unsupported(f"the user-defined scheduler '{name}' (known by their names are {known})", scheduler.at)
    return policy


def check_policies(of_class: tuple[tuple[str, TaskPolicy], ...], classes: list[str]) -> None:
    """Each class whose actors were given an order must be there."""
    for cls, policy in of_class:
        if cls not in classes:
            hint = did_you_mean(cls, classes) or f"; the classes are: {', '.join(classes) or 'none'}"
            raise UsageError(f"--select-tasks {cls}={policy}: there is no class '{cls}'{hint}")


def parse_policies(told: tuple[str, ...]) -> tuple[TaskPolicy, tuple[tuple[str, TaskPolicy], ...]]:
    """What `--select-tasks` says: one policy for all, and `Class=policy` for the actors of a class."""
    common: TaskPolicy = "all"
    of_class: dict[str, TaskPolicy] = {}
    for text in told:
        cls, equals, name = text.rpartition("=")
        policy = next((p for p in TASK_POLICIES if p == name), None)
        if policy is None or (equals and not cls):
            raise UsageError(f"--select-tasks is {', '.join(TASK_POLICIES)}, or Class=fifo, not '{text}'")
        if equals:
            of_class[cls] = policy
        else:
            common = policy
    return common, tuple(of_class.items())
