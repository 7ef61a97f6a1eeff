"""Lost update: two deposits read the same balance, and the second one overwrites the first."""

import threading

import treadle


class Account:
    def __init__(self) -> None:
        self.balance = 0

    def deposit(self, amount: int) -> None:
        self.balance = round(self.balance + amount)


class LockedAccount(Account):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def deposit(self, amount: int) -> None:
        with self.lock:
            super().deposit(amount)


def test_buggy_deposits() -> None:
    account = Account()
    treadle.parallel(account.deposit, account.deposit, args=(1,))
    assert account.balance == 2


def test_fixed_deposits() -> None:
    account = LockedAccount()
    treadle.parallel(account.deposit, account.deposit, args=(1,))
    assert account.balance == 2
