"""Semaphore leak: the slot is not given back when the download fails, and the next one waits for ever."""

import threading

import treadle


class Mirror:
    """A server that fails its first request."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.requests = 0

    def fetch(self) -> str:
        with self.lock:
            self.requests += 1
            if self.requests == 1:
                raise ConnectionError("the mirror is starting")
        return "page"


class Downloader:
    def __init__(self, slots: int) -> None:
        self.slots = threading.Semaphore(slots)
        self.mirror = Mirror()

    def download(self) -> str | None:
        self.slots.acquire()
        try:
            page = self.mirror.fetch()
        except ConnectionError:
            return None  # without the slot
        self.slots.release()
        return page


class TidyDownloader(Downloader):
    def download(self) -> str | None:
        with self.slots:
            try:
                return self.mirror.fetch()
            except ConnectionError:
                return None


def test_buggy_downloads() -> None:
    downloader = Downloader(slots=1)
    treadle.parallel(downloader.download, downloader.download)


def test_fixed_downloads() -> None:
    downloader = TidyDownloader(slots=1)
    treadle.parallel(downloader.download, downloader.download)
