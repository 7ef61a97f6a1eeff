"""The names of objects, taken apart: the only place that knows how `Strand.fresh` puts them together.

`Account#1` is the first Account that the first strand made, `Account#T1.2` the second that `T1` made. A place is a name
with what of the object is meant: `Account#1.balance`, `list#2[0]`.
"""

from __future__ import annotations

import re
from typing import Final

_OF_FIRST_STRAND: Final = re.compile(r"^(.+)#(\d+)(\W|$)")
_MODULE: Final = "module "
_IDENTITY: Final = re.compile(r"#(T\d+(\.\d+)*|\d+)|\[.*\]")


def is_made(name: str) -> bool:
    """Is it the name of an object that a strand made, not of a module, a class or a source of chance?"""
    return "#" in name


def label_of(name: str) -> str:
    """What sort of thing it is: `Account`."""
    return name.partition("#")[0]


def split(name: str) -> tuple[str, str]:
    """What sort of thing it is, and who made it as the how-manieth; ('Account', 'T1.2')."""
    label, _, rest = name.partition("#")
    return label, rest


def label_and_number(name: str) -> tuple[str, int] | None:
    """Of an object that the first strand made: its label, and how many of that label it had made then."""
    found = _OF_FIRST_STRAND.match(name)
    return None if found is None else (found[1], int(found[2]))


def module_of(name: str) -> str:
    """The module whose state a name stands for; empty for other names."""
    return name.removeprefix(_MODULE) if name.startswith(_MODULE) else ""


def of_module(module: str) -> str:
    """The name of what stands for the state of a module that is not rewritten."""
    return f"{_MODULE}{module}"


def age_of_strand(name: str) -> tuple[int, list[int]]:
    """A key by which the test itself comes first, then its threads as they were started: `T1`, `T1.1`, `T2`."""
    numbers = name.removeprefix("T").split(".")
    if name == "main":
        return 0, []
    return (1, [int(one) for one in numbers]) if all(one.isdecimal() for one in numbers) else (2, [])


def without_identity(place: str) -> str:
    """A place in any object of its sort: `Account.balance`, `list`."""
    return _IDENTITY.sub("", place)
