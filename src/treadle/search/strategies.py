"""The strategies by name, and what options each of them takes."""

from __future__ import annotations

import difflib

from treadle.core.errors import UsageError
from treadle.search.auto import Auto
from treadle.search.bounded import Bounded
from treadle.search.dfs import Dfs
from treadle.search.dpor import Dpor
from treadle.search.random_walk import RandomWalk
from treadle.search.source_dpor import SourceDpor
from treadle.search.strategy import Strategy

SYSTEMATIC = ("dpor", "source-dpor", "dfs")
NAMES = ("auto", *SYSTEMATIC, "random")


def make(name: str, *, seed: int = 0, preemptions: int | None = None, delays: int | None = None) -> Strategy:
    """The strategy of that name. Options that it would ignore are errors."""
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, 1)
        hint = f"; did you mean '{near[0]}'?" if near else f"; there are: {', '.join(NAMES)}"
        raise UsageError(f"no strategy '{name}'{hint}")
    for option, bound in (("preemptions", preemptions), ("delays", delays)):
        if bound is not None and bound < 0:
            raise UsageError(f"{option} must be 0 or more, not {bound}")
        if bound is not None and name == "random":
            raise UsageError(
                f"strategy 'random' would ignore {option}; bounds need one of: auto, {', '.join(SYSTEMATIC)}"
            )
    if preemptions is not None and delays is not None:
        raise UsageError("give a bound on preemptions or on delays, not both")
    if preemptions is not None or delays is not None:
        return Bounded("dfs" if name == "dfs" else "dpor", preemptions=preemptions, delays=delays)
    if name == "random":
        return RandomWalk(seed)
    if name == "auto":
        return Auto(seed)
    if name == "dpor":
        return Dpor()
    if name == "source-dpor":
        return SourceDpor()
    return Dfs()
