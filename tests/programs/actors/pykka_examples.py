"""The uses that Pykka's documentation shows, written anew: plain actors, proxies, pools, futures, and a deadlock."""

import threading

import pykka


# ---------------------------------------------------------------------- plain actors


class Greeter(pykka.ThreadingActor):
    """Takes any message; without a return value the answer is None."""

    def __init__(self, greeting="Hi there!"):
        super().__init__()
        self.greeting = greeting
        self.heard = []

    def on_receive(self, message):
        self.heard.append(message)
        return f"{self.greeting} {message}"


def test_plain_actor():
    greeter = Greeter.start(greeting="Hello")
    greeter.tell("you")
    assert greeter.ask("world") == "Hello world"
    future = greeter.ask("again", block=False)
    assert future.get(timeout=1) == "Hello again"
    greeter.stop()


# ---------------------------------------------------------------------- proxies


class Calculator(pykka.ThreadingActor):
    """Reached through a proxy: methods, attributes, exceptions."""

    def __init__(self):
        super().__init__()
        self.last_result = None

    def add(self, a, b=None):
        self.last_result = a + b if b is not None else self.last_result + a
        return self.last_result

    def divide(self, a, b):
        self.last_result = a / b
        return self.last_result


def test_proxy_calls_attributes_and_exceptions():
    calculator = Calculator.start().proxy()
    try:
        assert calculator.add(1, 3).get() == 4
        calculator.add.defer(5)
        assert calculator.last_result.get() == 9
        calculator.last_result = 100
        assert calculator.add(1).get() == 101
        try:
            calculator.divide(1, 0).get()
        except ZeroDivisionError:
            return
        raise AssertionError("the exception of the actor reaches whoever asks")
    finally:
        calculator.stop()


class Player(pykka.ThreadingActor):
    """An attribute that is an object of its own, marked so that the proxy goes through it."""

    def __init__(self):
        super().__init__()
        self.playback = pykka.traversable(Playback())


class Playback:
    def __init__(self):
        self.position = 0

    def seek(self, position):
        self.position = position
        return True


def test_a_proxy_goes_through_an_attribute():
    player = Player.start().proxy()
    assert player.playback.seek(30).get() is True
    assert player.playback.position.get() == 30
    player.stop()


# ---------------------------------------------------------------------- actors that ask each other


class Adder(pykka.ThreadingActor):
    def add_one(self, number):
        return number + 1


class Bookkeeper(pykka.ThreadingActor):
    """Asks another actor and waits for each answer."""

    def __init__(self, adder):
        super().__init__()
        self.adder = adder

    def count_to(self, target):
        number = 0
        while number < target:
            number = self.adder.add_one(number).get()
        return number


def test_two_actors_count():
    adder = Adder.start().proxy()
    bookkeeper = Bookkeeper.start(adder).proxy()
    assert bookkeeper.count_to(3).get() == 3
    pykka.ActorRegistry.stop_all()


class Friend(pykka.ThreadingActor):
    """Two of these that ask each other at the same time wait for ever."""

    def ask_back(self, friend):
        return friend.proxy().name_of().get()

    def name_of(self):
        return "friend"


def test_two_friends_ask_each_other():
    one, other = Friend.start(), Friend.start()
    first = one.proxy().ask_back(other)
    second = other.proxy().ask_back(one)
    assert [first.get(), second.get()] == ["friend", "friend"]
    pykka.ActorRegistry.stop_all()


# ---------------------------------------------------------------------- a pool


class Resolver(pykka.ThreadingActor):
    def resolve(self, address):
        return f"host-{address}"


def test_a_pool_of_resolvers():
    resolvers = [Resolver.start().proxy() for _ in range(2)]
    addresses = ["a", "b", "c"]
    found = [resolvers[number % 2].resolve(address) for number, address in enumerate(addresses)]
    assert pykka.get_all(found) == ["host-a", "host-b", "host-c"]
    pykka.ActorRegistry.stop_all()


# ---------------------------------------------------------------------- futures


def test_futures_are_mapped_filtered_joined_and_reduced():
    one, two = pykka.ThreadingFuture(), pykka.ThreadingFuture()
    one.set([1, 2, 3])
    two.set([4])
    assert one.map(len).get() == 3
    assert one.filter(lambda number: number > 1).get() == [2, 3]
    assert one.join(two).get() == [[1, 2, 3], [4]]
    assert one.reduce(lambda left, right: left + right).get() == 6


def test_a_future_that_an_actor_sets_for_another_thread():
    class Setter(pykka.ThreadingActor):
        def on_receive(self, message):
            message.set("done")

    future = pykka.ThreadingFuture()
    setter = Setter.start()
    setter.tell(future)
    assert future.get() == "done"
    setter.stop()


# ---------------------------------------------------------------------- the registry, and the life of an actor


class Worker(pykka.ThreadingActor):
    def __init__(self, log):
        super().__init__()
        self.log = log

    def on_start(self):
        self.log.append("started")

    def on_stop(self):
        self.log.append("stopped")

    def on_receive(self, message):
        self.log.append(message)


def test_a_broadcast_reaches_every_worker():
    log = []
    for _ in range(2):
        Worker.start(log)
    pykka.ActorRegistry.broadcast("hello", target_class=Worker)
    pykka.ActorRegistry.stop_all()
    assert sorted(log) == ["hello", "hello", "started", "started", "stopped", "stopped"]


def test_who_is_first_is_not_known():
    """A test that takes the order of two senders for granted."""
    log = []
    worker = Worker.start(log)
    threads = [threading.Thread(target=worker.tell, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    worker.stop()
    assert log == ["started", "a", "b", "stopped"]
