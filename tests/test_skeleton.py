"""The package imports, knows its version, and its command line answers."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import treadle


def test_version_is_printed() -> None:
    done = subprocess.run([sys.executable, "-m", "treadle", "--version"], capture_output=True, text=True, check=True)
    assert treadle.__version__ in done.stdout


def test_every_pattern_of_package_data_matches_a_file() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    home = Path(treadle.__file__).parent
    for pattern in project["tool"]["setuptools"]["package-data"]["treadle"]:
        assert next(home.glob(pattern), None) is not None, pattern


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        treadle.nothing  # noqa: B018


def test_every_public_name_is_there_and_known_to_type_checkers() -> None:
    source = ast.parse(Path(treadle.__file__).read_text(encoding="utf-8"))
    block = next(node for node in source.body if isinstance(node, ast.If))
    typed = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed - {"actors"} == set(treadle.__all__) - {"__version__"}
    for name in treadle.__all__:
        assert getattr(treadle, name) is not None
