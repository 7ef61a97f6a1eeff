"""A search in pieces is the search in one: whatever the splits, the order of the answers, and who dies on the way.

Executions that end where everybody is asleep are not compared: an optimal search has none, one in pieces has some.
"""

from __future__ import annotations

import pickle
import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.programs import Explored, Program, explore, increments, locked_increments, readers
from tests.search.test_brute_force import PROGRAMS
from treadle.search.dpor import Dpor
from treadle.search.pieces import Piece, PieceDpor, PieceResult, SharedTree


@dataclass
class Worker:
    """A process that numbers strands in its own way."""

    program: Program
    indexes: dict[str, int] = field(default_factory=lambda: {"main": 0})

    def run(self, piece: Piece, most: int) -> tuple[Explored, PieceResult]:
        strategy = PieceDpor(pickle.loads(pickle.dumps(piece)), self.indexes)
        found = explore(self.program, strategy, most, indexes=self.indexes)
        done = strategy.exhausted or not strategy.begin()
        return found, pickle.loads(pickle.dumps(strategy.result(done)))


def in_pieces(program: Program, seed: int, workers: int = 3, most: int = 4, deaths: float = 0.1) -> Explored:
    """The whole search, by workers whose answers come late and in any order."""
    chance = random.Random(seed)
    tree, total = SharedTree(), Explored()
    fleet = [Worker(program) for _ in range(workers)]
    flying: list[tuple[Explored, PieceResult]] = []
    while not tree.done:
        while len(flying) < workers and chance.random() < 0.8:
            tree.prepare(chance.randint(0, workers))
            piece = tree.give()
            if piece is None:
                break
            if chance.random() < deaths:
                tree.lose(piece.number)
                continue
            flying.append(chance.choice(fleet).run(piece, chance.randint(1, most)))
        if flying:
            found, result = flying.pop(chance.randrange(len(flying)))
            tree.take(result)
            total.executions += found.executions
            total.outcomes |= found.outcomes
    total.blocked, total.exhausted = tree.blocked, tree.surprise is None
    return total


@settings(max_examples=250)
@given(PROGRAMS, st.integers(0, 1000))
@pytest.mark.slow
def test_each_class_once_and_none_lost(program: Program, seed: int) -> None:
    alone, together = explore(program, Dpor()), in_pieces(program, seed)
    assert together.outcomes == alone.outcomes
    assert together.executions == alone.executions
    assert together.exhausted == alone.exhausted


@pytest.mark.parametrize(
    ("program", "classes"), [(readers(4), 16), (increments(2, 3), 328), (increments(3), 36), (locked_increments(4), 24)]
)
def test_published_counts_in_pieces(program: Program, classes: int) -> None:
    alone = explore(program, Dpor())
    for seed in range(3):
        together = in_pieces(program, seed, most=20)
        assert together.executions == alone.executions == classes
        assert together.outcomes == alone.outcomes


def test_what_a_dead_worker_did_does_not_count() -> None:
    program = increments(3)
    assert in_pieces(program, 1, deaths=0.7).executions == explore(program, Dpor()).executions


def test_a_branch_waits_until_it_is_known_what_its_sibling_does() -> None:
    """Two branches of one node are not given away at once: what is asleep for the second is not known yet."""
    program = increments(3)
    tree, worker = SharedTree(), Worker(program)
    first = tree.give()
    assert first is not None
    tree.take(worker.run(first, 1)[1])
    tree.prepare(3)
    given = []
    while (piece := tree.give()) is not None:
        given.append(piece)
    below = [len(piece.prefix) for piece in given if piece.branch]
    assert len(below) == len(set(below))
