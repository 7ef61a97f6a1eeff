"""Whether the caller is the running strand, and what is put back when the execution ends."""

from __future__ import annotations

from types import SimpleNamespace

from tests.threads_primitives.running import execute
from treadle.threads.primitives.inside import at_end, here, put_back
from treadle.threads.strands import current


def test_inside_is_only_who_runs_as_a_strand() -> None:
    seen: list[bool] = []
    execute(lambda: seen.append(here() is current() is not None))
    assert seen == [True]
    assert here() is None


def test_attributes_are_put_back_and_those_that_were_not_there_taken_away() -> None:
    thing = SimpleNamespace(old=1)

    def main() -> None:
        put_back(thing, "old", "new")
        thing.old, thing.new = 2, 3

    execute(main)
    assert vars(thing) == {"old": 1}


def test_what_was_put_in_last_is_taken_out_first() -> None:
    order: list[int] = []

    def main() -> None:
        at_end(lambda: order.append(1))
        at_end(lambda: order.append(2))

    execute(main)
    assert order == [2, 1]
