"""Worker processes of `explore` and `schedule`: pytest collects the test here, and what is asked is run inside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from treadle.cli import collect
from treadle.core.errors import UsageError
from treadle.core.result import Result
from treadle.doors.explore.pieces import ShareRunner
from treadle.doors.explore.replay import loom_with
from treadle.doors.replay import test_from_here
from treadle.doors.schedule.ahead import OrderRunner
from treadle.messages.loom import MessageLoom
from treadle.pytest_plugin import Campaign
from treadle.search.workers import Conversation
from treadle.threads.loom import MOST_STEPS


def serve(setup: tuple[str, dict[str, Any], int | None], conversation: Conversation) -> None:
    """Run shares of the search of a test until nobody asks any more."""
    target, settings, operations = setup
    told = settings | {"operations": operations or MOST_STEPS}
    _inside(
        target,
        lambda test, source: loom_with(told, test, source, ()),
        lambda loom: conversation.serve(ShareRunner(loom).run),
        settings.get("example", ""),
    )


def serve_orders(setup: tuple[str, dict[str, Any]], conversation: Conversation) -> None:
    """Run schedules of messages until nobody asks any more."""
    target, options = setup
    _inside(
        target,
        lambda test, source: MessageLoom(test, source=source, **options),
        lambda loom: conversation.serve(OrderRunner(loom).run),
    )


def _inside(
    target: str,
    make: Callable[[Any, Any], AbstractContextManager[Any]],
    serve: Callable[[Any], None],
    example: str = "",
) -> None:
    os.environ["PYTEST_ADDOPTS"] = ""

    def search(test: Any, *, source: Any, target: str, progress: Any) -> Result:
        with make(test, source) as loom:
            serve(loom)
        raise EOFError

    campaign = Campaign(search=search, example=example)
    collect.run(collect.Target(test_from_here(target)), campaign)
    for _, error in campaign.errors:
        raise error
    raise UsageError(f"{target} was not run by pytest in a worker process")
