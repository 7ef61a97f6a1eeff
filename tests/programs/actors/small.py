"""Small Pykka programs, one subject each."""

import threading
import time

import pykka


class Recorder(pykka.ThreadingActor):
    def __init__(self):
        super().__init__()
        self.seen = []

    def on_receive(self, message):
        if message == "seen":
            return list(self.seen)
        self.seen.append(message)
        return len(self.seen)


def in_threads(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def senders(number, messages=1):
    recorder = Recorder.start()

    def send(name):
        for count in range(messages):
            recorder.tell(f"{name}{count}")

    in_threads(*(lambda name=name: send(name) for name in "abcd"[:number]))
    seen = recorder.ask("seen")
    recorder.stop()
    return seen


def test_one_sender():
    assert senders(1, 3) == ["a0", "a1", "a2"]


def test_two_senders():
    senders(2)


def test_three_senders():
    senders(3)


def test_two_senders_of_two():
    seen = senders(2, 2)
    assert seen.index("a0") < seen.index("a1")
    assert seen.index("b0") < seen.index("b1")


def test_numbers_in_order():
    recorder = Recorder.start()
    in_threads(lambda: recorder.tell(7), lambda: recorder.tell((8, None)))
    assert recorder.ask("seen") == [7, (8, None)]
    recorder.stop()


def test_first_wins():
    assert senders(2)[0] == "a0"


class Forwarder(pykka.ThreadingActor):
    def __init__(self, to):
        super().__init__()
        self.to = to

    def on_receive(self, message):
        return self.to.ask(message)


def test_blocking_ask_in_a_handler():
    recorder = Recorder.start()
    forwarder = Forwarder.start(recorder)
    assert forwarder.ask("x") == 1
    assert forwarder.ask("seen") == ["x"]
    pykka.ActorRegistry.stop_all()


class Sleeper(pykka.ThreadingActor):
    def nap(self, seconds):
        time.sleep(seconds)
        return "rested"


def test_timeout_in_virtual_time():
    sleeper = Sleeper.start().proxy()
    reply = sleeper.nap(3600)
    try:
        reply.get(timeout=60)
    except pykka.Timeout:
        pass
    else:
        raise AssertionError("no timeout")
    assert reply.get() == "rested"
    sleeper.stop()


def test_futures():
    recorder = Recorder.start()
    first, second = recorder.ask("a", block=False), recorder.ask("b", block=False)
    assert pykka.get_all([first, second]) == [1, 2]
    assert first.map(lambda n: n + 1).get() == 2
    assert first.join(second).get() == [1, 2]
    assert recorder.ask("seen", block=False).filter(lambda m: m == "b").get() == ["b"]
    recorder.stop()


class Life(pykka.ThreadingActor):
    def __init__(self, log):
        super().__init__()
        self.log = log

    def on_start(self):
        self.log.append("start")

    def on_stop(self):
        self.log.append("stop")

    def on_failure(self, kind, error, traceback):
        self.log.append(kind.__name__)

    def on_receive(self, message):
        self.log.append(message)
        if message == "fail":
            raise ValueError("asked to")


def test_life():
    log = []
    actor = Life.start(log)
    actor.tell("hello")
    actor.stop()
    assert log == ["start", "hello", "stop"]
    assert pykka.ActorRegistry.get_all() == []


def test_failure_that_is_handled():
    log = []
    actor = Life.start(log)
    actor.tell("fail")
    while actor.is_alive():
        time.sleep(0.01)
    assert log == ["start", "fail", "ValueError"]


class Fragile(pykka.ThreadingActor):
    def on_receive(self, message):
        return 1 // message


def test_exception_nobody_sees():
    actor = Fragile.start()
    actor.tell(0)
    while actor.is_alive():
        time.sleep(0.01)


def test_exception_in_a_reply():
    actor = Fragile.start()
    try:
        actor.ask(0)
    except ZeroDivisionError:
        pass
    assert actor.ask(1) == 1
    actor.stop()


class Greeter(pykka.ThreadingActor):
    def __init__(self, friend):
        super().__init__()
        self.friend = friend

    def on_receive(self, message):
        self.friend.tell("hello")


def test_friend_may_be_dead():
    recorder = Recorder.start()
    greeter = Greeter.start(recorder)
    greeter.tell("greet")
    recorder.stop()
    pykka.ActorRegistry.stop_all()


def test_leaked():
    Recorder.start().ask("x")


class Daemon(Recorder):
    use_daemon_thread = True


def test_leaked_daemon():
    actor = Daemon.start()
    in_threads(lambda: actor.tell("a"), lambda: actor.tell("b"))


def test_future_nobody_sets():
    pykka.ThreadingFuture().get()


class Asker(pykka.ThreadingActor):
    other = None

    def on_receive(self, message):
        if message == "ask":
            return self.other.ask("answer")
        return "fine"


def test_two_actors_may_ask_each_other():
    one, two = Asker.start(), Asker.start()
    one._actor_weakref().other, two._actor_weakref().other = two, one
    in_threads(lambda: one.ask("ask"), lambda: two.ask("ask"))
    pykka.ActorRegistry.stop_all()


def test_message_after_stop_is_dropped():
    recorder = Recorder.start()

    def tell():
        try:
            recorder.tell("a")
        except pykka.ActorDeadError:
            pass

    in_threads(tell, lambda: recorder.stop(block=False))
    pykka.ActorRegistry.stop_all()


class Switching(pykka.ThreadingActor):
    """Handles messages differently after 'close', by assigning its handler."""

    def __init__(self):
        super().__init__()
        self.closed = False

    def on_receive(self, message):
        if message == "close":
            self.on_receive = self.when_closed

    def when_closed(self, message):
        raise RuntimeError(f"{message} after close")


def test_handlers_change():
    actor = Switching.start()
    in_threads(lambda: actor.tell("use"), lambda: actor.tell("close"))
    pykka.ActorRegistry.stop_all()


def test_told_after_the_end():
    """In the library's own order the actor stops first and drops the message."""
    seen = []

    class Listener(pykka.ThreadingActor):
        def on_receive(self, message):
            seen.append(message)

    listener = Listener.start()
    in_threads(lambda: listener.stop(block=False), lambda: listener.is_alive() and listener.tell("a"))
    pykka.ActorRegistry.stop_all()
    assert not seen
