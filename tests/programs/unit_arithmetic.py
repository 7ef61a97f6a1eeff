"""Arithmetic whose paths a brute-force walk over a small box can list."""


def collatz_steps(n: int) -> int:
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def triangle(a: int, b: int, c: int) -> str:
    if a <= 0 or b <= 0 or c <= 0:
        return "none"
    if a + b <= c:
        return "none"
    if a + c <= b:
        return "none"
    if b + c <= a:
        return "none"
    if a == b == c:
        return "equilateral"
    if a == b:
        return "isosceles"
    if b == c:
        return "isosceles"
    if a == c:
        return "isosceles"
    return "scalene"


def divide(a: int, b: int) -> int:
    try:
        q = a // b
    except ZeroDivisionError:
        return 0
    if q < 0:
        return q + 1
    if a % b:
        return -q
    return q


def count_down(n: int, step: int) -> int:
    rounds = 0
    while n > 0:
        if step <= 0:
            break
        n -= step
        rounds += 1
    else:
        rounds += 100
    return rounds


def clamp(x: int, low: int, high: int) -> int:
    if low > high:
        raise ValueError(f"{low} > {high}")
    if x < low:
        return low
    if x > high:
        return high
    return x


def grid(n: int, m: int) -> int:
    total = 0
    i = 0
    while i < n:
        j = 0
        while j < m:
            if i == j:
                total += 1
            j += 1
        i += 1
    return total


def recursive_sum(n: int) -> int:
    if n <= 0:
        return 0
    return n + recursive_sum(n - 1)


def flags(mode: int) -> str:
    text = "r" if mode & 4 else "-"
    return text + ("w" if mode & 0b10 else "-")


def odd(n: int) -> bool:
    return n & 1 == 1


def toggled(n: int) -> int:
    return (n ^ 0xFF) | 0x101


def byte(n: int) -> int:
    if n & ~0xFF:
        raise ValueError("not a byte")
    return n >> 4 if n & 0xF0 else n
