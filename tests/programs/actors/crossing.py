"""Senders whose messages cross: each returns what its two receivers got, in order."""

import pykka


class Receiver(pykka.ThreadingActor):
    def __init__(self):
        super().__init__()
        self.got = []

    def on_receive(self, message):
        if message == "?":
            return "".join(self.got)
        self.got.append(message)


class Sender(pykka.ThreadingActor):
    """Sends what it is told to: pairs of a receiver's number and a message, or of another sender and a message."""

    def __init__(self, sends, to):
        super().__init__()
        self.sends, self.to = sends, to

    def on_receive(self, message):
        for number, what in self.sends:
            self.to[number].tell(what)


def run(programs):
    """Each program is the list of what one sender sends; a receiver number of 2 wakes the last sender."""
    receivers = [Receiver.start(), Receiver.start()]
    last = Sender.start(programs[-1], receivers)
    senders = [Sender.start(sends, [*receivers, last]) for sends in programs[:-1]]
    for sender in senders:
        sender.tell("go")
    for sender in senders:
        sender.stop()
    last.stop()
    outcome = tuple(receiver.ask("?") for receiver in receivers)
    for receiver in receivers:
        receiver.stop()
    return outcome


def test_crossing():
    return run([[(0, "a"), (1, "b")], [(1, "c"), (0, "d")], []])


def test_forwarded():
    return run([[(0, "a"), (2, "go"), (1, "b")], [(1, "c"), (0, "d")], [(0, "e"), (1, "f")]])


def test_forwarded_twice():
    return run([[(2, "go"), (0, "a")], [(2, "go"), (1, "c")], [(0, "e"), (1, "f")]])


def test_two_and_one():
    return run([[(0, "a"), (1, "b"), (0, "c")], [(1, "d"), (0, "e")], []])
