"""The motivating example of AutoConTest (section 3), rebuilt from the text: its code is a picture in the paper.

Fields y and z, one lock, methods m1 to m7, accesses a1 to a9:

- m1(x) writes y under the lock (a1); m6(b) runs the same instruction on another object;
- m2(x) writes y (a2), m7() reads and writes y (a8, a9), both under the lock: <a8, a2, a9> is infeasible;
- m3(x) reads z (a3) and calls m4 under the lock when z is 0, without the lock otherwise;
- m4(x) reads y twice (a4, a5): <a4, a1, a5> shows when m3 came here without the lock;
- m5() reads y (a6) and writes z once more than y says (a7): <a7, a3, a7> shows a z that was never meant to be seen.
"""

import threading


class B:
    def __init__(self):
        self.y = 0


def _set(target, x):
    target.y = x  # a1


class CUT:
    def __init__(self):
        self.lock = threading.RLock()
        self.y = 0
        self.z = 0

    def m1(self, x: int):
        with self.lock:
            _set(self, x)

    def m2(self, x: int):
        with self.lock:
            self.y = x  # a2

    def m3(self, x: int):
        if self.z == 0:  # a3
            with self.lock:
                return "with the lock", self.m4(x)
        return "without the lock", self.m4(x)

    def m4(self, x: int):
        low = self.y  # a4
        high = self.y  # a5
        return x + high - low

    def m5(self):
        rounds = self.y  # a6
        for count in range(rounds + 1):
            self.z = count  # a7

    def m6(self, b: B):
        _set(b, 1)

    def m7(self):
        with self.lock:
            y = self.y  # a8
            self.y = y + 1  # a9


class FixedCUT(CUT):
    """The same with every method under the lock."""

    def m3(self, x: int):
        with self.lock:
            return super().m3(x)

    def m4(self, x: int):
        with self.lock:
            return super().m4(x)

    def m5(self):
        with self.lock:
            super().m5()
