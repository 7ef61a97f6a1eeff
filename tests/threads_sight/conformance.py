"""Pairs of method calls on one object, by two strands: what a search with reduction shows, and what one without shows.

A case is a type, a way to make an object of it in a given state, and two calls. The outcome of an execution is what the
two calls returned or raised, and the object afterwards. `reduced` runs dpor; `everything` runs every schedule with at
most one or two interruptions, without reduction, with points before and after every native call and at every line
(`threads.fine`). `repr` is left out: what keeps it from going round for ever is kept per OS thread, and strands share
one.
"""

from __future__ import annotations

import array
import collections
import csv
import faulthandler
import functools
import io
import itertools
import json
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import treadle
from treadle.search.bounded import Bounded
from treadle.search.dpor import Dpor
from treadle.search.strategy import Strategy
from treadle.threads.fine import fine_points
from treadle.threads.loom import Loom

# One interruption in the short form, two in the long one; a case with more executions is left undecided.
INTERRUPTIONS, MOST = (2, 20_000) if os.environ.get("TREADLE_CONFORMANCE") else (1, 1_000)


class Key:
    """A key whose hash and comparison are code of the program."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.number == other.number

    def __lt__(self, other: Key) -> bool:
        return self.number < other.number

    def __repr__(self) -> str:
        return f"Key({self.number})"


Call = Callable[[Any, Any], Any]  # (object, an element that calls back)

_LIST: dict[str, Call] = {
    "append": lambda o, k: o.append(k),
    "pop": lambda o, k: o.pop(),
    "clear": lambda o, k: o.clear(),
    "remove": lambda o, k: o.remove(k),
    "count": lambda o, k: o.count(k),
    "index": lambda o, k: o.index(k),
    "len": lambda o, k: len(o),
    "extend": lambda o, k: o.extend(x for x in (k,)),
    "get": lambda o, k: o[0],
    "in": lambda o, k: k in o,
    "copy": lambda o, k: list(o.copy()),
    "reverse": lambda o, k: o.reverse(),
}
_ONLY_LIST: dict[str, Call] = {
    "sort": lambda o, k: o.sort(key=lambda x: 0),
    "insert": lambda o, k: o.insert(0, k),
    "set": lambda o, k: o.__setitem__(0, k),
    "iadd": lambda o, k: len(o.__iadd__([k])),
}
_DICT: dict[str, Call] = {
    "set": lambda o, k: o.__setitem__(k, 1),
    "get": lambda o, k: o.get(k),
    "item": lambda o, k: o[k],
    "pop": lambda o, k: o.pop(k, None),
    "setdefault": lambda o, k: o.setdefault(k, 2),
    "clear": lambda o, k: o.clear(),
    "len": lambda o, k: len(o),
    "in": lambda o, k: k in o,
    "update": lambda o, k: o.update({k: 3}),
    "popitem": lambda o, k: o.popitem(),
    "keys": lambda o, k: list(o.keys()),
    "copy": lambda o, k: len(o.copy()),
    "eq": lambda o, k: o == {},
}
_SET: dict[str, Call] = {
    "add": lambda o, k: o.add(k),
    "discard": lambda o, k: o.discard(k),
    "remove": lambda o, k: o.remove(k),
    "pop": lambda o, k: o.pop(),
    "clear": lambda o, k: o.clear(),
    "len": lambda o, k: len(o),
    "in": lambda o, k: k in o,
    "update": lambda o, k: o.update([k]),
    "union": lambda o, k: len(o.union([k])),
    "copy": lambda o, k: len(o.copy()),
    "issubset": lambda o, k: o.issubset([k]),
    "difference_update": lambda o, k: o.difference_update([k]),
}
_ARRAY: dict[str, Call] = {
    "append": lambda o, k: o.append(1),
    "pop": lambda o, k: o.pop(),
    "len": lambda o, k: len(o),
    "get": lambda o, k: o[0],
    "set": lambda o, k: o.__setitem__(0, 7),
    "tolist": lambda o, k: o.tolist(),
    "count": lambda o, k: o.count(1),
    "reverse": lambda o, k: o.reverse(),
    "extend": lambda o, k: o.extend([2, 3]),
}
_TEXT: dict[str, Call] = {
    "write": lambda o, k: o.write("x"),
    "getvalue": lambda o, k: o.getvalue(),
    "seek": lambda o, k: o.seek(0),
    "read": lambda o, k: o.read(),
    "tell": lambda o, k: o.tell(),
    "truncate": lambda o, k: o.truncate(0),
}
_NEXT: dict[str, Call] = {
    "next": lambda o, k: next(o, None),
    "list": lambda o, k: list(itertools.islice(o, 3)),
    "in": lambda o, k: 5 in itertools.islice(o, 2),
}

# Type, numbers of its elements, what one strand calls, what the other one calls (several names with blanks between).
Case = tuple[str, tuple[int, ...], str, str]
Maker = Callable[[list[Any]], Any]
TYPES: dict[str, tuple[Maker, dict[str, Call]]] = {
    "list": (list, _LIST | _ONLY_LIST),
    "deque": (collections.deque, _LIST),
    "dict": (lambda keys: dict.fromkeys(keys, 0), _DICT),
    "OrderedDict": (lambda keys: collections.OrderedDict((key, 0) for key in keys), _DICT),
    "defaultdict": (lambda keys: collections.defaultdict(lambda: 5, dict.fromkeys(keys, 0)), _DICT),
    "Counter": (lambda keys: collections.Counter(keys), _DICT),
    "set": (set, _SET),
    "array": (lambda keys: array.array("i", range(len(keys))), _ARRAY),
    "bytearray": (lambda keys: bytearray(len(keys)), {name: _ARRAY[name] for name in _ARRAY if name != "tolist"}),
    "StringIO": (lambda keys: io.StringIO("a" * len(keys)), _TEXT),
    "list iterator": (lambda keys: iter([1, 2, 3][: len(keys)]), _NEXT),
    "count": (lambda keys: itertools.count(len(keys)), {"next": _NEXT["next"]}),
    "generator": (lambda keys: (x for x in range(len(keys))), _NEXT),
    "zip": (lambda keys: zip([1, 2][: len(keys)], [3, 4], strict=False), _NEXT),
    "map": (lambda keys: map(str, [1, 2][: len(keys)]), _NEXT),
    "csv reader": (lambda keys: csv.reader(str(x) for x in range(len(keys))), _NEXT),
}
# Empty, one element that is equal to the argument, two elements of one hash.
STATES: tuple[tuple[int, ...], ...] = ((), (1,), (2, 1))


def cases(types: dict[str, tuple[Maker, dict[str, Call]]] = TYPES) -> Iterator[tuple[str, tuple[int, ...], str, str]]:
    """(type, state, one call, other call), each unordered pair once."""
    for name, (_, calls) in types.items():
        for state in STATES:
            for one, other in itertools.combinations_with_replacement(calls, 2):
                yield name, state, one, other


# CPython's own follows what was freed when the `__eq__` of a key lets another thread change it (3.11 to 3.13): that the
# interpreter crashes is an outcome, looked for in a process of its own. It need not: so it decides nothing.
_CRASHING = frozenset({"OrderedDict"})
CRASH = "the interpreter crashes"


def in_a_child(run: Callable[[], set[str] | None]) -> set[str] | None:
    """What it shows; only that it crashes, where it does."""
    end, other = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads: those of pytest-xdist, which wait
        child = os.fork()
    if not child:
        try:
            faulthandler.disable()
            shown = run()
            os.write(other, json.dumps(None if shown is None else sorted(shown)).encode())
        finally:
            os._exit(0)
    os.close(other)
    with open(end, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return {CRASH}
    found = json.loads(told)
    return None if found is None else set(found)


def outcomes(
    case: tuple[str, tuple[int, ...], str, str], make_strategy: Callable[[], Strategy], fine: bool
) -> set[str] | None:
    """All outcomes of a case; None when they are not all known."""
    run = functools.partial(_outcomes, case, make_strategy, fine)
    return in_a_child(run) if case[0] in _CRASHING else run()


def _outcomes(
    case: tuple[str, tuple[int, ...], str, str], make_strategy: Callable[[], Strategy], fine: bool
) -> set[str] | None:
    """All outcomes of a case; None when there are too many schedules to run them all, or when the verdict would name
    code that is taken as one step (the methods of Counter that are written in Python)."""
    type_name, state, one, other = case
    make, calls = TYPES[type_name]
    seen: set[str] = set()

    def program() -> None:
        obj = make([Key(number) for number in state])
        argument = Key(1)
        first, second = ([calls[name] for name in names.split()] for names in (one, other))
        results = treadle.parallel(_caught(first, obj, argument), _caught(second, obj, argument))
        seen.add(_outcome(results, obj))

    with Loom(program, source=_outcomes, skip_private=True) as loom:
        if fine:
            with fine_points(loom):
                return seen if _walk(loom, make_strategy, seen) else None
        return seen if _walk(loom, make_strategy, seen) and not loom.assumed else None


def _walk(loom: Loom, make_strategy: Callable[[], Strategy], seen: set[str]) -> bool:
    strategy = make_strategy()
    count = 0
    while strategy.begin():
        run = loom.run(strategy)
        if run.revealed:
            strategy = make_strategy()
            seen.clear()
            continue
        strategy.end(run)
        count += 1
        if count > MOST:
            return False
    return True


def _caught(calls: list[Call], obj: Any, argument: Any) -> Callable[[], str]:
    def caught() -> str:
        results = []
        for call in calls:
            try:
                results.append(repr(call(obj, argument)))
            except (LookupError, ValueError, RuntimeError, TypeError) as error:
                results.append(type(error).__name__)
        return " ".join(results)

    return caught


def _outcome(results: list[str], obj: Any) -> str:
    if isinstance(obj, io.StringIO):
        return f"{results} {obj.getvalue()!r}"
    if hasattr(obj, "__next__"):
        return f"{results} {list(itertools.islice(obj, 4))}"
    if isinstance(obj, collections.defaultdict):
        obj = dict(obj)  # its text holds the address of the function
    return f"{results} {obj!r}"


def reduced(case: Case) -> set[str] | None:
    return outcomes(case, Dpor, False)


def everything(case: Case) -> set[str] | None:
    return outcomes(case, lambda: Bounded("dfs", preemptions=INTERRUPTIONS), True)
