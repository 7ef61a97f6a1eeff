"""Pictures are SVG that a browser can read, with everything in them that they are about."""

from __future__ import annotations

from xml.etree import ElementTree

from treadle.abs.explore.tree import TreeNode
from treadle.report import coverage_curve, tree_picture
from treadle.report.sequence_diagram import Arrow, Bar, Panel, svg


def words(drawing: str) -> list[str]:
    """The texts of a picture."""
    return [
        text for element in ElementTree.fromstring(drawing).iter() for text in [element.text] if text and text.strip()
    ]


def test_a_diagram_shows_messages_and_marks_where_it_parts() -> None:
    arrows = [Arrow("main", "Log", "Flush", marked=True), Arrow("Log", "Log", "<again> & again")]
    drawing = svg("a < b", Panel("this fails", {"main": "main", "Log": "Log"}, arrows))
    assert {"a < b", "this fails", "main", "Log", "Flush", "<again> & again"} <= set(words(drawing))
    assert drawing.count('class="marked"') == drawing.count('class="rednote"') == 1


def test_panels_stand_side_by_side() -> None:
    one = Panel("this fails", {"a": "a", "b": "b"}, [Arrow("a", "b", "x")])
    width = [int(ElementTree.fromstring(svg("", *panels)).attrib["width"]) for panels in ([one], [one, one])]
    assert width[1] - width[0] == width[0] - 40  # the margins come once


def test_a_task_is_a_bar_and_a_deadlock_is_red() -> None:
    bar = Bar("a", "run", [Arrow("a", "b", creates=True), Arrow("a", "b", "call(1)")])
    drawing = svg("t", Panel("deadlock", {"a": "a: A", "b": "b: B"}, [bar], {"b": ["waits for a"]}, deadlock=True))
    assert {"run", "call(1)", "a: A", "b: B", "deadlock", "waits for a"} <= set(words(drawing))
    assert drawing.count('class="new"') == drawing.count('class="dead"') == 1


def test_a_long_label_is_cut() -> None:
    drawing = svg("t", Panel("", {"a": "a", "b": "b"}, [Arrow("a", "b", "x" * 60)]))
    assert "x" * 37 + "..." in words(drawing)


def test_a_curve_names_each_criterion_with_its_last_figure() -> None:
    drawing = coverage_curve.svg([{"PR": 0, "PCR": 0}, {"PR": 3, "PCR": 0}, {"PR": 5, "PCR": 0}], "goals & more")
    assert {"PR 5", "3 executions", "goals & more"} <= set(words(drawing))
    assert "PCR 0" not in words(drawing)  # it never had a goal
    assert coverage_curve.svg([], "nothing").startswith("<svg")


def test_a_tree_marks_what_was_cut() -> None:
    tree = TreeNode("start")
    tree.children += [TreeNode("a < b"), TreeNode("b")]
    tree.children[1].status = "loop"
    assert {"start", "a < b", "cut: loop (L)"} <= {word.strip() for word in words(tree_picture.svg(tree))}
    assert tree_picture.dot(tree).count("->") == 2
