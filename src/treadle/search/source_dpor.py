"""Source-DPOR: sleep sets and source sets, without wakeup trees (Abdulla et al., JACM 2017, Algorithm 1).

Explores every trace at least once and may start executions that turn out to be redundant: those end blocked by sleep
sets and are counted apart. It is here to be compared with `dpor`, which never blocks, and because it does not depend on
the order in which siblings are explored: a search in pieces goes by its rule (`pieces.py`).
"""

from __future__ import annotations

from treadle.core.operation import Operation
from treadle.search.dpor import Branch, Dpor, Step, weak_initial
from treadle.search.strategy import ExecutionSeen


class SourceDpor(Dpor):
    """Shares races and happens-before with the optimal search; a race only adds one strand to try."""

    name = "source-dpor"
    redundant = True

    def _all_asleep(self, run: ExecutionSeen, strand: int, op: Operation) -> None:
        """Redundant executions are started and given up: nothing to wonder about."""

    def _reverse(self, earlier: int, later: int, event: tuple[int, Operation], forced: int) -> None:
        initials = initials_of(self._reversal(earlier, later, event, forced))
        node = self.nodes[earlier]
        if any(branch.strand in initials for branch in node.tree) or any(q in initials for q in node.sleep):
            return
        strand, op = next(iter(initials.items()))
        node.tree.append(Branch(strand, op))
        self.reversed.add((self.trace[earlier][1], event[1]))


def initials_of(sequence: list[Step]) -> dict[int, Operation]:
    """The strands whose first step in a sequence nothing in it comes before, with that step."""
    initials: dict[int, Operation] = {}
    for strand, op, _, _ in sequence:
        if strand not in initials and weak_initial(strand, op, sequence) is not None:
            initials[strand] = op
    return initials
