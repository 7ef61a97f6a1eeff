"""The sleeping barber: customers come, the barber sleeps when there is none. He changes his handler when he falls asleep.

Bug: the barber looks whether anybody waits, and falls asleep when told that nobody does; a customer who came in between
finds him not yet asleep and does not wake him.
"""

import pykka

from benchmarks.subjects.actors.shutdown import post

CUSTOMERS = 3
BUGS = ("asleep",)


class Barber(pykka.ThreadingActor):
    def __init__(self, careful):
        super().__init__()
        self.careful = careful
        self.knocked = False

    def on_receive(self, message):
        return self.awake(message)

    def awake(self, message):
        kind, who = message
        if kind == "customer":
            post(who, ("cut", None))
            post(self.room, ("next", None))
        elif kind == "nobody":
            if self.knocked and self.careful:
                self.knocked = False
                post(self.room, ("next", None))
            else:
                self.on_receive = self.asleep
        elif kind == "knock":
            self.knocked = True

    def asleep(self, message):
        kind, _ = message
        if kind == "knock":
            del self.on_receive
            post(self.room, ("next", None))
        elif kind == "customer":
            raise RuntimeError("a customer walks up to the sleeping barber")


class Room(pykka.ThreadingActor):
    """The waiting room: gives the barber one customer after the other."""

    def __init__(self, barber):
        super().__init__()
        self.barber = barber
        self.waiting = []

    def on_receive(self, message):
        kind, who = message
        if kind == "enter":
            self.waiting.append(who)
            post(self.door, ("bell", None))
        elif kind == "next":
            if self.waiting:
                post(self.barber, ("customer", self.waiting.pop(0)))
            else:
                post(self.barber, ("nobody", None))


class Door(pykka.ThreadingActor):
    """Knocks at the barber's whenever somebody enters."""

    def __init__(self, barber):
        super().__init__()
        self.barber = barber

    def on_receive(self, message):
        post(self.barber, ("knock", None))


class Customer(pykka.ThreadingActor):
    def __init__(self, room, shop):
        super().__init__()
        self.room, self.shop = room, shop

    def on_receive(self, message):
        if message[0] == "go":
            post(self.room, ("enter", self.actor_ref))
        else:
            post(self.shop, ("happy", None))


class Shop(pykka.ThreadingActor):
    def __init__(self, closed):
        super().__init__()
        self.closed, self.happy = closed, 0

    def on_receive(self, message):
        self.happy += 1
        if self.happy == CUSTOMERS:
            self.closed.set(True)


def run(bug):
    closed = pykka.ThreadingFuture()
    try:
        shop = Shop.start(closed)
        barber = Barber.start(not bug)
        room = Room.start(barber)
        barber._actor_weakref().room = room
        room._actor_weakref().door = Door.start(barber)
        room.tell(("next", None))
        for _ in range(CUSTOMERS):
            Customer.start(room, shop).tell(("go", None))
        assert closed.get()
    finally:
        pykka.ActorRegistry.stop_all()
