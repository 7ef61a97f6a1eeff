"""Functions are found whoever holds them, and whenever they were made: before the last look at them or since."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

from treadle.threads.instrument import live
from treadle.threads.instrument.live import functions_of

SOURCE = "def first(): pass\ndef maker():\n    def made(): pass\n    return made\n"


@pytest.fixture
def module() -> Any:
    module = types.ModuleType("has_functions")
    exec(compile(SOURCE, "has_functions.py", "exec"), vars(module))
    return module


def names(module: Any) -> list[str]:
    return sorted(function.__name__ for function, _ in functions_of([module]))


def nothing() -> None:
    """No collection."""


@pytest.mark.parametrize(
    "collect", [nothing, lambda: gc.collect(0), lambda: gc.collect(1), gc.collect, lambda: live.collect(1)]
)
def test_made_since_the_last_look_and_held_by_something_else(module: Any, collect: Callable[[], object]) -> None:
    assert names(module) == ["first", "maker"]
    held_elsewhere = [module.maker()]
    collect()
    assert names(module) == ["first", "made", "maker"]
    collect()
    held_elsewhere.append(module.maker())
    assert names(module) == ["first", "made", "made", "maker"]
    held_elsewhere.clear()
    if live._IMMORTAL:
        gc.collect()  # without a GIL, a function lives until the collector comes
    assert names(module) == ["first", "maker"]


def test_several_modules_looked_at_together_and_alone(module: Any) -> None:
    other = types.ModuleType("has_more")
    exec("def more(): pass", vars(other))
    assert names(module) == ["first", "maker"]
    found = functions_of([module, other])
    assert [(function.__name__, owner.__name__) for function, owner in found if owner is other] == [
        ("more", "has_more")
    ]
    assert len(found) == 3
    assert names(other) == ["more"]


def test_generated_for_a_class_in_a_namespace_of_its_own(module: Any) -> None:
    space: dict[str, Any] = {}
    exec(compile("def generated(): pass", "<generated>", "exec"), space)
    space["generated"].__module__ = "has_functions"
    assert names(module) == ["first", "generated", "maker"]


def test_held_by_an_object_that_the_collector_does_not_list(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build without a GIL forgets functions of modules; here they are frozen, which hides them as well."""
    monkeypatch.setattr(live, "_IMMORTAL", True)
    module.registry = types.SimpleNamespace(functions=[vars(module).pop("first")])
    sys.modules["has_functions"] = module
    gc.freeze()
    try:
        assert names(module) == ["first", "maker"]
    finally:
        gc.unfreeze()
        del sys.modules["has_functions"]


@pytest.mark.skipif(not live._HAS_GENERATIONS or live._IMMORTAL, reason="everything is looked at there")
def test_what_is_frozen_is_found_and_a_second_look_is_at_young_objects(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CPython 3.12 begins with some frozen objects: they must not make every look one at everything."""
    gc.disable()
    gc.freeze()
    monkeypatch.setattr(gc, "get_freeze_count", lambda: 375)  # another thread of this process may let go of some
    try:
        assert names(module) == ["first", "maker"]
        held_elsewhere = module.maker()
        looks: list[tuple[int, ...]] = []
        real = gc.get_objects

        def look(*generation: int) -> list[Any]:
            looks.append(generation)
            return real(*generation)

        monkeypatch.setattr(gc, "get_objects", look)
        assert names(module) == ["first", "made", "maker"]
        assert looks == [(0,), (1,)]
        del held_elsewhere
    finally:
        gc.unfreeze()
        gc.enable()


@pytest.mark.skipif(not live._HAS_GENERATIONS or live._IMMORTAL, reason="everything is looked at, every time")
def test_our_own_collection_makes_no_look_at_everything(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[tuple[int, ...]] = []
    real = gc.get_objects

    def look(*generation: int) -> list[Any]:
        looks.append(generation)
        return real(*generation)

    with_collector = gc.isenabled()
    gc.collect()  # what other tests have left
    gc.disable()  # nobody else collects
    try:
        assert names(module) == ["first", "maker"]
        held_elsewhere = module.maker()
        live.collect(1)
        monkeypatch.setattr(gc, "get_objects", look)
        assert names(module) == ["first", "made", "maker"]
        del held_elsewhere
    finally:
        if with_collector:
            gc.enable()
    assert looks == [(0,), (1,)]


@pytest.mark.skipif(not live._HAS_GENERATIONS or live._IMMORTAL, reason="everything is looked at, every time")
def test_one_look_at_everything_is_for_all_modules_that_were_asked_for(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = types.ModuleType("has_more")
    exec("def more(): pass", vars(other))
    functions_of([module])
    functions_of([other])
    gc.collect()
    looked: list[int] = []
    usual = live._functions_among

    def among(objects: list[Any]) -> Any:
        looked.append(len(objects))
        return usual(objects)

    monkeypatch.setattr(live, "_functions_among", among)
    with_collector = gc.isenabled()
    gc.disable()  # no object becomes old meanwhile
    try:
        assert names(other) == ["more"]
        everything = max(looked)
        looked.clear()
        assert names(module) == ["first", "maker"]
    finally:
        if with_collector:
            gc.enable()
    assert sum(looked) < everything / 2


def test_of_two_modules_of_one_name_the_one_that_is_asked_for_has_what_was_generated(module: Any) -> None:
    def generated(owner: Any) -> Any:
        space: dict[str, Any] = {"__name__": owner.__name__}
        exec(compile("def made_for_a_class(): pass", "<generated>", "exec"), space)
        owner.kept = space["made_for_a_class"]
        return owner

    older, newer = generated(types.ModuleType("has_functions")), generated(module)
    for asked in (older, newer, older):
        gc.collect()
        assert "made_for_a_class" in names(asked)
