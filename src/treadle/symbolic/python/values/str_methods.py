"""The methods of str on strings with something unknown in them or in their arguments.

Most are functions that the expression language has (`symbolic.expr`), and need no branch. The character classes
(isdigit, ...) are exact over ASCII, which is what written tests use. What gives a list branches on how many parts there
are, bounded like a loop; so does what counts. A few are summaries of cases with a guard, like those of a stub file: the
first case is most often that there is nothing to change, and NotImplemented means that values are picked for the real
method, so that what the code does with the result is covered, if not every way to get it.

`accepts` says which arguments a meaning covers; all others go to the real method with picked values.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr import text
from treadle.symbolic.expr.terms import Expr, Integer, Text, Truth
from treadle.symbolic.path import BoundReached, Limit
from treadle.symbolic.python.machine.classes import own_method
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.kinds import exemplar, is_int, is_string, number_kind
from treadle.symbolic.python.values.strings import bound, repr_of, separated, slice_of, text_of
from treadle.symbolic.python.values.table import method
from treadle.symbolic.python.values.values import PyValue, SliceValue

# Padding is written out character by character; wider fields pick values.
WIDEST = 24

Condition = Callable[[Text], Truth]


# --- which arguments are answered here ---------------------------------------------------------------------


def _nothing() -> bool:
    return True


def _known_text(value: PyValue) -> bool:
    return isinstance(value, str) and value != ""


def _characters(chars: PyValue = None) -> bool:
    return chars is None or isinstance(chars, str)


def _separator(sep: PyValue = None, maxsplit: PyValue = -1) -> bool:
    return (sep is None or _known_text(sep)) and type(maxsplit) is int


def _width(width: PyValue) -> bool:
    return type(width) is int and width <= WIDEST


def _width_and_fill(width: Any, fill: Any = " ") -> bool:
    return _width(width) and _known_text(fill) and len(fill) == 1


def _affixes(affix: PyValue, start: PyValue = None, stop: PyValue = None) -> bool:
    return all(map(is_string, affix if isinstance(affix, tuple) else (affix,)))


def _sought(part: PyValue, start: PyValue = None, stop: PyValue = None) -> bool:
    return is_string(part)


def _replacement(old: PyValue, new: PyValue, count: PyValue = -1) -> bool:
    return is_string(old) and is_string(new)


# --- looking for something ---------------------------------------------------------------------------------


def _within(vm: VM, s: Text, start: PyValue, stop: PyValue) -> Text | Any:
    return s if start is None and stop is None else slice_of(vm, s, SliceValue(start, stop, None))


def _affix(test: Callable[[Text, Text], Truth], s: Text, affix: Any) -> Truth:
    return x.or_(*(test(s, a) for a in affix)) if isinstance(affix, tuple) else test(s, affix)


@method(str, "startswith", accepts=_affixes)
def _startswith(vm: VM, s: Text, affix: PyValue, start: PyValue = None, stop: PyValue = None) -> PyValue:
    return _affix(x.prefix, _within(vm, s, start, stop), affix)


@method(str, "endswith", accepts=_affixes)
def _endswith(vm: VM, s: Text, affix: PyValue, start: PyValue = None, stop: PyValue = None) -> PyValue:
    return _affix(x.suffix, _within(vm, s, start, stop), affix)


@method(str, "find", accepts=_sought)
def _find(vm: VM, s: Text, part: Text, start: PyValue = None, stop: PyValue = None) -> Integer | Any:
    if stop is not None:
        return vm.call_real(str.find, [s, part, start, stop], {})
    return x.index_of(s, part, bound(vm, start, x.length(s), 0))


@method(str, "index", accepts=_sought)
def _index(vm: VM, s: Text, part: Text, start: PyValue = None, stop: PyValue = None) -> PyValue:
    found = _find(vm, s, part, start, stop)
    if vm.decide(x.lt(found, 0)):
        raise vm.error(ValueError, "substring not found")
    return found


@method(str, "rfind", accepts=_known_text)
def _rfind(vm: VM, s: Text, part: str) -> PyValue:
    return x.ite(x.contains(s, part), text.last_place(s, part), -1)


@method(str, "rindex", accepts=_known_text)
def _rindex(vm: VM, s: Text, part: str) -> PyValue:
    if not vm.decide(x.contains(s, part)):
        raise vm.error(ValueError, "substring not found")
    return text.last_place(s, part)


@method(str, "count", accepts=_known_text)
def _count(vm: VM, s: Text, part: str) -> PyValue:
    found = 0
    while vm.decide(x.contains(s, part)):
        found += 1
        _bounded(vm, found)
        s = text.parted(s, part, "after")
    return found


# --- changing it ---------------------------------------------------------------------------------------------


@method(str, "replace", accepts=_replacement)
def _replace(vm: VM, s: Text, old: Text, new: Text, count: PyValue = -1) -> PyValue:
    if count == 1:
        return x.replace_first(s, old, new)
    if count == -1 and isinstance(old, str) and old:
        return x.replace_all(s, old, new)
    return vm.call_real(str.replace, [s, old, new, count], {})


@method(str, "removeprefix", accepts=is_string)
def _removeprefix(vm: VM, s: Text, prefix: Text) -> PyValue:
    if not vm.decide(x.and_(x.prefix(s, prefix), x.gt(x.length(prefix), 0))):
        return s
    return _rest(s, x.length(prefix))


@method(str, "removesuffix", accepts=is_string)
def _removesuffix(vm: VM, s: Text, suffix: Text) -> PyValue:
    if not vm.decide(x.and_(x.suffix(s, suffix), x.gt(x.length(suffix), 0))):
        return s
    return x.substr(s, 0, x.sub(x.length(s), x.length(suffix)))


def _rest(s: Text, start: Integer) -> Text:
    """s[start:]"""
    return x.substr(s, start, x.sub(x.length(s), start))


@method(str, "strip", accepts=_characters)
def _strip(vm: VM, s: Text, chars: str | None = None, sides: str = "lr") -> PyValue:
    return s if chars == "" else text.strip(s, chars or "", sides)


@method(str, "lstrip", accepts=_characters)
def _lstrip(vm: VM, s: Text, chars: str | None = None) -> PyValue:
    return _strip(vm, s, chars, "l")


@method(str, "rstrip", accepts=_characters)
def _rstrip(vm: VM, s: Text, chars: str | None = None) -> PyValue:
    return _strip(vm, s, chars, "r")


def _register_case(name: str) -> None:
    method(str, name, accepts=_nothing)(lambda vm, s: text.recased(s, name))


for _name in ("lower", "upper", "casefold", "title", "capitalize", "swapcase"):
    _register_case(_name)


@method(str, "expandtabs", accepts=_nothing)
def _expandtabs(vm: VM, s: Text) -> PyValue:
    return s if vm.decide(x.not_(x.contains(s, "\t"))) else NotImplemented


# --- what is in it -------------------------------------------------------------------------------------------


def _register_class(characters: str, *names: str) -> None:
    method(str, *names, accepts=_nothing)(lambda vm, s: x.in_class(s, characters))


_register_class("digit", "isdigit", "isdecimal", "isnumeric")
_register_class("alpha", "isalpha")
_register_class("alnum", "isalnum")
_register_class("space", "isspace")


def _or_empty(s: Text, characters: str) -> Truth:
    return x.or_(x.eq(s, ""), x.in_class(s, characters))


def _register_cases(name: str, yes: Condition, no: Condition) -> None:
    """Two cases that are certain; between them values are picked."""

    @method(str, name, accepts=_nothing)
    def decided(vm: VM, s: Text) -> PyValue:
        if vm.decide(yes(s)):
            return True
        return False if vm.decide(no(s)) else NotImplemented


_register_cases("isascii", lambda s: _or_empty(s, "ascii"), lambda s: False)
_register_cases("isprintable", lambda s: _or_empty(s, "printable"), lambda s: False)
_register_cases("islower", lambda s: x.in_class(s, "lower"), lambda s: _or_empty(s, "not lower"))
_register_cases("isupper", lambda s: x.in_class(s, "upper"), lambda s: _or_empty(s, "not upper"))
_register_cases(
    "isidentifier",
    lambda s: x.in_class(s, "alpha"),
    lambda s: x.or_(x.eq(s, ""), x.in_class(x.at(s, 0), "digit")),
)


# --- taking apart and putting together -----------------------------------------------------------------------


@method(str, "partition", accepts=_known_text)
def _partition(vm: VM, s: Text, separator: str) -> PyValue:
    if not vm.decide(x.contains(s, separator)):
        return (s, "", "")
    return (text.parted(s, separator, "before"), separator, text.parted(s, separator, "after"))


@method(str, "rpartition", accepts=_known_text)
def _rpartition(vm: VM, s: Text, separator: str) -> PyValue:
    if not vm.decide(x.contains(s, separator)):
        return ("", "", s)
    return (text.parted(s, separator, "before last"), separator, text.parted(s, separator, "after last"))


@method(str, "split", accepts=_separator)
def _split(vm: VM, s: Text, sep: str | None = None, maxsplit: int = -1) -> PyValue:
    if sep is None:
        return _words(vm, s, maxsplit)
    parts: list[PyValue] = []
    while len(parts) != maxsplit and vm.decide(x.contains(s, sep)):
        _bounded(vm, len(parts) + 1)
        parts.append(text.parted(s, sep, "before"))
        s = text.parted(s, sep, "after")
    return vm.new_list([*parts, s])


def _words(vm: VM, s: Text, maxsplit: int) -> PyValue:
    parts: list[PyValue] = []
    while vm.decide(x.ne(text.first_word(s), "")):
        if len(parts) == maxsplit:
            parts.append(text.strip(s, "", "l"))
            break
        _bounded(vm, len(parts))
        parts.append(text.first_word(s))
        s = text.other_words(s)
    return vm.new_list(parts)


@method(str, "rsplit", accepts=_separator)
def _rsplit(vm: VM, s: Text, sep: str | None = None, maxsplit: int = -1) -> PyValue:
    if maxsplit < 0:
        return _split(vm, s, sep, maxsplit)
    if sep is None:
        return NotImplemented
    parts: list[PyValue] = []
    while len(parts) != maxsplit and vm.decide(x.contains(s, sep)):
        _bounded(vm, len(parts) + 1)
        parts.insert(0, text.parted(s, sep, "after last"))
        s = text.parted(s, sep, "before last")
    return vm.new_list([s, *parts])


def _bounded(vm: VM, rounds: int) -> None:
    """As many separators as rounds of a loop: one part more, so that a pair exists even with k = 1."""
    if rounds > vm.k:
        raise BoundReached(Limit.LOOP, vm.path.place)


@method(str, "splitlines", accepts=lambda keepends=False: keepends is False)
def _splitlines(vm: VM, s: Text, keepends: bool = False) -> PyValue:
    if vm.decide(x.eq(s, "")):
        return vm.new_list([])
    return vm.new_list([s]) if vm.decide(x.in_class(s, "printable")) else NotImplemented


@method(str, "join", accepts=lambda values: True)
def _join(vm: VM, separator: Text, values: PyValue) -> PyValue:
    if values is None or number_kind(values):
        raise vm.mimic(lambda: "".join(3))  # type: ignore[arg-type]  # the mistake is the point
    parts: list[Any] = [vm.force(v) for v in vm.spread(values)]
    for i, part in enumerate(parts):
        if not is_string(part):
            kind = type(exemplar(vm, part)).__name__
            raise vm.error(TypeError, f"sequence item {i}: expected str instance, {kind} found")
    return x.concat(*separated(parts, separator))


# --- padding and formatting ----------------------------------------------------------------------------------


def padding(short: Integer, most: int, fill: str) -> Text:
    """So many characters as a string is short of a width, which is at most `most`."""
    return x.concat(*(x.ite(x.gt(short, n), fill, "") for n in range(most)))


def justified(s: Text, width: int, fill: str, left: bool) -> Text:
    missing = padding(x.sub(width, x.length(s)), width, fill)
    return x.concat(s, missing) if left else x.concat(missing, s)


@method(str, "ljust", accepts=_width_and_fill)
def _ljust(vm: VM, s: Text, width: int, fill: str = " ") -> PyValue:
    return justified(s, width, fill, True)


@method(str, "rjust", accepts=_width_and_fill)
def _rjust(vm: VM, s: Text, width: int, fill: str = " ") -> PyValue:
    return justified(s, width, fill, False)


@method(str, "center", accepts=_width_and_fill)
def _center(vm: VM, s: Text, width: int, fill: str = " ") -> PyValue:
    """What is left over goes to the left if the width is odd, else to the right."""
    short = x.sub(width, x.length(s))
    half = x.add(x.floordiv(short, 2), x.mul(x.mod(short, 2), x.mod(width, 2)))
    return x.concat(padding(half, width, fill), s, padding(x.sub(short, half), width, fill))


@method(str, "zfill", accepts=_width)
def _zfill(vm: VM, s: Text, width: int) -> PyValue:
    """After a sign."""
    signed = x.or_(x.prefix(s, "-"), x.prefix(s, "+"))
    sign, digits = x.ite(signed, x.at(s, 0), ""), x.ite(signed, _rest(s, 1), s)
    return x.concat(sign, padding(x.sub(width, x.length(s)), width, "0"), digits)


_SPEC = re.compile(r"(?:(.)?([<>]))?(0)?(\d+)?([ds])?")


def with_spec(vm: VM, value: PyValue, spec: str) -> PyValue:
    """format(value, spec) for widths and zeros; NotImplemented for what else a spec can say."""
    match = _SPEC.fullmatch(spec)
    if match is None or not isinstance(value, Expr):
        return NotImplemented
    fill, side, zero, width, kind = match.groups()
    number = value.sort is x.INT
    if not (number or value.sort is x.STR) or (kind == "d") > number or (kind == "s") > (not number):
        return NotImplemented
    size = int(width or 0)
    if size > WIDEST or (zero and (side or not number)):
        return NotImplemented
    plain = x.int_to_str(value) if number else value
    if zero:
        return _zfill(vm, plain, size)
    return justified(plain, size, fill or " ", side == "<" or (side is None and not number))


def formatted(vm: VM, value: PyValue, conversion: str, spec: PyValue) -> PyValue:
    """One replacement field of an f-string."""
    if conversion == "r":
        value = repr_of(vm, value)
    elif conversion:
        value = text_of(vm, value) if conversion == "s" else vm.call_real(ascii, [value], {})
    value = vm.force(value)
    own = own_method(vm, value, "__format__", in_python=True)
    if own is not None:
        return vm.call(own, spec)
    if spec == "" or (spec == "d" and is_int(value)):
        return text_of(vm, value)
    answer = with_spec(vm, value, spec) if isinstance(spec, str) else NotImplemented
    return answer if answer is not NotImplemented else vm.call_real(format, [value, spec], {})


@method(str, "format", accepts=lambda *values, **named: True, lazy=True)
def _format(vm: VM, template: PyValue, /, *values: PyValue, **named: Any) -> PyValue:
    """Only '{}' and '{name}' fields stay symbolic."""
    pieces = _fields(vm, template, values, named) if isinstance(template, str) else None
    if pieces is None:
        return vm.call_real(str.format, [template, *values], named)
    return x.concat(*(part if kind == "text" else text_of(vm, part) for kind, part in pieces))


def _fields(
    vm: VM, template: str, values: tuple[PyValue, ...], named: dict[str, PyValue]
) -> list[tuple[str, Any]] | None:
    """The text and the values of a template; None if a field is more than a name, or nothing was given for it."""
    try:
        parsed = list(string.Formatter().parse(template))
    except ValueError as error:
        raise vm.host_error(error) from None
    given = {**named, **{str(i): value for i, value in enumerate(values)}}
    found: list[tuple[str, PyValue]] = []
    automatic = 0
    for before, name, spec, conversion in parsed:
        found.append(("text", before))
        if name == "":
            name, automatic = str(automatic), automatic + 1
        if spec or conversion or (name is not None and name not in given):
            return None
        if name is not None:
            found.append(("value", given[name]))
    return found
