"""One function per feature of the language that `treadle unit` follows; each has at least two paths."""

from __future__ import annotations

import enum
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Iterator, Literal


def floor_division(a: int, b: int) -> tuple[int, int]:
    return a // b, a % b


def true_division(a: int, b: int) -> float:
    if b > 1:
        return a / b
    return a / 2


def floats(x: float) -> float:
    if x * 2 > 3.5:
        return x - 0.25
    return x + 1


def booleans(p: bool, q: bool) -> int:
    return (p and not q) + 2 * (p or q)


def bit_operations(n: int) -> int:
    if n & 1:
        return n << 2
    return n >> 1


def string_equal(s: str) -> str:
    if s == "stop":
        return "end"
    if s < "m":
        return "low " + s
    return s


def string_tests(s: str) -> int:
    if s.startswith("ab"):
        return 1
    if s.endswith("z"):
        return 2
    if "x" in s:
        return 3
    if len(s) > 4:
        return 4
    return 0


def string_index(s: str) -> str:
    if s[0] == "-":
        return s[1:]
    return s[:2]


def string_find(s: str) -> int:
    at = s.find("=")
    if at < 0:
        return -1
    return at


def string_replace(s: str) -> str:
    t = s.replace("a", "b")
    if t == s:
        return "same"
    return t


def string_classes(s: str) -> str:
    if s.isdigit():
        return "number"
    if s.isalpha():
        return "word"
    return "other"


def string_loop(s: str) -> int:
    count = 0
    for c in s:
        if c == "a":
            count += 1
    return count


def string_methods(s: str) -> str:
    return s.strip().upper()


def parse_int(s: str) -> int:
    try:
        return int(s)
    except ValueError:
        return -1


def characters(c: str) -> str:
    if len(c) != 1:
        raise ValueError("one character, please")
    return chr(ord(c) + 1)


def tuples(p: tuple[int, int]) -> int:
    a, b = p
    if a > b:
        return a
    return b


def list_length(xs: list[int]) -> int:
    if not xs:
        return 0
    return len(xs)


def list_index(xs: list[int], i: int) -> int:
    return xs[i]


def list_sum(xs: list[int]) -> int:
    total = 0
    for x in xs:
        if x > 0:
            total += x
    return total


def list_append(xs: list[int], v: int) -> None:
    if v not in (1, 2):
        xs.append(v)
    else:
        xs.insert(0, v)


def list_swap(xs: list[int], i: int, j: int) -> None:
    xs[i], xs[j] = xs[j], xs[i]


def list_methods(xs: list[int]) -> int:
    xs.reverse()
    if xs and xs[0] == 3:
        xs.remove(3)
    return xs.count(2)


def list_sorted(xs: list[int]) -> list[int]:
    ys = sorted(xs)
    return ys[::-1]


def list_aliasing(a: list[int], b: list[int]) -> bool:
    a.append(1)
    return len(b) == 0


def nested_lists(rows: list[list[int]]) -> int:
    best = 0
    for row in rows:
        for cell in row:
            best = max(best, cell)
    return best


def list_of_objects(points: list[Point]) -> int:
    total = 0
    for p in points:
        total += p.x
    return total


def dict_get(d: dict[str, int], key: str) -> int:
    if key in d:
        return d[key] + 1
    return d.get("default", 0)


def dict_count(d: dict[int, int], key: int) -> None:
    d[key] = d.get(key, 0) + 1


def dict_walk(d: dict[str, int]) -> list[str]:
    return [k for k, v in d.items() if v > 1]


def dict_delete(d: dict[str, int], key: str) -> int:
    value = d.pop(key)
    if d:
        del d["x"]
    return value


def set_operations(s: set[int], v: int) -> int:
    if v in s:
        s.discard(v)
    else:
        s.add(v)
    return len(s)


class Point:
    def __init__(self, x: int, y: int = 0) -> None:
        self.x = x
        self.y = y

    def norm(self) -> int:
        return abs(self.x) + abs(self.y)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)

    def __add__(self, other: Point) -> Point:
        return Point(self.x + other.x, self.y + other.y)

    @property
    def flat(self) -> bool:
        return self.y == 0

    @staticmethod
    def origin(n: int) -> Point:
        if n:
            return Point(n, n)
        return Point(0)

    @classmethod
    def diagonal(cls, n: int) -> Point:
        return cls(n, -n if n < 0 else n)


def use_points(p: Point, q: Point) -> Point:
    if p == q:
        return p
    return p + q


@dataclass
class Item:
    name: str
    price: int = 1
    tags: list[str] = field(default_factory=list)


def use_items(a: Item) -> Item:
    if a.price > 10:
        a.tags.append("dear")
        return a
    return Item(a.name, a.price * 2)


@dataclass(frozen=True, order=True)
class Version:
    major: int
    minor: int


def newest(a: Version, b: Version) -> Version:
    if a < b:
        return b
    return a


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value

    def bump(self) -> None:
        if self.value >= 0:
            self.value += 1
        else:
            self.other = 1


class Shape:
    def area(self) -> int:
        raise NotImplementedError


class Square(Shape):
    def __init__(self, side: int) -> None:
        self.side = side

    def area(self) -> int:
        return self.side * self.side


class Bar(Shape):
    def __init__(self, length: int) -> None:
        self.length = length

    def area(self) -> int:
        return max(self.length, 0)


def total_area(s: Shape) -> int:
    return s.area()


def is_square(s: Shape) -> bool:
    return isinstance(s, Square)


class Counter:
    made = 0
    limit = 3

    def __init__(self) -> None:
        self.n = 0

    def step(self) -> bool:
        if self.n >= self.limit:
            return False
        self.n += 1
        Counter.made += 1
        return True


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


def enums(c: Colour) -> Colour:
    if c is Colour.RED:
        return Colour.GREEN
    return c


def from_value(n: int) -> Colour:
    return Colour(n)


Pair = namedtuple("Pair", "left right")


def named(a: int) -> Pair:
    p = Pair(a, right=a + 1)
    if p.left > 3:
        return p._replace(left=0)
    return p


def while_else(n: int) -> str:
    while n > 0:
        if n == 7:
            break
        n -= 3
    else:
        return "ran out"
    return "found"


def for_range(n: int) -> int:
    total = 0
    for i in range(n):
        if i == 1:
            continue
        total += i + 1
    return total


def enumerate_zip(xs: list[int], ys: list[int]) -> int:
    total = 0
    for i, (x, y) in enumerate(zip(xs, ys)):
        total += i + x * y
    return total


def reversed_list(xs: list[int]) -> list[int]:
    return list(reversed(xs))


def try_everything(n: int) -> list[str]:
    log: list[str] = []
    try:
        log.append("try")
        if n == 1:
            raise KeyError("one")
        if n == 2:
            raise ValueError(n)
        if n == 3:
            return log
    except KeyError as error:
        log.append(str(error))
    except (TypeError, ValueError) as error:
        log.append(repr(error.args))
    else:
        log.append("else")
    finally:
        log.append("finally")
    return log


def reraise(n: int) -> int:
    try:
        return 10 // n
    except ZeroDivisionError as error:
        raise ValueError("no zero") from error


def asserts(n: int) -> int:
    assert n > 0, f"{n} is not positive"
    return n


class Manager:
    def __init__(self, log: list[str], swallow: bool) -> None:
        self.log = log
        self.swallow = swallow

    def __enter__(self) -> Manager:
        self.log.append("in")
        return self

    def __exit__(self, kind: object, value: object, trace: object) -> bool:
        self.log.append("out" if kind is None else "error")
        return self.swallow


def with_statement(n: int, swallow: bool) -> list[str]:
    log: list[str] = []
    with Manager(log, swallow):
        if n < 0:
            raise RuntimeError("negative")
        if n == 0:
            return log
    return log


def deletes(xs: list[int]) -> list[int]:
    if len(xs) > 1:
        del xs[0]
    return xs


def comprehensions(xs: list[int]) -> tuple[list[int], dict[int, int], int]:
    squares = [x * x for x in xs if x > 1]
    lookup = {x: i for i, x in enumerate(squares)}
    return squares, lookup, sum(x + y for x in xs for y in xs)


def closures(n: int) -> int:
    def add(m: int) -> int:
        nonlocal n
        n += m
        return n

    twice = lambda f, v: f(f(v))  # noqa: E731
    if n > 0:
        return twice(add, 1)
    return n


def defaults(a: int, b: int = 5, *, c: int = 7) -> int:
    if a > b:
        return a - c
    return b + c


def star_arguments(a: int) -> int:
    def inner(*args: int, **named: int) -> int:
        return sum(args) + named["z"]

    values = (a, 2)
    if a > 2:
        return inner(*values, z=1)
    return inner(1, **{"z": a})


def unpacking(xs: list[int]) -> int:
    first, *rest = xs
    if rest:
        return rest[-1]
    return first


def chained(a: int, b: int, c: int) -> bool:
    return a < b <= c


def conditional(a: int) -> str:
    return "neg" if a < 0 else "zero" if a == 0 else "pos"


def walrus(xs: list[int]) -> int:
    if (n := len(xs)) > 1:
        return n
    return -n


def matching(v: int | str | tuple[int, int] | None) -> str:
    match v:
        case None:
            return "nothing"
        case 0 | 1:
            return "bit"
        case int() as n if n > 100:
            return "big"
        case (a, b):
            return "pair" if a == b else "different"
        case str():
            return "text"
        case _:
            return "other"


def match_class(p: Point) -> int:
    match p:
        case Point(x=0, y=y):
            return y
        case Point(x=x):
            return x
        case _:
            return -1


def evens(n: int) -> Iterator[int]:
    i = 0
    while i < n:
        if i % 2 == 0:
            yield i
        i += 1


def use_generator(n: int) -> int:
    total = 0
    for v in evens(n):
        total += v
    return total


def builtins_(a: int, b: int) -> int:
    q, r = divmod(a, b)
    if min(a, b) > 0:
        return pow(q, 2) + r
    return int(any([a > 0, b > 0])) + bool(all([a, b]))


def texts(n: int) -> str:
    if n > 9:
        return f"{n} items"
    return "item %d" % n


def literals(mode: Literal["r", "w"]) -> bool:
    return mode == "w"


def optional(n: int | None) -> int:
    if n is None:
        return 0
    return n


_cache: dict[int, int] = {7: 49}


def memo(n: int) -> int:
    if n in _cache:
        return _cache[n]
    if n < 2:
        return n
    _cache[n] = n * 2
    return _cache[n]


total_calls = 0


def counting(n: int) -> int:
    global total_calls
    total_calls += 1
    if n > total_calls:
        return n
    return total_calls


class Tree:
    def __init__(self, value: int, left: Tree | None = None, right: Tree | None = None) -> None:
        self.value = value
        self.left = left
        self.right = right

    def insert(self, value: int) -> None:
        if value < self.value:
            if self.left is None:
                self.left = Tree(value)
            else:
                self.left.insert(value)
        elif self.right is None:
            self.right = Tree(value)
        else:
            self.right.insert(value)


class Stack:
    def __init__(self) -> None:
        self.items: list[int] = []

    def push(self, v: int) -> None:
        self.items.append(v)

    def pop(self) -> int:
        if not self.items:
            raise IndexError("empty stack")
        return self.items.pop()


def default_dicts(xs: list[int]) -> dict[int, int]:
    import collections

    counts = collections.defaultdict(int)
    for x in xs:
        counts[x] += 1
    return dict(counts)


def counters(s: str) -> int:
    from collections import Counter as Count

    if len(s) > 2:
        return 0
    return Count(s)["a"]


def deques(n: int) -> list[int]:
    from collections import deque

    queue = deque([n])
    if n > 1:
        queue.appendleft(n - 1)
    first = queue.popleft()
    return [first, len(queue)]


def any_object(o: object) -> bool:
    return o is None or isinstance(o, int)


class Stack(list):
    def __init__(self, *values):
        super().__init__(values)


class Bag(dict):
    def __init__(self, *given, **named):
        dict.__init__(self, *given, **named)
        self.total = len(self)


class Distinct(set):
    def __init__(self, values: list[int]):
        set.__init__(self, values)


def own_containers(a: int, b: int) -> tuple[int, int, int]:
    stack = Stack(a, b)
    stack.append(3)
    return stack.pop() + stack[0], Bag({a: 1}).total + len(Bag(x=1, y=2)), len(Distinct([a, b, a]))


def no_mapping(a: int) -> Bag:
    return Bag(a)


def no_manager(a: int) -> int:
    with a:
        return 1  # pragma: no cover


def in_place(a: int, b: int | None) -> int:
    a += b
    return a


def spread_names(a: int) -> int:
    return no_manager(**a)


def method_itself(values: list[int]) -> int:
    take = values.append
    take(1)
    return len(take.__self__)


def lazy_pairs(values: list[int]) -> bool:
    import itertools

    first, second = itertools.tee(map(abs, values))
    next(second, None)
    return any(a > b for a, b in zip(first, second, strict=False))


class Rank:
    def __init__(self, n: int = 0) -> None:
        self.n = n

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rank) and self.n == other.n

    def __lt__(self, other: "Rank") -> bool:
        return self.n < other.n

    def __gt__(self, other: "Rank") -> bool:
        return self.n > other.n


class Joker(Rank):
    def __eq__(self, other: object) -> bool:
        return False

    def __gt__(self, other: Rank) -> bool:
        return True


def same_rank(a: Rank, b: Rank) -> bool:
    return a == b


def lower_rank(a: Rank, b: Rank) -> bool:
    return a < b


def update_twice(a: int) -> dict[str, int]:
    found = {"a": a}
    found.update({"b": 1}, {"c": 2})
    return found  # pragma: no cover
