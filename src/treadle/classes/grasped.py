"""Calls that only running a class tells of: on what a call returned, and on what an object has of its own.

A connection that a pool hands out is closed, a context manager is entered and left, an iterator is walked, a function
is called; functions that the constructor put on the object, and those that `__getattr__` makes up, are methods too.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import inspect
import itertools
import re
import types
import typing
from collections.abc import Iterator
from typing import Any

from treadle.classes.calls import AWAITING, GIVE_NEW, SOUT
from treadle.classes.subject import FUNCTION_NAME, Subject, SubjectMethod, place_of
from treadle.core.packages import is_within
from treadle.observe.parameters import hints_of, parameters_of
from treadle.threads.fingerprint import attributes_of, is_iterator_class
from treadle.threads.unasked import on_class

# Methods of what one method returned that are called.
_MOST = 4
# Elements of an iterator that are asked for: it may have no end.
_WALKED = 3
# A name that no class has, for those that make up their attributes.
MADE_UP = SubjectMethod("getattr", f"{SOUT}.something")


class Decorator:
    """Stands for the type of a function that takes one thing, by its name a function."""


def kind_of(value: Any) -> type:
    """What sort of thing a call returned."""
    if isinstance(value, types.FunctionType):
        required = [one for one in parameters_of(value, skip_first=False) or () if one.required]
        if len(required) == 1 and FUNCTION_NAME.search(required[0].name):
            return Decorator
    return type(value)


def on_result(subject: Subject, method: SubjectMethod, kind: type) -> list[SubjectMethod]:
    """What is done with a result of this type."""
    if method.setter or not method.expression or method.grasped or method.form.startswith(AWAITING):
        return []  # what a coroutine returns is out of reach: no other task comes between two calls of one step
    if kind is subject.cls:
        return []
    needs = (*method.needs, "import itertools") if is_iterator_class(kind) else method.needs
    needs = (*needs, GIVE_NEW) if kind is Decorator else needs
    return [
        dataclasses.replace(method, name=name, form=form, expression=expression, needs=needs, grasped=True)
        for name, form, expression in _forms(subject, method, kind)
    ]


def _forms(subject: Subject, method: SubjectMethod, kind: type) -> Iterator[tuple[str, str, bool]]:
    name, form = method.name, method.form
    if on_class(kind, "__enter__") and on_class(kind, "__exit__"):
        yield f"with {name}", f"with {form}: {{pass}}", False
    elif on_class(kind, "__aenter__") and on_class(kind, "__aexit__") and subject.in_tasks:
        yield f"async with {name}", f"async with {form}: {{pass}}", False
    elif is_iterator_class(kind) and name not in ("iter", "reversed", "next"):
        subject.walks.add(f"list({name})")
        yield f"list({name})", f"list(itertools.islice({form}, {_WALKED}))", True
    elif kind is types.FunctionType and name != "()":
        yield f"{name}()", f"{{then}}({form})()", True
    elif kind is Decorator and name != "()":
        yield f"{name}()()", f"{{then}}({{then}}({form})(give_new))()", True
    elif is_within(kind.__module__, subject.packages) and not issubclass(kind, BaseException | tuple):
        for one in list(_without_arguments(kind))[:_MOST]:
            yield f"{name}().{one}", f"{{then}}({form}).{one}()", True


def _without_arguments(kind: type) -> Iterator[str]:
    """Public methods of a class that can be called without an argument, in the order of its source."""
    for base in kind.__mro__[:-1]:
        for name, raw in vars(base).items():
            if not name.startswith("_") and isinstance(raw, types.FunctionType):
                parameters = parameters_of(raw, skip_first=True) or ()
                plain = not inspect.iscoroutinefunction(raw) and not inspect.isasyncgenfunction(raw)
                if plain and not any(parameter.required for parameter in parameters):
                    yield name


_QUESTION = re.compile(r"(is|has|are|can)_[a-z]")


def of_elements(subject: Subject) -> Iterator[SubjectMethod]:
    """Questions to what an object holds: where the hint of a property or a method without arguments names a container
    of objects of the package, each of them is asked what can be answered by yes or no (`emitter.is_alive()`)."""
    for method in list(subject.methods):
        if not method.own or not method.expression or any(p.required for p in method.parameters) or method.setter:
            continue
        raw = inspect.getattr_static(subject.cls, method.name, None)
        hint = hints_of(raw.fget if isinstance(raw, property) else raw).get("return") if raw is not None else None
        kinds = [one for one in typing.get_args(hint) if isinstance(one, type)]
        if not kinds or not _holds(hint) or not is_within(kinds[-1].__module__, subject.packages):
            continue
        each = f"{method.form.replace('{args}', '')}{'.values()' * (len(kinds) > 1)}"
        for one in itertools.islice(filter(_QUESTION.match, _without_arguments(kinds[-1])), _MOST):
            form = f"sorted(one.{one}() for one in {each})"
            yield SubjectMethod(f"{method.name}: {one}", form, own=False, needs=method.needs)


def _holds(hint: Any) -> bool:
    origin = typing.get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, collections.abc.Collection)


def of_instance(subject: Subject, sout: Any) -> Iterator[SubjectMethod]:
    """Functions that are set on the object itself, also with some of their arguments."""
    known = {method.name for method in subject.methods}
    for name, value in attributes_of(sout).items():
        function = value.func if isinstance(value, functools.partial) else value
        function = getattr(function, "__func__", function)
        if name.startswith("_") or name in known or not isinstance(function, types.FunctionType):
            continue
        parameters = parameters_of(value, skip_first=False)
        if parameters is not None and is_within(function.__module__, subject.packages):
            waits = "await " if inspect.iscoroutinefunction(function) else ""
            if bool(waits) <= subject.in_tasks:
                yield SubjectMethod(name, f"{waits}{SOUT}.{name}({{args}})", parameters, where=place_of(function))
