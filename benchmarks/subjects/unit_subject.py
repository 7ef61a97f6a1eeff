"""The functions that `treadle unit` and its peers write tests for: different kinds, all with type hints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional


# --- arithmetic


def gcd(a: int, b: int) -> int:
    while b != 0:
        a, b = b, a % b
    return a if a >= 0 else -a


def triangle(a: int, b: int, c: int) -> str:
    if a <= 0 or b <= 0 or c <= 0:
        raise ValueError("sides must be positive")
    if a + b <= c or a + c <= b or b + c <= a:
        return "none"
    if a == b and b == c:
        return "equilateral"
    if a == b or b == c or a == c:
        return "isosceles"
    return "scalene"


def leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def clamp(x: int, low: int, high: int) -> int:
    if low > high:
        raise ValueError(f"{low} > {high}")
    return max(low, min(x, high))


def grade(points: int) -> str:
    if points < 0 or points > 100:
        raise ValueError("no such grade")
    if points >= 90:
        return "A"
    if points >= 75:
        return "B"
    if points >= 50:
        return "C"
    return "F"


def power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise ArithmeticError("negative exponent")
    result = 1
    while exponent > 0:
        result *= base
        exponent -= 1
    return result


# --- lists


def index_of_max(xs: List[int]) -> int:
    if not xs:
        return -1
    best = 0
    for i in range(1, len(xs)):
        if xs[i] > xs[best]:
            best = i
    return best


def is_sorted(xs: List[int]) -> bool:
    for i in range(len(xs) - 1):
        if xs[i] > xs[i + 1]:
            return False
    return True


def remove_all(xs: List[int], value: int) -> int:
    removed = 0
    i = 0
    while i < len(xs):
        if xs[i] == value:
            del xs[i]
            removed += 1
        else:
            i += 1
    return removed


def merge(a: List[int], b: List[int]) -> List[int]:
    out = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    out.extend(a[i:])
    out.extend(b[j:])
    return out


def move_front(xs: List[int], ys: List[int]) -> int:
    """Moves the first element of ys to xs; with xs is ys it rotates."""
    if not ys:
        return len(xs)
    xs.append(ys.pop(0))
    return len(xs)


# --- linked lists, trees, aliasing


class Node:
    def __init__(self, value: int, next: Optional[Node] = None) -> None:
        self.value = value
        self.next = next


def chain_length(node: Optional[Node]) -> int:
    count = 0
    while node is not None:
        count += 1
        node = node.next
    return count


def insert_after(node: Optional[Node], value: int) -> Node:
    if node is None:
        return Node(value)
    fresh = Node(value, node.next)
    node.next = fresh
    return fresh


def unlink(head: Optional[Node], value: int) -> Optional[Node]:
    if head is None:
        return None
    if head.value == value:
        return head.next
    previous = head
    while previous.next is not None:
        if previous.next.value == value:
            previous.next = previous.next.next
            return head
        previous = previous.next
    return head


class Tree:
    def __init__(self, value: int, left: Optional[Tree] = None, right: Optional[Tree] = None) -> None:
        self.value = value
        self.left = left
        self.right = right


def tree_insert(tree: Optional[Tree], value: int) -> Tree:
    if tree is None:
        return Tree(value)
    if value < tree.value:
        tree.left = tree_insert(tree.left, value)
    elif value > tree.value:
        tree.right = tree_insert(tree.right, value)
    return tree


class Cell:
    def __init__(self, n: int) -> None:
        self.n = n


def transfer(source: Cell, target: Cell, amount: int) -> bool:
    if amount <= 0 or source.n < amount:
        return False
    source.n -= amount
    target.n += amount
    if source.n == target.n:
        target.n += 1
    return True


# --- strings


def initials(name: str) -> str:
    if not name:
        return "?"
    if " " in name:
        return name[0] + name[name.find(" ") + 1 : name.find(" ") + 2]
    return name[0]


def classify(s: str) -> str:
    if s.startswith("#"):
        return "comment"
    if s.endswith(":"):
        return "label"
    if s == "":
        return "empty"
    return "code" if len(s) < 5 else "long"


def caesar(c: str, shift: int) -> str:
    if len(c) != 1:
        raise ValueError("one character")
    if "a" <= c <= "z":
        return chr((ord(c) - 97 + shift) % 26 + 97)
    return c


# --- dicts


def count_word(counts: Dict[str, int], word: str) -> int:
    if word in counts:
        counts[word] += 1
    else:
        counts[word] = 1
    return counts[word]


def lookup(table: Dict[str, int], key: str, default: int) -> int:
    try:
        return table[key]
    except KeyError:
        return default + 1


def invert(d: Dict[str, int]) -> Dict[int, str]:
    out: Dict[int, str] = {}
    for key, value in d.items():
        if value in out:
            raise ValueError("not one to one")
        out[value] = key
    return out


# --- exceptions


def safe_div(a: int, b: int) -> int:
    try:
        return a // b
    except ZeroDivisionError:
        return 0
    finally:
        b = 0


def parse_flag(s: str) -> bool:
    if s == "yes":
        return True
    if s == "no":
        return False
    raise ValueError("neither yes nor no")


# --- classes with state


class Account:
    def __init__(self, balance: int = 0) -> None:
        self.balance = balance
        self.closed = False

    def withdraw(self, amount: int) -> int:
        if self.closed:
            raise RuntimeError("closed")
        if amount <= 0:
            raise ValueError("amount")
        if amount > self.balance:
            return -1
        self.balance -= amount
        return self.balance

    def close(self) -> bool:
        if self.closed or self.balance != 0:
            return False
        self.closed = True
        return True


@dataclass
class Window:
    low: int
    high: int

    def contains(self, x: int) -> bool:
        return self.low <= x < self.high

    def widen(self, x: int) -> bool:
        if x < self.low:
            self.low = x
            return True
        if x >= self.high:
            self.high = x + 1
            return True
        return False


class Stack:
    def __init__(self, items: List[int], limit: int) -> None:
        self.items = items
        self.limit = limit

    def push(self, value: int) -> bool:
        if len(self.items) >= self.limit:
            return False
        self.items.append(value)
        return True

    def pop(self) -> int:
        if not self.items:
            raise IndexError("empty")
        return self.items.pop()
