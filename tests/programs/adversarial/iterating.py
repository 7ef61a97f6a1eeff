"""Iterators, generators and the functions that consume them."""

import bisect
import collections
import contextlib
import functools
import heapq
import itertools
import operator

from treadle import parallel

from .truth import fails, holds


@fails
def shared_enumerate():
    numbered = enumerate("ab")
    assert parallel(lambda: next(numbered)[0], lambda: next(numbered)[0]) == [0, 1]


@fails
def shared_zip_over_a_shared_iterator():
    it = iter("abcd")
    pairs = zip(it, it)
    got = parallel(lambda: next(pairs), lambda: next(it))
    assert got[0] == ("a", "b")


@fails
def shared_reversed():
    backwards = reversed([1, 2])
    assert parallel(lambda: next(backwards), lambda: next(backwards)) == [2, 1]


@fails
def shared_dict_iterator_and_insertion():
    d = {1: 1, 2: 2}
    it = iter(d.items())

    def insert():
        d[3] = 3

    parallel(lambda: next(it), insert)


@fails
def cycle_hands_out_turns():
    turns = itertools.cycle("ab")
    assert parallel(lambda: next(turns), lambda: next(turns)) == ["a", "b"]


@fails
def islice_shares_its_source():
    source = iter(range(4))
    first = itertools.islice(source, 2)
    assert parallel(lambda: list(first), lambda: next(source))[0] == [0, 1]


@fails
def chain_grows_while_read():
    rows = [[1], [2]]
    chained = itertools.chain.from_iterable(rows)
    assert parallel(lambda: list(chained), lambda: rows.append([3]))[0] == [1, 2]


@fails
def accumulate_over_a_shared_list():
    row = [1, 1]

    def write():
        row[1] = 5

    assert parallel(lambda: list(itertools.accumulate(row)), write)[0] == [1, 2]


@fails
def groupby_invalidates_its_groups():
    groups = itertools.groupby("aab")
    _, first = next(groups)
    got = parallel(lambda: list(first), lambda: next(groups)[0])
    assert got[0] == ["a", "a"]


@fails
def tee_copies_share_a_source():
    source = iter([1, 2, 3])
    a, _ = itertools.tee(source)
    assert parallel(lambda: next(a), lambda: next(source)) == [1, 2]


@fails
def takewhile_and_the_rest():
    source = iter([1, 2, 9])
    small = itertools.takewhile(lambda x: x < 5, source)
    assert parallel(lambda: list(small), lambda: next(source, None))[0] == [1, 2]


@fails
def two_argument_iter():
    left = [3, 2, 1]
    calls = iter(left.pop, 3)
    assert parallel(lambda: list(calls), lambda: left.append(7))[0] == [1, 2]


@fails
def map_object_shared():
    doubled = map(lambda x: 2 * x, [1, 2])
    assert parallel(lambda: next(doubled), lambda: next(doubled)) == [2, 4]


@fails
def filter_reads_shared_threshold():
    limit = [0]

    def write():
        limit[0] = 10

    assert parallel(lambda: list(filter(lambda x: x > limit[0], [1, 2])), write)[0] in ([1, 2], [])


@fails
def generator_closed_by_another():
    def numbers():
        yield 1
        yield 2

    g = numbers()
    assert parallel(lambda: next(g, None), g.close)[0] == 1


@fails
def generator_send_counts():
    def counter():
        n = 0
        while True:
            n += yield n

    g = counter()
    next(g)
    assert parallel(lambda: g.send(1), lambda: g.send(2)) == [1, 3]


@fails
def generator_throw_ends_it():
    def numbers():
        with contextlib.suppress(KeyError):
            yield 1
        yield 2

    g = numbers()
    next(g)
    assert parallel(lambda: next(g, None), lambda: g.throw(KeyError))[1] == 2


@fails
def generator_finally_writes():
    log = []

    def numbers():
        try:
            yield 1
        finally:
            log.append("end")

    g = numbers()
    next(g)
    assert parallel(lambda: list(log), g.close)[0] == []


@fails
def generator_expression_is_lazy():
    row = [1, 2]
    squares = (x * x for x in row)
    assert parallel(lambda: sum(squares), lambda: row.append(3))[0] == 5


@fails
def generator_running_flag():
    box = [0]

    def numbers():
        box[0] = 1
        yield 1
        box[0] = 0

    g = numbers()
    assert not parallel(lambda: g.gi_running, lambda: next(g))[0]


@fails
def yield_from_shared_list():
    row = [1]

    def inner():
        yield from row

    assert parallel(lambda: list(inner()), lambda: row.append(2))[0] == [1]


@fails
def coroutine_sent_twice():
    async def work():
        return 1

    c = work()

    def run():
        try:
            c.send(None)
        except StopIteration as stop:
            return stop.value

    assert parallel(run, run)[0] == 1


@fails
def comprehension_over_a_changing_dict():
    d = {1: 1}

    def insert():
        d[2] = 2

    assert parallel(lambda: [k for k in d], insert)[0]


@fails
def comprehension_over_a_changing_list():
    row = [1, 2]
    assert parallel(lambda: [x for x in row], lambda: row.insert(0, 0))[0] in ([1, 2], [0, 1, 2])


@fails
def sorted_with_a_shared_rank():
    rank = {"a": 1, "b": 2}

    def write():
        rank["a"] = 3

    def both():
        return sorted("ab", key=rank.get) == sorted("ab", key=rank.get)

    assert parallel(both, write)[0]


@fails
def min_with_a_key_that_counts():
    calls = [0]

    def key(x):
        calls[0] += 1
        return x

    parallel(lambda: min([1, 2], key=key), lambda: min([3, 4], key=key))
    assert calls == [4]


@fails
def reduce_over_a_shared_list():
    row = [1, 2]

    def write():
        row[0] = row[1] = 5

    assert parallel(lambda: functools.reduce(operator.add, row), write)[0] in (3, 10)


@fails
def any_stops_early():
    flags = [False, True]
    assert parallel(lambda: any(flags), flags.clear)[0]


@fails
def cmp_to_key_reads_direction():
    sign = [1]

    def compare(a, b):
        return (a - b) * sign[0]

    def turn():
        sign[0] = -1

    ordered = parallel(lambda: sorted([2, 3, 1], key=functools.cmp_to_key(compare)), turn)[0]
    assert ordered in ([1, 2, 3], [3, 2, 1])


@fails
def heappop_from_a_heap_of_one():
    heap = [1]

    def take():
        if heap:
            return heapq.heappop(heap)

    parallel(take, take)


@fails
def heap_merge_is_lazy():
    a, b = [1, 4], [2, 3]
    merged = heapq.merge(a, b)
    next(merged)
    assert parallel(lambda: list(merged), lambda: a.append(9))[0] == [2, 3, 4]


@fails
def nlargest_of_a_changing_heap():
    row = [1, 2]
    assert parallel(lambda: heapq.nlargest(1, row), lambda: row.append(3))[0] == [2]


@fails
def insort_then_index():
    row = [10, 30]

    def reader():
        i = bisect.bisect_left(row, 30)
        return row[i]

    assert parallel(reader, lambda: bisect.insort(row, 20))[0] == 30


@fails
def bisect_key_reads_shared():
    class Item:
        def __init__(self, n):
            self.n = n

    row = [Item(1), Item(5)]

    def write():
        row[0].n = 9
        row[0].n = 1

    assert parallel(lambda: bisect.bisect_left(row, 3, key=lambda i: i.n), write)[0] == 1


@fails
def deque_rotates():
    turns = collections.deque([1, 2, 3])
    assert parallel(lambda: turns[0], turns.rotate)[0] == 1


@fails
def deque_of_bounded_length_drops():
    last = collections.deque([1], maxlen=1)
    assert parallel(lambda: last[0], lambda: last.append(2))[0] == 1


@fails
def deque_iteration_and_append():
    d = collections.deque([1, 2])

    def reader():
        for _ in d:
            pass

    parallel(reader, lambda: d.append(3))


@fails
def counter_update_and_total():
    c = collections.Counter(a=1)

    def move():
        c["a"] -= 1
        c["b"] += 1

    assert parallel(lambda: sum(c.values()), move)[0] == 1


@fails
def counter_addition_in_place():
    c = collections.Counter()

    def add():
        c["a"] += 1

    parallel(add, add)
    assert c["a"] == 2


@fails
def counter_most_common():
    c = collections.Counter("aab")
    assert parallel(lambda: c.most_common(1)[0][0], lambda: c.update("bb"))[0] == "a"


@fails
def ordered_dict_moves_to_end():
    d = collections.OrderedDict(a=1, b=2)
    assert parallel(lambda: next(iter(d)), lambda: d.move_to_end("a"))[0] == "a"


@fails
def ordered_dict_popitem_race():
    d = collections.OrderedDict(a=1)

    def take():
        if d:
            return d.popitem(last=False)

    parallel(take, take)


@fails
def chain_map_sees_the_parent():
    parent = {"a": 1}
    child = collections.ChainMap({}, parent)

    def write():
        parent["a"] = 2

    assert parallel(lambda: child["a"], write)[0] == 1


@fails
def default_dict_of_lists_missing():
    made = []

    def make():
        made.append(len(made))
        return []

    d = collections.defaultdict(make)
    parallel(lambda: d["a"], lambda: d["a"])
    assert len(made) == 1


@fails
def dict_missing_hook():
    class Table(dict):
        def __missing__(self, key):
            self[key] = object()
            return self[key]

    t = Table()
    a, b = parallel(lambda: t["a"], lambda: t["a"])
    assert a is b


@fails
def user_list_and_its_data():
    u = collections.UserList([1])

    def write():
        u.data = []

    assert parallel(lambda: len(u), write)[0] == 1


@fails
def keys_view_is_live():
    d = {"a": 1}
    keys = d.keys()

    def write():
        d["b"] = 1

    assert parallel(lambda: keys <= {"a"}, write)[0]


@fails
def set_intersection_update():
    s = {1, 2}
    assert parallel(lambda: len(s), lambda: s.intersection_update([1]))[0] == 2


@fails
def frozenset_of_a_changing_set():
    s = {1}
    assert parallel(lambda: frozenset(s), lambda: s.add(2))[0] == {1}


@fails
def set_pop_twice():
    s = {1}

    def take():
        if len(s) > 0:
            s.pop()

    parallel(take, take)


@fails
def dict_from_keys_of_shared_list():
    names = ["a"]
    assert parallel(lambda: dict.fromkeys(names), lambda: names.append("b"))[0] == {"a": None}


@fails
def list_multiplied_shares_rows():
    rows = [[0]] * 2

    def add(i):
        rows[i][0] += 1

    parallel(lambda: add(0), lambda: add(1))
    assert rows[0] == [2]


@fails
def bytearray_in_place():
    b = bytearray(b"a")

    def write():
        b.extend(b"b")
        del b[-1]

    assert parallel(lambda: bytes(b), write)[0] == b"a"


@fails
def bytearray_resized_under_a_view():
    b = bytearray(4)

    def look():
        with memoryview(b) as view:
            return view[3]

    parallel(lambda: b.append(1), look)


@fails
def memoryview_released():
    view = memoryview(bytearray(1))
    parallel(lambda: view[0], view.release)


@fails
def memoryview_cast_is_the_same_memory():
    b = bytearray(4)
    whole = memoryview(b).cast("I")

    def write():
        b[0] = 1

    assert parallel(lambda: whole[0], write)[0] == 0


@holds
def iterators_of_ones_own():
    row = [1, 2]

    def read():
        return next(iter(row))

    assert parallel(read, read) == [1, 1]


@holds
def count_never_repeats():
    ids = itertools.count()
    a, b = parallel(lambda: next(ids), lambda: next(ids))
    assert {a, b} == {0, 1}


@holds
def deque_append_is_one_step():
    d = collections.deque()
    parallel(lambda: d.append(1), lambda: d.append(2))
    assert sorted(d) == [1, 2]


@holds
def list_append_is_one_step():
    row = []
    parallel(lambda: row.append(1), lambda: row.append(2))
    assert len(row) == 2


@holds
def dict_pop_with_default_gives_it_to_one():
    d = {"job": 1}
    got = parallel(lambda: d.pop("job", None), lambda: d.pop("job", None))
    assert sorted(got, key=str) == [1, None]


@holds
def set_add_twice():
    s = set()
    parallel(lambda: s.add(1), lambda: s.add(1))
    assert s == {1}


@holds
def swapped_list_is_seen_whole():
    box = [[1, 2]]

    def write():
        box[0] = [3, 4, 5]

    assert parallel(lambda: sum(box[0]), write)[0] in (3, 12)


@holds
def generators_of_ones_own():
    def numbers():
        yield 1
        yield 2

    assert parallel(lambda: list(numbers()), lambda: sum(numbers())) == [[1, 2], 3]


@holds
def sorted_copy_of_constant():
    words = ("b", "a")
    assert parallel(lambda: sorted(words), lambda: sorted(words, reverse=True)) == [["a", "b"], ["b", "a"]]


@holds
def list_of_dict_is_one_step():
    d = {1: 1, 2: 2}

    def insert():
        d[3] = 3

    assert len(parallel(lambda: list(d), insert)[0]) in (2, 3)


@holds
def popleft_guarded_by_except():
    d = collections.deque([1])

    def take():
        try:
            return d.popleft()
        except IndexError:
            return None

    assert parallel(take, take).count(1) == 1


@holds
def counter_of_ones_own_merged_after():
    def count(word):
        return collections.Counter(word)

    a, b = parallel(lambda: count("aab"), lambda: count("b"))
    assert (a + b)["b"] == 2


@holds
def heap_pushes_keep_the_least_first():
    heap = [5]
    parallel(lambda: heapq.heappush(heap, 1), lambda: heapq.heappush(heap, 3))
    assert heap[0] == 1 and len(heap) == 3


@holds
def bytearray_of_separate_bytes():
    b = bytearray(2)

    def write(i):
        b[i] = i + 1

    parallel(lambda: write(0), lambda: write(1))
    assert b == b"\x01\x02"
