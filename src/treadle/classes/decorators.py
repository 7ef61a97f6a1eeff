"""Decorators: functions that a program puts around its own functions (`memoize`, `cached(ttl=60)`, `singleton`).

What is shared then is the function that the decorator returns, so a function is written for it to decorate: one that
gives a new object each time, so that it shows when an answer is not the one that is remembered. Whether a function is
a decorator, of functions or of coroutines, and what it takes beside, is found out by decorating.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import sys
import textwrap
from typing import Any

from treadle.classes.pools import Pools
from treadle.classes.subject import Subject, SubjectMethod, packages_of, place_of, time_passes
from treadle.observe.effects import EffectGuard
from treadle.observe.parameters import Parameter, hints_of, parameters_of

# A first parameter that is the function, or the class, to decorate.
_DECORATED = re.compile(
    r"^_*(f|fn|func|function|fget|wrapped|callable|fun|method|meth|coro|user_function|cls|klass)_*$"
)

_USE = '''
def use_{name}(*args, **kwargs):
    """A function behind {name}: each call of it makes a new object."""

    {kind} answer(key=None):{waits}
        return object()

    return {decorated}
'''
_WAITS = "\n        await asyncio.sleep(0)"

# Ways to call the decorator that are tried.
_MOST_TRIALS = 12


def examine_decorator(target: str, function: Any) -> Subject | None:
    """The subject: a function behind the decorator. None where the function is no decorator."""
    parameters = parameters_of(function, skip_first=False)
    if parameters is None or not _may_be(function, parameters):
        return None
    module, name = sys.modules[inspect.unwrap(function).__module__], target.partition(":")[2]
    subject = Subject(target, module, packages=packages_of(module), is_used=True)
    pools = Pools(subject, {})
    first = bool(parameters) and _DECORATED.match(parameters[0].name) is not None
    ways = [(f"{name}(answer, *args, **kwargs)", parameters[1:])] if first else []
    if not first or not parameters[0].required:
        ways.append((f"{name}(*args, **kwargs)(answer)", parameters[first:]))
    for (decorated, given), waits in itertools.product(ways, ("", _WAITS)):
        kind = "async def" if waits else "def"
        source = textwrap.dedent(_USE).strip().format(name=name, kind=kind, waits=waits, decorated=decorated)
        lines = (*(("import asyncio",) if waits else ()), f"from {module.__name__} import {name}", source)
        constructor = SubjectMethod("decorator", f"use_{name}({{args}})", given, needs=lines)
        made = _decorated(constructor, pools, bool(waits))
        if made is not None:
            subject.constructors.append(constructor)
            subject.notes.append(f"{name} is a decorator: judged through a function written for it")
            _uses(subject, made, "await " if waits else "")
            time_passes(subject)
            return subject
    return None


def _may_be(function: Any, parameters: tuple[Parameter, ...]) -> bool:
    """Do its parameters, its hints, its documentation or its source say that it is a decorator?"""
    if parameters and _DECORATED.match(parameters[0].name):
        return True
    if "Callable" in str(hints_of(function).get("return")) or "decorat" in (inspect.getdoc(function) or "").lower():
        return True
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return False
    inner = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    returned = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
    return any(isinstance(value, ast.Name) and value.id in inner for value in returned)


def _decorated(constructor: SubjectMethod, pools: Pools, waits: bool) -> Any:
    """What the decorator returns, if that is another thing that can be called; None otherwise."""
    for call in itertools.islice(pools.calls(constructor), _MOST_TRIALS):
        try:
            pools.namespace.need(call.lines())
            with EffectGuard():
                made = eval(call.source(), pools.namespace.names)
        except Exception:
            continue
        bare = getattr(made, "__name__", "") == "answer" and not hasattr(made, "__wrapped__")
        coroutine = any(map(inspect.iscoroutinefunction, (made, inspect.getattr_static(made, "__call__", None))))
        if callable(made) and not bare and coroutine == waits:
            return made
    return None


def _uses(subject: Subject, made: Any, waits: str) -> None:
    """Calls of the function behind the decorator, and what else the decorator has put there (`cache_clear`)."""
    subject.in_tasks = bool(waits)
    key = Parameter("key", str)
    subject.methods.append(SubjectMethod("()", f"{waits}{{sout}}({{0}})", (key,)))
    for name in dir(made):
        value = inspect.getattr_static(made, name)
        parameters = parameters_of(value, skip_first=name not in vars(made)) if callable(value) else None
        if name.startswith("_") or parameters is None or hasattr(type(lambda: 0), name):
            continue
        wait = "await " if inspect.iscoroutinefunction(value) else ""
        form = f"{wait}{{sout}}.{name}({{args}})"
        subject.methods.append(SubjectMethod(name, form, parameters, where=place_of(value)))
