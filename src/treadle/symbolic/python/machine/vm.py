"""The machine for Python: what each IR step means, on values known and unknown.

This file routes steps to the rooms beside it (operators, attributes, calls, sequences, mappings, strings) and holds
what all of them need: raising the program's exceptions, truth, equality, iteration, and the meeting point of real
objects and the path's own copies of them.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
import types
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Value
from treadle.symbolic.heap.objects import DictObj, Heap, InstanceObj, ListObj, Obj, UnknownRef
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.ir.machine import Environment, Exhausted, Frame, IrMachine, Raised
from treadle.symbolic.path import BoundReached, CannotFollow, PathEnd, SymbolicPath
from treadle.symbolic.python.calls import compiled as builtin_calls
from treadle.symbolic.python.calls import models, models_math
from treadle.symbolic.python.contracts import contracts
from treadle.symbolic.python.machine import attributes, calls, concrete, operators
from treadle.symbolic.python.machine.iteration import iterate
from treadle.symbolic.python.values import mappings, open_lists, sequences, strings
from treadle.symbolic.python.values.values import Bound, FunctionValue, Iterator_, Slice, Super

if TYPE_CHECKING:
    from treadle.symbolic.python.calls.stubs import Stubs
    from treadle.symbolic.python.summaries.composer import Summaries
    from treadle.symbolic.summary.tree import Summary, SummaryLeaf

MISSING: Any = object()
# Python that stands for compiled functions; some of these complain about what they cannot walk over as a loop does
_MODELS = (models.__file__, models_math.__file__)
_LIKE_A_LOOP = ("all", "any", "filter", "prod", "groupby", "fsum")


class VM(IrMachine):
    """One path of one Python program."""

    def __init__(self, path: SymbolicPath, heap: Heap, k: int, *, allow_effects: bool = False) -> None:
        super().__init__(path, k)
        self.heap = heap
        self.allow_effects = allow_effects
        # hashes of keys are being computed: what they are is of no importance
        self.hashing = 0
        # real mutable object -> this path's copy; the real ones are never changed
        self.lifted: dict[int, Obj] = {}
        self._kept: list[Any] = []
        # (module globals, name) -> this path's value of a module-level name it has assigned
        self.assigned: dict[tuple[int, str], Any] = {}
        self.touched: list[tuple[Any, str]] = []
        # field types of input objects, asked when a field is first read
        self.field_type: Callable[[type, str], Any] = lambda cls, name: None
        # names read from module level, so that a test can protect shared mutable ones
        self.read_globals: dict[int, tuple[Any, str]] = {}
        self.changed_hosts: set[int] = set()
        self.checks = contracts.Checks()
        # summaries to compose at calls, and the calls (in order) that must be run nevertheless
        self.summaries: Summaries | None = None
        self.calls = 0
        self.run_plainly: set[int] = set()
        # what stands for code that cannot be followed, and which of its cases were taken on this path
        self.stubs: Stubs | None = None
        self.stub_cases: dict[str, None] = {}

    def actions(self) -> dict[type, Callable[[Frame, Any], None]]:
        return {
            ir.LoadGlobalStep: self._load_global,
            ir.StoreGlobalStep: self._store_global,
            ir.LoadOuterStep: self._load_outer,
            ir.StoreOuterStep: self._store_outer,
            ir.OpStep: self._op,
            ir.GetFieldStep: self._get_field,
            ir.SetFieldStep: self._set_field,
            ir.DelFieldStep: self._del_field,
            ir.GetItemStep: self._get_item,
            ir.SetItemStep: self._set_item,
            ir.DelItemStep: self._del_item,
            ir.CallStep: self._call,
            ir.NewStep: self._new,
            ir.ClosureStep: self._closure,
            ir.IterateStep: self._iterate,
            ir.UnpackStep: self._unpack,
        }

    def composed(self, summary: Summary, leaf: SummaryLeaf) -> None:
        """A call was composed: its outcome is this leaf of the summary."""

    # --- exceptions of the program -------------------------------------------------------------------------

    def error(self, cls: type[BaseException], *args: Any) -> Raised:
        if self.frames and self.frames[-1].code.file in _MODELS and cls is not StopIteration:
            name = self.frames[-1].code.name.rstrip("_")
            if not (name in _LIKE_A_LOOP and args and str(args[0]).endswith("object is not iterable")):
                # the original would complain in words of its own
                raise CannotFollow(f"a wrong argument of '{name}'")
        made = InstanceObj(self.heap.number(), (cls,))
        made.fields["args"] = args
        return Raised(made)

    def host_error(self, error: BaseException) -> Raised:
        """The program's exception for one that real code raised."""
        if isinstance(error, Raised):
            return error
        if isinstance(error, PathEnd):
            raise error  # the path ends inside a value of its own
        raised = self.error(type(error), *(self.lift(a) for a in error.args))
        raised.value.fields.update({k: self.lift(v) for k, v in vars(error).items()})
        raised.value.payload = error
        return raised

    def mimic(self, action: Callable[[], Any]) -> Raised:
        """The exception Python itself raises for the same operation on plain values: its exact words."""
        try:
            action()
        except Exception as error:
            raised = self.host_error(error)
            raised.value.payload = None
            return raised
        raise CannotFollow("an operation that fails on unknown values only")

    def exception(self, value: Any, cause: Any) -> Any:
        value = self.force(value)
        if isinstance(value, type) and issubclass(value, BaseException):
            value = calls.call(self, value, [], {})
        if isinstance(value, BaseException):
            return self.host_error(value).value
        if isinstance(value, InstanceObj) and issubclass(value.cls, BaseException):
            return value
        if value is None:
            raise self.error(RuntimeError, "No active exception to reraise")
        raise self.error(TypeError, "exceptions must derive from BaseException")

    def unbound(self, frame: Frame, name: str) -> Raised:
        shown = name.partition(".")[0]
        if shown.startswith("%"):
            raise CannotFollow(f"a value that was never computed ({name})")
        message = f"cannot access local variable '{shown}' where it is not associated with a value"
        return self.error(UnboundLocalError, message)

    # --- references ------------------------------------------------------------------------------------------

    def force(self, value: Any) -> Any:
        """The object behind an unknown reference, None included; anything else as it is."""
        while isinstance(value, UnknownRef):
            value = self.heap.force(value)
        if self.heap.merged and isinstance(value, Obj):
            value = self.heap.now(value)
        # a rational that has become known is a float again
        return float(value) if type(value) is Fraction else value

    def is_none(self, value: Any) -> bool:
        if isinstance(value, UnknownRef):
            return self.heap.is_none(value)
        return value is None

    def decide(self, condition: Value) -> bool:
        answer = self.path.decide(condition)
        self.heap.learn(condition, answer)
        return answer

    def is_question(self, condition: Expr) -> bool:
        return isinstance(self.heap.decided(condition), Expr)

    # --- truth, equality, identity ---------------------------------------------------------------------------

    def truth_of(self, value: Any) -> bool:
        return self.decide(self.truth(value))

    def truth(self, value: Any) -> Value:
        return operators.truth(self, value)

    def equal(self, a: Any, b: Any) -> Value:
        return operators.equal(self, a, b)

    # --- real objects and the path's copies ------------------------------------------------------------------

    def lift(self, value: Any) -> Any:
        return concrete.lift(self, value)

    def keep(self, host: Any, copy: Obj) -> None:
        self.lifted[id(host)] = copy
        self._kept.append(host)  # an id is only good while its object lives
        copy.host = host

    def new_list(self, items: list[Any]) -> ListObj:
        return ListObj(self.heap.number(), items)

    def new_dict(self, entries: list[list[Any]]) -> DictObj:
        return DictObj(self.heap.number(), entries)

    def new_set(self, items: list[Any], frozen: bool = False) -> DictObj:
        made = DictObj(self.heap.number(), [])
        made.keys_only, made.frozen = True, frozen
        for item in items:
            mappings.store(self, made, item, None)
        return made

    # --- names -----------------------------------------------------------------------------------------------

    def _load_global(self, frame: Frame, step: ir.LoadGlobalStep) -> None:
        frame.env[step.dst] = self.read_global(frame.function.globals, step.name)

    def read_global(self, names: dict[str, Any], name: str) -> Any:
        found = self.assigned.get((id(names), name), MISSING)
        if found is not MISSING:
            return found
        if name in names:
            value = names[name]
            lifted = self.lift(value)
            if isinstance(lifted, Obj):
                self.read_globals.setdefault(id(value), (names, name))
            return lifted
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise self.error(NameError, f"name '{name}' is not defined")

    def _store_global(self, frame: Frame, step: ir.StoreGlobalStep) -> None:
        names = frame.function.globals
        self.assigned[(id(names), step.name)] = self.operand(frame, step.value)
        if (names, step.name) not in self.touched:
            self.touched.append((names, step.name))

    def _load_outer(self, frame: Frame, step: ir.LoadOuterStep) -> None:
        env = frame.env.outer
        while env is not None:
            if step.name in env:
                frame.env[step.dst] = env[step.name]
                return
            env = env.outer
        name = step.name.partition(".")[0]
        message = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        raise self.error(NameError, message)

    def _store_outer(self, frame: Frame, step: ir.StoreOuterStep) -> None:
        value = self.operand(frame, step.value)
        env = frame.env.outer
        while env is not None:
            if step.name in env or env.outer is None:
                env[step.name] = value
                return
            env = env.outer

    # --- steps -----------------------------------------------------------------------------------------------

    def _op(self, frame: Frame, step: ir.OpStep) -> None:
        args = [self.operand(frame, a) for a in step.args]
        frame.env[step.dst] = operators.apply(self, step.op, args)

    def _get_field(self, frame: Frame, step: ir.GetFieldStep) -> None:
        frame.env[step.dst] = attributes.get(self, self.operand(frame, step.obj), step.name)

    def _set_field(self, frame: Frame, step: ir.SetFieldStep) -> None:
        attributes.set_(self, self.operand(frame, step.obj), step.name, self.operand(frame, step.value))

    def _del_field(self, frame: Frame, step: ir.DelFieldStep) -> None:
        attributes.delete(self, self.operand(frame, step.obj), step.name)

    def _get_item(self, frame: Frame, step: ir.GetItemStep) -> None:
        frame.env[step.dst] = sequences.get_item(self, self.operand(frame, step.obj), self.operand(frame, step.index))

    def _set_item(self, frame: Frame, step: ir.SetItemStep) -> None:
        obj, index = self.operand(frame, step.obj), self.operand(frame, step.index)
        sequences.set_item(self, obj, index, self.operand(frame, step.value))

    def _del_item(self, frame: Frame, step: ir.DelItemStep) -> None:
        sequences.delete_item(self, self.operand(frame, step.obj), self.operand(frame, step.index))

    def _call(self, frame: Frame, step: ir.CallStep) -> None:
        function = self.operand(frame, step.function)
        args: list[Any] = []
        for a in step.args:
            if isinstance(a, tuple):
                args.extend(self._starred(function if len(step.args) == 1 else None, self.operand(frame, a[1])))
            else:
                args.append(self.operand(frame, a))
        named: dict[str, Any] = {}
        for key, operand in step.named:
            value = self.operand(frame, operand)
            if key is None:
                value = self.force(value)
                if value is None or isinstance(value, Expr | ListObj | tuple) or operators.number_kind(value):
                    raise self._not_spread(function, "**", "a mapping", value)
                for k, v in mappings.entries(self, value):
                    if not isinstance(k, str):
                        raise CannotFollow("unknown keyword argument names")
                    named[k] = v
            else:
                named[key] = value
        frame.env[step.dst] = calls.call(self, function, args, named)

    def _starred(self, function: Any, value: Any) -> list[Any]:
        """f(*value)"""
        value = self.force(value)
        if value is None or operators.number_kind(value):
            if function is None:
                kind = attributes.python_type(self, value).__name__
                raise self.error(TypeError, f"Value after * must be an iterable, not {kind}")
            raise self._not_spread(function, "*", "an iterable", value)
        return self.spread(value)

    def _not_spread(self, function: Any, stars: str, wanted: str, value: Any) -> Raised:
        """The TypeError of f(*value) or f(**value) for a value that cannot be spread."""
        kind = attributes.python_type(self, value).__name__
        function = self.force(function)
        while isinstance(function, Bound):
            function = function.function
        host = function.host if isinstance(function, FunctionValue) else function
        if not hasattr(host, "__qualname__"):
            raise CannotFollow(f"an argument after {stars} that is not {wanted}")
        module = getattr(host, "__module__", None)
        shown = host.__qualname__ if module in (None, "builtins") else f"{module}.{host.__qualname__}"
        return self.error(TypeError, f"{shown}() argument after {stars} must be {wanted}, not {kind}")

    def call(self, function: Any, *args: Any) -> Any:
        return calls.call(self, function, list(args), {})

    def _closure(self, frame: Frame, step: ir.ClosureStep) -> None:
        defaults = tuple(self.operand(frame, d) for d in step.defaults)
        named = {name: self.operand(frame, d) for name, d in step.named_defaults}
        function = frame.function
        frame.env[step.dst] = FunctionValue(step.function, function.globals, frame.env, defaults, named, function.owner)

    def _new(self, frame: Frame, step: ir.NewStep) -> None:
        frame.env[step.dst] = self._made(frame, step)

    def _made(self, frame: Frame, step: ir.NewStep) -> Any:
        kind = step.kind
        if kind in ("list", "tuple", "set"):
            items: list[Any] = []
            for a in step.args:
                if isinstance(a, tuple):
                    items.extend(self._starred(None, self.operand(frame, a[1])))
                else:
                    items.append(self.operand(frame, a))
            if kind == "tuple":
                return tuple(items)
            return self.new_list(items) if kind == "list" else self.new_set(items)
        if kind == "dict":
            made = self.new_dict([])
            for key, value in step.args:
                if key == "**":
                    for k, v in mappings.entries(self, self.force(self.operand(frame, value))):
                        mappings.store(self, made, k, v)
                else:
                    mappings.store(self, made, self.operand(frame, key), self.operand(frame, value))
            return made
        if kind == "slice":
            return Slice(*(self.operand(frame, a) for a in step.args))
        if kind == "text":
            return self._text(frame, step.args)
        if kind == "super":
            return self._super(frame)
        if kind == "module":
            name, whole = (a.value for a in step.args)
            module = self._import(name)
            return module if whole else sys.modules[name.partition(".")[0]]
        if kind == "import":
            return self._import_from(frame, *(a.value for a in step.args))
        raise CannotFollow(f"new {kind}")

    def _text(self, frame: Frame, parts: tuple[Any, ...]) -> Any:
        out: list[Any] = []
        for part in parts:
            if isinstance(part, tuple):
                value, conversion, spec = (self.operand(frame, p) for p in part)
                out.append(strings.formatted(self, value, conversion, spec))
            else:
                out.append(self.operand(frame, part))
        return x.concat(*out)

    def _super(self, frame: Frame) -> Super:
        owner = frame.function.owner
        if owner is None:
            raise CannotFollow("super() outside a method")
        first = frame.code.parameters[0].name
        return Super(owner, frame.env[first])

    def _import(self, name: str) -> types.ModuleType:
        try:
            return importlib.import_module(name)
        except ImportError as error:
            raise self.host_error(error) from None

    def _import_from(self, frame: Frame, where: str, name: str) -> Any:
        if where.startswith("."):
            where = importlib.util.resolve_name(where, frame.function.globals.get("__package__") or "")
        module = self._import(where)
        if hasattr(module, name):
            return self.read_global(vars(module), name)
        try:
            return importlib.import_module(f"{where}.{name}")
        except ImportError:
            message = f"cannot import name '{name}' from '{where}' ({getattr(module, '__file__', 'unknown location')})"
            raise self.error(ImportError, message) from None

    # --- iteration -------------------------------------------------------------------------------------------

    def _iterate(self, frame: Frame, step: ir.IterateStep) -> None:
        frame.env[step.dst] = iterate(self, self.operand(frame, step.value))

    def advance(self, iterator: Any) -> Any:
        assert isinstance(iterator, Iterator_)
        return iterator.step()

    def ends_by_itself(self, iterator: Any) -> bool:
        return isinstance(iterator, Iterator_) and iterator.bounded()

    def spread(self, value: Any) -> list[Any]:
        """All values of an iterable; an unknown number of them is bounded like a loop."""
        value = self.force(value)
        if isinstance(value, tuple):
            return list(value)
        if isinstance(value, ListObj):
            return list(open_lists.items(self, value))
        iterator = iterate(self, value)
        found: list[Any] = []
        before = self.mark()
        while True:
            try:
                found.append(iterator.step())
            except Exhausted:
                return found
            if len(found) > self.k + 1 and not iterator.bounded() and self.asked_since(before):
                raise BoundReached("loop", self.path.place)
            before = self.mark()
            if len(found) > 10_000:
                raise BoundReached("depth", self.path.place)

    def _unpack(self, frame: Frame, step: ir.UnpackStep) -> None:
        values = self._unpacked(self.operand(frame, step.value), len(step.targets), step.star)
        frame.env.update(zip(step.targets, values, strict=True))

    def _unpacked(self, value: Any, wanted: int, star: int | None) -> list[Any]:
        value = self.force(value)
        if isinstance(value, ListObj) and value.items is None and star is None:
            size = value.size()
            if not self.decide(x.ge(size, wanted)):
                open_lists.close(self, value)
            elif self.decide(x.gt(size, wanted)):
                raise self.error(ValueError, f"too many values to unpack (expected {wanted})")
            else:
                return [sequences.get_item(self, value, i) for i in range(wanted)]
        if isinstance(value, Expr | int | float | None) and not (isinstance(value, Expr) and value.sort is x.STR):
            shown = operators.exemplar(self, value)

            def fail() -> None:
                _, _ = shown

            raise self.mimic(fail)
        values = self.spread(value)
        got = len(values)
        if star is None:
            if got > wanted:
                raise self.error(ValueError, f"too many values to unpack (expected {wanted})")
            if got < wanted:
                raise self.error(ValueError, f"not enough values to unpack (expected {wanted}, got {got})")
            return values
        least = wanted - 1
        if got < least:
            message = f"not enough values to unpack (expected at least {least}, got {got})"
            raise self.error(ValueError, message)
        after = least - star
        middle = self.new_list(values[star : got - after])
        return [*values[:star], middle, *values[got - after :]]


def function_environment(function: FunctionValue) -> Environment:
    return Environment(function.outer)


__all__ = ["MISSING", "VM", "builtin_calls"]
