"""ABBA deadlock: two transfers take the same two locks in opposite order, and each waits for the other."""

import threading


class Account:
    def __init__(self, number: int, balance: int) -> None:
        self.number = number
        self.balance = balance
        self.lock = threading.Lock()


def transfer(source: Account, target: Account, amount: int) -> None:
    with source.lock, target.lock:
        source.balance -= amount
        target.balance += amount


def ordered_transfer(source: Account, target: Account, amount: int) -> None:
    first, second = sorted((source, target), key=lambda account: account.number)
    with first.lock, second.lock:
        source.balance -= amount
        target.balance += amount


def test_buggy_transfers() -> None:
    one, two = Account(1, 10), Account(2, 10)
    there = threading.Thread(target=transfer, args=(one, two, 1))
    back = threading.Thread(target=transfer, args=(two, one, 1))
    for thread in (there, back):
        thread.start()
    for thread in (there, back):
        thread.join()
    assert one.balance + two.balance == 20


def test_fixed_transfers() -> None:
    one, two = Account(1, 10), Account(2, 10)
    there = threading.Thread(target=ordered_transfer, args=(one, two, 1))
    back = threading.Thread(target=ordered_transfer, args=(two, one, 1))
    for thread in (there, back):
        thread.start()
    for thread in (there, back):
        thread.join()
    assert one.balance + two.balance == 20
