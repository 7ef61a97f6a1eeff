"""A hundred actors that pass tokens around: ten thousand receives, to measure size."""

import pykka

NODES = 99
TOKENS = 100
HOPS = 97

BUGS = ()


class Node(pykka.ThreadingActor):
    def __init__(self, number, sink):
        super().__init__()
        self.number, self.sink, self.peers = number, sink, ()

    def on_receive(self, message):
        kind, content = message
        if kind == "peers":
            self.peers = content
        elif content:
            self.peers[(self.number * 7 + content) % len(self.peers)].tell(("hop", content - 1))
        else:
            self.sink.tell(("end", None))


class Sink(pykka.ThreadingActor):
    def __init__(self, expected, done):
        super().__init__()
        self.left, self.done = expected, done

    def on_receive(self, message):
        self.left -= 1
        if self.left == 0:
            self.done.set(True)


def run(bug):
    done = pykka.ThreadingFuture()
    try:
        sink = Sink.start(TOKENS, done)
        nodes = [Node.start(number, sink) for number in range(NODES)]
        for node in nodes:
            node.ask(("peers", nodes))
        for number in range(TOKENS):
            nodes[number % NODES].tell(("hop", HOPS))
        assert done.get()
    finally:
        pykka.ActorRegistry.stop_all()
