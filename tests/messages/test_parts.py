"""The modules of the message room one by one: what is written down, judged, chosen and told."""

from __future__ import annotations

import enum
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pykka
import pytest
from thespian.actors import ActorExitRequest, PoisonMessage

from tests.messages.paper import TWO_ACTIONS, ad1, fd2, flush, w1, w2
from treadle.core.operation import READ, WRITE
from treadle.messages import memory_streams
from treadle.messages import pykka as pykka_room
from treadle.messages import thespian as thespian_room
from treadle.messages.criteria import CRITERIA, PCR, PR, Goals
from treadle.messages.execution import MessageExecution
from treadle.messages.follow import FollowSchedule
from treadle.messages.greedy import Greedy, Reached
from treadle.messages.imports import imported_by
from treadle.messages.isolation import shared_objects
from treadle.messages.journal import Journal, label_of
from treadle.messages.loom import MessageLoom
from treadle.messages.minimise import fewest_orders, name_of
from treadle.messages.must_hb import MustHB
from treadle.messages.oracles import judge, warnings
from treadle.messages.possible import Possible
from treadle.messages.queues import mailbox
from treadle.threads.instrument.selection import ModuleSelection

small: Any = import_module("tests.programs.actors.small")


class Colour(enum.Enum):
    RED = 1


# ---- names of messages


@pytest.mark.parametrize(
    ("body", "label"),
    [
        ("go", "go"),
        ("x" * 40, "x" * 31 + "…"),
        (Colour.RED, "RED"),
        ({"command": "flush", "n": 1}, "flush"),
        (("add", 3), "add"),
        (int, "int"),
        (5, "int"),
        ({}, "dict"),
    ],
)
def test_what_a_message_is_called(body: object, label: str) -> None:
    assert label_of(body) == label


def test_a_message_that_stops_an_actor_is_known_in_both_libraries() -> None:
    stop = pykka.messages._ActorStop()
    assert pykka_room.describe(stop) == ("stop", True)
    assert pykka_room.describe({"command": "flush"}) == ("flush", False)
    assert thespian_room.describe(ActorExitRequest())[1]
    assert thespian_room.describe(PoisonMessage("go")) == ("poison go", False)


def test_actors_of_one_class_are_told_apart_and_values_stand_in_names() -> None:
    journal = Journal()
    first, second = (journal.create("Worker", journal.entry) for _ in range(2))
    assert (first.label, second.label) == ("Worker", "Worker#2")
    assert journal.send(5, first, journal.entry, 0).called == "int(5)"


def test_only_a_message_that_knew_of_another_overtakes_it() -> None:
    journal = Journal()
    actor = journal.create("Worker", journal.entry)
    early = journal.send("early", actor, journal.entry, 0)
    late = journal.send("late", actor, journal.entry, 1 << early.number)
    stranger = journal.send("stranger", actor, journal.entry, 0)
    for message in (stranger, late, early):
        journal.receive(message)
    assert [(a.label, b.label) for a, b in journal.overtakings()] == [("early", "late")]
    assert journal.dropped() == []


# ---- goals


def test_goals_that_must_hb_forbids_are_not_possible() -> None:
    possible = Possible(Goals(PR, [TWO_ACTIONS]))
    possible.add(TWO_ACTIONS, MustHB(TWO_ACTIONS))
    # at the writer w1, w2 and flush in any order; at the terminator fd2 comes last: flush caused it
    assert possible.are_open()
    assert (ad1, fd2) in possible.goals
    number, last = possible.goals.number_of(fd2), possible.goals.number_of(ad1)
    assert not possible.forth.get(number, 0) >> last & 1
    written = [possible.goals.number_of(event) for event in (w1, w2, flush)]
    assert all(
        possible.forth[a] >> b & 1 for a in written for b in written if a != b and (a, b) != (written[2], written[1])
    )


def test_nothing_is_open_when_both_orders_were_run() -> None:
    possible = Possible(Goals(PCR, [[w1, w2]]))
    possible.add([w1, w2], MustHB([w1, w2]))
    assert possible.are_open()
    possible.goals.add([w2, w1])
    assert not possible.are_open()
    assert possible.count() == 2


def _run(test: Any, strategy: Any) -> tuple[MessageExecution, MessageLoom]:
    with MessageLoom(test) as loom:
        strategy.begin()
        run = loom.run(strategy)
    assert isinstance(run, MessageExecution)
    return run, loom


def test_greedy_takes_the_order_that_was_not_seen_yet() -> None:
    goals = {criterion.name: Goals(criterion) for criterion in CRITERIA.values()}
    possible = Possible(goals["PR"])
    seen = set()
    for seed in range(2):
        run, _ = _run(small.test_two_senders, Greedy(Reached(goals, possible), seed))
        schedule = run.journal.receives()
        for one in goals.values():
            one.add(schedule)
        possible.add(schedule, MustHB(schedule))
        seen.add(tuple(event.label for event in schedule if event.label in ("a0", "b0")))
    assert seen == {("a0", "b0"), ("b0", "a0")}


# ---- findings


def accesses(*events: tuple[int, int, str]) -> Any:
    """An execution of two strands, each event a strand, an operation and the object."""
    trace = [(strand, (kind, name, "x")) for strand, kind, name in events]
    return SimpleNamespace(trace=trace, guards=[0] * len(trace), spawned={0: -1, 1: -1}, indexes={})


def test_an_object_that_two_actors_write_without_a_message_between_is_shared() -> None:
    actors = {0: "Writer", 1: "Reader"}
    found = shared_objects(accesses((0, WRITE, "o"), (1, WRITE, "o"), (1, WRITE, "o")), actors)
    assert [finding.kind for finding in found] == ["shared object"]
    assert "Writer and Reader" in found[0].message
    assert shared_objects(accesses((0, READ, "o"), (1, READ, "o")), actors) == []
    assert shared_objects(accesses((0, WRITE, "o"), (1, WRITE, "p")), actors) == []
    assert shared_objects(accesses((0, WRITE, "o"), (1, WRITE, "o")), {0: "Writer"}) == [], "the other one is no actor"


def test_a_run_without_a_fault_has_neither_findings_nor_warnings() -> None:
    run, _ = _run(small.test_two_senders, FollowSchedule())
    assert judge(run) == []
    assert warnings(run) == []


def test_a_failure_that_needs_no_order_is_told_without_one() -> None:
    run, _ = _run(small.test_two_senders, FollowSchedule())
    tried: list[int] = []

    def always(constraints: Any) -> Any:
        tried.append(len(constraints))
        return run

    assert fewest_orders(run, always) == ([], run)
    assert tried == [0]
    assert fewest_orders(run, lambda constraints: None) is None
    named = next(message for message in run.journal.messages if message.label == "a0")
    assert str(name_of(named, run)) == "a0"


# ---- what a program uses


def test_imports_inside_functions_and_calls_of_mailbox_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "of_the_test.py").write_text(
        "from treadle import actors\ndef test():\n    import pykka.messages\n    actors.mailbox(None, 'x')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = import_module("of_the_test")
    found = imported_by(module, ModuleSelection(tmp_path))
    assert {"pykka.messages", "treadle.actors", "treadle.actors.mailbox"} <= found
    assert imported_by(None, ModuleSelection(tmp_path)) == set()


def test_what_is_no_queue_cannot_be_a_mailbox() -> None:
    def test() -> None:
        mailbox([], "anybody")

    run, _ = _run(test, FollowSchedule())
    assert "a mailbox is a queue.Queue or an asyncio.Queue, not list" in judge(run)[0].message


def test_a_stream_is_the_one_of_anyio_where_treadle_does_not_run() -> None:
    ends: Any = anyio.create_memory_object_stream(1)
    send, receive = ends
    before = type(send).send_nowait
    with memory_streams.unasked(lambda module, file: True):
        send.send_nowait("x")
        assert receive.receive_nowait() == "x"
    assert type(send).send_nowait is before
    send.close()
    receive.close()
