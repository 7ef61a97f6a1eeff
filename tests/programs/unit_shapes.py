"""Object graphs: cycles, sharing, objects that only fields can make, results with structure."""

from __future__ import annotations

from dataclasses import dataclass


class Ring:
    def __init__(self, value: int) -> None:
        self.value = value
        self.next: Ring | None = None


def twice_around(ring: Ring) -> int:
    """A ring of one element is a cycle."""
    first = ring.next
    if first is ring:
        return ring.value * 2
    return 0


class Even:
    """The constructor refuses what the method meets when a field is set behind its back."""

    def __init__(self, n: int) -> None:
        if n % 2:
            raise ValueError("odd")
        self.n = n

    def half(self) -> int:
        if self.n % 2:
            return -1
        return self.n // 2


@dataclass(frozen=True)
class Pair:
    left: int
    right: int


def swap(p: Pair) -> Pair:
    return Pair(p.right, p.left)


class Box:
    def __init__(self, content: Box | None = None) -> None:
        self.content = content


def wrap(box: Box) -> Box:
    outer = Box(box)
    outer.content.content = outer
    return outer


def self_containing(n: int) -> list:
    out: list = [n]
    out.append(out)
    return out


def share(a: list[int], b: list[int]) -> list[list[int]]:
    return [a, b, a]


class Log:
    entries: list[str] = []

    def add(self, text: str) -> int:
        Log.entries.append(text)
        return len(Log.entries)
