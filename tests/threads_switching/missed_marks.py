"""A container that always holds a mark, a thread that moves the mark about, and every way in which another thread may
look at the container and miss it where there is no GIL: the programs of `half_seen` that only look."""

from __future__ import annotations

import array
import copy
import functools
import heapq
import io
import itertools
import json
import math
import operator
import os
import pickle
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

# How long containers are: plain threads need time to meet (`half_seen`), a search only steps.
MANY = int(os.environ.get("TREADLE_MANY", "4"))
MIDDLE = MANY // 2
ZEROS = [0] * (MANY + 1)


class Pair(NamedTuple):
    """`write` changes what `make` made, through calls that each keep something true; `look` says that it is not."""

    make: Callable[[], Any]
    write: Callable[[Any], Any]
    look: Callable[[Any], Any]


# ---------------------------------------------------------------------- containers that always hold a mark


def numbers() -> list[int]:
    return list(range(MANY))


def one_at_the_front() -> list[int]:
    return [1] + [0] * MANY


def to_the_end_and_back(xs: Any) -> None:
    """There is always a 1 in it."""
    xs[-1] = 1
    xs[0] = 0
    xs[0] = 1
    xs[-1] = 0


def text_at_the_front() -> list[str]:
    return ["1"] + ["0"] * MANY


def text_to_the_end_and_back(xs: list[str]) -> None:
    xs[-1] = "1"
    xs[0] = "0"
    xs[0] = "1"
    xs[-1] = "0"


def rotate(xs: list[int]) -> None:
    xs.append(xs[0])
    xs.pop(0)


def rotate_by_del(xs: list[int]) -> None:
    xs.append(xs[0])
    del xs[0]


def rotate_back(xs: list[int]) -> None:
    xs.insert(0, xs[-1])
    xs.pop()


def rotate_by_value(xs: list[int]) -> None:
    first = xs[0]
    xs.append(first)
    xs.remove(first)


def change_values(d: dict[Any, int]) -> None:
    """One of the values is always 1."""
    d["z"] = 1
    d["a"] = 0
    d["a"] = 1
    d["z"] = 0


def a_dict() -> dict[str, int]:
    return {"a": 1, **{str(number): 0 for number in range(MANY)}, "z": 0}


def an_ordered_dict() -> OrderedDict[str, int]:
    return OrderedDict(a_dict())


def no_ones() -> dict[str, int]:
    return dict.fromkeys(a_dict(), 0)


NO_ONES = no_ones()


def change_keys(d: dict[int, int]) -> None:
    """1000 or 1001 is always there."""
    d[1001] = 1
    d.pop(1000, None)
    d[1000] = 1
    d.pop(1001, None)


def dict_of_numbers() -> dict[int, int]:
    return dict.fromkeys([*range(MANY), 1000], 0)


def change_a_set(s: set[int]) -> None:
    """1000 or 1001 is always there."""
    s.add(1001)
    s.discard(1000)
    s.add(1000)
    s.discard(1001)


def a_set() -> set[int]:
    return {*range(MANY), 1000}


MARKS = {1000, 1001}
UNMARKED = set(range(MANY))


def change_a_deque(d: deque[int]) -> None:
    d.append(1)
    d.popleft()
    d.appendleft(1)
    d.pop()


def a_deque() -> deque[int]:
    return deque(one_at_the_front())


def some_bytes() -> bytearray:
    return bytearray(one_at_the_front())


def an_array() -> array.array[int]:
    return array.array("b", one_at_the_front())


def into(container: Any, method: str) -> Callable[[Any], Any]:
    """What a container of its own takes in from the shared one."""

    def take(shared: Any) -> Any:
        mine = copy.copy(container)
        taken = getattr(mine, method)(shared)
        return mine if taken is None else taken

    return take


def without(mark: Any, made: Callable[[Any], Any]) -> Callable[[Any], bool]:
    """The mark is not in what is made of the container."""
    return lambda shared: mark not in made(shared)


def arguments(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    return (*args, *kwargs.values())


def unpacked(xs: Any) -> list[Any]:
    first, *rest = xs
    return [first, *rest]


def assigned(xs: Any) -> list[Any]:
    mine: list[Any] = []
    mine[:] = xs
    return mine


def matched(xs: Any) -> list[Any]:
    match xs:
        case [first, *rest]:
            return [first, *rest]
    return []


def merged(d: Any) -> Any:
    mine: dict[Any, Any] = {}
    mine |= d
    return mine


def printed(xs: Any) -> str:
    file = io.StringIO()
    print(xs, file=file)
    return file.getvalue()


# Looks at the items of anything, by which a 1 can be missed that is always there.
_TAKEN: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "sorted": sorted,
    "set": set,
    "frozenset": frozenset,
    "deque": deque,
    "star": lambda xs: [*xs],
    "star in a set": lambda xs: {*xs},
    "star in a call": lambda xs: arguments(*xs),
    "unpacking": unpacked,
    "list.extend": into([], "extend"),
    "list +=": into([], "__iadd__"),
    "set.update": into(set(), "update"),
    "set.union": into(set(), "union"),
    "deque.extend": into(deque(), "extend"),
    "slice assignment": assigned,
    "dict.fromkeys": dict.fromkeys,
    "Counter": Counter,
    "zip": lambda xs: [one for one, _ in zip(xs, itertools.count(), strict=False)],
    "map": lambda xs: list(map(abs, xs)),
    "filter": lambda xs: list(filter(None, xs)),
    "enumerate": lambda xs: [one for _, one in list(enumerate(xs))],
    "chain": lambda xs: list(itertools.chain(xs)),
    "islice": lambda xs: list(itertools.islice(xs, 1000)),
    "nlargest": lambda xs: heapq.nlargest(1, xs),
    "sum": lambda xs: [sum(xs) > 0],
    "max": lambda xs: [max(xs)],
    "max by key": lambda xs: [max(xs, key=abs)],
    "any": lambda xs: [any(xs)],
    "reduce": lambda xs: [functools.reduce(operator.or_, xs)],
    "fsum": lambda xs: [math.fsum(xs) > 0],
    "countOf": lambda xs: [operator.countOf(xs, 1) > 0],
}
_SHOWN: dict[str, Callable[[Any], Any]] = {
    "repr": repr,
    "str": str,
    "f-string": lambda xs: f"{xs}",
    "format": "{}".format,
    "percent": lambda xs: "%s" % (xs,),  # noqa: UP031  # an operator of its own
    "print": printed,
    "json.dumps": json.dumps,
}
_COPIED: dict[str, Callable[[Any], Any]] = {
    "copy": lambda xs: xs.copy(),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda xs: pickle.loads(pickle.dumps(xs)),
}


def looks(
    kind: str, make: Callable[[], Any], write: Callable[[Any], Any], mark: Any, *made: dict[str, Callable[[Any], Any]]
) -> dict[str, Pair]:
    return {
        f"{name} of {kind}": Pair(make, write, without(mark, take)) for table in made for name, take in table.items()
    }


def no_text(xs: Any) -> bool:
    return "1" not in "".join(xs)


LOOKS: dict[str, Pair] = {
    **looks("a list", one_at_the_front, to_the_end_and_back, 1, _TAKEN, _COPIED),
    **looks("a list", one_at_the_front, to_the_end_and_back, "1", _SHOWN),
    **looks(
        "a list",
        one_at_the_front,
        to_the_end_and_back,
        1,
        {
            "slice": lambda xs: xs[:],
            "reversed": lambda xs: list(reversed(xs)),
            "+": lambda xs: xs + [0],
            "*": lambda xs: xs * 2,
            "match": matched,
            "bytes": bytes,
            "bytearray": bytearray,
            "array": functools.partial(array.array, "b"),
            "==": lambda xs: [xs != ZEROS],
            ">": lambda xs: [xs > ZEROS],
            "in": lambda xs: [1 in xs],
            "isdisjoint": lambda xs: [not {1}.isdisjoint(xs)],
            "issuperset": lambda xs: [not {0}.issuperset(xs)],
        },
    ),
    "join of a list": Pair(text_at_the_front, text_to_the_end_and_back, no_text),
    **looks("a dict's values", lambda: a_dict(), change_values, 1, {
        name: functools.partial(lambda take, d: take(d.values()), take) for name, take in _TAKEN.items()
    }),
    **looks("a dict", a_dict, change_values, "1", {"json.dumps": lambda d: json.dumps(list(d.values()))}),
    **looks("a dict's items", a_dict, change_values, 1, {
        "list": lambda d: dict(list(d.items())).values(),
        "sorted": lambda d: dict(sorted(d.items())).values(),
        "dict": lambda d: dict(d.items()).values(),
        "==": lambda d: [d.items() != NO_ONES.items()],
    }),
    **looks("a dict", a_dict, change_values, 1, {
        "in values": lambda d: [1 in d.values()],
        "copy": lambda d: d.copy().values(),
        "copy.copy": lambda d: copy.copy(d).values(),
        "copy.deepcopy": lambda d: copy.deepcopy(d).values(),
        "pickle": lambda d: pickle.loads(pickle.dumps(d)).values(),
        "dict": lambda d: dict(d).values(),
        "star star": lambda d: {**d}.values(),
        "star star in a call": lambda d: arguments(**d),
        "|": lambda d: (d | {}).values(),
        "| on the right": lambda d: ({} | d).values(),
        "|= into another": lambda d: merged(d).values(),
        "update of another": lambda d: into({}, "update")(d).values(),
        "OrderedDict": lambda d: OrderedDict(d).values(),
        "Counter": lambda d: Counter(d).values(),
        "defaultdict": lambda d: defaultdict(int, d).values(),
        "==": lambda d: [d != NO_ONES],
        "max by get": lambda d: [d[max(d, key=d.get)] or max(d.values())],
    }),
    **looks("a dict's keys", dict_of_numbers, change_keys, True, {
        name: functools.partial(lambda take, d: [max(take(d)) >= 1000], take)
        for name, take in _TAKEN.items() if name not in ("filter", "any", "reduce", "fsum", "countOf", "sum")
    }),
    **looks("a dict's keys", dict_of_numbers, change_keys, True, {
        "&": lambda d: [bool(d.keys() & MARKS)],
        "-": lambda d: [bool(d.keys() - UNMARKED)],
        "==": lambda d: [d.keys() != UNMARKED],
        "isdisjoint": lambda d: [not d.keys().isdisjoint(MARKS)],
        "<=": lambda d: [not d.keys() <= UNMARKED],
        "reversed": lambda d: [max(list(reversed(d))) >= 1000],
        "len": lambda d: [len(d) > MANY],
    }),
    **looks("a set", a_set, change_a_set, True, {
        name: functools.partial(lambda take, s: [max(take(s)) >= 1000], take)
        for name, take in _TAKEN.items() if name not in ("filter", "any", "reduce", "fsum", "countOf", "sum")
    }),
    **looks("a set", a_set, change_a_set, True, {
        "copy": lambda s: [bool(MARKS & s.copy())],
        "copy.copy": lambda s: [bool(MARKS & copy.copy(s))],
        "pickle": lambda s: [bool(MARKS & pickle.loads(pickle.dumps(s)))],
        "&": lambda s: [bool(s & MARKS)],
        "& on the right": lambda s: [bool(MARKS & s)],
        "|": lambda s: [max(s | {0}) >= 1000],
        "-": lambda s: [bool(s - UNMARKED)],
        "^": lambda s: [bool(s ^ UNMARKED)],
        "==": lambda s: [s != UNMARKED],
        "<=": lambda s: [not s <= UNMARKED],
        "isdisjoint": lambda s: [not s.isdisjoint(MARKS)],
        "isdisjoint on the right": lambda s: [not MARKS.isdisjoint(s)],
        "intersection of a list": lambda s: [bool(s.intersection([1000, 1001]))],
        "isdisjoint of a list": lambda s: [not s.isdisjoint([1000, 1001])],
        "len": lambda s: [len(s) > MANY],
        "repr": lambda s: ["100" in repr(s)],
    }),
    **looks("a deque", a_deque, change_a_deque, 1, _TAKEN, _COPIED),
    **looks("a deque", a_deque, change_a_deque, "1", {"repr": repr}),
    **looks("a deque", a_deque, change_a_deque, 1, {
        "count": lambda d: [d.count(1) > 0],
        "in": lambda d: [1 in d],
        "index": lambda d: [d.index(1) >= 0],
        "+": lambda d: d + deque([0]),
        "*": lambda d: d * 2,
        "==": lambda d: [d != deque(ZEROS)],
        "len": lambda d: [len(d) > MANY],
    }),
    **looks("an OrderedDict", an_ordered_dict, change_values, 1, {
        "values": lambda d: list(d.values()),
        "copy": lambda d: d.copy().values(),
        "dict": lambda d: dict(d).values(),
        "|": lambda d: (d | {}).values(),
        "==": lambda d: [d != OrderedDict(NO_ONES)],
    }),
    **looks("a bytearray", some_bytes, to_the_end_and_back, 1, {
        "bytes": bytes,
        "copy": lambda b: b.copy(),
        "slice": lambda b: b[:],
        "list": list,
        "+": lambda b: b + b"0",
        "in": lambda b: [1 in b],
        "find": lambda b: [b.find(1) >= 0],
        "count": lambda b: [b.count(1) > 0],
        "sum": lambda b: [sum(b) > 0],
        "==": lambda b: [b != bytes(ZEROS)],
        "decode": lambda b: ["\x01" in b.decode()],
        "join": lambda b: b"".join([b, b"0"]),
    }),
    **looks("an array", an_array, to_the_end_and_back, 1, {
        "list": list,
        "tolist": lambda a: a.tolist(),
        "tobytes": lambda a: a.tobytes(),
        "slice": lambda a: a[:],
        "in": lambda a: [1 in a],
        "count": lambda a: [a.count(1) > 0],
        "sum": lambda a: [sum(a) > 0],
        "==": lambda a: [a != array.array("b", ZEROS)],
    }),
}  # fmt: skip
