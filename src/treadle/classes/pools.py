"""Argument pools: for each parameter a short list of values worth trying, the likeliest first (section 4.2).

Values are few and collide on purpose: two calls disturb each other only if they speak of the same key, and a cache is
full only if it is small. The order is by type hint, then by the parameter's name and default, then everything; which
of them the class accepts is found out by calling it. Later iterations add values drawn from Hypothesis, by seed.
"""

from __future__ import annotations

import ast
import collections.abc
import dataclasses
import datetime
import enum
import inspect
import itertools
import pathlib
import re
import sys
import types
import typing
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from treadle.classes import reading
from treadle.classes.calls import CALLBACKS, SOUT, Argument, MethodCall, Namespace, Value
from treadle.classes.combining import choices, with_options
from treadle.classes.drawn import drawn
from treadle.classes.fitting import Attempt, fitted
from treadle.classes.grown import Grower
from treadle.classes.stand_ins import definition, hooks, needs_stand_in
from treadle.classes.subject import Subject, SubjectMethod, import_of, is_class
from treadle.core.errors import Unsupported
from treadle.core.packages import is_within
from treadle.observe.parameters import MISSING, Parameter, load_mentioning, parameters_of_class
from treadle.observe.recorded import Arguments, RecordedUse

_SOMETHING = 'class Something:\n    """A class for this test."""'

*CALLABLES, _GIVE_NEW = (Value(name, (source,)) for source, name in CALLBACKS.items())
# Where what a function gives matters, it is a new object each time.
MAKERS = [_GIVE_NEW, *CALLABLES]


def _plain(*sources: str) -> tuple[Value, ...]:
    return tuple(Value(source) for source in sources)


INTS = _plain("1", "2", "0", "10", "-1")
STRINGS = _plain("'a'", "'b'", "''")
KEYS = _plain("'a'", "'b'", "'c'")
ITEMS = _plain("1", "2", "'a'")
BOOLS = _plain("True", "False")
NONE = _plain("None")

_BY_TYPE: dict[Any, tuple[Value, ...]] = {
    int: INTS,
    float: _plain("1.0", "2.0", "0.5", "0.0"),
    complex: _plain("1j"),
    str: STRINGS,
    bytes: _plain("b'a'", "b'b'", "b''"),
    bytearray: _plain("bytearray(b'a')"),
    bool: BOOLS,
    type(None): NONE,
    object: KEYS[:2] + INTS[:2],
    Any: KEYS[:2] + INTS[:2] + NONE,
    list: _plain("[1]", "[]", "[1, 2]", "['a']"),
    tuple: _plain("(1,)", "()", "(1, 2)"),
    dict: _plain("{'a': 1}", "{}", "{'b': 2}"),
    set: _plain("{1}", "set()", "{1, 2}"),
    frozenset: _plain("frozenset({1})"),
    type: _plain("int", "str"),
    range: _plain("range(2)"),
    slice: _plain("slice(None)"),
    datetime.timedelta: (Value("datetime.timedelta(seconds=1)", ("import datetime",)),),
    datetime.datetime: (Value("datetime.datetime(2020, 1, 1)", ("import datetime",)),),
    datetime.date: (Value("datetime.date(2020, 1, 1)", ("import datetime",)),),
    collections.abc.Hashable: KEYS,
    collections.abc.Sized: _plain("[1]"),
}

# What a parameter without a type is, by its name; the first pattern that is found decides.
_BY_NAME: tuple[tuple[str, Sequence[Value]], ...] = (
    (r"(^|_)(factory|maker?|creator?|builder|supplier|producer|loader|getter|constructor)$", MAKERS),
    (
        r"^on_|(^|_)(func|fn|function|callable|callback|handler|hook|listener|target|cb|f|predicate|observer)$",
        CALLABLES,
    ),
    (r"(size|max|min|limit|count|capacity|num|length|len|amount|delta|index|idx|pos|position|level|weight|cost)", INTS),
    (
        r"^(n|i|k|x|y|lo|hi|start|stop|end|step|by|low|high|lower|upper|pages?|times|quantity|amount|rate|threshold)$",
        INTS,
    ),
    (r"(timeout|ttl|interval|delay|seconds|expir|period|duration)", _plain("10", "1", "0")),
    (r"(key|name|event|topic|channel|id|field|attr|word|path|url|host|label|tag|text|message|msg)", KEYS),
    (r"(items|iterable|values|elements|seq|sequence|list|objs|objects|args)$", _plain("[1]", "[1, 2]", "[]", "['a']")),
    (r"(mapping|dict|kwargs|kw|options|params|attributes|config|data)$", _plain("{'a': 1}", "{}", "{'b': 2}")),
    (r"(value|val|item|elem|element|obj|object|data|entry|v|default|other)", ITEMS),
)

# A parameter that is given a class.
_A_CLASS = re.compile(r"(^|_)(class|cls|klass|type)_?$")
_CLASS_OF = re.compile(r"(\w+)_(class|cls|klass)$")

_ANYTHING = (*KEYS[:2], *INTS[:2], *CALLABLES[:1], *_plain("[1]", "{'a': 1}", "None"))

# Calls of one method that are taken over from tests and examples.
_MOST_SEEN = 4
# Alternatives that are worth the time for one parameter.
_MOST = 6


class Pools:
    """The values for every parameter, for one subject. Deterministic by seed."""

    def __init__(
        self,
        subject: Subject,
        given: dict[str, list[str]],
        seed: int = 0,
        grower: Grower | None = None,
        recorded: RecordedUse | None = None,
    ) -> None:
        self.subject = subject
        self.recorded = recorded or RecordedUse()
        self.grower = grower  # brings objects of other classes into other states
        self.given = given  # --values: parameter name -> expressions
        self.seed = seed
        self.namespace = Namespace()
        self.constants = _constants(subject)
        self._making: list[type] = []
        self._alike: dict[str, list[Value]] = {}  # by the name of a parameter
        self._asked = reading.asked_of_parameters(subject.tree)
        self._states: dict[type, list[Value]] = {}
        self._fitting: dict[tuple[str, str], Value] = {}  # by method and parameter: what was found to be accepted
        if subject.is_module:
            self.home: tuple[str, ...] = (f"from {subject.cls.__name__} import *",)
        else:
            self.home = (f"from {subject.cls.__module__} import *",)

    # ------------------------------------------------------------------ one parameter

    def of(self, parameter: Parameter) -> list[Value]:
        """The values to try for a parameter, the likeliest first."""
        if parameter.name in self.given:
            return [Value(source, self._home_of(source)) for source in self.given[parameter.name]]
        if isinstance(parameter.default, type) and parameter.default is not MISSING:
            return self._classes(parameter.default)  # any other class is one that the parameter cannot have
        if not parameter.required and parameter.type in (MISSING, Any, type) and _A_CLASS.search(parameter.name):
            return []  # which classes it takes, nobody says
        if parameter.any_number:
            return self.of(Parameter(parameter.name.removesuffix("s"), parameter.type))
        if parameter.type is MISSING and (match := _CLASS_OF.match(parameter.name)):
            found = [value for one in self._classes_alike(match[1]) for value in self._classes(one)]
            if found:
                return list(dict.fromkeys(found))
        values = list(self._by_type(parameter.type)) if parameter.type is not MISSING else []
        if parameter.type in (MISSING, Any, object) or isinstance(parameter.type, typing.TypeVar):
            values = [*self._by_name(parameter), *values]
        elif parameter.type in (int, float, str):
            values = [*(v for v in self._by_name(parameter) if self._fits(v, parameter.type)), *values]
        told = self._by_name(parameter) and parameter.name not in self._asked
        if parameter.type is MISSING and parameter.required and not told:
            values = [*self._called_alike(parameter.name), *values]
        if parameter.type is MISSING:
            values += _ANYTHING
        if parameter.type in (int, MISSING):
            values += self.constants[int]
        if parameter.type in (str, MISSING):
            values += self.constants[str]
        return self._usable(parameter, list(dict.fromkeys([*self._drawn(parameter), *values])))

    def _usable(self, parameter: Parameter, values: list[Value]) -> list[Value]:
        """The values that have what the class calls on a parameter of its constructor; all where none has it."""
        asked = self._asked.get(parameter.name) if parameter.type is MISSING else None
        fitting = [value for value in values if self._has(value, asked)] if asked else []
        return fitting or values

    def _has(self, value: Value, names: Iterable[str]) -> bool:
        try:
            made = self.namespace.evaluate(value)
        except Exception:
            return False
        return all(inspect.getattr_static(made, name, MISSING) is not MISSING for name in names)

    def _home_of(self, source: str) -> tuple[str, ...]:
        return () if re.fullmatch(r"[-+\d.'\"\w]*", source) and not source.isidentifier() else self.home

    def _fits(self, value: Value, kind: Any) -> bool:
        try:
            return isinstance(self.namespace.evaluate(value), kind)
        except Exception:
            return False

    def _by_name(self, parameter: Parameter) -> list[Value]:
        found: list[Value] = []
        default = parameter.default
        if default is not MISSING and default is not None:
            found += [value for kind, pool in _BY_TYPE.items() if type(default) is kind for value in pool]
            if isinstance(default, float):
                found += INTS[:2]
            if callable(default) and not isinstance(default, type):
                found += CALLABLES
        if not found:
            for pattern, pool in _BY_NAME:
                if re.search(pattern, parameter.name.lower()):
                    found += pool
                    break
        return found

    def _called_alike(self, name: str) -> list[Value]:
        """Objects of a class of the package that is called like a parameter: `Bucket`, `LocalBucket` for `bucket`."""
        if name not in self._alike:
            self._alike[name] = [value for one in self._classes_alike(name) for value in self.instances(one)][:1]
        return self._alike[name]

    def _classes_alike(self, name: str) -> list[type]:
        word = "".join(part.capitalize() for part in name.rstrip("s_").split("_"))
        if not word:
            return []
        load_mentioning(f"{word}(", self.subject.packages, _MOST)
        found = [one for one in _classes_of(self.subject.packages) if re.search(rf"(^|[a-z0-9]){word}$", one.__name__)]
        found = [one for one in found if one is not self.subject.cls and not issubclass(one, BaseException)]
        return sorted(found, key=lambda one: (needs_stand_in(one), len(one.__name__)))

    def having(self, attribute: str) -> list[Value]:
        """Values that have an attribute: plain ones, then objects of the classes of the package that define it."""
        plain = [value for pool in _BY_TYPE.values() for value in pool[:1] if self._has(value, [attribute])]
        owners = [one for one in _classes_of(self.subject.packages) if attribute in vars(one)]
        own = (value for one in owners if one is not self.subject.cls for value in self.instances(one)[:1])
        return [*plain[:2], *itertools.islice(own, 2)]

    def _by_type(self, kind: Any) -> Iterable[Value]:
        """The pool of a type, taken apart when it is made of others."""
        if kind is self.subject.cls or kind == typing.Self:
            return [Value(SOUT)]
        try:
            if kind in _BY_TYPE:
                return _BY_TYPE[kind]
        except TypeError:
            return []
        if typing.get_origin(kind) is not None:
            return self._generic(typing.get_origin(kind), typing.get_args(kind))
        if isinstance(kind, typing.TypeVar):
            bound = kind.__bound__ or (kind.__constraints__[0] if kind.__constraints__ else Any)
            return self._by_type(bound)
        if isinstance(kind, typing.NewType):
            return self._by_type(kind.__supertype__)
        if kind in (typing.Callable, collections.abc.Callable):
            return CALLABLES
        if isinstance(kind, type):
            return self.instances(kind)
        return []

    def _generic(self, origin: Any, inner: tuple[Any, ...]) -> Iterable[Value]:
        if origin in (typing.Union, types.UnionType):
            pools = [list(self._by_type(one)) for one in sorted(inner, key=lambda one: one is type(None))]
            return [value for row in itertools.zip_longest(*pools) for value in row if value is not None]
        if origin is typing.Literal:
            return [Value(repr(one)) for one in inner]
        if origin in (typing.Annotated, typing.Final, typing.ClassVar):
            return self._by_type(inner[0])
        if origin is collections.abc.Callable:
            gives = inner[-1] if inner else None
            return MAKERS if gives in (Any, object) or isinstance(gives, typing.TypeVar) else CALLABLES
        if origin is type:
            return self._classes(inner[0] if inner else Any)
        if origin is tuple:
            return self._tuples(inner)
        if isinstance(origin, type) and issubclass(origin, collections.abc.Mapping):
            return self._mappings(inner)
        if isinstance(origin, type) and issubclass(origin, collections.abc.Iterable):
            return self._collections(origin, inner)
        return self._by_type(origin)

    def _tuples(self, inner: tuple[Any, ...]) -> list[Value]:
        parts = [list(self._by_type(one))[:2] for one in inner if one is not Ellipsis]
        if not all(parts):
            return [Value("()")]
        return [_compose("({})", row, comma=True) for row in zip(*parts, strict=False)]

    def _mappings(self, inner: tuple[Any, ...]) -> list[Value]:
        keys = list(self._by_type(inner[0]))[:2] if inner else list(KEYS[:2])
        values = list(self._by_type(inner[1]))[:2] if len(inner) > 1 else list(ITEMS[:2])
        found = [_compose("{{{}: {}}}", (key, value)) for key, value in zip(keys, values, strict=False)]
        return [*found, Value("{}")]

    def _collections(self, origin: type, inner: tuple[Any, ...]) -> list[Value]:
        form = "{{{}}}" if issubclass(origin, collections.abc.Set) else "[{}]"
        values = list(self._by_type(inner[0]))[:2] if inner else list(ITEMS[:2])
        found = [_compose(form, (value,)) for value in values[:1]]
        if len(values) > 1:
            found.append(_compose(form, tuple(values)))
        return [*found, Value("set()" if "{{" in form else "[]")]

    def _classes(self, base: Any) -> list[Value]:
        """Classes as values: the one that is named and its heirs, or any class."""
        if isinstance(base, typing.TypeVar):
            base = base.__bound__ or Any
        if not isinstance(base, type) or base in (object, Any):
            return [Value("Something", (_SOMETHING,)), *_BY_TYPE[type]]
        load_mentioning(base.__name__, self.subject.packages)
        usable = [one for one in (base, *heirs(base)) if not needs_stand_in(one) and "<locals>" not in one.__qualname__]
        usable.sort(key=lambda one: bool(hooks(one)))  # those that are meant to be used as they are
        return [Value(name, needs) for needs, name in map(import_of, usable[:3])] or self.stand_in_class(base)

    def stand_in_class(self, cls: type) -> list[Value]:
        try:
            needs, base = import_of(cls)
        except Unsupported:
            return []
        name, lines, source = definition(cls, base, lambda hint: list(self._by_type(hint)))
        return [Value(name, (*needs, *lines, source))]

    # ------------------------------------------------------------------ instances of other classes

    def instances(self, cls: type) -> list[Value]:
        """Objects of another class, made by its own constructor with pooled values."""
        if cls in self._making or len(self._making) > 3:
            return []
        if issubclass(cls, enum.Enum):
            needs, name = import_of(cls)
            return [Value(f"{name}.{member}", needs) for member in list(cls.__members__)[:3]]
        if issubclass(cls, pathlib.PurePath):
            return [Value("pathlib.Path('a')", ("import pathlib",))]
        if cls.__module__ in ("collections.abc", "typing"):
            return self._abstract(cls)
        if cls.__module__ == "builtins" and issubclass(cls, BaseException):
            return [Value(f"{cls.__name__}('a')")]
        if cls.__module__ in ("builtins", "datetime", "decimal", "fractions", "uuid"):
            return []
        self._making.append(cls)
        try:
            protocol = getattr(cls, "_is_protocol", False)
            found = [] if protocol else self._construct(cls)
            if not found:
                load_mentioning(cls.__name__, self.subject.packages)
                for heir in self._implementers(cls) if protocol else heirs(cls):
                    found = self._construct(heir)
                    if found:
                        cls = heir
                        break
            known = self._kept_by_modules(cls)
            if not found and not known:
                return self._stand_in(cls)
            return known + found[:1] + self._grown(cls, found) + found[1:]
        finally:
            self._making.pop()

    def _stand_in(self, cls: type) -> list[Value]:
        """An object of a class written for the purpose."""
        found = []
        for value in self.stand_in_class(cls) if hooks(cls) else ():
            try:
                made = self.namespace.evaluate(value)
            except Exception:
                continue
            found += self._construct_as(made, value.source, value.needs)
        return found[:1]

    def _kept_by_modules(self, cls: type) -> list[Value]:
        """Objects of a class that the package offers by name (`singleton`, `NOT_SET`)."""
        found: list[Value] = []
        for name, module in list(sys.modules.items()):
            if not is_within(name, self.subject.packages):
                continue
            for word, value in list(vars(module).items()):
                if type(value) is cls and not word.startswith("_") and len(found) < 2:
                    found.append(Value(word, (f"from {name} import {word}",)))
        return list({value.source: value for value in found}.values())

    def _grown(self, cls: type, fresh: list[Value]) -> list[Value]:
        """The same in other states, for direct arguments only."""
        if self.grower is None or not fresh or len(self._making) > 1 or SOUT in fresh[0].source:
            return []
        if cls not in self._states:
            self._states[cls] = self.grower.values(cls, fresh[0], self.calls)
        return self._states[cls]

    def _implementers(self, protocol: type) -> Iterator[type]:
        """Classes of the subject's packages that have every member of a protocol."""
        members = {name for name in vars(protocol) if not name.startswith("_") and callable(vars(protocol)[name])}
        for cls in _classes_of(self.subject.packages):
            if members and members <= set(dir(cls)) and not getattr(cls, "_is_protocol", False):
                yield cls

    def _abstract(self, cls: type) -> list[Value]:
        for base, pool in (
            (collections.abc.Mapping, dict),
            (collections.abc.Set, set),
            (collections.abc.Iterable, list),
        ):
            if issubclass(cls, base):
                return list(_BY_TYPE[pool])
        return []

    def _construct(self, cls: type) -> list[Value]:
        try:
            needs, name = import_of(cls)
        except Unsupported:
            return []
        return [] if inspect.isabstract(cls) else self._construct_as(cls, name, needs)

    def _construct_as(self, cls: type, name: str, needs: tuple[str, ...]) -> list[Value]:
        """Objects of a class by the name that it has after some lines."""
        if dataclasses.is_dataclass(cls):
            parameters = _dataclass_parameters(cls)
        else:
            parameters = parameters_of_class(cls)
        required = [parameter for parameter in parameters if parameter.required]
        pools = [self.of(parameter)[:3] for parameter in required]
        if not all(pools):
            return []
        found = []
        for number in range(3):
            chosen = [pool[min(number, len(pool) - 1)] for pool in pools]
            arguments = [
                f"{parameter.name}={value}" if parameter.by_name else str(value)
                for parameter, value in zip(required, chosen, strict=True)
            ]
            # a list that is the default of all objects would take what one execution did into the next
            arguments += [f"{p.name}={p.default!r}" for p in parameters if p.default in ([], {}) and not p.any_number]
            lines = tuple(dict.fromkeys([*needs, *(line for value in chosen for line in value.needs)]))
            value = Value(f"{name}({', '.join(arguments)})", lines)
            if value not in found and self.works(value):
                found.append(value)
        return found

    def works(self, value: Value) -> bool:
        """Can this value be made at all?"""
        if SOUT in value.source:
            return True
        try:
            self.namespace.evaluate(value)
        except Exception:
            return False
        return True

    # ------------------------------------------------------------------ values from Hypothesis

    def _drawn(self, parameter: Parameter) -> list[Value]:
        """Values from Hypothesis, at later iterations only: the seed of the first is 0."""
        if not self.seed or parameter.type in (MISSING, Any, object):
            return []
        return drawn(parameter.type, self.seed)

    # ------------------------------------------------------------------ calls

    def calls(self, method: SubjectMethod) -> Iterator[MethodCall]:
        """Calls of a method as they were seen, then with pooled values, the plainest first; which of them make sense is
        for others to say."""
        seen: set[MethodCall] = set(self._seen_calls(method))
        yield from self._seen_calls(method)
        required = [parameter for parameter in method.parameters if parameter.required]
        optional = [p for p in method.parameters if not p.required and not p.name.startswith("_")]
        pools = {parameter.name: self._for(method, parameter)[:_MOST] for parameter in (*required, *optional)}
        if any(not pools[parameter.name] for parameter in required):
            return
        bases: list[list[Argument]] = []
        chosen = list(choices([len(pools[parameter.name]) for parameter in required]))
        for number, choice in enumerate(chosen):
            base = [
                Argument(pools[p.name][place], p.name if p.by_name else "")
                for p, place in zip(required, choice, strict=True)
            ]
            bases.append(base)
            made = [base]
            if number == min(1, len(chosen) - 1) and "{args}" in method.form:  # keys that differ come before options
                named = [("" if p.any_number else p.name, pools[p.name]) for p in optional]
                made += with_options(bases, named)
            for arguments in made:
                call = method.call(tuple(arguments))
                if call not in seen:
                    seen.add(call)
                    yield call

    def fit(self, method: SubjectMethod, attempt: Attempt) -> bool:
        """Look for arguments that a method accepts, by how it refuses others; `calls` begins with them then."""
        required = [parameter for parameter in method.parameters if parameter.required]
        found = fitted(required, {one.name: self.of(one) for one in required}, self.having, attempt)
        self._fitting |= {(method.name, name): value for name, value in found.items()}
        return bool(found)

    def _for(self, method: SubjectMethod, parameter: Parameter) -> list[Value]:
        """The values of a parameter of this method: one that was found to fit comes first."""
        fitting = self._fitting.get((method.name, parameter.name))
        return self.of(parameter) if fitting is None else list(dict.fromkeys([fitting, *self.of(parameter)]))

    def names(self) -> list[str]:
        """The class and its bases, or the module, as recordings name them."""
        cls = self.subject.cls
        if not isinstance(cls, type):
            return [str(cls.__name__)]
        return [f"{base.__module__}:{base.__qualname__}" for base in cls.__mro__]

    def ways_seen(self) -> list[MethodCall]:
        """How tests and examples make an object of the class."""
        made = [] if self.subject.is_used else self.recorded.made.get(self.names()[0], [])
        return [MethodCall("recorded", one.source, needs=one.needs) for one in made if self._lines_run(one.needs)]

    def orders_seen(self) -> Iterator[tuple[MethodCall, ...]]:
        """The calls of one object, as tests and examples make them."""
        methods = {Subject.attribute(method.name): method for method in self.subject.methods if not method.setter}
        for order in self.recorded.orders.get(self.names()[0], []):
            calls = [self._as_seen(methods[call.method], call.arguments) for call in order if call.method in methods]
            yield tuple(call for call in calls if call is not None)

    def _seen_calls(self, method: SubjectMethod) -> list[MethodCall]:
        if method.setter:
            return []
        mark, attribute = ":" if self.subject.is_module else ".", Subject.attribute(method.name)
        seen = [one for name in self.names() for one in self.recorded.called.get(f"{name}{mark}{attribute}", [])]
        calls = dict.fromkeys(self._as_seen(method, one) for one in seen)
        return [call for call in calls if call is not None][:_MOST_SEEN]

    def _as_seen(self, method: SubjectMethod, arguments: Arguments) -> MethodCall | None:
        """A call that was seen; None where it cannot be written so, or the lines it needs do not run."""
        fits = "{args}" in method.form or f"{{{len(arguments) - 1}}}" in method.form or not arguments
        if not fits or not self._lines_run(tuple(line for one in arguments for line in one.value.needs)):
            return None
        given = tuple(Argument(Value(one.value.source, one.value.needs), one.name) for one in arguments)
        return method.call(given)

    def _lines_run(self, lines: tuple[str, ...]) -> bool:
        return self.works(Value("None", lines))

    def unmakeable(self, method: SubjectMethod) -> Parameter | None:
        """The first required parameter that no pool has a value for."""
        if self._seen_calls(method):
            return None
        return next((p for p in method.parameters if p.required and not self.of(p)), None)


def _compose(form: str, parts: tuple[Value, ...], comma: bool = False) -> Value:
    joined = ", ".join(str(part) for part in parts) + ("," if comma and len(parts) == 1 else "")
    source = form.format(*parts) if form.count("{}") > 1 else form.format(joined)
    return Value(source, tuple(dict.fromkeys(line for part in parts for line in part.needs)))


def heirs(cls: type) -> Iterator[type]:
    """Subclasses that are loaded and can be imported, nearest first: no stand-ins, nothing of the tests themselves."""
    pending: list[type] = type.__subclasses__(cls)
    while pending:
        heir = pending.pop(0)
        if getattr(sys.modules.get(heir.__module__), heir.__qualname__, None) is heir:
            yield heir
        pending += type.__subclasses__(heir)


def _classes_of(packages: tuple[str, ...]) -> list[type]:
    """The classes that the modules of the packages define, as far as they are loaded."""
    return [
        value
        for name, module in sorted(sys.modules.items())
        if is_within(name, packages)
        for value in list(vars(module).values())
        if is_class(value) and value.__module__ == name
    ]


def _dataclass_parameters(cls: Any) -> tuple[Parameter, ...]:
    try:
        hints = typing.get_type_hints(cls)
    except Exception:
        hints = {}
    found = []
    for part in dataclasses.fields(cls):
        if part.init:
            has = part.default is not dataclasses.MISSING or part.default_factory is not dataclasses.MISSING
            found.append(
                Parameter(part.name, hints.get(part.name, MISSING), None if has else MISSING, part.kw_only is True)
            )
    return tuple(found)


def _constants(subject: Subject) -> dict[type, list[Value]]:
    """Small numbers and short strings in the source of the class, besides the usual ones."""
    numbers: dict[Value, None] = {}
    strings: dict[Value, None] = {}
    documentation: set[int] = set()
    for tree in subject.tree:
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
                documentation.add(id(body[0].value))
            if isinstance(node, ast.JoinedStr):
                documentation.update(id(part) for part in ast.walk(node))
            if not isinstance(node, ast.Constant) or id(node) in documentation:
                continue
            if type(node.value) is int and 2 < abs(node.value) <= 1000:
                numbers[Value(repr(node.value))] = None
            elif type(node.value) is str and 1 < len(node.value) <= 12 and node.value.isidentifier():
                strings[Value(repr(node.value))] = None
    return {int: list(numbers)[:2], str: list(strings)[:2]}
