"""A cached property is an attribute that two strands may both find missing."""

from __future__ import annotations

import functools
import sys

import pytest

from tests.threads_primitives.running import announced, inside
from treadle.core.operation import WRITE
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.primitives import cached


class Page:
    made = 0

    @functools.cached_property
    def text(self) -> str:
        self.made += 1
        return "text"


def test_the_value_is_kept_by_a_write_of_the_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REWRITTEN, __name__, 1)

    def main() -> None:
        page = Page()
        assert (page.text, page.text) == ("text", "text")
        assert page.made == 1

    written = [op for op in announced(main) if op[0] == WRITE]
    assert written == [(WRITE, "Page#1", "text")]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="there is no lock from 3.12 on")
def test_until_python_3_12_the_lock_is_called_after_the_property(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REWRITTEN, __name__, 1)
    assert announced(lambda: Page().text)[0][1] == "Page.text lock"


def test_asked_of_the_class_it_is_the_property_itself() -> None:
    assert inside(lambda: cached.get(vars(Page)["text"], None, Page)) is vars(Page)["text"]
