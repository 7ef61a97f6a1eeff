"""What to say of a test that does something else along the same choices: which line drew another value."""

from __future__ import annotations

from treadle.search.replay import FollowSteps
from treadle.threads.diverged import Diverged
from treadle.threads.draws import draws, noting_calls
from treadle.threads.loom import Loom

# So often a test is run along the same choices to see which values differ, and so many lines are named.
_TIMES = 20
_MOST_NAMED = 3


def not_deterministic(loom: Loom, diverged: Diverged) -> str:
    """What makes a test do something else along the same choices, for who must mend it."""
    drawn = drawn_lines(loom)
    if drawn:
        return drawn
    _locate(loom, diverged)
    return (
        f"{diverged}; something besides the schedule decides what it does (real time, addresses, hash order, files): "
        "make that fixed in the test"
    )


def drawn_lines(loom: Loom) -> str:
    """The lines that draw another value in each execution, in words; empty when none is seen to."""
    with noting_calls(loom.snapshot.knows) as notes:
        _run(loom)
        first = notes.calls
        found: dict[str, None] = {}
        for _ in range(_TIMES):
            notes.clear()
            _run(loom)
            found |= dict.fromkeys(str(call) for call in draws(first, notes.calls))
            if found:
                break
    if not found:
        return ""
    named = list(found)[:_MOST_NAMED]
    return f"{' and '.join(named)} gave{' each' if len(named) > 1 else ''} another value in another execution"


def _run(loom: Loom) -> None:
    follow = FollowSteps([])
    follow.begin()
    loom.run(follow)


def _locate(loom: Loom, diverged: Diverged) -> None:
    """Find where the operation stands that was expected: a few more runs may show it again."""
    for _ in range(5):
        follow = FollowSteps([])
        follow.begin()
        run = loom.run(follow, detail=True)
        for step in run.detail or ():
            if step.strand == diverged.strand and step.performed == diverged.expected:
                diverged.expected_place = f"{step.file}:{step.line}"
                return
