"""The command as people type it, in this process."""

from __future__ import annotations

import pytest

from treadle.cli.main import main


def run_command(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as left:
        main(list(words))
    out = capsys.readouterr()
    return int(left.value.code or 0), out.out, out.err


def run_unit(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    return run_command("unit", *words, capsys=capsys)
