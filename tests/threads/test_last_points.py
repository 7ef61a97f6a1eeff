"""A strand that is ended runs its `finally` blocks, but only so far."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from treadle.threads import strands
from treadle.threads.greenlets import Pool
from treadle.threads.last_points import at_last_point, throw_out
from treadle.threads.strands import STATE
from treadle.threads.unwinding import StrandEnd


def ending(guard: Any = None) -> Any:
    return SimpleNamespace(endings=0, guard=guard, waits=0)


def test_it_is_ended_once_and_then_let_go_on_to_its_end() -> None:
    strand = ending()
    with pytest.raises(StrandEnd):
        at_last_point(strand)
    for _ in range(199):
        at_last_point(strand)
    with pytest.raises(StrandEnd):
        at_last_point(strand)


@pytest.mark.parametrize("free", [False, True])
def test_a_finally_block_does_not_wait(free: bool) -> None:
    strand = ending(SimpleNamespace(ready=lambda kind, strand: free))
    strand.endings = 1
    if free:
        at_last_point(strand)
    else:
        with pytest.raises(StrandEnd):
            at_last_point(strand)


@pytest.mark.skipif(not strands.__file__.endswith(".py"), reason="compiled, only a real strand can be the current one")
def test_a_strand_may_be_ended_before_its_first_step() -> None:
    """As when a signal strikes between its making and its first step: what it raised is not hidden by the end."""
    pool = Pool()
    worker = pool.worker()
    execution = SimpleNamespace(pool=pool, ending=True, left=lambda strand, worker: pool.hub)
    strand: Any = SimpleNamespace(execution=execution, finished=False, greenlet=worker.greenlet, index=1)
    worker.strand = strand
    try:
        throw_out([strand])
    finally:
        STATE.strand = None
    assert strand.finished
    assert worker.strand is None
    assert not worker.greenlet.dead  # it runs others
    pool.free.append(worker)
    pool.close()
