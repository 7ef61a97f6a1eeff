"""Calls and values as source text: what is run while searching is letter for letter what a written test does.

A `Value` is an expression and the lines it needs (imports, definitions); a `MethodCall` is a candidate method with
values. Evaluating a value again makes a fresh object, so executions do not see each other's arguments.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from treadle.observe.source_of import DO_NOTHING
from treadle.threads import known

# Stands for the shared object under test in the source of a value.
SOUT = "{sout}"
# How calls that are made in tasks begin.
AWAITING = ("await ", "async with ", "[one async for one in ")


@dataclass(frozen=True, slots=True)
class Value:
    """An argument: an expression, and the lines that must stand before it."""

    source: str
    needs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.source


@dataclass(frozen=True, slots=True)
class Argument:
    """A value, and the name it is passed by (empty: by its position)."""

    value: Value
    name: str = ""

    def __str__(self) -> str:
        return f"{self.name}={self.value}" if self.name else str(self.value)


@dataclass(frozen=True)
class MethodCall:
    """One call of a candidate method on the SOUT.

    `form` is the source with {sout}, {0}, {1}, ... and {args} left open; a form that is not an expression returns
    nothing. {pass} and {then}(...) stand where a call that is made of two (entering and leaving, getting something and
    closing it) is between them: other calls may come there.
    """

    method: str  # as people write it: deposit, [], in, len
    form: str
    arguments: tuple[Argument, ...] = ()
    expression: bool = True
    needs: tuple[str, ...] = field(default=())

    def source(self, sout: str = "sout") -> str:
        """The call as a line of Python."""
        text = self._fill([str(argument.value) for argument in self.arguments], sout)
        return text.replace("{pass}", "await asyncio.sleep(0)" if self.awaits else "pass").replace("{then}", "")

    def _fill(self, values: list[str], sout: str) -> str:
        named = [
            f"{argument.name}={value}" if argument.name else value
            for argument, value in zip(self.arguments, values, strict=True)
        ]
        text = self.form.replace("{args}", ", ".join(named))
        for number, value in enumerate(values):
            text = text.replace(f"{{{number}}}", value)
        return text.replace(SOUT, sout)

    def lines(self) -> tuple[str, ...]:
        """What must stand before the call."""
        return self.needs + tuple(line for argument in self.arguments for line in argument.value.needs)

    @property
    def awaits(self) -> bool:
        """Is it a call of a coroutine function?"""
        return self.form.startswith(AWAITING)

    def __str__(self) -> str:
        return self.source()

    def __hash__(self) -> int:
        return hash((self.form, self.arguments))


GIVE_NEW = "def give_new(*args, **kwargs):\n    return object()"
# Functions that are given where a function is asked for: their sources, and their names.
CALLBACKS = {
    DO_NOTHING: "do_nothing",
    "def give_one(*args, **kwargs):\n    return 1": "give_one",
    "def fail(*args, **kwargs):\n    raise ValueError('fail')": "fail",
    GIVE_NEW: "give_new",
}


class Namespace:
    """The names that sources refer to: imports and helper functions, run once per line."""

    def __init__(self, lines: tuple[str, ...] = ()) -> None:
        self.names: dict[str, Any] = {"__name__": "treadle_class_values", "__builtins__": __builtins__}
        self.done: set[str] = set()
        self.need(lines)

    def need(self, lines: tuple[str, ...]) -> None:
        for line in lines:
            if line not in self.done:
                self.done.add(line)
                exec(line, self.names)
                if line in CALLBACKS:  # to call one is no step that another thread could see
                    known.FUNCTIONS[self.names[CALLBACKS[line]]] = known.PURE

    def evaluate(self, value: Value) -> Any:
        self.need(value.needs)
        return eval(_code(value.source, "eval"), self.names)

    def function(self, source: str, needs: tuple[str, ...] = ()) -> Callable[..., Any]:
        """A function from the source of a lambda or a def."""
        self.need(needs)
        if source.startswith("lambda"):
            made = eval(_code(source, "eval"), self.names)
        else:
            local: dict[str, Any] = {}
            exec(_code(source, "exec"), self.names, local)
            made = next(iter(local.values()))
        assert callable(made)
        return made  # type: ignore[no-any-return]


@cache
def _code(source: str, mode: str) -> types.CodeType:
    return compile(source, "<treadle class>", mode)


class Ready:
    """A call that can be run: its arguments are made apart from the call itself."""

    __slots__ = ("call", "invoke", "make")

    def __init__(self, call: MethodCall, namespace: Namespace) -> None:
        self.call = call
        values = [str(argument.value).replace(SOUT, "sout") for argument in call.arguments]
        names = [f"a{number}" for number in range(len(values))]
        inner = call._fill(names, "sout").replace("{then}", "between_parts")
        inner = inner.replace("{pass}", "await between_steps()" if call.awaits else "between_parts()")
        parameters = ", ".join(["sout", *names])
        self.make = namespace.function(f"lambda sout: ({', '.join(values)}{',' * bool(values)})", call.lines())
        if call.awaits:
            result = "return " if call.expression else ""
            self.invoke = namespace.function(f"async def call({parameters}):\n    {result}{inner}", call.lines())
        elif call.expression:
            self.invoke = namespace.function(f"lambda {parameters}: {inner}", call.lines())
        else:
            self.invoke = namespace.function(f"def call({parameters}):\n    {inner}", call.lines())
