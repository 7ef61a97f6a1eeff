"""`complete` against brute force: whatever path small inputs take through a random program has its test."""

from __future__ import annotations

import importlib
import itertools
import random
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import treadle

_SMALL = range(-4, 5)


def random_program(chance: random.Random) -> str:
    """Conditions, a bounded loop and exceptions over two ints."""
    lines = ["def f(a: int, b: int) -> int:", "    n = 0"]

    def term() -> str:
        return chance.choice(["a", "b", "n", "a + b", "a - b", "2 * a", str(chance.randint(-3, 3))])

    def block(indent: str, depth: int) -> None:
        for _ in range(chance.randint(1, 2)):
            kind = chance.choice(["if", "if", "while", "set", "raise"]) if depth else "set"
            if kind == "if":
                lines.append(f"{indent}if {term()} {chance.choice(['<', '==', '>='])} {term()}:")
                block(f"{indent}    ", depth - 1)
            elif kind == "while":
                lines.append(f"{indent}i = 0")
                lines.append(f"{indent}while i < {chance.choice('ab')} and i < 3:")
                lines.append(f"{indent}    i += 1")
                block(f"{indent}    ", 0)
            elif kind == "raise":
                lines.append(f"{indent}if {term()} > {chance.randint(2, 5)}:")
                lines.append(f"{indent}    raise ValueError(n)")
            else:
                lines.append(f"{indent}n += {chance.choice(['1', 'a', 'b', '2 * b'])}")

    block("    ", 2)
    return "\n".join([*lines, "    return n", ""])


def path_of(function: Callable[..., Any], arguments: tuple[int, ...]) -> tuple[int, ...]:
    """The lines that a call runs, in order."""
    met: list[int] = []

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        if frame.f_code is function.__code__ and event == "line":
            met.append(frame.f_lineno)
        return trace

    sys.settrace(trace)
    try:
        function(*arguments)
    except ValueError:
        pass
    finally:
        sys.settrace(None)
    return tuple(met)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_every_path_of_small_inputs_has_its_test(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"brute_{seed}"
    source = random_program(random.Random(seed))
    Path(f"{name}.py").write_text(source)
    function = importlib.import_module(name).f
    suite = treadle.unit(f"{name}:f", k=12, write_file=False, probe=False)
    tested = {path_of(function, (case.arguments["a"], case.arguments["b"])) for case in suite.cases}
    taken = {path_of(function, given) for given in itertools.product(_SMALL, repeat=2)}
    if suite.complete:
        assert taken <= tested, source
    else:
        # a branch that no input takes withdraws the claim; nothing else may in such a program
        assert suite.coverage.unreached or suite.cut, source
        assert taken <= tested or suite.cut, source
