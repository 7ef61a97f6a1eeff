"""The class under test: its constructors, its candidate methods, and what they take (section 4.2, candidate methods).

Candidate methods are what a user of the class reaches: public methods, properties, operators by their syntax, and
functions of the same module that take an object of the class. Methods that come from code that is not rewritten (the
mix-ins of collections.abc, the methods of dict) are used to build states and to look at them, but not judged: they
are not the class's own.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import importlib
import inspect
import random
import re
import sys
import textwrap
import traceback
import types
import typing
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from treadle.classes import reading
from treadle.classes.calls import AWAITING, Argument, MethodCall, Value
from treadle.core.errors import NoSuchModule, Unsupported, UsageError
from treadle.core.packages import is_within
from treadle.core.words import choices
from treadle.observe.effects import EffectGuard, EffectRefused, scratch_folder
from treadle.observe.parameters import BUILTIN, Parameter, hints_of, parameters_of, parameters_of_class
from treadle.threads.instrument.selection import never

# Operators by the syntax that reaches them: name -> (how people call it, source, parameters, is an expression)
SYNTAX: dict[str, tuple[str, str, int, bool]] = {
    "__getitem__": ("[]", "{sout}[{0}]", 1, True),
    "__setitem__": ("[]=", "{sout}[{0}] = {1}", 2, False),
    "__delitem__": ("del []", "del {sout}[{0}]", 1, False),
    "__contains__": ("in", "{0} in {sout}", 1, True),
    "__len__": ("len", "len({sout})", 0, True),
    "__bool__": ("bool", "bool({sout})", 0, True),
    "__iter__": ("iter", "iter({sout})", 0, True),
    "__reversed__": ("reversed", "reversed({sout})", 0, True),
    "__next__": ("next", "next({sout})", 0, True),
    "__call__": ("()", "{sout}({args})", -1, True),
    "__enter__": ("with", "with {sout}: {pass}", 0, False),
    "__aenter__": ("async with", "async with {sout}: {pass}", 0, False),
    "__hash__": ("hash", "hash({sout})", 0, True),
    "__str__": ("str", "str({sout})", 0, True),
    "__repr__": ("repr", "repr({sout})", 0, True),
    "__eq__": ("==", "{sout} == {0}", 1, True),
    "__iadd__": ("+=", "{sout} += {0}", 1, False),
    "__ior__": ("|=", "{sout} |= {0}", 1, False),
    "__add__": ("+", "{sout} + {0}", 1, True),
    "__int__": ("int", "int({sout})", 0, True),
    "__float__": ("float", "float({sout})", 0, True),
}

PEOPLE_WRITE = {attribute: said for attribute, (said, *_) in SYNTAX.items()}

# Results of these are made of many steps in every Python container, and nobody promises that they are consistent:
# they must not fail, but what they say is not compared.
NOT_COMPARED = frozenset({"repr", "keys", "values", "items"})

# A way to make the object that makes none: what is shared is the class, which keeps its objects itself.
CLASS_ITSELF = "class"

# What stands for time that passes between two calls, and beside them.
PASSING = "time passes"
TIME_PASSES = MethodCall(
    PASSING, "treadle.pass_time({0})", (Argument(Value("100000")),), expression=False, needs=("import treadle",)
)

FUNCTION_NAME = re.compile(r"^(f|fn|func|function|wrapped|callable|callback|fun|method|target)$")

# Methods that hand an object's life over to somebody else, or start what never ends: not called unless asked for.
_DANGEROUS = re.compile(r"^(serve_forever|run_forever|mainloop|fork|exec|exit|quit|abort|system|popen)$")


@dataclass(frozen=True)
class SubjectMethod:
    """A candidate method, or a constructor."""

    name: str  # as people write it
    form: str
    parameters: tuple[Parameter, ...] = ()
    expression: bool = True
    own: bool = True  # is its code rewritten, and so to be judged?
    setter: bool = False
    needs: tuple[str, ...] = ()
    where: str = ""  # file:line
    grasped: bool = False  # is it called on what another method returned?

    def call(self, arguments: tuple[Argument, ...]) -> MethodCall:
        return MethodCall(self.name, self.form, arguments, self.expression, self.needs)

    def __str__(self) -> str:
        return self.name


# What a class may call its own check of its objects.
_INVARIANTS = ("__invariant__", "invariant")


def invariant_of(cls: Any) -> str:
    """The method by which a class checks its objects itself; '' where it has none."""
    return next((name for name in _INVARIANTS if callable(getattr(cls, name, None))), "")


@dataclass
class Subject:
    """The class under test, taken apart."""

    target: str  # module:Class as given
    cls: Any  # the class; or a module that is itself the shared thing
    methods: list[SubjectMethod] = field(default_factory=list)
    constructors: list[SubjectMethod] = field(default_factory=list)
    packages: tuple[str, ...] = ()
    skipped: dict[str, str] = field(default_factory=dict)  # methods that are not called, with the reason
    notes: list[str] = field(default_factory=list)
    in_tasks: bool = False  # are calls made in tasks of one event loop, because methods are coroutines?
    is_used: bool = False  # is what is shared a use of the class or function, written for the purpose?
    walks: set[str] = field(default_factory=set)  # methods that only walk through what an iterator gives

    @property
    def name(self) -> str:
        return str(self.cls.__name__).rpartition(".")[2]

    @property
    def draws(self) -> bool:
        """Is it a generator of random numbers? Then which numbers a call gets is nobody's business."""
        return isinstance(self.cls, type) and issubclass(self.cls, random.Random)

    @property
    def is_module(self) -> bool:
        return isinstance(self.cls, types.ModuleType)

    @cached_property
    def tree(self) -> list[ast.AST]:
        """The parsed source of the class and of the bases that are rewritten."""
        return self.tree_of(self.cls)

    def tree_of(self, thing: Any) -> list[ast.AST]:
        found: list[ast.AST] = []
        for cls in (thing,) if self.is_module else thing.__mro__:
            if self.is_module or is_within(cls.__module__, self.packages):
                try:
                    found.append(ast.parse(textwrap.dedent(inspect.getsource(cls))))
                except (OSError, TypeError, SyntaxError):
                    continue
        return found

    @cached_property
    def tallies(self) -> frozenset[str]:
        """Attributes that only count events: when they are off, that is told as a warning."""
        return reading.tallies(self.tree)

    @cached_property
    def changing(self) -> frozenset[str]:
        """Methods whose source changes the object or the module: a pass without them would say nothing."""
        return frozenset(PEOPLE_WRITE.get(name, name) for name in reading.changing(self.tree, self._state_of_module))

    @property
    def _state_of_module(self) -> frozenset[str]:
        plain = (n for n, v in vars(self.cls).items() if not callable(v) and type(v) is not types.ModuleType)
        return frozenset(plain) if self.is_module else frozenset()

    @cached_property
    def approximate(self) -> frozenset[str]:
        """Methods whose results the documentation calls approximate."""
        whole = inspect.getdoc(self.cls) or ""
        return frozenset(
            method.name
            for method in self.methods
            if reading.is_approximate(self.attribute(method.name), _documentation(self.cls, method), whole)
        )

    @staticmethod
    def attribute(name: str) -> str:
        """The name of a method in the source of the class."""
        return next((attribute for attribute, (said, *_) in SYNTAX.items() if said == name), name.rstrip("="))

    @property
    def not_compared(self) -> frozenset[str]:
        """Methods that must not fail, but whose results are not compared."""
        return NOT_COMPARED | self.approximate | self.walks


def _documentation(owner: Any, method: SubjectMethod) -> str:
    return inspect.getdoc(inspect.getattr_static(owner, Subject.attribute(method.name), None)) or ""


# ---------------------------------------------------------------------- finding the class


def import_module(name: str, guarded: bool = True) -> types.ModuleType:
    """Import a module; whatever goes wrong is one sentence."""
    for folder in (Path.cwd() / "src", Path.cwd()):
        if folder.is_dir() and str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    try:
        with scratch_folder() as scratch, EffectGuard(scratch) if guarded else nullcontext():
            return importlib.import_module(name)
    except EffectRefused as refused:
        raise UsageError(f"'{name}' cannot be imported: {refused}; pass --allow-effects to let it") from None
    except ModuleNotFoundError as error:
        if error.name is not None and is_within(name, [error.name]):
            raise NoSuchModule(f"there is no module '{name}' that Python can import from here") from None
        raise UsageError(f"'{name}' cannot be imported: it needs '{error.name}', which is not installed") from None
    except SyntaxError as error:
        place = f" ({error.filename}:{error.lineno})" if error.filename else ""
        raise UsageError(f"'{name}' cannot be imported: {error.msg}{place}") from None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename][1:]
        place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        raise UsageError(f"'{name}' cannot be imported: {text}{place}") from None


def find_class(target: str, guarded: bool = True) -> Any:
    """The class that `module:Class` names."""
    module_name, _, path = target.partition(":")
    if not module_name:
        raise UsageError(f"'{target}' names no module; write pkg.mod:Class, for example bank:Account")
    value: Any = import_module(module_name, guarded)
    for part in path.split(".") if path else ():  # `pkg.mod:` is the module itself
        if not hasattr(value, part):
            names = [n for n, v in vars(value).items() if isinstance(v, type) and not n.startswith("_")]
            raise UsageError(f"there is no '{part}' in {target.partition(':')[0]}{choices(part, names)}")
        value = getattr(value, part)
    if isinstance(value, types.ModuleType | type):
        return value
    home = str(getattr(_unwrapped(value), "__module__", None))
    offered = home.partition(".")[0] == module_name.partition(".")[0] and hasattr(sys.modules.get(home), path)
    if "." not in path and is_function_of(value, home if offered else module_name):
        return value  # also one that a package offers and a module inside it defines
    raise UsageError(f"{target} is of type {type(value).__name__}: neither a class nor a function of its module")


def is_function_of(value: Any, module: str) -> bool:
    """Is it a function that a module defines, or one that a decorator has put something around?"""
    inner = _unwrapped(value)
    return isinstance(inner, types.FunctionType) and inner.__module__ == module


def _unwrapped(value: Any) -> Any:
    try:
        return inspect.unwrap(value) if callable(value) and not isinstance(value, type) else None
    except Exception:  # a proxy that has nothing to stand for
        return None


def is_class(value: object) -> bool:
    """Is it a class? A lazy object is not asked what it stands for: finding out may fail."""
    return issubclass(type(value), type)


def public_classes(module: types.ModuleType) -> list[type]:
    """The public classes that a module defines, in the order of its source."""
    found: list[type] = []
    for name, value in vars(module).items():
        if is_class(value) and value.__module__ == module.__name__ and value.__qualname__ == name:
            found += [value] if not name.startswith("_") else []
    return found


def may_be_shared(cls: type) -> bool:
    """Is it a class whose objects threads share: no enum, no exception, no description of a dictionary?"""
    return not issubclass(cls, enum.Enum | BaseException) and not typing.is_typeddict(cls)


def check_class(cls: Any, target: str) -> None:
    """Refuse what cannot be tested this way, saying why and what would help."""
    if not isinstance(cls, type):
        return
    if issubclass(cls, enum.Enum):
        raise Unsupported(f"{target} is an enum: its members never change, so there is nothing to get wrong")
    if issubclass(cls, BaseException):
        raise Unsupported(f"{target} is an exception class: exceptions are not shared by threads")
    if typing.is_typeddict(cls):
        raise Unsupported(f"{target} is a typed dictionary: name a class that uses it")
    if not cls.__flags__ & (1 << 9) or not _has_python(cls):
        raise Unsupported(
            f"{target} is written in C: each of its methods is one atomic step while the interpreter holds its lock, "
            "so no schedule can break a single call"
        )
    reason = never(cls.__module__)
    if reason is not None:
        raise Unsupported(f"{target} cannot be looked into: {cls.__module__} ({reason})")


def _has_python(cls: type) -> bool:
    """Is the class made by a class statement, or does any of its methods have Python code?"""
    return bool({"__dict__", "__slots__"} & set(vars(cls))) or any(
        isinstance(value, types.FunctionType | classmethod | staticmethod | property)
        or isinstance(getattr(value, "__wrapped__", None), types.FunctionType)
        for base in cls.__mro__[:-1]
        for value in vars(base).values()
    )


def packages_of(cls: Any) -> tuple[str, ...]:
    """The packages to look into: the class's own, and those of its bases."""
    names = [cls.__name__] if isinstance(cls, types.ModuleType) else [base.__module__ for base in cls.__mro__]
    found: dict[str, None] = {}
    for name in names:
        if name in ("builtins", "__main__") or never(name) or (name in _ABC_MODULES and name != names[0]):
            continue
        package = _package(name)
        if package.partition(".")[0] in sys.stdlib_module_names and package != name:
            package = name  # the module alone: not all of a standard package
        module = sys.modules.get(package)
        if str(getattr(module, "__file__", None)).endswith(".py") or hasattr(module, "__path__"):  # not one made in C
            found[package] = None
    return tuple(found)


_ABC_MODULES = frozenset(
    {"typing", "collections", "collections.abc", "abc", "enum", "dataclasses", "typing_extensions"}
)


def _package(name: str) -> str:
    """The outermost package of a module that is a real package, not a namespace shared by several projects."""
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        package = ".".join(parts[:length])
        module = sys.modules.get(package)
        if module is not None and getattr(module, "__file__", None):
            # a module right inside a namespace package: the modules around it belong to the same project
            alone = not hasattr(module, "__path__") and length > 1
            return ".".join(parts[: length - 1]) if alone else package
    return name


# ---------------------------------------------------------------------- taking it apart


def examine(target: str, cls: Any) -> Subject:
    """The subject: constructors and candidate methods with their parameters."""
    if not isinstance(cls, type | types.ModuleType):
        return _examine_function(target, cls)
    subject = Subject(target, cls, packages=packages_of(cls))
    if isinstance(cls, types.ModuleType):
        _examine_module(subject)
        time_passes(subject)
        return subject
    needs, name = import_of(cls)
    subject.constructors.append(
        SubjectMethod("constructor", f"{name}({{args}})", parameters_of_class(cls), needs=needs)
    )
    if reading.keeps_objects(subject.tree_of(type(cls)) + subject.tree, name, type(cls).__name__):
        subject.constructors.append(SubjectMethod(CLASS_ITSELF, name, needs=needs))
        makes = SubjectMethod(f"{name}()", f"{name}({{args}})", parameters_of_class(cls), needs=needs)
        subject.methods.append(makes)
    for attribute in dir(cls):
        raw = inspect.getattr_static(cls, attribute)
        own = is_own(raw, cls, attribute, subject.packages)
        if isinstance(raw, classmethod | staticmethod):
            if own:
                _factory_or_static(subject, attribute, raw, name, needs)
        elif attribute in SYNTAX:
            _operator(subject, attribute, raw, own)
        elif attribute.startswith("_"):
            continue
        elif isinstance(raw, property):
            _property(subject, attribute, raw, own)
        elif _DANGEROUS.match(attribute):
            subject.skipped[attribute] = "it does not come back"
        else:
            _plain_method(subject, attribute, raw, own)
    _twins(subject)
    _functions_of_module(subject)
    time_passes(subject)
    return subject


def _twins(subject: Subject) -> None:
    """A class in which every coroutine has a twin that is none (`call` and `call_async`) is one for threads."""
    coroutines = [method for method in subject.methods if method.form.startswith(AWAITING)]
    plain = {method.name for method in subject.methods} - {method.name for method in coroutines}
    for method in coroutines:
        name = method.name
        same = {name.replace("_async", "", 1), name.replace("async_", "", 1), name.removeprefix("a")} & plain
        if not same:
            return
        subject.skipped[name] = f"a coroutine; its twin {min(same)} is called, in threads"
    subject.methods = [method for method in subject.methods if method not in coroutines]
    subject.in_tasks = False


def time_passes(subject: Subject) -> None:
    """Where the source looks at a clock: a little time, and more than anything waits for, between two calls."""
    if reading.looks_at_a_clock(subject.tree):
        seconds = Parameter("seconds", typing.Literal[1, 100_000])
        subject.methods.append(
            SubjectMethod(PASSING, "time.sleep({0})", (seconds,), expression=False, own=False, needs=("import time",))
        )


def _plain_method(subject: Subject, name: str, raw: Any, own: bool) -> None:
    if isinstance(raw, type) or not callable(raw):
        if hasattr(type(raw), "__get__") and not isinstance(raw, types.MemberDescriptorType | type):
            subject.methods.append(SubjectMethod(name, f"{{sout}}.{name}", own=own))  # a cached property and its like
        return
    parameters = parameters_of(raw, skip_first=True)
    if parameters is None:
        parameters = BUILTIN.get(name)
        if parameters is None:
            subject.skipped[name] = "what it takes cannot be found out"
            return
    _add_function(subject, name, raw, parameters, own)


def _add_function(subject: Subject, name: str, raw: Any, parameters: tuple[Parameter, ...], own: bool = True) -> None:
    """A method, or a function of a module that is shared: how it is called depends on whether it waits."""
    function = inspect.unwrap(raw)
    form, expression = f"{{sout}}.{name}({{args}})", True
    if inspect.isasyncgenfunction(raw):
        form = f"[one async for one in {form}]"
        subject.walks.add(name)
    elif inspect.isasyncgenfunction(function):  # behind contextlib.asynccontextmanager
        form, expression = f"async with {form}: {{pass}}", False
    elif inspect.iscoroutinefunction(function):
        form = f"await {form}"
    subject.in_tasks = subject.in_tasks or form.startswith(AWAITING)
    subject.methods.append(SubjectMethod(name, form, parameters, expression, own=own, where=place_of(function)))


def _operator(subject: Subject, attribute: str, raw: Any, own: bool) -> None:
    if raw is getattr(object, attribute, None) or raw is None or not callable(raw):
        return
    name, form, count, expression = SYNTAX[attribute]
    if attribute in ("__enter__", "__aenter__") and not hasattr(subject.cls, attribute.replace("enter", "exit")):
        return
    subject.in_tasks = subject.in_tasks or attribute == "__aenter__"
    if attribute == "__iter__" and hasattr(subject.cls, "__next__"):
        return
    found = parameters_of(raw, skip_first=True)
    if found is None or (count > 0 and any(parameter.any_number for parameter in found)):
        found = tuple(Parameter(n, Any) for n in ("key", "value")[: max(count, 0)])
    parameters = found if count < 0 else found[:count]
    if len(parameters) < count:
        return
    where = place_of(inspect.unwrap(raw))
    subject.methods.append(SubjectMethod(name, form, parameters, expression, own=own, where=where))
    if attribute == "__call__" and len(parameters) == 1 and re.search(FUNCTION_NAME, parameters[0].name):
        # a decorator: what it returns is called, too
        subject.methods.append(SubjectMethod("decorated", "{sout}({0})()", parameters, own=own, where=where))


def _property(subject: Subject, name: str, raw: property, own: bool) -> None:
    subject.methods.append(SubjectMethod(name, f"{{sout}}.{name}", own=own, where=place_of(raw.fget)))
    if raw.fset is not None:
        found = parameters_of(raw.fset, skip_first=True) or ()
        if found:
            form = f"{{sout}}.{name} = {{0}}"
            subject.methods.append(
                SubjectMethod(
                    f"{name}=", form, found[:1], expression=False, own=own, setter=True, where=place_of(raw.fset)
                )
            )


def _factory_or_static(subject: Subject, attribute: str, raw: Any, name: str, needs: tuple[str, ...]) -> None:
    """A class method is a factory when it says so by its result or its name; a static one that takes the class is a
    method."""
    if attribute.startswith("_"):
        return
    function = raw.__func__
    parameters = parameters_of(function, skip_first=isinstance(raw, classmethod))
    if parameters is None or inspect.iscoroutinefunction(function):
        return
    result = hints_of(function).get("return")
    makes = result in (subject.cls, typing.Self) or result == subject.cls.__name__
    makes = makes or (isinstance(raw, classmethod) and re.match(r"(from|create|make|build|of|new|open)_?", attribute))
    form = f"{name}.{attribute}({{args}})"
    method = SubjectMethod(attribute, form, parameters, needs=needs, where=place_of(function))
    takes = any(parameter.type is subject.cls for parameter in parameters)
    if makes:
        subject.constructors.append(method)
    if takes or (isinstance(raw, classmethod) and (not makes or CLASS_ITSELF in map(str, subject.constructors))):
        subject.methods.append(method)


def _functions_of_module(subject: Subject) -> None:
    """Functions of the same module that take an object of the class count as methods."""
    home = subject.cls.__module__
    for name, function in vars(sys.modules[home]).items() if home in sys.modules else ():
        if name.startswith("_") or not is_function_of(function, home) or inspect.iscoroutinefunction(function):
            continue
        parameters = parameters_of(function, skip_first=False)
        if parameters and any(parameter.type is subject.cls for parameter in parameters):
            needs = (f"from {home} import {name}",)
            subject.methods.append(
                SubjectMethod(name, f"{name}({{args}})", parameters, needs=needs, where=place_of(function))
            )


def _examine_function(target: str, function: Any) -> Subject:
    """A function is judged together with itself; the others of its module bring the module into states."""
    module = sys.modules[inspect.unwrap(function).__module__]
    subject = examine(target, module)
    name = target.partition(":")[2]
    if name not in {method.name for method in subject.methods}:
        raise Unsupported(f"{target} cannot be called: what it takes cannot be found out")
    subject.methods = [m if m.name == name else dataclasses.replace(m, own=False) for m in subject.methods]
    return subject


def _examine_module(subject: Subject) -> None:
    """A module whose functions share its globals: its public functions are the methods."""
    module = subject.cls
    needs = (f"import {module.__name__}",)
    subject.constructors.append(SubjectMethod("module", module.__name__, needs=needs))
    for name, function in vars(module).items():
        if name.startswith("_") or not is_function_of(function, module.__name__):
            continue
        parameters = parameters_of(function, skip_first=False)
        if parameters is not None:
            _add_function(subject, name, function, parameters)
    _twins(subject)


def import_of(cls: type) -> tuple[tuple[str, ...], str]:
    """The line that imports a class, and the expression that names it afterwards."""
    outer = cls.__qualname__.partition(".")[0]
    if "<locals>" in cls.__qualname__:
        raise Unsupported(f"{cls.__qualname__} is defined inside a function, where no test can import it")
    if cls.__module__ == "builtins":
        return (), cls.__qualname__
    return (f"from {cls.__module__} import {outer}",), cls.__qualname__


def is_own(raw: Any, cls: type, attribute: str, packages: tuple[str, ...]) -> bool:
    home = next((base for base in cls.__mro__ if attribute in vars(base)), cls)
    if isinstance(raw, property):
        raw = raw.fget
    function = getattr(raw, "__func__", raw)
    module = getattr(inspect.unwrap(function) if callable(function) else function, "__module__", None) or ""
    return is_within(home.__module__, packages) and (not module or is_within(module, packages))


def place_of(function: Any) -> str:
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""
