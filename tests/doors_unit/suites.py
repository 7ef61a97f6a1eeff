"""A suite for a program that a test has in its text, made in an empty folder."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import treadle
from treadle.doors.unit.result import Suite


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def suite_of(name: str, program: str, target: str, **options: Any) -> Suite:
    Path(f"{name}.py").write_text(dedent(program).lstrip())
    return treadle.unit(f"{name}:{target}", write_file=False, **options)
