"""`complete` against brute force: whatever path small inputs take through a random program has its test."""

from __future__ import annotations

import copy
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
from treadle.symbolic.testcase import CaseObject, TestCase

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


# Values of each type that are few, and yet take most ways: what is enumerated.
_DOMAINS: dict[str, list[Any]] = {
    "int": [*range(-3, 5)],
    "bool": [False, True],
    "str": ["", "a", "b", "ab", "ba", "aa", "aab", " a", "1", "x"],
    "list[int]": [None, [], [0], [1], [-1], [1, 1], [2, 1], [0, 2], [1, 0, 2]],
    "dict[str, int]": [None, {}, {"a": 0}, {"a": 2}, {"b": 1}, {"a": 1, "b": 1}],
    "int | None": [None, -1, 0, 1, 2],
    "tuple[int, str]": [(0, ""), (1, "a"), (-1, "b"), (1, "ab")],
}
_NUMBERS = {
    "int": ["{0}", "{0} % 3", "{0} // 2", "abs({0})", "min({0}, 2)", "-{0}"],
    "bool": ["int({0})"],
    "str": ["len({0})", "{0}.find('a')", "len({0}.strip())", "len({0} + 'ab')"],
    "list[int]": ["len({0})", "{0}[0]", "{0}[-1]", "len({0}[1:])"],
    "dict[str, int]": ["len({0})", "{0}['a']", "{0}.get('b', 2)"],
    "int | None": ["({0} or 2)", "{0} + 1"],
    "tuple[int, str]": ["{0}[0]", "len({0}[1])"],
}
_QUESTIONS = {
    "int": ["{0} in (1, 3)", "not {0}", "-1 < {0} < 3"],
    "bool": ["{0}", "not {0}"],
    "str": [
        "'a' in {0}",
        "{0}.startswith('a')",
        "{0}.endswith('b')",
        "{0} == 'ab'",
        "{0}[1:] == 'b'",
        "{0}.upper() == 'A'",
    ],
    "list[int]": ["{0}", "1 in {0}", "{0} == [1]", "{0}[0] == {0}[-1]"],
    "dict[str, int]": ["'a' in {0}", "{0}.get('b') is None", "not {0}"],
    "int | None": ["{0} is None", "{0}", "{0} == 1"],
    "tuple[int, str]": ["{0}[0] > 0", "{0}[1] == 'ab'", "{0} == (1, 'a')"],
}
_CHANGES = {
    "int": ["{0} += 1", "{0} = {0} * 2"],
    "str": ["{0} = {0} + 'b'", "{0} = {0}[1:]", "{0} = {0}.replace('a', 'b')"],
    "list[int]": ["{0}.append(1)", "{0}[0] = 2", "{0} = {0}[1:]", "{0}.pop()"],
    "dict[str, int]": ["{0}['a'] = 1", "{0}.pop('b', None)", "del {0}['a']"],
    "int | None": ["{0} = {0} or 3"],
}


def random_typed_program(chance: random.Random) -> tuple[str, list[str]]:
    """Conditions, changes and exceptions over two parameters of any of the types; the types with it."""
    kinds = [chance.choice(list(_DOMAINS)) for _ in range(2)]
    given = dict(zip("pq", kinds, strict=True))
    lines = [f"def f(p: {kinds[0]}, q: {kinds[1]}) -> object:"]

    def some(table: dict[str, list[str]]) -> str:
        name = chance.choice([n for n in given if given[n] in table] or ["p"])
        return chance.choice(table.get(given[name], ["{0} = {0}"])).format(name)

    def question() -> str:
        if chance.random() < 0.5:
            return some(_QUESTIONS)
        other = some(_NUMBERS) if chance.random() < 0.4 else str(chance.randint(-1, 3))
        return f"{some(_NUMBERS)} {chance.choice(['<', '==', '>=', '!='])} {other}"

    def block(indent: str, depth: int) -> None:
        for _ in range(chance.randint(1, 2)):
            kind = chance.choice(["if", "if", "else", "try", "change"]) if depth else chance.choice(["change", "end"])
            if kind in ("if", "else"):
                both = chance.choice(["", f" and {question()}", f" or {question()}"])
                lines.append(f"{indent}if {question()}{both}:")
                block(f"{indent}    ", depth - 1)
                if kind == "else":
                    lines.append(f"{indent}else:")
                    block(f"{indent}    ", depth - 1)
            elif kind == "try":
                lines.extend([f"{indent}try:", f"{indent}    m = {some(_NUMBERS)}"])
                lines.extend([f"{indent}except (IndexError, KeyError, TypeError):", f"{indent}    m = 7"])
            elif kind == "change":
                lines.append(f"{indent}{some(_CHANGES)}")
            else:
                lines.append(f"{indent}{chance.choice(['return 1', 'raise ValueError', f'return {question()}'])}")
                return

    block("    ", 2)
    lines.append(f"    return {question()}")
    return "\n".join([*lines, ""]), kinds


def ways_of(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The lines that a call runs, how it ends, and what it says if that is yes or no."""
    ended: list[Any] = []

    def called(*given: Any) -> None:
        try:
            result = function(*given)
            ended.append(result if isinstance(result, bool) else "returned")
        except Exception as error:
            ended.append(type(error).__name__)

    return path_of(called, copy.deepcopy(arguments), function.__code__), *ended


def path_of(
    function: Callable[..., Any], arguments: tuple[Any, ...], code: types.CodeType | None = None
) -> tuple[int, ...]:
    """The lines that a call runs, in order."""
    code = code or function.__code__
    met: list[int] = []

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        if frame.f_code is code and event == "line":
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


def missed_by(name: str, seed: int) -> tuple[str, set[tuple[Any, ...]]] | None:
    """A random program and the ways of small inputs that no test takes; None where the suite claims nothing."""
    source, kinds = random_typed_program(random.Random(seed))
    Path(f"{name}.py").write_text(source)
    function = importlib.import_module(name).f
    suite = treadle.unit(f"{name}:f", write_file=False, probe=False, seconds=60)
    if not suite.complete or suite.cut.total():
        return None
    everything = dict(zip(suite.names, suite.cases, strict=True)).values()
    tested = {ways_of(function, plainly(case)) for case in everything}
    taken = {ways_of(function, given) for given in itertools.product(*(_DOMAINS[kind] for kind in kinds))}
    return source, taken - tested


def plainly(case: TestCase) -> tuple[Any, ...]:
    """The inputs of a case, objects that are the same being one."""
    made: dict[int, Any] = {}
    found: list[Any] = []
    for value in (case.arguments[name] for name in "pq"):
        if isinstance(value, CaseObject):
            value = made.setdefault(value.number, dict(value.entries) if value.kind == "dict" else list(value.items))
        found.append(value)
    return tuple(found)


# Seeds of programs whose suites claim every path: a third of all.
_CLAIMING = (1, 3, 6, 11)


@pytest.mark.slow
@pytest.mark.parametrize("seed", _CLAIMING)
def test_every_way_of_small_inputs_of_many_types_has_its_test(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = missed_by(f"typed_{seed}", seed)
    assert found is not None, "nothing is claimed"
    assert not found[1], found[0]
