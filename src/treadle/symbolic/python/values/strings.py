"""Strings, known and unknown: indexing, slices, formatting, and the methods of str.

Methods that z3's sequences can express stay symbolic (startswith, find, replace, in); so do those with a definition
that it can (`text_methods`: strip, split, padding, ...). The character classes (isdigit, ...) are exact over
ASCII, which is what written tests use. Every other method picks values.
"""

from __future__ import annotations

import operator
import re
import string
from fractions import Fraction
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr import text
from treadle.symbolic.expr.terms import Expr, Value
from treadle.symbolic.heap.objects import DictObj, InstanceObj, ListObj
from treadle.symbolic.path import BoundReached
from treadle.symbolic.python.machine import classes
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import mappings, open_lists, text_methods
from treadle.symbolic.python.values.indexing import position
from treadle.symbolic.python.values.kinds import as_int, exemplar, is_known, is_python, is_string, number_kind
from treadle.symbolic.python.values.values import Slice


def get_item(vm: VM, s: Any, index: Value) -> Any:
    where = position(vm, index, x.length(s), "string index out of range")
    return x.at(s, where)


def _bound(vm: VM, bound: Any, size: Value, default: Value) -> Value:
    """A slice bound brought into 0..size, as expressions: a slice never branches."""
    bound = vm.force(bound)
    if bound is None:
        return default
    bound = as_int(bound)
    from_start = x.ite(x.lt(bound, 0), x.add(bound, size), bound)
    if not isinstance(bound, Expr):
        from_start = x.add(bound, size) if bound < 0 else bound
    not_below = x.ite(x.lt(from_start, 0), 0, from_start)
    return x.ite(x.gt(not_below, size), size, not_below)


def slice_of(vm: VM, s: Any, index: Slice) -> Any:
    step = vm.force(index.step)
    if is_known(s) and all(is_known(vm.force(p)) for p in (index.start, index.stop, step)):
        try:
            return s[slice(index.start, index.stop, step)]
        except Exception as error:
            raise vm.host_error(error) from None
    if step not in (None, 1):
        if step == -1 and index.start is None and index.stop is None:
            return x.concat(*reversed(characters(vm, s)))
        return vm.call_real(str.__getitem__, [s, index], {}, "a slice with a step")
    size = x.length(s)
    start, stop = _bound(vm, index.start, size, 0), _bound(vm, index.stop, size, size)
    count = x.sub(stop, start)
    return x.substr(s, start, x.ite(x.lt(count, 0), 0, count))


def characters(vm: VM, s: Any) -> list[Any]:
    """One expression per character; an unknown length is decided, bounded like a loop."""
    if isinstance(s, str):
        return list(s)
    size = x.length(s)
    if not isinstance(size, Expr):
        return [x.at(s, i) for i in range(size)]
    for n in range(vm.k + 2):
        if vm.decide(x.eq(size, n)):
            return [x.at(s, i) for i in range(n)]
    raise BoundReached("loop", vm.path.place)


# --- text of a value -------------------------------------------------------------------------------------


def text_of(vm: VM, value: Any) -> Any:
    """str(value)"""
    value = vm.force(value)
    if isinstance(value, Expr):
        if value.sort is x.STR:
            return value
        if value.sort is x.INT:
            return x.int_to_str(value)
        if value.sort is x.BOOL:
            return "True" if vm.decide(value) else "False"
    if isinstance(value, InstanceObj):
        if issubclass(value.cls, BaseException) and classes.special(vm, value, "__str__") in _EXCEPTION_TEXT:
            return exception_text(vm, value)
        for name in ("__str__", "__repr__"):
            method = classes.special(vm, value, name)
            if is_python(method) and not method.__code__.co_filename.startswith("<"):
                return vm.call(vm.attribute(value, name))
        if classes.special(vm, value, "__str__") is object.__str__:
            return repr_of(vm, value)
    return vm.call_real(str, [value], {})


_EXCEPTION_TEXT = (BaseException.__str__, OSError.__str__)


def exception_text(vm: VM, error: InstanceObj) -> Any:
    args = error.fields.get("args", ())
    if not args:
        return ""
    if len(args) == 1:
        return repr_of(vm, args[0]) if issubclass(error.cls, KeyError) else text_of(vm, args[0])
    return repr_of(vm, tuple(args))


def repr_of(vm: VM, value: Any) -> Any:
    """repr(value)"""
    value = vm.force(value)
    if isinstance(value, Expr) and value.sort in (x.INT, x.BOOL):
        return text_of(vm, value)
    if isinstance(value, Expr) and value.sort is x.STR:
        return text.repr_(value)
    if isinstance(value, ListObj):
        parts = [repr_of(vm, v) for v in open_lists.items(vm, value)]
        return x.concat("[", *_separated(parts), "]")
    if isinstance(value, tuple) and not is_known(value):
        parts = [repr_of(vm, v) for v in value]
        return x.concat("(", *_separated(parts), ",)" if len(parts) == 1 else ")")
    if isinstance(value, DictObj) and not value.keys_only:
        parts = [x.concat(repr_of(vm, k), ": ", repr_of(vm, v)) for k, v in mappings.entries(vm, value)]
        return x.concat("{", *_separated(parts), "}")
    if isinstance(value, InstanceObj):
        method = classes.special(vm, value, "__repr__")
        if is_python(method):
            if hasattr(value.cls, "__dataclass_fields__") and method.__qualname__.endswith(
                "__create_fn__.<locals>.__repr__"
            ):
                return _dataclass_repr(vm, value)
            if not method.__code__.co_filename.startswith("<"):
                return vm.call(vm.attribute(value, "__repr__"))
            if hasattr(value.cls, "__dataclass_fields__"):
                return _dataclass_repr(vm, value)
        if hasattr(value.cls, "__dataclass_params__") and value.cls.__dataclass_params__.repr:
            return _dataclass_repr(vm, value)
        if method is object.__repr__:
            # no address, but as different as they are
            known = vm.heap.settle(value)
            cls = classes.python_type(vm, known)
            return f"<{cls.__module__}.{cls.__qualname__} object at 0x{known.number + 1:012x}>"
        if method in (list.__repr__, dict.__repr__, tuple.__repr__) and value.payload is not None:
            return repr_of(vm, value.payload)
    return vm.call_real(repr, [value], {})


def _separated(parts: list[Any]) -> list[Any]:
    out: list[Any] = []
    for part in parts:
        out.extend((", ", part) if out else (part,))
    return out


def _dataclass_repr(vm: VM, value: InstanceObj) -> Any:
    fields = [f for f in value.cls.__dataclass_fields__.values() if f.repr]  # type: ignore[attr-defined]
    parts = [x.concat(f.name, "=", repr_of(vm, vm.attribute(value, f.name))) for f in fields]
    return x.concat(value.cls.__qualname__, "(", *_separated(parts), ")")


def formatted(vm: VM, value: Any, conversion: str, spec: Any) -> Any:
    """One replacement field of an f-string."""
    if conversion == "r":
        value = repr_of(vm, value)
    elif conversion:
        value = text_of(vm, value) if conversion == "s" else vm.call_real(ascii, [value], {})
    if spec == "" or (spec == "d" and number_kind(vm.force(value)) == "int"):
        value = vm.force(value)
        own = isinstance(value, InstanceObj) and classes.special(vm, value, "__format__")
        if isinstance(value, InstanceObj) and is_python(own):
            return vm.call(vm.attribute(value, "__format__"), spec)
        return text_of(vm, value)
    value = vm.force(value)
    if isinstance(value, InstanceObj) and is_python(classes.special(vm, value, "__format__")):
        return vm.call(vm.attribute(value, "__format__"), spec)
    answer = text_methods.formatted(vm, value, spec) if isinstance(spec, str) else NotImplemented
    return answer if answer is not NotImplemented else vm.call_real(format, [value, spec], {})


def percent(vm: VM, template: Any, values: Any) -> Any:
    """template % values"""
    if isinstance(template, str):
        pieces = re.split(r"(%[sdr%])", template)
        given = list(values) if isinstance(values, tuple) else [values]
        wanted = [p for p in pieces if p in ("%s", "%d", "%r")]
        simple = template.count("%") == sum(p.count("%") for p in pieces if p in ("%s", "%d", "%r", "%%"))
        if simple and len(wanted) == len(given) and not isinstance(vm.force(values), DictObj):
            source = iter(given)
            out = []
            for piece in pieces:
                if piece == "%d":
                    out.append(concrete_int(vm, next(source)))
                elif piece in ("%s", "%r"):
                    value = next(source)
                    out.append(text_of(vm, value) if piece == "%s" else repr_of(vm, value))
                else:
                    out.append("%" if piece == "%%" else piece)
            return x.concat(*out)
    return vm.call_real(operator.mod, [template, values], {}, "the formatting operator")


def _decimal(value: Any) -> str:
    return "%d" % value  # noqa: UP031 (the operator itself is meant)


def concrete_int(vm: VM, value: Any) -> Any:
    value = vm.force(value)
    if isinstance(value, Expr) and number_kind(value) == "int":
        return x.int_to_str(as_int(value))
    return vm.call_real(_decimal, [value], {}, "%d")


# --- methods ---------------------------------------------------------------------------------------------


def _affix(test: Any) -> Any:
    def method(vm: VM, s: Any, affix: Any, start: Any = None, stop: Any = None) -> Any:
        if start is not None or stop is not None:
            s = slice_of(vm, s, Slice(start, stop, None))
        affix = vm.force(affix)
        if isinstance(affix, tuple):
            return x.or_(*(test(s, vm.force(a)) for a in affix))
        return test(s, affix)

    return method


def _find(vm: VM, s: Any, part: Any, start: Any = None, stop: Any = None) -> Any:
    if stop is not None:
        return vm.call_real(str.find, [s, part, start, stop], {})
    size = x.length(s)
    begin = _bound(vm, start, size, 0)
    return x.index_of(s, vm.force(part), begin)


def _index(vm: VM, s: Any, part: Any, start: Any = None, stop: Any = None) -> Any:
    found = _find(vm, s, part, start, stop)
    if vm.decide(x.lt(found, 0)):
        raise vm.error(ValueError, "substring not found")
    return found


def _replace(vm: VM, s: Any, old: Any, new: Any, count: Any = -1) -> Any:
    old, new = vm.force(old), vm.force(new)
    if count == 1:
        return x.replace_first(s, old, new)
    if count == -1 and isinstance(old, str) and old:
        return x.replace_all(s, old, new)
    return vm.call_real(str.replace, [s, old, new, count], {})


def _class(name: str) -> Any:
    def method(vm: VM, s: Any) -> Any:
        return x.in_class(s, name)

    return method


def _join(vm: VM, separator: Any, values: Any) -> Any:
    values = vm.force(values)
    if values is None or number_kind(values):
        raise vm.mimic(lambda: "".join(3))  # type: ignore[arg-type]  # the mistake is the point
    parts = [vm.force(v) for v in vm.spread(values)]
    for i, part in enumerate(parts):
        if not is_string(part):
            kind = type(exemplar(vm, part)).__name__
            raise vm.error(TypeError, f"sequence item {i}: expected str instance, {kind} found")
    out: list[Any] = []
    for part in parts:
        out.extend((separator, part) if out else (part,))
    return x.concat(*out)


def _remove_affix(test: Any, at_start: bool) -> Any:
    def method(vm: VM, s: Any, affix: Any) -> Any:
        affix = vm.force(affix)
        if not vm.decide(x.and_(test(s, affix), x.gt(x.length(affix), 0))):
            return s
        rest = x.sub(x.length(s), x.length(affix))
        return x.substr(s, x.length(affix) if at_start else 0, rest)

    return method


def _format(vm: VM, template: Any, *values: Any, **named: Any) -> Any:
    """Only '{}' and '{name}' fields stay symbolic."""
    if isinstance(template, str):
        try:
            fields = list(string.Formatter().parse(template))
        except ValueError as error:
            raise vm.host_error(error) from None
        plain = all(
            not (spec or conversion) and (name is None or name == "" or name.isidentifier() or name.isdigit())
            for _, name, spec, conversion in fields
        )
        if plain:
            out: list[Any] = []
            automatic = 0
            for before, name, _, _ in fields:
                out.append(before)
                if name is None:
                    continue
                if name == "":
                    name, automatic = str(automatic), automatic + 1
                source: Any = (
                    named.get(name) if not name.isdigit() else (values[int(name)] if int(name) < len(values) else None)
                )
                if (name.isdigit() and int(name) >= len(values)) or (not name.isdigit() and name not in named):
                    return vm.call_real(str.format, [template, *values], named)
                out.append(text_of(vm, source))
            return x.concat(*out)
    return vm.call_real(str.format, [template, *values], named)


STR_METHODS: dict[str, Any] = {
    "startswith": _affix(x.prefix),
    "endswith": _affix(x.suffix),
    "find": _find,
    "index": _index,
    "replace": _replace,
    "join": _join,
    "format": _format,
    "removeprefix": _remove_affix(x.prefix, True),
    "removesuffix": _remove_affix(x.suffix, False),
    "isdigit": _class("digit"),
    "isdecimal": _class("digit"),
    "isnumeric": _class("digit"),
    "isalpha": _class("alpha"),
    "isalnum": _class("alnum"),
    "isspace": _class("space"),
}


def _alternatives(vm: VM, value: Any, several: bool) -> tuple[Any, ...]:
    """An argument, or the items of a tuple where one may stand for them."""
    value = vm.force(value)
    return tuple(map(vm.force, value)) if several and isinstance(value, tuple) else (value,)


def method(vm: VM, s: Any, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    """s.name(*args) for a string with something unknown in it, or in the arguments."""
    known = is_known(s) and all(is_known(vm.force(a)) for a in (*args, *named.values()))
    function = STR_METHODS.get(name)
    texts = 2 if name == "replace" else 1  # how many of the arguments must be
    text_args = name not in ("join", "format") and all(
        is_string(part) for a in args[:texts] for part in _alternatives(vm, a, name in ("startswith", "endswith"))
    )
    usable = function is not None and (name in ("join", "format") or text_args) and (name == "format" or not named)
    if function is not None and usable and not known:
        return function(vm, s, *args, **named)
    answer = text_methods.answered(vm, s, name, args, named)
    if answer is not NotImplemented:
        return answer
    own = [] if name == "maketrans" else [s]
    return vm.call_real(getattr(str, name), [*own, *args], named, f"str.{name}")


def to_int(vm: VM, s: Expr) -> Any:
    """int(s) of an unknown string: a number, or a ValueError."""
    if vm.decide(text.is_int(s)):
        return text.int_of(s)
    raise vm.error(ValueError, x.concat("invalid literal for int() with base 10: ", text.repr_(s)))


def to_float(vm: VM, s: Expr) -> Any:
    """float(s) of an unknown string: a number, or a ValueError; inf and nan are not explored."""
    if vm.decide(text.is_finite(s)):
        return text.float_of(s)
    vm.path.assume(x.not_(text.is_endless(s)))
    raise vm.error(ValueError, x.concat("could not convert string to float: ", text.repr_(s)))


def plain(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value
