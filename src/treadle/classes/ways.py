"""Ways to make an object of the class: its constructor, its heirs, a stand-in, what the package has that returns one.

Where the class itself cannot be made (an abstract class, a Protocol) its heirs come first, then a stand-in that is
written for the purpose. A function or a method of the same package whose return hint names the class makes an object
the way a program does (`provider.get_meter('a')`), which a constructor of many parts often does not.
"""

from __future__ import annotations

import inspect
import itertools
import sys
import types
import typing
from collections.abc import Iterator
from typing import Any

from treadle.classes.calls import Value
from treadle.classes.pools import Pools, heirs
from treadle.classes.stand_ins import hooks, needs_stand_in
from treadle.classes.subject import Subject, SubjectMethod, import_of, is_class
from treadle.core.errors import Unsupported
from treadle.core.packages import is_within
from treadle.observe.parameters import Parameter, hints_of, load_mentioning, parameters_of, parameters_of_class

_MOST_HEIRS = 2
_MOST_FACTORIES = 3


def constructors(subject: Subject, pools: Pools) -> list[SubjectMethod]:
    """What makes an object, the likeliest first."""
    cls = subject.cls
    if not isinstance(cls, type) or subject.is_used:
        return subject.constructors
    if needs_stand_in(cls):
        return [*of_heirs(subject), *factories(subject, pools), *_stand_ins(cls, pools)]
    written = _stand_ins(cls, pools) if hooks(cls) else []
    plain = [one for one in subject.constructors if not _hard(one)]
    hard = [one for one in subject.constructors if _hard(one)]
    return [*plain, *(factories(subject, pools) if hard else []), *hard, *written]


def of_heirs(subject: Subject) -> Iterator[SubjectMethod]:
    """Constructors of subclasses that can be used."""
    load_mentioning(subject.cls.__name__, subject.packages)
    usable = (heir for heir in heirs(subject.cls) if not needs_stand_in(heir) and "<locals>" not in heir.__qualname__)
    return map(_constructor, itertools.islice(usable, _MOST_HEIRS))


def _hard(constructor: SubjectMethod) -> bool:
    """Does it need an object of another class? A program gets such an object from elsewhere."""
    return any(p.required and _is_foreign(p.type) for p in constructor.parameters)


def _is_foreign(kind: Any) -> bool:
    if isinstance(kind, typing.TypeVar):
        kind = kind.__bound__
    kind = typing.get_origin(kind) or kind
    known = ("builtins", "typing", "collections.abc", "datetime", "pathlib", "inspect")
    return isinstance(kind, typing.ForwardRef | str) or (isinstance(kind, type) and kind.__module__ not in known)


def _constructor(cls: type) -> SubjectMethod:
    needs, name = import_of(cls)
    return SubjectMethod("heir", f"{name}({{args}})", parameters_of_class(cls), needs=needs)


def _stand_ins(cls: type, pools: Pools) -> list[SubjectMethod]:
    found = []
    for value in pools.stand_in_class(cls):
        try:
            made = pools.namespace.evaluate(value)
        except Exception:
            continue
        found.append(SubjectMethod("stand-in", f"{value}({{args}})", parameters_of_class(made), needs=value.needs))
    return found


# ---------------------------------------------------------------------- factories


def factories(subject: Subject, pools: Pools) -> list[SubjectMethod]:
    """Functions, class methods and methods of the package that say they return an object of the class."""
    return list(itertools.islice(_factories(subject, pools), _MOST_FACTORIES))


def _factories(subject: Subject, pools: Pools) -> Iterator[SubjectMethod]:
    seen: set[int] = set()
    modules = [(n, m) for n, m in list(sys.modules.items()) if is_within(n, subject.packages)]
    for name, module in sorted(modules):
        for word, value in list(vars(module).items()):
            plain = type(value) is types.FunctionType
            if word.startswith("_") or id(value) in seen or not (plain or is_class(value)) or value.__module__ != name:
                continue
            seen.add(id(value))
            if plain and _returns(value, subject.cls):
                parameters = parameters_of(value, skip_first=False) or ()
                yield SubjectMethod(word, f"{word}({{args}})", parameters, needs=(f"from {name} import {word}",))
            elif not plain and value is not subject.cls:
                yield from _of_class(value, subject, pools)


def _of_class(owner: type, subject: Subject, pools: Pools) -> Iterator[SubjectMethod]:
    for name in dir(owner):
        raw = inspect.getattr_static(owner, name)
        function = getattr(raw, "__func__", raw)
        if name.startswith("_") or not isinstance(function, types.FunctionType) or not _returns(function, subject.cls):
            continue
        try:
            needs, word = import_of(owner)
        except Unsupported:
            return
        parameters: tuple[Parameter, ...] = parameters_of(function, skip_first=not isinstance(raw, staticmethod)) or ()
        if isinstance(raw, classmethod | staticmethod):
            yield SubjectMethod(f"{word}.{name}", f"{word}.{name}({{args}})", parameters, needs=needs)
            continue
        made: list[Value] = pools.instances(owner)
        if made:
            yield SubjectMethod(f"{word}().{name}", f"{made[0]}.{name}({{args}})", parameters, needs=made[0].needs)


def _returns(function: Any, cls: type) -> bool:
    """Does the hint of a function name the class, or one that it derives from?"""
    hint = hints_of(function).get("return")
    hint = typing.get_origin(hint) or hint
    if isinstance(hint, str):
        return hint == cls.__name__
    return isinstance(hint, type) and hint is not object and hint in cls.__mro__ and hint.__module__ != "builtins"
