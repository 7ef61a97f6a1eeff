"""Corners of the language and of the standard library, each with a reader and a writer who meet there."""

import abc
import array
import bisect
import collections
import contextlib
import contextvars
import copy
import copyreg
import csv
import dataclasses
import enum
import functools
import heapq
import importlib
import io
import itertools
import json
import operator
import pickle
import queue
import re
import string
import struct
import sys
import threading
import types
import typing
import weakref

from treadle import parallel

from .truth import fails, holds


def reads_before(writer, reader, before):
    """The reader, who comes first by himself, sees what was there before; in another order what the writer made of it."""
    assert parallel(reader, writer)[0] == before


# ---------------------------------------------------------------------- classes


@fails
def field_of_a_dataclass_with_slots():
    @dataclasses.dataclass(slots=True)
    class Point:
        x: int = 0

    p = Point()
    reads_before(lambda: setattr(p, "x", 1), lambda: dataclasses.astuple(p), (0,))


@fails
def frozen_dataclass_set_all_the_same():
    @dataclasses.dataclass(frozen=True)
    class Point:
        x: int = 0

    p = Point()
    reads_before(lambda: object.__setattr__(p, "x", 1), lambda: p == Point(0), True)


@fails
def dataclass_replaced_from_a_changing_one():
    @dataclasses.dataclass
    class Point:
        x: int = 0
        y: int = 0

    p = Point()

    def write():
        p.x = 1

    reads_before(write, lambda: dataclasses.replace(p, y=2).x, 0)


@fails
def dataclass_as_a_dictionary():
    @dataclasses.dataclass
    class Tree:
        items: list

    t = Tree([])
    reads_before(lambda: t.items.append(1), lambda: dataclasses.asdict(t), {"items": []})


@fails
def ordered_dataclass_compared():
    @dataclasses.dataclass(order=True)
    class Card:
        rank: int

    a, b = Card(1), Card(2)
    reads_before(lambda: setattr(a, "rank", 3), lambda: a < b, True)


@fails
def list_inside_a_named_tuple():
    class Pair(typing.NamedTuple):
        first: list
        second: int = 0

    p = Pair([])
    reads_before(lambda: p.first.append(1), lambda: p == ([], 0), True)


@fails
def default_of_a_named_tuple_is_shared():
    class Pair(typing.NamedTuple):
        items: list = []

    parallel(lambda: Pair().items.append(1), lambda: Pair().items.append(2))
    assert Pair().items == [1, 2]


@fails
def enum_member_with_state():
    class Colour(enum.Enum):
        RED = 1

        def __init__(self, number):
            self.uses = 0

    def use():
        n = Colour.RED.uses
        Colour.RED.uses = n + 1

    parallel(use, use)
    assert Colour(1).uses == 2


@holds
def flags_are_made_once():
    class Right(enum.Flag):
        READ = 1
        WRITE = 2

    assert parallel(lambda: Right.READ | Right.WRITE, lambda: Right(3)) == [Right.READ | Right.WRITE] * 2


@fails
def enum_looks_up_a_missing_value():
    made = []

    class Colour(enum.Enum):
        RED = 1

        @classmethod
        def _missing_(cls, value):
            made.append(value)
            return cls.RED

    parallel(lambda: Colour(7), lambda: Colour(8))
    assert made == [7, 8]


@fails
def registry_filled_by_subclasses():
    class Base:
        known = []

        def __init_subclass__(cls):
            Base.known.append(cls.__name__)

    parallel(lambda: type("A", (Base,), {}), lambda: type("B", (Base,), {}))
    assert Base.known == ["A", "B"]


@fails
def registry_filled_by_set_name():
    names = []

    class Field:
        def __set_name__(self, owner, name):
            names.append(name)

    parallel(lambda: type("A", (), {"a": Field()}), lambda: type("B", (), {"b": Field()}))
    assert names == ["a", "b"]


@fails
def attribute_made_by_a_metaclass():
    class Meta(type):
        made = 0

        def __getattr__(cls, name):
            Meta.made += 1
            return Meta.made

    class Thing(metaclass=Meta):
        pass

    parallel(lambda: Thing.a, lambda: Thing.b)
    assert Meta.made == 2


@fails
def descriptor_keeps_values_by_owner():
    class Once:
        def __get__(self, obj, owner=None):
            if "value" not in obj.__dict__:
                made.append(1)
                obj.__dict__["value"] = 1
            return obj.__dict__["value"]

    class Thing:
        value = Once()

    made, thing = [], Thing()
    parallel(lambda: thing.value, lambda: thing.value)
    assert made == [1]


@fails
def property_bound_anew():
    class Thing:
        value = property(lambda self: 1)

    thing = Thing()
    reads_before(lambda: setattr(Thing, "value", property(lambda self: 2)), lambda: thing.value, 1)


@fails
def slots_deleted_and_read():
    class Thing:
        __slots__ = ("a",)

    thing = Thing()
    thing.a = 1
    parallel(lambda: delattr(thing, "a"), lambda: thing.a)


@fails
def attributes_listed_while_one_comes():
    thing = types.SimpleNamespace(a=1)
    reads_before(lambda: setattr(thing, "b", 2), lambda: list(vars(thing)), ["a"])


@fails
def abstract_class_learns_of_another():
    class Shape(abc.ABC):
        pass

    class Circle:
        pass

    reads_before(lambda: Shape.register(Circle), lambda: isinstance(Circle(), Shape), False)


@fails
def subclass_hook_reads_a_list():
    allowed = []

    class Shape(abc.ABC):
        @classmethod
        def __subclasshook__(cls, other):
            return other.__name__ in allowed

    class Circle:
        pass

    reads_before(lambda: allowed.append("Circle"), lambda: issubclass(Circle, Shape), False)


@fails
def instance_check_of_a_metaclass():
    class Meta(type):
        def __instancecheck__(cls, obj):
            cls.asked += 1
            return cls.asked

    class Thing(metaclass=Meta):
        asked = 0

    parallel(lambda: isinstance(1, Thing), lambda: isinstance(2, Thing))
    assert Thing.asked == 2


# ---------------------------------------------------------------------- functions and names


@fails
def default_argument_is_shared():
    def add(x, items=[]):  # noqa: B006
        items.append(x)
        return list(items)

    assert parallel(lambda: add(1), lambda: add(2)) == [[1], [1, 2]]


@fails
def variable_of_an_outer_function():
    n = 0

    def add():
        nonlocal n
        n += 1

    parallel(add, add)
    assert n == 2


@fails
def dispatch_learns_of_a_type():
    @functools.singledispatch
    def show(x):
        return "any"

    reads_before(lambda: show.register(int, lambda x: "int"), lambda: show(1), "any")


@fails
def dispatch_by_method_learns_of_a_type():
    class Shown:
        @functools.singledispatchmethod
        def show(self, x):
            return "any"

    reads_before(lambda: Shown.show.register(int, lambda self, x: "int"), lambda: Shown().show(1), "any")


@fails
def cache_with_a_side_effect():
    made = []

    @functools.cache
    def square(n):
        made.append(n)
        return n * n

    parallel(lambda: square(2), lambda: square(2))
    assert made == [2]


@fails
def partial_of_a_shared_list():
    items = []
    add = functools.partial(items.append)
    parallel(lambda: add(1), lambda: add(2))
    assert items == [1, 2]


@fails
def reduction_over_a_shared_list():
    items = [1, 2]
    reads_before(lambda: items.append(3), lambda: functools.reduce(operator.add, items), 3)


@fails
def annotations_written_and_read():
    def f(x: int):
        pass

    reads_before(lambda: f.__annotations__.update(x=str), lambda: typing.get_type_hints(f), {"x": int})


@fails
def module_edited_and_looked_up():
    name = "treadle_made_up"
    sys.modules.pop(name, None)
    try:
        parallel(lambda: sys.modules.update({name: types.ModuleType(name)}), lambda: importlib.import_module(name))
    finally:
        sys.modules.pop(name, None)


@fails
def attribute_of_a_module_made_here():
    module = types.ModuleType("made")
    module.n = 0

    def add():
        module.n = module.n + 1

    parallel(add, add)
    assert module.n == 2


# ---------------------------------------------------------------------- iterators and containers


@fails
def pairs_of_a_shared_iterator():
    pairs = itertools.pairwise([1, 2, 3])
    assert parallel(lambda: next(pairs), lambda: next(pairs)) == [(1, 2), (2, 3)]


@fails
def sums_of_a_shared_iterator():
    sums = itertools.accumulate([1, 2, 3])
    assert parallel(lambda: next(sums), lambda: next(sums)) == [1, 3]


@fails
def groups_of_a_shared_iterator():
    groups = itertools.groupby("aab")
    assert parallel(lambda: next(groups)[0], lambda: next(groups)[0]) == ["a", "b"]


@fails
def slice_of_a_shared_iterator():
    numbers = itertools.count()
    assert parallel(
        lambda: list(itertools.islice(numbers, 2)), lambda: list(itertools.islice(numbers, 2))
    ) == [[0, 1], [2, 3]]


@fails
def merged_heaps_taken_by_two():
    merged = heapq.merge([1, 3], [2, 4])
    assert parallel(lambda: next(merged), lambda: next(merged)) == [1, 2]


@fails
def place_found_by_a_key_that_changes():
    class Item:
        def __init__(self, n):
            self.n = n

    items = [Item(1), Item(5)]
    reads_before(
        lambda: setattr(items[0], "n", 4), lambda: bisect.bisect(items, 3, key=operator.attrgetter("n")), 1
    )


@fails
def list_extended_in_place_by_a_function():
    items = []

    def add(x):
        if not items:
            operator.iadd(items, [x])

    parallel(lambda: add(1), lambda: add(2))
    assert items == [1]


@fails
def item_set_by_a_function():
    items = {}
    parallel(lambda: operator.setitem(items, "k", 1), lambda: operator.setitem(items, "k", 2))
    assert items == {"k": 2}


@fails
def number_packed_into_a_buffer():
    buffer = bytearray(4)
    reads_before(lambda: struct.pack_into("i", buffer, 0, 1), lambda: struct.unpack_from("i", buffer), (0,))


@fails
def array_seen_through_bytes():
    numbers = array.array("i", [0])
    reads_before(lambda: numbers.__setitem__(0, 1), lambda: bytes(memoryview(numbers)), bytes(numbers))


@fails
def ordered_dictionary_moved():
    order = collections.OrderedDict(a=1, b=2)
    reads_before(lambda: order.move_to_end("a"), lambda: next(iter(order)), "a")


@fails
def counter_subtracts():
    left = collections.Counter(a=1)

    def take():
        if left["a"] > 0:
            left.subtract("a")

    parallel(take, take)
    assert left["a"] == 0


@fails
def chained_maps_look_deeper():
    base = {"k": 0}
    chain = collections.ChainMap({}, base)
    reads_before(lambda: base.update(k=1), lambda: chain["k"], 0)


@fails
def missing_key_filled_by_a_subclass():
    class Filled(dict):
        def __missing__(self, key):
            made.append(key)
            self[key] = len(made)
            return self[key]

    made, filled = [], Filled()
    parallel(lambda: filled["k"], lambda: filled["k"])
    assert made == ["k"]


@fails
def deque_that_forgets():
    last = collections.deque([0], maxlen=1)
    reads_before(lambda: last.append(1), lambda: last[0], 0)


# ---------------------------------------------------------------------- text, data, copies


@fails
def template_that_counts():
    class Counted(string.Template):
        used = 0

        def substitute(self, *args, **kwargs):
            Counted.used += 1
            return super().substitute(*args, **kwargs)

    parallel(lambda: Counted("$a").substitute(a=1), lambda: Counted("$a").substitute(a=2))
    assert Counted.used == 2


@fails
def text_collected_and_read():
    text = io.StringIO()
    reads_before(lambda: text.write("x"), text.getvalue, "")


@fails
def rows_written_to_a_shared_text():
    text = io.StringIO()
    rows = csv.writer(text)
    parallel(lambda: rows.writerow([1]), lambda: rows.writerow([2]))
    assert text.getvalue().split() == ["1", "2"]


@fails
def json_with_a_hook_that_reads():
    class Thing:
        n = 0

    thing = Thing()
    reads_before(
        lambda: setattr(thing, "n", 1), lambda: json.dumps({"t": thing}, default=lambda one: one.n), '{"t": 0}'
    )


@fails
def numbers_given_to_matches():
    numbers = {}

    def number(match):
        return str(numbers.setdefault(match[0], len(numbers)))

    assert parallel(lambda: re.sub("a|b", number, "a"), lambda: re.sub("a|b", number, "b")) == ["0", "1"]


@fails
def scanner_shared():
    scanner = re.compile("a|b").finditer("ab")
    assert parallel(lambda: next(scanner)[0], lambda: next(scanner)[0]) == ["a", "b"]


@fails
def reduction_registered_for_a_type():
    class Thing:
        def __init__(self, n=0):
            self.n = n

    def reduce(thing):
        return Thing, (7,)

    copyreg.dispatch_table.pop(Thing, None)
    try:
        reads_before(lambda: copyreg.pickle(Thing, reduce), lambda: copy.copy(Thing()).n, 0)
    finally:
        copyreg.dispatch_table.pop(Thing, None)


class Counted:
    made = 0

    def __reduce__(self):
        Counted.made += 1
        return Counted, ()


@fails
def pickled_with_a_hook_that_counts():
    Counted.made = 0
    parallel(lambda: pickle.dumps(Counted()), lambda: pickle.dumps(Counted()))
    assert Counted.made == 2


@fails
def copied_with_a_hook_that_reads():
    class Thing:
        n = 0

        def __deepcopy__(self, memo):
            return self.n

    thing = Thing()
    reads_before(lambda: setattr(thing, "n", 1), lambda: copy.deepcopy([thing]), [0])


# ---------------------------------------------------------------------- threads, lives, contexts


@fails
def stack_of_exits_shared():
    closed = []
    stack = contextlib.ExitStack()
    parallel(lambda: stack.callback(closed.append, 1), lambda: stack.callback(closed.append, 2))
    stack.close()
    assert closed == [2, 1]


@fails
def suppressed_but_half_done():
    items = {"a": 1}

    def take():
        with contextlib.suppress(KeyError):
            items["b"] = items.pop("a")

    _, seen = parallel(take, lambda: len(items))
    assert seen == 1


@fails
def simple_queue_checked_first():
    work = queue.SimpleQueue()
    work.put(1)

    def take():
        if not work.empty():
            work.get_nowait()

    parallel(take, take)


@holds
def local_of_a_subclass_is_per_thread():
    class Counted(threading.local):
        def __init__(self):
            self.n = 0

    counted = Counted()

    def add():
        counted.n += 1
        return counted.n

    assert parallel(add, add) == [1, 1]


@fails
def local_of_a_subclass_with_a_shared_list():
    class Kept(threading.local):
        items = []

    kept = Kept()
    parallel(lambda: kept.items.append(1), lambda: kept.items.append(2))
    assert kept.items == [1, 2]


@fails
def callback_of_a_weak_reference():
    class Thing:
        pass

    gone, things = [], [Thing()]
    reference = weakref.ref(things[0], gone.append)
    reads_before(things.clear, lambda: (reference() is None, bool(gone)), (False, False))


@fails
def finaliser_writes():
    log = []

    class Thing:
        def __del__(self):
            log.append(1)

    things = [Thing()]
    reads_before(things.clear, lambda: list(log), [])


@fails
def context_run_by_two():
    number = contextvars.ContextVar("number", default=0)
    context = contextvars.copy_context()
    parallel(lambda: context.run(lambda: number.set(number.get() + 1)), lambda: context.run(number.get))
    assert context[number] == 1


@fails
def context_variable_holds_a_list():
    items = contextvars.ContextVar("items", default=[])  # noqa: B039
    parallel(lambda: items.get().append(1), lambda: items.get().append(2))
    assert items.get() == [1, 2]


@holds
def context_variables_set_by_two():
    number = contextvars.ContextVar("number", default=0)

    def use(n):
        number.set(n)
        return number.get()

    assert parallel(lambda: use(1), lambda: use(2)) == [1, 2]


@holds
def frozen_dataclass_is_read_by_all():
    @dataclasses.dataclass(frozen=True)
    class Point:
        x: int = 0

    p = Point()
    assert parallel(lambda: p.x, lambda: dataclasses.replace(p, x=1).x, lambda: hash(p) == hash(p)) == [0, 1, True]


@holds
def cache_gives_one_value():
    square = functools.cache(lambda n: n * n)
    assert parallel(lambda: square(3), lambda: square(3)) == [9, 9]


@holds
def slices_of_their_own():
    numbers = (1, 2, 3)
    assert parallel(lambda: list(itertools.pairwise(numbers)), lambda: sum(numbers)) == [[(1, 2), (2, 3)], 6]
