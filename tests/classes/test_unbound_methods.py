"""Methods of C types that are called through their class are operations like any other."""

from __future__ import annotations

from typing import Any

import treadle


class Cache(dict[str, int]):
    def take(self, key: str) -> int | None:
        if dict.__contains__(self, key):
            return dict.pop(self, key)
        return None


class Frozen:
    def __init__(self) -> None:
        object.__setattr__(self, "count", 0)

    def add(self) -> None:
        count: Any = object.__getattribute__(self, "count")
        object.__setattr__(self, "count", count + 1)


def test_a_dictionary_method_taken_off_the_class_is_a_point() -> None:
    def test() -> None:
        cache = Cache(a=1)
        treadle.parallel(cache.take, cache.take, args=("a",))

    result = treadle.check(test)
    assert [finding.message for finding in result.findings] == ["KeyError: 'a'"]


def test_attributes_set_through_object_are_points() -> None:
    def test() -> None:
        frozen = Frozen()
        treadle.parallel(frozen.add, frozen.add)
        assert frozen.count == 2  # type: ignore[attr-defined]

    assert treadle.check(test).failed
