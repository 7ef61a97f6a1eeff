"""The heap of a path: objects the program made, objects that were there before, and references not yet known.

Lazy initialisation: an unknown reference (`UnknownRef`) stays unknown while it is only passed around. A test for None
decides just that. The first dereference makes it one of: a fresh input object, one of the input objects already
in the heap that it may be (aliasing is considered here and only here), or None. Objects made by the program are
never aliases of inputs.

Input objects keep what they held at the start (`initial`, `source_...`) beside what they hold now: both sides of a
test come from that. `Heap` is the interface that the machine uses; `LazyHeap` is one way to decide aliasing, the
other is `SolverHeap` of heap/solver.py, which carries it along until the program asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from treadle.core.choice import OptionDrawn, ReferenceAliases
from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Integer, Truth, Value
from treadle.symbolic.path import About, CannotFollow, CodePlace, Note, SymbolicPath

if TYPE_CHECKING:
    from treadle.symbolic.heap.assumptions import Assumed

# What a field held at the start when it was written before anybody read it.
MISSING: Any = object()

Some = TypeVar("Some", bound="Obj")

# A tuple of any length is tried with so many elements; longer ones are not.
LONGEST_TUPLE = 3


class Obj:
    """An object with identity."""

    __slots__ = ("host", "is_input", "name", "number")

    def __init__(self, number: int, name: str = "", is_input: bool = False) -> None:
        self.number = number
        self.name = name
        self.is_input = is_input
        self.host: Any = None  # the real object this one mirrors, for values that existed before the run


class InstanceObj(Obj):
    """`classes`: what it may be an instance of, narrowed as the program finds out; the first is taken in the end."""

    __slots__ = ("classes", "fields", "initial", "payload")

    def __init__(self, number: int, classes: tuple[type, ...], name: str = "", is_input: bool = False) -> None:
        super().__init__(number, name, is_input)
        self.classes = classes
        self.fields: dict[str, Any] = {}
        self.initial: dict[str, Any] = {}
        # the value of the built-in base, for subclasses of int, str, tuple, list, ...
        self.payload: Any = None

    @property
    def cls(self) -> type:
        return self.classes[0]

    def __repr__(self) -> str:
        return f"<{self.cls.__name__} {self.name or self.number}>"


class Write(NamedTuple):
    """What was written to a list, and the condition under which it was this list."""

    index: Integer  # type: ignore[assignment]  # hides the method of tuples, which nobody calls here
    value: Any
    condition: Truth = True


class ListObj(Obj):
    """A list. Closed: `items`. Open: head + source[start : start + count] + tail, with writes over the source."""

    __slots__ = ("count", "element", "head", "items", "length", "reads", "start", "tail", "writes")

    def __init__(self, number: int, items: list[Any] | None, name: str = "", is_input: bool = False) -> None:
        super().__init__(number, name, is_input)
        self.items = items
        self.element: t.Type | None = None
        self.length: Integer = 0  # of the source, at the start
        self.reads: list[tuple[Value, Any]] = []  # index in the source -> the value that was there
        self.writes: list[Write] = []
        self.start = 0
        self.count: Integer = 0
        self.head: list[Any] = []
        self.tail: list[Any] = []

    def size(self) -> Integer:
        if self.items is not None:
            return len(self.items)
        return x.add(self.count, len(self.head) + len(self.tail))

    @property
    def is_as_given(self) -> bool:
        """Open, and of the length that it had at the start; its elements may have changed."""
        return self.items is None and self.count is self.length and not (self.start or self.head or self.tail)


def element_name(name: str, index: Value) -> str:
    return f"{name}[{index!r}]" if isinstance(index, Expr) else f"{name}[{index}]"


class DictObj(Obj):
    """A dict or, with `keys_only`, a set. Open while `open`: `extra` more entries that nobody has looked at."""

    __slots__ = (
        *("absent", "entries", "extra", "frozen", "key", "keys_only"),
        *("is_shaped", "known", "open", "ordered", "record", "source", "value"),
    )

    def __init__(self, number: int, entries: list[list[Any]], name: str = "", is_input: bool = False) -> None:
        super().__init__(number, name, is_input)
        self.entries = entries  # [key, value] as they are now
        self.keys_only = False
        self.frozen = False
        self.ordered = False  # an OrderedDict
        self.record: t.DictOf | None = None  # its type, if that is a TypedDict
        self.is_shaped = False  # and whether its keys are known
        self.open = False
        self.key: t.Type | None = None
        self.value: t.Type | None = None
        self.source: list[tuple[Any, Any]] = []  # entries that were there at the start
        self.known = 0  # how many of the current entries were there at the start
        self.absent: list[Any] = []  # keys that are not among the extra entries
        self.extra: Integer = 0

    def size(self) -> Integer:
        return x.add(self.extra, len(self.entries)) if self.open else len(self.entries)


class FunctionObj(Obj):
    """A function that is an input: nothing is known of it but what its calls returned, in order."""

    __slots__ = ("calls", "returns")

    def __init__(self, number: int, name: str, returns: t.Type) -> None:
        super().__init__(number, name, True)
        self.returns = returns
        self.calls: list[tuple[tuple[Any, ...], Any]] = []  # positional arguments, result

    def __repr__(self) -> str:
        return f"<function {self.name}>"


class UnknownRef:
    """A reference that is not yet known; `options` are what it may still be."""

    __slots__ = ("name", "options", "resolved", "value")

    def __init__(self, name: str, options: tuple[t.Type, ...]) -> None:
        self.name = name
        self.options = options
        self.resolved = False
        self.value: Any = None

    def __repr__(self) -> str:
        return f"<unknown {self.name}>"


def looked_up(value: Any) -> Any:
    """The value behind references, as far as they are known; an `UnknownRef` that comes back was never looked at."""
    while isinstance(value, UnknownRef) and value.resolved:
        value = value.value
    return value


class Heap:
    """What a machine asks of a heap."""

    def __init__(
        self, path: SymbolicPath, *, alias: bool = True, subclasses: Callable[[type], tuple[type, ...]] | None = None
    ) -> None:
        self.path = path
        self.alias = alias
        self.subclasses = subclasses or (lambda cls: (cls,))
        self.inputs: list[Obj] = []
        self.refs: dict[str, UnknownRef] = {}
        self.unknowns: list[Expr] = []
        # told of every new input object: what its class promises is assumed then
        self.on_input: Callable[[InstanceObj], None] | None = None
        # whether a class promises something of its objects
        self.promises: Callable[[type], bool] = lambda cls: False
        # aliasing that is known not to occur
        self.assumed: Assumed | None = None
        # number of an input -> the object that it turned out to be
        self.merged: dict[int, Obj] = {}
        # the fields of inputs are looked at as they were (`as_it_was`)
        self.beginning = 0
        self._count = 0

    def number(self) -> int:
        self._count += 1
        return self._count

    # --- making ------------------------------------------------------------------------------------------

    def unknown(self, name: str, sort: x.Sort) -> Expr:
        found = x.var(name, sort)
        if found not in self.unknowns:
            self.unknowns.append(found)
        return found

    def value_of_type(self, kind: t.Type, name: str) -> Any:
        """An unknown of the type, as lazily as the type allows."""
        possible = t.options(kind)
        if len(possible) == 1 and isinstance(possible[0], t.Scalar):
            return self._scalar(possible[0], name)
        if len(possible) == 1 and possible[0] is t.NONE:
            return None
        if len(possible) == 1 and isinstance(possible[0], t.TupleOf) and possible[0].rest is None:
            return self._tuple(possible[0], name)
        if len(possible) == 1 and isinstance(possible[0], t.Real):
            return self.fresh(possible[0], name)
        ref = self.refs.get(name)
        if ref is None:
            ref = self.refs[name] = UnknownRef(name, possible)
        return ref

    def _one_of(self, kind: t.OneOf | t.Samples, name: str) -> Any:
        return kind.values[self.path.choose([OptionDrawn(name, n) for n in range(len(kind.values))])]

    def _scalar(self, kind: t.Scalar, name: str) -> Expr:
        sorts = {"int": x.INT, "bool": x.BOOL, "float": x.REAL, "str": x.STR}
        return self.unknown(name, sorts[kind.kind])

    def _tuple(self, kind: t.TupleOf, name: str) -> Any:
        if kind.named is None:
            return tuple(self.value_of_type(e, f"{name}[{i}]") for i, e in enumerate(kind.elements))
        made = InstanceObj(self.number(), (kind.named,), name)
        fields = zip(kind.named._fields, kind.elements, strict=True)  # type: ignore[attr-defined]
        made.payload = tuple(self.value_of_type(e, f"{name}.{field}") for field, e in fields)
        return made

    def fresh(self, kind: t.Type, name: str) -> Any:
        """An input of exactly this type that is no alias of another."""
        if isinstance(kind, t.Scalar):
            return self._scalar(kind, name)
        if isinstance(kind, t.NoneType):
            return None
        if isinstance(kind, t.Instance):
            made: Obj = InstanceObj(self.number(), self.subclasses(kind.cls), name, True)
        elif isinstance(kind, t.ListOf):
            made = self._open_list(kind, name)
        elif isinstance(kind, t.DictOf | t.SetOf):
            made = self._open_dict(kind, name)
        elif isinstance(kind, t.FunctionOf):
            made = FunctionObj(self.number(), name, kind.returns)
        elif isinstance(kind, t.TupleOf):
            if kind.rest is None:
                return self._tuple(kind, name)
            size = self.path.choose([OptionDrawn(f"len({name})", size) for size in range(LONGEST_TUPLE + 1)])
            self.path.note(Note(About.LENGTH, name, str(size)))
            if size == LONGEST_TUPLE:
                place, what = self.path.place, f"the tuple '{name}' has at most {LONGEST_TUPLE} elements"
                self.path.sampled.append(CodePlace(place.file, place.line, what))
            return tuple(self.value_of_type(kind.rest, f"{name}[{i}]") for i in range(size))
        elif isinstance(kind, t.Real) and kind.made_by is not None:
            return kind.made_by()
        elif isinstance(kind, t.Real):
            raise CannotFollow(f"'{name}', which is what {kind} gives: no unknown one can be made")
        elif isinstance(kind, t.OneOf):
            value = self._one_of(kind, name)
            if len(kind.values) > 1:
                is_member = Note(About.MEMBER, name, str(value))
                self.path.note(is_member if kind.name else Note(About.VALUE, name, repr(value)))
            return value
        elif isinstance(kind, t.Samples):
            place = self.path.place
            self.path.sampled.append(CodePlace(place.file, place.line, f"'{name}' is one of a few values of {kind}"))
            value = self._one_of(kind, name)
            self.path.note(Note(About.VALUE, name, str(value) if kind.name != "bytes" else repr(value)))
            return value
        else:
            raise TypeError(f"not a single type: {kind}")
        self.inputs.append(made)
        if self.on_input is not None and isinstance(made, InstanceObj):
            self.on_input(made)
        return made

    def _open_list(self, kind: t.ListOf, name: str) -> ListObj:
        made = ListObj(self.number(), None, name, True)
        made.element = kind.element
        made.length = made.count = self.unknown(f"len({name})", x.INT)
        self.path.assume(x.ge(made.length, 0))
        return made

    def shaped(self, obj: Any) -> Any:
        """The object; of a TypedDict, which keys that may be missing are there is decided now."""
        if not isinstance(obj, DictObj) or obj.is_shaped or obj.record is None:
            return obj
        obj.is_shaped = True
        for key, value, may_be_missing in obj.record.entries:
            asked = f"{key!r} in {obj.name}"
            missing = may_be_missing and self.path.choose([OptionDrawn(asked, n) for n in range(2)])
            if may_be_missing:
                self.path.note(Note(About.TEXT, f"{key!r} not in {obj.name}" if missing else asked))
            if not missing:
                obj.source.append((key, self.value_of_type(value, f"{obj.name}[{key!r}]")))
        obj.entries = [list(pair) for pair in obj.source]
        obj.known = len(obj.entries)
        return obj

    def _open_dict(self, kind: t.DictOf | t.SetOf, name: str) -> DictObj:
        made = DictObj(self.number(), [], name, True)
        if isinstance(kind, t.DictOf) and kind.record:
            made.record = kind
            return made
        made.open = True
        made.extra = self.unknown(f"len({name})", x.INT)
        self.path.assume(x.ge(made.extra, 0))
        if isinstance(kind, t.SetOf):
            made.keys_only, made.key, made.frozen = True, kind.element, kind.frozen
        else:
            made.key, made.value, made.ordered = kind.key, kind.value, kind.ordered
        return made

    # --- references: how aliasing is decided is up to the implementation -----------------------------------

    # whether reads that may see one of several writes give a value that depends, instead of deciding
    postpones = False

    def may_alias(self, a: str, b: str) -> bool:
        """Whether two references of the inputs, by name, may be the same object."""
        return self.alias and (self.assumed is None or self.assumed.may_alias(a, b))

    def is_none(self, ref: UnknownRef) -> bool:
        raise NotImplementedError

    def force(self, ref: UnknownRef) -> Any:
        raise NotImplementedError

    def same(self, a: Any, b: Any, looks: bool = True) -> Truth | Any:
        """`a is b` for references; NotImplemented: look at the objects behind them.

        Not `looks`: a reference is the same as itself, whatever is behind it.
        """
        return NotImplemented

    def now(self, obj: Some) -> Some:
        """The object that this one has turned out to be."""
        return obj

    def is_settled(self, obj: Obj) -> bool:
        """Whether the path has decided which object this is."""
        return True

    def settle(self, obj: Some) -> Some:
        """Decide which object this is, as far as that is still open."""
        return obj

    # --- fields of input objects ---------------------------------------------------------------------------

    def first_read(self, obj: InstanceObj, name: str, kind: t.Type) -> Any:
        """A field of an input that this path has not seen yet; MISSING if it turns out to be deleted."""
        value = self.field_at_start(kind, obj, name)
        obj.fields[name] = obj.initial[name] = value
        return value

    def first_value(self, obj: InstanceObj, name: str, start: Any) -> Any:
        """What a field holds now, of which only its value at the start was known."""
        return start

    @contextmanager
    def as_it_was(self) -> Iterator[None]:
        """The fields of input objects as they were before the call; what is read here for the first time is kept."""
        before = [(obj, obj.fields) for obj in self.inputs if isinstance(obj, InstanceObj)]
        views: dict[int, dict[str, Any]] = {}
        unread: dict[tuple[int, str], dict[str, Any]] = {}
        for obj, now in before:
            for name in [n for n, value in obj.initial.items() if value is MISSING]:
                unread[id(obj.initial), name] = obj.initial
                del obj.initial[name]
            obj.fields = views.setdefault(id(now), dict(obj.initial))
        known = {(id(obj.initial), name) for obj, _ in before for name in obj.initial}
        self.beginning += 1
        try:
            yield
        finally:
            self.beginning -= 1
            for obj, now in before:
                obj.fields = now
            for obj, _ in before:
                kept = self.merged.get(obj.number)
                if isinstance(kept, InstanceObj) and kept.fields is not obj.fields:
                    kept.fields.update({n: v for n, v in obj.fields.items() if n not in kept.fields})
                    obj.fields = kept.fields
            for obj in [o for o in self.inputs if isinstance(o, InstanceObj)]:
                for name, start in obj.initial.items():
                    if (id(obj.initial), name) not in known and (id(obj.initial), name) not in unread:
                        obj.fields[name] = self.first_value(obj, name, start)
            for (_, name), initial in unread.items():
                initial.setdefault(name, MISSING)

    def write_field(self, obj: InstanceObj, name: str, value: Any) -> None:
        obj.initial.setdefault(name, MISSING)
        obj.fields[name] = value

    def delete_field(self, obj: InstanceObj, name: str) -> None:
        """The object is settled."""
        del obj.fields[name]

    def written_elsewhere(self, obj: InstanceObj, name: str) -> bool:
        """Whether a field that the class does not declare was written through another reference; decides."""
        return False

    def settled(self, value: Any) -> Any:
        """The value without the conditions that the path has decided meanwhile."""
        return value

    def learn(self, condition: Truth, holds: bool) -> None:
        """The path has found this out."""

    def is_open(self, value: Any) -> bool:
        """Whether the value depends on a question of aliasing."""
        return False

    def decided(self, value: Any) -> Any:
        """The value, with every question of aliasing that it depends on decided."""
        return value

    # --- elements of lists ---------------------------------------------------------------------------------

    def element(self, obj: ListObj, index: Integer) -> Any:
        """What an input list held at the start."""
        assert obj.element is not None
        return self.element_at_start(obj.element, obj, index)

    # --- what an input holds at the start ------------------------------------------------------------------

    def field_at_start(self, kind: t.Type, obj: InstanceObj, name: str) -> Any:
        return self.value_of_type(kind, f"{obj.name}.{name}")

    def element_at_start(self, kind: t.Type, obj: ListObj, index: Integer) -> Any:
        return self.value_of_type(kind, element_name(obj.name, index))

    def write_element(self, obj: ListObj, index: Integer, value: Any) -> None:
        """The index is that of the source."""
        obj.writes.append(Write(index, value))

    def perhaps(self, obj: ListObj) -> list[tuple[Truth, ListObj]]:
        """The lists that this one may be, each with the condition that it is."""
        return []

    def postpone(self, conditions: list[Expr], unread: Any, is_new: bool) -> None:
        """A read saw one of several writes; `unread`: what was there before, seen only if none of them fits.

        `is_new`: nobody had looked at that before.
        """
        raise NotImplementedError

    def split(self, obj: InstanceObj, groups: Sequence[tuple[type, ...]]) -> int:
        """Which of these groups the class of the object is in; its classes are narrowed to the group."""
        chosen = self.path.choose([OptionDrawn(f"the class of {obj.name}", n) for n in range(len(groups))])
        obj.classes = groups[chosen]
        self.path.note(Note(About.TYPE, obj.name, " or ".join(c.__name__ for c in obj.classes)))
        return chosen


class LazyHeap(Heap):
    """Lazy initialisation: branch on aliasing when an unknown reference is first dereferenced."""

    def is_none(self, ref: UnknownRef) -> bool:
        if ref.resolved:
            return ref.value is None
        others = tuple(o for o in ref.options if o is not t.NONE)
        if len(others) == len(ref.options):
            return False
        if not others or self.path.choose([ReferenceAliases(ref.name, some) for some in ("not None", "None")]) == 1:
            ref.resolved, ref.value = True, None
            self.path.note(Note(About.NONE, ref.name))
            return True
        ref.options = others
        self.path.note(Note(About.NOT_NONE, ref.name))
        if all(isinstance(option, t.Real) for option in others):
            self.fresh(others[0], ref.name)  # a test could not give it, even where nobody looks at it any more
        return False

    def force(self, ref: UnknownRef) -> Any:
        """None, a known object or a fresh one; scalars of a union become plain unknowns."""
        if ref.resolved:
            return ref.value
        choices: list[tuple[t.Type, Obj | None]] = []
        nothing = []
        for option in ref.options:
            if option is t.NONE:
                nothing.append((option, None))
                continue
            choices.append((option, None))
            choices.extend((option, known) for known in self._aliases(ref.name, option))
        choices.extend(nothing)
        kind, known = choices[self.path.choose([_alias(ref, choice) for choice in choices])]
        self._tell(ref, kind, known, choices)
        if isinstance(known, InstanceObj) and isinstance(kind, t.Instance):
            allowed = self.subclasses(kind.cls)
            known.classes = tuple(c for c in known.classes if c in allowed) or known.classes
        ref.resolved = True
        ref.value = known if known is not None else self.shaped(self.fresh(kind, ref.name))
        return ref.value

    def _tell(self, ref: UnknownRef, kind: t.Type, known: Obj | None, choices: list[tuple[t.Type, Obj | None]]) -> None:
        if len(choices) == 1:
            return
        if kind is t.NONE:
            self.path.note(Note(About.NONE, ref.name))
        elif known is not None:
            self.path.note(Note(About.SAME_OBJECT, ref.name, known.name))
        else:
            if t.NONE in ref.options:
                self.path.note(Note(About.NOT_NONE, ref.name))
            kinds = [o for o in ref.options if o is not t.NONE]
            if len(kinds) > 1:
                self.path.note(Note(About.TYPE, ref.name, str(kind)))
            for option, other in choices:
                if other is not None and option == kind:
                    self.path.note(Note(About.OTHER_OBJECT, ref.name, other.name))

    def _aliases(self, name: str, kind: t.Type) -> list[Obj]:
        """The inputs that a reference of this name and type may be, decided when it is first dereferenced."""
        if not self.alias:
            return []
        found = [known for known in self.inputs if self._may_be(known, kind) and self.may_alias(name, known.name)]
        ref = self.refs.get(name)
        if self.assumed is None or ref is None:
            return found
        return [known for known in found if self.assumed.allow(ref, known)]

    def _may_be(self, known: Obj, kind: t.Type) -> bool:
        if isinstance(known, InstanceObj) and isinstance(kind, t.Instance):
            allowed = self.subclasses(kind.cls)
            return any(c in allowed for c in known.classes)
        if isinstance(known, ListObj) and isinstance(kind, t.ListOf):
            return known.element == kind.element
        if isinstance(known, DictObj) and isinstance(kind, t.DictOf | t.SetOf):
            if isinstance(kind, t.SetOf):
                return known.keys_only and known.key == kind.element and known.frozen == kind.frozen
            own = t.DictOf(known.key, known.value, known.ordered) if known.key and known.value else known.record
            return not known.keys_only and own == kind
        return False


def _alias(ref: UnknownRef, choice: tuple[t.Type, Obj | None]) -> ReferenceAliases:
    """The choice that a reference is a known object, a new one or None."""
    kind, known = choice
    if kind is t.NONE:
        return ReferenceAliases(ref.name, "None")
    several = f" ({kind})" if len([o for o in ref.options if o is not t.NONE]) > 1 else ""
    return ReferenceAliases(ref.name, f"{known.name if known is not None else 'new'}{several}")
