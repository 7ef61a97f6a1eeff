"""What is exchanged for all threads at once is an operation, as in code that is rewritten."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings

import pytest

from tests.threads_primitives.running import announced
from treadle.core.operation import READ, WRITE
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.primitives.exchanged import import_


def test_redirected_output_is_a_write_on_entering_and_on_leaving() -> None:
    def main() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            pass

    assert announced(main) == [(WRITE, "sys", "stdout")] * 2


def test_a_warning_is_an_operation_once_somebody_catches_warnings() -> None:
    def main() -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.warn("told", stacklevel=1)
        assert [str(one.message) for one in caught] == ["told"]
        assert caught[0].filename == __file__  # no frame of Treadle is taken for the caller

    assert announced(main) == [(WRITE, "warnings", "filters")] * 4


def test_an_import_statement_of_the_program_looks_among_the_loaded_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REWRITTEN, __name__, 1)
    assert announced(lambda: import_("json", globals())) == [(READ, "sys.modules", "json")]
    assert announced(lambda: import_("json", {"__name__": "library"})) == []
    assert import_("json", globals()) is sys.modules["json"]
