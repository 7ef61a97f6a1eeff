"""Money from one account to another: what happens with too much, with nothing, and when both are the same account?"""


class Account:
    def __init__(self, balance: int = 0) -> None:
        self.balance = balance


def transfer(source: Account, target: Account, amount: int) -> bool:
    if amount <= 0 or source.balance < amount:
        return False
    source.balance -= amount
    target.balance += amount
    return True
