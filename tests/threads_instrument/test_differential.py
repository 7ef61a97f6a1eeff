"""Rewritten code does what plain code does: same values, same order, same output, same errors on the same lines."""

from __future__ import annotations

import sys

import pytest

from tests.threads_instrument.corpus import NEWER_PROGRAMS, PROGRAMS
from tests.threads_instrument.differential import run_both

_PROGRAMS = dict(PROGRAMS)
for _version, _programs in NEWER_PROGRAMS.items():
    if sys.version_info >= _version:
        _PROGRAMS.update(_programs)


@pytest.mark.parametrize("name", _PROGRAMS)
def test_rewritten_program_cannot_be_told_from_plain_one(name: str) -> None:
    plain, rewritten = run_both(_PROGRAMS[name])
    assert rewritten == plain


def test_corpus_programs_end_as_they_are_meant_to() -> None:
    """A program of the corpus that fails by mistake would compare equal and test nothing."""
    for name, source in _PROGRAMS.items():
        plain, _ = run_both(source)
        ends = plain.result != "None" or plain.error.split(":")[0] in {
            "TypeError",
            "AttributeError",
            "KeyError",
            "ValueError",
            "AssertionError",
        }
        assert ends, (name, plain.error)
        if "result =" in source:
            assert not plain.error, (name, plain)
