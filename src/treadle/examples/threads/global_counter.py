"""Read-modify-write on a global: two requests get the same number."""

import threading

import treadle

last_number = 0
lock = threading.Lock()


def next_number() -> int:
    global last_number
    last_number += 1
    return last_number


def locked_next_number() -> int:
    with lock:
        return next_number()


def test_buggy_numbers() -> None:
    numbers = treadle.parallel(next_number, next_number)
    assert sorted(numbers) == [1, 2]


def test_fixed_numbers() -> None:
    numbers = treadle.parallel(locked_next_number, locked_next_number)
    assert sorted(numbers) == [1, 2]
