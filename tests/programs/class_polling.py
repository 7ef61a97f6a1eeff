"""Objects with threads of their own that look for work again and again."""

from __future__ import annotations

import threading


class Feeder(threading.Thread):
    """Goes round until it is stopped; what it does there, its heirs say."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._stopped = threading.Event()

    def runs(self) -> bool:
        return not self._stopped.is_set()

    def feed(self) -> None:
        """For heirs."""

    def run(self) -> None:
        while self.runs():
            self.feed()


class Watcher:
    """A feeder that is scheduled while the watcher starts is started by neither of the two."""

    def __init__(self, feeder_class: type[Feeder]) -> None:
        self._class = feeder_class
        self._feeders: set[Feeder] = set()
        self._running = False

    @property
    def feeders(self) -> set[Feeder]:
        return self._feeders

    def start(self) -> None:
        for feeder in list(self._feeders):
            feeder.start()
        self._running = True

    def schedule(self) -> None:
        feeder = self._class()
        if self._running:
            feeder.start()
        self._feeders.add(feeder)

    def finish(self) -> None:
        """Waits for ever, where a feeder is running."""
        for feeder in list(self._feeders):
            feeder.join()
