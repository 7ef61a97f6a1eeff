"""Objects of a program are looked at without running any of its code."""

from __future__ import annotations

from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

from treadle.threads import unasked


class Untouchable:
    """A proxy outside of a request: whatever is asked, it fails."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("working outside of a request")


class LazyModule(ModuleType):
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("loaded")


def test_a_proxy_is_what_its_real_type_says() -> None:
    proxy = Untouchable()
    assert (unasked.is_a(proxy, Untouchable), unasked.is_a(proxy, (int, str))) == (True, False)
    assert unasked.kept_attributes(proxy) == {}


def test_the_variables_of_a_lazy_module_are_found_without_loading_it() -> None:
    module = LazyModule("lazy")
    assert unasked.globals_of(module)["__name__"] == "lazy"


def test_what_stands_in_the_place_of_a_module_has_no_variables() -> None:
    stands_in: Any = Untouchable()
    assert unasked.globals_of(stands_in) == {}


def test_a_class_that_computes_its_module_has_none() -> None:
    computed = type("Computed", (), {"__module__": property(lambda self: "anywhere")})
    assert unasked.home_of(computed) == ""


def test_attributes_that_a_property_makes_up_are_not_the_objects_own() -> None:
    class MadeUp:
        __slots__ = ()
        __dict__ = property(lambda self: {"made": "up"})

    assert not unasked.keeps_attributes(MadeUp)
    assert unasked.kept_attributes(MadeUp()) is None


def test_a_method_that_a_mock_would_make_up_is_not_on_its_class() -> None:
    mock = MagicMock()
    assert mock.anything is not None
    assert unasked.on_class(type(mock), "anything") is None
