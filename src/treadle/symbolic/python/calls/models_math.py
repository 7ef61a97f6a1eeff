"""Summaries of functions of `math`, shipped: Python that the machine follows where an argument is unknown.

Written like the cases of a stub file: plain guards, plain bodies. Known arguments go to the real function. Where the
original complains about a value, its words are those of this Python.
Floats are exact here, and never inf or nan: `unit.md` says what follows from that.
"""

# mypy: ignore-errors

import math


def _words(function, *args, **named):
    try:
        function(*args, **named)
    except ValueError as error:
        return str(error)


_FMOD = _words(math.fmod, 1.0, 0.0)
_ISCLOSE = _words(math.isclose, 1.0, 1.0, rel_tol=-1.0)
_PERM_N, _PERM_K = _words(math.perm, -1, 1), _words(math.perm, 1, -1)
_POW = _words(math.pow, 0.0, -1.0)


def fabs(x):
    return abs(float(x))


def trunc(x):
    return int(x)


def modf(x):
    x = float(x)
    whole = float(int(x))
    return (x - whole, whole)


def copysign(x, y):
    x = abs(float(x))
    return x if y >= 0 else -x


def isfinite(x):
    float(x)
    return True


def isinf(x):
    float(x)
    return False


def isnan(x):
    float(x)
    return False


def fmod(x, y):
    if y == 0:
        raise ValueError(_FMOD)
    x, y = float(x), float(y)
    return x - int(x / y) * y


def fsum(seq):
    total = 0.0
    for value in seq:
        total += value
    return total


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError(_ISCLOSE)
    difference = abs(float(a) - float(b))
    return difference <= max(abs(rel_tol * float(a)), abs(rel_tol * float(b)), float(abs_tol))


def lcm(*integers):
    result = 1
    for n in integers:
        if n == 0:
            return 0
        result = abs(result * n) // math.gcd(result, n)
    return result


def perm(n, k=None):
    if n < 0:
        raise ValueError(_PERM_N)
    if k is None:
        return math.factorial(n)
    if k < 0:
        raise ValueError(_PERM_K)
    if k > n:
        return 0
    result = 1
    for i in range(k):
        result *= n - i
    return result


def ldexp(x, i):
    return float(x) * 2.0**i


def pow_(x, y):
    if y < 0 and x == 0:
        raise ValueError(_POW)
    return float(x) ** y


def degrees(x):
    return float(x) * (180.0 / math.pi)


def radians(x):
    return float(x) * (math.pi / 180.0)


MODELS = {
    math.fabs: fabs,
    math.trunc: trunc,
    math.modf: modf,
    math.copysign: copysign,
    math.isfinite: isfinite,
    math.isinf: isinf,
    math.isnan: isnan,
    math.fmod: fmod,
    math.fsum: fsum,
    math.isclose: isclose,
    math.lcm: lcm,
    math.perm: perm,
    math.ldexp: ldexp,
    math.pow: pow_,
    math.degrees: degrees,
    math.radians: radians,
}
