"""Who walks its callers meets those of the program, and none of Treadle."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

from tests.threads_primitives.running import inside
from treadle.threads.hooks import calls
from treadle.threads.hooks.points import holding
from treadle.threads.primitives.frames import ProgramFrame, frames_of_treadle, getframe
from treadle.threads.strands import current


def asks(depth: int) -> Any:
    return sys._getframe(depth)


def through_treadle(depth: int) -> Any:
    strand = current()
    assert strand is not None
    return holding(strand, [(0, "x", None)], asks, depth)


def test_the_caller_behind_a_hook_is_the_programs() -> None:
    def main() -> tuple[str, str]:
        frame = through_treadle(1)
        return frame.f_code.co_name, frame.f_back.f_code.co_name

    assert inside(main) == ("through_treadle", "main")


def test_a_frame_is_itself_whenever_it_is_asked_for_and_passes_for_one() -> None:
    def main() -> tuple[bool, bool, bool]:
        one: Any = sys._getframe()
        same = sys._getframe()
        return one is same, isinstance(one, types.FrameType), type(one) is ProgramFrame

    assert inside(main) == (True, True, True)


def test_a_stack_that_is_not_deep_enough_is_told_as_by_cpython() -> None:
    def main() -> None:
        with pytest.raises(ValueError, match="call stack is not deep enough"):
            sys._getframe(100)

    inside(main)


def test_outside_an_execution_a_frame_is_a_frame() -> None:
    assert getframe(0) is sys._getframe()


def test_the_frames_between_a_function_and_its_caller_are_counted() -> None:
    assert frames_of_treadle(sys._getframe(), 1) == 0
    hidden = inside(lambda: frames_of_treadle(through_treadle(0)._frame, 2))
    assert hidden == int(calls.__file__.endswith(".py"))  # a hook that is compiled has none
