"""A load generator after Gatling: users walk through scenarios against servers, and everything is recorded and reported.

Actors: a controller, an injector, users with a chain of actions each, servers, a data writer, a statistics engine, a
reporter and a terminator; 33 of them with the default load.

Bugs, one at a time:

    flush    the terminator flushes the data writer as soon as all users are done, although records of actions may still
             be on their way (Gatling issue 1019; Listing 1 of the Bita paper)
    count    the terminator learns of users one by one, and takes the session for over when those it knows of are done
    header   the reporter writes rows although it may not have been told the header yet
    late     the statistics engine closes when the session ends, and samples that arrive afterwards find it closed
"""

from dataclasses import dataclass, field

import pykka

USERS = 6
ACTIONS = 3
SERVERS = 3

BUGS = ("flush", "count", "header", "late")


# ---------------------------------------------------------------------- messages


@dataclass(frozen=True)
class Run:
    """Start the whole session."""


@dataclass(frozen=True)
class Inject:
    users: int


@dataclass(frozen=True)
class UserStarted:
    name: str


@dataclass(frozen=True)
class ExpectUsers:
    number: int


@dataclass(frozen=True)
class StartScenario:
    """A user begins."""


@dataclass(frozen=True)
class Execute:
    """An action begins; the session remembers what was answered so far."""

    session: tuple


@dataclass(frozen=True)
class Request:
    path: str
    reply_to: object = field(compare=False)


@dataclass(frozen=True)
class Response:
    path: str
    status: int
    size: int


@dataclass(frozen=True)
class Record:
    user: str
    path: str
    status: int


@dataclass(frozen=True)
class Sample:
    path: str
    size: int


@dataclass(frozen=True)
class ScenarioDone:
    session: tuple


@dataclass(frozen=True)
class UserDone:
    name: str
    records: int


@dataclass(frozen=True)
class Flush:
    """Write everything out. `expected` is how many records there must be, None if nobody counted."""

    expected: object = None


@dataclass(frozen=True)
class Flushed:
    records: int


@dataclass(frozen=True)
class Header:
    columns: tuple


@dataclass(frozen=True)
class Row:
    values: tuple


@dataclass(frozen=True)
class CloseStatistics:
    expected: object = None


@dataclass(frozen=True)
class Statistics:
    samples: int
    bytes: int


@dataclass(frozen=True)
class Terminated:
    records: int


# ---------------------------------------------------------------------- recording


class DataWriter(pykka.ThreadingActor):
    """Collects records and writes them to the reporter when it is flushed."""

    def __init__(self, reporter):
        super().__init__()
        self.reporter = reporter
        self.results = []
        self.pending_flush = None

    def on_receive(self, message):
        if isinstance(message, Record):
            self.results.append(message)
            self._flush_if_complete()
        elif isinstance(message, Flush):
            self.pending_flush = message
            self._flush_if_complete()

    def _flush_if_complete(self):
        flush = self.pending_flush
        if flush is None:
            return
        if flush.expected is not None and len(self.results) < flush.expected:
            return
        self.pending_flush = None
        records, self.results = self.results, None
        for record in records:
            self.reporter.tell(Row((record.user, record.path, record.status)))
        self.terminator.tell(Flushed(len(records)))


class StatisticsEngine(pykka.ThreadingActor):
    """Adds up samples; when the session ends it reports the sums."""

    def __init__(self, reporter):
        super().__init__()
        self.reporter = reporter
        self.sums = {}
        self.samples = 0
        self.closing = None

    def on_receive(self, message):
        if isinstance(message, Sample):
            if self.sums is None:
                raise RuntimeError(f"sample of {message.path} after the statistics were closed")
            self.sums[message.path] = self.sums.get(message.path, 0) + message.size
            self.samples += 1
            self._close_if_complete()
        elif isinstance(message, CloseStatistics):
            self.closing = message
            self._close_if_complete()

    def _close_if_complete(self):
        closing = self.closing
        if closing is None or (closing.expected is not None and self.samples < closing.expected):
            return
        self.closing = None
        total = sum(self.sums.values())
        self.sums = None
        self.controller.tell(Statistics(self.samples, total))


class Reporter(pykka.ThreadingActor):
    """Formats rows under a header."""

    def __init__(self, careful):
        super().__init__()
        self.careful = careful
        self.columns = None
        self.waiting = []
        self.lines = []

    def on_receive(self, message):
        if isinstance(message, Header):
            self.columns = message.columns
            self.lines.append(" | ".join(message.columns))
            for row in self.waiting:
                self._write(row)
            self.waiting = []
        elif isinstance(message, Row):
            if self.columns is None and self.careful:
                self.waiting.append(message)
            else:
                self._write(message)
        elif message == "lines":
            return list(self.lines)

    def _write(self, row):
        cells = [f"{name}={value}" for name, value in zip(self.columns, row.values)]
        self.lines.append(" | ".join(cells))


# ---------------------------------------------------------------------- load


class Server(pykka.ThreadingActor):
    """Answers requests; longer paths give larger pages."""

    def on_receive(self, message):
        if isinstance(message, Request):
            status = 404 if message.path.endswith("missing") else 200
            message.reply_to.tell(Response(message.path, status, 10 * len(message.path)))


class Action(pykka.ThreadingActor):
    """One step of a scenario: sends a request, records the response, and hands the session on."""

    def __init__(self, user_name, path, server, writer, statistics, following):
        super().__init__()
        self.user_name = user_name
        self.path = path
        self.server = server
        self.writer = writer
        self.statistics = statistics
        self.following = following
        self.session = ()

    def on_receive(self, message):
        if isinstance(message, Execute):
            self.session = message.session
            self.server.tell(Request(self.path, self.actor_ref))
        elif isinstance(message, Response):
            self.writer.tell(Record(self.user_name, message.path, message.status))
            self.statistics.tell(Sample(message.path, message.size))
            session = (*self.session, message.status)
            following = self.following
            following.tell(ScenarioDone(session) if following.actor_class is User else Execute(session))


class User(pykka.ThreadingActor):
    """A virtual user: walks through its scenario, then tells the terminator."""

    def __init__(self, name, terminator, servers, writer, statistics):
        super().__init__()
        self.name = name
        self.terminator = terminator
        self.servers = servers
        self.writer = writer
        self.statistics = statistics

    def on_receive(self, message):
        if isinstance(message, StartScenario):
            first = self.actor_ref
            for number in reversed(range(ACTIONS)):
                server = self.servers[number % len(self.servers)]
                path = f"/{self.name}/{number}"
                first = Action.start(self.name, path, server, self.writer, self.statistics, first)
            first.tell(Execute(()))
        elif isinstance(message, ScenarioDone):
            self.terminator.tell(UserDone(self.name, len(message.session)))


class Injector(pykka.ThreadingActor):
    """Makes the users and starts them."""

    def __init__(self, bug, terminator, servers, writer, statistics):
        super().__init__()
        self.bug = bug
        self.terminator = terminator
        self.servers = servers
        self.writer = writer
        self.statistics = statistics

    def on_receive(self, message):
        if isinstance(message, Inject):
            if self.bug != "count":
                self.terminator.ask(ExpectUsers(message.users))
            for number in range(message.users):
                name = f"user{number}"
                user = User.start(name, self.terminator, self.servers, self.writer, self.statistics)
                if self.bug == "count":
                    self.terminator.tell(UserStarted(name))
                user.tell(StartScenario())


# ---------------------------------------------------------------------- ending


class Terminator(pykka.ThreadingActor):
    """Knows when all users are done, and then ends the session in order."""

    def __init__(self, bug, writer, statistics):
        super().__init__()
        self.bug = bug
        self.writer = writer
        self.statistics = statistics
        self.expected = None
        self.active = set()
        self.done = 0
        self.records = 0
        self.over = False

    def on_receive(self, message):
        if isinstance(message, ExpectUsers):
            self.expected = message.number
        elif isinstance(message, UserStarted):
            if self.over:
                raise RuntimeError(f"{message.name} starts after the session was over")
            self.active.add(message.name)
        elif isinstance(message, UserDone):
            self._user_done(message)
        elif isinstance(message, Flushed):
            self.controller.tell(Terminated(message.records))

    def _user_done(self, message):
        self.records += message.records
        self.done += 1
        self.active.discard(message.name)
        over = self.done == self.expected if self.expected is not None else not self.active
        if over and not self.over:
            self.over = True
            counted = None if self.bug == "flush" else self.records
            self.writer.tell(Flush(USERS * ACTIONS if self.bug == "count" else counted))
            sampled = None if self.bug == "late" else self.records
            self.statistics.tell(CloseStatistics(USERS * ACTIONS if self.bug == "count" else sampled))


class Controller(pykka.ThreadingActor):
    """Sets everything up, and says when the session is over."""

    def __init__(self, bug, finished):
        super().__init__()
        self.bug = bug
        self.finished = finished
        self.records = None
        self.statistics = None

    def on_receive(self, message):
        if isinstance(message, Run):
            self._set_up()
        elif isinstance(message, Terminated):
            self.records = message.records
            self._finish_if_complete()
        elif isinstance(message, Statistics):
            self.statistics = message
            self._finish_if_complete()

    def _set_up(self):
        reporter = Reporter.start(self.bug != "header")
        writer = DataWriter.start(reporter)
        statistics = StatisticsEngine.start(reporter)
        terminator = Terminator.start(self.bug, writer, statistics)
        writer._actor_weakref().terminator = terminator
        statistics._actor_weakref().controller = self.actor_ref
        terminator._actor_weakref().controller = self.actor_ref
        reporter.tell(Header(("user", "path", "status")))
        servers = [Server.start() for _ in range(SERVERS)]
        injector = Injector.start(self.bug, terminator, servers, writer, statistics)
        injector.tell(Inject(USERS))

    def _finish_if_complete(self):
        if self.records is not None and self.statistics is not None:
            self.finished.set((self.records, self.statistics.samples))


def run(bug):
    """One session; every user leaves one record per action."""
    finished = pykka.ThreadingFuture()
    try:
        Controller.start(bug, finished).tell(Run())
        assert finished.get() == (USERS * ACTIONS, USERS * ACTIONS)
    finally:
        pykka.ActorRegistry.stop_all()
