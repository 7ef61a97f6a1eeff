"""One real call with picked values: a `Probe`, and what a `Prober` saw of it.

A probe has expressions for the parameters and for the receiver, and what is set on them afterwards. A name that starts
with `@` is no parameter but what the function finds in its module (`@os.path.exists`): it is patched during the call.
One that starts with `/` is a file that is there before the call (`files`).
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import functools
import inspect
import keyword
import os
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import NonCallableMock, patch

from treadle.observe.effects import EffectGuard
from treadle.symbolic.python.compile.source import node_of
from treadle.units.probing import files
from treadle.units.probing.values import ValuePool
from treadle.units.probing.world import asking
from treadle.units.target import UnitTarget

_SECONDS_OF_A_CALL = 0.5
# of the clock's, for a call that waits; a busy machine may keep a short one waiting for long
_MOST_WAITING = 3.0
# what a generator gives is taken up to this; also written into the tests
MOST_ITEMS = 20
# names that may be given besides the parameters
_MOST_KEYS = 12

# From line, to line, as coverage.py counts them: 0 is where a function is entered or left, (-1, line) the line itself.
Arc = tuple[int, int]
# What is told of each line before it is run.
Watch = Callable[[types.FrameType], None]
PATCHED = "@"


class TooLong(BaseException):
    """A call did not come back."""


@dataclass(frozen=True)
class Probe:
    """A call: parameter -> expression ('self' is the receiver), then (parameter, path, expression) that are set.

    A path that ends in a call is made before: `.put("a", 1)` with the expression ''. `setup` are statements that stand
    before all, from an example.
    """

    given: tuple[tuple[str, str], ...]
    sets: tuple[tuple[str, str, str], ...] = ()
    setup: tuple[str, ...] = ()

    def with_value(self, name: str, text: str) -> Probe:
        given = tuple((n, text if n == name else old) for n, old in self.given)
        if name not in dict(self.given):
            given = (*self.given, (name, text))
        return replace(self, given=given, sets=tuple(one for one in self.sets if one[0] != name))

    def without(self, name: str) -> Probe:
        given = tuple(one for one in self.given if one[0] != name)
        return replace(self, given=given, sets=tuple(one for one in self.sets if one[0] != name))

    def with_set(self, name: str, path: str, text: str) -> Probe:
        kept = tuple(s for s in self.sets if not (s[0] == name and s[1].startswith(path)))
        return replace(self, sets=(*kept, (name, path, text)))

    @property
    def has_stand_ins(self) -> bool:
        return "MagicMock" in str(self)

    @property
    def oddity(self) -> int:
        """Smaller is nicer to read."""
        patched = sum(name.startswith(PATCHED) for name, _ in self.given)
        stubs = str(self.given).count("MagicMock")
        made = sum(name.startswith(files.FILE) for name, _ in self.given)
        odd = 20 * len(self.sets) + 30 * stubs + 60 * patched + 20 * made
        return sum(len(text) for _, text in self.given) + odd


@dataclass
class ProbeRun:
    """What came of a call."""

    probe: Probe
    arcs: frozenset[Arc]
    raised: BaseException | None = None
    result: Any = None
    values: dict[str, Any] = field(default_factory=dict)
    paths: list[tuple[str, str, Any]] = field(default_factory=list)
    # 'clock', 'chance', 'files' and 'temporary' (files), where the call asked for them
    asked: set[str] = field(default_factory=set)
    # what it left in its folder: path -> what the file holds, None for a folder
    left: dict[str, bytes | None] = field(default_factory=dict)
    endless: bool = False  # it did not come back
    refused: bool = False  # it wanted to change the world, or did not come back: no test can be made of it

    @property
    def lines(self) -> set[int]:
        return {to for start, to in self.arcs if start == -1}


class Prober:
    """Calls one target."""

    def __init__(self, target: UnitTarget, pool: ValuePool, scratch: str, allow_effects: bool = False) -> None:
        self.target = target
        self.pool = pool
        self.scratch = scratch
        # where calls run
        self.folder = tempfile.mkdtemp(prefix="call-", dir=scratch)
        self.allow_effects = allow_effects
        self.codes = set(_codes(target.function.__code__))
        self.names = {name for code in self.codes for name in code.co_names}
        self.parameters = target.parameters()
        # what is patched so that a call does the same every time
        self.fixed: set[str] = set()
        self._compiled: dict[str, types.CodeType] = {}
        self._first_line = dict(_first_lines(node_of(target.function.__code__)))

    # --- one call ----------------------------------------------------------------------------------------

    def call(self, probe: Probe, watch: Watch | None = None, world: bool = False) -> ProbeRun | None:
        """Make the values, call, look; None when the values cannot be made. `world`: see what it asks of the world."""
        guard = EffectGuard(self.scratch)
        arcs: set[Arc] = set()
        reached = ProbeRun(probe, frozenset())
        files.emptied(self.folder)
        with contextlib.ExitStack() as stack:
            stack.enter_context(_alarm())
            if not self.allow_effects:
                stack.enter_context(guard)
            try:
                reached.values = self.values(probe)
            except BaseException:
                return None
            try:
                package = self.target.module.__name__.partition(".")[0]
                seen = asking(package, reached.asked) if world else contextlib.nullcontext()
                with self._patched(reached.values), _tracing(self.codes, arcs, watch), seen:
                    reached.result = self._finished(self.invoke(reached.values))
            except (TooLong, KeyboardInterrupt, MemoryError):
                reached.refused = reached.endless = True
            except BaseException as error:
                reached.raised = error
        reached.refused = _streams_were_closed() or reached.refused or bool(guard.refused)
        reached.left = files.found_in(self.folder)
        reached.arcs = frozenset(self._counted(arcs))
        return reached

    @contextlib.contextmanager
    def _patched(self, values: dict[str, Any]) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            for name, value in values.items():
                if name.startswith(PATCHED):
                    stack.enter_context(patch(self.place_of(name), value, create=True))
            yield

    def place_of(self, name: str) -> str:
        """What is patched, as `unittest.mock.patch` names it."""
        return f"{self.target.function.__globals__['__name__']}.{name.removeprefix(PATCHED)}"

    def _counted(self, arcs: set[Arc]) -> Iterator[Arc]:
        """A statement over several lines is its first one."""
        for start, to in arcs:
            start, to = self.first_line(start), self.first_line(to)
            if start != to:
                yield start, to
            if to:
                yield -1, to

    def first_line(self, line: int) -> int:
        """The first line of the statement."""
        return self._first_line.get(line, line)

    def values(self, probe: Probe) -> dict[str, Any]:
        names = dict(self.pool.namespace) if probe.setup else self.pool.namespace
        for statement in probe.setup:
            exec(self._code(statement, "exec"), names)
        there = [name for name, _ in probe.given if name.startswith(files.FILE)]
        in_order = sorted(probe.given, key=lambda one: one[0] not in there)  # what is made may look at files
        made: dict[str, Any] = {}
        for name, text in in_order:
            made[name] = eval(self._code(text, "eval"), names)
            if name in there:
                files.make(name.removeprefix(files.FILE), made[name])
        for name, path, text in probe.sets:
            exec(self._code(f"it{path}{f' = {text}' if text else ''}", "exec"), {**names, "it": made[name]})
        return made

    def invoke(self, values: dict[str, Any]) -> Any:
        """The call that the test will make."""
        positional, named = arguments(self.target, list(values))
        args, kwargs = [values[name] for name in positional], {name: values[name] for name in named}
        target, name = self.target, self.target.name.rpartition(".")[2]
        if target.receiver == "self":
            me = values["self"]
            if isinstance(me, NonCallableMock):
                return target.decorated(me, *args, **kwargs)
            return getattr(me, name) if target.is_property else getattr(me, name)(*args, **kwargs)
        if target.receiver == "new":
            return target.cls(*args, **kwargs)  # type: ignore[misc]
        if target.cls is not None:
            return getattr(target.cls, name)(*args, **kwargs)
        return getattr(target.module, name)(*args, **kwargs)

    def _finished(self, value: Any) -> Any:
        if inspect.iscoroutine(value):
            return _run_coroutine(value)
        if inspect.isgenerator(value):
            return [item for item, _ in zip(value, range(MOST_ITEMS), strict=False)]
        if self.target.is_generator and hasattr(type(value), "__enter__"):
            with value as inside:
                return inside
        return value

    def _code(self, text: str, how: str) -> types.CodeType:
        if text not in self._compiled:
            self._compiled[text] = compile(text, "<probe>", how)
        return self._compiled[text]


def arguments(target: UnitTarget, given: list[str]) -> tuple[list[str], list[str]]:
    """Which of the given parameters go by position and which by name."""
    positional: list[str] = []
    named: list[str] = []
    gap = False
    for parameter in target.parameters():
        if parameter.name not in given:
            gap = True
        elif gap or parameter.kind is parameter.KEYWORD_ONLY:
            named.append(parameter.name)
        else:
            positional.append(parameter.name)
    named += [name for name in given if name in named_rest(target)]
    return positional, named


@functools.cache
def _named_rest(function: types.FunctionType) -> tuple[str, ...]:
    """The keys that a function asks its **parameter for; where it walks over them, all words that it mentions."""
    found = inspect.signature(function).parameters.values()
    rest = next((p.name for p in found if p.kind is p.VAR_KEYWORD), None)
    keys: dict[str, None] = {}
    for node in ast.walk(node_of(function.__code__)):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str() as key)) if name == rest:
                keys[key] = None
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="get" | "pop" | "setdefault"),
                args=[ast.Constant(value=str() as key), *_],
            ) if name == rest:
                keys[key] = None
            case ast.Compare(left=ast.Constant(value=str() as key), comparators=[ast.Name(id=name)]) if name == rest:
                keys[key] = None
            case ast.Attribute(value=ast.Name(id=name), attr="items" | "keys") | ast.For(iter=ast.Name(id=name)) if (
                name == rest
            ):
                keys |= dict.fromkeys(_words(function))
    usable = [key for key in keys if key.isidentifier() and not keyword.iskeyword(key)]
    return tuple(usable[:_MOST_KEYS])


def _words(function: types.FunctionType) -> list[str]:
    tree = node_of(function.__code__)
    body = tree.body if isinstance(tree.body, list) else [tree.body]
    nodes = (node for part in body for node in ast.walk(part))
    return ["key", *(n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))]


def named_rest(target: UnitTarget) -> tuple[str, ...]:
    """What can be given by name besides the parameters."""
    taken = {"self", *(p.name for p in target.parameters())}
    return tuple(key for key in _named_rest(target.function) if key not in taken)


def _run_coroutine(coroutine: Any) -> Any:
    return asyncio.run(asyncio.wait_for(coroutine, _SECONDS_OF_A_CALL))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _first_lines(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """Line -> the first line of its statement; of a compound one, of what stands before its body."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node is not tree:
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            first = body[0] if isinstance(body, list) else None
            last = first.lineno - 1 if isinstance(first, ast.stmt) else node.end_lineno or node.lineno
            if not isinstance(node, ast.Match | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Try):
                yield from ((line, node.lineno) for line in range(node.lineno + 1, last + 1))


@contextlib.contextmanager
def _tracing(codes: set[types.CodeType], arcs: set[Arc], watch: Watch | None) -> Iterator[None]:
    last: dict[int, int] = {}
    raising: set[int] = set()

    def inside(frame: types.FrameType, event: str, value: Any) -> Any:
        key = id(frame)
        if event == "line":
            arcs.add((last.get(key, 0), frame.f_lineno))
            last[key] = frame.f_lineno
            raising.discard(key)
            if watch is not None:
                watch(frame)
        elif event == "exception":
            raising.add(key)
        elif event == "return" and (value is not None or key not in raising):
            arcs.add((last.get(key, 0), 0))
        return inside

    def entered(frame: types.FrameType, event: str, _: Any) -> Any:
        if frame.f_code not in codes:
            return None
        last.setdefault(id(frame), 0)
        return inside

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        yield
    finally:
        sys.settrace(before)


def _streams_were_closed() -> bool:
    """Whether the call has closed a standard stream, as `open(1)` does when it is done; they are opened again."""
    closed = False
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
            closed = True
    return closed


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def ring(number: int, frame: types.FrameType | None) -> None:
        raise TooLong

    clocks = {
        signal.SIGALRM: (signal.ITIMER_REAL, _MOST_WAITING),
        signal.SIGPROF: (signal.ITIMER_PROF, _SECONDS_OF_A_CALL),
    }
    before = {number: signal.signal(number, ring) for number in clocks}
    for clock, seconds in clocks.values():
        signal.setitimer(clock, seconds, 0.1)
    try:
        yield
    finally:
        for number, (clock, _) in clocks.items():
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])
