"""Assumptions are notes on a function: it stays the function that it was."""

from __future__ import annotations

from treadle.core.assume import MARK, acyclic, assume, non_sharing


def test_a_decorated_function_is_the_same_function() -> None:
    def insert(node: object) -> object:
        return node

    assert acyclic("node")(insert) is insert
    assert assume("a", non_sharing("node", "self"))(insert) is insert
    assert getattr(insert, MARK) == ("a", "non_sharing(node, self)", "acyclic(node)")


def test_a_subclass_does_not_change_what_its_parent_assumes() -> None:
    @assume("acyclic(self)")
    class Tree: ...

    @assume("non_aliasing(self, other)")
    class Heap(Tree): ...

    assert getattr(Tree, MARK) == ("acyclic(self)",)
    assert getattr(Heap, MARK) == ("non_aliasing(self, other)",)
