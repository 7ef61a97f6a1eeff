"""Missed notify: the flag is tested outside the lock, and the only notify comes before the wait."""

import threading

import treadle


class Gate:
    def __init__(self) -> None:
        self.is_open = False
        self.changed = threading.Condition()

    def open(self) -> None:
        with self.changed:
            self.is_open = True
            self.changed.notify_all()

    def enter(self) -> None:
        if not self.is_open:  # the gate may be opened, and the notify sent, right after this line
            with self.changed:
                self.changed.wait()


class CarefulGate(Gate):
    def enter(self) -> None:
        with self.changed:
            while not self.is_open:
                self.changed.wait()


def test_buggy_gate() -> None:
    gate = Gate()
    treadle.parallel(gate.enter, gate.open)


def test_fixed_gate() -> None:
    gate = CarefulGate()
    treadle.parallel(gate.enter, gate.open)
