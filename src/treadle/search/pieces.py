"""Optimal DPOR in pieces: one search by many workers, each class of executions still run once.

A trail prefix alone does not split the search of `dpor.py`: races inside a subtree insert branches above it, and sleep
sets depend on siblings. So whoever coordinates (`SharedTree`) owns the nodes above all pieces, and a worker
(`PieceDpor`) owns the nodes of its piece:

- A piece is a way down from the root (prefix), what is asleep along it, and either one branch that nobody has run yet,
  or a stack of nodes that a worker began and gave back when its time was over.
- A branch starts with all earlier siblings asleep, finished or not. It is given away only when it is known what they
  really do there, which shows when they are first run: what was foretold of them may be less.
- Workers return the reversals of races for nodes above their piece. The owner inserts each, or drops it if a branch
  that was given away has a weak initial of it: that branch leads to an equivalent execution, whatever its wakeup tree.
- Nothing counts until a worker has given its piece back: a piece that is run again after a death is run as before.

The search has ended when no piece is left and none is being run: reversals come back with pieces, none is on its way.
Strands are named in what is sent, not numbered: every process numbers them for itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from treadle.core.dependency import performed
from treadle.core.operation import Operation
from treadle.search.dpor import Branch, Dpor, SearchNode, Step, insert, weak_initial

Asleep = dict[str, Operation]
# A wakeup tree: of each branch the strand, its operation, and how to go on.
Tree = tuple[tuple[str, Operation, "Tree"], ...]
Event = tuple[str, Operation, int]  # who did what, and its guards


class SentNode(NamedTuple):
    """A node of a stack."""

    sleep: Asleep
    tree: Tree


class SentReversal(NamedTuple):
    """A race the other way round, for a node above the piece: per step the strand, the operation, and which steps of
    the sequence happen before it, as a mask."""

    depth: int
    steps: tuple[tuple[str, Operation, int], ...]


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
    first: Event | None  # what the branch that was given turned out to do
    reversals: tuple[SentReversal, ...]
    reversed: frozenset[tuple[Operation, Operation]]
    conflicts: int
    blocked: int
    surprise: tuple[str, Operation, Operation | None] | None


class PieceDpor(Dpor):
    """Explores one piece, as far as its worker has time."""

    name = "dpor"

    def __init__(self, piece: Piece, indexes: dict[str, int]) -> None:
        super().__init__()
        self.piece = piece
        self.indexes = indexes
        self.own = len(piece.asleep)  # the depth of the first node that is the piece's own
        self.trace = [(self._index(strand), op) for strand, op, _ in piece.prefix]
        self.guards = [guards for _, _, guards in piece.prefix]
        self.plan = [strand for strand, _ in self.trace]
        self.known = len(self.trace)  # events of the first execution whose races were handled when they were new
        above = piece.asleep[: len(piece.asleep) - piece.branch]
        self.nodes = [SearchNode(self._asleep(sleep), []) for sleep in above]
        self.nodes += [SearchNode(self._asleep(node.sleep), self._tree(node.tree)) for node in piece.nodes]
        self.outward: dict[SentReversal, None] = {}
        self.first: Event | None = None

    def end(self, run: Any) -> None:
        if self.known:
            self.trace, self.guards = run.trace, run.guards
            for number in range(self.known):
                self._link(number, run, [])
            self.known = self.conflicts = 0
        super().end(run)
        if self.piece.branch and self.first is None and len(run.trace) >= self.own:
            self.first = (self.piece.nodes[0].tree[0][0], self._seen(self.own - 1), 0)

    def _reverse(self, earlier: int, later: int, event: tuple[int, Operation], forced: int) -> None:
        if earlier >= self.own:
            super()._reverse(earlier, later, event, forced)
            return
        sequence = self._reversal(earlier, later, event, forced)
        taken = self.trace[earlier][0]
        for sleeper, op in self.nodes[earlier].sleep.items():
            if sleeper != taken and weak_initial(sleeper, op, sequence) is not None:
                return
        self.outward[self._reversal_sent(earlier, sequence)] = None
        self.reversed.add((self.trace[earlier][1], event[1]))

    def result(self, done: bool) -> PieceResult:
        """What there is to give back: after `begin`, which has found the next branch, or that there is none."""
        trace, nodes = ((), ()) if done else stack_of(self, self.indexes, self.own)
        return PieceResult(
            self.piece.number,
            trace,
            nodes,
            self.first,
            tuple(self.outward),
            frozenset(self.reversed),
            self.conflicts,
            self.blocked,
            self.surprise,
        )

    def _index(self, strand: str) -> int:
        return self.indexes.setdefault(strand, len(self.indexes))

    def _asleep(self, sleep: Asleep) -> dict[int, Operation]:
        return {self._index(strand): op for strand, op in sleep.items()}

    def _tree(self, tree: Tree) -> list[Branch]:
        return [_branch(self._index(strand), op, self._tree(children)) for strand, op, children in tree]

    def _reversal_sent(self, depth: int, sequence: list[Step]) -> SentReversal:
        names = {index: name for name, index in self.indexes.items()}
        numbers = [number for _, _, _, number in sequence]
        steps = tuple(
            (names[strand], op, sum(((before >> number) & 1) << place for place, number in enumerate(numbers)))
            for strand, op, before, _ in sequence
        )
        return SentReversal(depth, steps)


def _branch(strand: int, op: Operation, children: list[Branch]) -> Branch:
    branch = Branch(strand, op)
    branch.children = children
    return branch


def _sent(node: SearchNode, names: dict[int, str]) -> SentNode:
    def tree(branches: list[Branch]) -> Tree:
        return tuple((names[one.strand], one.op, tree(one.children)) for one in branches)

    return SentNode({names[strand]: op for strand, op in node.sleep.items()}, tree(node.tree))


def stack_of(search: Dpor, indexes: dict[str, int], own: int = 0) -> tuple[tuple[Event, ...], tuple[SentNode, ...]]:
    """The way to the branch that is due in a search that has begun an execution, and the nodes from a depth on."""
    names = {index: name for name, index in indexes.items()}
    events = zip(search.trace, search.guards, strict=True)
    trace = tuple((names[strand], op, guards) for (strand, op), guards in events)
    return trace, tuple(_sent(node, names) for node in search.nodes[own:])


class OwnedNode:
    """A node above pieces: its branches in their order, those that were given away asleep for the others."""

    __slots__ = ("after", "depth", "parent", "sleep", "tree", "unknown", "waiting")

    def __init__(self, parent: OwnedNode | None, after: Event | None, sleep: Asleep, tree: list[Branch]) -> None:
        self.parent = parent
        self.after = after  # the event that leads here
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.sleep = sleep
        self.tree = tree
        self.unknown = ""  # the strand of a branch that was given away, and has never come back
        self.waiting: list[tuple[SentReversal, str]] = []  # reversals that came meanwhile, and from which branch

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


class SharedTree:
    """The nodes above all pieces. `give` a piece, `take` its result; `done` when everything was run."""

    def __init__(self, trace: tuple[Event, ...] = (), nodes: tuple[SentNode, ...] = (SentNode({}, ()),)) -> None:
        """The search from its beginning, or from where one process has come to (`stack_of`)."""
        self.strands: dict[str, int] = {}
        self.open: list[OpenPiece] = [OpenPiece(None, trace, nodes, False)]
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

    @property
    def can_give(self) -> bool:
        return bool(self.open) or any(not node.unknown for node in self.branching)

    def give(self) -> Piece | None:
        """The next piece, the largest first as far as one can tell; None when none can be given now."""
        chosen = self._next()
        if chosen is None:
            return None
        self.numbers += 1
        self.running[self.numbers] = chosen
        way = [] if chosen.parent is None else chosen.parent.way()
        prefix = tuple(node.after for node in way if node.after is not None) + chosen.trace
        asleep = tuple(dict(node.sleep) for node in way)
        return Piece(self.numbers, prefix, asleep, chosen.nodes, chosen.branch)

    def split(self) -> bool:
        """Make two of a waiting piece that can be split; False when none can."""
        for place, piece in enumerate(self.open):
            if self._can_split(piece):
                del self.open[place]
                self._own(piece)
                return True
        return False

    def take(self, result: PieceResult) -> None:
        """A worker has given its piece back."""
        piece = self.running.pop(result.number)
        self.conflicts += result.conflicts
        self.blocked += result.blocked
        self.reversed |= result.reversed
        self.surprise = self.surprise or result.surprise
        if result.nodes:
            above = 0 if piece.parent is None else piece.parent.depth
            self.open.append(OpenPiece(piece.parent, result.trace[above:], result.nodes, False))
        if piece.parent is None:
            return
        if piece.branch:
            self._now_known(piece.parent, result.first)
        way = piece.parent.way()
        below = piece.nodes[0].tree[0][0] if piece.branch else piece.trace[0][0]
        taken = [node.after[0] for node in way if node.after is not None] + [below]
        for reversal in result.reversals:
            self._insert(way[reversal.depth], reversal, taken[reversal.depth])

    def lose(self, number: int) -> None:
        """A worker died: what it had is run again."""
        self.open.append(self.running.pop(number))

    def _next(self) -> OpenPiece | None:
        node = min((one for one in self.branching if not one.unknown), key=lambda one: one.depth, default=None)
        place = min(range(len(self.open)), key=lambda at: self._depth(self.open[at]), default=None)
        if place is not None and (node is None or self._depth(self.open[place]) <= node.depth):
            return self.open.pop(place)
        return None if node is None else self._hand_out(node)

    def _depth(self, piece: OpenPiece) -> int:
        return 0 if piece.parent is None else piece.parent.depth

    def _hand_out(self, node: OwnedNode) -> OpenPiece:
        branch = node.tree.pop(0)
        if not node.tree:
            self.branching.remove(node)
        names = {index: name for name, index in self.strands.items()}
        sent = _sent(SearchNode({}, [branch]), names)
        strand = names[branch.strand]
        piece = OpenPiece(node, (), (SentNode(dict(node.sleep), sent.tree),), True)
        node.sleep[strand] = branch.op
        node.unknown = strand
        return piece

    def _now_known(self, node: OwnedNode, first: Event | None) -> None:
        if first is not None:
            node.sleep[first[0]] = first[1]
        node.unknown = ""
        waiting, node.waiting = node.waiting, []
        for reversal, taken in waiting:
            self._insert(node, reversal, taken)

    def _insert(self, node: OwnedNode, reversal: SentReversal, taken: str) -> None:
        """See to a race that was met below the branch that was taken from this node."""
        if node.unknown:
            node.waiting.append((reversal, taken))
            return
        sequence: list[Step] = [
            (self._index(strand), op, before, place) for place, (strand, op, before) in enumerate(reversal.steps)
        ]
        for strand, op in node.sleep.items():
            if strand != taken and weak_initial(self._index(strand), op, sequence) is not None:
                return
        insert(node.tree, sequence, None)
        if node not in self.branching:
            self.branching.append(node)

    @staticmethod
    def _can_split(piece: OpenPiece) -> bool:
        """Is there more than one way to go on?"""
        return not piece.branch and sum(len(node.tree) for node in piece.nodes) > len(piece.nodes)

    def _own(self, piece: OpenPiece) -> None:
        """Take the upper nodes of a stack, to the first with branches left: those are pieces, and so is the rest."""
        parent, trace = piece.parent, list(piece.trace)
        start = 0 if parent is None else parent.depth + 1
        offset = 0 if parent is None else parent.depth  # the depth at which `trace` begins
        last = len(piece.nodes) - 1
        for place, node in enumerate(piece.nodes):
            depth = start + place
            after = trace[depth - 1 - offset] if depth else None
            pending = [self._grown(one) for one in node.tree[place != last :]]
            sleep = dict(node.sleep)
            if place != last:
                strand, op, guards = trace[depth - offset]
                sleep[strand] = performed(op, guards)
            parent = OwnedNode(parent, after, sleep, pending)
            if pending:
                self.branching.append(parent)
                if place != last:
                    rest = tuple(trace[depth - offset :])
                    self.open.append(OpenPiece(parent, rest, piece.nodes[place + 1 :], False))
                return

    def _grown(self, sent: tuple[str, Operation, Tree]) -> Branch:
        strand, op, children = sent
        return _branch(self._index(strand), op, [self._grown(child) for child in children])

    def _index(self, strand: str) -> int:
        return self.strands.setdefault(strand, len(self.strands))
