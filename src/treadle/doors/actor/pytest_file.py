"""A pytest file from the cases of a method: each test replays one order of tasks and asserts the final fields.

Values are literals, nothing is computed.
"""

from __future__ import annotations

import pprint
from pathlib import Path
from typing import Any

from treadle.abs.explore.cases import ActorCase
from treadle.doors.actor.case_trail import trail_of_case
from treadle.report.pytest_file import PytestFile

_ABOUT = """\
Written by: treadle actor {target}
Each test starts the model in one state, runs its tasks in one order and looks at all fields afterwards."""


def cases_file(target: str, cases: list[ActorCase], model: Path) -> PytestFile:
    """The file with a test for each case."""
    name = target.rpartition(":")[2]
    made = PytestFile(
        title=f"Tests of {name} in {model.name}.",
        about=_ABOUT.format(target=target),
        imports=["from treadle.actors import replay"],
        files={"MODEL": model},
    )
    for number, case in enumerate(cases, 1):
        test = f"test_{name.rpartition('.')[2]}_{number}{_SUFFIX.get(case.outcome, '')}"
        made.tests[test] = _test(test, name, case, str(trail_of_case(target, case)))
    return made


def _test(test: str, name: str, case: ActorCase, trail: str) -> str:
    lines = [f"# {trail}", f"def {test}() -> None:"]
    lines.append(f'    """{_sentence(case)}"""')
    lines.append("    run = replay(")
    lines.append("        MODEL,")
    lines.append(f"        {name!r},")
    initial = {key: obj.to_json() for key, obj in case.initial.items()}
    lines.append(_argument("initial", initial))
    lines.append(_argument("arguments", case.arguments))
    if case.queue:
        lines.append(_argument("queue", case.queue))
    lines.append(_argument("order", case.order))
    lines.append("    )")
    lines.append(f"    assert run.outcome == {case.outcome!r}")
    if case.result is not None:
        lines.append(f"    assert run.result == {case.result!r}")
    if case.failures:
        lines.append(f"    assert run.failures == {case.failures!r}")
    if case.outcome == "deadlock":
        lines.append("    assert run.deadlocked")
    lines.append(_statement("    assert run.final == ", {key: obj.fields for key, obj in case.final.items()}))
    return "\n".join(lines)


_SUFFIX = {"deadlock": "_deadlocks", "failed": "_fails", "waiting": "_waits"}


def _sentence(case: ActorCase) -> str:
    text = (" and ".join(case.condition) or "any input").replace("\\", "\\\\").replace('"""', "'''")
    text = text if len(text) <= 90 else text[:87] + "..."
    return text + (" " if text.endswith('"') else "")


def _argument(name: str, value: Any) -> str:
    return _statement(f"        {name}=", value) + ","


def _statement(prefix: str, value: Any) -> str:
    indent = " " * (len(prefix) - len(prefix.lstrip()))
    text = pprint.pformat(value, width=max(40, 118 - len(prefix)), sort_dicts=False, compact=True)
    first, *rest = text.splitlines()
    return "\n".join([prefix + first, *(indent + " " * (len(prefix) - len(indent)) + line for line in rest)])
