"""What z3 has said about strings: kept for the whole process, and handed on to others that explore the same code.

A question about strings is put to a z3 that knows nothing else (`Solver._refined`), so its answer is the same in every
process and for every path that comes to it. A question is known by the digests of its conditions, which mean the same
everywhere; a model by the names of its unknowns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from treadle.symbolic.expr.node import Const, Expr, Model, Sort, var

_MOST: Final = 20_000
# Seconds: shorter questions are asked again sooner than told.
WORTH_TELLING: Final = 0.02

Told = Callable[[Sequence["KnownAnswer"]], None]


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """Plain data: the question, what was answered, and the values of a model."""

    question: bytes
    answer: str
    values: tuple[tuple[str, str, Const], ...] | None

    def model(self) -> Model | None:
        return None if self.values is None else {var(name, Sort(sort)): value for name, sort, value in self.values}


class KnownAnswers:
    """The answers of this process, oldest first; `told` hears of those that others would rather not ask again."""

    def __init__(self) -> None:
        self._known: dict[bytes, KnownAnswer] = {}
        self.told: Told | None = None
        self.worth_telling = WORTH_TELLING

    def get(self, question: bytes) -> KnownAnswer | None:
        return self._known.get(question)

    def keep(self, question: bytes, answer: str, model: Mapping[Expr, Const] | None, seconds: float) -> None:
        values = None if model is None else tuple((v.args[0], v.sort.value, value) for v, value in model.items())
        known = KnownAnswer(question, answer, values)
        self.learn([known])
        if self.told is not None and seconds >= self.worth_telling:
            self.told([known])

    def forget(self) -> None:
        self._known.clear()

    def learn(self, answers: Iterable[KnownAnswer]) -> None:
        for known in answers:
            self._known[known.question] = known
            if len(self._known) > _MOST:
                del self._known[next(iter(self._known))]


def question_of(conditions: Sequence[Expr], effort: float) -> bytes:
    """The same for the same conditions in the same order, in every process."""
    found = hashlib.blake2b(repr(effort).encode(), digest_size=16)
    for condition in conditions:
        found.update(condition.order[2])
    return found.digest()


KNOWN_ANSWERS: Final = KnownAnswers()
