"""A worker process of `treadle explore --workers`: pytest collects the test here, and its shares are run inside it."""

from __future__ import annotations

import os
from typing import Any

from treadle.cli import collect
from treadle.core.errors import UsageError
from treadle.core.result import Result
from treadle.doors.explore.pieces import ShareRunner
from treadle.doors.explore.replay import loom_with
from treadle.doors.replay import test_from_here
from treadle.pytest_plugin import Campaign
from treadle.search.workers import Conversation
from treadle.threads.loom import MOST_STEPS


def serve(setup: tuple[str, dict[str, Any], int | None], conversation: Conversation) -> None:
    """Run shares of the search of a test until nobody asks any more."""
    target, settings, operations = setup
    os.environ["PYTEST_ADDOPTS"] = ""

    def shares(test: Any, *, source: Any, target: str, progress: Any) -> Result:
        with loom_with(settings | {"operations": operations or MOST_STEPS}, test, source, ()) as loom:
            conversation.serve(ShareRunner(loom).run)
        raise EOFError

    campaign = Campaign(search=shares, example=settings.get("example", ""))
    collect.run(collect.Target(test_from_here(target)), campaign)
    for _, error in campaign.errors:
        raise error
    raise UsageError(f"{target} was not run by pytest in a worker process")
