"""Source is parsed rightly while what a program left behind is collected."""

from __future__ import annotations

import ast
import gc

from treadle.core.parsing import parsed

SOURCE = "\n".join(f"def f{number}(a): return [a, {{a: (a, {number})}}]" for number in range(300))


class ParsesAtItsEnd:
    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        ast.parse("((((1 + 1))))")


def test_a_finaliser_that_parses_does_not_come_between() -> None:
    before = gc.get_threshold()
    left = [ParsesAtItsEnd() for _ in range(50)]
    gc.set_threshold(10, 1, 1)
    try:
        del left
        assert len(parsed(SOURCE).body) == 300
        assert gc.isenabled()
    finally:
        gc.set_threshold(*before)
        gc.collect()  # none of them is left for the parsing of others
