"""Looks at objects of the program without asking them: no property, no `__getattribute__`, no lazy loading runs.

A proxy may answer for its `__class__` by failing outside of a request, a lazy module loads itself when it is asked for
its `__dict__`, a class may compute its `__module__`. What looks at everything that a program has must bear all of them.
"""

from __future__ import annotations

import re
from types import BuiltinFunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any, Final

# Bound methods in C are of one of two types: some are told the class that defines them.
METHOD_IN_C: Final = type(re.compile("").match)
BUILTINS: Final = (BuiltinFunctionType, METHOD_IN_C)

_home: Any = vars(type)["__module__"]
_globals: Any = vars(ModuleType)["__dict__"]
_NO_GLOBALS: dict[str, Any] = {}


def is_a(thing: object, kinds: type | tuple[type, ...]) -> bool:
    """`isinstance`, by the real type alone."""
    return issubclass(type(thing), kinds)


def home_of(cls: type) -> str:
    """The name of the module that defines a class; empty when the class says something else."""
    try:
        home = _home.__get__(cls)
    except AttributeError:
        return ""
    return home if type(home) is str else ""


def globals_of(module: ModuleType) -> dict[str, Any]:
    """The variables of a module; none of what a library has put into `sys.modules` in the place of one."""
    return _globals.__get__(module) if is_a(module, ModuleType) else _NO_GLOBALS


def keeps_attributes(kind: type) -> bool:
    """Do instances of this type have a `__dict__` that is their own, and not what a property makes up?"""
    for cls in kind.__mro__:
        if "__dict__" in vars(cls):
            return type(vars(cls)["__dict__"]) in (GetSetDescriptorType, MemberDescriptorType)
    return False


def kept_attributes(obj: object) -> dict[str, Any] | None:
    """The `__dict__` that an object has of its own; None as well where it cannot be read, as of functions inside
    functions that mypyc compiled."""
    if not keeps_attributes(type(obj)):
        return None
    try:
        attributes = object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return None
    return attributes if type(attributes) is dict else None


def on_class(kind: type, name: str) -> Any:
    """What a class has under a name, as `type(obj).__iter__` is found by Python itself: a mock makes up what is read
    from its class in any other way."""
    return next((vars(cls)[name] for cls in kind.__mro__ if name in vars(cls)), None)
