"""Apache Commons Lang 2.4, IntRange (LANG-481): hash and text are computed in the field that caches them."""

import threading


class IntRange:
    def __init__(self, low: int, high: int):
        self._low, self._high = min(low, high), max(low, high)
        self._hash = 0
        self._text = None

    def minimum(self):
        return self._low

    def maximum(self):
        return self._high

    def contains(self, value: int):
        return self._low <= value <= self._high

    def __hash__(self):
        if self._hash == 0:
            self._hash = 17
            self._hash = 37 * self._hash + self._low
            self._hash = 37 * self._hash + self._high
        return self._hash

    def __str__(self):
        if self._text is None:
            self._text = "Range["
            self._text += f"{self._low},"
            self._text += f"{self._high}]"
        return self._text


class FixedIntRange(IntRange):
    def __hash__(self):
        return 37 * (37 * 17 + self._low) + self._high

    def __str__(self):
        text = self._text
        if text is None:
            text = self._text = f"Range[{self._low},{self._high}]"
        return text
