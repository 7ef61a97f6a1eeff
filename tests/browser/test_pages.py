"""Each kind of report in a browser: what it shows, that keys and clicks work, that nothing sticks out or fails."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser.conftest import Browser
from tests.browser.pages import COMMANDS, make_page

pytestmark = pytest.mark.slow

# Of which there are pictures in the docs.
SHOWN = ("explore", "deadlock", "pass", "unit", "class", "schedule", "actor")


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
    assert not re.search(r"\b1 (steps|cases|faults|pairs|others)\b", browser.texts("body")[0].partition("{")[0])
    if kind in SHOWN:
        browser.shoot(f"report-{kind}{'-phone' if width < 500 else ''}")


def test_the_page_is_dark_where_the_reader_wants_it(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["explore"], dark=True)
    assert browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    browser.shoot("report-explore-dark")


# Is a part of the page inside of the box that scrolls around it?
_SEEN = """
const part = document.querySelector(arguments[0]), box = part.closest(".box");
const [inner, outer] = [part.getBoundingClientRect(), box.getBoundingClientRect()];
const beside = inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
return beside && inner.top >= outer.top && inner.bottom <= outer.bottom + 1;
"""


def test_the_line_of_the_step_is_in_sight(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["far"])
    for key in ("Home", *("ArrowRight",) * 6, "End"):
        browser.press(".lanes", key)
        assert browser.driver.execute_script(_SEEN, ".source tr.now td.n"), browser.texts(".told")


@pytest.mark.parametrize(
    ("kind", "part"), [("far", ".row.now .mine"), ("schedule", ".sequence g.seqstep:last-of-type text")]
)
def test_on_a_phone_the_step_is_in_sight(browser: Browser, pages: dict[str, Path], kind: str, part: str) -> None:
    browser.open(pages[kind], 390, 844)
    if kind == "schedule":
        browser.press(".sequence .box", "End")
    assert browser.driver.execute_script(_SEEN, part)


def test_arrows_step_through_a_page_that_was_just_opened(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["explore"])
    before = browser.texts(".told")[0]
    browser.driver.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    browser.settle()
    assert browser.run("return document.activeElement === document.body")
    assert before.startswith("step 5 of 8")
    assert browser.texts(".told")[0].startswith("step 4 of 8")


def test_the_tab_key_comes_to_everything_that_can_be_used(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["explore"])
    passed = []
    for _ in range(12):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        here = browser.driver.switch_to.active_element
        passed.append(here.text or here.get_attribute("aria-label") or here.get_attribute("class"))
        assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") != "none"
    names = " ".join(str(one).split("\n")[0] for one in passed)
    assert re.search(r"treadle replay .* copy .*to the conflict main .*test_bank.py .*nearest schedule", names), names


def test_where_the_test_fails_is_told_without_any_schedule(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["loop"])
    assert browser.texts(".facts .raised") == ['test_cart.py:14: assert cart["items"] == 2']
    assert browser.texts(".source tr.raised td.n") == ["14"]


def test_who_makes_both_accesses_is_where_the_lock_belongs(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["far"])
    told = browser.texts(".repair")[0]
    assert "between test_till.py:7 and test_till.py:9, where sell makes both of its accesses: hold one lock" in told
    assert "taken anew at ledger.py:7 and at ledger.py:40 does not help" in told


def test_a_deadlock_of_a_model_quotes_its_lines(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["stuck"])
    assert browser.texts(".stuck td:last-child")[:2] == ["Int answer = f.get;", "this.content = f.get;"]


# How many points of the arrows of a ring lie behind one of its words.
_COVERED = """
const words = [...document.querySelectorAll(".cycle text.halo")].map(word => word.getBBox());
const inside = (p, b) => p.x > b.x && p.x < b.x + b.width && p.y > b.y && p.y < b.y + b.height;
const points = [...document.querySelectorAll(".cycle > path")].flatMap(path =>
  Array.from({ length: 50 }, (_, n) => path.getPointAtLength(path.getTotalLength() * n / 49)));
return points.filter(point => words.some(word => inside(point, word))).length;
"""


def test_no_word_of_a_ring_covers_an_arrow(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["deadlock"])
    assert browser.run(_COVERED) == 0


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
        "step 1 of 8: main writes Account#1.balance = 0; main starts T1, and T1 goes on at step 2; "
        "main starts T2, and T2 goes on at step 3"
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


def test_where_everybody_waits_is_the_last_step_of_a_deadlock(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["deadlock"])
    assert browser.texts(".told") == ["step 3 of 3: nobody can go on"]
    assert browser.texts(".row.now .what") == ["waits for Lock#2", "waits for Lock#1"]
    assert browser.texts(".source tr.now .n") == ["40"]
    assert browser.texts(".source tr.now .chip") == ["T1", "T2"]


def test_a_pass_shows_what_it_rests_on(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["pass"])
    titles = {"What the search did", "Shared by several threads or tasks", "Run in both orders"}
    assert titles <= set(browser.texts("h2"))


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


def test_explored_actors_are_shown_by_their_messages(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["messages"])
    assert browser.texts(".cause > span")[0].startswith("all it takes: text before logon#1")
    assert browser.texts(".finding .sequence h3") == ["this fails", "this passes"]
    assert browser.texts(".source tr.raised .code") == ['            self.online[name].tell(("text", content))']


def test_an_end_of_the_tree_shows_its_case(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["unit"])
    browser.run("document.querySelector('.tree .leaf a').click()")
    browser.settle()
    assert browser.texts("li[aria-selected=true] b") == ["3. "]


# How many points of the arrows between steps lie on a step, in the lanes.
_CROSSED = """
const cards = [...document.querySelectorAll(".row .mine")].map(card => card.getBoundingClientRect());
const corner = document.querySelector(".space").getBoundingClientRect();
const points = [...document.querySelectorAll(".over .lets")].flatMap(path =>
  Array.from({ length: 100 }, (_, n) => path.getPointAtLength(path.getTotalLength() * n / 99)));
const between = (low, at, high) => low + 2 < at && at < high - 2;
const on = (p, c) => between(c.left, p.x + corner.x, c.right) && between(c.top, p.y + corner.y, c.bottom);
return [points.length, points.filter(point => cards.some(card => on(point, card))).length];
"""


@pytest.mark.parametrize("width", [1280, 390])
def test_no_arrow_crosses_a_step(browser: Browser, pages: dict[str, Path], width: int) -> None:
    browser.open(pages["far"], width)
    assert browser.run(_CROSSED) == [600, 0]  # three threads, started and joined


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
