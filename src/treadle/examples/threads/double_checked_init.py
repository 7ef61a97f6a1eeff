"""Double-checked initialisation: the second check, inside the lock, was forgotten, and the pool is made twice."""

import threading

import treadle


class Database:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.pool: list[str] | None = None
        self.connects = 0

    def connect(self) -> list[str]:
        self.connects += 1
        return ["connection"]

    def get(self) -> list[str]:
        if self.pool is None:
            with self.lock:
                self.pool = self.connect()
        return self.pool


class CheckedDatabase(Database):
    def get(self) -> list[str]:
        if self.pool is None:
            with self.lock:
                if self.pool is None:
                    self.pool = self.connect()
        return self.pool


def test_buggy_pool() -> None:
    database = Database()
    treadle.parallel(database.get, database.get)
    assert database.connects == 1


def test_fixed_pool() -> None:
    database = CheckedDatabase()
    treadle.parallel(database.get, database.get)
    assert database.connects == 1
