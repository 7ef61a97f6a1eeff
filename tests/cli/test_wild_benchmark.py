"""What benchmarks/wild.py counts, draws and writes, without running anything."""

from __future__ import annotations

from benchmarks import wild

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
