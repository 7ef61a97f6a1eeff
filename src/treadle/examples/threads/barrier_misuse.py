"""Barrier misuse: a worker that has nothing to do returns early, and the others wait for it at the barrier."""

import threading

import treadle


class Job:
    """Two workers take pieces from one list, then meet before the results are added up."""

    def __init__(self) -> None:
        self.pieces = [4, 5]
        self.results: list[int] = []
        self.done = threading.Barrier(2)

    def work(self) -> None:
        if not self.pieces:
            return  # and the other one waits for ever
        while self.pieces:
            self.results.append(self.pieces.pop() ** 2)
        self.done.wait()


class PatientJob(Job):
    def work(self) -> None:
        while True:
            try:
                piece = self.pieces.pop()
            except IndexError:
                break
            self.results.append(piece**2)
        self.done.wait()


def test_buggy_job() -> None:
    job = Job()
    treadle.parallel(job.work, job.work)
    assert sum(job.results) == 41


def test_fixed_job() -> None:
    job = PatientJob()
    treadle.parallel(job.work, job.work)
    assert sum(job.results) == 41
