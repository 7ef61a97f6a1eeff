"""Functions with very many paths: 13 conditions in a row make 8192, and what a person asks about lies behind them."""


def wide(a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int, i: int, j: int, k: int, l: int, m: int) -> int:
    n = 0
    if a > 0:
        n += 1
    if b > 0:
        n += 1
    if c > 0:
        n += 1
    if d > 0:
        n += 1
    if e > 0:
        n += 1
    if f > 0:
        n += 1
    if g > 0:
        n += 1
    if h > 0:
        n += 1
    if i > 0:
        n += 1
    if j > 0:
        n += 1
    if k > 0:
        n += 1
    if l > 0:
        n += 1
    if m > 0:
        n += 1
    if a + b == 100:
        if c - d == 7:
            if m < -50:
                n = -1
    if n == 6:
        n = 60
    if n == 0:
        n = 100
    if a > 5 and a < 3:
        n = -2
    return n
