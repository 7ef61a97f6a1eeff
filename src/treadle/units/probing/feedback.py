"""What a call teaches about the next one: what it compared, what it lacked, what it was refused.

A condition of which only one way was seen is looked at while the call runs: both sides of a comparison, the classes of
an `isinstance`, a value that was asked whether it is true. Where such a value stands among the inputs, the value that
turns the condition over is put there; else it joins the words and numbers that are tried by chance. An attribute or key
that was missing is set. A function of the module that raised, was refused or decided a condition is patched by a
stand-in, as a person would do it; a handler that was never entered gets its exception from a stand-in.

Nothing here is believed: each proposal is one more call.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from typing import Any
from unittest.mock import NonCallableMock

from treadle.symbolic.python.compile.source import node_of
from treadle.symbolic.python.values.matching import matching
from treadle.units.imports import NotWritable
from treadle.units.probing import files
from treadle.units.probing.call import PATCHED, Probe, Prober, ProbeRun
from treadle.units.probing.places import Place, at_places, places_in
from treadle.units.probing.seen import UNCHANGING, Unseen, outline, value_of
from treadle.units.target import with_callees
from treadle.units.value_source import quoted, written

_MOST_SEEN = 200
_LONGEST = 80
_LONGEST_SIZE = 40
_MOST_IN_TURN = 4
_MOST_FILES = 3
_BUILTIN_EFFECTS = ("open", "input")
# Whoever calls, traces and patches needs the functions of these.
_NEEDED_MODULES = frozenset({
    *("abc", "asyncio", "builtins", "collections", "contextlib", "copy", "functools", "importlib"),
    *("inspect", "itertools", "operator", "re", "signal", "sys", "threading", "types", "typing", "unittest"),
    *("warnings", "weakref"),
})  # fmt: skip
# line, number of a part of its condition, outline of a value
Sketch = tuple[int, int, str]


# --- what is looked at -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LookedAt:
    """A value that a condition looked at, and the sources of values that may turn it over."""

    value: Any
    texts: tuple[str, ...]
    attribute: str = ""  # of the value, if not the value itself is to be another
    chain: str = ""  # what the module calls it
    is_part: bool = False  # of a condition that has others, which may decide it, or what is walked over


def _atoms(test: ast.expr) -> Iterator[ast.expr]:
    """The conditions of which one is made."""
    match test:
        case ast.BoolOp(values=parts):
            for part in parts:
                yield from _atoms(part)
        case ast.UnaryOp(op=ast.Not(), operand=inside) | ast.NamedExpr(value=inside):
            yield from _atoms(inside)
        case _:
            yield test


class Feedback:
    """Proposals for one target."""

    def __init__(self, prober: Prober, told: frozenset[str]) -> None:
        self.prober = prober
        self.pool = prober.pool
        # parameters whose type is known: they get no value of another one
        self.told = told
        self.conditions: dict[int, list[ast.expr]] = {}
        self.walks: dict[int, list[ast.expr]] = {}
        # first and last lines of conditions and loops
        self.heads: list[tuple[int, int]] = []
        # methods that are called
        self.methods: dict[int, list[ast.Attribute]] = {}
        self.chains: dict[int, dict[str, ast.expr]] = {}
        # (first line of a try, its last, first line of a handler, its class)
        self.handlers: list[tuple[int, int, int, ast.expr | None]] = []
        # calls that turn over a part of a condition: they may reach nothing new, and yet be a step on the way
        self.steps: set[Probe] = set()
        self._globals = prober.target.function.__globals__
        called = with_callees(prober.target.function)
        self._asks_for_files = files.asks_for_files({name for one in called for name in one.__code__.co_names})
        tree = node_of(prober.target.function.__code__)
        for node in ast.walk(tree):
            self._read(node)
        for statement in (n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n is not tree):
            self._read_chains(statement)

    def _read(self, node: ast.AST) -> None:
        if isinstance(node, ast.If | ast.While | ast.For | ast.AsyncFor):
            self.heads.append((node.lineno, node.body[-1].end_lineno or node.lineno))
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
                self.conditions.setdefault(test.lineno, []).extend(_atoms(test))
            case ast.Call(func=ast.Attribute() as called):
                for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                    self.methods.setdefault(line, []).append(called)
            case ast.For(iter=walked) | ast.AsyncFor(iter=walked):
                self.walks.setdefault(walked.lineno, []).append(walked)
            case ast.comprehension(iter=walked, ifs=tests):
                self.walks.setdefault(walked.lineno, []).append(walked)
                for test in tests:
                    self.conditions.setdefault(test.lineno, []).extend(_atoms(test))
            case ast.Return(value=ast.Compare() | ast.BoolOp() as test):
                self.conditions.setdefault(test.lineno, []).extend(_atoms(test))
            case ast.Match(subject=subject):
                self.conditions.setdefault(subject.lineno, []).extend(
                    ast.copy_location(ast.Compare(subject, [ast.Eq()], [p.value]), subject)
                    for case in node.cases
                    for p in ast.walk(case.pattern)
                    if isinstance(p, ast.MatchValue)
                )
            case ast.Try(body=body, handlers=handlers):
                last = body[-1].end_lineno or body[-1].lineno
                self.handlers += [(body[0].lineno, last, h.lineno, h.type) for h in handlers]

    def around(self, lines: set[int]) -> set[int]:
        """The conditions and loops around conditions in these lines: with other answers, more may come there."""
        asked = [line for line in lines if line in self.conditions]
        return {head for head, last in self.heads for line in asked if head < line <= last}

    def _read_chains(self, statement: ast.stmt) -> None:
        """What a statement takes from its module: `os.path.exists`, `open`, `HAS_COLOUR`."""
        own = [n for name, n in ast.iter_fields(statement) if name not in ("body", "orelse", "finalbody", "handlers")]
        heads = [part for n in own for part in (n if isinstance(n, list) else [n]) if isinstance(part, ast.AST)]
        for node in (n for head in heads for n in ast.walk(head)):
            text = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
            if text and re.fullmatch(r"[A-Za-z_][\w.]*", text) and self._may_patch(text):
                longest = self.chains.setdefault(statement.lineno, {})
                if not any(other.startswith(f"{text}.") for other in longest):
                    longest[text] = node  # type: ignore[assignment]

    def _may_patch(self, text: str) -> bool:
        first, _, rest = text.partition(".")
        if first not in self._globals:
            return text in _BUILTIN_EFFECTS
        value, owner = self._globals[first], None
        for part in filter(None, rest.split(".")):
            value, owner = getattr(value, part, None), value
        if isinstance(owner, types.ModuleType) and owner.__name__.partition(".")[0] in _NEEDED_MODULES:
            return not callable(value)  # sys.platform
        if isinstance(value, type) and (issubclass(value, BaseException) or value in self.pool.mentioned.classes):
            return False
        return not isinstance(value, types.ModuleType | re.Pattern | dict) and not first.startswith("__")

    # --- one call ----------------------------------------------------------------------------------------

    def proposals(self, one: ProbeRun, open_lines: set[int]) -> list[Probe]:
        """The calls that this one suggests, those of its conditions first."""
        seen: list[LookedAt] = []
        lacking = self.prober.call(one.probe, lambda frame: self._look(frame, open_lines, seen))
        if lacking is None:
            return []
        places = self._places(lacking.values)
        with contextlib.suppress(Exception):  # what the call has changed is as it was
            places += self._places(self.prober.values(one.probe))
        found = [*self._filed(one.probe, lacking, places)]
        found += [*self._turned(one.probe, seen, places), *self._lacked(lacking, places)]
        found += [*self._handled(lacking, places), *self._patched(lacking, open_lines)]
        found += self._replaced(lacking, places)
        return list(dict.fromkeys(found))

    def _places(self, values: dict[str, Any]) -> list[Place]:
        inside = [p for name, value in values.items() for p in places_in(name, value, self.prober.names)]
        return [*((name, "", value) for name, value in values.items()), *inside]

    def _look(self, frame: types.FrameType, open_lines: set[int], seen: list[LookedAt]) -> None:
        line = frame.f_lineno
        if line not in open_lines or len(seen) > _MOST_SEEN:
            return
        atoms = self.conditions.get(line, [])
        for atom in atoms:
            with contextlib.suppress(Unseen):  # what was seen before is there
                seen += (replace(one, is_part=len(atoms) > 1) for one in self._of_condition(atom, frame))
        for walked in self.walks.get(line, ()):
            with contextlib.suppress(Unseen):
                seen += (replace(one, is_part=True) for one in self._of_walk(walked, frame))

    def sketch(self, frame: types.FrameType, open_lines: set[int], found: set[Sketch]) -> None:
        """In outline, of what the conditions in open lines are asked."""
        line = frame.f_lineno
        if line not in open_lines or line not in self.conditions:
            return
        for number, atom in enumerate(self.conditions[line]):
            for part in [atom.left, *atom.comparators] if isinstance(atom, ast.Compare) else [atom]:
                with contextlib.suppress(Unseen):
                    found.add((line, number, outline(value_of(part, frame, asks=False))))

    def _of_walk(self, walked: ast.expr, frame: types.FrameType) -> Iterator[LookedAt]:
        match walked:  # what is walked over, without the words around it
            case ast.Call(func=ast.Name(), args=[inside, *_]) | ast.Call(func=ast.Attribute(value=inside), args=[]):
                with contextlib.suppress(Unseen):
                    yield LookedAt(value_of(inside, frame), self._walkable(inside is not walked))
        yield LookedAt(value_of(walked, frame), self._walkable(False))

    def _walkable(self, pairs: bool) -> tuple[str, ...]:
        stub = self.pool.stub()
        # lists, since their parts can be set
        shapes = [f"[[{', '.join([t] * n)}]]" for n in self.pool.mentioned.unpacked for t in (stub, '"a"', "1")]
        return ('{"a": 1}' if pairs else '["a"]', f"[{stub}]", "[1]", *shapes, f'{{"a": {stub}}}', "[]")

    def _of_condition(self, atom: ast.expr, frame: types.FrameType) -> Iterator[LookedAt]:
        match atom:
            case ast.Compare(left=left, ops=ops, comparators=rights):
                for op, one, two in zip(ops, [left, *rights], rights, strict=False):
                    yield from self._of_comparison(op, one, two, frame)
            case ast.Call(func=ast.Name(id="isinstance"), args=[inside, kinds]):
                classes = _flat(value_of(kinds, frame))
                texts = [text for cls in classes for text in self.pool.of_class(cls, 1)[:3]]
                yield LookedAt(value_of(inside, frame), (*texts, self.pool.stub(), "1", '"a"', "None"))
            case ast.Call(func=ast.Attribute(value=inside, attr=method), args=[argument, *_]) if method in (
                "startswith",
                "endswith",
            ) and isinstance(value_of(inside, frame), str | bytes):
                for part in (p for p in _flat(value_of(argument, frame)) if isinstance(p, str | bytes)):
                    more: Any = "a" if isinstance(part, str) else b"a"
                    with_more = part + more if method == "startswith" else more + part
                    yield from self._at(inside, frame, (_source(part), _source(with_more)))
            case ast.Call(func=ast.Attribute(value=pattern), args=[*given]) if given:
                yield from self._of_pattern(pattern, given, frame)
                yield from self._of_truth(atom, frame)
            case _:
                yield from self._of_truth(atom, frame)

    def _of_pattern(self, pattern: ast.expr, given: list[ast.expr], frame: types.FrameType) -> Iterator[LookedAt]:
        with contextlib.suppress(Unseen):
            known = value_of(pattern, frame)
            if known is re and len(given) > 1:
                known, given = value_of(given[0], frame), given[1:]
            texts = matching(getattr(known, "pattern", known), getattr(known, "flags", 0)) if known is not re else []
            yield from self._at(given[0], frame, tuple(map(quoted, texts[:5])))

    def _of_truth(self, atom: ast.expr, frame: types.FrameType) -> Iterator[LookedAt]:
        match atom:
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if hasattr(value_of(owner, frame), "__dict__"):
                made = self.pool.stub().removesuffix("()")
                texts = tuple(f"{made}(return_value={text})" for text in ("True", "False", "None"))
                texts += tuple(self._in_turn(made, ast.unparse(atom.func)))
                yield LookedAt(value_of(owner, frame), texts, f".{method}")
        value = value_of(atom, frame)
        yield LookedAt(value, self._opposite(value))
        match atom:
            case ast.Call(func=ast.Attribute(value=inside, attr=asked)) if asked.startswith("is"):
                yield from self._at(inside, frame, ('"1"', '"a"', '"A"', '" "', '"A1"', '""'))

    def _opposite(self, value: Any) -> tuple[str, ...]:
        stub = self.pool.stub()
        match value:
            case NonCallableMock():
                return ("None", "False", '""', "[]", "0")
            case None:
                return (stub, "True", '"a"', "1", '["a"]', '{"a": 1}')
            case bool():
                return (str(not value),)
            case str():
                return ('""',) if value else ('"a"', '"1"')
            case int() | float():
                return ("0",) if value else ("1", "2")
            case dict():
                return ("{}",) if value else ('{"a": 1}', f'{{"a": {stub}}}')
            case list() | tuple() | set():
                return ("[]",) if value else ('["a"]', f"[{stub}]")
        return ("None",)

    def _of_comparison(self, op: ast.cmpop, one: ast.expr, two: ast.expr, frame: types.FrameType) -> Iterator[LookedAt]:
        right = left = Unseen
        with contextlib.suppress(Unseen):
            right = value_of(two, frame)
        with contextlib.suppress(Unseen):
            left = value_of(one, frame)
        if right is not Unseen:
            yield from self._sized(one, right, frame)
            yield from self._at(one, frame, self._like(right, op, left))
        if left is not Unseen:
            if isinstance(op, ast.In | ast.NotIn):
                yield from self._at(two, frame, self._holding(left, right))
            else:
                yield from self._sized(two, left, frame)
                yield from self._at(two, frame, self._like(left, op, right))

    def _at(self, node: ast.expr, frame: types.FrameType, texts: tuple[str, ...]) -> Iterator[LookedAt]:
        """A value and those that it was made from: `x.lower()` was x."""
        with contextlib.suppress(Unseen):
            chain = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
            own = chain in self.chains.get(self.prober.first_line(frame.f_lineno), ())
            yield LookedAt(value_of(node, frame), texts, chain=chain if own else "")
        match node:
            case ast.Call(func=ast.Attribute(value=inside)) | ast.Call(func=ast.Name(), args=[inside, *_]):
                yield from self._at(inside, frame, texts)
            case ast.Attribute(value=inside, attr=name):
                yield from self._at(inside, frame, tuple(self._replaced_in(inside, name, texts, frame)))
            case ast.Subscript(value=inside, slice=ast.Constant(value=0) | ast.Slice()):
                yield from self._at(inside, frame, texts)
            case ast.BinOp(left=inside, op=ast.Add() | ast.Sub() as op, right=other):
                yield from self._at(inside, frame, tuple(_without(op, value_of(other, frame), texts)))

    def _replaced_in(self, owner: ast.expr, name: str, texts: tuple[str, ...], frame: types.FrameType) -> Iterator[str]:
        """An unchanging object with another value of an attribute, if it has a way to say so: `day.replace(hour=6)`."""
        value = value_of(owner, frame)
        change = getattr(value, "_replace", getattr(value, "replace", None))
        if isinstance(value, str | bytes | NonCallableMock) or not isinstance(value, UNCHANGING):
            return
        for text in texts:
            with contextlib.suppress(Exception):
                yield from self._text(change(**{name: ast.literal_eval(text)}))  # type: ignore[misc]

    def _sized(self, node: ast.expr, size: Any, frame: types.FrameType) -> Iterator[LookedAt]:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[inside]) if isinstance(size, int) and size < _LONGEST_SIZE:
                value, sizes = value_of(inside, frame), (size, size + 1, max(size - 1, 0))
                if isinstance(value, str):
                    yield LookedAt(value, tuple(quoted((value or "a") * n)[: n + 1] + '"' for n in sizes))
                else:
                    part = self.pool.stub() if isinstance(value, NonCallableMock) else '"a"'
                    yield LookedAt(value, tuple(f"[{', '.join([part] * n)}]" for n in sizes))

    def _like(self, value: Any, op: ast.cmpop, other: Any) -> tuple[str, ...]:
        """Sources of what stands to a value as the operator may ask: the same, its neighbours, its members."""
        if isinstance(op, ast.In | ast.NotIn):
            members = (
                list(itertools.islice(value, 6)) if isinstance(value, dict | list | tuple | set | frozenset) else []
            )
            members += [value] if isinstance(value, str) else []
            return tuple(text for member in members for text in self._text(member))
        if isinstance(op, ast.Is | ast.IsNot) and value is None and other is None:
            return self._opposite(None)
        if type(value) in (int, float):
            return (repr(value), repr(value + 1), repr(value - 1))
        if isinstance(value, NonCallableMock) and isinstance(other, NonCallableMock):
            return ('"a"',)  # both of them
        return tuple(self._text(value))

    def _holding(self, member: Any, container: Any) -> tuple[str, ...]:
        """Containers with the member."""
        text = next(iter(self._text(member)), "")
        if not text:
            return ()
        if isinstance(container, str | bytes):
            return (text,)
        return (f"[{text}]", f"{{{text}: 1}}", f"{{{text}: {self.pool.stub()}}}")

    def _text(self, value: Any) -> Iterator[str]:
        with contextlib.suppress(NotWritable, Exception):
            text = written(value, self.pool.imports)
            if len(text) <= _LONGEST:
                self.pool.know_imports()
                yield text

    # --- what follows from it ----------------------------------------------------------------------------

    def _turned(self, probe: Probe, seen: list[LookedAt], places: list[Place]) -> Iterator[Probe]:
        """Each value that was looked at is another, then all of them are."""
        every = probe
        for one in seen:
            here = at_places(one.value, places) if not one.chain else [(PATCHED + one.chain, "", one.value)]
            for place in here:
                for number, text in enumerate(one.texts):
                    turned = self._with(probe, one, place, text)
                    if turned is not None:
                        if one.is_part:
                            self.steps.add(turned)
                        yield turned
                        every = (self._with(every, one, place, text) or every) if not number else every
            if not here:
                self.pool.notice(one.texts)
                parts = list(self._within(probe, one, places))
                self.steps.update(parts if one.is_part else ())
                yield from parts
        yield every

    def _within(self, probe: Probe, one: LookedAt, places: list[Place]) -> Iterator[Probe]:
        """What was looked at is a part of a text that was given: that part is another."""
        news = list(map(_literal, one.texts))
        pairs = [(one.value, new) for new in news if type(new) is type(one.value) in (str, bytes)]
        if type(one.value) is int:  # 7 may stand there as 07
            widths = dict.fromkeys((len(str(one.value)), 2, 4))
            pairs = [(f"{one.value:0{w}}", f"{new:0{w}}") for w in widths for new in news if type(new) is int]
        for name, path, whole in places:
            held: Any = str(whole) if isinstance(whole, PurePath) else whole
            for part, new in pairs if isinstance(held, str | bytes) else ():
                if part and type(part) is type(held) and part in held:
                    for changed in dict.fromkeys((held.replace(part, new, 1), new.join(held.rsplit(part, 1)))):
                        made = changed if held is whole else type(whole)(changed)
                        yield from (_put(probe, name, path, source) for source in self._text(made))

    def _with(self, probe: Probe, one: LookedAt, place: Place, text: str) -> Probe | None:
        name, path, value = place
        if one.attribute:
            real = not isinstance(value, NonCallableMock | type | types.ModuleType)
            return probe.with_set(name, path + one.attribute, text) if real else None
        if path or self._fits(name, value, text):
            return _put(probe, name, path, text)
        number = _literal(text)
        if isinstance(value, Decimal | Fraction | float) and type(number) in (int, float):
            return next((_put(probe, name, path, source) for source in self._text(type(value)(number))), None)
        return None

    def _fits(self, name: str, value: Any, text: str) -> bool:
        """A parameter whose type is known gets values of that type."""
        if name not in self.told:
            return name != "self"
        with contextlib.suppress(Exception):
            return type(self.pool.value(text)) is type(value)
        return False

    def _lacked(self, one: ProbeRun, places: list[Place]) -> Iterator[Probe]:
        """An attribute that is missing is set, as is a key; what has the wrong type becomes a stand-in."""
        error, stub = one.raised, self.pool.stub()
        values = (stub, '"a"', "1", "[]", "{}", "None")
        if isinstance(error, AttributeError) and error.name:
            for name, path, value in at_places(error.obj, places):
                if isinstance(value, NonCallableMock) and value._spec_class is not None:  # what only its objects have
                    yield one.probe.with_set(name, f"{path}.{error.name}", stub)
                if hasattr(value, "__dict__") and not isinstance(value, NonCallableMock):
                    yield from (one.probe.with_set(name, f"{path}.{error.name}", text) for text in values)
                elif path or name not in self.told:
                    yield _put(one.probe, name, path, stub)
        elif isinstance(error, KeyError) and error.args and isinstance(error.args[0], str | int):
            for name, path, value in places:
                if isinstance(value, dict) and (path or name not in self.told):
                    yield from (one.probe.with_set(name, f"{path}[{error.args[0]!r}]", text) for text in values)
        elif isinstance(error, ValueError) and (parts := re.search(r"unpack \(expected (\d+)", str(error))):
            several = f"({', '.join([stub] * int(parts[1]))},)"
            for name, path, value in places:
                if isinstance(value, NonCallableMock) and (path or name not in (*self.told, "self")):
                    yield _put(one.probe, name, path, several)
        elif isinstance(error, TypeError | IndexError | ValueError):
            for name, path, value in places:
                plain = value is None or type(value) in (int, str, list, tuple)
                if plain and (path or name not in (*self.told, "self")):
                    yield _put(one.probe, name, path, stub)

    def _handled(self, one: ProbeRun, places: list[Place]) -> Iterator[Probe]:
        """Exceptions for handlers that were not entered, from the stand-ins that were called, and from the module."""
        for first, last, handler, kind in self.handlers:
            if handler in one.lines or not any(first <= line <= last for line in one.lines):
                continue
            classes = _flat(self._evaluated(kind)) if kind is not None else [Exception]
            for cls in [c for c in classes if isinstance(c, type) and issubclass(c, BaseException)][:2]:
                with contextlib.suppress(NotWritable):
                    text = self._raising(cls)
                    for name, path, _ in places:
                        if path.endswith(".return_value"):
                            raising = path.removesuffix(".return_value") + ".side_effect"
                            yield one.probe.with_set(name, raising, text)
                    for line in sorted(one.lines):
                        if first <= line <= last:
                            for chain in self.chains.get(line, ()):
                                stand_in = f"{self.pool.stub().removesuffix('()')}(side_effect={text})"
                                yield one.probe.with_value(PATCHED + chain, stand_in)

    def _raising(self, cls: type) -> str:
        name = self.pool.name(cls)
        for given in ("", '"a"'):
            with contextlib.suppress(Exception):
                cls(*([given.strip('"')] if given else []))
                return f"{name}({given})" if given else name
        raise NotWritable(name)

    def _evaluated(self, node: ast.expr) -> Any:
        with contextlib.suppress(Exception):
            return eval(ast.unparse(node), self._globals)
        return None

    def _patched(self, one: ProbeRun, open_lines: set[int]) -> Iterator[Probe]:
        """What the module gives is replaced where the call ended in it, or a condition asked it."""
        stub = self.pool.stub()
        ended = max((line for line in one.lines), default=0) if one.refused or one.raised is not None else 0
        traceback = one.raised.__traceback__ if one.raised is not None else None
        while traceback is not None:
            if traceback.tb_frame.f_code in self.prober.codes:
                ended = traceback.tb_lineno
            traceback = traceback.tb_next
        for line in sorted({ended, *(open_lines & one.lines)}):
            every = one.probe
            for chain, node in self.chains.get(self.prober.first_line(line), {}).items():
                for text in self._instead(self._evaluated(node), line == ended, chain):
                    yield one.probe.with_value(PATCHED + chain, text)
                if callable(self._evaluated(node)):
                    every = every.with_value(PATCHED + chain, stub)
                    yield every

    def _replaced(self, one: ProbeRun, places: list[Place]) -> Iterator[Probe]:
        """A method of an input that the call ended in is replaced."""
        traceback = one.raised.__traceback__ if one.raised is not None else None
        while traceback is not None:
            frame, line = traceback.tb_frame, traceback.tb_lineno
            if frame.f_code in self.prober.codes and traceback.tb_next is not None:
                for node in self.methods.get(line, ()):
                    with contextlib.suppress(Unseen):
                        owner = value_of(node.value, frame)
                        real = hasattr(owner, "__dict__") and not isinstance(owner, NonCallableMock | type)
                        for name, path, _ in at_places(owner, places) if real else ():
                            yield one.probe.with_set(name, f"{path}.{node.attr}", self.pool.stub())
            traceback = traceback.tb_next

    def _filed(self, probe: Probe, one: ProbeRun, places: list[Place]) -> Iterator[Probe]:
        """Files where the inputs say, and where the call looked for one."""
        missing = [one.raised.filename] if isinstance(one.raised, FileNotFoundError | NotADirectoryError) else []
        asks = self._asks_for_files or bool(missing)
        named = [value for _, path, value in places if asks and (not path or path.startswith("."))]
        words = list(self.pool.mentioned.words)
        texts = [*map(quoted, files.contents(words)), "None"]
        inside = ["a.txt", *(word for word in words if re.fullmatch(r"\.?\w+\.\w+", word))]
        there = {name for name, _ in probe.given if name.startswith(files.FILE)}
        for path in list(dict.fromkeys(filter(None, map(files.plain_path, [*missing, *named]))))[:_MOST_FILES]:
            if not any(name.startswith(files.FILE + path) for name in there):
                yield from (probe.with_value(files.FILE + path, text) for text in texts)
                yield from (probe.with_value(f"{files.FILE}{path}/{name}", texts[0]) for name in inside)
        if not there and any(str(value) == "." for value in named if isinstance(value, str | PurePath)):
            yield from (probe.with_value(files.FILE + name, texts[0]) for name in inside)

    def _instead(self, value: Any, ended: bool, chain: str) -> tuple[str, ...]:
        stub = self.pool.stub()
        if not callable(value):
            return (*self._opposite(value), stub) if value is not None else (stub,)
        made = stub.removesuffix("()")
        results = ("False", "None", "True", '"a"', "[]") if not ended else ()
        return (stub, *(f"{made}(return_value={text})" for text in results), *self._in_turn(made, chain))

    def _in_turn(self, made: str, called: str) -> Iterator[str]:
        """Stand-ins for what several conditions ask, as a parser does: no to the first, yes to the next."""
        atoms = [atom for atoms in self.conditions.values() for atom in atoms]
        asked = sum(isinstance(a, ast.Call) and ast.unparse(a.func) == called for a in atoms)
        for refused in range(1, min(asked, _MOST_IN_TURN)):
            yield f"{made}(side_effect=[{'False, ' * refused}True])"


def _source(value: str | bytes) -> str:
    return quoted(value) if isinstance(value, str) else repr(value)


def _literal(text: str) -> Any:
    with contextlib.suppress(ValueError, SyntaxError):
        return ast.literal_eval(text)
    return None


def _without(op: ast.Add | ast.Sub, other: Any, texts: tuple[str, ...]) -> Iterator[str]:
    """What a number was before another one was added to it, or taken away."""
    for value in map(_literal, texts):
        if isinstance(value, int | float) and isinstance(other, int | float):
            yield repr(value - other if isinstance(op, ast.Add) else value + other)


def _put(probe: Probe, name: str, path: str, text: str) -> Probe:
    return probe.with_set(name, path, text) if path else probe.with_value(name, text)


def _flat(value: Any) -> list[Any]:
    return [part for one in value for part in _flat(one)] if isinstance(value, tuple) else [value]
