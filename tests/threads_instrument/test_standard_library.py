"""Every module of the standard library can be rewritten, and every function in it is paired with its new form."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from treadle.threads.instrument.cache import CodeCache
from treadle.threads.instrument.chunks import compile_chunk

STDLIB = Path(sysconfig.get_path("stdlib"))


@pytest.mark.slow
def test_every_top_level_module_of_the_standard_library_can_be_rewritten() -> None:
    files = sorted(STDLIB.glob("*.py"))
    assert len(files) > 100
    for file in files:
        compile_chunk(file.read_bytes(), str(file))  # raises where the two forms do not correspond


LOOPS = """
async def consume(source, rows):
    while True:
        async for item in source:
            if item:
                continue
            for part in item:
                continue
        else:
            continue
    async for item in source:
        while item:
            continue
        continue
"""


def test_every_kind_of_loop_can_be_left_by_continue_in_code_that_says_where_it_may_switch() -> None:
    assert compile_chunk(LOOPS.encode(), "loops.py", cache=CodeCache(None, marked=True)) is not None
