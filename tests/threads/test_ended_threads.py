"""A thread that an exception ended is told beside the failure that it led to."""

from __future__ import annotations

import threading

import treadle


def test_what_ended_a_thread_is_told_with_the_assertion_that_fails() -> None:
    def program() -> None:
        jobs: dict[str, int] = {}
        done: list[int] = []
        put = threading.Thread(target=lambda: jobs.update(one=1))
        take = threading.Thread(target=lambda: done.append(jobs.pop("one")))
        put.start()
        take.start()
        put.join()
        take.join()
        assert done == [1]

    (finding,) = treadle.check(program).findings
    assert finding.kind == "assertion"
    assert finding.notes == ["T2 had ended with KeyError: 'one'"]
