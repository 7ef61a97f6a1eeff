"""A search by real calls: which picked values lead a function to lines and branches that no test reaches yet?

Each call is a `Probe`: expressions for the parameters and for the receiver, and what is set on them afterwards. What a
call reached decides whether it is kept; kept ones are changed a little and tried again, those first that pass a branch
of which only one way is known. A stand-in tells which of its attributes were asked for: these are what is set next.
The search is the same every time, as far as the code is; it ends after so many calls, or after so much processor time.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import dataclasses
import enum
import functools
import inspect
import keyword
import random
import re
import signal
import sys
import time
import types
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import NonCallableMock

from treadle.doors.unit.probe_examples import example_calls
from treadle.doors.unit.probe_values import ValuePool
from treadle.doors.unit.pytest_values import NotWritable, quoted
from treadle.doors.unit.target import UnitTarget
from treadle.observe.effects import EffectGuard
from treadle.symbolic.python.compile.source import node_of

_MOST_CALLS = 4000
_MOST_CALLS_WITHOUT_NEWS = 1500
# asking for the time is slow on some systems
_CALLS_PER_LOOK = 16
# calls that end in a new way are gone on from, too, up to so many
_MOST_KEPT = 60
_SECONDS_OF_A_CALL = 0.5
# a child of a stand-in deeper than this is not looked at
_DEEPEST = 4
_MOST_PATHS = 60
# what a generator gives is taken up to this; also written into the tests
MOST_ITEMS = 20

# From line, to line, as coverage.py counts them: 0 is where a function is entered or left, (-1, line) the line itself.
Arc = tuple[int, int]


class TooLong(BaseException):
    """A call did not come back."""


@dataclass(frozen=True)
class Probe:
    """A call: parameter -> expression ('self' is the receiver), then (parameter, path, expression) that are set.

    A path that ends in a call is made before: `.put("a", 1)` with the expression ''.
    """

    given: tuple[tuple[str, str], ...]
    sets: tuple[tuple[str, str, str], ...] = ()

    def with_value(self, name: str, text: str) -> Probe:
        given = tuple((n, text if n == name else old) for n, old in self.given)
        if name not in dict(self.given):
            given = (*self.given, (name, text))
        return Probe(given, tuple(one for one in self.sets if one[0] != name))

    def without(self, name: str) -> Probe:
        return Probe(tuple(p for p in self.given if p[0] != name), tuple(s for s in self.sets if s[0] != name))

    def with_set(self, name: str, path: str, text: str) -> Probe:
        kept = tuple(s for s in self.sets if not (s[0] == name and s[1].startswith(path)))
        return Probe(self.given, (*kept, (name, path, text)))

    @property
    def oddity(self) -> int:
        """Smaller is nicer to read."""
        return sum(len(text) for _, text in self.given) + 20 * len(self.sets) + 30 * str(self.given).count("MagicMock")


@dataclass
class ProbeRun:
    """What came of a call."""

    probe: Probe
    arcs: frozenset[Arc]
    raised: BaseException | None = None
    result: Any = None
    values: dict[str, Any] = field(default_factory=dict)
    paths: list[tuple[str, str, Any]] = field(default_factory=list)

    @property
    def lines(self) -> set[int]:
        return {to for start, to in self.arcs if start == -1}


class Prober:
    """Calls one target."""

    def __init__(self, target: UnitTarget, pool: ValuePool, scratch: str, allow_effects: bool = False) -> None:
        self.target = target
        self.pool = pool
        self.scratch = scratch
        self.allow_effects = allow_effects
        self.codes = set(_codes(target.function.__code__))
        self.names = {name for code in self.codes for name in code.co_names}
        self.parameters = target.parameters()
        self._compiled: dict[str, types.CodeType] = {}
        self._first_line = dict(_first_lines(node_of(target.function.__code__)))

    # --- one call ----------------------------------------------------------------------------------------

    def call(self, probe: Probe) -> ProbeRun | None:
        """Make the values, call, look; None when the values cannot be made or the world was to be changed."""
        guard = EffectGuard(self.scratch)
        arcs: set[Arc] = set()
        reached = ProbeRun(probe, frozenset())
        with contextlib.ExitStack() as stack:
            stack.enter_context(_alarm())
            if not self.allow_effects:
                stack.enter_context(guard)
            try:
                reached.values = self.values(probe)
            except BaseException:
                return None
            try:
                with _tracing(self.codes, arcs):
                    reached.result = self._finished(self.invoke(reached.values))
            except (TooLong, KeyboardInterrupt, MemoryError):
                return None
            except BaseException as error:
                reached.raised = error
        if guard.refused:
            return None
        reached.arcs = frozenset(self._counted(arcs))
        return reached

    def _counted(self, arcs: set[Arc]) -> Iterator[Arc]:
        """A statement over several lines is its first one."""
        for start, to in arcs:
            start, to = self._first_line.get(start, start), self._first_line.get(to, to)
            if start != to:
                yield start, to
            if to:
                yield -1, to

    def values(self, probe: Probe) -> dict[str, Any]:
        made = {name: self._eval(text) for name, text in probe.given}
        for name, path, text in probe.sets:
            names = {**self.pool.namespace, "it": made[name]}
            exec(self._code(f"it{path}{f' = {text}' if text else ''}", "exec"), names)
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

    def _eval(self, text: str) -> Any:
        return eval(self._code(text, "eval"), self.pool.namespace)

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
    """The keys that a function asks its **parameter for."""
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
    return tuple(key for key in keys if key.isidentifier() and not keyword.iskeyword(key))


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
def _tracing(codes: set[types.CodeType], arcs: set[Arc]) -> Iterator[None]:
    last: dict[int, int] = {}
    raising: set[int] = set()

    def inside(frame: types.FrameType, event: str, value: Any) -> Any:
        key = id(frame)
        if event == "line":
            arcs.add((last.get(key, 0), frame.f_lineno))
            last[key] = frame.f_lineno
            raising.discard(key)
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


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def ring(number: int, frame: types.FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS_OF_A_CALL, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# --- what could be set next ------------------------------------------------------------------------------------


def paths_into(
    name: str, value: Any, mentioned: set[str], path: str = "", depth: int = 0
) -> Iterator[tuple[str, str, Any]]:
    """(parameter, path, value now) for whatever the call may have looked at."""
    if depth > _DEEPEST:
        return
    if isinstance(value, NonCallableMock):
        children = dict(value._mock_children)
        for key, child in list(children.items()):
            if (
                key.isidentifier()
                and not key.startswith(("__", "_mock", "assert_"))
                and isinstance(child, NonCallableMock)
            ):
                if not getattr(child, "called", False):
                    yield name, f"{path}.{key}", child
                yield from paths_into(name, child, mentioned, f"{path}.{key}", depth + 1)
        for key, item in list(vars(value).items()):
            if not key.startswith("_") and key not in ("method_calls", *children):
                yield from paths_into(name, item, mentioned, f"{path}.{key}", depth + 1)
        returned = getattr(value, "_mock_return_value", None)
        if getattr(value, "called", False) and isinstance(returned, NonCallableMock):
            yield name, f"{path}.return_value", returned
            yield from paths_into(name, returned, mentioned, f"{path}.return_value", depth + 1)
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value[:3]):
            yield from paths_into(name, item, mentioned, f"{path}[{place}]", depth + 1)
    elif isinstance(value, dict):
        for key, item in list(value.items())[:8]:
            if isinstance(key, str | int):
                yield from paths_into(name, item, mentioned, f"{path}[{key!r}]", depth + 1)
    elif hasattr(value, "__dict__") and not isinstance(value, type | types.ModuleType | types.FunctionType):
        for key, item in list(vars(value).items()):
            if key in mentioned and key.isidentifier():
                yield name, f"{path}.{key}", item
                yield from paths_into(name, item, mentioned, f"{path}.{key}", depth + 1)


# --- the search ------------------------------------------------------------------------------------------------


class ProbeSearch:
    """Finds calls that reach what is wanted; `kept` are those that reached something new."""

    def __init__(self, prober: Prober, wanted: set[Arc], ends: float) -> None:
        self.prober = prober
        self.pool = prober.pool
        self.wanted = set(wanted)
        self.ends = ends
        self._latest = time.monotonic() + 3 * (ends - time.process_time())
        self.random = random.Random(prober.target.text)
        self.kept: list[ProbeRun] = []
        self.seen: set[Arc] = set()
        self.after: dict[int, set[int]] = defaultdict(set)
        self._tried: set[Probe] = set()
        self._ended: set[tuple[type, int, str]] = set()
        self.calls = self._last_news = 0
        self.options: dict[str, list[str]] = {}
        self._anything = self.pool.anything()
        # parameters that may be anything, and those that a call must have
        self._free: set[str] = set()
        self._needed: list[str] = []

    def run(self) -> list[ProbeRun]:
        for probe in self._first():
            if self._over():
                return self.kept
            self._try(probe)
        while self.kept and not self._over():
            self._try(self._changed(self._parent()))
        return self.kept

    def _over(self) -> bool:
        done = bool(self.wanted) and not (self.wanted - self.seen)
        done = done or self.calls - self._last_news > _MOST_CALLS_WITHOUT_NEWS
        looks = self.calls % _CALLS_PER_LOOK == 0
        return done or self.calls >= _MOST_CALLS or (looks and self._is_late())

    def _is_late(self) -> bool:
        """The processor time is up, or on a busy machine a few times as much of the clock's."""
        return time.process_time() > self.ends or time.monotonic() > self._latest

    def _try(self, probe: Probe) -> None:
        if probe in self._tried:
            self.calls += 1  # so that a search without anything new comes to its end
            return
        self._tried.add(probe)
        self.calls += 1
        reached = self.prober.call(probe)
        if reached is None or not reached.arcs:
            return
        ended = (type(reached.raised), max(reached.lines, default=0), _words(reached.raised))
        if reached.arcs - self.seen or (ended not in self._ended and len(self.kept) < _MOST_KEPT):
            found = [p for name, value in reached.values.items() for p in paths_into(name, value, self.prober.names)]
            reached.paths = found[:_MOST_PATHS]
            self.kept.append(reached)
            if reached.arcs - self.seen:
                self._last_news = self.calls
        self._ended.add(ended)
        self.seen |= reached.arcs
        for line, to in reached.arcs:
            self.after[line].add(to)
        reached.values, reached.result = {}, None

    # --- where it starts ---------------------------------------------------------------------------------

    def _first(self) -> Iterator[Probe]:
        """The likeliest values of all, then the others of each parameter, one at a time."""
        target = self.prober.target
        if target.receiver == "self":
            self.options["self"] = self._receivers()
        needed = [p for p in self.prober.parameters if p.default is p.empty]
        examples = example_calls(target)
        for parameter in self.prober.parameters:
            meant = [call[parameter.name] for call in examples if parameter.name in call]
            found = list(dict.fromkeys([*meant, *self.pool.of_parameter(target.function, parameter)]))
            if found and self.pool.is_told(parameter.name):  # a hint is taken at its word
                self.options[parameter.name] = found
            else:
                self.options[parameter.name] = list(dict.fromkeys([*found, *self._anything]))
                self._free.add(parameter.name)
        for key in named_rest(target):
            self.options[key] = self._anything
            self._free.add(key)
        names = self._needed = [*(["self"] if target.receiver == "self" else []), *(p.name for p in needed)]
        start = Probe(tuple((name, self.options[name][0]) for name in names))
        yield start
        for call in examples:
            example = start
            for name, text in call.items():
                example = example.with_value(name, text)
            yield example
        for turn in range(1, 40):
            for name, options in self.options.items():
                if turn < len(options):
                    yield start.with_value(name, options[turn])

    def _receivers(self) -> list[str]:
        cls = self.prober.target.cls or object
        found = self.pool.of_class(cls)
        with contextlib.suppress(NotWritable):
            found = [*found, f"object.__new__({self.pool.name(cls)})"]
        return list(dict.fromkeys(found))

    # --- how it goes on ----------------------------------------------------------------------------------

    def _parent(self) -> ProbeRun:
        """Those that pass a line with one way out so far are worth most."""
        open_lines = {line for line, to in self.after.items() if len(to) == 1}
        wanted = {start if start > 0 else self._before(line) for start, line in self.wanted - self.seen}
        weights = [1 + 2 * len(one.lines & open_lines) + 20 * len(one.lines & wanted) for one in self.kept]
        return self.random.choices(self.kept, weights)[0]

    def _before(self, line: int) -> int:
        """The line that was met and is nearest above one that was not: the condition, as a rule."""
        return max((met for start, met in self.seen if start == -1 and met < line), default=0)

    def _changed(self, parent: ProbeRun) -> Probe:
        probe = parent.probe
        for _ in range(self.random.choice((1, 1, 2, 3))):
            chance = self.random.random()
            if chance < 0.15 and (before := self._call_before(probe)) is not None:
                probe = before
            elif parent.paths and chance < 0.55:
                name, path, now = self.random.choice(parent.paths)
                new = self._like(now)
                probe = probe.with_set(name, path, new) if new and name in dict(probe.given) else probe
            elif probe.sets and chance < 0.6:
                probe = dataclasses.replace(probe, sets=probe.sets[:-1])
            elif self.options:
                probe = self._other_value(probe)
        return probe

    def _call_before(self, probe: Probe) -> Probe | None:
        """The receiver brought into another state by one of its own methods."""
        made = dict(probe.given).get("self", "MagicMock")
        if "MagicMock" in made or "object.__new__" in made or not self._methods():
            return None
        method = self.random.choice(self._methods())
        needed = [p for p in list(inspect.signature(method).parameters.values())[1:] if p.default is p.empty]
        needed = [p for p in needed if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        chosen = [self.random.choice((self.pool.of_parameter(method, p) or self._anything)[:4]) for p in needed]
        named = [f"{p.name}=" if p.kind is p.KEYWORD_ONLY else "" for p in needed]
        text = f".{method.__name__}({', '.join(n + c for n, c in zip(named, chosen, strict=True))})"
        return dataclasses.replace(probe, sets=(*probe.sets, ("self", text, "")))

    @functools.cache  # noqa: B019 (a search is one call)
    def _methods(self) -> list[types.FunctionType]:
        cls = self.prober.target.cls or object
        found = {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}
        return [
            value
            for name, value in sorted(found.items())
            if isinstance(value, types.FunctionType) and not name.startswith("_") and value.__name__ == name
        ]

    def _other_value(self, probe: Probe) -> Probe:
        name = self.random.choice(list(self.options))
        optional = name not in self._needed
        if optional and name in dict(probe.given) and self.random.random() < 0.3:
            return probe.without(name)
        options = self.options[name]
        if name in self._free:
            options = options[:8] if self.random.random() < 0.5 else self.random.choice(self.pool.kinds)
        return probe.with_value(name, self._mixed(self.random.choice(options)))

    def _mixed(self, text: str) -> str:
        """Now and then two texts together, or a list of two."""
        if text[:1] in "\"'" and self.random.random() < 0.3:
            other = self.random.choice(self.pool.texts())
            with contextlib.suppress(ValueError, SyntaxError):
                return quoted(ast.literal_eval(text) + ast.literal_eval(other))
        return text

    def _like(self, now: Any) -> str:
        """Something to set: of the kind that is there, or None; anything for the unknown; nothing for an object."""
        if now is None or isinstance(now, NonCallableMock):
            return self.random.choice(self.random.choice(self.pool.kinds))
        if self.random.random() < 0.1:
            return "None"
        if isinstance(now, bool):
            return str(not now)
        if isinstance(now, int) and not isinstance(now, enum.Enum):
            return self.random.choice(self.pool.numbers())
        if isinstance(now, str):
            return self.random.choice(self.pool.texts())
        if isinstance(now, dict):
            return self.random.choice(self.pool.dicts())
        if isinstance(now, list | tuple | set):
            return self.random.choice([*self.pool.of_hint(type(now)), f"[{self.pool.stub()}]"])
        if isinstance(now, float | bytes):
            return self.random.choice(self.pool.of_hint(type(now)))
        return ""


def _words(raised: BaseException | None) -> str:
    """What an exception says, without names and what is another every time."""
    try:
        return re.sub(r"0x\w+|'[^']*'|\d+", "", str(raised))[:100] if raised is not None else ""
    except Exception:
        return ""


def simplest(prober: Prober, one: ProbeRun, wanted: frozenset[Arc]) -> ProbeRun:
    """The same without whatever is not needed to reach what is wanted."""
    for part in one.probe.sets:
        fewer = dataclasses.replace(one.probe, sets=tuple(s for s in one.probe.sets if s is not part))
        reached = prober.call(fewer)
        if reached is not None and wanted <= reached.arcs:
            one = reached
    needed = {"self", *(p.name for p in prober.parameters if p.default is p.empty)}
    for name, _ in one.probe.given:
        if name not in needed:
            reached = prober.call(one.probe.without(name))
            if reached is not None and wanted <= reached.arcs:
                one = reached
    return one


def fewest(found: list[ProbeRun], wanted: set[Arc]) -> list[ProbeRun]:
    """Few calls that together reach what all of them reach of what is wanted: those that return first."""
    left = set().union(*(one.arcs for one in found)) & wanted if found else set()
    chosen: list[ProbeRun] = []
    while left:
        best = max(found, key=lambda one: (len(one.arcs & left), one.raised is None, -one.probe.oddity))
        chosen.append(best)
        left -= best.arcs
    return chosen
