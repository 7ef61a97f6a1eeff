"""An event that is cleared too late: a wake-up that comes between the work and the clear is thrown away."""

import threading

import treadle


class Mailbox:
    def __init__(self) -> None:
        self.letters: list[str] = []
        self.wake = threading.Event()
        self.read: list[str] = []

    def post(self, *letters: str) -> None:
        for letter in letters:
            self.letters.append(letter)
            self.wake.set()

    def empty(self) -> None:
        while self.letters:
            self.read.append(self.letters.pop(0))

    def reader(self, expected: int) -> None:
        while len(self.read) < expected:
            self.wake.wait()
            self.empty()
            self.wake.clear()  # forgets a letter that was posted after `empty` looked


class CarefulMailbox(Mailbox):
    def reader(self, expected: int) -> None:
        while len(self.read) < expected:
            self.wake.wait()
            self.wake.clear()
            self.empty()


def test_buggy_mailbox() -> None:
    box = Mailbox()
    treadle.parallel(lambda: box.reader(2), lambda: box.post("a", "b"))


def test_fixed_mailbox() -> None:
    box = CarefulMailbox()
    treadle.parallel(lambda: box.reader(2), lambda: box.post("a", "b"))
