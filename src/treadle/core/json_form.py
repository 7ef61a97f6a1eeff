"""Results as JSON: the fields of a dataclass are its schema. One encoder for all doors; docs/json.md lists every field.

A field appears under its own name, unless it says another one (`in_json_as`, with a dot for an object inside, a star
for an object whose own fields stand there) or none at all (`NOT_IN_JSON`). Verdicts are their words, times have three
decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

_NAME, _FORM, _IF_ANY = "json name", "json form", "json if any"
NOT_IN_JSON: Mapping[str, Any] = {_NAME: ""}


def in_json_as(name: str, form: Callable[[Any], Any] | None = None, if_any: bool = False) -> Mapping[str, Any]:
    """Metadata for a field that has another name in JSON, or a form of its own, or is left out where it is empty.

    `coverage.pairs` is `pairs` in the object `coverage`.
    """
    return {_NAME: name, _FORM: form, _IF_ANY: if_any}


class JsonForm:
    """A dataclass that is told to machines."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        for field, name in _named(type(self)):
            place, *inner = name.split(".")
            form = field.metadata.get(_FORM) or plain
            value = form(getattr(self, field.name))
            if field.metadata.get(_IF_ANY) and not value:
                continue
            if place == "*":
                facts |= value
            elif inner:
                facts.setdefault(place, {})[inner[0]] = value
            else:
                facts[place] = value
        return facts


def _named(cls: Any) -> Iterator[tuple[Field[Any], str]]:
    for field in fields(cls):
        name = field.metadata.get(_NAME, field.name)
        if name:
            yield field, name


def json_names(cls: type[JsonForm]) -> list[str]:
    """The names of a kind of result in JSON, with a dot inside where one object holds another."""
    return [name for _, name in _named(cls)]


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, JsonForm):
        return value.to_json()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, Collection) and not isinstance(value, str):
        return [plain(one) for one in value]
    if is_dataclass(value):
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    return value
