"""Values of a type from Hypothesis, by seed, that can be written down again."""

from __future__ import annotations

import ast
from typing import Any

from treadle.classes.calls import Value

# Values of one type that are drawn.
_MOST = 2


def drawn(kind: Any, seed: int) -> list[Value]:
    """A few values of a type from Hypothesis that can be written down again; the same for the same seed."""
    try:
        import hypothesis
        from hypothesis import strategies
    except ModuleNotFoundError:
        return []
    found: list[Value] = []

    def take(value: Any) -> None:
        text = repr(value)
        if len(text) > 60 or len(found) >= _MOST:
            return
        try:
            if ast.literal_eval(text) == value:
                found.append(Value(text))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return

    try:
        run = hypothesis.given(strategies.from_type(kind))(take)
        quiet = hypothesis.settings(
            database=None,
            max_examples=8,
            deadline=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        hypothesis.seed(seed)(quiet(run))()
    except Exception:
        return found  # a type that Hypothesis cannot make: the other pools have to do
    return list(dict.fromkeys(found))
