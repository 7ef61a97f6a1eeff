"""The package imports, knows its version, and its command line answers."""

import subprocess
import sys

import pytest

import treadle


def test_version_is_printed() -> None:
    done = subprocess.run([sys.executable, "-m", "treadle", "--version"], capture_output=True, text=True, check=True)
    assert treadle.__version__ in done.stdout


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        treadle.nothing  # noqa: B018
