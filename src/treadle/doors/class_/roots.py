"""One way to make the object of a campaign, with all that was found out from there."""

from __future__ import annotations

from dataclasses import dataclass, field

from treadle.classes.assembler import Assembler, Pair
from treadle.classes.choosing import Candidates
from treadle.classes.coverage import Trace
from treadle.classes.sequences import Automaton, SequenceGenerator


@dataclass
class Root:
    """Its own tree of sequences, and the pairs of calls that wait."""

    candidates: Candidates
    automaton: Automaton
    generator: SequenceGenerator
    assembler: Assembler
    covered: set[Trace] = field(default_factory=set)
    queue: list[tuple[float, int, Pair]] = field(default_factory=list)  # pairs that wait, the most promising first
    timed: list[tuple[float, int, Pair]] = field(default_factory=list)  # those that were run, with time beside them
    level: int = 0
    saturated: bool = False
    elsewhere: bool = False  # have pairs been looked for in the states beside the sequences?
    widened: bool = False  # have values of another seed been tried?

    def has_work(self) -> bool:
        waiting = self.queue or self.assembler.spare or self.timed
        return bool(not self.saturated or waiting or not (self.elsewhere and self.widened))

    def drop(self, method: str, call: str) -> bool:
        """Never make a call again; False when its method has no other."""
        mine = self.assembler.siblings.get(method, [])
        kept = [one for one in mine if str(one) != call]
        self.generator.dropped |= set(mine) - set(kept)
        mine[:] = kept
        return bool(kept)
