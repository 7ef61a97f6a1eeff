"""What the parts of the rewriter share: the nodes they make, and the loops that only look."""

from __future__ import annotations

import ast

import pytest

from treadle.threads.instrument.nodes import NodeMaker, is_foreign
from treadle.threads.instrument.rewrite import rewrite
from treadle.threads.instrument.scopes import analyse
from treadle.threads.instrument.spin_loops import is_spin_loop


def test_every_node_of_rewritten_code_has_a_place_in_the_source() -> None:
    tree = ast.parse("def f(o, d):\n    o.x += d['k']\n    return [one for one in o.y]\n")
    rewritten = rewrite(tree)
    placed = [node for node in ast.walk(rewritten) if isinstance(node, ast.expr | ast.stmt)]
    assert {node.lineno for node in placed} <= {1, 2, 3}
    assert any(isinstance(node, ast.Name) and node.id.startswith("_treadle_") for node in placed)


def test_a_name_that_pytest_put_in_is_not_the_programs() -> None:
    assert is_foreign(ast.Name("@pytest_ar"))
    assert not is_foreign(ast.Name("pytest_ar"))
    assert not is_foreign(ast.Constant("@pytest_ar"))


def test_a_transformer_that_changes_nothing_leaves_the_code_as_it_is() -> None:
    tree = ast.parse("x = [1, 2]")
    before = ast.dump(tree, include_attributes=True)
    assert ast.dump(NodeMaker(analyse(tree), tree).visit(tree), include_attributes=True) == before


@pytest.mark.parametrize(
    ("loop", "only_looks"),
    [
        ("while not flag: pass", True),
        ("while True:\n  if done(): return\n  time.sleep(1)", True),
        ("while True:\n  if queue.pop(): break", False),
        ("while (line := read()): pass", False),
        ("while waiting:\n  count += 1", False),
        ("while waiting:\n  if late:\n    raise Late\n  else:\n    continue", True),
        ("while waiting:\n  await something", False),
    ],
)
def test_a_loop_only_looks(loop: str, only_looks: bool) -> None:
    statement = ast.parse(f"async def f():\n  {loop.replace(chr(10), chr(10) + '  ')}").body[0]
    assert isinstance(statement, ast.AsyncFunctionDef)
    found = statement.body[0]
    assert isinstance(found, ast.While)
    assert is_spin_loop(found) is only_looks
