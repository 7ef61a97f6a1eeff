"""Two-phase commit on Thespian: a coordinator asks all participants, and commits when all say yes.

Bug: a participant that hears of the decision before it was asked (another one's no ends the transaction early) prepares
afterwards, and holds its lock for ever.
"""

from thespian.actors import Actor, ActorSystem

PARTICIPANTS = 4
BUGS = ("prepared",)


class Participant(Actor):
    def __init__(self):
        self.locked, self.decided = False, None

    def receiveMessage(self, message, sender):
        if not isinstance(message, tuple):
            return
        kind = message[0]
        if kind == "prepare":
            _, coordinator, vote, careful = message
            if self.decided is not None and careful:
                self.send(coordinator, ("vote", "no"))
                return
            self.locked = vote == "yes"
            self.send(coordinator, ("vote", vote))
        elif kind == "decide":
            self.decided, self.locked = message[1], False
            self.send(sender, ("done",))
        elif kind == "state":
            self.send(sender, ("state", self.locked))


class Messenger(Actor):
    """Carries a request to a participant."""

    def receiveMessage(self, message, sender):
        if isinstance(message, tuple):
            self.send(*message)


class Coordinator(Actor):
    def __init__(self):
        self.votes, self.done, self.asker, self.decision = [], 0, None, None

    def receiveMessage(self, message, sender):
        if not isinstance(message, tuple):
            return
        if message[0] == "begin":
            _, self.participants, careful = message
            self.asker = sender
            for number, participant in enumerate(self.participants):
                vote = "no" if number == 0 else "yes"
                way = self.createActor(Messenger)
                self.send(way, (participant, ("prepare", self.myAddress, vote, careful)))
        elif message[0] == "vote":
            self.votes.append(message[1])
            self._decide()
        elif message[0] == "done":
            self.done += 1
        if self.done == len(self.participants) == len(self.votes) and self.asker is not None:
            self.send(self.asker, self.decision)
            self.asker = None

    def _decide(self):
        if self.decision is not None:
            return
        if "no" in self.votes:
            self.decision = "abort"
        elif len(self.votes) == len(self.participants):
            self.decision = "commit"
        if self.decision is not None:
            for participant in self.participants:
                self.send(participant, ("decide", self.decision))


def run(bug):
    system = ActorSystem("multiprocQueueBase")
    try:
        participants = [system.createActor(Participant) for _ in range(PARTICIPANTS)]
        coordinator = system.createActor(Coordinator)
        assert system.ask(coordinator, ("begin", participants, not bug), 60) == "abort"
        for participant in participants:
            assert system.ask(participant, ("state",), 60) == ("state", False)
    finally:
        system.shutdown()
