"""A message for somebody whose log-on has not arrived yet, on Pykka."""

import pykka


class Server(pykka.ThreadingActor):  # type: ignore[misc]
    """Delivers texts to whoever is logged on."""

    def __init__(self) -> None:
        super().__init__()
        self.online: dict[str, pykka.ActorRef] = {}

    def on_receive(self, message: tuple[str, str, object]) -> None:
        kind, name, content = message
        if kind == "logon":
            self.online[name] = content
        else:
            self.online[name].tell(("text", content))


class KeepingServer(Server):
    """Keeps texts until somebody logs on for them."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, list[object]] = {}

    def on_receive(self, message: tuple[str, str, object]) -> None:
        kind, name, content = message
        if kind == "logon":
            super().on_receive(message)
            for text in self.kept.pop(name, []):
                super().on_receive(("text", name, text))
        elif name in self.online:
            super().on_receive(message)
        else:
            self.kept.setdefault(name, []).append(content)


class Client(pykka.ThreadingActor):  # type: ignore[misc]
    """Logs on and writes to a friend."""

    def __init__(self, name: str, friend: str, server: pykka.ActorRef, read: pykka.Future) -> None:
        super().__init__()
        self.name, self.friend, self.server, self.read = name, friend, server, read

    def on_receive(self, message: tuple[str, object]) -> None:
        if message[0] == "start":
            self.server.tell(("logon", self.name, self.actor_ref))
            if self.friend:
                self.server.tell(("text", self.friend, f"hello from {self.name}"))
        else:
            self.read.set(message[1])


def chat(kind: type[Server]) -> None:
    read = pykka.ThreadingFuture()
    try:
        server = kind.start()
        anna = Client.start("anna", "", server, read)
        bert = Client.start("bert", "anna", server, read)
        for client in (anna, bert):
            client.tell(("start", None))
        assert read.get() == "hello from bert"
    finally:
        pykka.ActorRegistry.stop_all()


def test_early_message() -> None:
    chat(Server)


def test_kept_message() -> None:
    chat(KeepingServer)
