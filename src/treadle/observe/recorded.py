"""What was seen when a program used a package: how objects were made, with what functions were called, in which order.

Everything is source text with the lines it needs, so that it can be run again without the program it was seen in. The
keys are names as Python writes them (`module:Class`, `module:Class.method`, `module:function`). What could not be
written down is left out; `problems` says why the rest of a recording is missing.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

# Different ways of making or calling one thing that are kept.
MOST = 12


@dataclass(frozen=True)
class Expression:
    """A value: an expression, and the lines that must stand before it."""

    source: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class GivenArgument:
    """One argument: its value, and the name it was passed by (empty: by its position)."""

    value: Expression
    name: str = ""


Arguments = tuple[GivenArgument, ...]


@dataclass(frozen=True)
class SeenCall:
    """A call of a method of an object."""

    method: str
    arguments: Arguments


@dataclass
class RecordedUse:
    """All that was seen of one package."""

    made: dict[str, list[Expression]] = field(default_factory=dict)  # class -> ways to make an object of it
    called: dict[str, list[Arguments]] = field(default_factory=dict)  # function -> what it was called with
    orders: dict[str, list[tuple[SeenCall, ...]]] = field(default_factory=dict)  # class -> calls of one object
    problems: list[str] = field(default_factory=list)

    def add(self, other: RecordedUse) -> None:
        """Take over what another recording has seen."""
        for mine, theirs in ((self.made, other.made), (self.called, other.called), (self.orders, other.orders)):
            kept: dict[str, list[Any]] = mine
            for name, seen in theirs.items():
                kept[name] = list(dict.fromkeys([*kept.get(name, []), *seen]))[:MOST]
        self.problems += [one for one in other.problems if one not in self.problems]

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def from_json(text: str) -> RecordedUse:
    found = json.loads(text)
    return RecordedUse(
        {name: [_expression(one) for one in seen] for name, seen in found["made"].items()},
        {name: [_arguments(one) for one in seen] for name, seen in found["called"].items()},
        {
            name: [tuple(SeenCall(call["method"], _arguments(call["arguments"])) for call in one) for one in seen]
            for name, seen in found["orders"].items()
        },
        list(found["problems"]),
    )


def _expression(found: dict[str, Any]) -> Expression:
    return Expression(found["source"], tuple(found["needs"]))


def _arguments(found: list[dict[str, Any]]) -> Arguments:
    return tuple(GivenArgument(_expression(one["value"]), one["name"]) for one in found)
