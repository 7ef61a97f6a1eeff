"""Whether a suspended task may go on: the futures it waits for are there and its conditions hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treadle.abs.machine.code import Env, TaskWait
from treadle.abs.machine.values import Fut

if TYPE_CHECKING:
    from treadle.abs.machine.machine import MacroStep


def holds(waiting: TaskWait, run: MacroStep, env: Env) -> bool:
    """Whether a guard lets its task go on."""
    for claim in waiting.claims:
        future = claim(run, env)
        if future is None:
            raise run.throw("NullPointerException")
        assert isinstance(future, Fut)
        if future not in run.state.futures:
            return False
    return all(run.truth(condition(run, env)) for condition in waiting.conditions)
