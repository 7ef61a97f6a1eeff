"""Methods of str on unknown strings: strip, split, lower, rfind, padding and their like.

Most are functions that the expression language has (`symbolic.text`), and need no branch. What gives a list branches
on how many parts there are, bounded like a loop; so does what counts. A few are summaries of cases with a guard, like
those of a stub file: the first case is most often that there is nothing to change, the last that values are picked for
the real method, so that what the code does with the result is covered, if not every way to get it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr import text
from treadle.symbolic.expr.terms import Expr, Value
from treadle.symbolic.path import BoundReached
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.kinds import number_kind

# Padding is written out character by character; wider fields pick values.
WIDEST = 24

Method = Callable[..., Any]


def _rest(s: Value, start: Value) -> Value:
    """s[start:]"""
    return x.substr(s, start, x.sub(x.length(s), start))


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


# --- both ends -------------------------------------------------------------------------------------------


def _strip(sides: str) -> Method:
    def method(vm: VM, s: Value, chars: str | None = None) -> Any:
        return s if chars == "" else text.strip(s, chars or "", sides)

    return method


# --- looking for the last one ----------------------------------------------------------------------------


def _rfind(vm: VM, s: Value, part: str) -> Any:
    return x.ite(x.contains(s, part), text.last_place(s, part), -1)


def _rindex(vm: VM, s: Value, part: str) -> Any:
    if not vm.decide(x.contains(s, part)):
        raise vm.error(ValueError, "substring not found")
    return text.last_place(s, part)


def _partition(vm: VM, s: Value, separator: str) -> Any:
    if not vm.decide(x.contains(s, separator)):
        return (s, "", "")
    return (text.parted(s, separator, "before"), separator, text.parted(s, separator, "after"))


def _rpartition(vm: VM, s: Value, separator: str) -> Any:
    if not vm.decide(x.contains(s, separator)):
        return ("", "", s)
    return (text.parted(s, separator, "before last"), separator, text.parted(s, separator, "after last"))


# --- taking apart ----------------------------------------------------------------------------------------


def _split(vm: VM, s: Value, sep: str | None = None, maxsplit: int = -1) -> Any:
    if sep is None:
        return _words(vm, s, maxsplit)
    parts: list[Value] = []
    while len(parts) != maxsplit and vm.decide(x.contains(s, sep)):
        _bounded(vm, len(parts) + 1)
        parts.append(text.parted(s, sep, "before"))
        s = text.parted(s, sep, "after")
    return vm.new_list([*parts, s])


def _words(vm: VM, s: Value, maxsplit: int) -> Any:
    parts: list[Value] = []
    while vm.decide(x.ne(text.first_word(s), "")):
        if len(parts) == maxsplit:
            parts.append(text.strip(s, "", "l"))
            break
        _bounded(vm, len(parts))
        parts.append(text.first_word(s))
        s = text.other_words(s)
    return vm.new_list(parts)


def _rsplit(vm: VM, s: Value, sep: str | None = None, maxsplit: int = -1) -> Any:
    if sep is None or maxsplit < 0:
        return _split(vm, s, sep, maxsplit) if maxsplit < 0 else NotImplemented
    parts: list[Value] = []
    while len(parts) != maxsplit and vm.decide(x.contains(s, sep)):
        _bounded(vm, len(parts) + 1)
        parts.insert(0, text.parted(s, sep, "after last"))
        s = text.parted(s, sep, "before last")
    return vm.new_list([s, *parts])


def _bounded(vm: VM, rounds: int) -> None:
    """As many separators as rounds of a loop: one part more, so that a pair exists even with k = 1."""
    if rounds > vm.k:
        raise BoundReached("loop", vm.path.place)


def _count(vm: VM, s: Value, part: str) -> Any:
    found = 0
    while vm.decide(x.contains(s, part)):
        found += 1
        _bounded(vm, found)
        s = text.parted(s, part, "after")
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
    match = _SPEC.fullmatch(spec)
    if match is None or not isinstance(value, Expr):
        return NotImplemented
    fill, side, zero, width, kind = match.groups()
    is_int = number_kind(value) == "int" and value.sort is x.INT
    if not (is_int or value.sort is x.STR) or (kind == "d") > is_int or (kind == "s") > (not is_int):
        return NotImplemented
    size = int(width or 0)
    if size > WIDEST or (zero and (side or not is_int)):
        return NotImplemented
    plain = x.int_to_str(value) if is_int else value
    if zero:
        return zero_filled(plain, size)
    missing = padding(size, plain, fill or " ")
    to_the_right = side == ">" or (side is None and is_int)
    return x.concat(missing, plain) if to_the_right else x.concat(plain, missing)


# --- which calls are answered here -------------------------------------------------------------------------


_TITLES = ("title", "capitalize", "swapcase")


def _recased(name: str) -> Method:
    return lambda vm, s: text.recased(s, name)


def _text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _characters(chars: Any = None) -> bool:
    return chars is None or isinstance(chars, str)


def _parts(sep: Any = None, maxsplit: Any = -1) -> bool:
    return (sep is None or _text(sep)) and type(maxsplit) is int


def _width(value: Any) -> bool:
    return type(value) is int and value <= WIDEST


METHODS: dict[str, tuple[Method, Callable[..., bool]]] = {
    "strip": (_strip("lr"), _characters),
    "lstrip": (_strip("l"), _characters),
    "rstrip": (_strip("r"), _characters),
    "rfind": (_rfind, lambda part: _text(part)),
    "rindex": (_rindex, lambda part: _text(part)),
    "partition": (_partition, lambda separator: _text(separator)),
    "rpartition": (_rpartition, lambda separator: _text(separator)),
    "split": (_split, _parts),
    "rsplit": (_rsplit, _parts),
    "count": (_count, lambda part: _text(part)),
    **{name: (_recased(name), lambda: True) for name in ("lower", "upper", "casefold", *_TITLES)},
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


def answered(vm: VM, s: Value, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    """The result of a method of an unknown string, or NotImplemented."""
    found = METHODS.get(name)
    if found is None or not isinstance(s, Expr):
        return NotImplemented
    method, fits = found
    values, pairs = [vm.force(a) for a in args], {k: vm.force(v) for k, v in named.items()}
    try:
        if not fits(*values, **pairs):
            return NotImplemented
    except TypeError:
        return NotImplemented  # the real method complains
    return method(vm, s, *values, **pairs)
