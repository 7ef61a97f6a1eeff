"""Each kind of report in a browser: what it shows, that keys and clicks work, that nothing sticks out or fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import Browser
from tests.browser.pages import COMMANDS, make_page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Every page, made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", list(sys.path))
        made = {}
        before = set(sys.modules)
        for kind in COMMANDS:
            folder = tmp_path_factory.mktemp(kind)
            patch.chdir(folder)
            patch.syspath_prepend(str(folder))
            made[kind] = make_page(kind, folder)
            for name in set(sys.modules) - before:
                file = getattr(sys.modules[name], "__file__", None)
                if file and Path(file).is_relative_to(folder):
                    del sys.modules[name]
        yield made


@pytest.mark.parametrize("kind", COMMANDS)
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)], ids=["desk", "phone"])
def test_nothing_sticks_out_and_nothing_fails(
    browser: Browser, pages: dict[str, Path], kind: str, width: int, height: int
) -> None:
    browser.open(pages[kind], width, height)
    assert browser.errors() == []
    assert browser.run("return document.documentElement.scrollWidth") == width
    browser.shoot(f"report-{kind}{'-phone' if width < 500 else ''}")


def test_the_page_is_dark_where_the_reader_wants_it(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["explore"], dark=True)
    assert browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    browser.shoot("report-explore-dark")


def test_explore_steps_with_the_keyboard(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["explore"])
    assert browser.texts(".cause > span") == [
        "T2 writes Account#1.balance between T1's read and write of it (all at test_bank.py:12)"
    ]
    assert browser.texts(".racing td:last-child") == ["self.balance += amount"] * 3
    browser.press(".lanes", "Home")
    assert browser.texts(".stepper .told")[0].startswith("step 1 of 8: main writes Account#1.balance = 0")
    browser.press(".lanes", "ArrowRight")
    assert browser.texts("tr.now .who") == ["T1"]
    browser.press(".lanes", "End")
    assert browser.texts("table.values td") == ["Account#1.balance", "1", "", "main"]
    browser.click(".stepper button:last-of-type")  # to the conflict
    assert browser.texts(".row.now .what") == ["reads Account#1.balance → 0"]


def test_explore_shows_what_passes_beside_what_fails(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["explore"])
    rows = browser.texts(".compare > div")[2:]
    beside = list(zip(rows[::2], rows[1::2], strict=True))
    fails, passes = browser.texts(".compare .apart")
    apart = beside.index((fails, passes))
    assert all(one.split()[:3] == other.split()[:3] for one, other in beside[:apart])
    assert fails == ""  # it comes too late there
    assert passes.startswith("T1 writes Account#1.balance: 0 → 1")


def test_an_arrow_says_why_at_its_ends(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["explore"])
    browser.press(".lanes", "Home")
    assert browser.texts(".stepper .told") == [
        "step 1 of 8: main writes Account#1.balance = 0; main starts T1, which goes on at step 2; "
        "main starts T2, which goes on at step 3"
    ]
    browser.press(".lanes", "ArrowRight")
    assert browser.texts(".stepper .told")[0].endswith("; it can, because main starts T1 (step 1)")


def test_a_value_is_shown_with_what_was_there_before(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["explore"])
    assert "writes Account#1.balance: 0 → 1" in browser.texts(".row .what")


def test_a_deadlock_is_drawn_as_a_ring(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["deadlock"])
    names = browser.texts(".cycle text:not(.halo)")
    assert sorted(names) == ["Lock#1", "Lock#2", "T1", "T2"]
    assert browser.texts(".cycle .halo") == ["wants", "held by"] * 2
    assert browser.texts(".over .halo") == ["waits for Lock#2", "waits for Lock#1"]


def test_a_pass_shows_what_it_rests_on(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["pass"])
    assert {"What the search did", "Shared by several strands", "Run in both orders"} <= set(browser.texts("h2"))


def test_unit_chooses_a_case_and_walks_along_it(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["unit"])
    browser.press(".list", "ArrowDown")
    chosen = browser.texts("li[aria-selected=true] .mono")
    assert chosen[0] == "first=Item(price=3, next=Item(price=-1, next=None)), limit=2"
    assert browser.texts(".stepper .told") == ["line 1 of 10: shop.py:10"]
    browser.press(".stepper", "ArrowRight")
    assert browser.texts("tr.now td.n") == ["11"]
    assert browser.texts(".heap h3") == ["Heap before", "Heap after"]
    assert browser.run("return document.querySelectorAll('.heap svg circle').length") == 4  # two arrows, twice


def test_unit_shows_coverage_and_what_was_cut(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["unit"])
    assert browser.texts(".cover.hit")[0] == "6×"
    assert "⇒ cut: loop" in browser.texts(".tree .warn")
    assert browser.texts(".verdict") == ["EVERY PATH WITHIN THE LOOP BOUND"]


def test_a_list_is_searched(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["unit"])
    browser.run(
        "const s = document.querySelector('input[type=search]'); s.value = 'first=none'; "
        "s.dispatchEvent(new Event('input'))"
    )
    assert browser.run("return document.querySelectorAll('.cases li:not([hidden])').length") == 2
    browser.press(".list", "ArrowDown")
    assert browser.texts("li[aria-selected=true] b") == ["5. "]


def test_class_goes_from_the_matrix_to_the_fault(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["class"])
    assert browser.texts(".matrix td.found") == ["fault 1"]
    assert "✓ all" in browser.texts(".matrix td.done")
    browser.click(".matrix td.found button")
    assert browser.texts("#fault .finding h2")[0].startswith("linearizability: deposit || deposit")
    assert browser.run("return document.querySelectorAll('#fault .row').length") >= 5  # type: ignore[operator]
    assert browser.run("return document.querySelectorAll('.curves svg').length") == 1


def test_schedule_shows_both_orders_and_the_queues(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["schedule"])
    assert browser.texts(".finding .sequence h3") == ["this fails", "this passes"]
    browser.press(".sequence .box", "Home")
    browser.press(".sequence .box", "ArrowRight")
    browser.press(".sequence .box", "ArrowRight")
    assert "text ('text', 'anna', 'hello from bert')" in browser.texts(".queues")[0]
    assert "⇒ fails: exception (execution 2)" in browser.texts(".tree .bad")
    assert browser.run("return document.querySelectorAll('.curves polyline').length") == 4
    browser.click(".list li:last-child")
    assert browser.texts("#run h3") == ["exception"]


def test_actor_shows_a_case_with_arguments_and_folds_its_tree(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["actor"])
    assert "accepted(1)" in "".join(browser.texts(".sequence svg text"))
    assert browser.texts(".queues th") == ["r1", "r2"]
    before = browser.run("return document.querySelectorAll('.tree details[open]').length")
    browser.click(".tree-bar button:last-of-type")
    assert before
    assert browser.run("return document.querySelectorAll('.tree details[open]').length") == 0


def test_a_megabyte_of_trace_is_shown_row_by_row(browser: Browser, pages: dict[str, Path], tmp_path: Path) -> None:
    text = pages["explore"].read_text(encoding="utf-8")
    start = text.index('"steps":[') + len('"steps":[')
    step = text[start : text.index("}", start) + 1]
    (tmp_path / "long.html").write_text(
        text.replace(step, ",".join([step] * (1_000_000 // len(step)))), encoding="utf-8"
    )
    browser.open(tmp_path / "long.html")
    assert browser.run("return document.querySelectorAll('.row').length") < 100  # type: ignore[operator]
    browser.press(".lanes", "End")
    assert browser.errors() == []
    assert browser.run("return document.querySelectorAll('.row.now').length") == 1
