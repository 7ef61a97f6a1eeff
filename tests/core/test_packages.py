"""What is installed: a release, or one sentence with what to install."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from treadle.core.errors import MissingExtra
from treadle.core.packages import import_runs, is_within, release_of, with_extra


def test_the_release_of_a_package_is_asked_by_its_import_name() -> None:
    assert release_of("_pytest.config") == pytest.__version__
    assert release_of("folder_that_is_not_installed") == ""


def test_a_missing_dependency_is_named_with_what_needs_it() -> None:
    with pytest.raises(MissingExtra, match="a drawing"):
        with_extra("a drawing", "treadle_without_this_module")


def test_whether_a_module_is_being_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "asks_in_import.py").write_text(
        "from treadle.core.packages import import_runs\nseen = import_runs('_find_and_load')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "asks_in_import", raising=False)
    assert __import__("asks_in_import").seen
    assert not import_runs("_find_and_load")


def test_a_module_is_within_its_package_and_not_within_one_whose_name_begins_alike() -> None:
    assert is_within("shop", ["shop"])
    assert is_within("shop.cart", ["bank", "shop"])
    assert not is_within("shopping", ["shop"])
