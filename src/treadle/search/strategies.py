"""The strategies by name, and what options each of them takes. A new one is a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from treadle.core.errors import UsageError
from treadle.core.words import choices
from treadle.search.auto import Auto
from treadle.search.bounded import Bounded
from treadle.search.dfs import Dfs
from treadle.search.dpor import Dpor
from treadle.search.random_walk import RandomWalk
from treadle.search.source_dpor import SourceDpor
from treadle.search.strategy import Strategy

# They come to an end of their own, and can be bounded.
SYSTEMATIC: Final[dict[str, Callable[[], Strategy]]] = {"dpor": Dpor, "source-dpor": SourceDpor, "dfs": Dfs}
# They draw from a seed, and go on as long as they may.
SAMPLING: Final[dict[str, Callable[[int], Strategy]]] = {"random": RandomWalk}
NAMES: Final = ("auto", *SYSTEMATIC, *SAMPLING)


def make(
    name: str,
    *,
    seed: int = 0,
    preemptions: int | None = None,
    delays: int | None = None,
    reduced: Callable[[], Strategy] = Dpor,
) -> Strategy:
    """The strategy of that name. Options that it would ignore are errors. `reduced` is what runs one execution per
    class of the executions at hand: steps of tasks need another one than threads alone."""
    if name not in NAMES:
        raise UsageError(f"no strategy '{name}'{choices(name, NAMES)}")
    for option, bound in (("preemptions", preemptions), ("delays", delays)):
        if bound is not None and bound < 0:
            raise UsageError(f"{option} must be 0 or more, not {bound}")
        if bound is not None and name in SAMPLING:
            raise UsageError(
                f"strategy '{name}' would ignore {option}; bounds need one of: auto, {', '.join(SYSTEMATIC)}"
            )
    if preemptions is not None and delays is not None:
        raise UsageError("give a bound on preemptions or on delays, not both")
    if preemptions is not None or delays is not None:
        return Bounded("dfs" if name == "dfs" else "dpor", preemptions=preemptions, delays=delays)
    if name == "auto":
        return Auto(seed, reduced=reduced())
    if reduced is not Dpor and name in ("dpor", "source-dpor"):
        return reduced()
    return SAMPLING[name](seed) if name in SAMPLING else SYSTEMATIC[name]()
