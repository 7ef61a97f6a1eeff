"""Every module of the standard library can be rewritten, and every function in it is paired with its new form."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from treadle.threads.instrument.chunks import compile_chunk

STDLIB = Path(sysconfig.get_path("stdlib"))


@pytest.mark.slow
def test_every_top_level_module_of_the_standard_library_can_be_rewritten() -> None:
    files = sorted(STDLIB.glob("*.py"))
    assert len(files) > 100
    for file in files:
        compile_chunk(file.read_bytes(), str(file))  # raises where the two forms do not correspond
