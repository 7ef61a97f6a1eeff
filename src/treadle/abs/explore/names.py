"""How objects and unknowns are called when they are told: s0 existed at the start, r1 was made, s0.n is its field."""

from __future__ import annotations

from treadle.abs.machine.state import State
from treadle.abs.machine.values import ObjectRef, Value, show
from treadle.symbolic.expr.meaning import substitute
from treadle.symbolic.expr.show import show as show_expression
from treadle.symbolic.expr.terms import Expr, var


def object_names(state: State) -> dict[ObjectRef, str]:
    """s0, s1, ... for the objects that exist at the start, r1, r2, ... for those made later, as they appear."""
    names: dict[ObjectRef, str] = {}
    assumed = made = 0
    for ref in state.fields:
        if ref.name == "main":
            names[ref] = "main"
        elif ref.assumed:
            names[ref] = f"s{assumed}"
            assumed += 1
        else:
            made += 1
            names[ref] = f"r{made}"
    return names


def renamed(value: Value, state: State, names: dict[ObjectRef, str]) -> Value:
    """An expression with `s0.b.r` written as the field of the object that s0.b turned out to be."""
    if not isinstance(value, Expr):
        return value
    changed = {}
    for unknown in value.vars:
        name = str(unknown.args[0])
        better = renamed_name(name, state, names)
        if better != name:
            changed[unknown] = var(better, unknown.sort)
    return substitute(value, changed) if changed else value


def renamed_name(name: str, state: State, names: dict[ObjectRef, str]) -> str:
    owner, dot, field = name.rpartition(".")
    if dot:
        for ref in state.assumed:
            if ref.name == owner:
                return f"{names[ref]}.{field}"
    return name


def decided_since(before: State, after: State) -> list[str]:
    """What a step has decided about the unknown inputs, in words."""
    names = object_names(after)
    told = sorted(show_expression(renamed(c, after, names)) for c in after.path.known - before.path.known)
    for unknown, value in after.bindings.items():
        if unknown not in before.bindings and not unknown.name.startswith("="):
            told.append(f"{renamed_name(unknown.name, after, names)} = {show(value, names)}")
    return told
