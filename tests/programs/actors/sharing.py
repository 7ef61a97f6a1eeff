"""Actor programs in which more than messages decides: memory that actors share, threads beside them."""

import threading

import pykka


class Box:
    n = 0


class Adder(pykka.ThreadingActor):
    def __init__(self, box):
        super().__init__()
        self.box = box

    def on_receive(self, message):
        self.box.n = self.box.n + 1


def test_actors_share_a_box():
    box = Box()
    one, other = Adder.start(box), Adder.start(box)
    one.tell("add")
    other.tell("add")
    one.stop()
    other.stop()
    assert box.n == 2


def test_threads_beside_an_actor():
    box = Box()
    actor = Adder.start(Box())

    def add():
        box.n = box.n + 1

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    actor.stop()
    assert box.n == 2


def test_each_has_its_own():
    boxes = [Box(), Box()]
    actors = [Adder.start(box) for box in boxes]
    for actor in actors:
        actor.tell("add")
    for actor in actors:
        actor.stop()
    assert [box.n for box in boxes] == [1, 1]


class Keeper(pykka.ThreadingActor):
    def on_receive(self, message):
        pass


class Counting(Adder):
    def __init__(self, box, keeper):
        super().__init__(box)
        self.keeper = keeper

    def on_receive(self, message):
        super().on_receive(message)
        self.keeper.tell(self.box.n)


def test_numbers_from_one_counter():
    box = Box()
    keepers = [Keeper.start(), Keeper.start()]
    actors = [Counting.start(box, keeper) for keeper in keepers]
    for actor in actors:
        actor.tell("count")
    for actor in (*actors, *keepers):
        actor.stop()
