"""What a page says that a verdict rests on: in words, and with numbers that a person can use."""

from __future__ import annotations

import threading

import treadle
from treadle.report.explore_page import result_part


def appends() -> None:
    shared: list[int] = []

    def work() -> None:
        for number in range(3):
            shared.append(number)

    treadle.parallel(work, work, work)
    assert len(shared) == 9


def locked() -> None:
    lock, counts = threading.Lock(), {"n": 0}

    def work() -> None:
        with lock:
            counts["n"] += 1

    treadle.parallel(work, work)
    assert counts["n"] == 2


def test_a_cut_search_estimates_in_whole_executions() -> None:
    told = result_part(treadle.check(appends, executions=5))["evidence"]["What the search did"]
    assert told[0].startswith("5 classes of schedules were run: those of one class differ only in the order of steps")
    assert "4 threads, tasks or actors took part" in told
    estimate = next(line for line in told if line.endswith(" executions estimated for the whole search"))
    assert estimate.split()[0].isdecimal()


def test_a_pass_tells_nothing_of_what_did_not_happen() -> None:
    told = result_part(treadle.check(locked))["evidence"]["What the search did"]
    assert not [line for line in told if line.startswith("0 ")]
    assert any("looked for anything shared that had not been seen" in line for line in told)
