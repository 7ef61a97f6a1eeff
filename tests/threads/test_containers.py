"""What a method of a built-in container touches: one key, or all of it."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import pytest

from treadle.core.operation import READ, WRITE
from treadle.threads import containers


class Registry(dict[str, int]):
    pass


@pytest.mark.parametrize(
    ("obj", "method", "args", "access"),
    [
        ({"k": 1}, "get", ("k",), (READ, "k")),
        ({"k": 1}, "get", (("k", 1),), (READ, ("k", 1))),
        ({"k": 1}, "get", (frozenset(),), (READ, None)),  # it may mean another thing in another execution
        ({"k": 1}, "setdefault", ("k", 2), (READ, "k")),
        ({"k": 1}, "setdefault", ("new", 2), (WRITE, None)),  # whoever asks for the length sees it
        ({"k": 1}, "__setitem__", ("k", 2), (WRITE, "k")),
        ({"k": 1}, "__setitem__", ("new", 2), (WRITE, None)),
        ({"k": 1}, "pop", ("k",), (WRITE, None)),
        ({"k": 1}, "keys", (), None),  # a view looks when it is looked at
        (defaultdict(int, k=1), "__getitem__", ("k",), (READ, "k")),
        (defaultdict(int), "__getitem__", ("k",), (WRITE, None)),
        ([1, 2], "__getitem__", (1,), (READ, 1)),
        ([1, 2], "__getitem__", (-1,), (READ, None)),  # which one that is depends on the length
        ([1, 2], "append", (3,), (WRITE, None)),
        ({1, 2}, "__contains__", (1,), (READ, 1)),
        (deque([1]), "popleft", (), (WRITE, None)),
        (bytearray(b"x"), "find", (b"x",), (READ, None)),
    ],
)
def test_a_method_touches(obj: Any, method: str, args: tuple[Any, ...], access: tuple[int, Any] | None) -> None:
    base = containers.container_base(type(obj))
    assert base is not None
    assert containers.method_access(obj, base, method, args) == access


@pytest.mark.parametrize("kind", [Registry, OrderedDict, defaultdict, Counter])
def test_every_kind_of_dictionary_is_one(kind: type) -> None:
    assert containers.container_base(kind) is dict


def test_an_address_as_a_key_names_the_object(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(containers.ADDRESSES, 140_000_000_000_016, "id of Node#1")
    assert containers.simple_key(140_000_000_000_016) == "id of Node#1"
    assert containers.simple_key(("node", "node-140000000000016")) == ("node", "node-id of Node#1")
    assert containers.simple_key(7) == 7


@pytest.mark.parametrize("mapping", [{"k": 1}, OrderedDict(k=1), Registry(k=1)])
@pytest.mark.parametrize("view", ["keys", "values", "items"])
def test_the_dictionary_behind_a_view_is_found(mapping: dict[str, int], view: str) -> None:
    assert containers.view_source(getattr(mapping, view)()) is mapping
