"""Every execution starts from the same module globals, down to the contents of what they hold."""

from __future__ import annotations

import array
import itertools
import sys
import textwrap
import types
from collections.abc import Iterator
from typing import Any

import pytest

from treadle.threads.instrument import records
from treadle.threads.instrument.records import ClassAttributes, List
from treadle.threads.instrument.restore import Snapshot


@pytest.fixture
def world() -> Iterator[Any]:
    """A module full of state, run from its source."""
    source = """
    import array, collections, enum, functools, itertools, queue, threading, types, dataclasses

    number = 1
    text = "a"
    nothing = None
    items = [1, [2, 3]]
    table = {"k": {"deep": [1]}, "other": 2}
    members = {1, 2, 3}
    line = collections.deque([1, 2], maxlen=5)
    ordered = collections.OrderedDict(a=1, b=2)
    default = collections.defaultdict(list, k=[1])
    counter = collections.Counter("aab")
    raw = bytearray(b"abc")
    numbers = array.array("i", [1, 2])
    fixed = ([1], frozenset({(1,)}))
    shared = items[1]
    namespace = types.SimpleNamespace(x=1)
    waiting = queue.Queue()
    ids = itertools.count(5)
    next_id = itertools.count().__next__
    view = types.MappingProxyType(table)

    class Account:
        total = 0
        opened = []
        def __init__(self): self.balance = 0; self.log = []
        def show(self): return self.balance

    class Slotted:
        __slots__ = ("a", "b")
        def __init__(self): self.a = [1]

    class Colour(enum.Enum):
        RED = 1

    @dataclasses.dataclass
    class Point:
        x: int = 0

    class Bag(list):
        def __init__(self): super().__init__([1]); self.note = "n"
        def __iter__(self): raise RuntimeError("never to be asked")
        def __len__(self): raise RuntimeError("never to be asked")
        def __eq__(self, other): raise RuntimeError("never to be asked")
        __hash__ = None

    class Proxy:
        @property
        def __class__(self): raise RuntimeError("never to be asked")
        def __getattribute__(self, name): raise RuntimeError("never to be asked")

    account = Account()
    account.me = account
    slotted = Slotted()
    point = Point()
    bag = Bag()
    proxy = Proxy()

    def counter_of():
        n = 0
        kept = []
        def up():
            nonlocal n
            n += 1
            kept.append(n)
            return n, kept
        return up
    up = counter_of()

    def remember(x, seen=[], *, also={}):
        seen.append(x); also[x] = 1
        return seen, also

    def with_attribute(): pass
    with_attribute.calls = [1]

    @functools.lru_cache
    def cached(x): return [x]

    part = functools.partial(remember, also={1: 1})
    """
    module = types.ModuleType("world")
    sys.modules["world"] = module
    exec(textwrap.dedent(source), vars(module))
    yield module
    del sys.modules["world"]


def test_names_are_bound_as_before(world: Any) -> None:
    snapshot = Snapshot([world])
    world.number += 1
    world.new = 1
    del world.text
    world.account = world.Account()
    before = world.items
    world.items = [1, [2, 3]]
    snapshot.restore()
    assert (world.number, world.text, hasattr(world, "new")) == (1, "a", False)
    assert world.items is before


def test_contents_are_put_back_in_place(world: Any) -> None:
    snapshot = Snapshot([world])
    names = ["items", "table", "members", "line", "ordered", "default", "counter", "raw", "numbers", "fixed"]
    kept = {name: (getattr(world, name), repr(getattr(world, name))) for name in [*names, "namespace"]}
    world.items[1].append(4)
    world.items.reverse()
    world.table["k"]["deep"].clear()
    world.table["new"] = world.table.pop("other")
    world.members.add(9)
    world.members.discard(1)
    world.line.appendleft(0)
    world.ordered.move_to_end("a")
    world.default["missing"].append(1)
    world.counter.update("zz")
    world.raw.extend(b"d")
    world.numbers.append(3)
    world.fixed[0].append(2)
    world.namespace.y = 2
    list.append(world.bag, 2)
    world.bag.note = "changed"
    snapshot.restore()
    for name, (thing, shown) in kept.items():
        assert getattr(world, name) is thing
        assert repr(thing) == shown, name
    assert list.__len__(world.bag) == 1
    assert world.bag.note == "n"
    assert world.shared is world.items[1]


def test_instances_classes_and_slots(world: Any) -> None:
    snapshot = Snapshot([world])
    world.account.balance = 7
    world.account.log.append(1)
    del world.account.me
    world.account.extra = 1
    world.Account.total += 1
    world.Account.opened.append(1)
    world.Account.added = lambda self: None
    world.slotted.a.append(2)
    world.slotted.b = 1
    world.point.x = 5
    world.waiting.put("left over")
    type.__setattr__(world.Colour, "RED", "not any more")
    snapshot.restore()
    assert vars(world.account) == {"balance": 0, "log": [], "me": world.account}
    assert (world.Account.total, world.Account.opened, hasattr(world.Account, "added")) == (0, [], False)
    assert (world.slotted.a, hasattr(world.slotted, "b")) == ([1], False)
    assert world.point == world.Point(0)
    assert world.waiting.empty()
    assert world.waiting.unfinished_tasks == 0
    assert world.Colour.RED is world.Colour(1)


def test_functions_closures_defaults_and_caches(world: Any) -> None:
    first = world.cached(1)
    snapshot = Snapshot([world])
    assert world.cached(1) is not first
    world.up()
    world.remember(1)
    world.remember.new = True
    world.with_attribute.calls.append(2)
    world.with_attribute.other = 1
    world.part.keywords["also"][5] = 5
    snapshot.restore()
    assert world.up() == (1, [1])
    snapshot.restore()
    assert world.remember(2) == ([2], {2: 1})
    snapshot.restore()
    assert not hasattr(world.remember, "new")
    assert vars(world.with_attribute) == {"calls": [1]}
    assert world.part.keywords == {"also": {1: 1}}
    assert world.cached.cache_info().currsize == 0


def test_counts_start_over(world: Any) -> None:
    snapshot = Snapshot([world])
    for _ in range(3):
        assert [next(world.ids), next(world.ids), world.next_id(), world.next_id()] == [5, 6, 0, 1]
        snapshot.restore()


def test_a_function_that_compiles_itself_when_it_is_first_called() -> None:
    """As networkx does: its code is exchanged, and what the new code needs is put into its globals."""
    module: Any = types.ModuleType("compiles_itself")
    exec(
        "compiled = 0\n"
        "def lazy(x=1):\n"
        "    global compiled\n"
        "    compiled += 1\n"
        "    lazy.__globals__['addend'] = 10\n"
        "    lazy.__code__ = (lambda x: x + addend).__code__\n"
        "    lazy.__defaults__ = (2,)\n"
        "    return lazy(x)\n",
        vars(module),
    )
    snapshot = Snapshot([module])
    for _ in range(3):
        assert (module.lazy(5), module.lazy(), module.compiled) == (15, 12, 1)
        snapshot.restore()
        assert (module.compiled, hasattr(module, "addend")) == (0, False)


def test_what_moves_from_one_holder_to_the_next_is_seen() -> None:
    module: Any = types.ModuleType("neighbours")
    exec("first, second = [1.5, 2.5], [3.5]\ntable, other = {'a': 1.5}, {'b': 2.5}", vars(module))
    first, second = list(module.first), list(module.second)
    snapshot = Snapshot([module])
    module.second.insert(0, module.first.pop())
    module.table["c"] = module.table.pop("a")
    snapshot.restore()
    assert (module.first, module.second, module.table) == (first, second, {"a": 1.5})


def test_no_method_of_a_container_of_the_programs_own_is_called() -> None:
    class Strict(dict[str, int]):
        def __iter__(self) -> Any:
            raise AssertionError

        keys = values = items = __len__ = __eq__ = __iter__  # type: ignore[assignment]

    module: Any = types.ModuleType("strict")
    module.Strict, module.table = Strict, Strict(a=1)
    snapshot = Snapshot([module])
    snapshot.restore()
    dict.__setitem__(module.table, "b", 2)
    snapshot.restore()
    assert list(dict.items(module.table)) == [("a", 1)]


def test_can_be_used_again_and_again(world: Any) -> None:
    snapshot = Snapshot([world])
    for _ in range(5):
        world.number += 1
        world.new = 1
        world.members.add(object())
        world.items.clear()
        world.account.__dict__ = {"replaced": True}
        del world.text
        snapshot.restore()
        assert (world.number, world.text, world.items, len(world.members)) == (1, "a", [1, [2, 3]], 3)
        assert vars(world.account)["balance"] == 0
        assert not hasattr(world, "new")


def test_sets_are_iterated_in_the_same_order_in_every_execution() -> None:
    module = types.ModuleType("sets")
    vars(module)["letters"] = letters = {chr(97 + n) for n in range(26)}
    for letter in "bdfh":
        letters.discard(letter)
    snapshot = Snapshot([module])
    first = list(letters)
    for _ in range(3):
        letters.update("xyz0123456789")
        letters.difference_update("aeiou")
        snapshot.restore()
        assert list(letters) == first


def test_equal_is_not_the_same() -> None:
    """`flag = 1` and `flag = True` compare equal; a fresh list that equals the old one is another list."""
    module = types.ModuleType("equal")
    vars(module).update(flag=1, old=[])
    old = module.old
    snapshot = Snapshot([module])
    vars(module).update(flag=True, old=[])
    snapshot.restore()
    assert module.flag is not True
    assert module.old is old


def test_key_replaced_by_another_with_the_same_value() -> None:
    module = types.ModuleType("keys")
    vars(module)["table"] = table = {"a": None}
    snapshot = Snapshot([module])
    del table["a"]
    table["b"] = None
    snapshot.restore()
    assert table == {"a": None}


def test_submodule_imported_meanwhile_stays() -> None:
    package, inner = types.ModuleType("package"), types.ModuleType("package.inner")
    snapshot = Snapshot([package])
    sys.modules["package.inner"] = inner
    vars(package)["inner"] = inner
    vars(package)["__warningregistry__"] = {"version": 1}
    try:
        snapshot.restore()
        assert package.inner is inner
        assert "__warningregistry__" in vars(package)
        snapshot.restore()
        snapshot.add([inner])
        vars(inner)["x"] = 1
        snapshot.restore()
        assert not hasattr(inner, "x")
    finally:
        del sys.modules["package.inner"]


def test_what_changed_before_another_module_came_is_put_back() -> None:
    """An execution changed the state, then imported a module: that module is remembered while the state is changed."""
    first, second = types.ModuleType("first"), types.ModuleType("second")
    vars(first)["table"] = table = {"total": 0}
    snapshot = Snapshot([first])
    table["total"] += 1
    snapshot.add([second])
    snapshot.restore()
    assert table == {"total": 0}


def test_objects_of_other_libraries_and_other_modules_are_left_alone() -> None:
    other = types.ModuleType("other")
    exec("class Theirs:\n    pass\ntheirs = Theirs()\n", vars(other))
    module = types.ModuleType("mine")
    vars(module).update(other=other, borrowed=other.theirs)
    snapshot = Snapshot([module])
    other.theirs.x = 1
    snapshot.restore()
    assert other.theirs.x == 1


def test_a_class_that_cannot_be_changed_may_be_asked_for_its_annotations() -> None:
    record = ClassAttributes(array.array)
    record.remember()
    assert array.array.__annotations__ == {}  # which makes them
    record.reset()
    assert not record.differs()


def test_only_the_block_of_what_changed_is_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_BLOCK", 4)
    module: Any = types.ModuleType("many_lists")
    module.lists = [[number] for number in range(100)]
    module.ids = itertools.count()
    snapshot = Snapshot([module])
    asked: list[Any] = []
    usual = List.differs
    monkeypatch.setattr(List, "differs", lambda self: asked.append(self) or usual(self))  # type: ignore[func-returns-value]
    module.lists[70].append(1)
    snapshot.restore()
    assert module.lists == [[number] for number in range(100)]
    assert 0 < len(asked) <= 4
    next(module.ids)
    snapshot.restore()
    assert next(module.ids) == 0
    assert len(asked) <= 8
