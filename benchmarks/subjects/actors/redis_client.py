"""A client of a key-value store that reconnects, after Fyrie Redis: requests are pipelined over one connection.

Actors: requesters, a client, a connection, a reconnector, the sockets it makes, a server of several shards, a monitor
and a network that now and then drops a socket; 24 of them.

Bugs, one at a time:

    stale    replies of a socket that was dropped are taken for replies of the new one: requests get each other's
             answers, or there is no request left to answer (issue 13 of the original)
    early    requests that come while there is no socket are handed to nobody (issue 12 of the original)
    resend   the requests that were open when the socket was dropped are not sent again
"""

from collections import deque
from dataclasses import dataclass, field

import pykka

from benchmarks.subjects.actors.shutdown import post

REQUESTERS = 12
SHARDS = 4

BUGS = ("stale", "early", "resend")


# ---------------------------------------------------------------------- messages


@dataclass(frozen=True)
class Go:
    """A requester sets and then gets its key."""


@dataclass(frozen=True)
class Command:
    verb: str
    key: str
    value: object
    reply_to: object = field(compare=False)


@dataclass(frozen=True)
class Answer:
    verb: str
    key: str
    value: object


@dataclass(frozen=True)
class Wire:
    """What goes over a socket: a command without the one who waits for it."""

    verb: str
    key: str
    value: object
    number: int


@dataclass(frozen=True)
class ShardRequest:
    wire: Wire
    socket: object = field(compare=False)


@dataclass(frozen=True)
class Reply:
    epoch: int
    wire: Wire
    value: object


@dataclass(frozen=True)
class Drop:
    """The network drops the socket."""


@dataclass(frozen=True)
class Lost:
    epoch: int


@dataclass(frozen=True)
class Reconnect:
    epoch: int


@dataclass(frozen=True)
class Connected:
    epoch: int
    socket: object = field(compare=False)


@dataclass(frozen=True)
class Finished:
    name: str


@dataclass(frozen=True)
class Event:
    """For the monitor."""

    name: str


# ---------------------------------------------------------------------- the server's side


class Shard(pykka.ThreadingActor):
    """Holds a part of the keys."""

    def __init__(self):
        super().__init__()
        self.content = {}

    def on_receive(self, message):
        if isinstance(message, ShardRequest):
            wire = message.wire
            if wire.verb == "set":
                self.content[wire.key] = wire.value
                value = "OK"
            else:
                value = self.content.get(wire.key)
            post(message.socket, (wire, value))


class Socket(pykka.ThreadingActor):
    """One connection to the server. Once dropped it passes nothing on."""

    def __init__(self, epoch, connection, shards):
        super().__init__()
        self.epoch = epoch
        self.connection = connection
        self.shards = shards
        self.dropped = False

    def on_receive(self, message):
        if isinstance(message, Drop):
            if not self.dropped:
                self.dropped = True
                post(self.connection, Lost(self.epoch))
        elif isinstance(message, Wire):
            if not self.dropped:
                shard = self.shards[sum(map(ord, message.key)) % len(self.shards)]
                post(shard, ShardRequest(message, self.actor_ref))
        else:
            wire, value = message
            post(self.connection, Reply(self.epoch, wire, value))


# ---------------------------------------------------------------------- the client's side


class Reconnector(pykka.ThreadingActor):
    """Makes a new socket when the old one is lost."""

    def __init__(self, shards):
        super().__init__()
        self.shards = shards

    def on_receive(self, message):
        if isinstance(message, Reconnect):
            socket = Socket.start(message.epoch, self.connection, self.shards)
            post(self.connection, Connected(message.epoch, socket))


class Connection(pykka.ThreadingActor):
    """Sends commands over the socket, and gives replies to those who asked, in the order of asking."""

    def __init__(self, bug, reconnector, monitor):
        super().__init__()
        self.bug = bug
        self.reconnector = reconnector
        self.monitor = monitor
        self.socket = None
        self.epoch = 0
        self.waiting = deque()  # commands that were sent, oldest first
        self.queued = deque()  # commands that wait for a socket
        self.numbers = 0
        self.open = {}  # number of a command -> command

    def on_receive(self, message):
        if isinstance(message, Command):
            self._command(message)
        elif isinstance(message, Reply):
            self._reply(message)
        elif isinstance(message, Lost):
            self._lost(message)
        elif isinstance(message, Connected):
            self._connected(message)

    def _command(self, command):
        if self.socket is None and self.bug != "early":
            self.queued.append(command)
            return
        self._send(command)

    def _send(self, command):
        self.numbers += 1
        self.waiting.append(command)
        self.open[self.numbers] = command
        self.socket.tell(Wire(command.verb, command.key, command.value, self.numbers))

    def _reply(self, reply):
        if self.bug == "stale":
            command = self.waiting.popleft()
        else:
            command = self.open.pop(reply.wire.number, None)
            if command is None:
                return  # answered over another socket, or asked again
            self.waiting.remove(command)
        if command.key != reply.wire.key and self.bug == "stale":
            raise RuntimeError(f"{command.verb} {command.key} gets the answer to {reply.wire.verb} {reply.wire.key}")
        post(command.reply_to, Answer(command.verb, command.key, reply.value))

    def _lost(self, lost):
        if lost.epoch != self.epoch:
            return
        post(self.monitor, Event("lost"))
        self.socket = None
        if self.bug != "resend":
            self.queued.extend(self.waiting)
        self.waiting.clear()
        self.open.clear()
        self.epoch += 1
        post(self.reconnector, Reconnect(self.epoch))

    def _connected(self, connected):
        post(self.monitor, Event("connected"))
        self.socket = connected.socket
        queued, self.queued = self.queued, deque()
        for command in queued:
            self._send(command)


class Client(pykka.ThreadingActor):
    """What requesters see."""

    def __init__(self, connection):
        super().__init__()
        self.connection = connection

    def on_receive(self, message):
        if isinstance(message, Command):
            post(self.connection, message)


class Requester(pykka.ThreadingActor):
    """Sets its key, and gets it back."""

    def __init__(self, name, client, monitor):
        super().__init__()
        self.name = name
        self.client = client
        self.monitor = monitor

    def on_receive(self, message):
        if isinstance(message, Go):
            post(self.client, Command("set", self.name, len(self.name), self.actor_ref))
        elif message.verb == "set":
            assert message.value == "OK", message
            post(self.client, Command("get", self.name, None, self.actor_ref))
        else:
            assert message.value == len(self.name), message
            post(self.monitor, Finished(self.name))


class Monitor(pykka.ThreadingActor):
    """Knows who is done, and what happened to the connection."""

    def __init__(self, expected, finished):
        super().__init__()
        self.expected = expected
        self.finished = finished
        self.done = set()
        self.events = []

    def on_receive(self, message):
        if isinstance(message, Finished):
            self.done.add(message.name)
            if len(self.done) == self.expected:
                self.finished.set(sorted(self.done))
        elif isinstance(message, Event):
            self.events.append(message.name)


class Network(pykka.ThreadingActor):
    """Drops a socket when it is told to."""

    def on_receive(self, message):
        message.tell(Drop())


def run(bug):
    """Every requester gets its own value back, whatever the network does."""
    finished = pykka.ThreadingFuture()
    try:
        monitor = Monitor.start(REQUESTERS, finished)
        shards = [Shard.start() for _ in range(SHARDS)]
        reconnector = Reconnector.start(shards)
        connection = Connection.start(bug, reconnector, monitor)
        reconnector._actor_weakref().connection = connection
        socket = Socket.start(0, connection, shards)
        connection._actor_weakref().socket = socket
        client = Client.start(connection)
        names = ["k" * (number + 1) for number in range(REQUESTERS)]
        requesters = [Requester.start(name, client, monitor) for name in names]
        network = Network.start()
        for requester in requesters:
            requester.tell(Go())
        if bug != "resend":
            network.tell(socket)
        else:
            relay = Relay.start(network)
            relay.tell(socket)
        assert finished.get() == names
    finally:
        while pykka.ActorRegistry.get_all():  # a socket may be made while the others are stopped
            pykka.ActorRegistry.stop_all()


class Relay(pykka.ThreadingActor):
    """A longer way to the network."""

    def __init__(self, to):
        super().__init__()
        self.to = to
        self.hops = 12

    def on_receive(self, message):
        if self.hops:
            self.hops -= 1
            post(self.actor_ref, message)
        else:
            post(self.to, message)
