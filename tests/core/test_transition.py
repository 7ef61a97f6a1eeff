"""Steps of several operations, and what is taken for a constant on the way to a lock."""

from __future__ import annotations

from treadle.core.operation import GUARD_WIDTH, LOOK, MULTI, READ, RELEASE, TRY, WRITE
from treadle.core.transition import Constants, JoinedStep


def test_a_place_that_is_written_after_all_was_no_constant() -> None:
    constants = Constants()
    assert constants.only([(READ, "account", "lock")])
    assert constants.note((WRITE, "account", "balance"))
    assert not constants.note((WRITE, "account", "lock"))
    assert not constants.only([(READ, "account", "lock")])


def test_a_write_of_all_keys_is_one_of_each() -> None:
    constants = Constants()
    constants.only([(READ, "table", "a")])
    assert not constants.note((MULTI, None, ((READ, "table", "b"), (WRITE, "table", None))))
    assert constants.places() == set()


def test_an_attempt_in_vain_is_a_look() -> None:
    step = JoinedStep((READ, "account", "lock"), 0)
    step.add((TRY, "lock", None), 1)
    step.only_looked()
    assert step.operation() == (MULTI, None, ((READ, "account", "lock"), (LOOK, "lock", None)))
    assert step.guards() == 1 << GUARD_WIDTH


def test_which_steps_can_have_begun_like_this() -> None:
    step = JoinedStep((READ, "a", None), 0)
    assert step.begins((MULTI, None, ((READ, "a", None), (RELEASE, "lock", None))))
    assert not step.begins((WRITE, "a", None))
