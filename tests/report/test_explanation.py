"""What a failing schedule looks like: the right steps, the right pair, and never a line too wide."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.core.operation import ACQUIRE, GET, MULTI, WAIT, verb
from treadle.core.result import Step, Waiting
from treadle.report.explanation import clash, cycle, explain, short_names

KINDS = {verb((kind, None, ())): kind for kind in range(16) if kind != MULTI} | {"calls": MULTI}


def step(
    strand: str,
    operation: str,
    thing: str = "Account#1.balance",
    line: int = 1,
    value: str = "",
    file: str = "bank.py",
    function: str = "deposit",
) -> Step:
    """`thing` is an object, and a part of it behind a dot or in brackets."""
    name, key = re.fullmatch(r"([^.\[]*)(?:[.\[](.*))?", thing).groups()  # type: ignore[union-attr]
    op = (KINDS[operation], name, key)
    return Step(strand, operation, thing, file, line, function, value, performed=op)


LOST_UPDATE = [
    step("main", "writes", line=2, value="0"),
    step("T1", "reads", line=7, value="0"),
    step("T2", "reads", line=7, value="0"),
    step("T2", "writes", line=8, value="1"),
    step("T2", "finishes", "T2", 0),
    step("T1", "writes", line=8, value="1"),
    step("T1", "finishes", "T1", 0),
    step("main", "waits for", "T1", 20),
    step("main", "waits for", "T2", 20),
    step("main", "reads", line=21, value="1"),
]


def test_the_file_of_a_package_is_named_with_it() -> None:
    assert short_names(["/lib/cachetools/__init__.py", "/p/test_a.py"]) == {
        "/lib/cachetools/__init__.py": "cachetools/__init__.py",
        "/p/test_a.py": "test_a.py",
    }


def test_where_it_was_raised_is_told_unless_a_step_shows_it() -> None:
    assert explain([], raised=("bank.py", 30, "test")) == "fails at bank.py:30"
    assert "fails at" not in explain(LOST_UPDATE, raised=("bank.py", 21, "test"))


def test_a_lost_update_in_columns() -> None:
    assert explain(LOST_UPDATE, width=72).splitlines() == [
        "T1                                   T2",
        "-----------------------------------  -----------------------------------",
        "bank.py:7",
        "  reads Account#1.balance -> 0",
        "                                     bank.py:7",
        "                                       reads Account#1.balance -> 0",
        "                                     bank.py:8",
        "                                       writes Account#1.balance <- 1",
        "bank.py:8",
        "  writes Account#1.balance <- 1",
        "",
        "main, when they are done",
        "bank.py:21",
        "  reads Account#1.balance -> 1",
        "",
        "T2 writes Account#1.balance (bank.py:8) between T1's read (bank.py:7)",
        "and write (bank.py:8) of it",
    ]


def test_the_source_line_stands_beside_its_number(tmp_path: Path) -> None:
    file = tmp_path / "bank.py"
    file.write_text("class Account:\n    def deposit(self):\n        self.balance += 1\n")
    steps = [step(strand, "writes", line=3, file=str(file)) for strand in ("T1", "T2")]
    assert "bank.py:3  self.balance += 1" in explain(steps)


def test_files_of_one_name_are_told_apart() -> None:
    steps = [
        step("T1", "writes", "A#1.x", file="/p/one/bank.py"),
        step("T2", "writes", "A#1.x", file="/p/two/bank.py"),
    ]
    text = explain(steps)
    assert "one/bank.py:1" in text
    assert "two/bank.py:1" in text


def test_steps_on_private_things_are_left_out_and_counted() -> None:
    private = [step("T1", "reads", f"list#{number}", 3) for number in range(9)]
    steps = [step("T1", "reads", line=1), *private, step("T2", "writes", line=2), step("T1", "writes", line=4)]
    text = explain(steps)
    assert "list#" not in text
    assert "(9 more steps)" in text


def test_a_long_run_of_one_strand_is_shown_by_its_ends() -> None:
    steps = [step("T1", "writes", line=number) for number in range(1, 51)] + [step("T2", "reads", line=99)]
    text = explain(steps)
    assert "bank.py:50" in text
    assert "bank.py:20" not in text


@pytest.mark.parametrize(
    ("mine", "other", "again", "sentence"),
    [
        ("reads", "writes", "writes", "T2 writes Account#1.balance (bank.py:5) between T1's read"),
        ("reads", "writes", "reads", "between T1's two reads of it (bank.py:1 and bank.py:9)"),
        ("writes", "writes", "reads", "between T1's write (bank.py:1) and read (bank.py:9) of it"),
        ("writes", "reads", "writes", "T2 reads Account#1.balance (bank.py:5) between T1's two writes of it"),
    ],
)
def test_the_four_orders_that_no_serial_order_gives(mine: str, other: str, again: str, sentence: str) -> None:
    steps = [step("T1", mine, line=1), step("T2", other, line=5), step("T1", again, line=9)]
    assert sentence in " ".join(explain(steps).split("\n"))


def test_reading_twice_around_a_read_is_no_clash() -> None:
    assert clash([step("T1", "reads"), step("T2", "reads"), step("T1", "reads")]) is None


def test_different_attributes_do_not_clash() -> None:
    steps = [step("T1", "reads", "A#1.x"), step("T2", "writes", "A#1.y"), step("T1", "writes", "A#1.x")]
    assert clash(steps) is None


def test_a_whole_container_clashes_with_each_of_its_keys() -> None:
    found = clash([step("T1", "reads", "dict#1"), step("T2", "writes", "dict#1['a']"), step("T1", "reads", "dict#1")])
    assert found is not None
    assert found.between.strand == "T2"


def test_what_main_does_before_and_after_waiting_is_not_called_a_clash() -> None:
    steps = [
        step("main", "writes", line=1),
        step("T1", "writes", line=2),
        step("main", "waits for", "T1"),
        step("main", "reads", line=3),
    ]
    found = clash(steps)
    assert found is not None
    assert found.last is None  # only the pair: T1 writes, then main reads


def test_a_deadlock_shows_cycle_holders_and_stacks() -> None:
    waiting = [
        Waiting("main", (WAIT, "T1", None), "T1", [], (("t.py", 9, "test"),)),
        Waiting("T1", (ACQUIRE, "Lock#2", None), "T2", ["Lock#1"], (("bank.py", 14, "transfer"), ("t.py", 5, "run"))),
        Waiting("T2", (ACQUIRE, "Lock#1", None), "T1", ["Lock#2"], (("bank.py", 14, "transfer"),)),
    ]
    steps = [step("T1", "acquires", "Lock#1"), step("T2", "acquires", "Lock#2")]
    lines = explain(steps, waiting=waiting).splitlines()
    assert lines[-10:] == [
        "T1 waits to acquire Lock#2, held by T2",
        "    holds Lock#1",
        "    bank.py:14 in transfer",
        "    t.py:5 in run",
        "T2 waits to acquire Lock#1, held by T1",
        "    holds Lock#2",
        "    bank.py:14 in transfer",
        "main waits for T1",
        "    t.py:9 in test",
        "cycle: T1 -> Lock#2 -> T2 -> Lock#1 -> T1",
    ]
    assert "  acquires Lock#1" in lines


def test_a_strand_that_nobody_wakes_has_no_cycle() -> None:
    waiting = [Waiting("T1", (GET, "Queue#1", None), note="empty, 1 waiting")]
    assert cycle(waiting) == []
    text = explain([], waiting=waiting)
    assert "T1 waits to get from Queue#1 (empty, 1 waiting)" in text
    assert "no cycle" in text


def test_what_does_not_fit_beside_goes_below(tmp_path: Path) -> None:
    file = tmp_path / "bank.py"
    file.write_text("self.balance_of_the_account = the_new_balance_of_the_account\n")
    steps = [
        step(strand, "writes", "Account#1.balance_of_the_account", value="'a value'", file=str(file))
        for strand in ("T1", "T2")
    ]
    assert explain(steps, width=82).splitlines()[2:6] == [
        "bank.py:1",
        "  self.balance_of_the_account = the_new…",
        "  writes Account#1.balance_of_the_accou…",
        "    <- 'a value'",
    ]


def test_what_main_sets_up_is_not_called_a_clash() -> None:
    steps = [step("main", "writes", "A#1.x"), step("T1", "reads", "A#1.x"), step("T2", "reads", "A#1.x")]
    assert "main" not in explain(steps)


def test_a_step_without_source_says_so() -> None:
    steps = [step(strand, "signals", "Future#1", 0, file="", function="") for strand in ("T1", "T2")]
    assert "(no source line)" in explain(steps)


def test_many_strands_are_a_list_in_the_order_of_time() -> None:
    steps = [step(f"T{number}", "writes", value=str(number)) for number in range(1, 9)]
    lines = explain(steps, width=80).splitlines()
    assert [line.split()[0] for line in lines[:8]] == [f"T{number}" for number in range(1, 9)]


_steps = st.lists(
    st.builds(
        Step,
        strand=st.sampled_from(["main", "T1", "T2", "T10", "T1.1"]),
        operation=st.sampled_from(
            ["reads", "writes", "calls", "acquires", "releases", "waits for", "finishes", "sleeps"]
        ),
        object=st.sampled_from(["", "A#1.x", "A#1", "list#T1.2[3]", "Lock#1", "T1", "A#1.x, B#1.y", "d" * 150]),
        file=st.sampled_from(["/a/x.py", "/b/x.py", "<string>", ""]),
        line=st.integers(0, 9),
        function=st.just("f"),
        value=st.text(max_size=150).map(repr),
    ),
    max_size=40,
)


@pytest.mark.slow
@settings(max_examples=60)
@given(_steps, st.integers(40, 120), st.booleans())
def test_no_line_is_ever_wider_than_asked_for(steps: list[Step], width: int, stuck: bool) -> None:
    waiting = [Waiting(one.strand, one.performed, "T1", ["Lock#1"] * 30) for one in steps[:3] if stuck]
    text = explain(steps * 300, width=width, waiting=waiting)
    assert all(len(line) <= width for line in text.splitlines())
