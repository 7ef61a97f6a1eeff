"""Descriptors: classes that a program never calls itself, but puts into other classes (`functools.cached_property`).

What is shared then is an object of a class that uses the descriptor, so such a class is written: a *client* with two
attributes made by the descriptor, whose functions each ask the other attribute of another client. That is the smallest
use in which one descriptor is entered while another one is at work.
"""

from __future__ import annotations

import inspect
import re
import textwrap
import types
from collections.abc import Callable
from typing import Any

from treadle.classes.decorators import examine_decorator
from treadle.classes.subject import Subject, SubjectMethod, examine, import_of, is_own, place_of
from treadle.observe.parameters import Parameter, parameters_of, parameters_of_class

# A first parameter of the constructor that is the function behind the attribute.
_FUNCTION = re.compile(r"^(f|fn|func|function|fget|getter|wrapped|callable|fun|method|meth|compute|factory)$")

_OF_FUNCTIONS = '''
def {factory}({signature}):
    """A class that uses {name}, and two objects of it: each attribute asks the other one of another object."""

    class Client:
        def __init__(self, other=None):
            self.other = other
            self.descriptors = [vars(Client)["first"], vars(Client)["second"]]

        {decorator}
        def first(self):
            return 1 if self.other is None else self.other.second + 1

        {decorator}
        def second(self):
            return 2 if self.other is None else self.other.first + 1

    return Client(Client())
'''

_OF_VALUES = '''
def {factory}({signature}):
    """A class that uses {name}, and two objects of it."""

    class Client:
        first = {name}({signature})
        second = {name}({signature})

        def __init__(self, other=None):
            self.other = other
            self.descriptors = [vars(Client)["first"], vars(Client)["second"]]

    return Client(Client())
'''


def examine_use(target: str, cls: Any) -> Subject:
    """The subject: the class or function itself, or a use of it when it is a descriptor or a decorator."""
    if is_descriptor(cls):
        return _client(target, cls)
    used = None if isinstance(cls, type | types.ModuleType) else examine_decorator(target, cls)
    return used or examine(target, cls)


def is_descriptor(cls: Any) -> bool:
    """Is a class used by putting its objects into other classes? One that can also be called is used by calling."""
    if not isinstance(cls, type):
        return False
    getter = inspect.getattr_static(cls, "__get__", None)
    return isinstance(getter, types.FunctionType) and not any("__call__" in vars(base) for base in cls.__mro__)


def _client(target: str, cls: type) -> Subject:
    plain = examine(target, cls)
    needs, name = import_of(cls)
    parameters = parameters_of_class(cls)
    functions = bool(parameters) and (
        _FUNCTION.match(parameters[0].name) is not None or "Callable" in str(parameters[0].type)
    )
    rest = parameters[1:] if functions else parameters
    factory = f"use_{name.replace('.', '_')}"
    signature = "*args, **kwargs" if any(p.required for p in rest) else ""
    source = (_OF_FUNCTIONS if functions else _OF_VALUES).format(
        factory=factory,
        name=name,
        signature=signature,
        decorator=f"@lambda function: {name}(function, {signature})" if signature else f"@{name}",
    )
    lines = (*needs, textwrap.dedent(source).strip())
    subject = Subject(target, cls, packages=plain.packages, is_used=True)
    given = tuple(p for p in rest if p.required)
    subject.constructors.append(SubjectMethod("constructor", f"{factory}({{args}})", given, needs=lines))
    _uses(subject, cls)
    # what else the descriptor offers is called on the one behind the first attribute
    protocol = ("getter", "setter", "deleter")
    subject.methods += [
        SubjectMethod(m.name, m.form.replace("{sout}", "{sout}.descriptors[0]"), m.parameters, m.expression, m.own)
        for m in plain.methods
        if m.own and m.name not in protocol and m.form.startswith("{sout}.")
    ]
    subject.skipped |= plain.skipped
    subject.notes.append(f"{name} is a descriptor: judged through a class written to use it")
    return subject


def _uses(subject: Subject, cls: Any) -> None:
    """Reading, and where the class allows it setting and deleting, an attribute of either object."""
    for owner, said in (("{sout}", ""), ("{sout}.other", "other.")):
        for attribute in ("first", "second"):
            place = f"{owner}.{attribute}"
            own = is_own(cls.__get__, cls, "__get__", subject.packages)
            where = place_of(cls.__get__)
            subject.methods.append(SubjectMethod(f"{said}{attribute}", place, own=own, where=where))
            if hasattr(cls, "__set__"):
                value = _value(cls.__set__)
                method = SubjectMethod(f"{said}{attribute}=", f"{place} = {{0}}", (value,), False, own, setter=True)
                subject.methods.append(method)
            if hasattr(cls, "__delete__"):
                subject.methods.append(
                    SubjectMethod(f"del {said}{attribute}", f"del {place}", expression=False, own=own)
                )


def _value(setter: Callable[..., Any]) -> Parameter:
    found = parameters_of(setter, skip_first=True) or ()
    return found[1] if len(found) > 1 else Parameter("value", Any)
