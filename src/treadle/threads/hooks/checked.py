"""Hooks for the model `gil`: around the usual ones, they note in `strand.checks` where the interpreter would look.

The rules are in `switching`. What runs rewritten code notes its own entry, so only what enters other Python code, or
returns from C code to a CALL, is noted here: before its operation when a function is entered, behind it when a call
returns. Python code that is not rewritten counts as looking on both sides, unless it only moves values.
"""

from __future__ import annotations

import dis
import functools
import importlib.util
import io
import itertools
import operator
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from treadle.threads.hooks import attributes, calls, items, iteration, operators, variables
from treadle.threads.instrument.chunks import plain_form
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.names import PLAIN
from treadle.threads.primitives.locks import RealLock, RealRLock
from treadle.threads.strands import STATE, SyncObject
from treadle.threads.switching import ALL, COMPREHENSION

_FunctionType: Final = types.FunctionType


def _note(mask: int) -> None:
    strand = STATE.strand
    if strand is not None and not STATE.coasting:
        strand.look(mask)


# ---------------------------------------------------------------------- marks in the code


def enter() -> None:
    """A function, a generator, a class body is entered."""
    _note(ALL)


def resumed(value: Any) -> Any:
    """A generator goes on behind a `yield`, or a call of C code has returned."""
    _note(ALL)
    return value


def called_super(value: Any) -> Any:
    """`super()` is a call before 3.12."""
    _note(COMPREHENSION)
    return value


def check(mask: int = ALL) -> None:
    """These versions look here."""
    _note(mask)


def jumped(again: Any, mask: int) -> bool:
    """The test of a loop held; the look comes with the jump back, so not in the first round."""
    if again:
        _note(mask)
    return True


def rounds(iterable: Any) -> Iterator[Any]:
    """The items of a loop, with the look of a jump back between two of them."""
    for item in iterable:
        yield item
        _note(ALL)


def comprehension(iterable: Any) -> Iterator[Any]:
    """The same for a comprehension, which is a function before 3.12."""
    _note(COMPREHENSION)
    return rounds(iterable)


def generator(iterable: Any) -> Iterator[Any]:
    """The same for a generator expression: it is entered when it is first asked."""
    _note(ALL)
    for item in iterable:
        yield item
        _note(ALL)


def _note_iteration(iterable: Any) -> None:
    """What happens when a loop asks for its first item, besides code that notes it by itself."""
    kind = type(iterable)
    if kind is types.GeneratorType:
        if plain_form(iterable.gi_code) is None:
            _note(ALL)
    elif issubclass(kind, io.IOBase):  # reads a line, and gives the lock away meanwhile
        _note(ALL)
    elif kind not in PLAIN:
        _note_code(kind, "__iter__", "__next__")


# ---------------------------------------------------------------------- operators


def operate(name: str, *operands: Any) -> Any:
    """`a + b`, `-a`, `a < b`: code in Python behind it looks."""
    result = getattr(operator, name)(*operands)
    _note_operands(name, operands)
    return result


def _operating(name: str, hook: Callable[..., Any]) -> Callable[..., Any]:
    """The same for an operator that is a hook already."""

    def operating(*operands: Any) -> Any:
        result = hook(*operands)
        _note_operands(name, operands)
        return result

    return operating


def _note_operands(name: str, operands: tuple[Any, ...]) -> None:
    for operand in operands:
        if type(operand) not in PLAIN:
            _note_code(type(operand), *_methods(name), *_methods(name.removeprefix("i")))
        if name in _ASKS:
            _note_held(operand, *_ASKS[name])


# What operators of containers made in C ask of what these hold, and `%` of a text of what it is given.
_COMPARED: Final = ("__eq__", "__lt__", "__gt__", "__le__", "__ge__")
_WRITTEN: Final = ("__format__", "__str__", "__repr__")
_ASKS: Final = {
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), _COMPARED),
    **dict.fromkeys(("mod", "imod"), _WRITTEN),
}
_HOLDERS: Final = (tuple, list, dict, set, frozenset, deque)
_MOST_HELD: Final = 100  # of one container: the rest is mostly of the same types
_DEEP: Final = 2


def _note_held(value: Any, *methods: str, depth: int = _DEEP) -> None:
    """An operation of a container made in C enters these methods of what it holds, of a text formatted with it, too."""
    kind = type(value)
    if kind not in PLAIN:
        _note_code(kind, *methods)
    if depth and kind in _HOLDERS:
        held = (part for pair in value.items() for part in pair) if kind is dict else iter(value)
        for one in itertools.islice(held, _MOST_HELD):
            _note_held(one, *methods, depth=depth - 1)


@functools.cache
def _methods(name: str) -> tuple[str, ...]:
    plain = name.strip("_")
    mirrored = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "eq"}.get(plain, f"r{plain}")
    return f"__{plain}__", f"__{mirrored}__"


def operand(value: Any) -> Any:
    """A value that is formatted, or compared in a chain."""
    _note_held(value, *_WRITTEN, *_COMPARED)
    return value


# ---------------------------------------------------------------------- statements


def imported(level: int, name: str, package: str) -> None:
    """`from package import name` enters Python code of the import system; from a module that is no package it does not,
    and neither does `import`, once the module is there."""
    full = importlib.util.resolve_name("." * level + name, package) if level else name
    if hasattr(sys.modules.get(full), "__path__"):
        _note(ALL)


def matched(*classes: Any) -> bool:
    """The patterns of a `match` ask these classes: some have code in Python for that, as abstract ones do."""
    if any(type(getattr(type(cls), "__instancecheck__", None)) is _FunctionType for cls in classes):
        _note(ALL)
    return True


def _note_code(kind: type, *methods: str) -> None:
    """An operation of an object of this type enters one of these methods, if it is Python code that is not rewritten
    (rewritten code notes it by itself)."""
    if any(_outside(getattr(kind, method, None)) for method in methods):
        _note(ALL)


def _outside(method: Any) -> bool:
    """Is this a Python function that is not rewritten?"""
    return type(method) is _FunctionType and method.__globals__.get("__name__") not in REWRITTEN


# ---------------------------------------------------------------------- calls


def function(called: Any) -> Any:
    """The function in `called(...)`."""
    if STATE.strand is None:
        return called
    made = calls.function(called)
    return made if _gets_a_frame(called) else _checked(made, called)


def callee(obj: Any, name: str) -> Any:
    """The function in `obj.name(...)`."""
    if STATE.strand is None:
        return getattr(obj, name)
    _note_attribute(obj, name)
    made = attributes.callee(obj, name)
    return made if _gets_a_frame(made) else _checked(made, made)


def _gets_a_frame(called: Any) -> bool:
    """Does calling this put a frame of rewritten code on the stack? That notes its entry, and returns without."""
    if type(called) is types.MethodType:
        called = called.__func__
    return type(called) is _FunctionType and called.__globals__.get("__name__") in REWRITTEN


class _Checked:
    """A callable behind which the interpreter looks; before it as well when it is Python code that is not rewritten,
    and then behind it only if that code may look after what it does."""

    __slots__ = ("before", "behind", "called")

    def __init__(self, called: Any, before: int, behind: int) -> None:
        self.called = called
        self.before = before
        self.behind = behind

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        _note(self.before)
        result = self.called(*args, **kwargs)
        _note(self.behind)
        return result


# Instructions that only move values: a function of nothing else is entered with a look, and has no other.
_MOVES: Final = frozenset(
    f"{verb}_{what}"
    for verb in ("LOAD", "STORE")
    for what in ("FAST", "FAST_BORROW", "CONST", "SMALL_INT", "ATTR", "GLOBAL", "DEREF", "FAST_LOAD_FAST")
) | {"RESUME", "COPY_FREE_VARS", "POP_TOP", "NOP", "RETURN_VALUE", "RETURN_CONST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"}


@functools.lru_cache(maxsize=10_000)
def _only_moves(code: types.CodeType) -> bool:
    return all(instruction.opname in _MOVES for instruction in dis.get_instructions(code))


def _checked(made: Any, called: Any) -> Any:
    if type(made) is functools.partial and made.func is calls.atomic_method:
        called = made.keywords.get("treadle_via") or getattr(type(made.args[0]), made.args[1], None)
    if type(called) is types.MethodType:
        of = called.__self__
        called = None if isinstance(of, SyncObject) and of.in_c else called.__func__
    if not _outside(called):
        return _Checked(made, 0, ALL)
    return _Checked(made, ALL, 0 if _only_moves(called.__code__) else ALL)


# ---------------------------------------------------------------------- attributes, items, managers


def _note_attribute(obj: Any, name: str) -> None:
    """Reading an attribute may enter Python code outside: a property, a descriptor, `__getattr__`."""
    kind = type(obj)
    if kind in PLAIN or kind is types.ModuleType:
        return
    for cls in kind.__mro__:
        if name in vars(cls):
            value = vars(cls)[name]
            getter = value.fget if isinstance(value, property) else getattr(type(value), "__get__", None)
            if _outside(getter) and (hasattr(type(value), "__set__") or name not in getattr(obj, "__dict__", ())):
                _note(ALL)
            return
    _note_code(kind, "__getattribute__", "__getattr__")


def load(obj: Any, name: str) -> Any:
    if STATE.strand is not None:
        _note_attribute(obj, name)
    return attributes.load(obj, name)


def store(value: Any, obj: Any, name: str) -> None:
    if STATE.strand is not None and type(obj) not in PLAIN:
        _note_code(type(obj), "__setattr__")
        member = getattr(type(obj), name, None) if not isinstance(obj, type) else None
        setter = member.fset if isinstance(member, property) else getattr(type(member), "__set__", None)
        if _outside(setter):
            _note(ALL)
    attributes.store(value, obj, name)


def _noting(hook: Callable[..., Any], place: int, method: str) -> Callable[..., Any]:
    """A hook for items: the container, argument number `place`, may have this method in Python; a key others."""

    def noting(*args: Any) -> Any:
        if STATE.strand is not None:
            for number, argument in enumerate(args):
                if number != place:
                    _note_held(argument, "__hash__", "__eq__")
                elif type(argument) not in PLAIN:
                    _note_code(type(argument), method)
            if method == "__contains__" and type(args[place]) in (list, tuple, deque):
                _note_held(args[place], "__eq__")  # it compares with all that is there
        return hook(*args)

    return noting


def use(value: Any) -> Any:
    if STATE.strand is not None and type(value) not in PLAIN:
        _note_code(type(value), "__bool__", "__len__")
    return iteration.use(value)


def iterate(iterable: Any) -> Any:
    if STATE.strand is not None:
        _note_iteration(iterable)
    return iteration.iterate(iterable)


def star(iterable: Any) -> Any:
    if STATE.strand is not None:
        _note_iteration(iterable)
    return iteration.star(iterable)


class _Exits:
    """A context manager made in C that is no lock: its `__exit__` is called by CALL, and is followed by a look."""

    __slots__ = ("manager",)

    def __init__(self, manager: Any) -> None:
        self.manager = manager

    def __enter__(self) -> Any:
        return self.manager.__enter__()

    def __exit__(self, *error: Any) -> Any:
        result = self.manager.__exit__(*error)
        _note(ALL)
        return result


def context(manager: Any) -> Any:
    if STATE.strand is None:
        return manager
    made = variables.context(manager)
    if isinstance(made, (SyncObject, RealLock, RealRLock)):
        return made
    kind = type(made)
    _note_code(kind, "__enter__")
    leave = getattr(kind, "__exit__", None)
    return made if leave is None or type(leave) is _FunctionType else _Exits(made)


def _asking(hook: Callable[[Any], Any], *methods: str) -> Callable[[Any], Any]:
    """A hook for a value of which a statement asks more than one thing: these methods may be code in Python."""

    def asking(value: Any) -> Any:
        result = hook(value)
        if STATE.strand is not None and type(value) not in PLAIN:
            _note_code(type(value), *methods)
        return result

    return asking


def with_checks(hooks: dict[str, Any]) -> dict[str, Any]:
    """The hooks of the model `gil`."""
    return {
        **hooks,
        **{
            f"_treadle_{name}": _operating(name, hooks[f"_treadle_{name}"])
            for name in (*operators.OPERATORS, *operators.INPLACE)
        },
        "_treadle_show": lambda value: operand(iteration.show(value)),
        "_treadle_enter": enter,
        "_treadle_check": check,
        "_treadle_resumed": resumed,
        "_treadle_super": called_super,
        "_treadle_jumped": jumped,
        "_treadle_rounds": rounds,
        "_treadle_comprehension": comprehension,
        "_treadle_generator": generator,
        "_treadle_operate": operate,
        "_treadle_operand": operand,
        "_treadle_imported": imported,
        "_treadle_matched": matched,
        "_treadle_function": function,
        "_treadle_callee": callee,
        "_treadle_load": load,
        "_treadle_store": store,
        "_treadle_item": _noting(items.item, 0, "__getitem__"),
        "_treadle_set_item": _noting(items.set_item, 1, "__setitem__"),
        "_treadle_del_item": _noting(items.del_item, 0, "__delitem__"),
        "_treadle_in": _noting(items.inside, 1, "__contains__"),
        "_treadle_use": use,
        "_treadle_match": _asking(iteration.match, "__eq__", "__len__", "__getitem__"),
        "_treadle_spread": _asking(iteration.spread, "keys", "__getitem__", "__iter__", "__next__"),
        "_treadle_merge": _asking(iteration.merge, "keys", "__getitem__", "__iter__", "__next__"),
        "_treadle_iter": iterate,
        "_treadle_star": star,
        "_treadle_context": context,
    }
