"""What a probe gives to a function: expressions, by hint, by use, by the words and numbers that the code mentions.

A value is its source text, so that whatever was tried can be written into a test. Names are those of `Imports`, one for
the process. Where no object can be built, a `MagicMock` with the class as its spec stands in.
"""

from __future__ import annotations

import ast
import collections
import collections.abc as abc
import contextlib
import datetime
import decimal
import enum
import fractions
import functools
import importlib
import inspect
import io
import itertools
import pathlib
import re
import sys
import types
import typing
import uuid
from collections.abc import Iterable, Iterator
from typing import Any
from unittest.mock import MagicMock

from treadle.observe.effects import EffectGuard
from treadle.observe.parameters import documented_types, hints_of
from treadle.symbolic import types as t
from treadle.symbolic.python.compile.source import NoSource, node_of
from treadle.symbolic.python.types import infer
from treadle.symbolic.python.types.heirs import known_subclasses
from treadle.symbolic.python.values.matching import matching
from treadle.units.imports import Imports, NotWritable
from treadle.units.probing.files import is_named_like_a_path
from treadle.units.target import with_callees
from treadle.units.value_source import quoted

_TEXTS = ("a", "", "ab", "1", "A b", "a.b", "a=b", "a/b", "a,b", "2020-01-02", "-1.5", "é", "http://a.b/c?d=e")
# Digits that int() does not read, and those that it does; letters that change their number with their case.
_BEYOND_ASCII = ("\u00b2", "\u0663", "\u00df", "\u0130", "\u00a0")
_NAME_OF_A_FILE = '"a.txt"'
_NUMBERS = (1, 0, 2, -1, 10)
_DATES = (datetime.datetime(2020, 1, 2, 3, 4, 5), datetime.datetime(1999, 12, 31, 23, 59, 59))
_MOST_WORDS = 40
_MOST_NOTICED = 100
_DEEPEST = 3
_MOST_OF_A_CLASS = 4
_MOST_WITH_OPTIONS = 24

_PLAIN: dict[Any, tuple[str, ...]] = {
    bool: ("True", "False"),
    float: ("1.5", "0.0", "-2.0", 'float("nan")', 'float("inf")'),
    complex: ("1j", "0j"),
    bytes: ('b"a"', 'b""', 'b"a: b\\r\\n"', 'b"\\xff\\x00"'),
    bytearray: ('bytearray(b"a")', "bytearray()"),
    type(None): ("None",),
    type: ("int", "str"),
}
_IMPORTED: dict[Any, tuple[str, ...]] = {
    datetime.date: ("date(2020, 1, 2)", "date(2020, 2, 29)", "date(2021, 8, 1)", "date.max"),
    datetime.datetime: (
        *("datetime(2020, 1, 2, 3, 4, 5)", "datetime(2020, 1, 2, tzinfo=timezone.utc)"),
        *("datetime(2020, 2, 29, 12)", "datetime(2021, 8, 1, 23, 59, 59, 999999)"),
    ),
    datetime.time: ("time(3, 4, 5)", "time(23, 59, 59, 999999)", "time()"),
    datetime.timedelta: ("timedelta(days=1, seconds=2)", "timedelta(0)", "timedelta(days=-400)"),
    datetime.tzinfo: ("timezone.utc",),
    decimal.Decimal: ('Decimal("1.50")', 'Decimal("-1")', 'Decimal("NaN")'),
    fractions.Fraction: ("Fraction(1, 3)", "Fraction(2)", "Fraction(-1, 2)", "Fraction(0)"),
    pathlib.Path: ('Path("a.txt")', "Path()", 'Path("a/b.tar.gz")'),
    pathlib.PurePath: ('PurePath("a/b.txt")',),
    re.Pattern: ('re.compile("a+")', 're.compile("(?P<name>.*)")'),
    uuid.UUID: ("UUID(int=1)",),
    io.StringIO: ('StringIO("a\\nb\\n")', "StringIO()"),
    io.BytesIO: ('BytesIO(b"a\\nb\\n")', "BytesIO()"),
    collections.OrderedDict: ("OrderedDict(a=1)", "OrderedDict()"),
    collections.deque: ("deque([1, 2])", "deque()"),
    collections.Counter: ('Counter("aab")',),
    collections.defaultdict: ("defaultdict(list)",),
}
_LIKE: dict[Any, Any] = {
    typing.IO: io.StringIO, typing.TextIO: io.StringIO, typing.BinaryIO: io.BytesIO, io.TextIOBase: io.StringIO,
    io.IOBase: io.BytesIO, io.TextIOWrapper: io.StringIO, io.BufferedIOBase: io.BytesIO, io.RawIOBase: io.BytesIO,
    typing.Pattern: re.Pattern, collections.abc.ByteString if sys.version_info < (3, 14) else bytes: bytes,
    collections.abc.Hashable: str, typing.SupportsInt: int, typing.SupportsFloat: float, typing.AnyStr: str,
    collections.abc.Sized: list, typing.Hashable: str,
}  # fmt: skip
_STANDARD = {
    "date": datetime, "datetime": datetime, "time": datetime, "timedelta": datetime, "timezone": datetime,
    "Decimal": decimal, "Fraction": fractions, "Path": pathlib, "PurePath": pathlib, "UUID": uuid,
    "StringIO": io, "BytesIO": io, "OrderedDict": collections, "deque": collections, "Counter": collections,
    "defaultdict": collections,
}  # fmt: skip


class Mentioned:
    """What a function, and those of its package that it calls, mention: texts, numbers, keys, classes, patterns."""

    def __init__(self, function: types.FunctionType) -> None:
        self.words: dict[str, None] = {}
        self.numbers: dict[int, None] = {}
        self.bytes: dict[bytes, None] = {}
        self.keys: dict[str, None] = {}
        self.classes: dict[type, None] = {}
        self.errors: dict[type, None] = {}
        # how many parts things are taken apart into: `for key, value in pairs`
        self.unpacked: dict[int, None] = {}
        # texts of lists and dicts are read
        self.reads_literals = False
        for one in with_callees(function):
            self._function(one)
        if self.reads_literals:
            self.words.update(dict.fromkeys(['{"a": 1}', "[1]", *(f'{{"{key}": 1}}' for key in self.keys), '"a"']))

    def _function(self, function: types.FunctionType) -> None:
        names = function.__globals__
        try:
            tree = node_of(function.__code__)
        except NoSource:
            return
        body = tree.body if isinstance(tree.body, list) else [tree.body]
        for node in (n for part in body for n in ast.walk(part)):
            match node:
                case ast.Constant(value=str() as text) if len(text) <= _MOST_WORDS:
                    self.words[text] = None
                case ast.Constant(value=bytes() as text) if len(text) <= _MOST_WORDS:
                    self.bytes[text] = None
                case ast.Constant(value=bool()):
                    pass
                case ast.Constant(value=int() as number) if abs(number) <= 100_000:
                    self.numbers.update(dict.fromkeys((number, number + 1, number - 1)))
                case ast.Subscript(slice=ast.Constant(value=str() as key)):
                    self.keys[key] = None
                case ast.Call(
                    func=ast.Attribute(attr="get" | "pop" | "setdefault"), args=[ast.Constant(value=str() as key), *_]
                ):
                    self.keys[key] = None
                case ast.Compare(left=ast.Constant(value=str() as key), ops=[ast.In() | ast.NotIn()]):
                    self.keys[key] = None
                case ast.Assign(targets=[ast.Tuple(elts=parts)]) | ast.For(target=ast.Tuple(elts=parts)):
                    self.unpacked[len(parts)] = None
                case ast.comprehension(target=ast.Tuple(elts=parts)):
                    self.unpacked[len(parts)] = None
            if isinstance(node, ast.ExceptHandler) and node.type is not None:
                self.errors.update(dict.fromkeys(_classes(_evaluated(node.type, names))))
            if isinstance(node, ast.Call):
                self._called(node, names)
            if isinstance(node, ast.Name | ast.Attribute):
                self._value(_evaluated(node, names))

    def _called(self, node: ast.Call, names: dict[str, Any]) -> None:
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kind]):
                self.classes.update(dict.fromkeys(_classes(_evaluated(kind, names))))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re")), args=[ast.Constant(value=str() as pattern), *_]):
                self.words.update(dict.fromkeys(matching(pattern)))
            case ast.Call(func=ast.Attribute(attr="strptime"), args=[_, ast.Constant(value=str() as format_), *_]):
                self.words.update(dict.fromkeys(when.strftime(format_) for when in _DATES))
            case ast.Call(func=ast.Attribute(attr="load" | "loads" | "literal_eval") | ast.Name(id="load" | "loads")):
                self.reads_literals = True

    def _value(self, value: Any) -> None:
        """A constant of the module: a pattern, or a collection of words."""
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
            self.words.update(dict.fromkeys(matching(value.pattern, value.flags)))
        elif isinstance(value, str) and len(value) <= _MOST_WORDS:
            self.words[value] = None
        elif isinstance(value, dict | set | frozenset | list | tuple) and len(value) <= 1000:
            members = sorted(v for v in value if isinstance(v, str)) if isinstance(value, set | frozenset) else value
            for word in list(members)[:5]:
                if isinstance(word, str) and len(word) <= _MOST_WORDS:
                    self.words[word] = None


def _classes(value: Any) -> list[type]:
    """The classes that isinstance or except is asked for."""
    flat = value if isinstance(value, tuple) else typing.get_args(value) or (value,)
    return [c for c in flat if isinstance(c, type)]


def _evaluated(node: ast.expr, names: dict[str, Any]) -> Any:
    """What a name or a dotted name of the module is; None for anything else."""
    if isinstance(node, ast.Tuple):
        return tuple(_evaluated(part, names) for part in node.elts)
    if isinstance(node, ast.Name):
        return names.get(
            node.id,
            getattr(__builtins__, node.id, None) if not isinstance(__builtins__, dict) else __builtins__.get(node.id),
        )
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = names.get(node.value.id)
        return getattr(owner, node.attr, None) if isinstance(owner, types.ModuleType | type) else None
    return None


class ValuePool:
    """Expressions for the parameters of a function; `namespace` has what they mention."""

    def __init__(self, function: types.FunctionType, imports: Imports) -> None:
        self.imports = imports
        self.mentioned = Mentioned(function)
        self.function = function
        self.namespace: dict[str, Any] = {}
        self._made: dict[type, list[str]] = {}
        # types that the user names
        self.told: dict[str, str] = {}
        # whether values are tried that the hints exclude
        self.defensive = False
        # where objects may write to while they are made
        self.scratch = ""

    # --- names -------------------------------------------------------------------------------------------

    def name(self, value: Any) -> str:
        """How a test writes a class or function. Raises NotWritable."""
        text = self.imports.of(value)
        self.know_imports()
        return text

    def know_imports(self) -> None:
        """What the imports have meanwhile is known to expressions, too."""
        for local, (module, name) in self.imports.names.items():
            if local not in self.namespace:
                self.namespace[local] = getattr(importlib.import_module(module), name)

    def notice(self, texts: Iterable[str]) -> None:
        """Plain values that the code looked at: they are among those that are tried."""
        for text in texts:
            with contextlib.suppress(ValueError, SyntaxError):
                value = ast.literal_eval(text)
                if type(value) is str and len(self.mentioned.words) < _MOST_NOTICED:
                    self.mentioned.words[value] = None
                elif type(value) is int and len(self.mentioned.numbers) < _MOST_NOTICED:
                    self.mentioned.numbers[value] = None

    def stub(self, cls: type | None = None) -> str:
        mock = self.name(MagicMock)
        with contextlib.suppress(NotWritable):
            if cls is not None:
                return f"{mock}(spec={self.name(cls)})"
        return f"{mock}()"

    def value(self, text: str) -> Any:
        return eval(text, self.namespace)

    # --- expressions -------------------------------------------------------------------------------------

    def texts(self) -> list[str]:
        return [quoted(w) for w in dict.fromkeys([*self.mentioned.words, *_TEXTS, *_BEYOND_ASCII])]

    def numbers(self) -> list[str]:
        booleans = ["True"] if bool in self.mentioned.classes else []
        return [str(n) for n in dict.fromkeys([*_NUMBERS, *self.mentioned.numbers])] + booleans

    def dicts(self, values: Iterable[str] = ("1", '"a"', "None", "[]", "{}", "True")) -> list[str]:
        keys, values = list(self.mentioned.keys), list(values)
        found = ["{}", f'{{"a": {values[0]}}}']
        for value in values:
            found += ["{" + f"{quoted(key)}: {value}" + "}" for key in keys[:8]]
            if len(keys) > 1:
                found.append("{" + ", ".join(f"{quoted(key)}: {value}" for key in keys[:8]) + "}")
        return found

    @functools.cached_property
    def kinds(self) -> list[list[str]]:
        """Values of all kinds, a list for each."""
        stub = self.stub()
        classes = [text for cls in list(self.mentioned.classes)[:8] for text in self.of_class(cls, 1)[:3]]
        found = [[stub], self.texts()[:20], self.numbers()[:12], ["None", "True", "False"], classes]
        found += [
            ["[]", '["a", "b"]', "[1, 2]", f"[{stub}]"],
            self.dicts()[:20],
            ['("a", 1)', "()", f"({stub}, {stub})"],
            [f"[({', '.join([part] * n)},)]" for n in self.mentioned.unpacked for part in ('"a"', "1", stub)],
        ]
        return [kind for kind in [*found, ["1.5", 'b"a"', "{1}"]] if kind]

    def anything(self) -> list[str]:
        return _in_turn(self.kinds)

    def of_parameter(self, function: types.FunctionType, parameter: inspect.Parameter, depth: int = 0) -> list[str]:
        """Expressions for one parameter, the likeliest first; [] when nothing is known of it."""
        found: list[str] = []
        if function is self.function and parameter.name in self.told:
            return self.of_hint(eval(self.told[parameter.name], {**vars(typing), **function.__globals__}), depth)
        hint = hints_of(function).get(parameter.name, inspect.Parameter.empty)
        if hint is not inspect.Parameter.empty:
            found += self.of_hint(hint, depth)
        told = documented_types(inspect.getdoc(function) or "").get(parameter.name)
        if told is not None:
            found += self.of_hint(told, depth)
        if not found:
            guessed = infer.infer_parameter(function, parameter.name)
            found += self.of_hint(_as_hint(guessed), depth) if guessed is not None else []
        if is_named_like_a_path(parameter.name) and (not found or _NAME_OF_A_FILE not in found):
            told_text = hint is str or (hint is inspect.Parameter.empty and told is None)
            found = [_NAME_OF_A_FILE, *found] if told_text else found
        found += self._default(parameter)
        if hint is inspect.Parameter.empty:
            found += self._named_like(parameter.name, function, depth)
        return list(dict.fromkeys(found))

    def is_told(self, name: str) -> bool:
        """Whether --types or a hint says what the parameter is, and that is to be believed."""
        hint = hints_of(self.function).get(name, Any)
        return name in self.told or (hint not in (Any, object) and not self.defensive)

    def _default(self, parameter: inspect.Parameter) -> list[str]:
        default = parameter.default
        if default is parameter.empty:
            return []
        kind = type(default)
        if default is None or kind in (int, str, float, bytes, bool, tuple, list, dict, set):
            with contextlib.suppress(Exception):
                if ast.literal_eval(repr(default)) == default:
                    others = self.of_hint(kind, 1) if default is not None and kind is not tuple else []
                    return [repr(default), *others]
        return []

    def _named_like(self, name: str, function: types.FunctionType, depth: int) -> list[str]:
        """A class of the package that is called like the parameter: `node` for Node."""
        wanted, package = name.strip("_").replace("_", "").lower(), function.__module__.partition(".")[0]
        for module in [m for n, m in sorted(sys.modules.items()) if n.partition(".")[0] == package and m is not None]:
            for key, value in list(vars(module).items()):
                if isinstance(value, type) and key.lower() == wanted and value.__module__.partition(".")[0] == package:
                    return self.of_class(value, depth)
        return []

    def of_hint(self, hint: Any, depth: int = 0) -> list[str]:
        """Expressions of the type that a hint means."""
        if depth > _DEEPEST:
            return []
        if isinstance(hint, str | typing.ForwardRef):
            return []
        if hint in (Any, object):
            return self.anything()
        if isinstance(hint, typing.TypeVar):
            bound = hint.__constraints__ or ((hint.__bound__,) if hint.__bound__ is not None else (int, str))
            return [text for part in bound for text in self.of_hint(part, depth + 1)]
        if isinstance(hint, typing.NewType):
            return self.of_hint(hint.__supertype__, depth)
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Annotated, typing.Final, typing.ClassVar, typing.Required, typing.NotRequired):
            return self.of_hint(args[0], depth) if args else []
        if origin in (typing.Union, types.UnionType):
            return _in_turn([self.of_hint(part, depth) for part in args])
        if origin is typing.Literal:
            return [
                repr(value) if not isinstance(value, enum.Enum) else f"{self.name(type(value))}.{value.name}"
                for value in args
            ]
        if origin is type:
            return self._types(args)
        if hint is None:
            return ["None"]
        with contextlib.suppress(TypeError):
            return self._of_type(_LIKE.get(origin or hint, origin or hint), args, depth)
        return []

    def _types(self, args: tuple[Any, ...]) -> list[str]:
        bound = args[0] if args and isinstance(args[0], type) else int
        found = []
        for cls in known_subclasses(bound)[:3]:
            with contextlib.suppress(NotWritable):
                found.append(self.name(cls))
        return found

    def _of_type(self, kind: Any, args: tuple[Any, ...], depth: int) -> list[str]:
        if kind is str:
            return self.texts()
        if kind is int:
            return self.numbers()
        if kind is bytes:
            return [*map(repr, self.mentioned.bytes), *_PLAIN[bytes]]
        if kind in _PLAIN:
            return list(_PLAIN[kind])
        if kind in _IMPORTED:
            stand_in = [self.stub(kind)] if kind is pathlib.Path else []  # whose files are there, or are not
            return [*(self._standard(text) for text in _IMPORTED[kind]), *stand_in]
        if kind is tuple:
            return self._tuples(args, depth)
        if kind in (abc.Callable, typing.Callable):
            returned = self.of_hint(args[1], depth + 1)[:4] if len(args) == 2 else ["None", "True", '"a"']
            returned = returned or ["None"]
            errors = [f"side_effect={self.name(cls)}" for cls in list(self.mentioned.errors)[:3]]
            return [f"{self.name(MagicMock)}({how})" for how in (*(f"return_value={r}" for r in returned), *errors)]
        if isinstance(kind, type):
            for containers, around in _CONTAINERS:
                if kind in containers:
                    found = self._container(around, args, depth)
                    return [*found, *self._tuples((*(args or (int,)), ...), depth)] if kind in _ALSO_TUPLES else found
            if kind in (dict, abc.Mapping, abc.MutableMapping):
                values = self.of_hint(args[1], depth + 1)[:4] if len(args) == 2 else []
                return self.dicts(values or ("1", '"a"', "None", "[]"))
            return self.of_class(kind, depth)
        return []

    def _standard(self, text: str) -> str:
        """With the names that the test file has for what the text mentions."""
        if text.startswith("re."):
            self.namespace["re"] = re
            return text.replace("re.", self.imports.module("re") + ".", 1)
        known = "|".join(_STANDARD)
        return re.sub(rf"\b({known})\b(?=[(.])", lambda m: self.name(getattr(_STANDARD[m[1]], m[1])), text)

    def _container(self, around: str, args: tuple[Any, ...], depth: int) -> list[str]:
        parts = self.of_hint(args[0], depth + 1) if args else ["1", '"a"']
        if not parts:
            return [around.format("")]
        found = [around.format(parts[0]), around.format(""), around.format(", ".join(parts[:2]))]
        found += [around.format(part) for part in parts[1:12]]
        return [text.replace("{}", "set()") if around == "{{{}}}" and text == "{}" else text for text in found]

    def _tuples(self, args: tuple[Any, ...], depth: int) -> list[str]:
        if len(args) == 2 and args[1] is ...:
            parts = self.of_hint(args[0], depth + 1) or ["1"]
            return [f"({parts[0]},)", "()", *(f"({a}, {b})" for a, b in itertools.pairwise(parts))][:6]
        options = [self.of_hint(part, depth + 1) or ["None"] for part in args if part != ()]
        longest = max(map(len, options), default=0)
        rows = [[column[min(i, len(column) - 1)] for column in options] for i in range(min(longest, 6))]
        return ["(" + "".join(f"{text}, " for text in row).rstrip() + ")" for row in rows] or [
            "()",
            "(1, 2)",
            '("a", "b")',
        ]

    def of_class(self, cls: type, depth: int = 0) -> list[str]:
        """An object of a class: built as its users build it, and a stand-in."""
        if issubclass(cls, enum.Enum):
            with contextlib.suppress(NotWritable):
                return [f"{self.name(cls)}.{member.name}" for member in list(cls)[:8] if member.name]
            return []
        if cls in _PLAIN or cls in (int, str, tuple, list, dict, set, frozenset) or cls in _IMPORTED:
            return self._of_type(cls, (), depth)
        if cls is object:
            return ["object()"]
        if depth > _DEEPEST:
            return [self.stub(cls)]
        if cls not in self._made:
            self._made[cls] = [self.stub(cls)]  # meanwhile, for a class that needs one of its own kind
            self._made[cls] = [*self._constructed(cls, depth), self.stub(cls)]
        return self._made[cls]

    def _constructed(self, cls: type, depth: int) -> Iterator[str]:
        """Calls of the constructor that succeed."""
        if typing.is_typeddict(cls):
            hints_here = typing.get_type_hints(cls)
            parts = {key: (self.of_hint(hint, depth + 1) or ["None"])[0] for key, hint in hints_here.items()}
            yield "{" + ", ".join(f"{quoted(key)}: {text}" for key, text in parts.items()) + "}"
            return
        of_each = [list(itertools.islice(self._calls_of(made, depth), 3)) for made in known_subclasses(cls)[:3]]
        yield from _in_turn(of_each)[:_MOST_OF_A_CLASS]

    def _calls_of(self, made: type, depth: int) -> Iterator[str]:
        try:
            name = self.name(made)
        except NotWritable:
            return
        for arguments in dict.fromkeys(self._arguments(made, depth)):
            text = f"{name}({arguments})"
            if self._can_be_made(text):
                yield text

    def with_options(self, cls: type) -> list[str]:
        """The first object of a class that could be made, with one more argument each time."""
        first = next(iter(self.of_class(cls)), "")
        init = inspect.getattr_static(cls, "__init__", None)
        if not first.startswith(f"{cls.__name__}(") or not isinstance(init, types.FunctionType):
            return []
        found: list[str] = []
        for parameter in list(inspect.signature(init).parameters.values())[1:]:
            if parameter.default is parameter.empty or parameter.kind is parameter.VAR_KEYWORD:
                continue
            own = repr(parameter.default)
            texts = [text for text in self.of_parameter(init, parameter, 1) if text != own and text != "None"]
            for text in texts[:3]:
                made = f"{first[:-1]}{'' if first.endswith('()') else ', '}{parameter.name}={text})"
                found += [made] if self._can_be_made(made) else []
        return found[:_MOST_WITH_OPTIONS]

    def _can_be_made(self, text: str) -> bool:
        guard = EffectGuard(self.scratch)
        try:
            with guard:
                self.value(text)
        except (Exception, SystemExit):
            return False
        return not guard.refused  # or the class made nothing of it

    def _arguments(self, cls: type, depth: int) -> Iterator[str]:
        """Arguments for a constructor: the likeliest, then the next of each parameter, then all by stand-ins."""
        init = inspect.getattr_static(cls, "__init__", None)
        if not isinstance(init, types.FunctionType):
            init = inspect.getattr_static(cls, "__new__", None)
            init = getattr(init, "__func__", init)
        if not isinstance(init, types.FunctionType):
            yield from ("", "1", '"a"', "[1, 2]", '{"a": 1}')
            return
        wanted = [
            p
            for p in list(inspect.signature(init).parameters.values())[1:]
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        needed = [p for p in wanted if p.default is p.empty]
        options = [self.of_parameter(init, p, depth + 1) or [self.stub(), "1", '"a"', "None"] for p in needed]
        written = [(f"{p.name}=" if p.kind is p.KEYWORD_ONLY else "") for p in needed]
        for i in range(max([*map(len, options), 1])):
            if i < 4:
                yield ", ".join(w + column[min(i, len(column) - 1)] for w, column in zip(written, options, strict=True))
        yield ", ".join(w + self.stub() for w in written)


_CONTAINERS: tuple[tuple[tuple[Any, ...], str], ...] = (
    ((list, abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection, abc.Reversible, abc.Container), "[{}]"),
    ((abc.Iterator, abc.Generator), "iter([{}])"),
    ((set, abc.Set, abc.MutableSet), "{{{}}}"),
    ((frozenset,), "frozenset([{}])"),
)
_ALSO_TUPLES = (abc.Sequence, abc.Iterable, abc.Collection, abc.Reversible, abc.Container)


def _in_turn(lists: list[list[str]]) -> list[str]:
    """The first of each, then the second of each, ..."""
    longest = max(map(len, lists), default=0)
    return list(dict.fromkeys(one[i] for i in range(longest) for one in lists if i < len(one)))


def _as_hint(kind: t.Type) -> Any:
    """A type of the explorer as a hint."""
    match kind:
        case t.Scalar(kind=name):
            return {"int": int, "bool": bool, "float": float, "str": str}[name]
        case t.NoneType():
            return type(None)
        case t.Instance(cls=cls):
            return cls
        case t.ListOf(element=element):
            return list[_as_hint(element)]  # type: ignore[misc]
        case t.SetOf(element=element):
            return set[_as_hint(element)]  # type: ignore[misc]
        case t.DictOf(key=key, value=value):
            return dict[_as_hint(key), _as_hint(value)]  # type: ignore[misc]
        case t.Union(options=options):
            return typing.Union[tuple(map(_as_hint, options))]  # noqa: UP007
        case t.FunctionOf(returns=returns):
            return abc.Callable[..., _as_hint(returns)]
    return Any
