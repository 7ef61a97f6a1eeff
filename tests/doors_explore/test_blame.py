"""A test that does something else along the same choices: the line that drew the value is named, and no other."""

from __future__ import annotations

import os
import random
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import treadle
from treadle import Verdict
from treadle.core.errors import Unsupported


class Counted:
    n = 0


def add(counted: Counted, times: int) -> None:
    for _ in range(times):
        counted.n += 1


def act(drawn: int) -> None:
    """What was drawn decides how often a thread adds."""
    counted = Counted()
    times = 1 + zlib.crc32(str(drawn).encode()) % 3
    treadle.parallel(lambda: add(counted, times), lambda: add(counted, 1))


def from_the_device() -> None:
    with open("/dev/urandom", "rb") as source:
        drawn = source.read(1)[0]  # drawn here
    act(drawn)


def address_as_a_key() -> None:
    table = {id(bytearray()): "x"}  # drawn here
    act(next(iter(table)) // 16 + fresh())


def address_as_a_hash() -> None:
    act(hash(made(Counted())) + fresh())  # drawn here


def address_in_a_text() -> None:
    text = f"{made(Counted())}"  # drawn here
    act(int(text[-6:-1], 16) + fresh())


def address_in_a_formatted_text() -> None:
    text = "%s" % made(Counted())  # drawn here # noqa: UP031
    act(int(text[-6:-1], 16) + fresh())


def order_of_a_set() -> None:
    numbered = [made(Counted()) for _ in range(9)]
    for number, one in enumerate(numbered):
        one.n = number
    for one in set(numbered):  # drawn here
        first = one.n
        break
    act(first)


def alike() -> list[Counted]:
    """Nothing but their addresses tells them apart."""
    return [made(Counted()) for _ in range(9)]


def order_of_a_set_of_objects_that_look_alike() -> None:
    ones = alike()
    some = set(ones)
    for one in some:  # drawn here
        place = place_of(one, ones)
        break
    act(place)


def first_of_a_set() -> None:
    ones = alike()
    some = set(ones)
    first = next(iter(some))  # drawn here
    act(place_of(first, ones))


def any_of_a_set() -> None:
    ones = alike()
    some = set(ones)
    one = some.pop()  # drawn here
    act(place_of(one, ones))


def list_that_takes_in_a_set() -> None:
    ones, line = alike(), list[Counted]()
    line.extend(set(ones))  # drawn here
    act(place_of(line[0], ones))


def sorted_by_address() -> None:
    ones = alike()
    line = list(ones)
    line.sort(key=id)  # drawn here
    act(place_of(line[0], ones))


def least_address() -> None:
    ones = alike()
    least = min(ones, key=id)  # drawn here
    act(place_of(least, ones))


def place_of(one: Counted, ones: list[Counted]) -> int:
    return next(place for place, other in enumerate(ones) if other is one)


NUMBERS = iter(range(1_000_000))


def iterator_that_is_used_up() -> None:
    drawn = next(NUMBERS)  # drawn here
    act(drawn)


def time_of_a_file() -> None:
    descriptor, path = tempfile.mkstemp()
    os.close(descriptor)
    drawn = Path(path).stat().st_mtime_ns // 1009  # drawn here
    os.remove(path)
    act(drawn)


KEPT: list[Any] = []


def made(one: Any) -> Any:
    """Kept for ever, so that no address comes twice."""
    KEPT.append(one)
    return one


def fresh() -> int:
    KEPT.append(bytearray(48))
    return 0


@pytest.mark.parametrize(
    "test",
    [
        from_the_device,
        address_as_a_key,
        address_as_a_hash,
        address_in_a_text,
        address_in_a_formatted_text,
        order_of_a_set,
        order_of_a_set_of_objects_that_look_alike,
        first_of_a_set,
        any_of_a_set,
        list_that_takes_in_a_set,
        sorted_by_address,
        least_address,
        iterator_that_is_used_up,
        time_of_a_file,
    ],
)
def test_the_line_is_named(test: Callable[[], None]) -> None:
    source = Path(__file__).read_text().splitlines()
    first = test.__code__.co_firstlineno
    line = next(number for number in range(first, first + 9) if "# drawn here" in source[number - 1])
    try:
        result = treadle.check(test, executions=40)
    except Unsupported as refused:
        told = str(refused)
    else:
        assert result.verdict is Verdict.CUT
        told = result.reason
    assert f"not deterministic: {__file__}:{line} (" in told
    assert told.count(".py:") == 1


def test_clocks_and_chance_are_the_same_in_every_execution() -> None:
    def test() -> None:
        act(time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 7 + os.getrandom(1)[0])

    assert treadle.check(test).verdict is Verdict.PASSED_EXHAUSTIVE


DRAWING = random.Random()


def test_generators_of_a_module_and_seeds_that_nobody_gave_are_the_same_in_every_execution() -> None:
    def test() -> None:
        random.seed()
        act(DRAWING.getrandbits(9) + random.getrandbits(9))

    assert treadle.check(test).verdict is Verdict.PASSED_EXHAUSTIVE
