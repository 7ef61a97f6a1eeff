"""Targets as objects: what `a, o.x = it` or `f().x += 1` store through, and the hooks made from other hooks.

`place.value = v` writes through the hooks of the runtime; `place.loaded().augment("iadd", v)` reads, computes and
writes, with `v` evaluated in between as Python does. A place is made, used and dropped within one statement.
Nothing here decides anything about scheduling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from treadle.threads.instrument.nodes import HOOK_PREFIX
from treadle.threads.instrument.targets import INPLACE_OPERATORS

Hook = Callable[..., Any]


class ValuePlace:
    """Somewhere a value can be read from and written to: `read(owner, key)`, `write(value, owner, key)`."""

    __slots__ = ("_augmentations", "_key", "_old", "_owner", "_read", "_write")

    def __init__(self, read: Hook, write: Hook, augmentations: Mapping[str, Hook], owner: object, key: object) -> None:
        self._read = read
        self._write = write
        self._augmentations = augmentations
        self._owner = owner
        self._key = key

    @property
    def value(self) -> Any:
        return self._read(self._owner, self._key)

    @value.setter
    def value(self, value: object) -> None:
        self._write(value, self._owner, self._key)

    def loaded(self) -> ValuePlace:
        self._old = self._read(self._owner, self._key)
        return self

    def augment(self, name: str, operand: object) -> None:
        self._write(self._augmentations[name](self._old, operand), self._owner, self._key)


def derived_hooks(hooks: Mapping[str, Any]) -> dict[str, Any]:
    """The names that rewritten code needs besides the runtime's own hooks."""
    load, store = hooks["_treadle_load"], hooks["_treadle_store"]
    item, set_item = hooks["_treadle_item"], hooks["_treadle_set_item"]
    get_global, set_global = hooks["_treadle_global"], hooks["_treadle_set_global"]
    augmentations = {name: hooks[f"_treadle_{name}"] for name in INPLACE_OPERATORS.values()}

    def named_global(value: object, globals_: dict[str, Any], name: str) -> object:
        """`(name := value)` of a shared global."""
        set_global(value, globals_, name)
        return value

    def define_global(globals_: dict[str, Any], name: str) -> Hook:
        """Decorates `def name` or `class name` of a shared global."""
        return lambda definition: named_global(definition, globals_, name)

    def define_cell(label: str) -> Hook:
        """Decorates `def name` or `class name` of a shared closure variable."""
        return lambda definition: (hooks["_treadle_cell_write"](label), definition)[1]

    derived: dict[str, Any] = {
        "attribute_place": partial(ValuePlace, load, store, augmentations),
        "item_place": partial(ValuePlace, item, set_item, augmentations),
        "global_place": partial(ValuePlace, get_global, set_global, augmentations),
        "named_global": named_global,
        "define_global": define_global,
        "define_cell": define_cell,
        "globals": globals,
    }
    return {HOOK_PREFIX + name: value for name, value in derived.items()}
