"""Targets as objects: read, computed and written through the hooks, in Python's order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.threads_instrument.passthrough import HOOKS
from treadle.threads.instrument.places import derived_hooks


def test_an_augmentation_writes_what_was_read_before_its_operand_was_worked_out() -> None:
    owner = SimpleNamespace(x=1)
    place = derived_hooks(HOOKS)["_treadle_attribute_place"](owner, "x").loaded()
    owner.x = 100  # what the operand does comes too late, as in `o.x += f()`
    place.augment("iadd", 5)
    assert owner.x == 6


def test_a_place_of_a_global_is_written_by_assignment() -> None:
    variables: dict[str, Any] = {"__name__": "program", "x": 1}
    place = derived_hooks(HOOKS)["_treadle_global_place"](variables, "x")
    place.value = place.value + 1
    assert variables["x"] == 2


def test_a_named_expression_of_a_global_is_its_value() -> None:
    variables: dict[str, Any] = {"__name__": "program"}
    assert derived_hooks(HOOKS)["_treadle_named_global"](7, variables, "x") == 7
    assert variables["x"] == 7


def test_a_definition_of_a_shared_name_is_announced_and_stays_itself() -> None:
    told: list[str] = []
    hooks = derived_hooks({**HOOKS, "_treadle_cell_write": told.append})
    assert hooks["_treadle_define_cell"]("f.<locals>.g")(len) is len
    assert told == ["f.<locals>.g"]
