"""Called from another module."""


def check(amount: int) -> int:
    if amount == 41:
        return 7
    return 1
