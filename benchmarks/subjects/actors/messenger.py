"""Instant messages: clients log on to a server and write to each other.

Bug: a message for somebody whose log-on has not arrived yet has nowhere to go.
"""

import pykka

BUGS = ("offline",)


class Server(pykka.ThreadingActor):
    def __init__(self, careful):
        super().__init__()
        self.careful, self.online, self.kept = careful, {}, {}

    def on_receive(self, message):
        kind, name, content = message
        if kind == "logon":
            self.online[name] = content
            for text in self.kept.pop(name, ()):
                content.tell(("text", text))
        elif kind == "logoff":
            del self.online[name]
        elif name in self.online or not self.careful:
            self.online[name].tell(("text", content))
        else:
            self.kept.setdefault(name, []).append(content)


class Client(pykka.ThreadingActor):
    def __init__(self, name, server, inbox):
        super().__init__()
        self.name, self.server, self.inbox = name, server, inbox

    def on_receive(self, message):
        if message[0] == "start":
            self.server.tell(("logon", self.name, self.actor_ref))
            for friend in message[1]:
                self.server.tell(("text", friend, f"hello from {self.name}"))
        else:
            self.inbox.tell(message)


class Inbox(pykka.ThreadingActor):
    def __init__(self, expected, full):
        super().__init__()
        self.expected, self.full, self.texts = expected, full, []

    def on_receive(self, message):
        self.texts.append(message[1])
        if len(self.texts) == self.expected:
            self.full.set(sorted(self.texts))


def run(bug):
    full = pykka.ThreadingFuture()
    try:
        inbox = Inbox.start(2, full)
        server = Server.start(not bug)
        anna, bert, cleo = (Client.start(name, server, inbox) for name in ("anna", "bert", "cleo"))
        anna.tell(("start", ()))
        bert.tell(("start", ("anna",)))
        cleo.tell(("start", ("bert",)))
        assert full.get() == ["hello from bert", "hello from cleo"]
    finally:
        pykka.ActorRegistry.stop_all()
