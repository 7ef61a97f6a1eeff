"""Stands for a module of compiled code: its source is never followed, a stub file says what it does."""


def arraycopy(src, dst, n):
    if n < 0:
        raise ArithmeticError("negative length")
    if n == 0:
        return
    if src is None or dst is None:
        raise TypeError("null array")
    for i in range(n):
        dst[i] = src[i]


LEVEL = 3


def root(n):
    if n < 0:
        raise ValueError("negative")
    return int(n**0.5)


class Device:
    def __init__(self, left):
        self.left = left

    def read(self, size):
        if size > self.left:
            raise EOFError("no more")
        self.left -= size
        return "x" * size
