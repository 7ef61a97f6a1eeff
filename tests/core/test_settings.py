"""Settings: the nearest table counts, and one that is misspelt or of another type is an error, never ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.core.errors import UsageError
from treadle.core.settings import check_values, read_settings
from treadle.core.words import choices


def project(folder: Path, table: str) -> Path:
    (folder / "pyproject.toml").write_text(f"[tool.treadle]\n{table}\n")
    return folder


def test_the_nearest_table_counts_without_those_of_commands(tmp_path: Path) -> None:
    inner = tmp_path / "package" / "tests"
    inner.mkdir(parents=True)
    project(tmp_path, "executions = 5\n[tool.treadle.class]\nbudget = 1")
    assert read_settings(inner) == {"executions": 5}
    project(inner.parent, "seconds = 2.5")
    assert read_settings(inner) == {"seconds": 2.5}


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("execution = 5", "has no setting 'execution'; did you mean 'executions'?"),
        ('seconds = "5"', "seconds must be a number, not '5'"),
        ("executions = true", "executions must be a whole number, not True"),
        ("instrument = [1]", "instrument must be a list of package names"),
        ("seed =", "is not valid TOML"),
    ],
)
def test_a_wrong_table_is_an_error(tmp_path: Path, table: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_settings(project(tmp_path, table))
    assert told in str(caught.value)


def test_options_of_a_call_are_checked_alike() -> None:
    check_values({"instrument": "package", "seconds": None, "any_order": False}, "check")
    with pytest.raises(UsageError, match="check: any_order must be true or false, not 1"):
        check_values({"any_order": 1}, "check")


def test_a_long_list_of_names_is_cut() -> None:
    assert choices("q", ["alpha", "beta"]) == "; there are: alpha, beta"
    assert choices("q", [f"name{n}" for n in range(20)]).endswith("name11, ...")
