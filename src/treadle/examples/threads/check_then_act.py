"""Check-then-act: two buyers see the last ticket on sale, and both get it."""

import threading

import treadle


class Box:
    def __init__(self, tickets: int) -> None:
        self.tickets = tickets
        self.sold: list[str] = []

    def buy(self, buyer: str) -> bool:
        if self.tickets > 0:
            self.tickets -= 1
            self.sold.append(buyer)
            return True
        return False


class LockedBox(Box):
    def __init__(self, tickets: int) -> None:
        super().__init__(tickets)
        self.lock = threading.Lock()

    def buy(self, buyer: str) -> bool:
        with self.lock:
            return super().buy(buyer)


def test_buggy_last_ticket() -> None:
    box = Box(tickets=1)
    treadle.parallel(lambda: box.buy("ann"), lambda: box.buy("ben"))
    assert len(box.sold) == 1


def test_fixed_last_ticket() -> None:
    box = LockedBox(tickets=1)
    treadle.parallel(lambda: box.buy("ann"), lambda: box.buy("ben"))
    assert len(box.sold) == 1
