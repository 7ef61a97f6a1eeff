"""What benchmarks/wild.py counts, draws and writes, without running anything."""

from __future__ import annotations

import io
import tarfile

from benchmarks import wild, wild_list

ROWS = [
    {"package": package, "test": test, "verdict": verdict, "executions": executions, "seconds": 1.0, "todo": todo}
    for package, test, verdict, executions, todo in (
        ("a", "t/test_a.py::test_1", "CUT", 300, "time"),
        ("a", "t/test_a.py::test_2", "CUT", 3, "time"),
        ("b", "test_b.py::test[x|y]", "FAILED", 2, "why"),
        ("b", "test_b.py::test_3", "REFUSED", 0, "no"),
    )
]


def test_the_page_holds_every_row_and_what_is_to_be_looked_at() -> None:
    rows = [row | {"counts_as": wild.counts_as(str(row["verdict"]), int(str(row["executions"])))} for row in ROWS]
    text = wild.page_part(rows, {"c": "no tests"}, ["a", "b", "c"], "the seed 12", 2)
    assert "4 tests: 2 useful, 1 nothing, 1 refused (50 % useful by the rules)" in text
    assert text.count("\n| a |") + text.count("\n| b |") == len(ROWS)
    assert "- c: no tests" in text
    assert "- b `test[x|y]`: why" in text


def test_a_draw_is_twenty_of_its_list_and_the_same_again() -> None:
    drawn = wild.draw("a seed")
    assert drawn == wild.draw("a seed")
    assert len(drawn) == wild.DRAWN
    assert set(drawn) <= set(wild.packages(wild.LIST).read_text(encoding="utf-8").split())
    assert not set(drawn) & set(wild.draw("another", apart="a seed"))


def test_the_page_has_the_marks_between_which_it_is_written() -> None:
    text = wild._PAGE.read_text(encoding="utf-8")
    assert text.count(wild._BEGIN) == text.count(wild._END) == 1


def test_nothing_to_explore_is_useful_where_it_is_a_proof() -> None:
    assert wild.counts_as("NOTHING-TO-EXPLORE", 1) == "nothing"
    assert wild.counts_as("NOTHING-TO-EXPLORE", 1, one_schedule=True) == "useful"


def test_the_rules_of_a_list_look_at_the_files_of_tests_alone() -> None:
    threaded = {"a-1/tests/test_a.py": b"threading.Thread(target=f)"}
    assert wild_list._has_threaded_tests(packed(threaded))
    assert not wild_list._has_threaded_tests(packed(threaded | {"a-1/a/fast.pyx": b""}))
    assert not wild_list._has_threaded_tests(packed({"a-1/a/pool.py": b"threading.Thread(target=f)"}))


def test_names_come_by_turns_each_once_in_an_order_that_the_seed_decides() -> None:
    names = ["apple", "pear", "plum", "threadpear", "queueplum"]
    drawn = list(wild_list.by_turns(names, "x"))
    assert sorted(drawn) == sorted(names)
    assert drawn[1] in ("threadpear", "queueplum") or drawn[0] in ("threadpear", "queueplum")
    assert drawn == list(wild_list.by_turns(reversed(names), "x"))


def packed(files: dict[str, bytes]) -> bytes:
    """A source distribution with these files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return out.getvalue()
