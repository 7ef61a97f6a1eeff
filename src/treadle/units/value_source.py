"""Values and objects as Python source: how a test builds its inputs.

Objects are built by their constructor when it can make them (that is tried, for real), with assignments for what it
leaves different; else field by field. Cycles are closed by assignment. Every object gets a name of its own, so that
a test can look at it after the call even when nothing points to it any more.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import dataclasses
import decimal
import enum
import importlib
import inspect
import keyword
import logging
import math
import pathlib
import re
import types
from collections.abc import Container, Iterator
from typing import Any
from unittest.mock import Mock, NonCallableMock

from treadle.symbolic import types as t
from treadle.symbolic.python.calls.locks import LOCKS
from treadle.symbolic.python.types import hints, infer
from treadle.symbolic.testcase import Built, CaseObject, Opaque
from treadle.units.imports import Imports, NotWritable


def leaf(value: Any, imports: Imports) -> str:
    """The source of a value without identity."""
    if isinstance(value, enum.Enum):
        # flags that are put together have no name, or one that is no member's
        named = value.name in type(value).__members__
        return f"{imports.of(type(value))}{f'.{value.name}' if named else f'({value.value!r})'}"
    for plain in (bool, int, str, bytes, float):
        if isinstance(value, plain):
            return _plain(value) if type(value) is plain else _of_heir(value, plain, imports)
    if value is None:
        return "None"
    if isinstance(value, range | slice | complex):
        return repr(value)
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType | type):
        return imports.of(value)
    if isinstance(value, Opaque):
        raise NotWritable("a value without source text")
    if isinstance(value, Built):
        return f"{imports.module(value.module)}.{value.name}()"
    if isinstance(value, logging.Logger):
        return f"{imports.module('logging')}.getLogger({quoted(value.name)})"
    return _by_repr(value, imports)


def _plain(value: bool | int | str | bytes | float) -> str:
    if isinstance(value, str | bytes):
        return quoted(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _of_heir(value: Any, plain: Any, imports: Imports) -> str:
    """A value of a class of the program that is a number or a text: made of the plain one, or equal to it."""
    base = plain.__new__(plain, value)
    try:
        same = type(value)(base)
        if type(same) is type(value) and same == value:
            return f"{imports.of(type(value))}({_plain(base)})"
    except Exception:  # made in another way
        pass
    return _plain(base)


def quoted(text: str | bytes) -> str:
    """A string in double quotes, as formatters write it."""
    plain = repr(text)
    prefix, _, rest = plain.partition("'")
    return plain if '"' in plain else f'{prefix}"{rest[:-1]}"'


def _by_repr(value: Any, imports: Imports) -> str:
    """Values whose repr is their source: dates, decimals, fractions, paths."""
    with _asking_the_program():
        kind, shown = type(value), repr(value)
    for named in (pathlib.Path, pathlib.PurePath):
        if kind is type(named()):  # PosixPath is one system's word for it
            return f"{imports.of(named)}({quoted(str(value)) if value.parts else ''})"
    module = importlib.import_module(kind.__module__)
    try:
        tree = ast.parse(shown, mode="eval")
        whole = shown.startswith(f"{kind.__module__}.")  # datetime.datetime(2020, 1, 2), or Decimal("1.5")
        again = eval(compile(tree, "<repr>", "eval"), {kind.__module__: module} if whole else dict(vars(module)))
    except Exception:
        raise NotWritable(f"{shown} has no source text") from None
    with _asking_the_program():
        same = type(again) is kind and bool(again == value)
    if not same:
        raise NotWritable(f"{shown} has no source text")
    said = ast.unparse(_Imported(imports, module).visit(tree))
    if kind is decimal.Decimal and re.fullmatch(r"-?[1-9]\d*|0", str(value)):
        return said.replace("'", "")
    return said if '"' in said or "\\" in said else said.replace("'", '"')


class _Imported(ast.NodeTransformer):
    """Names of a module as a test that imports them says them."""

    def __init__(self, imports: Imports, module: types.ModuleType) -> None:
        self.imports = imports
        self.module = module

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == self.module.__name__:
            return self.visit_Name(ast.Name(node.attr, ast.Load()))
        node.value = self.visit(node.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not hasattr(self.module, node.id):
            return node
        return ast.Name(self.imports.of(getattr(self.module, node.id)), ast.Load())


def text(value: Any, imports: Imports, names: dict[int, str]) -> str:
    """A value in terms of the names of the objects that were built."""
    if isinstance(value, CaseObject):
        if value.number in names:
            return names[value.number]
        return container(value, imports, names)
    if isinstance(value, tuple):
        inner = ", ".join(text(v, imports, names) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return leaf(value, imports)


def container(node: CaseObject, imports: Imports, names: dict[int, str]) -> str:
    if node.kind == "list":
        return f"[{', '.join(text(v, imports, names) for v in node.items)}]"
    if node.kind == "dict":
        pairs = [f"{text(k, imports, names)}: {text(v, imports, names)}" for k, v in node.entries]
        shown = "{" + ", ".join(pairs) + "}"
        return shown if node.cls is None else f"{imports.of(node.cls)}({shown if pairs else ''})"
    if node.kind in ("set", "frozenset"):
        inner = ", ".join(text(k, imports, names) for k, _ in node.entries)
        if node.kind == "frozenset":
            return f"frozenset({{{inner}}})" if inner else "frozenset()"
        return f"{{{inner}}}" if inner else "set()"
    if node.kind == "held" and not node.fields and isinstance(node.items[0], tuple) and node.cls is not None:
        return f"{imports.of(node.cls)}({', '.join(text(v, imports, names) for v in node.items[0])})"
    raise NotWritable(f"an object of type {node.cls.__name__ if node.cls else node.kind} inside a value")


def flat(value: Any, around: tuple[int, ...] = ()) -> bool:
    """A value that == compares completely: no objects of the program inside, and not itself."""
    if isinstance(value, CaseObject):
        if value.kind in ("instance", "held", "function") or value.number in around:
            return False
        inside = (*around, value.number)
        parts = [*value.items, *(part for pair in value.entries for part in pair)]
        return all(flat(v, inside) for v in parts)
    if isinstance(value, tuple):
        return all(flat(v, around) for v in value)
    return not isinstance(value, Opaque)


def comparable(value: Any, named: Container[int]) -> bool:
    """Flat, and without objects whose identity a test must check: inputs, and new ones that occur twice."""
    seen: set[int] = set()

    def visit(part: Any) -> bool:
        if isinstance(part, tuple):
            return all(visit(p) for p in part)
        if not isinstance(part, CaseObject):
            return True
        if part.number in named or part.number in seen:
            return False
        seen.add(part.number)
        return all(visit(p) for p in (*part.items, *(x for pair in part.entries for x in pair)))

    return flat(value) and visit(value)


class Builder:
    """The statements that make a test's inputs, checked by making them."""

    def __init__(self, imports: Imports, reserved: set[str]) -> None:
        self.imports = imports
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.real: dict[int, Any] = {}
        self._taken = {*reserved, *keyword.kwlist, "pytest", "result", "error"}
        self._making: set[int] = set()
        self._later: list[tuple[int, str, Any]] = []  # fields that close a cycle
        # fields of an object were set, where nobody knows whether its methods ever set them so
        self.by_hand = False

    def build(self, name: str, value: Any) -> str:
        """Make a value; its expression in the test."""
        if isinstance(value, CaseObject):
            return self._node(value, name)
        if isinstance(value, tuple):
            parts = [self.build(f"{name}_{i}", v) for i, v in enumerate(value)]
            return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
        return leaf(value, self.imports)

    def finish(self) -> None:
        """Close the cycles."""
        self.by_hand |= bool(self._later)
        for number, field, value in self._later:
            target = self.real[number]
            self._assign(self.names[number], target, field, value, self.build(field, value))
        self._later.clear()

    def value(self, value: Any) -> Any:
        """The real value, for trying constructors."""
        if isinstance(value, CaseObject):
            return self.real[value.number]
        if isinstance(value, tuple):
            return tuple(self.value(v) for v in value)
        if isinstance(value, Built):
            return getattr(importlib.import_module(value.module), value.name)()
        return value

    def named(self, wanted: str) -> str:
        """A name that nothing else in the test has."""
        base = re.sub(r"\W+", "_", wanted).strip("_").lower() or "value"
        base = f"value_{base}" if base[0].isdigit() else base
        modules = {name.partition(".")[0] for name in self.imports.modules}
        if base in self._taken or hasattr(builtins, base) or base in self.imports.names or base in modules:
            base = f"{base}_"
        name, n = base, 1
        while name in self._taken or name in self.imports.names:
            n += 1
            name = f"{base.rstrip('_')}_{n}"
        self._taken.add(name)
        return name

    def _node(self, node: CaseObject, wanted: str) -> str:
        if node.number in self.names:
            return self.names[node.number]
        if node.number in self._making:
            raise _Cycle(node)
        if node.kind == "instance":
            return self._instance(node, wanted)
        if node.kind == "function":
            return self._function(node, wanted)
        return self._container(node, wanted)

    def _function(self, node: CaseObject, wanted: str) -> str:
        """A stand-in that returns what the path assumed."""
        results = [self.build(f"{wanted}_result", value) for value in node.items]
        values = [self.value(value) for value in node.items]
        arguments = ""
        if len(results) == 1:
            arguments = f"return_value={results[0]}"
        elif results:
            arguments = f"side_effect=[{', '.join(results)}]"
        name = self.names[node.number] = self.named(wanted)
        self.real[node.number] = Mock(side_effect=values)
        self.lines.append(f"{name} = {self.imports.of(Mock)}({arguments})")
        return name

    def _container(self, node: CaseObject, wanted: str) -> str:
        self._making.add(node.number)
        single = wanted.removesuffix("s") if wanted.endswith("s") else f"{wanted}_item"
        try:
            for i, item in enumerate(node.items):
                self.build(single if i == 0 else f"{single}_{i + 1}", item)
            for key, item in node.entries:
                self.build(f"{single}_key", key)
                self.build(single, item)
        finally:
            # after a cycle the container is made when the object that leads back to it is there
            self._making.discard(node.number)
        source = container(node, self.imports, self.names)
        name = self.names[node.number] = self.named(wanted)
        pairs = [(self.value(k), self.value(v)) for k, v in node.entries]
        made: Any = [self.value(v) for v in node.items]
        with _asking_the_program():  # keys are hashed and compared
            if node.kind == "dict":
                made = (node.cls or dict)(pairs)
            elif node.kind in ("set", "frozenset"):
                made = {k for k, _ in pairs}
        self.real[node.number] = made
        self.lines.append(f"{name} = {source}")
        return name

    def _instance(self, node: CaseObject, wanted: str) -> str:
        cls = node.cls
        assert cls is not None
        self.imports.of(cls)  # its name is taken before any object gets one
        if node.way is not None and self._made_by(node, wanted, cls):
            return self.names[node.number]
        self._making.add(node.number)
        ready: dict[str, Any] = {}
        for field, value in node.fields.items():
            try:
                self.build(_short(field), value)
            except _Cycle:
                self._later.append((node.number, field, value))
            else:
                ready[field] = value
        name = self.named(wanted)
        if not self._constructed(node, name, cls, ready):
            self._bare(node, name, cls, ready)
        self.names[node.number] = name
        self._making.discard(node.number)
        if not self._making:
            self.finish()
        return name

    def _made_by(self, node: CaseObject, wanted: str, cls: type) -> bool:
        """The object by the calls that were found for it, if they still lead to its fields."""
        assert node.way is not None
        with _asking_the_program():
            made = node.way.made(cls)
            same = all(_is_like(getattr(made, field, None), value) for field, value in node.fields.items())
        if not same:
            return False
        name = self.named(wanted)
        self.lines.append(f"{name} = {self.imports.of(cls)}({self._given(node.way.arguments)})")
        for method, arguments in node.way.calls:
            call = f"{name}.{method}({self._given(arguments)})"
            if method == "__setitem__":
                call = f"{name}[{self._given(arguments[:1])}] = {self._given(arguments[1:])}"
            self.lines.append(call)
        self._found(node, made, name)
        return True

    def _given(self, arguments: tuple[tuple[str, Any], ...]) -> str:
        return ", ".join((f"{name}=" if name else "") + written(value, self.imports) for name, value in arguments)

    def _found(self, node: CaseObject, real: Any, name: str) -> None:
        """Names for what an object holds, since a test looks at it after the call."""
        self.names[node.number], self.real[node.number] = name, real
        for field, value in node.fields.items():
            if isinstance(value, CaseObject) and value.number not in self.names:
                held = self.named(_short(field))
                self.lines.append(f"{held} = {name}.{field}")
                with _asking_the_program():
                    inner = getattr(real, field)
                self._found(value, inner, held)

    def _constructed(self, node: CaseObject, name: str, cls: type, ready: dict[str, Any]) -> bool:
        """Try the constructor with the wanted fields; fix what differs by assignment."""
        try:
            positional, named = self._constructor_arguments(cls, ready)
        except NotWritable:
            return False
        containers = [v for v in (*positional, *named.values()) if isinstance(v, CaseObject) and v.kind in _CONTAINERS]
        before = [copy.copy(self.real[one.number]) for one in containers]
        try:
            made = cls(*(self.value(v) for v in positional), **{k: self.value(v) for k, v in named.items()})
        except (Exception, SystemExit):
            return False
        with _asking_the_program():
            unchanged = all(_is_like(self.real[one.number], one) for one in containers)
        if not unchanged:
            # it has put something into what it was given
            self.real.update({one.number: held for one, held in zip(containers, before, strict=True)})
            return False
        missing = [f for f, v in ready.items() if not _holds(made, f, self.value(v))]
        mark = len(self.lines)
        self.lines.append(f"{name} = {self._construction(cls, positional, named)}")
        self.real[node.number] = made
        try:
            for field in missing:
                source_text = text(ready[field], self.imports, self.names)
                self._assign(name, made, field, ready[field], source_text)
        except NotWritable:
            del self.lines[mark:]
            return False
        self.by_hand |= bool(missing)
        return True

    def _constructor_arguments(
        self, cls: type, ready: dict[str, Any], depth: int = 0
    ) -> tuple[list[Any], dict[str, Any]]:
        """Arguments for the constructor, by the names of the fields; NotWritable if it wants what nobody knows."""
        if inspect.getattr_static(cls, "__init__") is object.__init__ and cls.__new__ is object.__new__:  # type: ignore[comparison-overlap]
            return [], {}
        try:
            signature = inspect.signature(cls)
        except (TypeError, ValueError):
            raise NotWritable(f"nobody knows what {cls.__name__} is made from") from None
        positional: list[Any] = []
        named: dict[str, Any] = {}
        skipped = False
        for parameter in signature.parameters.values():
            name = parameter.name
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            field = next((f for f in (name, f"_{name}", f"_{cls.__name__}__{name}") if f in ready), None)
            if field is None and parameter.default is not parameter.empty:
                skipped = True
                continue
            value = ready[field] if field is not None else self._plain(parameter_type(cls, name), depth)
            if parameter.kind is parameter.KEYWORD_ONLY or skipped:
                named[name] = value
            else:
                positional.append(value)
        return positional, named

    def _plain(self, kind: t.Type | None, depth: int = 0) -> Any:
        """A harmless value for a constructor parameter that the test does not care about."""
        options = t.options(kind) if kind is not None else ()
        if t.NONE in options:
            return None
        if not options or depth > 2:
            raise NotWritable("a parameter of which nothing is known")
        match options[0]:
            case t.Scalar(kind=scalar):
                return {"int": 1, "bool": True, "float": 1.5, "str": "a"}[scalar]
            case t.OneOf(values=values) | t.Samples(values=values) if values:
                return values[0]
            case t.ListOf():
                return self._unnamed("list", [], "[]")
            case t.DictOf(record=""):
                return self._unnamed("dict", {}, "{}")
            case t.SetOf(frozen=False):
                return self._unnamed("set", set(), "set()")
            case t.TupleOf(elements=elements, named=None):
                return tuple(self._plain(element, depth + 1) for element in elements)
            case t.Instance(cls=cls):
                positional, named = self._constructor_arguments(cls, {}, depth + 1)
                try:
                    made = cls(*map(self.value, positional), **{k: self.value(v) for k, v in named.items()})
                except (Exception, SystemExit):
                    raise NotWritable(f"{cls.__name__} refuses plain values") from None
                return self._unnamed("instance", made, self._construction(cls, positional, named))
        raise NotWritable(f"no plain value of {kind}")

    def _unnamed(self, kind: str, real: Any, source: str) -> CaseObject:
        """An object that no test looks at."""
        node = CaseObject(_UNNAMED - len(self.real), kind)
        self.real[node.number], self.names[node.number] = real, source
        return node

    def _construction(self, cls: type, positional: list[Any], named: dict[str, Any]) -> str:
        source = [text(v, self.imports, self.names) for v in positional]
        source += [f"{k}={text(v, self.imports, self.names)}" for k, v in named.items()]
        return f"{self.imports.of(cls)}({', '.join(source)})"

    def _bare(self, node: CaseObject, name: str, cls: type, ready: dict[str, Any]) -> None:
        try:
            made: Any = object.__new__(cls)
        except TypeError as error:
            raise NotWritable(str(error)) from None
        self.real[node.number] = made
        self.by_hand |= bool(ready)
        shown = self.imports.of(cls)
        self.lines.append(f"{name} = object.__new__({shown})")
        for field, value in ready.items():
            self._assign(name, made, field, value, text(value, self.imports, self.names))

    def _assign(self, name: str, target: Any, field: str, value: Any, source: str) -> None:
        frozen = dataclasses.is_dataclass(target) and type(target).__setattr__ is not object.__setattr__
        own = isinstance(type(target).__setattr__, types.FunctionType)
        if frozen or own or isinstance(inspect.getattr_static(type(target), field, None), property):
            with _asking_the_program():
                object.__setattr__(target, field, self.value(value))
            self.lines.append(f"object.__setattr__({name}, {field!r}, {source})")
        else:
            with _asking_the_program():
                setattr(target, field, self.value(value))
            self.lines.append(f"{name}.{field} = {source}")


@contextlib.contextmanager
def _asking_the_program() -> Iterator[None]:
    """Around code of the program: a value that its own code does not let be made cannot be written."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise NotWritable(f"{type(error).__name__}: {error}") from None


class _Cycle(Exception):
    def __init__(self, node: CaseObject) -> None:
        super().__init__(node.number)
        self.node = node


def _short(field: str) -> str:
    return field.rpartition("__")[2].strip("_") or "value"


def _holds(made: Any, field: str, wanted: Any) -> bool:
    """Whether the constructor gave the field exactly this value."""
    try:
        found = inspect.getattr_static(made, field)
        if isinstance(found, types.MemberDescriptorType):
            found = getattr(made, field)
    except AttributeError:
        return False
    if isinstance(wanted, bool | int | float | str | bytes | tuple | type(None)):
        try:
            return type(found) is type(wanted) and bool(found == wanted)
        except Exception:
            return False
    return found is wanted or (isinstance(wanted, LOCKS) and type(found) is type(wanted))


def _is_like(real: Any, value: Any) -> bool:
    """Whether a real value is what a case holds, all that is in it included."""
    if isinstance(value, tuple):
        return type(real) is tuple and len(real) == len(value) and all(map(_is_like, real, value))
    if isinstance(value, Built):
        return isinstance(real, LOCKS)
    if not isinstance(value, CaseObject):
        return type(real) is type(value) and bool(real == value)
    if value.kind == "instance":
        return type(real) is value.cls and all(_is_like(getattr(real, f, None), v) for f, v in value.fields.items())
    wanted_type: Any = value.cls or _CONTAINERS.get(value.kind)
    if type(real) is not wanted_type:
        return False
    parts: list[Any] = list(real.items()) if value.kind == "dict" else list(real)
    wanted: list[Any] = value.items if value.kind == "list" else value.entries
    wanted = wanted if value.kind in ("list", "dict") else [key for key, _ in wanted]
    return len(parts) == len(wanted) and all(map(_is_like, parts, wanted))


_CONTAINERS: dict[str, type] = {"list": list, "dict": dict, "set": set, "frozenset": frozenset}
# Numbers of objects that no case has.
_UNNAMED = -1_000_000


def parameter_type(cls: type, name: str, method: types.FunctionType | None = None) -> t.Type | None:
    """What a parameter of a method, or of the constructor, should be given, by its hint or by its use."""
    init = method or inspect.getattr_static(cls, "__init__", None)
    kind: t.Type | None = None
    if isinstance(init, types.FunctionType):
        hint = hints.resolved_hints(init).get(name)
        kind = hints.from_hint(hint) if hint is not None else None
        if kind is None and not init.__code__.co_filename.startswith("<"):
            kind = infer.infer_parameter(init, name)
    if kind is None and method is None and dataclasses.is_dataclass(cls):
        kind = hints.from_hint(hints.resolved_hints(cls).get(name))
    return kind


def written(value: Any, imports: Imports, depth: int = 0) -> str:
    """A value whose equality says all: plain ones, and containers of such. Raises NotWritable."""
    if depth > 6 or isinstance(value, NonCallableMock):
        raise NotWritable("not plain")
    kind = type(value)
    if kind in (list, tuple, set, frozenset) and len(value) <= 200:
        parts = [written(v, imports, depth + 1) for v in value]
        if kind in (set, frozenset):
            parts.sort()
        inside = ", ".join(parts)
        if kind is tuple:
            return f"({inside},)" if len(parts) == 1 else f"({inside})"
        if kind is list:
            return f"[{inside}]"
        shown = f"{{{inside}}}" if parts else ("set()" if kind is set else "")
        return shown if kind is set else f"frozenset({shown})"
    if kind is dict and len(value) <= 200:
        return (
            "{"
            + ", ".join(f"{written(k, imports, depth + 1)}: {written(v, imports, depth + 1)}" for k, v in value.items())
            + "}"
        )
    if kind is float and value != value:
        raise NotWritable("nan is not equal to itself")
    if (
        isinstance(value, types.FunctionType | type)
        or inspect.getattr_static(kind, "__eq__") is not vars(object)["__eq__"]
    ):
        return leaf(value, imports)
    raise NotWritable("compared by identity")
