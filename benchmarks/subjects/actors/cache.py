"""A cache before a database, on Thespian: readers fill it, a writer invalidates it.

Bug: a reader's fill with the old value may arrive after the invalidation, and the cache keeps what is no longer true.
"""

from thespian.actors import Actor, ActorSystem

BUGS = ("old",)


class Database(Actor):
    def __init__(self):
        self.value, self.version = "old", 1

    def receiveMessage(self, message, sender):
        if not isinstance(message, tuple):
            return
        if message[0] == "read":
            self.send(sender, ("value", self.value, self.version))
        elif message[0] == "write":
            self.value, self.version = message[1], self.version + 1
            self.send(message[2], ("invalidate", self.version))
            self.send(message[3], ("written",))


class Cache(Actor):
    def __init__(self):
        self.value, self.version, self.floor = None, 0, 0

    def receiveMessage(self, message, sender):
        if not isinstance(message, tuple):
            return
        if message[0] == "fill":
            _, value, version, careful, done = message
            if not careful or version >= self.floor:
                self.value, self.version = value, version
            self.send(done, ("filled",))
        elif message[0] == "invalidate":
            self.value, self.floor = None, message[1]
        elif message[0] == "get":
            self.send(sender, ("cached", self.value))


class Reader(Actor):
    """Reads the database and fills the cache."""

    def receiveMessage(self, message, sender):
        if not isinstance(message, tuple):
            return
        if message[0] == "go":
            _, database, self.cache, self.careful, self.done = message
            self.send(database, ("read",))
        elif message[0] == "value":
            self.send(self.cache, ("fill", message[1], message[2], self.careful, self.done))


class Writer(Actor):
    def receiveMessage(self, message, sender):
        if isinstance(message, tuple):
            _, database, cache, done = message
            self.send(database, ("write", "new", cache, done))


class Done(Actor):
    """Answers when the writer and all readers are through."""

    def __init__(self):
        self.count, self.asker, self.expected = 0, None, None

    def receiveMessage(self, message, sender):
        if not isinstance(message, tuple):
            return
        if message[0] == "expect":
            self.asker, self.expected = sender, message[1]
        else:
            self.count += 1
        if self.count == self.expected:
            self.send(self.asker, "all done")


def run(bug):
    system = ActorSystem("multiprocQueueBase")
    try:
        database, cache, done = (system.createActor(kind) for kind in (Database, Cache, Done))
        readers = [system.createActor(Reader) for _ in range(2)]
        for reader in readers:
            system.tell(reader, ("go", database, cache, not bug, done))
        relay = system.createActor(Slow)
        system.tell(relay, (4, system.createActor(Writer), ("go", database, cache, done)))
        assert system.ask(done, ("expect", 3), 60) == "all done"
        assert system.ask(cache, ("get",), 60) in (("cached", None), ("cached", "new"))
    finally:
        system.shutdown()


class Slow(Actor):
    """Takes some turns before it passes a message on."""

    def receiveMessage(self, message, sender):
        if isinstance(message, tuple):
            turns, to, content = message
            if turns:
                self.send(self.myAddress, (turns - 1, to, content))
            else:
                self.send(to, content)
