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
