"""Programs of two threads, one of which may see a call of the other half done where there is no GIL; and such in which
two threads do the same, and something is lost, had twice, or is an error there.

`python -m tests.threads_switching.half_seen` on a free-threaded build runs each with plain threads, in another process,
and writes what was seen to lost/half_seen.json, which `test_without_gil.py` compares with what a search says. A crash
counts as seen.
"""

from __future__ import annotations

import array
import bisect
import functools
import heapq
import io
import itertools
import json
import operator
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter, OrderedDict, UserDict, defaultdict, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.threads_switching.missed_marks import (
    LOOKS,
    MANY,
    MIDDLE,
    Pair,
    a_deque,
    an_ordered_dict,
    change_keys,
    dict_of_numbers,
    numbers,
    rotate,
    rotate_back,
    rotate_by_del,
    rotate_by_value,
    some_bytes,
)

DATA = Path(__file__).parent / "lost" / "half_seen.json"


class Both(NamedTuple):
    """Two threads do `step` once each; `ok` says of the object and of what both got that it could be one by one."""

    make: Callable[[], Any]
    step: Callable[[Any], Any]
    ok: Callable[[Any, list[Any]], Any]


# ---------------------------------------------------------------------- calls that change a container in steps


def then_clear(name: str, items: Callable[[], Any]) -> Callable[[Any], None]:
    def write(container: Any) -> None:
        getattr(container, name)(items())
        container.clear()

    return write


def fill_and_empty(name: str, full: Callable[[], Any], items: Callable[[], Any]) -> Callable[[Any], None]:
    """Three items are taken out again by one call."""

    def write(container: Any) -> None:
        container |= full()
        getattr(container, name)(*items())

    return write


def partly_there(container: Any) -> bool:
    return len(container) in (1, 2)


def three() -> list[int]:
    return [1, 2, 3]


def pairs() -> dict[str, int]:
    return {"a": 1, "b": 2, "c": 3}


_THREE: dict[str, Callable[[], Any]] = {
    "a list": three,
    "a tuple": lambda: (1, 2, 3),
    "a set": lambda: {1, 2, 3},
    "a frozenset": lambda: frozenset((1, 2, 3)),
    "a dict": lambda: {1: 1, 2: 2, 3: 3},
    "a dict's values": lambda: {1: 1, 2: 2, 3: 3}.values(),
    "an iterator": lambda: iter((1, 2, 3)),
    "a range": lambda: range(1, 4),
    "a deque": lambda: deque((1, 2, 3)),
    "bytes": lambda: b"abc",
    "a map": lambda: map(abs, (1, 2, 3)),
}
_PAIRS: dict[str, Callable[[], Any]] = {
    "a dict": pairs,
    "pairs": lambda: [("a", 1), ("b", 2), ("c", 3)],
    "a UserDict": lambda: UserDict(pairs()),
    "an OrderedDict": lambda: OrderedDict(pairs()),
    "a Counter": lambda: Counter(pairs()),
    "a defaultdict": lambda: defaultdict(int, pairs()),
}


def fillings(make: Callable[[], Any], methods: tuple[str, ...], items: dict[str, Callable[[], Any]]) -> dict[str, Pair]:
    kind = type(make()).__name__
    return {
        f"{kind}.{method} of {name}": Pair(make, then_clear(method, some), partly_there)
        for method in methods
        for name, some in items.items()
    }


def list_from_slice(xs: list[int]) -> None:
    xs[:] = [1, 2, 3]
    xs.clear()


def list_from_slice_of_iterator(xs: list[int]) -> None:
    xs[:] = iter((1, 2, 3))
    xs.clear()


def list_times(xs: list[int]) -> None:
    xs *= 3
    del xs[1:]


def list_again(xs: list[int]) -> None:
    xs.__init__((1, 2, 3))  # type: ignore[misc]  # what it does to a list in use


CHANGES: dict[str, Pair] = {
    "list.sort": Pair(numbers, lambda xs: xs.sort(), lambda xs: not xs),
    "list.sort, in": Pair(numbers, lambda xs: xs.sort(), lambda xs: MIDDLE not in xs),
    "list.sort by key": Pair(numbers, lambda xs: xs.sort(key=abs), lambda xs: not xs),
    "list.reverse": Pair(numbers, lambda xs: xs.reverse(), lambda xs: 1 not in xs or MANY - 2 not in xs),
    "list.pop(0), in": Pair(numbers, rotate, lambda xs: MIDDLE not in xs),
    "list.pop(0), index": Pair(numbers, rotate, lambda xs: xs.index(MIDDLE) < 0),
    "list.pop(0), count": Pair(numbers, rotate, lambda xs: xs.count(MIDDLE) == 0),
    "list.pop(0), list": Pair(numbers, rotate, lambda xs: MIDDLE not in list(xs)),
    "list.pop(0), copy": Pair(numbers, rotate, lambda xs: MIDDLE not in xs.copy()),
    "del list[0], in": Pair(numbers, rotate_by_del, lambda xs: MIDDLE not in xs),
    "list.insert": Pair(numbers, rotate_back, lambda xs: MIDDLE not in xs),
    "list.remove": Pair(numbers, rotate_by_value, lambda xs: MIDDLE not in xs),
    "list.__init__": Pair(three, list_again, lambda xs: not xs),
    "list[:] = a list": Pair(list, list_from_slice, partly_there),
    "list[:] = an iterator": Pair(list, list_from_slice_of_iterator, partly_there),
    "list *= 3": Pair(lambda: [1], list_times, lambda xs: len(xs) == 2),
    **fillings(list, ("extend", "__iadd__"), _THREE),
    **fillings(deque, ("extend", "extendleft", "__iadd__"), _THREE),
    **fillings(set, ("update",), _THREE),
    **fillings(set, ("__ior__", "__ixor__"), {name: _THREE[name] for name in ("a set", "a frozenset")}),
    **fillings(set, ("symmetric_difference_update",), _THREE),
    **fillings(dict, ("update", "__ior__"), _PAIRS),
    **fillings(OrderedDict, ("update", "__ior__"), _PAIRS),
    **fillings(Counter, ("update",), {**_PAIRS, **{name: _THREE[name] for name in ("a list", "an iterator")}}),
    "dict.update by name": Pair(dict, lambda d: (d.update(a=1, b=2, c=3), d.clear()), partly_there),
    "set.difference_update of a set": Pair(
        set, fill_and_empty("difference_update", lambda: {1, 2, 3}, lambda: [{1, 2, 3}]), partly_there
    ),
    "set.difference_update of a list": Pair(
        set, fill_and_empty("difference_update", lambda: {1, 2, 3}, lambda: [[1, 2, 3]]), partly_there
    ),
    "set -= a set": Pair(set, fill_and_empty("__isub__", lambda: {1, 2, 3}, lambda: [{1, 2, 3}]), partly_there),
    "set &= a set": Pair(set, fill_and_empty("__iand__", lambda: {1, 2, 3}, lambda: [{4}]), partly_there),
    "set.intersection_update of a list": Pair(
        set, fill_and_empty("intersection_update", lambda: {1, 2, 3}, lambda: [[4]]), partly_there
    ),
    "set.update of a set, not empty": Pair(
        lambda: {9}, lambda s: (s.update({1, 2, 3}), s.intersection_update({9})), lambda s: len(s) in (2, 3)
    ),
    "list of an OrderedDict": Pair(
        lambda: OrderedDict.fromkeys([*range(MANY), 1000]), change_keys, lambda d: max(list(d)) < 1000
    ),
    "list of a defaultdict": Pair(
        lambda: defaultdict(int, dict_of_numbers()), change_keys, lambda d: max(list(d)) < 1000
    ),
    "set.clear": Pair(set, fill_and_empty("clear", lambda: {1, 2, 3}, tuple), partly_there),
    "dict.clear": Pair(dict, fill_and_empty("clear", pairs, tuple), partly_there),
    "list.clear": Pair(list, lambda xs: (xs.extend([1, 2, 3]), xs.clear()), partly_there),
    "deque.rotate, in": Pair(a_deque, lambda d: d.rotate(1), lambda d: 1 not in d),
    "deque.rotate, list": Pair(a_deque, lambda d: d.rotate(1), lambda d: 1 not in list(d)),
    "deque.rotate, len": Pair(a_deque, lambda d: d.rotate(1), lambda d: len(d) != MANY + 1),
    "deque.reverse, in": Pair(a_deque, lambda d: d.reverse(), lambda d: 1 not in d),
    "deque.reverse, list": Pair(a_deque, lambda d: d.reverse(), lambda d: 1 not in list(d)),
    "deque.insert, len": Pair(a_deque, lambda d: (d.insert(MIDDLE, 0), d.pop()), lambda d: len(d) - MANY not in (1, 2)),
    "OrderedDict.move_to_end, list": Pair(
        an_ordered_dict, lambda d: d.move_to_end("a"), lambda d: "a" not in list(d)
    ),
    "OrderedDict.move_to_end, len": Pair(an_ordered_dict, lambda d: d.move_to_end("a"), lambda d: len(d) != MANY + 2),
    "bytearray.extend of bytes": Pair(bytearray, then_clear("extend", lambda: b"abc"), partly_there),
    "bytearray.extend of a list": Pair(bytearray, then_clear("extend", three), partly_there),
    "bytearray += bytes": Pair(bytearray, then_clear("__iadd__", lambda: b"abc"), partly_there),
    "bytearray.reverse": Pair(some_bytes, lambda b: b.reverse(), lambda b: 1 not in b),
    "bytearray.pop(0)": Pair(some_bytes, lambda b: (b.append(1), b.pop(0)), lambda b: 1 not in b[:]),
    "array.extend of a list": Pair(
        lambda: array.array("b"), lambda a: (a.extend([1, 2, 3]), a.__delitem__(slice(None))), partly_there
    ),
    "StringIO.writelines": Pair(
        io.StringIO, lambda f: f.writelines(["ab", "ab"]), lambda f: len(f.getvalue()) % 4 != 0
    ),
}  # fmt: skip

PAIRS = {**LOOKS, **CHANGES}


# ---------------------------------------------------------------------- the same call by both


def different(_: Any, got: list[Any]) -> bool:
    """Both got something, and not the same."""
    return len(got) == 2 and got[0] != got[1]


def one_object(_: Any, got: list[Any]) -> bool:
    return len(got) == 2 and got[0] is got[1]


def both_there(container: Any, got: list[Any]) -> bool:
    return len(got) == 2 == len(container)


def one_of_them(_: Any, got: list[Any]) -> bool:
    """One got it and the other nothing, or an exception."""
    return len([one for one in got if one is not None]) == 1


_ITERATORS: dict[str, Callable[[], Any]] = {
    "a list": lambda: iter([1, 2, 3, 4]),
    "a tuple": lambda: iter((1, 2, 3, 4)),
    "a range": lambda: iter(range(4)),
    "a string": lambda: iter("abcd"),
    "bytes": lambda: iter(b"abcd"),
    "a dict": lambda: iter({1: 1, 2: 2, 3: 3, 4: 4}),
    "a dict's items": lambda: iter({1: 1, 2: 2, 3: 3, 4: 4}.items()),
    "a set": lambda: iter({1, 2, 3, 4}),
    "a deque": lambda: iter(deque((1, 2, 3, 4))),
    "a bytearray": lambda: iter(bytearray(b"abcd")),
    "an array": lambda: iter(array.array("b", [1, 2, 3, 4])),
    "an OrderedDict": lambda: iter(OrderedDict.fromkeys((1, 2, 3, 4))),
    "reversed": lambda: reversed([1, 2, 3, 4]),
    "enumerate": lambda: enumerate([1, 2, 3, 4]),
    "zip": lambda: zip([1, 2, 3, 4], (1, 2, 3, 4), strict=True),
    "map": lambda: map(abs, [1, 2, 3, 4]),
    "filter": lambda: filter(None, [1, 2, 3, 4]),
    "count": lambda: itertools.count(),
    "count by steps": lambda: itertools.count(1, 3),
    "count of floats": lambda: itertools.count(0.5),
    "cycle": lambda: itertools.cycle((1, 2, 3, 4)),
    "chain": lambda: itertools.chain([1, 2], [3, 4]),
    "islice": lambda: itertools.islice([1, 2, 3, 4], 1, None),
    "accumulate": lambda: itertools.accumulate([1, 2, 3, 4]),
    "starmap": lambda: itertools.starmap(max, [(1, 2), (2, 3), (3, 4)]),
    "takewhile": lambda: itertools.takewhile(bool, [1, 2, 3, 4]),
    "dropwhile": lambda: itertools.dropwhile(operator.not_, [1, 2, 3, 4]),
    "compress": lambda: itertools.compress([1, 2, 3, 4], (1, 1, 1, 1)),
    "pairwise": lambda: itertools.pairwise([1, 2, 3, 4]),
    "product": lambda: itertools.product((1, 2), (3, 4)),
    "permutations": lambda: itertools.permutations((1, 2, 3)),
    "combinations": lambda: itertools.combinations((1, 2, 3, 4), 2),
    "combinations with replacement": lambda: itertools.combinations_with_replacement((1, 2, 3, 4), 2),
    "zip_longest": lambda: itertools.zip_longest([1, 2, 3, 4], (1, 2)),
    "a StringIO": lambda: io.StringIO("a\nb\nc\nd\n"),
}


def extended(xs: Any) -> Any:
    xs.extend(iter((1,)))
    return 1


def pushed(heap: list[int]) -> int:
    heapq.heappush(heap, 1)
    return 1


def added(container: Any, method: str, *args: Any) -> int:
    """The result of such a call is None; that there was no exception counts."""
    getattr(container, method)(*args)
    return 1


def call(method: str, *args: Any) -> Callable[[Any], int]:
    return lambda container: added(container, method, *args)


def sorted_list(_: Any) -> list[int]:
    return [3, 1, 2]


def cache_of(function: Any) -> Callable[[], Any]:
    return lambda: functools.lru_cache(maxsize=None)(function)


def bounded_cache_of(function: Any) -> Callable[[], Any]:
    return lambda: functools.lru_cache(maxsize=2)(function)


BOTH: dict[str, Both] = {
    "defaultdict(list)[key]": Both(lambda: defaultdict(list), lambda d: d["a"], one_object),
    "defaultdict(list).__getitem__": Both(lambda: defaultdict(list), lambda d: d.__getitem__("a"), one_object),
    "dict.setdefault": Both(dict, lambda d: d.setdefault("a", []), one_object),
    "OrderedDict.setdefault": Both(OrderedDict, lambda d: d.setdefault("a", []), one_object),
    "dict.pop": Both(lambda: {"a": 1}, lambda d: d.pop("a", None), one_of_them),
    "dict.popitem": Both(lambda: {"a": 1, "b": 2}, lambda d: d.popitem(), different),
    "OrderedDict.pop": Both(lambda: OrderedDict(a=1), lambda d: d.pop("a", None), one_of_them),
    "OrderedDict.popitem": Both(lambda: OrderedDict(a=1, b=2), lambda d: d.popitem(), different),
    "set.pop": Both(lambda: {1, 2}, lambda s: s.pop(), different),
    "set.remove": Both(lambda: {1}, call("remove", 1), one_of_them),
    "list.pop": Both(lambda: [1, 2], lambda xs: xs.pop(), different),
    "list.pop(0)": Both(lambda: [1, 2], lambda xs: xs.pop(0), different),
    "list.remove": Both(lambda: [1], call("remove", 1), one_of_them),
    "list.append": Both(list, call("append", 1), both_there),
    "list.insert": Both(list, call("insert", 0, 1), both_there),
    "list.extend of an iterator": Both(list, extended, both_there),
    "list.sort": Both(lambda: [3, 1, 2], call("sort"), lambda xs, got: len(got) == 2 and xs == [1, 2, 3]),
    "list.reverse": Both(lambda: [*range(50)], call("reverse"), lambda xs, got: xs == [*range(50)]),
    "deque.append": Both(deque, call("append", 1), both_there),
    "deque.popleft": Both(lambda: deque((1, 2)), lambda d: d.popleft(), different),
    "deque.remove": Both(lambda: deque((1,)), call("remove", 1), one_of_them),
    "heappush": Both(list, pushed, both_there),
    "heappop": Both(lambda: [1, 2], heapq.heappop, different),
    "heapreplace": Both(lambda: [1, 2], lambda xs: heapq.heapreplace(xs, 5), different),
    "heappushpop": Both(lambda: [1, 2], lambda xs: heapq.heappushpop(xs, 5), different),
    "insort": Both(list, lambda xs: (bisect.insort(xs, 1), 1)[1], both_there),
    "Counter.update": Both(Counter, call("update", "a"), lambda c, got: c["a"] == 2),
    "Counter.subtract": Both(Counter, call("subtract", "a"), lambda c, got: c["a"] == -2),
    "bytearray.append": Both(bytearray, call("append", 1), both_there),
    "bytearray.extend": Both(bytearray, call("extend", b"a"), both_there),
    "bytearray.pop": Both(lambda: bytearray(b"ab"), lambda b: b.pop(), different),
    "array.append": Both(lambda: array.array("b"), call("append", 1), both_there),
    "array.pop": Both(lambda: array.array("b", [1, 2]), lambda a: a.pop(), different),
    "StringIO.write": Both(io.StringIO, call("write", "a"), lambda f, got: f.getvalue() == "aa"),
    "BytesIO.write": Both(io.BytesIO, call("write", b"a"), lambda f, got: f.getvalue() == b"aa"),
    "StringIO.readline": Both(lambda: io.StringIO("a\nb\n"), lambda f: f.readline(), different),
    "StringIO.read": Both(lambda: io.StringIO("ab"), lambda f: f.read(1), different),
    "lru_cache": Both(cache_of(list), lambda f: f(), one_object),
    "lru_cache with a limit": Both(bounded_cache_of(list), lambda f: f(), one_object),
    "lru_cache's count": Both(cache_of(abs), lambda f: f(1), lambda f, got: sum(f.cache_info()[:2]) == 2),
    "dict.update by both": Both(dict, lambda d: (d.update([("a", 1), ("b", 2)]), 1)[1], both_there),
    "Random.random": Both(lambda: random.Random(1), lambda r: r.random(), different),
    **{f"next of {name}": Both(make, next, different) for name, make in _ITERATORS.items()},
}  # fmt: skip


# ---------------------------------------------------------------------- plain threads


SECONDS = 1.0  # of processors, for one program


def seen_by_threads(name: str) -> bool:
    end = time.process_time() + SECONDS
    return _seen(PAIRS[name], end) if name in PAIRS else _lost(BOTH[name], end)


def _seen(pair: Pair, end: float) -> bool:
    """Does a thread see what another one does half done?"""
    thing = pair.make()
    seen = False

    def write() -> None:
        while not seen and time.process_time() < end:
            pair.write(thing)

    def look() -> None:
        nonlocal seen
        while not seen and time.process_time() < end:
            try:
                seen = bool(pair.look(thing))
            except (ValueError, RuntimeError, IndexError, KeyError):  # changed while it was gone through
                seen = True

    _together(write, look)
    return seen


def _lost(both: Both, end: float) -> bool:
    while time.process_time() < end:
        things = [both.make() for _ in range(5_000)]
        got: list[list[Any]] = [[] for _ in things]
        ready = threading.Barrier(2)

        def run(things: list[Any] = things, got: list[list[Any]] = got, ready: threading.Barrier = ready) -> None:
            ready.wait()
            for thing, results in zip(things, got, strict=True):
                outcome(both, thing, results)

        _together(run, run)
        if not all(both.ok(thing, results) for thing, results in zip(things, got, strict=True)):
            return True
    return False


def outcome(both: Both, thing: Any, results: list[Any]) -> None:
    """What one thread gets is noted; an exception is nothing."""
    try:
        result = both.step(thing)
    except (ValueError, RuntimeError, IndexError, KeyError, StopIteration):
        return
    results.append(result)


def _together(*targets: Callable[[], None]) -> None:
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main(names: list[str]) -> None:
    """In another process, because some crash the interpreter. What is not told of was not tried."""
    build = sys.version.split()[0] + "t"
    table: dict[str, dict[str, bool]] = json.loads(DATA.read_text())
    found = table.setdefault(build, {})
    left = [name for name in names or [*PAIRS, *BOTH] if name not in found]
    again = [sys.executable, "-m", "tests.threads_switching.half_seen", "--try"]
    while left:
        with subprocess.Popen(
            [*again, *left], stdout=subprocess.PIPE, text=True, env={**os.environ, "TREADLE_MANY": "200"}
        ) as child:
            assert child.stdout is not None
            for line in child.stdout:
                said, _, name = line.strip().partition(" ")
                found[name] = said == "seen"
                DATA.write_text(json.dumps(table, indent=1) + "\n")
        left = [name for name in left if name not in found]
        if left and child.returncode:
            found[left[0]] = True


if __name__ == "__main__":
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        sys.exit("half_seen wants a build without a GIL")
    if sys.argv[1:2] == ["--try"]:
        for one in sys.argv[2:]:
            print("seen" if seen_by_threads(one) else "not", one, flush=True)
    else:
        main(sys.argv[1:])
