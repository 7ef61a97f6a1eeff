"""The table of built-ins: one meaning for each, under the name that Python has; a misuse fails as in Python."""

from __future__ import annotations

import inspect

import pytest

from treadle.symbolic.expr import terms as x
from treadle.symbolic.heap.objects import LazyHeap
from treadle.symbolic.ir.machine import Raised
from treadle.symbolic.path import SymbolicPath
from treadle.symbolic.python.machine.python_machine import PythonMachine
from treadle.symbolic.python.values import table
from treadle.symbolic.solve.solver import Solver


@pytest.fixture
def vm() -> PythonMachine:
    path = SymbolicPath(Solver())
    return PythonMachine(path, LazyHeap(path), 2)


def test_every_method_is_one_that_python_has() -> None:
    # int.is_integer came with Python 3.12, for bool as well
    newer = {(int, "is_integer"), (bool, "is_integer")}
    found = {(kind, name) for kind, methods in table.METHODS.items() for name in methods}
    without = {(kind, name) for kind, name in found if not hasattr(kind, name) and kind is not object}
    assert without <= newer
    assert {(str, "zfill"), (dict, "setdefault"), (list, "append"), (set, "union")} <= found


def test_a_built_in_has_one_meaning() -> None:
    with pytest.raises(ValueError, match=r"str\.zfill has a meaning already"):
        table.method(str, "zfill")(lambda vm, s, width: s)
    with pytest.raises(ValueError, match="has a meaning already"):
        table.stands_for(len)(lambda vm, value: 0)


def test_a_new_built_in_is_one_function(vm: PythonMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(table.METHODS, str, dict(table.METHODS[str]))
    table.method(str, "translate", accepts=lambda mapping: True)(lambda vm, s, mapping: ("translated", s))
    unknown = vm.heap.unknown("s", x.STR)
    assert vm.call(vm.attribute(unknown, "translate"), {}) == ("translated", unknown)


@pytest.mark.parametrize(
    ("kind", "name", "args"),
    [(dict, "get", []), (list, "append", [1, 2]), (list, "sort", [1]), (set, "add", []), (dict, "pop", [1, 2, 3])],
)
def test_a_wrong_number_of_arguments_fails_in_pythons_words(
    vm: PythonMachine, kind: type, name: str, args: list[int]
) -> None:
    obj = vm.call(kind)
    with pytest.raises(Raised) as raised:
        vm.call(vm.attribute(obj, name), *args)
    with pytest.raises(TypeError) as real:
        getattr(kind(), name)(*args)
    assert raised.value.value.cls is TypeError
    assert raised.value.value.fields["args"] == real.value.args


def test_a_signature_is_looked_up_once_per_meaning(vm: PythonMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    obj = vm.call(dict)
    vm.call(vm.attribute(obj, "get"), 1)
    monkeypatch.setattr(inspect, "signature", None)
    assert vm.call(vm.attribute(obj, "get"), 1) is None
