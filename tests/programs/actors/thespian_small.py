"""Small Thespian programs, one subject each."""

from datetime import timedelta

from thespian.actors import (
    Actor,
    ActorExitRequest,
    ActorSystem,
    ActorTypeDispatcher,
    ChildActorExited,
    PoisonMessage,
    WakeupMessage,
)


class Hello(Actor):
    def receiveMessage(self, message, sender):
        if isinstance(message, str):
            self.send(sender, f"hello {message}")


def test_ask():
    system = ActorSystem("multiprocTCPBase")
    hello = system.createActor(Hello)
    assert system.ask(hello, "world", 1) == "hello world"
    system.shutdown()


class Recorder(Actor):
    def __init__(self):
        self.seen = []

    def receiveMessage(self, message, sender):
        if message == "seen":
            self.send(sender, list(self.seen))
        elif isinstance(message, str):
            self.seen.append(message)


class Relay(Actor):
    """Sends what it is told to another actor."""

    def receiveMessage(self, message, sender):
        if isinstance(message, tuple):
            self.send(message[0], message[1])


def test_two_relays():
    system = ActorSystem()
    recorder = system.createActor(Recorder)
    for name in "ab":
        system.tell(system.createActor(Relay), (recorder, name))
    assert system.listen(1) is None
    system.shutdown()


def test_order_of_two_relays():
    system = ActorSystem()
    recorder = system.createActor(Recorder)
    for name in "ab":
        relay = system.createActor(Relay)
        system.tell(relay, (recorder, name))
    seen = system.ask(recorder, "seen", 1)
    assert seen in ([], ["a"], ["b"], ["a", "b"]), seen
    system.shutdown()


class Alarm(Actor):
    def receiveMessage(self, message, sender):
        if message == "set":
            self.asker = sender
            self.wakeupAfter(timedelta(hours=1), payload="ring")
        elif isinstance(message, WakeupMessage):
            self.send(self.asker, message.payload)


def test_wakeup_in_virtual_time():
    system = ActorSystem()
    alarm = system.createActor(Alarm)
    assert system.ask(alarm, "set", timedelta(minutes=1)) is None
    assert system.listen(timedelta(hours=2)) == "ring"
    system.shutdown()


class Parent(ActorTypeDispatcher):
    def receiveMsg_str(self, message, sender):
        if message == "make":
            self.child = self.createActor(Hello)
            self.asker = sender
            self.send(self.child, ActorExitRequest())

    def receiveMsg_ChildActorExited(self, message, sender):
        self.send(self.asker, ("gone", message.childAddress == self.child))


def test_child_exits():
    system = ActorSystem()
    parent = system.createActor(Parent)
    assert system.ask(parent, "make", 1) == ("gone", True)
    system.tell(parent, ActorExitRequest())
    system.shutdown()


class Fragile(Actor):
    def receiveMessage(self, message, sender):
        if isinstance(message, int):
            self.send(sender, 1 // message)


def test_poison():
    system = ActorSystem()
    fragile = system.createActor(Fragile)
    reply = system.ask(fragile, 0, 1)
    assert isinstance(reply, PoisonMessage)
    assert reply.poisonMessage == 0
    system.shutdown()


class DeadLetters(ActorTypeDispatcher):
    def receiveMsg_str(self, message, sender):
        self.handleDeadLetters()
        self.asker = sender
        self.send(sender, "ready")

    def receiveMsg_DeadEnvelope(self, message, sender):
        self.send(self.asker, message.deadMessage)


def test_dead_letters():
    system = ActorSystem()
    handler = system.createActor(DeadLetters)
    assert system.ask(handler, "start", 1) == "ready"
    hello = system.createActor(Hello)
    system.tell(hello, ActorExitRequest())
    assert system.ask(hello, "anybody?", 1) == "anybody?"
    system.shutdown()


class Late(Actor):
    """Must be set up before it is used."""

    config = None

    def receiveMessage(self, message, sender):
        if isinstance(message, dict):
            self.config = message
        elif message == "use":
            assert self.config is not None, "used before it was set up"


class Configurer(Actor):
    def receiveMessage(self, message, sender):
        if isinstance(message, tuple):
            self.send(message[0], {"size": 1})


def test_used_before_set_up():
    system = ActorSystem()
    late = system.createActor(Late)
    system.tell(system.createActor(Configurer), (late,))
    system.tell(late, "use")
    assert system.listen(1) is None
    system.shutdown()


def test_nobody_answers():
    system = ActorSystem()
    system.ask(system.createActor(Recorder), "quiet", None)
