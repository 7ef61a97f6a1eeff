"""What every room may ask of the machine for Python: one path's state, and the meaning of operations on any value.

Rooms get the machine as their first argument and import nothing above this file: where one needs another (an operator
calls a method, a method iterates, iteration reads an attribute), it asks the machine. `python_machine.PythonMachine`
says which function answers.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Protocol

from treadle.symbolic import types as t
from treadle.symbolic.expr.terms import Expr, Truth
from treadle.symbolic.heap.objects import MISSING, DictObj, Heap, InstanceObj, ListObj, Obj, UnknownRef
from treadle.symbolic.ir.machine import Environment, Frame, IrMachine, Raised
from treadle.symbolic.path import CannotFollow, PathEnd, SymbolicPath
from treadle.symbolic.python.calls import models, models_math
from treadle.symbolic.python.contracts.checks import ContractChecks
from treadle.symbolic.python.values.values import FunctionValue, GeneratorValue, IteratorValue, PyValue
from treadle.symbolic.summary.tree import Summary, SummaryLeaf

# Python that stands for compiled functions; some of these complain about what they cannot walk over as a loop does
_MODELS = (models.__file__, models_math.__file__)
_LIKE_A_LOOP = ("all", "any", "filter", "prod", "groupby", "fsum")

# what a call answerer says that leaves the call to the machine
NOT_ANSWERED: Any = object()


class CallAnswerer(Protocol):
    """Answers a call in place of the machine: with a summary, or with a stub's case."""

    def call(self, vm: VM, function: FunctionValue, env: Environment) -> Any:
        """The result of the call, or `NOT_ANSWERED`: run it."""


class CallReplacer(Protocol):
    """Stands for code that cannot be followed."""

    def answer(self, vm: VM, function: PyValue, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
        """The result of the call, or `NOT_ANSWERED`."""


class World(CallReplacer, Protocol):
    """Makes unknown inputs of what the program asks the world for."""

    def stand_in(self, vm: VM, value: object) -> Obj | None:
        """What stands for a value that belongs to the world; None for any other."""


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
        self._alive: list[PyValue] = []
        # (module globals, name) -> this path's value of a module-level name it has assigned
        self.assigned: dict[tuple[int, str], PyValue] = {}
        self.touched: list[tuple[PyValue, str]] = []
        # field types of input objects, asked when a field is first read
        self.field_type: Callable[[type, str], t.Type | None] = lambda cls, name: None
        # names read from module level, so that a test can protect shared mutable ones
        self.read_globals: dict[int, tuple[PyValue, str]] = {}
        self.changed_hosts: set[int] = set()
        self.checks = ContractChecks()
        # summaries to compose at calls, and the calls (in order) that must be run nevertheless
        self.summaries: CallAnswerer | None = None
        self.calls = 0
        self.run_plainly: set[int] = set()
        # what stands for code that cannot be followed, and which of its cases were taken on this path
        self.stubs: CallReplacer | None = None
        self.stub_cases: dict[str, None] = {}
        # the clock, chance and the environment as unknown inputs
        self.world: World | None = None
        # real lock -> how often the path holds it
        self.held_locks: dict[int, int] = {}
        # caches of functions that have given an object
        self.gave_objects: set[int] = set()
        # those that were started
        self.generators: list[GeneratorValue] = []

    def composed(self, summary: Summary, leaf: SummaryLeaf) -> None:
        """A call was composed: its outcome is this leaf of the summary."""

    # --- operations on any value, answered by the rooms ----------------------------------------------------

    def operator(self, op: str, args: list[PyValue]) -> Any:
        """The value of an operator step."""
        raise NotImplementedError

    def binary(self, op: str, a: PyValue, b: PyValue) -> Any:
        raise NotImplementedError

    def compare(self, op: str, a: PyValue, b: PyValue) -> Any:
        """<, <=, >, >="""
        raise NotImplementedError

    def equal(self, a: PyValue, b: PyValue) -> Truth:
        raise NotImplementedError

    def same_or_equal(self, a: PyValue, b: PyValue) -> Truth:
        """How containers compare what they hold."""
        raise NotImplementedError

    def truth(self, value: PyValue) -> Truth:
        raise NotImplementedError

    def contains(self, item: PyValue, container: PyValue) -> Truth:
        raise NotImplementedError

    def attribute(self, obj: PyValue, name: str) -> Any:
        """obj.name"""
        raise NotImplementedError

    def set_attribute(self, obj: PyValue, name: str, value: PyValue) -> None:
        """obj.name = value"""
        raise NotImplementedError

    def item(self, obj: PyValue, index: PyValue) -> Any:
        """obj[index]"""
        raise NotImplementedError

    def iterate(self, value: PyValue) -> IteratorValue:
        """iter(value)"""
        raise NotImplementedError

    def spread(self, value: PyValue) -> list[PyValue]:
        """All values of an iterable; an unknown number of them is bounded like a loop."""
        raise NotImplementedError

    def each(self, value: PyValue) -> Iterable[PyValue]:
        """The values of an iterable one after the other, as somebody takes them; those of a list as it is now."""
        raise NotImplementedError

    def call_with(self, function: PyValue, args: list[PyValue], named: dict[str, PyValue]) -> Any:
        """function(*args, **named)"""
        raise NotImplementedError

    def run_function(self, function: FunctionValue, args: Sequence[PyValue], named: dict[str, PyValue]) -> PyValue:
        """Run a function's IR; a generator function gives a generator."""
        raise NotImplementedError

    def call_real(self, function: PyValue, args: list[PyValue], named: dict[str, PyValue], what: str = "") -> Any:
        """Call real code with real values."""
        raise NotImplementedError

    def lift(self, value: PyValue) -> Any:
        """A real value as the path sees it."""
        raise NotImplementedError

    def new_set(self, items: list[PyValue], frozen: bool = False) -> DictObj:
        raise NotImplementedError

    def looked_at(self, obj: InstanceObj) -> None:
        """The program uses an object that so far only an invariant has met."""
        raise NotImplementedError

    def field_assigned(self, obj: InstanceObj) -> None:
        """A field of an object with deal.inv was assigned: the invariant is checked at once."""
        raise NotImplementedError

    def call(self, function: PyValue, *args: PyValue) -> Any:
        return self.call_with(function, list(args), {})

    def truth_of(self, value: PyValue) -> bool:
        return self.decide(self.truth(value))

    # --- exceptions of the program -------------------------------------------------------------------------

    def error(self, cls: type[BaseException], *args: PyValue) -> Raised:
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

    def mimic(self, action: Callable[[], PyValue]) -> Raised:
        """The exception Python itself raises for the same operation on plain values: its exact words."""
        try:
            action()
        except Exception as error:
            raised = self.host_error(error)
            raised.value.payload = None
            return raised
        raise CannotFollow("an operation that fails on unknown values only")

    def exception(self, value: PyValue, cause: PyValue) -> PyValue:
        value = self.force(value)
        if isinstance(value, type) and issubclass(value, BaseException):
            value = self.call(value)
        if isinstance(value, BaseException):
            value = self.host_error(value).value
        if isinstance(value, InstanceObj) and issubclass(value.cls, BaseException):
            if cause is not None:
                value.fields["__cause__"] = self._cause(cause)
            return value
        if value is None:
            raise self.error(RuntimeError, "No active exception to reraise")
        raise self.error(TypeError, "exceptions must derive from BaseException")

    def _cause(self, cause: PyValue) -> PyValue:
        try:
            return self.exception(cause, None) if self.force(cause) is not None else None
        except Raised:
            raise self.error(TypeError, "exception causes must derive from BaseException") from None

    def unbound(self, frame: Frame, name: str) -> Raised:
        shown = name.partition(".")[0]
        if shown.startswith("%"):
            raise CannotFollow(f"a value that was never computed ({name})")
        message = f"cannot access local variable '{shown}' where it is not associated with a value"
        return self.error(UnboundLocalError, message)

    # --- references ------------------------------------------------------------------------------------------

    def force(self, value: PyValue) -> Any:
        """The object behind an unknown reference, None included; anything else as it is."""
        while isinstance(value, UnknownRef):
            value = self.heap.force(value)
        if self.heap.merged and isinstance(value, Obj):
            value = self.heap.now(value)
        # a rational that has become known is a float again
        return float(value) if type(value) is Fraction else value

    def is_none(self, value: PyValue) -> bool:
        if isinstance(value, UnknownRef):
            return self.heap.is_none(value)
        return value is None

    def decide(self, condition: Truth) -> bool:
        answer = self.path.decide(condition)
        self.heap.learn(condition, answer)
        return answer

    def is_question(self, condition: Expr) -> bool:
        return isinstance(self.heap.decided(condition), Expr)

    # --- real objects and the path's copies ------------------------------------------------------------------

    def keep(self, host: PyValue, copy: Obj) -> None:
        self.lifted[id(host)] = copy
        self._alive.append(host)  # an id is only good while its object lives
        copy.host = host

    def new_list(self, items: list[PyValue]) -> ListObj:
        return ListObj(self.heap.number(), items)

    def new_dict(self, entries: list[list[PyValue]]) -> DictObj:
        return DictObj(self.heap.number(), entries)

    # --- names -----------------------------------------------------------------------------------------------

    def read_global(self, names: dict[str, PyValue], name: str) -> Any:
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

    def advance(self, iterator: PyValue) -> PyValue:
        assert isinstance(iterator, IteratorValue)
        return iterator.step()

    def ends_by_itself(self, iterator: PyValue) -> bool:
        return isinstance(iterator, IteratorValue) and iterator.bounded()
