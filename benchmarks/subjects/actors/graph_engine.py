"""A graph engine after Signal/Collect: vertices signal to each other until nothing changes, and a coordinator has to
notice when that is.

Computes the distance of every vertex from a source. Actors: a coordinator, workers, a loader per worker, one vertex per
node of the graph, a tracker that finds out when everything is still, and a collector of the results; 34 of them.

Bugs, one at a time:

    idle     the tracker adds up how many signals were sent and received as it hears of them, and takes equal sums for
             the end, although news of sent ones may be on their way (after issue 58 of the original)
    load     a vertex may be signalled before it has its edges
    collect  the results are taken for complete when every vertex has been reached once, not when values are final
"""

from dataclasses import dataclass, field

import pykka

from benchmarks.subjects.actors.shutdown import post

VERTICES = 20
WORKERS = 4

BUGS = ("idle", "load", "collect")


def make_graph():
    """Edges by vertex, with lengths: a line with two shortcuts, one of them longer than it looks."""
    edges = {number: [(number + 1, 1)] for number in range(VERTICES - 1)}
    edges[VERTICES - 1] = []
    edges[0].append((3, 50))  # quickly there, but a long way: better distances follow
    edges[8].append((12, 2))
    return edges


def distances(edges, source=0):
    """What the engine must find out, computed plainly."""
    best = {source: 0}
    pending = [source]
    while pending:
        here = pending.pop(0)
        for to, length in edges[here]:
            if to not in best or best[here] + length < best[to]:
                best[to] = best[here] + length
                pending.append(to)
    return best


# ---------------------------------------------------------------------- messages


@dataclass(frozen=True)
class Load:
    edges: tuple = field(compare=False)


@dataclass(frozen=True)
class Edges:
    targets: tuple = field(compare=False)


@dataclass(frozen=True)
class Loaded:
    worker: int


@dataclass(frozen=True)
class Start:
    """Signal the source."""


@dataclass(frozen=True)
class Signal:
    distance: int
    number: tuple


@dataclass(frozen=True)
class Sent:
    """A vertex has sent these signals."""

    numbers: tuple


@dataclass(frozen=True)
class Received:
    """A vertex has handled this signal, and caused these by it."""

    number: tuple
    caused: tuple


@dataclass(frozen=True)
class Reached:
    """A vertex has its first distance."""

    vertex: int


@dataclass(frozen=True)
class Still:
    """Nothing is on its way any more."""


@dataclass(frozen=True)
class Collect:
    """Tell the collector your value."""


@dataclass(frozen=True)
class Value:
    vertex: int
    distance: object


@dataclass(frozen=True)
class Register:
    vertices: tuple = field(compare=False)


# ---------------------------------------------------------------------- vertices


class Vertex(pykka.ThreadingActor):
    """One node of the graph. Keeps the shortest distance it has heard of, and signals improvements on."""

    def __init__(self, number, careful, worker, tracker, collector):
        super().__init__()
        self.number = number
        self.careful = careful
        self.worker = worker
        self.tracker = tracker
        self.collector = collector
        self.targets = None
        self.distance = None
        self.sent = 0
        self.early = []

    def on_receive(self, message):
        if isinstance(message, Edges):
            self.targets = message.targets
            early, self.early = self.early, []
            for signal in early:
                self._signal(signal)
        elif isinstance(message, Signal):
            if self.targets is None and self.careful:
                self.early.append(message)
            else:
                self._signal(message)
        elif isinstance(message, Collect):
            post(self.collector, Value(self.number, self.distance))

    def _signal(self, signal):
        numbers = ()
        if self.distance is None:
            post(self.tracker, Reached(self.number))
        if self.distance is None or signal.distance < self.distance:
            self.distance = signal.distance
            numbers = tuple((self.number, self.sent + n) for n in range(len(self.targets)))
            self.sent += len(numbers)
            post(self.tracker, Sent(numbers))
            for (target, length), number in zip(self.targets, numbers):
                post(target, Signal(self.distance + length, number))
        post(self.worker, Received(signal.number, numbers))


class Loader(pykka.ThreadingActor):
    """Gives the vertices of one worker their edges."""

    def __init__(self, worker_number, coordinator, blocking):
        super().__init__()
        self.worker_number = worker_number
        self.coordinator = coordinator
        self.blocking = blocking

    def on_receive(self, message):
        if isinstance(message, Load):
            for vertex, targets in message.edges:
                if self.blocking:
                    vertex.ask(Edges(targets))
                else:
                    vertex.tell(Edges(targets))
            self.coordinator.tell(Loaded(self.worker_number))


class Worker(pykka.ThreadingActor):
    """Looks after some of the vertices, and passes on what they have received."""

    def __init__(self, number, tracker):
        super().__init__()
        self.number = number
        self.tracker = tracker
        self.vertices = ()

    def on_receive(self, message):
        if isinstance(message, Register):
            self.vertices = message.vertices
        elif isinstance(message, Received):
            post(self.tracker, message)
        elif isinstance(message, Collect):
            for vertex in self.vertices:
                post(vertex, Collect())


# ---------------------------------------------------------------------- the end


class Tracker(pykka.ThreadingActor):
    """Finds out when no signal is on its way."""

    def __init__(self, bug):
        super().__init__()
        self.bug = bug
        self.sent_count, self.received_count = 1, 0
        self.sent, self.received = {("source", 0)}, set()
        self.reached = set()
        self.said = False

    def on_receive(self, message):
        if isinstance(message, Sent):
            self.sent_count += len(message.numbers)
        elif isinstance(message, Received):
            self.received_count += 1
            self.received.add(message.number)
            self.sent.update(message.caused)
        elif isinstance(message, Reached):
            self.reached.add(message.vertex)
        if self._is_still() and not self.said:
            self.said = True
            post(self.coordinator, Still())

    def _is_still(self):
        if self.bug == "idle":
            return self.sent_count == self.received_count
        if self.bug == "collect":
            return len(self.reached) == VERTICES
        return self.sent == self.received


class Collector(pykka.ThreadingActor):
    """Gathers the values of all vertices."""

    def __init__(self, expected, result):
        super().__init__()
        self.expected = expected
        self.result = result
        self.values = {}

    def on_receive(self, message):
        if isinstance(message, Value):
            self.values[message.vertex] = message.distance
            if len(self.values) == self.expected:
                self.result.set(dict(self.values))


class Coordinator(pykka.ThreadingActor):
    """Builds the graph, starts the computation, and asks for the results when all is still."""

    def __init__(self, bug, result):
        super().__init__()
        self.bug = bug
        self.result = result
        self.loaded = 0
        self.workers = []
        self.vertices = []

    def on_receive(self, message):
        if isinstance(message, Start):
            self._build()
        elif isinstance(message, Loaded):
            self.loaded += 1
            if self.loaded == 1 and self.bug == "load":
                self._signal_source()
            elif self.loaded == WORKERS and self.bug != "load":
                self._signal_source()
        elif isinstance(message, Still):
            for worker in self.workers:
                post(worker, Collect())

    def _build(self):
        edges = make_graph()
        tracker = Tracker.start(self.bug)
        tracker._actor_weakref().coordinator = self.actor_ref
        collector = Collector.start(VERTICES, self.result)
        careful = self.bug != "load"
        self.workers = [Worker.start(number, tracker) for number in range(WORKERS)]
        self.vertices = [
            Vertex.start(number, careful, self.workers[number % WORKERS], tracker, collector)
            for number in range(VERTICES)
        ]
        for number, worker in enumerate(self.workers):
            own = tuple(self.vertices[number::WORKERS])
            worker.tell(Register(own))
            wired = tuple(
                (self.vertices[vertex], tuple((self.vertices[to], length) for to, length in edges[vertex]))
                for vertex in range(number, VERTICES, WORKERS)
            )
            loader = Loader.start(number, self.actor_ref, self.bug == "idle")
            loader.tell(Load(wired))

    def _signal_source(self):
        self.vertices[0].tell(Signal(0, ("source", 0)))


def run(bug):
    """The distances are those of a plain computation."""
    result = pykka.ThreadingFuture()
    try:
        Coordinator.start(bug, result).tell(Start())
        assert result.get() == distances(make_graph())
    finally:
        pykka.ActorRegistry.stop_all()
