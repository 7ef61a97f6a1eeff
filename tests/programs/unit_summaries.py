"""Programs whose functions call each other: Fig. 6 of the paper, and one of each kind of thing a summary must hold."""

from __future__ import annotations

from dataclasses import dataclass

from unit_native import arraycopy


def abs_(a: int) -> int:
    if a >= 0:
        return a
    else:
        return -a


def gcd(a: int, b: int) -> int:
    while b != 0:
        res = a % b
        a = b
        b = res
    return abs_(a)


class Rational:
    def __init__(self, n: int, d: int) -> None:
        self.n = n
        self.d = d

    def simplify(self) -> None:
        g = gcd(self.n, self.d)
        self.n = self.n // g
        self.d = self.d // g

    def simp(self, rs: list[Rational]) -> list[Rational]:
        length = len(rs)
        old = [None] * length
        arraycopy(rs, old, length)
        for i in range(length):
            rs[i].simplify()
        return old


# --- integers --------------------------------------------------------------------------------------------


def clamp(value: int, low: int, high: int) -> int:
    if low > high:
        raise ValueError("empty range")
    if value < low:
        return low
    if value > high:
        return high
    return value


def box(a: int, b: int) -> tuple[int, int]:
    x, y = clamp(a, 0, 10), clamp(b, -5, 5)
    return (x, y) if x > y else (y, x)


def guarded(a: int, low: int, high: int) -> int:
    try:
        return clamp(a, low, high)
    except ValueError as error:
        return len(error.args)


def rounds(n: int) -> int:
    """Cut when n is unknown, finished when it is known."""
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total


def known_rounds(x: int) -> int:
    return rounds(3) + (rounds(2) if x > 0 else 0)


def mixed_rounds(x: int) -> int:
    if x > 4:
        return rounds(x)
    if x == 4:
        return rounds(4)
    return rounds(x) + rounds(x + 1)


def even(n: int) -> bool:
    return True if n <= 0 else odd(n - 1)


def odd(n: int) -> bool:
    return False if n <= 0 else even(n - 1)


def parities(a: int, b: int) -> tuple[bool, bool]:
    return even(a), odd(b)


def collatz(n: int) -> int:
    steps = 0
    while n > 1 and steps < 3:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def both(a: int, b: int) -> int:
    return collatz(a) + collatz(a + b)


def ratio(a: int, b: int) -> int:
    return a // b


def safe_ratio(a: int, b: int) -> int:
    try:
        return ratio(a, b) + ratio(b, a)
    except ZeroDivisionError:
        return 0


def floats(a: float, b: int) -> float:
    return larger(a, 1.5) + larger(b, a) + larger(b, 2)


def larger(a, b):
    if a > b:
        return a
    return b


# --- objects ---------------------------------------------------------------------------------------------


@dataclass
class Node:
    value: int
    next: Node | None = None


def total(node: Node | None) -> int:
    result = 0
    while node is not None:
        result += node.value
        node = node.next
    return result


def same_total(a: Node | None, b: Node | None) -> bool:
    return total(a) == total(b)


def swap(a: Node, b: Node) -> None:
    a.value, b.value = b.value, a.value


def rotate(a: Node, b: Node, c: Node) -> bool:
    swap(a, b)
    swap(b, c)
    return a is b or a.value == c.value


def push(node: Node | None, value: int) -> Node:
    return Node(value, node)


def pushed(node: Node | None, x: int) -> int:
    made = push(push(node, x), x + 1)
    made.next.value += 1
    return total(made)


def cut_after(node: Node | None, limit: int) -> Node | None:
    start = node
    while node is not None:
        if node.value > limit:
            node.next = None
            return start
        node = node.next
    return start


def cut_twice(a: Node, b: Node, limit: int) -> int:
    left = cut_after(a, limit)
    right = cut_after(b, limit)
    return 1 if left is right else 2


class Account:
    def __init__(self, balance: int, owner: str = "") -> None:
        self.balance = balance
        self.owner = owner

    def fee(self) -> int:
        return 1

    def withdraw(self, amount: int) -> bool:
        if amount <= 0 or self.balance < amount + self.fee():
            return False
        self.balance -= amount + self.fee()
        return True


class Premium(Account):
    def fee(self) -> int:
        return 0


def transfer(source: Account, target: Account, amount: int) -> bool:
    if not source.withdraw(amount):
        return False
    target.balance += amount
    return True


def round_trip(a: Account, b: Account, amount: int) -> bool:
    return transfer(a, b, amount) and transfer(b, a, amount)


def fresh_account(amount: int) -> int:
    account = Premium(10)
    account.withdraw(amount)
    account.extra = amount
    account.withdraw(1)
    return account.balance


def describe(account: Account) -> str:
    if isinstance(account, Premium):
        return "premium"
    return "rich" if account.balance > 100 else "plain"


def describe_two(a: Account, b: Account) -> str:
    return describe(a) + describe(b)


# --- lists, strings, tuples ------------------------------------------------------------------------------


def first_positive(values: list[int]) -> int:
    for value in values:
        if value > 0:
            return value
    return -1


def compare_lists(a: list[int], b: list[int]) -> bool:
    return first_positive(a) > first_positive(b)


def literal_list(x: int) -> int:
    return first_positive([0, x, x + 1]) + first_positive([])


def put(values: list[int], value: int) -> int:
    if value in values:
        return 0
    values.append(value)
    return len(values)


def put_twice(values: list[int], x: int) -> int:
    return put(values, x) + put(values, x)


def put_known(x: int) -> list[int]:
    found = [1, 2]
    put(found, x)
    put(found, 2)
    return found


def widest(nodes: list[Node]) -> Node | None:
    best = None
    for node in nodes:
        if best is None or node.value > best.value:
            best = node
    return best


def widen(nodes: list[Node]) -> int:
    best = widest(nodes)
    if best is None:
        return 0
    best.value += 1
    return 1 if widest(nodes) is best else 2


def kind(text: str) -> str:
    if not text:
        return "empty"
    if text.isdigit():
        return "digits"
    return "name" if text.startswith("a") else "other"


def kinds(text: str) -> tuple[str, str, str]:
    return kind(text), kind(text + "1"), kind("\u00b2")


def ordered(pair: tuple[int, int]) -> tuple[int, int]:
    a, b = pair
    return (a, b) if a <= b else (b, a)


def ordered_pairs(a: int, b: int) -> int:
    low, high = ordered((a, b))
    return ordered((high, low))[0] - low


# --- what must be run in its context -----------------------------------------------------------------------

_seen: list[int] = []
LIMIT = 3


def remember(x: int) -> int:
    if x > LIMIT:
        _seen.append(x)
    return len(_seen)


def remember_twice(x: int) -> int:
    return remember(x) + remember(x + 1)


def set_limit(n: int) -> int:
    global LIMIT
    LIMIT = n
    return 1 if below(n) else 2


def below(n: int) -> bool:
    return n < LIMIT


def below_twice(n: int) -> bool:
    return below(n) and not below(n + 1) and set_limit(n) == 1


def squares(n: int):
    for i in range(n):
        if i > 1:
            yield i * i


def adder(n: int):
    def add(x: int) -> int:
        return x + n if x > n else n

    return add


def closures(a: int, b: int) -> int:
    return adder(a)(b) + sum(squares(b))


def apply(function, x: int) -> int:
    return function(x) if x > 0 else function(-x)


def applied(x: int) -> int:
    return apply(rounds, x) + apply(abs_, x) + apply(lambda y: y + x, x)


def weird(x: int) -> int:
    return 1 if hash_like(x) % 2 else 2


def hash_like(x: int) -> int:
    return (x * 31) ^ 5 if x > 2 else x


def lookup(table: dict[str, int], key: str) -> int:
    if key in table:
        return table[key]
    table[key] = 0
    return -1


def lookup_twice(table: dict[str, int], key: str) -> int:
    return lookup(table, key) + lookup(table, key)


def copy(src: list[int], dst: list[int], n: int) -> None:
    arraycopy(src, dst, n)


# --- objects that may be the same ------------------------------------------------------------------------


class Purse:
    def __init__(self, coins: int = 0, other: Purse | None = None) -> None:
        self.coins = coins
        self.other = other


def _equal(a: Purse, b: Purse) -> int:
    return 1 if a is b else 0


def compared(a: Purse, b: Purse) -> int:
    """Nothing but the comparison is found out: None is as good as an object."""
    return _equal(a, b)


def _move(a: Purse, b: Purse, coins: int) -> bool:
    if a.coins < coins:
        return False
    a.coins -= coins
    b.coins += coins
    return True


def moved(a: Purse, b: Purse, c: Purse) -> int:
    _move(a, b, 2)
    _move(b, c, 3)
    return a.coins


def _extend(a: Purse) -> Purse:
    a.other = Purse(1)
    a.other.coins += 1
    return a.other


def extended(a: Purse, b: Purse) -> int:
    """What was made through `a` is what `b` has, if they are one."""
    made = _extend(a)
    return 2 if b.other is made else b.coins


def _extend_and_look(a: Purse, b: Purse) -> int:
    a.other = Purse(4)
    if b.other is None:
        return 0
    return b.other.coins


def looked_at(a: Purse, b: Purse) -> int:
    return _extend_and_look(a, b)


def _twice(a: Purse, b: Purse) -> int:
    coins = a.coins
    b.coins = 5
    if a is b:
        return a.coins - coins
    return a.coins + b.coins


def seen_again(a: Purse, b: Purse) -> int:
    """`a.coins` reads differently once it is known whether a is b."""
    return _twice(a, b) + _twice(b, a)


# --- lists that may be the same --------------------------------------------------------------------------


class Shelf:
    def __init__(self, books: list[int] | None = None) -> None:
        self.books = books


def _tidy(a: Shelf, b: Shelf) -> int:
    a.books = a.books
    return b.books[0]


def tidied(a: Shelf, b: Shelf) -> int:
    """Writing back what is there is no write: it says nothing about b."""
    return _tidy(a, b) + _tidy(b, a)


def _mark(xs: list[int], i: int) -> int:
    if xs[1] > 1:
        xs[i] = 2
    xs.insert(0, 7)
    xs.pop()
    return len(xs)


def marked(xs: list[int], i: int) -> int:
    """Which element was written stays open."""
    return _mark(xs, i)


def _first(xs: list[int], ys: list[int], a: Shelf) -> int:
    a.books = xs
    if xs is ys:
        return ys[0]
    ys[0] = 4
    return xs[0]


def first_of_both(xs: list[int], ys: list[int], a: Shelf, b: Shelf) -> int:
    return _first(xs, ys, a) + _first(ys, xs, b)
