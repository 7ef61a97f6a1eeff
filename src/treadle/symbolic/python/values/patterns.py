"""Regular expressions on unknown texts: `match`, `fullmatch` and `search` of a known pattern, and what they find.

Whether there is a match is a condition like any other, and a group is an expression over the text
(`expr.patterns`). A pattern that z3 is told of in part only (look-around, back references) is asked of picked
texts instead, some of which match: such paths are sampled.
"""

from __future__ import annotations

import re
from typing import Any

from treadle.symbolic.expr import patterns
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.calls import models_patterns as models
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.matching import matching
from treadle.symbolic.python.values.table import stands_for
from treadle.symbolic.python.values.values import PyValue
from treadle.symbolic.solve.regular import always_set, is_exact

ASKED = ("match", "fullmatch", "search")
NOT_MEANT: Any = object()


def ask(vm: VM, pattern: re.Pattern[Any], how: str, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    """pattern.match(text) and its like; NOT_MEANT for what the real method is to be called."""
    text = vm.force(args[0]) if args and isinstance(pattern.pattern, str) else None
    if how not in ASKED or len(args) != 1 or named or not isinstance(text, Expr) or text.sort is not x.STR:
        return NOT_MEANT
    if not is_exact(pattern.pattern, pattern.flags, how):
        vm.path.words = tuple(dict.fromkeys((*matching(pattern.pattern, pattern.flags)[:2], *vm.path.words)))
        return NOT_MEANT
    if not vm.decide(patterns.matched(text, pattern.pattern, pattern.flags, how)):
        return None
    return vm.call(models.PatternMatch, pattern, text, how)


def _asked(vm: VM, match: PyValue, group: Any) -> tuple[Any, str, int, str, int]:
    """The arguments of the nodes of `expr.patterns`."""
    held: dict[str, Any] = vm.force(match).fields
    pattern: re.Pattern[str] = held["re"]
    group = vm.force(group)
    if isinstance(group, Expr):
        [group] = vm.path.pick([group], "a group of a match")
    try:
        number = pattern.groupindex[group] if isinstance(group, str) else list(range(pattern.groups + 1)).index(group)
    except (KeyError, ValueError):
        raise vm.host_error(IndexError("no such group")) from None
    return held["string"], pattern.pattern, pattern.flags, held["how"], number


def _is_set(vm: VM, asked: tuple[Any, str, int, str, int]) -> bool:
    return asked[4] in always_set(asked[1], asked[2]) or vm.decide(patterns.has_group(*asked))


@stands_for(models.unknown_group)
def _group(vm: VM, match: PyValue, group: PyValue) -> PyValue:
    asked = _asked(vm, match, group)
    return patterns.group(*asked) if _is_set(vm, asked) else None


@stands_for(models.unknown_start)
def _start(vm: VM, match: PyValue, group: PyValue) -> PyValue:
    asked = _asked(vm, match, group)
    if asked[3] != "search" and asked[4] == 0:
        return 0
    return patterns.group_start(*asked) if _is_set(vm, asked) else -1


@stands_for(models.not_followed)
def _not_followed(vm: VM, match: PyValue, what: PyValue) -> PyValue:
    raise CannotFollow(f"'{what}' of a match with an unknown text")
