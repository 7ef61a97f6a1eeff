"""Tests as projects have them, which something goes wrong in that fails no plain run: neither does it fail here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_existing_projects import explored

LOOP_IN_THREAD = """
import asyncio

def test_it():
    done = []

    async def fails():
        raise ValueError("nobody asks")

    async def main(name):
        FAULT
        await asyncio.sleep(0.01)
        done.append(name)

    both(lambda: asyncio.run(main("one")), lambda: asyncio.run(main("two")))
    assert sorted(done) == ["one", "two"]
"""


@pytest.mark.parametrize(
    "fault",
    [
        "asyncio.get_running_loop().call_soon(None)",
        "asyncio.get_running_loop().call_soon(lambda: 1 / 0)",
        "task = asyncio.ensure_future(fails())",
        "fails()",
    ],
)
def test_what_an_event_loop_only_writes_to_its_log_in_a_plain_run_fails_nothing(
    cli: Cli, project: Path, fault: str
) -> None:
    found = explored(cli, project, LOOP_IN_THREAD.replace("FAULT", fault), "--executions", "10")
    assert found["verdict"] in ("CUT", "PASSED-WITHIN-BOUNDS", "PASSED-EXHAUSTIVE"), found
    assert found["cut_by"] != "everywhere"
    assert "as in a plain run" in found["warnings"][0]["kind"]


def test_what_goes_wrong_in_no_plain_run_is_still_a_failure(cli: Cli, project: Path) -> None:
    """The exception comes only where the second thread is first."""
    fault = (
        "done.append(name)\n        asyncio.get_running_loop().call_soon(lambda: {}[done] if done == ['two'] else None)"
    )
    found = explored(cli, project, LOOP_IN_THREAD.replace("FAULT", fault).replace("sorted(done)", "sorted(set(done))"))
    assert found["verdict"] == "FAILED", found
    assert "in a callback of the event loop" in found["findings"][0]["message"]


NUMBER_KEPT = """
import kept

def test_it():
    seen = []
    both(lambda: seen.append(kept.in_main()), lambda: seen.append(kept.in_main()))
    assert kept.in_main() and seen == [False, False]
"""
KEPT = """
import threading
MAIN = threading.get_ident()

def in_main():
    return threading.get_ident() == MAIN
"""


def test_a_module_may_keep_the_number_of_the_thread_that_imported_it(cli: Cli, project: Path) -> None:
    assert explored(cli, project, NUMBER_KEPT, kept=KEPT)["verdict"].startswith("PASSED")
