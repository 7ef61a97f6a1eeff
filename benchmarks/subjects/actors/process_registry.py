"""A registry of names for processes, after the Erlang program of Claessen et al.: processes register, and die.

Bug: the death of a process may be told to the registry before its registration arrives; the name then belongs to a
process that is dead, and nobody else gets it.
"""

import pykka

BUGS = ("dead",)


class Registry(pykka.ThreadingActor):
    def __init__(self, careful):
        super().__init__()
        self.careful, self.names, self.dead = careful, {}, set()

    def on_receive(self, message):
        kind, process, name, reply_to = message
        if kind == "register":
            if self.careful and process in self.dead:
                reply_to.tell(("refused", name))
            elif name in self.names:
                reply_to.tell(("taken", name))
            else:
                self.names[name] = process
                reply_to.tell(("registered", name))
        elif kind == "down":
            self.dead.add(process)
            self.names = {name: other for name, other in self.names.items() if other != process}
            reply_to.tell(("buried", process))
        elif kind == "whereis":
            reply_to.tell(("found", self.names.get(name)))


class Forwarder(pykka.ThreadingActor):
    """Passes a message on: registrations and news of deaths take their own ways, some longer than others."""

    def __init__(self, to):
        super().__init__()
        self.to = to

    def on_receive(self, message):
        self.to.tell(message)


class Process(pykka.ThreadingActor):
    def __init__(self, name, registrar, undertaker, monitor):
        super().__init__()
        self.name, self.registrar, self.undertaker, self.monitor = name, registrar, undertaker, monitor

    def on_receive(self, message):
        if message[0] == "live":
            self.registrar.tell(("register", self.name, "service", self.monitor))
            if message[1]:
                self.undertaker.tell(("down", self.name, None, self.monitor))


class Monitor(pykka.ThreadingActor):
    """When all have been answered it asks where the service is."""

    def __init__(self, expected, registry, result):
        super().__init__()
        self.expected, self.registry, self.result, self.answers = expected, registry, result, []

    def on_receive(self, message):
        if message[0] == "found":
            self.result.set(message[1])
            return
        self.answers.append(message[0])
        if len(self.answers) == self.expected:
            self.registry.tell(("whereis", None, "service", self.actor_ref))


def run(bug):
    result = pykka.ThreadingFuture()
    try:
        registry = Registry.start(not bug)
        monitor = Monitor.start(3, registry, result)
        undertaker = Forwarder.start(Forwarder.start(registry))
        mortal = Process.start("mortal", Forwarder.start(registry), undertaker, monitor)
        steady = Process.start("steady", Forwarder.start(registry), undertaker, monitor)
        mortal.tell(("live", True))
        steady.tell(("live", False))
        assert result.get() != "mortal"
    finally:
        pykka.ActorRegistry.stop_all()
