"""A reduced search in pieces: many workers, each class of executions still run once.

A trail prefix alone does not split such a search: races inside a subtree add branches above it, and sleep sets depend
on siblings. So whoever coordinates (`SharedTree`) owns the nodes above all pieces, and a worker (`PieceDpor`) owns
those of its piece:

- A piece is a way down from the root (prefix), who is asleep along it, and either one branch that nobody has run yet,
  or a stack of nodes that a worker began and gave back when its time was over.
- A branch starts with all earlier siblings asleep, finished or not. It is given away only when it is known what they
  really do there, which shows when they are first run: what was foretold of them may be less.
- Workers return, for races whose earlier event is above their piece, who could go first in the reversal. The owner adds
  one of them as a branch, unless one of them has been tried there or will be.
- Nothing counts until a worker has given its piece back: a piece that is run again after a death is run as before.

The search has ended when no piece is left and none is being run: what races add comes back with pieces, so nothing is
on its way. The rule is that of source sets (`source_dpor.py`), not that of wakeup trees: which reversals an optimal
search may drop depends on the order of siblings, since a branch that runs beside its earlier sibling misses what that
would have put into its wakeup tree. (Tried: W || R || R || R then loses one of its eight classes.) The price is
executions that end where everybody is asleep; no class is run twice.

Strands are named in what is sent, not numbered: every process numbers them for itself.
"""

from __future__ import annotations

from typing import NamedTuple

from treadle.core.dependency import performed
from treadle.core.operation import Operation
from treadle.search.dpor import Branch, SearchNode
from treadle.search.source_dpor import SourceDpor, initials_of
from treadle.search.strategy import ExecutionSeen

Asleep = dict[str, Operation]
# A strand, and what it does next: a branch that is to be tried.
SentBranch = tuple[str, Operation]
Event = tuple[str, Operation, int]  # who did what, and its guards


class SentNode(NamedTuple):
    """A node of a stack: the first of its branches is being run, but for the last node."""

    sleep: Asleep
    branches: tuple[SentBranch, ...]


class SentReversal(NamedTuple):
    """For a node above the piece: one of these must be tried there."""

    depth: int
    initials: tuple[SentBranch, ...]


class Piece(NamedTuple):
    """What a worker is given."""

    number: int
    prefix: tuple[Event, ...]  # down to the node whose next branch is due
    asleep: tuple[Asleep, ...]  # at the nodes above the piece
    nodes: tuple[SentNode, ...]  # the piece's own nodes; the last one has a branch that is due
    branch: bool  # is the first of the nodes only there to run one branch of it? It belongs to the owner


class PieceResult(NamedTuple):
    """What a worker gives back."""

    number: int
    trace: tuple[Event, ...]  # down to the node whose next branch is due; empty when the piece is done
    nodes: tuple[SentNode, ...]
    first: SentBranch | None  # what the branch that was given turned out to do
    reversals: tuple[SentReversal, ...]
    reversed: frozenset[tuple[Operation, Operation]]
    conflicts: int
    blocked: int
    surprise: tuple[str, Operation, Operation | None] | None


class PieceDpor(SourceDpor):
    """Explores one piece, as far as its worker has time."""

    def __init__(self, piece: Piece, indexes: dict[str, int]) -> None:
        super().__init__()
        self.piece = piece
        self.indexes = indexes
        self.own = len(piece.asleep)  # the depth of the first node that is the piece's own
        self.trace = [(self._index(strand), op) for strand, op, _ in piece.prefix]
        self.guards = [guards for _, _, guards in piece.prefix]
        self.plan = [strand for strand, _ in self.trace]
        self.known = len(self.trace)  # events of the first execution whose races were handled when they were new
        above = [SentNode(sleep, ()) for sleep in piece.asleep[: self.own - piece.branch]]
        self.nodes = [
            SearchNode(
                {self._index(strand): op for strand, op in node.sleep.items()},
                [Branch(self._index(strand), op) for strand, op in node.branches],
            )
            for node in (*above, *piece.nodes)
        ]
        self.outward: dict[SentReversal, None] = {}
        self.first: SentBranch | None = None

    def end(self, run: ExecutionSeen) -> None:
        if self.known:
            self.trace, self.guards = run.trace, run.guards
            for number in range(self.known):
                self._link(number, run, [])
            self.known = self.conflicts = 0
        super().end(run)
        if self.piece.branch and self.first is None and len(run.trace) >= self.own:
            self.first = (self.piece.nodes[0].branches[0][0], self._seen(self.own - 1))

    def _reverse(self, earlier: int, later: int, event: tuple[int, Operation], forced: int) -> None:
        if earlier >= self.own:
            super()._reverse(earlier, later, event, forced)
            return
        initials = initials_of(self._reversal(earlier, later, event, forced))
        if initials.keys() & self.nodes[earlier].sleep.keys():
            return
        names = {index: name for name, index in self.indexes.items()}
        sent = SentReversal(earlier, tuple((names[strand], op) for strand, op in initials.items()))
        self.outward[sent] = None
        self.reversed.add((self.trace[earlier][1], event[1]))

    def result(self, done: bool) -> PieceResult:
        """What there is to give back: after `begin`, which has found the next branch, or that there is none."""
        names = {index: name for name, index in self.indexes.items()}
        events = () if done else zip(self.trace, self.guards, strict=True)
        nodes = () if done else self.nodes[self.own :]
        return PieceResult(
            self.piece.number,
            tuple((names[strand], op, guards) for (strand, op), guards in events),
            tuple(
                SentNode(
                    {names[strand]: op for strand, op in node.sleep.items()},
                    tuple((names[branch.strand], branch.op) for branch in node.tree),
                )
                for node in nodes
            ),
            self.first,
            tuple(self.outward),
            frozenset(self.reversed),
            self.conflicts,
            self.blocked,
            self.surprise,
        )

    def _index(self, strand: str) -> int:
        return self.indexes.setdefault(strand, len(self.indexes))


class OwnedNode:
    """A node above pieces: its branches in their order, those that were given away asleep for the others."""

    __slots__ = ("after", "branches", "depth", "parent", "sleep", "unknown")

    def __init__(
        self, parent: OwnedNode | None, after: Event | None, sleep: Asleep, branches: tuple[SentBranch, ...]
    ) -> None:
        self.parent = parent
        self.after = after  # the event that leads here
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.sleep = sleep
        self.branches = list(branches)
        self.unknown = False  # is there a branch that was given away, and has never come back?

    def way(self) -> list[OwnedNode]:
        """The nodes from the root to this one."""
        nodes: list[OwnedNode] = []
        node: OwnedNode | None = self
        while node is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]


class OpenPiece(NamedTuple):
    """A piece that waits or is being run: below which node, and the way from there."""

    parent: OwnedNode | None
    trace: tuple[Event, ...]  # the events from the parent on
    nodes: tuple[SentNode, ...]
    branch: bool

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth

    @property
    def can_be_split(self) -> bool:
        """Is there more than one way to go on?"""
        return not self.branch and sum(len(node.branches) for node in self.nodes) > len(self.nodes)


class SharedTree:
    """The nodes above all pieces. `give` a piece, `take` its result; `done` when everything was run."""

    def __init__(self) -> None:
        self.open: list[OpenPiece] = [OpenPiece(None, (), (SentNode({}, ()),), False)]
        self.branching: list[OwnedNode] = []  # nodes with branches that nobody was given
        self.running: dict[int, OpenPiece] = {}
        self.numbers = 0
        self.conflicts = 0
        self.blocked = 0
        self.reversed: set[tuple[Operation, Operation]] = set()
        self.surprise: tuple[str, Operation, Operation | None] | None = None

    @property
    def done(self) -> bool:
        return not self.running and not self.open and not self.branching

    def prepare(self, wanted: int) -> None:
        """See to it that so many pieces can be given, as far as what waits can be split."""
        while len(self.open) + sum(not node.unknown for node in self.branching) < wanted:
            piece = min((one for one in self.open if one.can_be_split), key=lambda one: one.depth, default=None)
            if piece is None:
                return
            self.open.remove(piece)
            self._own(piece)

    def give(self) -> Piece | None:
        """The next piece, the highest in the tree first; None when none can be given now."""
        chosen = self._next()
        if chosen is None:
            return None
        self.numbers += 1
        self.running[self.numbers] = chosen
        way = [] if chosen.parent is None else chosen.parent.way()
        prefix = tuple(node.after for node in way if node.after is not None) + chosen.trace
        return Piece(self.numbers, prefix, tuple(dict(node.sleep) for node in way), chosen.nodes, chosen.branch)

    def take(self, result: PieceResult) -> None:
        """A worker has given its piece back."""
        piece = self.running.pop(result.number)
        self.conflicts += result.conflicts
        self.blocked += result.blocked
        self.reversed |= result.reversed
        self.surprise = self.surprise or result.surprise
        if result.nodes:
            self.open.append(OpenPiece(piece.parent, result.trace[piece.depth :], result.nodes, False))
        if piece.parent is None:
            return
        if piece.branch:
            piece.parent.unknown = False
            if result.first is not None:
                strand, op = result.first
                piece.parent.sleep[strand] = op
        way = piece.parent.way()
        for reversal in result.reversals:
            self._add(way[reversal.depth], reversal.initials)

    def lose(self, number: int) -> None:
        """A worker died: what it had is run again."""
        self.open.append(self.running.pop(number))

    def _next(self) -> OpenPiece | None:
        node = min((one for one in self.branching if not one.unknown), key=lambda one: one.depth, default=None)
        place = min(range(len(self.open)), key=lambda at: self.open[at].depth, default=None)
        if place is not None and (node is None or self.open[place].depth <= node.depth):
            return self.open.pop(place)
        return None if node is None else self._hand_out(node)

    def _hand_out(self, node: OwnedNode) -> OpenPiece:
        strand, op = node.branches.pop(0)
        if not node.branches:
            self.branching.remove(node)
        piece = OpenPiece(node, (), (SentNode(dict(node.sleep), ((strand, op),)),), True)
        node.sleep[strand] = op
        node.unknown = True
        return piece

    def _add(self, node: OwnedNode, initials: tuple[SentBranch, ...]) -> None:
        """One of these goes first in an execution that must be run, unless one of them has been tried or will be."""
        tried = node.sleep.keys() | {strand for strand, _ in node.branches}
        if any(strand in tried for strand, _ in initials):
            return
        node.branches.append(initials[0])
        if node not in self.branching:
            self.branching.append(node)

    def _own(self, piece: OpenPiece) -> None:
        """Take the upper nodes of a stack, to the first with branches left: those are pieces, and so is the rest."""
        parent, trace, above = piece.parent, piece.trace, piece.depth  # the trace begins at that depth
        last = len(piece.nodes) - 1
        for place, node in enumerate(piece.nodes):
            depth = place if piece.parent is None else above + 1 + place
            after = trace[depth - 1 - above] if depth else None
            sleep = dict(node.sleep)
            if place != last:
                strand, op, guards = trace[depth - above]
                sleep[strand] = performed(op, guards)
            parent = OwnedNode(parent, after, sleep, node.branches[place != last :])
            if parent.branches:
                self.branching.append(parent)
                if place != last:
                    self.open.append(OpenPiece(parent, trace[depth - above :], piece.nodes[place + 1 :], False))
                return
