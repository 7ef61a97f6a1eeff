"""A trail is replayed with the points that the search had: objects that no second strand touches were none."""

from __future__ import annotations

import treadle
from treadle.core.trail import Trail


class Registry:
    def __init__(self) -> None:
        self.entries: dict[int, str] = {}
        self.log: list[str] = []

    def put(self, who: str) -> None:
        if 1 not in self.entries:
            self.entries.update({1: who})  # one operation on a shared and a private object
            self.log += [who]


def registered_twice() -> None:
    registry = Registry()
    treadle.parallel(lambda: registry.put("a"), lambda: registry.put("b"))
    assert len(registry.log) == 1


def extended_twice() -> None:
    shared: list[int] = []

    def extend() -> None:
        number = len(shared)
        shared.extend([number])

    treadle.parallel(extend, extend)
    assert shared == [0, 1]


def test_a_stop_before_an_operation_on_a_private_object_as_well() -> None:
    for program in (registered_twice, extended_twice):
        (finding,) = treadle.check(program).findings
        (again,) = treadle.replay(finding.replay, program).findings
        assert (again.kind, again.message) == (finding.kind, finding.message)


def test_the_names_of_shared_objects_are_in_the_trail() -> None:
    (finding,) = treadle.check(extended_twice).findings
    assert Trail.parse(finding.replay).shared == frozenset({"list#1"})
