"""Calls: what stands in the place of the function in `called(...)`.

Rewritten code is called as it is. A call into code that is not rewritten, native or Python, is one operation on what
its arguments, its object and its closure lead to (`reach`), and on one location for the module it lives in, unless
`known` says less. While it runs, that access belongs to every step of the strand (`points.during`).
"""

from __future__ import annotations

import contextvars
import decimal
import dis
import functools
import re
import types
from collections.abc import Iterable
from typing import Any, Final

from treadle.core.operation import READ, WRITE, Operation
from treadle.threads import files, known, shapes, without_gil
from treadle.threads.adopt import REPLACED, adopt
from treadle.threads.containers import container_base, method_access, simple_key
from treadle.threads.hash_order import note_call, note_order
from treadle.threads.hooks import reach
from treadle.threads.hooks.keys import KEYED, hashed, include_key, keyed
from treadle.threads.hooks.points import during, found, include, name_part, perform, touch
from treadle.threads.hooks.reach import CARRIER, NOTHING, OBJECT, OWN, kind_of
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.known import CHANGES, COPIES, LOOKS, PURE, READS, SORTS
from treadle.threads.lives import FINALISERS
from treadle.threads.names import INERT, PLAIN, Named, carried, class_name, meet, publish
from treadle.threads.strands import STATE, Strand
from treadle.threads.unasked import BUILTINS, METHOD_IN_C, home_of

_FunctionType: Final = types.FunctionType
_FUNCTIONS: Final = (_FunctionType, *BUILTINS)

# Built-in functions that have hooks of their own: getattr, next, ...; filled by `stand_ins`.
STAND_INS: Final[dict[Any, Any]] = {}
# Types whose instances are called by a hook of their own: itemgetter, weakref.ref, ...; filled by `stand_ins`.
CALLABLES: Final[dict[type, Any]] = {}

_CONTROLLED: Final = frozenset(
    {"treadle", "threading", "queue", "concurrent", "asyncio", "_pytest", "pytest", "pykka", "thespian", "builtins"}
)
# Pools of threads over modelled queues; what else is in that package is not under control.
_THREAD_POOLS: Final = frozenset({"multiprocessing.pool", "multiprocessing.dummy"})


# Instructions that touch nothing but their own frame.
_OF_THE_FRAME: Final = frozenset(
    {"RESUME", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_CONST", "LOAD_SMALL_INT", "POP_TOP", "NOP", "RETURN_VALUE"}
    | {"RETURN_CONST"}
)


@functools.lru_cache(maxsize=10_000)
def _is_one_access(of: type, code: types.CodeType) -> bool:
    """Does a method touch one attribute of its object, and do nothing else? Then it is one step by itself."""
    accesses = sum(instruction.opname not in _OF_THE_FRAME for instruction in dis.get_instructions(code))
    in_class = any(name in vars(base) for base in of.__mro__ for name in code.co_names)  # perhaps a property
    return accesses <= 1 and not in_class


def is_controlled(module: str) -> bool:
    return module.partition(".")[0] in _CONTROLLED or module in _THREAD_POOLS


def function(called: Any) -> Any:
    """The function in `called(...)`: itself when its code is rewritten, else what makes the call one operation."""
    strand = STATE.strand
    if strand is None or not REWRITTEN:  # where steps are messages, no access is looked at
        return called
    kind = type(called)
    if kind is _FunctionType:
        model = REPLACED.get(called)
        if model is not None:  # perhaps a class: threading.RLock is a function, its model is not
            return model
        module = called.__globals__.get("__name__")
        if module in REWRITTEN:
            if strand.execution.rebound:
                _read_parts(strand, called, called.__kwdefaults__)
            return called
        return STAND_INS.get(called) or _outside(called, module or "")
    if kind is types.MethodType:
        return _method(called)
    if kind is types.BuiltinFunctionType or kind is METHOD_IN_C:
        return _builtin(called)
    if kind is types.WrapperDescriptorType or kind is types.MethodDescriptorType:
        return functools.partial(_unbound_call, called)
    if kind is type or isinstance(called, type):
        return _class(called)
    if kind is functools.partial:
        if strand.execution.rebound:
            _read_parts(strand, called, called.keywords)
        inner = function(called.func)
        return called if inner is called.func else functools.partial(inner, *called.args, **called.keywords)
    if kind is types.MethodWrapperType:
        return functools.partial(_unbound_call, vars(called.__objclass__)[called.__name__], called.__self__)
    return _instance(called, kind)


# Somebody exchanges the code or the defaults of a function, or has the dictionary of arguments of one.
PARTS_OF_FUNCTIONS: Final = "parts of functions"


def _read_parts(strand: Strand, called: Any, keywords: Any) -> None:
    """A call reads the code and the defaults of a function, which are taken for constants until one is exchanged."""
    if PARTS_OF_FUNCTIONS in strand.execution.rebound and not STATE.coasting:
        operations: list[Operation] = []
        include(strand, operations, called, READ)
        if keywords:
            include(strand, operations, keywords, READ)
        perform(strand, operations)


def _method(called: Any) -> Any:
    inner = called.__func__
    if type(inner) is not _FunctionType:
        return called if inner in REPLACED else functools.partial(function(inner), called.__self__)
    model = REPLACED.get(inner) or STAND_INS.get(inner)
    if model is not None:  # `done = event.set`, taken before the models came
        return types.MethodType(model, called.__self__)
    module = inner.__globals__.get("__name__") or ""
    if module in REWRITTEN or is_controlled(module):
        if STATE.strand is not None and STATE.strand.execution.rebound:
            _read_parts(STATE.strand, inner, inner.__kwdefaults__)
        return called
    model = REPLACED.get(called)  # `from random import randrange`
    if model is not None:
        return model
    return functools.partial(atomic_method, called.__self__, inner.__name__, treadle_via=called)


def _builtin(called: Any) -> Any:
    owner = called.__self__
    if owner is None or type(owner) is types.ModuleType:
        special = STAND_INS.get(called) or REPLACED.get(called)
        if special is not None:
            return special
        return called if known.FUNCTIONS.get(called) == PURE else functools.partial(atomic_call, called)
    if container_base(type(owner)) is not None:
        return functools.partial(container_call, owner, called.__name__, treadle_via=called)
    if isinstance(owner, shapes.ADOPTABLE):
        return getattr(adopt(owner), called.__name__)
    if type(owner) is contextvars.Context and called.__name__ == "run":
        return functools.partial(_in_context, owner)
    if type(owner) in PLAIN or isinstance(owner, type):
        return REPLACED.get(called) or functools.partial(atomic_call, called)  # `datetime.now` is one of them
    return functools.partial(atomic_method, owner, called.__name__, treadle_via=called)


def _in_context(treadle_context: contextvars.Context, treadle_called: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`context.run(called)`: nobody else can be in that context meanwhile."""
    return treadle_context.run(function(treadle_called), *args, **kwargs)


def _class(called: Any) -> Any:
    if hasattr(called, "__del__") and STATE.strand is not None:
        STATE.strand.execution.rebind(FINALISERS)
    special = STAND_INS.get(called) or REPLACED.get(called)
    if special is not None:
        return special
    how = known.FUNCTIONS.get(called)
    if how is not None:
        return called if how == PURE else functools.partial(atomic_call, called)
    if issubclass(called, (*shapes.MODELLED, BaseException)) or is_controlled(home_of(called)):
        return called
    for name in ("__init__", "__new__"):
        made_by = getattr(called, name)
        if getattr(made_by, "__globals__", {}).get("__name__") in REWRITTEN:
            return called
    if home_of(called) in REWRITTEN and container_base(called) is None:
        return called
    return functools.partial(atomic_call, called)


def _instance(called: Any, kind: type) -> Any:
    """An object with a `__call__`."""
    special = CALLABLES.get(kind)
    if special is not None:
        return functools.partial(special, called)
    code = vars(next((cls for cls in kind.__mro__ if "__call__" in vars(cls)), object)).get("__call__")
    module = getattr(code, "__globals__", {}).get("__name__")
    if module in REWRITTEN or is_controlled(module or home_of(kind)):
        return called
    if kind_of(kind) == NOTHING:
        return called
    return functools.partial(atomic_method, called, "__call__", treadle_via=called)


def _outside(called: Any, module: str) -> Any:
    """A Python function that is not rewritten."""
    if is_controlled(module) or known.FUNCTIONS.get(called) == PURE:
        return called
    return functools.partial(atomic_call, called)


def _unbound_call(treadle_method: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`dict.__getitem__(self, key)`, `object.__setattr__(self, name, value)`: a method of a C type, taken off it."""
    method = treadle_method
    strand = STATE.strand
    if strand is not None and args and not STATE.coasting:
        obj = args[0]
        if container_base(type(obj)) is not None and method not in _ATTRIBUTE_ACCESS:
            bound = method.__get__(obj)
            return container_call(obj, method.__name__, *args[1:], treadle_via=bound, **kwargs)
        if method in _ATTRIBUTE_ACCESS and len(args) > 1:
            return _attribute(strand, method, *args)
        if type(obj) in _MEMBERS and method.__name__ in _MEMBER_ACCESS and len(args) > 1 and args[1] is not None:
            for one in args[2:]:
                publish(strand, one)
            touch(strand, _MEMBER_ACCESS[method.__name__], args[1], obj.__name__)
            return method(*args, **kwargs)
        if method in (type.__setattr__, type.__delattr__) and isinstance(obj, type) and len(args) > 1:
            strand.execution.rebind(args[1])
            strand.access(WRITE, class_name(obj), args[1])
        if kind_of(type(obj)) not in (NOTHING, OWN, CARRIER):
            return atomic_method(obj, method.__name__, *args[1:], treadle_via=method.__get__(obj), **kwargs)
        if obj is not None and type(obj) in PLAIN:
            return atomic_call(method, *args, **kwargs)
    return method(*args, **kwargs)


def _attribute(strand: Strand, method: Any, obj: Any, name: str, *value: Any) -> Any:
    """An attribute that is read or written past the methods of its class."""
    shape = shapes.plain_shape(type(obj), name)
    if shape in (shapes.FIELD, shapes.CLASS):
        for one in value:
            publish(strand, one)
        owner = touch(strand, _ATTRIBUTE_ACCESS[method], obj, name)
        result = method(obj, name, *value)
        return found(strand, result, f"{owner.name}.{name}")
    return method(obj, name, *value)


_ATTRIBUTE_ACCESS: Final[dict[Any, int]] = {
    object.__getattribute__: READ,
    object.__setattr__: WRITE,
    object.__delattr__: WRITE,
    BaseException.__getattribute__: READ,
    BaseException.__setattr__: WRITE,
    BaseException.__delattr__: WRITE,
}


# `Point.x` of a class with slots: its `__get__(point)` reads the attribute.
_MEMBERS: Final = frozenset({types.MemberDescriptorType, types.GetSetDescriptorType})
_MEMBER_ACCESS: Final = {"__get__": READ, "__set__": WRITE, "__delete__": WRITE}


def container_call(treadle_obj: Any, treadle_method: str, /, *args: Any, treadle_via: Any = None, **kwargs: Any) -> Any:
    """A method call on a built-in container, as one read or write of it."""
    obj, method, via = treadle_obj, treadle_method, treadle_via
    strand = STATE.strand
    if via is None:
        via = getattr(obj, method)
    if strand is None or STATE.coasting:
        return via(*args, **kwargs)
    base = container_base(type(obj))
    assert base is not None
    if method in _IN_ORDER:
        note_order(strand, obj)
    elif base is not set and args and method in _TAKES_CONTENT and (method != "__setitem__" or type(args[0]) is slice):
        note_order(strand, args[-1])
    access = method_access(obj, base, method, args)
    if access is None:
        return via(*args, **kwargs)
    if base is dict and access[0] == WRITE:
        rebind_keys(strand, obj, (*args[:1], *kwargs))
    answers = hashed(args[0]) if method in KEYED and base in (dict, set) and args else None
    operations: list[Operation] = []
    include(strand, operations, obj, access[0], access[1])
    without_gil.note_method(strand, operations, type(obj), method, args)
    if method in KEYED and base in (dict, set) and args and type(args[0]) not in INERT:
        include_key(strand, operations, args[0])
    for argument in (*args, *kwargs.values()) if kwargs else args:
        if type(argument) not in INERT:
            publish(strand, argument)
            if argument is not obj:
                _content_argument(strand, operations, argument, base, method)
    if operations and method in _COMPARE_ITEMS:
        reach.content(strand, operations, obj, READ)
    perform(strand, operations)
    if base is dict and operations and method_access(obj, base, method, args) != access:
        return container_call(obj, method, *args, treadle_via=via, **kwargs)  # a key came or went meanwhile
    result = keyed(strand, operations, obj, args[0] if args else None, answers, via, *args, **kwargs)
    if type(result) not in INERT:
        found(strand, result, _place(meet(strand, obj), method, args))
    elif strand.detail:
        strand.execution.saw(args[0] if args and access[0] == WRITE else result)
    return result


def rebind_keys(strand: Strand, variables: dict[Any, Any], keys: Iterable[Any]) -> None:
    """Keys, or a mapping of them, of what may be the dictionary of a module or of an object: names are bound anew."""
    execution = strand.execution
    plain = type(variables) is dict  # another may have methods of its own, which are not asked
    is_module = plain and "__builtins__" in variables and type(variables.get("__name__")) is str
    kind = execution.attributes_of.get(id(variables))
    if not is_module and kind is None:
        return
    named = meet(strand, variables)
    if is_module and not named.shared:  # whoever reads a variable by its name does not meet the dictionary
        execution.reveal(named)
    for key in keys:
        if type(key) is dict:
            rebind_keys(strand, variables, key)
        elif type(key) is str and is_module:
            execution.rebind(f"{variables['__name__']}.{key}")
        elif type(key) is str and kind is not None and shapes.classify(kind, key) in (shapes.CODE, shapes.ATOMIC):
            execution.rebind(key)  # it hides a method


def _content_argument(strand: Strand, operations: list[Operation], argument: Any, base: type, method: str) -> None:
    """What a container method does with an argument besides keeping it."""
    kind = kind_of(type(argument))
    if kind == CARRIER and callable(argument):
        reach.callback(strand, operations, argument)  # the key function of a sort
    elif method in _TAKES_CONTENT:
        before = len(operations)
        reach.take(strand, operations, argument, LOOKS)
        without_gil.note_items(strand, operations[before:], base, method, argument)
    elif method in _COMPARE_ITEMS:
        reach.content(strand, operations, argument, READ)


def _place(owner: Named, method: str, args: tuple[Any, ...]) -> str:
    """How what a container method returned is reached: `dict#1['k']`, `list#1.pop()`."""
    key = simple_key(args[0]) if args else None
    return f"{owner.name}[{key!r}]" if key is not None else f"{owner.name}.{method}()"


_TAKES_CONTENT: Final = frozenset(
    {"extend", "extendleft", "update", "union", "difference", "intersection", "symmetric_difference", "issubset"}
    | {"issuperset", "isdisjoint", "difference_update", "intersection_update", "symmetric_difference_update"}
    | {"__add__", "__iadd__", "__or__", "__ior__", "__and__", "__sub__", "__xor__", "__init__", "join", "fromkeys"}
    | {"__ixor__", "__iand__", "__isub__", "__ror__", "__rand__", "__rsub__", "__rxor__", "subtract", "__setitem__"}
)
# What these give of a set depends on the order of its items.
_IN_ORDER: Final = frozenset({"pop", "__iter__", "__repr__", "__str__", "__format__"})
# These look into what is in the container.
_COMPARE_ITEMS: Final = frozenset(
    {"index", "count", "remove", "sort", "__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
    | {"__repr__", "__str__", "__format__"}
)


def atomic_method(treadle_obj: Any, treadle_method: str, /, *args: Any, treadle_via: Any = None, **kwargs: Any) -> Any:
    """A method call on an object whose class is not rewritten: one operation on all that the object leads to."""
    obj, method, via = treadle_obj, treadle_method, treadle_via
    strand = STATE.strand
    called = getattr(obj, method) if via is None else via
    if strand is None or STATE.coasting:
        return called(*args, **kwargs)
    kind = type(obj)
    if method in known.LAZY and known.reads(kind, method):
        return called(*args, **kwargs)
    mode = READ if known.reads(kind, method) else WRITE
    if method == "callback" and args and home_of(kind) == "contextlib":  # an ExitStack calls it later
        args = (function(args[0]), *args[1:])
    operations: list[Operation] = []
    if known.says_nothing(obj, method, args):
        include(strand, operations, obj, READ)
        reach.include_module(strand, operations, "logging", READ)  # logging.disable() counts as well
        perform(strand, operations)
        if known.says_nothing(obj, method, args):  # still, after others may have run
            return called(*args, **kwargs)
        operations = []
    reach.everything(strand, operations, obj, mode)
    if kind is decimal.Decimal:
        include(strand, operations, decimal.getcontext(), WRITE)
    without_gil.note_method(strand, operations, kind, method, args)
    of: type = obj if isinstance(obj, type) else kind  # a class method is the business of the class
    contained = known.in_modules(home_of(of), known.SELF_CONTAINED)
    if method == "__call__" and home_of(of) == "ctypes":  # a function in C may do anything to what it is given
        contained = False
    changes = not contained or method in known.FILLING
    _add_arguments(strand, operations, args, kwargs, CHANGES if changes else READS)
    code = getattr(getattr(of, method, None), "__func__", getattr(of, method, None))
    # an ExitStack that several use
    if type(code) is _FunctionType and meet(strand, obj).shared and not _is_one_access(of, code.__code__):
        strand.execution.assumed.add(f"{home_of(of)}.{of.__name__}.{method}")
    return _foreign_call(strand, operations, called, home_of(of), f"{of.__name__}.{method}", code, args, kwargs)


def atomic_call(treadle_called: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a function that is not rewritten: one operation on what it is given."""
    called = treadle_called
    strand = STATE.strand
    if strand is None or STATE.coasting:
        return called(*args, **kwargs)
    how = known.FUNCTIONS.get(called)
    module = str(getattr(called, "__module__", None) or "")
    owner = getattr(called, "__self__", None)
    if type(called) is _FunctionType:  # `functools.wraps` gives it the module of another
        module = str(called.__globals__.get("__name__") or "")
    elif owner is not None and type(owner) is not types.ModuleType:
        module = home_of(owner) if isinstance(owner, type) else home_of(type(owner))
    elif type(called) in (types.MethodDescriptorType, types.WrapperDescriptorType):
        module = home_of(called.__objclass__)
    if how is None:
        how = COPIES if type(owner) is str and _formats_parts(called) else _of_module(module)
    operations: list[Operation] = []
    if type(called) is _FunctionType and (how != PURE or called.__closure__):
        for value in carried(called):
            reach.everything(strand, operations, value, READ if how == READS else WRITE)
        if operations and how == PURE:  # a function that a module like functools made, with state of its own
            strand.execution.assumed.add(f"{module}.{called.__qualname__}")
    _add_arguments(strand, operations, args, kwargs, how)
    if type(owner) is tuple:
        reach.content(strand, operations, owner, READ)
    elif module in ("ctypes", "_ctypes") and not isinstance(called, type):  # `string_at` is given an address
        reach.look(strand, operations, reach.MEMORY, WRITE)
        if args and called.__name__ == "from_buffer":
            reach.becomes_memory(strand, args[0])
    elif called is decimal.setcontext:
        strand.execution.rebind(DECIMAL)
    elif DECIMAL in strand.execution.rebound and how == READS:  # perhaps a sum of decimal numbers
        include(strand, operations, decimal.getcontext(), WRITE)
    if called in known.LOOKS_AT:
        reach.everything(strand, operations, known.LOOKS_AT[called], READ)
    if how == COPIES and _COPYREG in strand.execution.rebound:
        reach.include_module(strand, operations, _COPYREG, READ)
    elif module in ("typing", "inspect"):
        _add_annotations(strand, operations, args)
    name = getattr(called, "__qualname__", type(called).__name__)
    if operations:
        without_gil.note_function(strand, operations, called, args)
    return _foreign_call(strand, operations, called, module, name, called, args, kwargs)


def _add_annotations(strand: Strand, operations: list[Operation], args: tuple[Any, ...]) -> None:
    """Functions and classes that are looked at as data."""
    for argument in args:
        for one in argument.__mro__ if isinstance(argument, type) else (argument,):
            annotations = vars(one).get("__annotations__") if isinstance(one, type) else None
            if type(one) is _FunctionType:
                annotations = one.__annotations__
            if type(annotations) is dict:
                name_part(strand, annotations, annotations_name(one))
                reach.everything(strand, operations, annotations, READ)


def annotations_name(of: Any) -> str:
    return f"{class_name(of) if isinstance(of, type) else getattr(of, '__qualname__', '')}.__annotations__"


def _formats_parts(called: Any) -> bool:
    """Does a bound method of a string show attributes or items of its arguments: `"{0.name}".format(someone)`?"""
    return called.__name__ in ("format", "format_map") and _FIELD_OF_FIELD.search(called.__self__) is not None


_COPYREG: Final = "copyreg"
# Somebody gives a thread the context by which its decimal numbers are worked out.
DECIMAL: Final = "the context of decimal numbers"
_FIELD_OF_FIELD: Final = re.compile(r"\{[^:{}]*[.\[]")


def _of_module(module: str) -> int:
    """What a function does of which nothing but its module is known."""
    if module == "builtins" or known.in_modules(module, known.READING_MODULES):
        return READS
    return PURE if known.in_modules(module, known.TRANSPARENT_MODULES) else CHANGES


def _add_arguments(
    strand: Strand, operations: list[Operation], args: tuple[Any, ...], kwargs: dict[str, Any], how: int
) -> None:
    for number, argument in enumerate((*args, *kwargs.values()) if kwargs else args):
        kind = type(argument)
        if kind in INERT:
            if kind is type and how != PURE:
                reach.everything(strand, operations, argument, READ)
            continue
        publish(strand, argument)
        category = kind_of(kind)
        if how == PURE:
            continue
        if category in (NOTHING, OBJECT) and callable(argument) and not isinstance(argument, type):
            for other in args:  # itemgetter and its like look into the items
                if other is not argument:
                    reach.everything(strand, operations, other, READ)
        if category == NOTHING:
            if isinstance(argument, type):
                reach.everything(strand, operations, argument, READ)
            continue
        if category == CARRIER and callable(argument):
            reach.callback(strand, operations, argument)
        elif how in (CHANGES, COPIES):
            reach.everything(strand, operations, argument, WRITE if how == CHANGES else READ)
        elif how == SORTS:
            if number == 0:
                reach.look(strand, operations, argument, WRITE)
            reach.content(strand, operations, argument, READ)
        elif category not in (NOTHING, CARRIER, OWN) or how != LOOKS:
            reach.take(strand, operations, argument, how)


def _foreign_call(
    strand: Strand,
    operations: list[Operation],
    called: Any,
    module: str,
    name: str,
    code: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Perform a call into code that is not rewritten; note it when it worked on shared objects, perhaps in steps."""
    execution = strand.execution
    note_call(strand, called, args, kwargs)
    if module == _COPYREG:  # from now on, copying looks at what is registered there
        execution.rebind(_COPYREG)
    if type(called) in _FUNCTIONS and (called in known.SETTERS or f"{module}.{name}" in known.SETTERS_BY_NAME):
        execution.rebind(f"state of {module}")
        execution.rebind(known.SETTINGS)
    made_by: Any = vars(called).get("__init__") if isinstance(called, type) else None
    in_python = type(code) is _FunctionType or type(made_by) is _FunctionType
    transparent = known.in_modules(module, known.TRANSPARENT_MODULES)
    if in_python and module and not transparent:
        execution.atomic.add(module)
    if module in known.WEAK_MODULES:
        strand.execution.read_lives(operations)
    elif module and (not known.in_modules(module, known.SELF_CONTAINED) or f"state of {module}" in execution.rebound):
        reach.include_module(strand, operations, module)
    if module in known.FILE_MODULES:
        files.include_all(strand, operations, WRITE)
        files.keep_arguments(args)
    elif module == "posix" and args and name in known.ON_DESCRIPTORS and files.path_of(args[0]) is not None:
        files.include(strand, operations, WRITE, args[0], looks=False)
    elsewhere = in_python or any(operation[1] != files.FILES for operation in operations)
    if (
        operations
        and elsewhere
        and not transparent
        and (in_python or not known.in_modules(module, known.ATOMIC_NATIVE))
    ):
        execution.assumed.add(f"{module}.{name}" if module else name)
    if in_python:  # what it does after a callback is not looked into: the verdict says so
        perform(strand, operations)
        return _shown(strand, called(*args, **kwargs))
    return _shown(strand, during(strand, operations, called, *args, **kwargs))


def _shown(strand: Strand, result: Any) -> Any:
    if strand.detail:
        strand.execution.saw(result)
    return result
