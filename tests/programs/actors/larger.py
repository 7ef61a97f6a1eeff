"""Pykka programs of some size, for the schedule door."""

import os
import threading

import pykka

import treadle


class Stage(pykka.ThreadingActor):
    """Passes numbers on, one more each time."""

    def __init__(self, after):
        super().__init__()
        self.after = after

    def on_receive(self, message):
        self.after.tell(("number", message[1] + 1))


class Sink(pykka.ThreadingActor):
    def __init__(self, expected, done):
        super().__init__()
        self.expected, self.done, self.got = expected, done, []

    def on_receive(self, message):
        self.got.append(message[1])
        if len(self.got) == self.expected:
            self.done.set(sorted(self.got))


def test_pipeline():
    done = pykka.ThreadingFuture()
    sink = Sink.start(6, done)
    stages = [Stage.start(sink) for _ in range(3)]
    for number in range(6):
        stages[number % 3].tell(("number", number))
    assert done.get() == [1, 2, 3, 4, 5, 6]
    pykka.ActorRegistry.stop_all()


class Store(pykka.ThreadingActor):
    def __init__(self):
        super().__init__()
        self.content = 0

    def add(self, amount):
        self.content += amount
        return self.content


class Client(pykka.ThreadingActor):
    """Asks the store and waits: nothing else gets in between."""

    def __init__(self, store, sink):
        super().__init__()
        self.store, self.sink = store, sink

    def on_receive(self, message):
        self.store.add(message[1]).get()
        self.sink.tell(("done", self.store.add(0).get() > 0))


def test_nested_asks():
    done = pykka.ThreadingFuture()
    sink = Sink.start(4, done)
    store = Store.start().proxy()
    clients = [Client.start(store, sink) for _ in range(2)]
    for number in range(4):
        clients[number % 2].tell(("add", number + 1))
    assert done.get() == [True] * 4
    assert store.content.get() == 10
    pykka.ActorRegistry.stop_all()


class Node(pykka.ThreadingActor):
    after = None

    def __init__(self, sink):
        super().__init__()
        self.sink = sink

    def on_receive(self, message):
        kind, hops = message
        if kind == "join":
            self.after = hops
        elif hops:
            self.after.tell(("token", hops - 1))
        else:
            self.sink.tell(("home", 1))


def test_relay_ring():
    done = pykka.ThreadingFuture()
    sink = Sink.start(3, done)
    nodes = [Node.start(sink) for _ in range(3)]
    for number, node in enumerate(nodes):
        node.ask(("join", nodes[(number + 1) % 3]))
    for node in nodes:
        node.tell(("token", 2))
    assert done.get() == [1, 1, 1]
    pykka.ActorRegistry.stop_all()


class Telling(pykka.ThreadingActor):
    def on_receive(self, message):
        if message == "close":
            treadle.handlers_changed()


def test_tells_of_its_handlers():
    actor = Telling.start()
    threads = [threading.Thread(target=actor.tell, args=(word,)) for word in ("use", "close")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    actor.stop()


class Moody(pykka.ThreadingActor):
    mode = "open"

    def on_receive(self, message):
        if message == "close":
            self.mode = "closed"


def test_mode():
    actor = Moody.start()
    threads = [threading.Thread(target=actor.tell, args=(word,)) for word in ("use", "close")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    actor.stop()


class Sender(pykka.ThreadingActor):
    def __init__(self, to):
        super().__init__()
        self.to = to

    def on_receive(self, message):
        self.to.tell(message)


class Doors(pykka.ThreadingActor):
    """Only when b comes before a does it open a second pair of doors, and there d must not come before c."""

    def __init__(self, done):
        super().__init__()
        self.done, self.seen, self.helpers = done, [], []

    def on_receive(self, message):
        self.seen.append(message)
        if self.seen == ["b", "a"]:
            for word in "cd":
                helper = Sender.start(self.actor_ref)
                helper.tell(word)
        elif len(self.seen) == 2 or len(self.seen) == 4:
            self.done.set(None)
        if self.seen[2:] == ["d"]:
            raise RuntimeError("behind the second door")


def test_two_doors():
    done = pykka.ThreadingFuture()
    doors = Doors.start(done)
    for word in "ab":
        Sender.start(doors).tell(word)
    done.get(timeout=1)
    pykka.ActorRegistry.stop_all()


class Quiet(pykka.ThreadingActor):
    def on_receive(self, message):
        pass


def test_runs_differ():
    """Something that outlives an execution decides what is sent."""
    runs = int(os.environ.get("TREADLE_TEST_RUNS", "0")) + 1
    os.environ["TREADLE_TEST_RUNS"] = str(runs)
    quiet = Quiet.start()
    senders = [Sender.start(quiet) for _ in range(3)]
    for sender in senders:
        sender.tell(f"message {runs % 2}")
    for sender in senders:
        sender.ask("last")
    pykka.ActorRegistry.stop_all()


class Adding(pykka.ThreadingActor):
    """Adds to a list that it was given, and that others have as well."""

    def __init__(self, totals):
        super().__init__()
        self.totals = totals

    def on_receive(self, message):
        self.totals["sum"] = self.totals["sum"] + message


def test_shared_totals():
    totals = {"sum": 0}
    actors = [Adding.start(totals) for _ in range(2)]
    for number, actor in enumerate(actors):
        actor.tell(number)
    pykka.ActorRegistry.stop_all()


def test_own_totals():
    actors = [Adding.start({"sum": 0}) for _ in range(2)]
    for number, actor in enumerate(actors):
        actor.tell(number)
    pykka.ActorRegistry.stop_all()


def test_timer():
    """A timer is a sender of its own; its time is virtual."""
    actor = Quiet.start()
    timer = threading.Timer(5, lambda: actor.tell("tick"))
    timer.start()
    actor.tell("first")
    timer.join()
    actor.stop()
