"""The documentation is true: every snippet runs and prints what the page shows, links lead somewhere, options exist."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from tests.docs.snippets import blocks, check, matches
from treadle.cli.main import COMMANDS, treadle
from treadle.core.settings import KEYS
from treadle.search import strategies

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
NAMES = [page.name for page in PAGES]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_snippet_does_what_the_page_says(page: Path, tmp_path: Path) -> None:
    wrong = check(page, tmp_path)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_to_files_that_exist(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_make_targets_in_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {name for block in blocks(ROOT / "README.md") for name in re.findall(r"^make ([\w-]+)", block.text, re.M)}
    assert "demo" in targets
    assert {name for name in targets if not re.search(rf"^{name}:", makefile, re.M)} == set()


def options(name: str) -> set[str]:
    command = treadle.get_command(click.Context(treadle), name)
    assert command is not None
    found = {word for parameter in command.params for word in parameter.opts if word.startswith("--")}
    return found - {"--help"}


@pytest.mark.parametrize("name", ["explore", "replay", "demo"])
def test_every_option_of_the_help_is_documented(name: str) -> None:
    assert name in COMMANDS
    page = (ROOT / "docs" / "explore.md").read_text(encoding="utf-8")
    assert [option for option in options(name) if f"`{option}" not in page] == []


def test_every_option_in_the_page_exists() -> None:
    page = (ROOT / "docs" / "explore.md").read_text(encoding="utf-8")
    known = set().union(*(options(name) for name in ("explore", "replay", "demo"))) | {"--help"}
    plugin = (ROOT / "src" / "treadle" / "pytest_plugin" / "__init__.py").read_text(encoding="utf-8")
    known |= set(re.findall(r"(?<![\w-])--treadle[a-z-]*", plugin))
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page)) - known == set()


def test_every_setting_and_strategy_is_documented() -> None:
    page = (ROOT / "docs" / "explore.md").read_text(encoding="utf-8")
    assert [word for word in (*KEYS, *strategies.NAMES) if f"`{word}`" not in page] == []


def test_the_checker_notices_a_difference() -> None:
    assert matches("a ... c\n", "a b c\n")
    assert not matches("a ... d\n", "a b c\n")
