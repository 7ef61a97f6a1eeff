"""Methods that dataclasses generate are rewritten when their source can be told from their code."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType
from typing import Any

import pytest

from treadle.threads.instrument.chunks import plain_form
from treadle.threads.instrument.generated import rewritten_dataclass_method


@dataclass(order=True, frozen=True)
class Point:
    x: int
    y: int


def code_of(cls: type, method: str) -> CodeType:
    function: Any = vars(cls)[method]
    return getattr(function, "__wrapped__", function).__code__  # type: ignore[no-any-return]


@pytest.mark.parametrize("method", ["__eq__", "__lt__", "__ge__", "__hash__", "__repr__"])
def test_a_generated_method_gets_hooks_and_keeps_its_plain_form(method: str) -> None:
    code = code_of(Point, method)
    found = rewritten_dataclass_method(code)
    assert found is not None
    assert any(name.startswith("_treadle_") for name in found.co_names)
    assert plain_form(found) is code


def test_a_method_that_only_looks_generated_is_left_alone() -> None:
    space: dict[str, Any] = {}
    exec("def __eq__(self, other):\n  return self.x == other.y", space)
    own = space["__eq__"].__code__
    assert own.co_filename == "<string>"
    assert rewritten_dataclass_method(own) is None
