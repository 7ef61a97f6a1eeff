"""How objects were made and called, as source that needs nothing of the tests it was seen in."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from treadle.observe.examples import _as_file
from treadle.observe.recorded import Expression, RecordedUse, SeenCall, from_json
from treadle.observe.recorder import UseRecorder, _recording
from treadle.observe.source_of import DO_NOTHING

SHOP = """
class Item:
    def __init__(self, name):
        self.name = name

class Shop:
    def __init__(self, size=1):
        self.size, self.items = size, []
    def put(self, item, *, times=1):
        self._put(item)
        return self
    def _put(self, item):
        self.items.append(item)

def open_shop(size):
    return Shop(size)
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "recorded_shop.py").write_text(SHOP)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "recorded_shop", raising=False)
    return importlib.import_module("recorded_shop")


def seen(use: Any) -> RecordedUse:
    recorder = UseRecorder(("recorded_shop",), (str(Path(__file__).parent),))
    with _recording(recorder.profile):
        use()
    return recorder.result()


def test_an_object_is_made_by_the_call_that_was_seen_to_make_it(shop: Any) -> None:
    found = seen(lambda: shop.Shop(2).put(shop.Item("a"), times=3))
    item = "from recorded_shop import Item"
    assert found.made["recorded_shop:Shop"] == [Expression("Shop(2)", ("from recorded_shop import Shop",))]
    assert found.made["recorded_shop:Item"] == [Expression("Item('a')", (item,))]
    [given] = found.called["recorded_shop:Shop.put"]
    assert [(one.name, one.value.source, one.value.needs) for one in given] == [
        ("", "Item('a')", (item,)),
        ("times", "3", ()),
    ]
    assert found.orders["recorded_shop:Shop"] == [(SeenCall("put", given),)]
    assert "recorded_shop:Shop._put" not in found.called  # a call of the package's own


def test_an_object_from_a_function_of_the_package(shop: Any) -> None:
    found = seen(lambda: shop.open_shop(4))
    assert found.made["recorded_shop:Shop"][0].source == "open_shop(4)"


def test_what_holds_on_to_objects_of_the_tests_is_not_written_down(shop: Any) -> None:
    kept: list[int] = []

    class Local:
        def keep(self) -> None:
            kept.append(1)

    found = seen(lambda: shop.Shop().put(Local))
    assert found.called.get("recorded_shop:Shop.put") is None


def test_a_name_has_one_meaning(shop: Any) -> None:
    def first() -> type:
        class Local:
            number = 1

        return Local

    def second() -> type:
        class Local:
            number = 2

        return Local

    found = seen(lambda: shop.Shop().put(first()).put(second()).put(first()))
    [given] = found.called["recorded_shop:Shop.put"]
    assert [one.value for one in given] == [Expression("Local", ("class Local:\n    number = 1",))]


def test_a_callable_that_cannot_be_written_down_does_nothing(shop: Any) -> None:
    kept: list[int] = []
    found = seen(lambda: shop.Shop().put(lambda: kept.append(1)))
    [given] = found.called["recorded_shop:Shop.put"]
    assert [one.value for one in given] == [Expression("do_nothing", (DO_NOTHING,))]


def test_a_recording_can_be_sent(shop: Any) -> None:
    found = seen(lambda: shop.Shop(2).put(shop.Item("a")))
    assert from_json(found.to_json()) == found


def test_examples_become_statements_that_do_not_stop_each_other() -> None:
    text = "Use it:\n\n```python\n>>> from shop import Shop\n>>> Shop(1).nothing()\n>>> Shop(2)\nShop(2)\n```\n"
    assert _as_file(text, "Shop").splitlines() == [
        "from shop import Shop",
        "",
        "try:",
        "    Shop(1).nothing()",
        "except Exception:",
        "    pass",
        "",
        "try:",
        "    Shop(2)",
        "except Exception:",
        "    pass",
    ]
    assert _as_file(text, "Bank") == ""


class Model:
    """Of the tests, and with nothing in it."""

    def ring(self) -> str:
        return "ring"


def test_a_bare_object_of_the_tests_is_made_with_the_source_of_its_class(shop: Any) -> None:
    [expression] = seen(lambda: shop.Shop(Model())).made["recorded_shop:Shop"]
    assert expression.source == "Shop(Model())"
    assert any(line.startswith("class Model:") for line in expression.needs)
    kept = Model()
    kept.rung = 1  # type: ignore[attr-defined]
    assert "recorded_shop:Shop" not in seen(lambda: shop.Shop(kept)).made
