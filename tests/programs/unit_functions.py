from typing import Callable


def first_true(items: list[int], predicate: Callable[[int], bool], default: int = 0) -> int:
    for item in items:
        if predicate(item):
            return item
    return default


def retry(action, attempts: int):
    for _ in range(attempts):
        result = action()
        if result > 0:
            return result
    raise ValueError("no luck")


def twice(f: Callable[[int], int] | None, x: int) -> int:
    return x if f is None else f(x) + f(x + 1)


def describe(f: Callable[[int], int]) -> str:
    return type(f).__name__
