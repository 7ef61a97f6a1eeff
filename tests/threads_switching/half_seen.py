"""Programs of two threads, one of which may see a call of the other half done where there is no GIL.

`python half_seen.py` on a free-threaded build runs each with plain threads for some seconds and writes how often it was
seen to lost/half_seen.json, which `test_without_gil.py` compares with what a pass says.
"""

from __future__ import annotations

import collections
import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).parent / "lost" / "half_seen.json"
MANY = 200


class Pair(NamedTuple):
    """`write` changes what `make` made, through calls that each keep something true; `look` says that it is not."""

    make: Callable[[], Any]
    write: Callable[[Any], Any]
    look: Callable[[Any], bool]


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


def rotate(xs: list[int]) -> None:
    xs.append(xs[0])
    xs.pop(0)


def rotate_back(xs: list[int]) -> None:
    xs.insert(0, xs[-1])
    xs.pop()


def rotate_by_value(xs: list[int]) -> None:
    first = xs[0]
    xs.append(first)
    xs.remove(first)


def change_a_dict(d: dict[Any, int]) -> None:
    d["z"] = 1
    d["a"] = 0
    d["a"] = 1
    d["z"] = 0


def a_dict() -> dict[Any, int]:
    return {"a": 1, **dict.fromkeys(range(MANY), 0), "z": 0}


def change_a_set(s: set[int]) -> None:
    s.add(1001)
    s.discard(1000)
    s.add(1000)
    s.discard(1001)


def a_set() -> set[int]:
    return {*range(MANY), 1000}


def change_a_deque(d: collections.deque[int]) -> None:
    d.append(1)
    d.popleft()
    d.appendleft(1)
    d.pop()


def a_deque() -> collections.deque[int]:
    return collections.deque(one_at_the_front())


def then_clear(name: str, items: Callable[[], Any]) -> Callable[[Any], None]:
    def write(container: Any) -> None:
        getattr(container, name)(items())
        container.clear()

    return write


def partly_there(container: Any) -> bool:
    return len(container) in (1, 2)


PAIRS = {
    "list.sort": Pair(numbers, lambda xs: xs.sort(), lambda xs: not xs),
    "list.reverse": Pair(numbers, lambda xs: xs.reverse(), lambda xs: 3 not in xs or 150 not in xs),
    "list.pop(0), in": Pair(numbers, rotate, lambda xs: 100 not in xs),
    "list.pop(0), index": Pair(numbers, rotate, lambda xs: xs.index(100) < 0),
    "list.pop(0), count": Pair(numbers, rotate, lambda xs: xs.count(100) == 0),
    "list.insert": Pair(numbers, rotate_back, lambda xs: 100 not in xs),
    "list.remove": Pair(numbers, rotate_by_value, lambda xs: 100 not in xs),
    "list.extend of an iterator": Pair(list, then_clear("extend", lambda: iter((1, 2, 3))), partly_there),
    "list.extend of a list": Pair(list, then_clear("extend", lambda: [1, 2, 3]), partly_there),
    "list.extend of a dict": Pair(list, then_clear("extend", lambda: {1: 1, 2: 2, 3: 3}), partly_there),
    "dict.update of a UserDict": Pair(
        dict, then_clear("update", lambda: collections.UserDict(a=1, b=2, c=3)), partly_there
    ),
    "dict.update of pairs": Pair(dict, then_clear("update", lambda: [("a", 1), ("b", 2), ("c", 3)]), partly_there),
    "dict.update of a dict": Pair(dict, then_clear("update", lambda: {"a": 1, "b": 2, "c": 3}), partly_there),
    "set.update of a list": Pair(set, then_clear("update", lambda: [1, 2, 3]), partly_there),
    "set.update of a set": Pair(set, then_clear("update", lambda: {1, 2, 3}), partly_there),
    "sum of a list": Pair(one_at_the_front, to_the_end_and_back, lambda xs: sum(xs) == 0),
    "any of a list": Pair(one_at_the_front, to_the_end_and_back, lambda xs: not any(xs)),
    "max of a list": Pair(one_at_the_front, to_the_end_and_back, lambda xs: max(xs) == 0),
    "set of a list": Pair(one_at_the_front, to_the_end_and_back, lambda xs: 1 not in set(xs)),
    "deque of a list": Pair(one_at_the_front, to_the_end_and_back, lambda xs: 1 not in collections.deque(xs)),
    "list of a list": Pair(one_at_the_front, to_the_end_and_back, lambda xs: 1 not in list(xs)),
    "tuple of a list": Pair(one_at_the_front, to_the_end_and_back, lambda xs: 1 not in tuple(xs)),
    "sorted of a list": Pair(one_at_the_front, to_the_end_and_back, lambda xs: sorted(xs)[-1] == 0),
    "list of a deque": Pair(a_deque, change_a_deque, lambda d: 1 not in list(d)),
    "deque.count": Pair(a_deque, change_a_deque, lambda d: d.count(1) == 0),
    "in of a deque": Pair(a_deque, change_a_deque, lambda d: 1 not in d),
    "sum of a dict's values": Pair(a_dict, change_a_dict, lambda d: sum(d.values()) == 0),
    "list of a dict's values": Pair(a_dict, change_a_dict, lambda d: 1 not in list(d.values())),
    "dict.copy": Pair(a_dict, change_a_dict, lambda d: 1 not in d.copy().values()),
    "max of a set": Pair(a_set, change_a_set, lambda s: max(s) < 1000),
    "set.copy": Pair(a_set, change_a_set, lambda s: not {1000, 1001} & s.copy()),
    "sorted of a set": Pair(a_set, change_a_set, lambda s: sorted(s)[-1] < 1000),
}


def seen_by_threads(pair: Pair, seconds: float) -> int:
    """How often plain threads see it."""
    thing = pair.make()
    seen = 0
    over = threading.Event()

    def write() -> None:
        while not over.is_set():
            pair.write(thing)

    def look() -> None:
        nonlocal seen
        while not over.is_set():
            try:
                seen += pair.look(thing)
            except (ValueError, RuntimeError):  # not found, or changed while it was gone through
                seen += 1

    threads = [threading.Thread(target=write), threading.Thread(target=look)]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    over.set()
    for thread in threads:
        thread.join()
    return seen


if __name__ == "__main__":
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        sys.exit("half_seen.py wants a build without a GIL")
    found = {name: seen_by_threads(pair, 4.0) for name, pair in PAIRS.items()}
    DATA.write_text(json.dumps({"build": sys.version.split()[0] + "t", "seen": found}, indent=1) + "\n")
