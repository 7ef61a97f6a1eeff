"""Random programs over the containers and iterators of the conformance table: dpor loses no outcome."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.threads_sight.conformance import STATES, TYPES, Case, everything, reduced

# CPython's own OrderedDict crashes when a key's `__eq__` lets another thread empty it (3.11 to 3.13).
KINDS = sorted(TYPES.keys() - {"OrderedDict"})


@st.composite
def programs(draw: st.DrawFn) -> Case:
    """Two strands that make one to three calls each on one object."""
    kind = draw(st.sampled_from(KINDS))
    calls = st.lists(st.sampled_from(sorted(TYPES[kind][1])), min_size=1, max_size=3).map(" ".join)
    return kind, draw(st.sampled_from(STATES)), draw(calls), draw(calls)


@pytest.mark.slow
@settings(max_examples=40)
@given(programs())
def test_dpor_shows_what_every_schedule_shows(case: Case) -> None:
    shown, all_shown = reduced(case), everything(case)
    if shown is not None and all_shown is not None:
        assert all_shown <= shown
