"""Where a failure can happen, in words: nothing is called possible or impossible that nobody has looked at."""

from __future__ import annotations

import pytest

from treadle.core.builds import EVERY, VERSIONS, Builds, not_asked, said


@pytest.mark.parametrize(
    ("versions", "words"),
    [
        (["3.11"], "3.11"),
        (["3.11", "3.12"], "3.11 and 3.12"),
        (["3.11", "3.12", "3.13"], "3.11 to 3.13"),
        (["3.11", "3.12", "3.14"], "3.11, 3.12 and 3.14"),
    ],
)
def test_versions_in_words(versions: list[str], words: str) -> None:
    assert said(versions) == words


def test_everywhere_and_on_what_condition() -> None:
    assert str(EVERY) == "every build"
    assert str(Builds(only_if="its queue.py is that of 3.11")) == "every build, if its queue.py is that of 3.11"


def test_what_was_not_asked_is_not_settled() -> None:
    builds = not_asked("only 3.12 was tried", ("3.12",))
    assert sorted((*builds.possible, *builds.unsettled)) == list(VERSIONS)
    assert "whether on CPython 3.11, 3.13 and 3.14 with the GIL is not settled (only 3.12 was tried)" in str(builds)
    assert "not on CPython" not in str(builds)
