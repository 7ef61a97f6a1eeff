"""Tests as projects have them, with what surrounds a test: folders, fixtures of a wider scope, imports, clocks, signals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_existing_projects import explored

IN_FOLDER = """
def test_it(tmp_path):
    def note(name):
        (tmp_path / "notes").mkdir(exist_ok=True)
        (tmp_path / "notes" / name).write_text(name)

    both(lambda: note("one"), lambda: note("two"))
    assert len(list((tmp_path / "notes").iterdir())) == 2
"""


@pytest.mark.parametrize(
    "source",
    [
        IN_FOLDER,
        IN_FOLDER.replace("(tmp_path)", "(tmp_path_factory)").replace(
            "    def note", "    tmp_path = tmp_path_factory.mktemp('x')\n    def note"
        ),
    ],
    ids=["tmp_path", "tmp_path_factory"],
)
def test_the_folder_of_a_test_has_the_same_name_in_every_execution(cli: Cli, project: Path, source: str) -> None:
    found = explored(cli, project, source, "--executions", "30")
    assert found["executions"] >= 2, found
    assert found["verdict"].startswith("PASSED") or found["cut_by"] == "executions", found
