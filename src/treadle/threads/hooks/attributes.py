"""Attributes: `obj.name` read, written, deleted, and called. What an attribute is, `shapes` decides.

A name that is bound on a class or in a module, or that hides a method, is taken for code or a constant until a strand
binds it anew; from then on reading it is an operation on every place where the name is looked up (`Execution.rebind`).
"""

from __future__ import annotations

import builtins
import enum
import functools
import types
from typing import Any, Final

from treadle.core.operation import LOOK, READ, SIGNAL, WRITE, Operation
from treadle.threads import settings, shapes
from treadle.threads.adopt import adopt, guard_of
from treadle.threads.hooks import reach
from treadle.threads.hooks.calls import PARTS_OF_FUNCTIONS, annotations_name, atomic_method, container_call, function
from treadle.threads.hooks.points import found, include, perform, public, touch
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.known import SELF_CONTAINED, in_modules, is_stranger, keeps_data
from treadle.threads.lives import found_dead, watch
from treadle.threads.names import INERT, Named, class_name, meet, name_by_path, publish
from treadle.threads.shapes import (
    ADOPT,
    ATOMIC,
    CLASS,
    CODE,
    CONTAINER,
    FIELD,
    META,
    MODULE,
    NATIVE,
    PROXY,
    SHAPES,
    STATE_OF_MODEL,
    WHOLE,
    classify,
)
from treadle.threads.strands import STATE, Strand
from treadle.threads.unasked import home_of, on_class

_MISSING: Final = object()
_MethodType: Final = types.MethodType
_FunctionType: Final = types.FunctionType
# What is read without being named when something is called, made or compared.
_CALLED: Final = (type, types.FunctionType, types.CellType)


def load(obj: Any, name: str) -> Any:
    """`obj.name`"""
    strand = STATE.strand
    if strand is None:
        return getattr(obj, name)
    kind = type(obj)
    try:
        how = SHAPES[kind][name]
    except KeyError:
        how = classify(kind, name)
    if STATE.coasting and how != ADOPT:
        return getattr(obj, name)
    execution = strand.execution
    if how == FIELD and (not execution.rebound or name not in execution.rebound):
        names = execution.names
        owner = names.get(id(obj)) or meet(strand, obj)
        if owner.shared or public(strand, owner, READ):
            strand.pending = (READ, owner.name, name)
            execution.advance(strand)
        value = getattr(obj, name)
        if type(value) not in INERT and id(value) not in names:
            name_by_path(strand, value, f"{owner.name}.{name}")
        if strand.detail:
            execution.saw(value, owner)
        return value
    return _load(strand, obj, name, how)


def _load(strand: Strand, obj: Any, name: str, how: int) -> Any:
    """The less frequent ways to read an attribute."""
    execution = strand.execution
    if how == CLASS or (how in (FIELD, CODE, ATOMIC) and execution.rebound and is_rebound(strand, name)):
        _read_through_classes(strand, obj, name)
        return found(strand, getattr(obj, name), f"{meet(strand, obj).name}.{name}")
    if how == META:
        return _load_from_class(strand, obj, name)
    if how == MODULE:
        return _load_from_module(strand, obj, name)
    if type(obj) is super:
        return _load_from_super(strand, obj, name)
    if how == WHOLE:
        owner = touch(strand, READ, obj, None)
        attributes = obj.__dict__
        execution.names[id(attributes)] = owner  # its keys are the attributes
        execution.keep.append(attributes)
        execution.attributes_of[id(attributes)] = type(obj)
        return attributes
    if how == ADOPT:
        return getattr(adopt(obj), name)
    if how == PROXY:
        return load(_behind(strand, obj), name)
    if how == NATIVE:
        operations: list[Operation] = []
        mode = _mode_of_load(obj, name)
        reach.everything(strand, operations, obj, mode)
        kept = on_class(type(obj), name)
        if isinstance(kept, property):  # what asks may be no function, and keep something: a cache
            reach.everything(strand, operations, kept.fget, mode if type(kept.fget) is _FunctionType else WRITE)
        perform(strand, operations)
        _note_property(strand, obj, name, operations)
        return found(strand, getattr(obj, name), f"{meet(strand, obj).name}.{name}")
    if how == STATE_OF_MODEL:
        return _load_from_model(strand, obj, name)
    if name == "__dict__" and isinstance(obj, type):
        return _load_attributes_of_class(strand, obj)
    value = getattr(obj, name)
    if name in _ARGUMENTS and value and isinstance(obj, (types.FunctionType, functools.partial)):
        execution.rebind(PARTS_OF_FUNCTIONS)
        label = getattr(obj, "__qualname__", type(obj).__name__)
        execution.assumed.add(f"{label}.{name}, which may change between its calls")
        return found(strand, value, f"{meet(strand, obj).name}.{name}")
    if name in _CONSTANTS and isinstance(obj, types.FunctionType) and PARTS_OF_FUNCTIONS in execution.rebound:
        touch(strand, READ, obj, name)
        return getattr(obj, name)
    if name == "__annotations__" and type(value) is dict:
        return found(strand, value, annotations_name(obj))
    return value


# Dictionaries of arguments that a call takes without being seen to.
_ARGUMENTS: Final = frozenset({"__kwdefaults__", "keywords"})
# What a call takes of a function without being seen to, and what else a function says of itself.
_CONSTANTS: Final = frozenset({"__code__", "__defaults__", "__kwdefaults__", "__doc__", "__name__", "__qualname__"})


def _load_from_model(strand: Strand, obj: Any, name: str) -> Any:
    """`queue.queue`, `semaphore._value`: what a modelled object keeps is read by looking at the object."""
    guard = guard_of(obj, strand)
    strand.point(LOOK, guard)
    value = getattr(obj, name)
    if type(value) not in INERT:  # the items of a queue: who has them does not need the queue any more
        strand.execution.as_a_whole(guard.treadle_name)
        strand.execution.names[id(value)] = Named(guard.treadle_name, None, True)
        strand.execution.keep.append(value)
        if guard.owner is not strand:
            strand.execution.assumed.add(f"{type(obj).__name__}.{name}, read without its lock")
    elif strand.detail:
        strand.execution.saw(value)
    return value


def _behind(strand: Strand, proxy: Any) -> Any:
    """What a proxy stands for, which has all its attributes: the object of a weak one, while it is alive."""
    if isinstance(proxy, shapes.GENERIC_ALIAS):
        return proxy.__origin__
    if type(proxy) is types.MethodType:
        return proxy.__func__
    operations: list[Operation] = []
    strand.execution.read_lives(operations, of_one=True)
    perform(strand, operations)
    try:
        found = proxy.__reduce_ex__.__self__
    except ReferenceError:
        found_dead(strand, proxy)
        raise
    watch(strand, found, proxy)
    return found


def is_rebound(strand: Strand, name: str) -> bool:
    """Must reading an attribute that is code or a constant be an operation?"""
    rebound = strand.execution.rebound
    return name in rebound or "__class__" in rebound


def _read_through_classes(strand: Strand, obj: Any, name: str) -> None:
    """An attribute is looked for in the object, and in its classes up to the one that has it."""
    operations: list[Operation] = []
    include(strand, operations, obj, READ, name)
    if "__class__" in strand.execution.rebound:
        include(strand, operations, obj, READ, "__class__")
    _look_up(operations, type(obj), name)
    home = next((home_of(cls) for cls in type(obj).__mro__ if name in vars(cls)), "")
    if home not in REWRITTEN and keeps_data(home) and name != name.upper():
        reach.include_module(strand, operations, home, READ)
    perform(strand, operations)


def _look_up(operations: list[Operation], kind: type, name: str) -> None:
    for cls in kind.__mro__:
        if cls is not object and cls is not type:
            operations.append((READ, class_name(cls), name))
        if name in vars(cls):
            return


def _load_from_class(strand: Strand, obj: Any, name: str) -> Any:
    if name not in strand.execution.rebound:
        value = getattr(obj, name, _MISSING)
        if value is _MISSING or _constant(value):
            return getattr(obj, name)
        if not shapes.rewritten(obj):
            home = next((cls for cls in obj.__mro__ if name in vars(cls)), obj)
            return _foreign_data(strand, home_of(home), f"{home.__qualname__}.{name}", name, obj)
    operations: list[Operation] = []
    if type(obj) is not type and shapes.rewritten(type(obj)):  # its metaclass may have the attribute
        _look_up(operations, type(obj), name)
    _look_up(operations, obj, name)
    home = next((cls for cls in obj.__mro__ if name in vars(cls)), obj)
    _include_home(strand, operations, home_of(home), READ)
    perform(strand, operations)
    return found(strand, getattr(obj, name), f"{class_name(home)}.{name}")


def _load_from_super(strand: Strand, obj: Any, name: str) -> Any:
    """`super().name`: looked for in the classes that come behind, and nowhere else."""
    classes = obj.__self_class__.__mro__
    behind = classes[classes.index(obj.__thisclass__) + 1 :]
    home = next((cls for cls in behind if name in vars(cls)), None)
    if home is None or (name not in strand.execution.rebound and _constant(vars(home)[name])):
        return getattr(obj, name)
    perform(strand, [(READ, class_name(cls), name) for cls in behind[: behind.index(home) + 1]])
    found(strand, vars(home)[name], f"{class_name(home)}.{name}")
    return getattr(obj, name)  # which may be bound to the object: that is no part of the class


def _load_attributes_of_class(strand: Strand, cls: type) -> Any:
    """`vars(cls)` shows the attributes: its items are those of the class."""
    view = cls.__dict__
    strand.execution.names[id(reach.root_of(view))] = Named(class_name(cls), None, True)
    strand.execution.keep.append(view)
    return view


def _load_from_module(strand: Strand, obj: Any, name: str) -> Any:
    variables = vars(obj)
    module = variables.get("__name__")
    if name not in variables and f"{module}.__getattr__" in strand.execution.rebound:
        perform(strand, [(READ, module, name), (READ, module, "__getattr__")])
        return found(strand, getattr(obj, name), f"{module}.{name}")
    if f"{module}.{name}" not in strand.execution.rebound and (
        module not in REWRITTEN or _constant(variables.get(name))
    ):
        return _foreign_data(strand, str(module), name, name, obj)
    if module not in REWRITTEN:
        settings.container_met(str(module), variables.get(name))
    operations: list[Operation] = [(READ, module, name)]
    _include_home(strand, operations, str(module), READ)
    perform(strand, operations)
    return found(strand, getattr(obj, name), f"{module}.{name}")


def _include_home(strand: Strand, operations: list[Operation], module: str, kind: int) -> None:
    """A variable of a module that is not rewritten, or of a class of it: its functions may work on it."""
    if module not in REWRITTEN and not in_modules(module, SELF_CONTAINED):
        reach.include_module(strand, operations, module, kind)


def _foreign_data(strand: Strand, module: str, path: str, name: str, obj: Any) -> Any:
    """What a module that is not rewritten, or a class of it, holds: calls into that module work on it as well."""
    value = getattr(obj, name)
    if reach.kind_of(type(value)) in (reach.CONTAINER, reach.OBJECT):  # sys.modules, os.environ
        reach.met_in_module(strand, module, path, value)
        return found(strand, value, f"{module}.{path}")
    if module not in REWRITTEN and not _constant(value) and not name.startswith("__") and name != name.upper():
        reach.read_module(strand, module)
        return getattr(obj, name)
    return value


def _constant(value: Any) -> bool:
    """Code and classes kept in a module or class: nobody exchanges them unless a strand is seen to."""
    return isinstance(value, _CODE)


_FUNCTIONS: Final = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_IN_C: Final = (types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType)
_CODE: Final = (*_FUNCTIONS, *_IN_C, type, types.ModuleType, property, classmethod, staticmethod, enum.Enum)


def _note_property(strand: Strand, obj: Any, name: str, operations: list[Operation]) -> None:
    """A property of a class that is not rewritten is Python code that is taken as one step."""
    if operations and isinstance(on_class(type(obj), name), _NATIVE_DATA):
        return
    if operations:
        strand.execution.assumed.add(f"{home_of(type(obj))}.{type(obj).__name__}.{name}")


def _mode_of_load(obj: Any, name: str) -> int:
    """What code that is not rewritten does when an attribute is read: that of others may note who has asked."""
    kept = on_class(type(obj), name)
    if isinstance(kept, property):
        return WRITE if is_stranger(kept.fget) else READ
    if kept is not None:
        return WRITE if is_stranger(getattr(type(kept), "__get__", None)) else READ
    return READ if name in (reach.attributes_of(obj) or ()) else WRITE


_NATIVE_DATA: Final = (types.MemberDescriptorType, types.GetSetDescriptorType)


def store(value: Any, obj: Any, name: str) -> None:
    """`obj.name = value`"""
    strand = STATE.strand
    if strand is None:
        setattr(obj, name, value)
        return
    kind = type(obj)
    try:
        how = SHAPES[kind][name]
    except KeyError:
        how = classify(kind, name)
    if STATE.coasting and how != ADOPT:
        if how in (META, MODULE):
            _keep(obj, name, how)
    elif how in (FIELD, CLASS) and name != "__class__":
        execution = strand.execution
        names = execution.names
        owner = names.get(id(obj)) or meet(strand, obj)
        if type(value) not in INERT and id(value) not in names:
            publish(strand, value)
        if owner.shared or public(strand, owner, WRITE):
            strand.pending = (WRITE, owner.name, name)
            execution.advance(strand)
        if strand.detail:
            execution.saw(value, owner)
    else:
        _before_store(strand, obj, name, how, value)
    setattr(obj, name, value)


def _keep(obj: Any, name: str, how: int) -> None:
    """What code that is not rewritten has there is put back when the execution is over."""
    if how == MODULE and vars(obj).get("__name__") not in REWRITTEN:
        settings.variable_changes(vars(obj), name)
    elif how == META and home_of(obj) not in REWRITTEN:
        settings.attribute_changes(obj, name)


def _before_store(strand: Strand, obj: Any, name: str, how: int, value: Any) -> None:
    publish(strand, value)
    _keep(obj, name, how)
    if how == META:
        strand.execution.rebind(name)
        changes: list[Operation] = [(WRITE, class_name(obj), name)]
        _include_home(strand, changes, home_of(obj), WRITE)
        perform(strand, changes)
    elif how == MODULE:
        rebind_global(strand, vars(obj), name)
    elif how == WHOLE:
        touch(strand, WRITE, obj, None)
    elif how == PROXY:
        behind = _behind(strand, obj)
        if isinstance(behind, type):
            _before_store(strand, behind, name, META, value)
        else:
            touch(strand, WRITE, behind, name)
    elif name == "__class__":
        strand.execution.rebind(name)
        touch(strand, WRITE, obj, None)
    elif how == NATIVE:
        operations: list[Operation] = []
        reach.everything(strand, operations, obj, WRITE)
        perform(strand, operations)
        _note_property(strand, obj, name, operations)
    elif how in (CODE, ATOMIC) and not hasattr(type(on_class(type(obj), name)), "__set__"):
        if not isinstance(type(obj).__setattr__, types.FunctionType):  # it hides a method
            strand.execution.rebind(name)
            touch(strand, WRITE, obj, name)
    elif how == STATE_OF_MODEL:
        strand.point(SIGNAL, guard_of(obj, strand))
        strand.execution.assumed.add(f"{type(obj).__name__}.{name}, which is written past its methods")
    else:
        if how == ADOPT:
            adopt(obj)  # a threading.local shows the attributes of this strand from here on
        elif isinstance(obj, _CALLED) and len(strand.execution.live) > 1:
            label = getattr(obj, "__qualname__", type(obj).__name__)
            if name in _CONSTANTS and isinstance(obj, types.FunctionType):
                strand.execution.rebind(PARTS_OF_FUNCTIONS)
                touch(strand, WRITE, obj, name)
            strand.execution.assumed.add(f"{label}.{name}, which is exchanged while other threads may use it")
        return
    if strand.detail:
        strand.execution.saw(value)


def rebind_global(strand: Strand, variables: dict[str, Any], name: str) -> None:
    """The point before a variable of a module is bound from outside, or through its dictionary."""
    module = variables["__name__"]
    strand.execution.rebind(f"{module}.{name}")
    if len(strand.execution.live) > 1:
        if _constant(variables.get(name, vars(builtins).get(name))):
            strand.execution.assumed.add(f"{module}.{name}, which is exchanged while other threads may call it")
        elif module not in REWRITTEN and name in variables:
            strand.execution.assumed.add(f"{module}.{name}, which is exchanged while other threads may use it")
    operations: list[Operation] = [(WRITE, module, name)]
    _include_home(strand, operations, module, WRITE)
    perform(strand, operations)


def delete(obj: Any, name: str) -> None:
    """`del obj.name`"""
    strand = STATE.strand
    if strand is not None and not STATE.coasting:
        how = classify(type(obj), name)
        if how in (FIELD, CLASS):
            touch(strand, WRITE, obj, name)
        else:
            _before_store(strand, obj, name, how, None)
    delattr(obj, name)


def callee(obj: Any, name: str) -> Any:
    """The function in `obj.name(...)`: what is called, or what makes the call one visible operation."""
    strand = STATE.strand
    if strand is None:
        return getattr(obj, name)
    kind = type(obj)
    try:
        how = SHAPES[kind][name]
    except KeyError:
        how = classify(kind, name)
    if how == CODE:
        rebound = strand.execution.rebound
        if rebound and (is_rebound(strand, name) or PARTS_OF_FUNCTIONS in rebound):
            return function(_load(strand, obj, name, how))
        method = getattr(obj, name)
        if type(method) is _MethodType and type(method.__func__) is _FunctionType:  # not one that keeps a cache
            return method
        return method if home_of(kind) not in REWRITTEN else function(method)
    if STATE.coasting and how in (CONTAINER, ATOMIC):
        return getattr(obj, name)
    if how == CONTAINER:
        return functools.partial(container_call, obj, name)
    if how == ATOMIC:
        if strand.execution.rebound and name in strand.execution.rebound:
            return function(_load(strand, obj, name, how))
        return functools.partial(atomic_method, obj, name)
    if how in (MODULE, FIELD, CLASS, META):
        return function(load(obj, name))
    if kind is super:
        return function(_load_from_super(strand, obj, name))
    found = _load(strand, obj, name, how)
    return function(found) if how != ADOPT or isinstance(obj, type) else found
