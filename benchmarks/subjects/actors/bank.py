"""Accounts on Thespian: a teller opens an account, others pay into it over their own ways.

Bug: a payment that arrives before the account is opened finds no balance.
"""

from thespian.actors import Actor, ActorSystem

PAYERS = 3
BUGS = ("unopened",)


class Account(Actor):
    balance = None

    def __init__(self):
        self.early = 0

    def receiveMessage(self, message, sender):
        if not isinstance(message, tuple):
            return
        kind, amount, careful, ledger = message
        if kind == "open":
            self.balance = amount + self.early
        elif self.balance is None and careful:
            self.early += amount
        else:
            self.balance += amount
        self.send(ledger, ("booked", amount))


class Teller(Actor):
    """Passes an order on to the account."""

    def receiveMessage(self, message, sender):
        if isinstance(message, tuple):
            account, order = message
            self.send(account, order)


class Ledger(Actor):
    def __init__(self):
        self.booked, self.asker, self.expected = [], None, None

    def receiveMessage(self, message, sender):
        if not isinstance(message, tuple):
            return
        if message[0] == "expect":
            self.asker, self.expected = sender, message[1]
        else:
            self.booked.append(message[1])
        if self.expected is not None and len(self.booked) == self.expected:
            self.send(self.asker, sum(self.booked))


def run(bug):
    system = ActorSystem("multiprocQueueBase")
    try:
        ledger = system.createActor(Ledger)
        account = system.createActor(Account)
        system.tell(system.createActor(Teller), (account, ("open", 100, not bug, ledger)))
        for number in range(PAYERS):
            system.tell(system.createActor(Teller), (account, ("pay", number + 1, not bug, ledger)))
        assert system.ask(ledger, ("expect", PAYERS + 1), 60) == 106
    finally:
        system.shutdown()
