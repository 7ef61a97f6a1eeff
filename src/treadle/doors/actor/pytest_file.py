"""A pytest file from the cases of a method: each test replays one order of tasks and asserts the final fields.

The file names the model relative to itself, so both can move together; values are literals, nothing is computed.
"""

from __future__ import annotations

import os
import pprint
from pathlib import Path
from typing import Any

from treadle.abs.explore.cases import ActorCase

_HEAD = '''"""{title}

Written by: treadle actor {target}
Each test starts the model in one state, runs its tasks in one order and looks at all fields afterwards.
"""

from pathlib import Path

from treadle.actors import replay

MODEL = Path(__file__).parent / {model!r}
'''


def pytest_file(target: str, cases: list[ActorCase], model: Path, where: Path) -> str:
    """The text of the file."""
    _, _, name = target.rpartition(":")
    relative = Path(os.path.relpath(model.resolve(), where.resolve().parent)).as_posix()
    parts = [_HEAD.format(title=f"Tests of {name} in {model.name}.", target=target, model=relative)]
    method = name.rpartition(".")[2]
    for number, case in enumerate(cases, 1):
        parts.append(_test(name, method, number, case))
    return "\n\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _test(name: str, method: str, number: int, case: ActorCase) -> str:
    lines = [f"def test_{method}_{number}{_suffix(case)}() -> None:"]
    lines.append(f'    """{_sentence(case)}"""')
    lines.append("    run = replay(")
    lines.append("        MODEL,")
    lines.append(f"        {name!r},")
    initial = {key: obj.as_json() for key, obj in case.initial.items()}
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


def _suffix(case: ActorCase) -> str:
    return {"deadlock": "_deadlocks", "failed": "_fails", "waiting": "_waits"}.get(case.outcome, "")


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
