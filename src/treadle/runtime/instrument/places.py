"""Targets as objects: what `a, o.x = it` or `f().x += 1` store through, and the hooks made from other hooks.

`place.value` reads and `place.value = v` writes through the hooks of the runtime. A place is made, used and
dropped within one statement. Nothing here decides anything about scheduling.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from treadle.runtime.instrument.nodes import HOOK_PREFIX
from treadle.runtime.instrument.targets import INPLACE_OPERATORS


def derived_hooks(hooks: Mapping[str, Any]) -> dict[str, Any]:
    """The names that rewritten code needs besides the runtime's own hooks."""
    load, store = hooks["_treadle_load"], hooks["_treadle_store"]
    item, set_item = hooks["_treadle_item"], hooks["_treadle_set_item"]
    get_global, set_global = hooks["_treadle_global"], hooks["_treadle_set_global"]
    cell_write = hooks["_treadle_cell_write"]

    class AttributePlace:
        __slots__ = ("name", "owner")

        def __init__(self, owner: object, name: str) -> None:
            self.owner = owner
            self.name = name

        @property
        def value(self) -> Any:
            return load(self.owner, self.name)

        @value.setter
        def value(self, value: object) -> None:
            store(value, self.owner, self.name)

    class ItemPlace:
        __slots__ = ("key", "owner")

        def __init__(self, owner: object, key: object) -> None:
            self.owner = owner
            self.key = key

        @property
        def value(self) -> Any:
            return item(self.owner, self.key)

        @value.setter
        def value(self, value: object) -> None:
            set_item(value, self.owner, self.key)

    class GlobalPlace:
        __slots__ = ("globals_", "name")

        def __init__(self, globals_: dict[str, Any], name: str) -> None:
            self.globals_ = globals_
            self.name = name

        @property
        def value(self) -> Any:
            return get_global(self.globals_, self.name)

        @value.setter
        def value(self, value: object) -> None:
            set_global(value, self.globals_, self.name)

    def named_global(value: object, globals_: dict[str, Any], name: str) -> object:
        """`(name := value)` of a shared global."""
        set_global(value, globals_, name)
        return value

    def define_global(globals_: dict[str, Any], name: str) -> Callable[[Any], Any]:
        """Decorates `def name` or `class name` of a shared global."""
        return lambda definition: named_global(definition, globals_, name)

    def define_cell(label: str) -> Callable[[Any], Any]:
        """Decorates `def name` or `class name` of a shared closure variable."""

        def announce(definition: Any) -> Any:
            cell_write(label)
            return definition

        return announce

    derived: dict[str, Any] = {
        # Not as classes: programs that list the types in `builtins` would find them.
        "attribute_place": partial(AttributePlace),
        "item_place": partial(ItemPlace),
        "global_place": partial(GlobalPlace),
        "named_global": named_global,
        "define_global": define_global,
        "define_cell": define_cell,
        "globals": globals,
    }
    derived.update({name: getattr(operator, name) for name in INPLACE_OPERATORS.values()})
    return {HOOK_PREFIX + name: value for name, value in derived.items()}
