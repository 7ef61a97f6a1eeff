"""Listing 1 of the Bita paper on Pykka: a writer that must not be flushed before the last record is written."""

import threading

import pykka


class Writer(pykka.ThreadingActor):
    def __init__(self):
        super().__init__()
        self.results = []

    def on_receive(self, message):
        if message[0] == "Write":
            self.results.append(message[1])
        else:
            self.results = None
            message[1].tell(("Flushed",))


class Action(pykka.ThreadingActor):
    def __init__(self, name, terminator, writer):
        super().__init__()
        self.name, self.terminator, self.writer = name, terminator, writer

    def on_receive(self, message):
        self.writer.tell(("Write", self.name))
        self.terminator.tell(("ActionDone",))


class Terminator(pykka.ThreadingActor):
    def __init__(self, actions, writer, done):
        super().__init__()
        self.actions, self.writer, self.done = actions, writer, done

    def on_receive(self, message):
        if message[0] == "ActionDone":
            self.actions -= 1
            if self.actions == 0:
                self.writer.tell(("Flush", self.actor_ref))
        else:
            self.done.set()


def session(actions):
    done = threading.Event()
    writer = Writer.start()
    terminator = Terminator.start(actions, writer, done)
    try:
        for number in range(actions):
            Action.start(str(number), terminator, writer).tell(("Execute",))
        done.wait()
    finally:
        pykka.ActorRegistry.stop_all()


def test_one_action():
    session(1)


def test_two_actions():
    session(2)
