"""A dict that changes while it is iterated: a report walks over the sessions while somebody logs in."""

import threading

import treadle


class Sessions:
    def __init__(self) -> None:
        self.active = {"ann": 3, "ben": 4}

    def log_in(self, user: str) -> None:
        self.active[user] = 0

    def report(self) -> list[str]:
        return [f"{user}: {minutes} min" for user, minutes in self.active.items()]


class LockedSessions(Sessions):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def log_in(self, user: str) -> None:
        with self.lock:
            super().log_in(user)

    def report(self) -> list[str]:
        with self.lock:
            return super().report()


def test_buggy_report() -> None:
    sessions = Sessions()
    treadle.parallel(sessions.report, lambda: sessions.log_in("cem"))


def test_fixed_report() -> None:
    sessions = LockedSessions()
    treadle.parallel(sessions.report, lambda: sessions.log_in("cem"))
