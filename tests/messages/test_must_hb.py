"""mustHB of the Bita paper, section IV-C, and its speed-minded closure against the definition itself."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.messages.paper import FIGURE_1, ad, event, ex, fd, fl, w
from treadle.messages.must_hb import MustHB
from treadle.messages.receive import Receive, stable_hash


def causality(s: list[Receive]) -> set[tuple[Receive, Receive]]:
    """Definition 5, word for word."""
    return {
        (s[i], s[j])
        for j in range(len(s))
        for i in range(j)
        if s[j].msg in s[i].sent
        or s[j].rec in s[i].created
        or any(s[k].rec == s[i].rec and (s[j].msg in s[k].sent or s[j].rec in s[k].created) for k in range(i + 1, j))
    }


def sender_receiver(s: list[Receive]) -> set[tuple[Receive, Receive]]:
    """Definition 6, word for word."""
    return {
        (s[i], s[j]) for j in range(len(s)) for i in range(j) if s[i].sender == s[j].sender and s[i].rec == s[j].rec
    }


def closed(pairs: set[tuple[Receive, Receive]]) -> set[tuple[Receive, Receive]]:
    """Definition 7: the transitive closure."""
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not more:
            return pairs
        pairs = pairs | more


def must_come_before(s: list[Receive]) -> set[tuple[Receive, Receive]]:
    relation = MustHB(s)
    return {(first, second) for first in s for second in s if (first, second) in relation}


def test_causality_of_figure_1_as_printed() -> None:
    assert causality(FIGURE_1) == {(ex, w), (ex, ad), (ad, fl), (fl, fd), (w, fd)}


def test_must_hb_of_figure_1() -> None:
    assert must_come_before(FIGURE_1) == closed({(ex, w), (ex, ad), (ad, fl), (fl, fd), (w, fd)})


def test_flushed_cannot_come_before_action_done() -> None:
    relation = MustHB(FIGURE_1)
    assert (ad, fd) in relation
    assert (w, fl) not in relation


def test_two_messages_of_one_sender_keep_their_order() -> None:
    twice = event("ex", "main", "action", ("w1", "w2"))
    first, second = event("w1", "action", "writer"), event("w2", "action", "writer")
    assert (first, second) in MustHB([twice, first, second])


def test_a_message_sent_after_a_blocking_ask_comes_after_what_was_asked() -> None:
    asked = event("get", "main", "store")
    later = Receive(stable_hash("main"), stable_hash("log"), stable_hash("note"), needs=(asked.hash,))
    assert (asked, later) in MustHB([asked, later])


def test_a_message_that_must_not_overtake_another_comes_after_it() -> None:
    stop = Receive(fl.sender, fl.rec, fl.msg, fl.sent, behind=(w.msg,))
    assert (w, fl) not in MustHB(FIGURE_1)
    assert (w, stop) in MustHB([ex, w, ad, stop, fd])


@st.composite
def schedules(draw: st.DrawFn) -> list[Receive]:
    """Receives of a few actors; each was sent by an earlier one or by the entry point, some actors are created."""
    made: list[tuple[int, int, int]] = []
    sent: list[list[int]] = []
    created: list[list[int]] = []
    actors = [1, 2, 3]
    for number in range(draw(st.integers(1, 9))):
        rec = draw(st.sampled_from(actors))
        cause = draw(st.integers(-1, number - 1))
        sender = made[cause][1] if cause >= 0 else 0
        made.append((sender, rec, 100 + number))
        sent.append([])
        created.append([])
        if cause >= 0:
            sent[cause].append(100 + number)
        if draw(st.integers(0, 4)) == 0:
            actors.append(10 + number)
            created[number].append(10 + number)
    return [Receive(*ids, tuple(sent[n]), tuple(created[n])) for n, ids in enumerate(made)]


@given(schedules())
@settings(max_examples=150)
def test_the_bit_sets_are_the_definition(schedule: list[Receive]) -> None:
    expected = closed(causality(schedule) | sender_receiver(schedule))
    relation = MustHB(schedule)
    assert must_come_before(schedule) == expected
    for i, first in enumerate(schedule):
        for j, second in enumerate(schedule):
            assert bool(relation.after[i] >> j & 1) == ((first, second) in expected)
