"""A program that starts or ends processes is refused, inside an execution only."""

from __future__ import annotations

import contextlib
import os
from multiprocessing.pool import ThreadPool

import pytest

import treadle
from tests.threads_primitives.running import inside
from treadle.core.errors import Unsupported
from treadle.threads.primitives import processes


@pytest.mark.parametrize("real", [os._exit, os.abort, os.execv])
def test_a_name_imported_before_is_refused_too(real: object) -> None:
    def main() -> str:
        with pytest.raises(Unsupported) as refused:
            processes.IMPORTED[real]()
        return str(refused.value)

    assert "ends the whole process and the search with it" in inside(main)


def test_a_pool_of_threads_runs_without_its_pipe() -> None:
    def main() -> list[int]:
        with ThreadPool(2) as pool:
            return pool.map(abs, [-1, -2, 3])

    assert inside(main) == [1, 2, 3]


def test_a_program_that_goes_on_without_the_process_is_refused_all_the_same() -> None:
    """What it does then, it does not do without Treadle."""

    def test() -> None:
        with contextlib.suppress(Exception):
            os.fork()

    with pytest.raises(Unsupported, match=r"os\.fork\(\)"):
        treadle.check(test)
