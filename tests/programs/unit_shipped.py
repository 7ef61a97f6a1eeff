"""Methods of str and functions of math whose summaries are shipped."""

import math


def admin(name: str) -> int:
    if name.lower() == "admin":
        return 1
    return 2 if name.upper() == "ROOT" else 3


def words(s: str) -> int:
    return len(s.split())


def number(s: str) -> int:
    return int(s) + 1


def integers(s: str) -> list[int]:
    return [int(part) for part in s.split(",")]


def setting(line: str) -> tuple[str, str] | None:
    line = line.strip()
    if not line or line.startswith("#"):
        return None
    if "=" not in line:
        raise ValueError("no value")
    key, value = line.split("=", 1)
    return key.strip(), value.strip()


def quoted(s: str) -> str:
    return f"{s!r}"


def tail(s: str) -> str:
    first, *rest = s.rsplit("/", 2)
    if len(rest) == 2 and rest[1].upper() == "X":
        return first
    return rest[0] if rest else ""


def pair(line: str) -> str:
    a, b = line.split(":", 1)
    return b


def extension(path: str) -> str:
    base, dot, end = path.rpartition(".")
    return end if dot else ""


def last(path: str) -> int:
    where = path.rfind("/")
    if where < 0:
        return -1
    return where if where > 2 else 0


def folder(path: str) -> str:
    return path.rstrip("/")


def host(s: str) -> list[str]:
    return s.rsplit("@", 1)


def padded(n: int, s: str) -> str:
    return f"{n:03}|{n:4d}|{s:<5}|{s:>3}|{s:*>4}"


def justified(s: str) -> tuple[str, ...]:
    return s.zfill(4), s.ljust(3), s.rjust(3, "."), s.center(4), s.center(5, "*")


def wide(s: str) -> bool:
    return len(s.rjust(5)) > 5


def commas(s: str) -> int:
    return s.count(",")


def square(n: int) -> str:
    root = math.isqrt(n)
    if root * root == n:
        return "square"
    return "large" if root > 5 else "small"


def half(x: float) -> bool:
    return round(x, 1) == 0.5


def tens(n: int) -> int:
    return round(n, -1)


def signed(a: float, b: float) -> float:
    return math.copysign(a, b)


def remainder(a: float, b: float) -> float:
    return math.fmod(a, b)


def arranged(n: int, k: int) -> int:
    return math.perm(n, k)


def right_angle(a: float) -> bool:
    return math.degrees(a) > 90


def finite(a: float) -> bool:
    return math.isfinite(a) and math.trunc(a) > 2 and math.fabs(a) < 3.5


def total(values: list[float]) -> bool:
    return math.fsum(values) > 1.0
