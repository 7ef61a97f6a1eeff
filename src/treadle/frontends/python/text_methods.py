"""Summaries of methods of str, shipped: lower, split, rfind, padding and their like on unknown strings.

Each is a few cases with a guard, like those of a stub file. Most often the first case is that there is nothing to
change, so that the result is the string itself, and the last that values are picked for the real method: what the
code does with the result is then covered, if not every way to get it. Where the result is the one value that fulfils
a definition, it is a new unknown with the definition as an assumption (rfind); what counts or removes characters
branches on their number, bounded like a loop. White space and letters are those of ASCII.

strip() of white space and split() at every separator are not among them: their definitions cost the solver seconds at
every later question, so that less is found than with picked values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from treadle.symbolic import expr as x
from treadle.symbolic.expr import Expr, Value
from treadle.symbolic.path import Cut

if TYPE_CHECKING:
    from treadle.frontends.python.vm import VM

# Padding is written out character by character; wider fields pick values.
WIDEST = 24

Method = Callable[..., Any]


def _unknown(vm: VM, what: str, sort: x.Sort) -> Expr:
    return vm.heap.unknown(what, sort)


def _rest(s: Value, start: Value) -> Value:
    """s[start:]"""
    return x.substr(s, start, x.sub(x.length(s), start))


def _last(s: Value) -> Value:
    return x.at(s, x.sub(x.length(s), 1))


# --- nothing to change -------------------------------------------------------------------------------------


def _or_empty(s: Value, name: str) -> Value:
    return x.or_(x.eq(s, ""), x.in_class(s, name))


def _same_if(condition: Callable[[Value], Value]) -> Method:
    """A method that gives the string itself if there is nothing in it to change; else values are picked."""

    def method(vm: VM, s: Value) -> Any:
        return s if vm.decide(condition(s)) else NotImplemented

    return method


def _yes_or_no(yes: Callable[[Value], Value], no: Callable[[Value], Value]) -> Method:
    """Two cases that are certain; between them values are picked."""

    def method(vm: VM, s: Value) -> Any:
        if vm.decide(yes(s)):
            return True
        return False if vm.decide(no(s)) else NotImplemented

    return method


def _lines(vm: VM, s: Value) -> Any:
    if vm.decide(x.eq(s, "")):
        return vm.new_list([])
    return vm.new_list([s]) if vm.decide(x.in_class(s, "printable")) else NotImplemented


# --- strip of named characters ---------------------------------------------------------------------------


def _strip(left: bool, right: bool) -> Method:
    def method(vm: VM, s: Value, chars: str) -> Any:
        for wanted, test, cut in ((left, x.prefix, _without_first), (right, x.suffix, _without_last)):
            rounds = 0
            while wanted and vm.decide(x.or_(*(test(s, c) for c in dict.fromkeys(chars)))):
                rounds += 1
                if rounds > vm.k:
                    raise Cut("loop", vm.path.place)
                s = cut(s)
        return s

    return method


def _without_first(s: Value) -> Value:
    return _rest(s, 1)


def _without_last(s: Value) -> Value:
    return x.substr(s, 0, x.sub(x.length(s), 1))


# --- looking for the last one ----------------------------------------------------------------------------


def _last_place(vm: VM, s: Value, part: Value) -> Value | None:
    """Where the last occurrence of a part begins; None if there is none."""
    if not vm.decide(x.contains(s, part)):
        return None
    where = _unknown(vm, f"{_show(s)}.rfind({_show(part)})", x.INT)
    vm.path.assume(x.ge(where, 0))
    vm.path.assume(x.le(x.add(where, x.length(part)), x.length(s)))
    vm.path.assume(x.eq(x.substr(s, where, x.length(part)), part))
    vm.path.assume(x.not_(x.contains(_rest(s, x.add(where, 1)), part)))
    return where


def _show(value: Value) -> str:
    return repr(value)


def _rfind(vm: VM, s: Value, part: Any) -> Any:
    found = _last_place(vm, s, part)
    return -1 if found is None else found


def _rindex(vm: VM, s: Value, part: Any) -> Any:
    found = _last_place(vm, s, part)
    if found is None:
        raise vm.error(ValueError, "substring not found")
    return found


def _rpartition(vm: VM, s: Value, separator: Any) -> Any:
    where = _last_place(vm, s, separator)
    if where is None:
        return ("", "", s)
    return (x.substr(s, 0, where), separator, _rest(s, x.add(where, x.length(separator))))


# --- taking apart ----------------------------------------------------------------------------------------


def _split(vm: VM, s: Value, sep: Any = None, maxsplit: Any = -1) -> Any:
    if sep is None:
        if vm.decide(x.eq(s, "")):
            return vm.new_list([])
        return vm.new_list([s]) if vm.decide(x.in_class(s, "visible")) else NotImplemented
    if maxsplit == 0 or not vm.decide(x.contains(s, sep)):
        return vm.new_list([s])
    where = x.index_of(s, sep)
    return vm.new_list([x.substr(s, 0, where), _rest(s, x.add(where, x.length(sep)))])


def _rsplit(vm: VM, s: Value, sep: Any, maxsplit: Any = -1) -> Any:
    where = _last_place(vm, s, sep) if maxsplit else None
    if where is None:
        return vm.new_list([s])
    return vm.new_list([x.substr(s, 0, where), _rest(s, x.add(where, x.length(sep)))])


def _count(vm: VM, s: Value, part: Any) -> Any:
    found = 0
    while vm.decide(x.contains(s, part)):
        found += 1
        if found > vm.k:
            raise Cut("loop", vm.path.place)
        s = _rest(s, x.add(x.index_of(s, part), x.length(part)))
    return found


# --- padding ---------------------------------------------------------------------------------------------


def padding(width: Value, s: Value, fill: str) -> Value:
    """The characters that are missing from s for the width, at most WIDEST."""
    short = x.sub(width, x.length(s))
    return x.concat(*(x.ite(x.gt(short, n), fill, "") for n in range(WIDEST if isinstance(width, Expr) else width)))


def _pad(left: bool) -> Method:
    def method(vm: VM, s: Value, width: Any, fill: Any = " ") -> Any:
        missing = padding(width, s, fill)
        return x.concat(missing, s) if left else x.concat(s, missing)

    return method


def _center(vm: VM, s: Value, width: Any, fill: Any = " ") -> Any:
    """What is left over goes to the left if the width is odd, else to the right."""
    short = x.sub(width, x.length(s))
    half = x.add(x.floordiv(short, 2), x.mul(x.mod(short, 2), x.mod(width, 2)))
    before = x.concat(*(x.ite(x.gt(half, n), fill, "") for n in range(width)))
    other = x.sub(short, half)
    return x.concat(before, s, *(x.ite(x.gt(other, n), fill, "") for n in range(width)))


def zero_filled(s: Value, width: int) -> Value:
    """s.zfill(width): after a sign."""
    signed = x.or_(x.prefix(s, "-"), x.prefix(s, "+"))
    sign = x.ite(signed, x.at(s, 0), "")
    digits = x.ite(signed, _rest(s, 1), s)
    return x.concat(sign, padding(width, s, "0"), digits)


def _zfill(vm: VM, s: Value, width: Any) -> Any:
    return zero_filled(s, width)


_SPEC = re.compile(r"(?:(.)?([<>]))?(0)?(\d+)?([ds])?")


def formatted(vm: VM, value: Any, spec: str) -> Any:
    """format(value, spec) for widths and zeros; NotImplemented for what else a spec can say."""
    from treadle.frontends.python import operators

    match = _SPEC.fullmatch(spec)
    if match is None or not isinstance(value, Expr):
        return NotImplemented
    fill, side, zero, width, kind = match.groups()
    is_int = operators.number_kind(value) == "int" and value.sort is x.INT
    if not (is_int or value.sort is x.STR) or (kind == "d") > is_int or (kind == "s") > (not is_int):
        return NotImplemented
    size = int(width or 0)
    if size > WIDEST or (zero and (side or not is_int)):
        return NotImplemented
    text = x.int_to_str(value) if is_int else value
    if zero:
        return zero_filled(text, size)
    missing = padding(size, text, fill or " ")
    to_the_right = side == ">" or (side is None and is_int)
    return x.concat(missing, text) if to_the_right else x.concat(text, missing)


# --- which calls are answered here -------------------------------------------------------------------------


def _text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _few(maxsplit: Any) -> bool:
    """Parts of an unknown number are picked: each would be one more string for the solver to take apart."""
    return type(maxsplit) is int and maxsplit in (0, 1)


def _width(value: Any) -> bool:
    return type(value) is int and value <= WIDEST


METHODS: dict[str, tuple[Method, Callable[..., bool]]] = {
    "strip": (_strip(True, True), _text),
    "lstrip": (_strip(True, False), _text),
    "rstrip": (_strip(False, True), _text),
    "rfind": (_rfind, lambda part: _text(part)),
    "rindex": (_rindex, lambda part: _text(part)),
    "rpartition": (_rpartition, lambda separator: _text(separator)),
    "split": (_split, lambda sep=None, maxsplit=-1: sep is None or (_text(sep) and _few(maxsplit))),
    "rsplit": (_rsplit, lambda sep=None, maxsplit=-1: _text(sep) and _few(maxsplit)),
    "count": (_count, lambda part: _text(part)),
    "lower": (_same_if(lambda s: _or_empty(s, "not upper")), lambda: True),
    "casefold": (_same_if(lambda s: _or_empty(s, "not upper")), lambda: True),
    "upper": (_same_if(lambda s: _or_empty(s, "not lower")), lambda: True),
    "expandtabs": (_same_if(lambda s: x.not_(x.contains(s, "\t"))), lambda: True),
    "splitlines": (_lines, lambda keepends=False: keepends is False),
    "isascii": (_yes_or_no(lambda s: _or_empty(s, "ascii"), lambda s: False), lambda: True),
    "isprintable": (_yes_or_no(lambda s: _or_empty(s, "printable"), lambda s: False), lambda: True),
    "islower": (_yes_or_no(lambda s: x.in_class(s, "lower"), lambda s: _or_empty(s, "not lower")), lambda: True),
    "isupper": (_yes_or_no(lambda s: x.in_class(s, "upper"), lambda s: _or_empty(s, "not upper")), lambda: True),
    "isidentifier": (
        _yes_or_no(lambda s: x.in_class(s, "alpha"), lambda s: x.or_(x.eq(s, ""), x.in_class(x.at(s, 0), "digit"))),
        lambda: True,
    ),
    "ljust": (_pad(False), lambda width, fill=" ": _width(width) and _text(fill) and len(fill) == 1),
    "rjust": (_pad(True), lambda width, fill=" ": _width(width) and _text(fill) and len(fill) == 1),
    "center": (_center, lambda width, fill=" ": _width(width) and _text(fill) and len(fill) == 1),
    "zfill": (_zfill, lambda width: _width(width)),
}


# A part of a string picks values for the other methods: definitions upon definitions take the solver minutes.
_CHEAP = ("ljust", "rjust", "center", "zfill", "lower", "upper", "casefold")


def answered(vm: VM, s: Value, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    """The result of a method of an unknown string, or NotImplemented."""
    found = METHODS.get(name)
    if found is None or not isinstance(s, Expr) or (s.op != "var" and name not in _CHEAP):
        return NotImplemented
    method, fits = found
    values, pairs = [vm.force(a) for a in args], {k: vm.force(v) for k, v in named.items()}
    try:
        if not fits(*values, **pairs):
            return NotImplemented
    except TypeError:
        return NotImplemented  # the real method complains
    return method(vm, s, *values, **pairs)
