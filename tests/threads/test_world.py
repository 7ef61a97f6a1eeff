"""What is outside the schedule: chance is the same in every execution, time limits hold inside one, and showing a value
runs nothing of the program."""

from __future__ import annotations

import importlib
import os
import random
import secrets
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

import treadle
from treadle import Verdict
from treadle.threads.detail import short

SOURCES: dict[str, Callable[[], object]] = {
    "uuid4": lambda: uuid.uuid4(),
    "uuid1": lambda: uuid.uuid1(),
    "urandom": lambda: os.urandom(8),
    "secrets": lambda: secrets.token_hex(8),
    "SystemRandom": lambda: random.SystemRandom().random(),
    "Random without a seed": lambda: random.Random().random(),
    "shuffle": lambda: random.sample(range(100), 5),
}


@pytest.mark.parametrize("draw", SOURCES.values(), ids=list(SOURCES))
def test_every_execution_draws_the_same(draw: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> None:
    def program() -> None:
        print(draw())

    treadle.check(program, strategy="random", executions=3)
    drawn = capsys.readouterr().out.splitlines()
    assert len(drawn) >= 3  # and one that showed that there are finalisers
    assert len(set(drawn)) == 1


def test_outside_an_execution_chance_is_chance() -> None:
    treadle.check(lambda: uuid.uuid4(), strategy="random", executions=1)
    assert uuid.uuid4() != uuid.uuid4()


def test_uuid1_asks_no_other_process_and_never_gives_the_same_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's address was asked of a program of the system, once in a process: steps that no replay has."""
    made: list[uuid.UUID] = []
    asked: list[object] = []

    def program() -> None:
        made[:] = [uuid.uuid1() for _ in range(100)]
        uuid.getnode()

    monkeypatch.setattr(uuid, "_node", None)
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **_: asked.append(words))
    treadle.check(program, strategy="random", executions=1)
    assert (asked, len(set(made))) == ([], 100)
    assert {(one.version, one.variant) for one in made} == {(1, uuid.RFC_4122)}


def test_what_a_module_draws_when_it_is_imported_is_no_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is imported in one execution only: that one would have a step, and numbers, that the others do not have."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "drawn_at_import.py").write_text("import os, random\n\nkey = random.random(), os.urandom(4)\n")
    drawn: list[float] = []

    def program() -> None:
        counted = [0]

        def add() -> None:
            counted[0] += 1

        importlib.import_module("drawn_at_import")
        treadle.parallel(add, add)
        drawn.append(random.random())
        assert counted[0] == 2

    result = treadle.check(program)
    assert result.verdict is Verdict.FAILED
    assert len(set(drawn)) == 1
    del sys.modules["drawn_at_import"]
    assert treadle.replay(result.findings[0].replay, program).verdict is Verdict.FAILED


def test_who_draws_first_is_part_of_the_schedule() -> None:
    def program() -> None:
        drawn: dict[str, bytes] = {}
        threads = [threading.Thread(target=lambda n=name: drawn.update({n: os.urandom(4)})) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert drawn["a"] == first(), "b was first"

    def first() -> bytes:
        return random.Random(0).randbytes(4)

    assert treadle.check(program).verdict is Verdict.FAILED


def endless_messages() -> None:
    box = [0]

    def count() -> None:
        while box[0] >= 0:
            box[0] += 1

    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    count()


def endless_computation() -> None:
    thread = threading.Thread(target=lambda: all(True for _ in range(10**12)))
    thread.start()
    thread.join()


def swallows_everything() -> None:
    def stubborn() -> None:
        for _ in range(2):
            try:
                all(True for _ in range(10**12))
            except BaseException:  # as libraries do that must go on
                pass

    thread = threading.Thread(target=stubborn)
    thread.start()
    thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("program", [endless_messages, endless_computation, swallows_everything])
def test_a_time_limit_holds_inside_an_execution(program: Callable[[], None]) -> None:
    result = treadle.check(program, seconds=1)
    assert result.verdict is Verdict.CUT


class Loud:
    """Fails whatever is asked of it."""

    def _fail(self, *_: object) -> str:
        raise AssertionError("the program was run to show a value")

    __repr__ = __str__ = __hash__ = __eq__ = __iter__ = __len__ = __bool__ = __getattr__ = _fail  # type: ignore[assignment]


class LoudDict(dict[int, int]):
    __iter__ = items = __repr__ = __len__ = Loud._fail  # type: ignore[assignment]


class list_(list[int]):
    __iter__ = __repr__ = __len__ = Loud._fail  # type: ignore[assignment]


list_.__name__ = "list"


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda: Loud(), "<Loud>"),
        (lambda: [Loud(), 1], "[<Loud>, 1]"),
        (lambda: {1: Loud()}, "{1: <Loud>}"),
        (lambda: LoudDict(), "<LoudDict>"),
        (lambda: list_(), "<list>"),
        (lambda: ValueError(Loud()), "<ValueError>"),
        (lambda: {"b", "a"}, "{'a', 'b'}"),
        (lambda: 10**2000, "<int of 6644 bits>"),
        (lambda: [[[[1]]]], "[[[[...]]]]"),
    ],
)
def test_showing_a_value_runs_nothing_of_the_program(make: Callable[[], object], shown: str) -> None:
    assert short(make()) == shown


class Key:
    """Its hash reads shared memory: a point of the program, if showing a value ran it."""

    def __init__(self) -> None:
        self.n = 0

    def __hash__(self) -> int:
        return self.n

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"Key({self.n})"


def test_a_failure_that_shows_keys_with_a_hash_of_their_own_is_recorded() -> None:
    def program() -> None:
        table: dict[Key, int] = {Key(): 0}

        def raise_count() -> None:
            for key in list(table):
                table[key] = table[key] + 1

        threads = [threading.Thread(target=raise_count) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert list(table.values()) == [2], table

    result = treadle.check(program)
    assert result.verdict is Verdict.FAILED
    assert result.findings[0].replay
