"""Loops in loops, calls in loops, values that are picked: where a bound cuts, and where a wider one goes on."""

import icontract


def grid(width: int, height: int) -> int:
    found = 0
    row = 0
    while row < height:
        column = 0
        while column < width:
            found += 1
            column += 1
        row += 1
    return found


def stairs(n: int, m: int) -> int:
    """The inner loop comes before the rest of the outer one, and both depend on the inputs."""
    total = 0
    while n > 0:
        while m > n:
            m -= 2
            total += 1
        if m == 3:
            return -total
        n -= 1
    while m > 0:
        m -= 3
        total += 10
    return total


def depth(n: int) -> int:
    if n <= 0:
        return 0
    steps = 0
    while n > 4:
        n -= 2
        steps += 1
    return steps + depth(n - 1)


def words(text: str, n: int) -> int:
    """encode() is not followed: its argument is picked."""
    found = 0
    while n > 0:
        if text.encode() == b"ab":
            found += 1
        n -= 1
    return found


def total(numbers: list[int]) -> int:
    found = 0
    for number in numbers:
        if number > 0:
            found += number
    return found


def straight(x: int) -> int:
    return x + 1 if x > 0 else x


def _fine(n: int) -> bool:
    """Decided in three ways, with two answers."""
    if n > 5:
        return True
    if n < -5:
        return True
    return n != 2


@icontract.ensure(lambda result: _fine(result))
def promised(n: int, up: bool) -> int:
    return n + 1 if up else n


def late(n: int) -> int:
    """What three and four rounds lead to, no fewer do."""
    rounds = 0
    while n > 0:
        n -= 3
        rounds += 1
    if rounds == 3:
        return -33
    if rounds == 4:
        return -44
    return rounds


def widths(m: int, n: int) -> int:
    """bit_length() is not followed: its argument is picked."""
    found = 0
    while n > 0:
        if m.bit_length() > 2:
            found += 1
        n -= 1
    return found
