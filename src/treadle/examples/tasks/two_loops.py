"""Two event loops, in two threads, share an object: what is atomic in one loop is not against the other."""

import asyncio
import threading

import treadle


class Tickets:
    def __init__(self) -> None:
        self.left = 1
        self.sold = 0

    async def sell(self) -> None:
        if self.left > 0:  # no await before the next line, and yet the other loop may come in between
            self.left -= 1
            self.sold += 1


class CarefulTickets(Tickets):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    async def sell(self) -> None:
        with self.lock:
            await super().sell()


def sell_from_two_loops(tickets: Tickets) -> None:
    threads = [threading.Thread(target=lambda: asyncio.run(tickets.sell())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tickets.left, tickets.sold) == (0, 1)


@treadle.explore()
def test_buggy_tickets() -> None:
    sell_from_two_loops(Tickets())


@treadle.explore()
def test_fixed_tickets() -> None:
    sell_from_two_loops(CarefulTickets())
