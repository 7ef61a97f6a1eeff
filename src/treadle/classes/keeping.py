"""Stand-ins that keep what they are given: where the methods that have to be written read like those of a container.

A bucket that forgets what is appended is never full, and a store that returns None for every key is always empty: what
a class does with such an object shows nothing. So where a method that puts something in and one that looks at it have
to be written, both work on one list, or on one dictionary where something is put in by a key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from treadle.observe.parameters import parameters_of

# By how a method is called, and how many arguments it takes at least: what it returns, by `kept` and what is `given`.
_Rules = tuple[tuple[str, int, str], ...]
_OF_BOTH: _Rules = (
    (r"(get_?)?(len|size|count|length)|qsize|__len__", 0, "len(self.kept)"),
    (r"clear|flush|reset|remove_all|delete_all", 0, "self.kept.clear()"),
    (r"(is_)?empty", 0, "not self.kept"),
    (r"has|exists|contains|__contains__", 1, "given[0] in self.kept"),
)
_OF_LIST: _Rules = (
    *_OF_BOTH,
    (r"append|add|put|push|insert|enqueue|store|save|write|record", 1, "self.kept.append(given[0])"),
    (r"update|replace|set|set_all", 1, "self.kept.__setitem__(slice(None), given[0])"),
    (r"remove|discard|delete", 1, "self.kept.remove(given[0]) if given[0] in self.kept else None"),
    (r"pop|popleft|get|take|dequeue|read", 0, "self.kept.pop(0)"),
    (r"(get_?)?(values|items|all|entries|list|elements)", 0, "list(self.kept)"),
    (r"peek|first|oldest", 0, "self.kept[0] if self.kept else None"),
    (r"last|newest|latest", 0, "self.kept[-1] if self.kept else None"),
    (r"__iter__", 0, "iter(list(self.kept))"),
)
_OF_DICT: _Rules = (
    *_OF_BOTH,
    (r"set|put|add|store|save|write|insert|__setitem__", 2, "self.kept.__setitem__(given[0], given[1])"),
    (r"get|read|load|fetch|find|lookup", 1, "self.kept.get(given[0])"),
    (r"__getitem__", 1, "self.kept[given[0]]"),
    (r"delete|remove|discard|pop|invalidate|evict|__delitem__", 1, "self.kept.pop(given[0], None)"),
    (r"(get_?)?keys|__iter__", 0, "iter(list(self.kept))"),
    (r"(get_?)?(values|all)", 0, "list(self.kept.values())"),
    (r"(get_?)?(items|entries)", 0, "list(self.kept.items())"),
)
_PUTS = re.compile(r"append|setitem|slice")
NEW = [
    "",
    "def __new__(cls, *args, **kwargs):",
    "    self = super().__new__(cls)",
    "    self.kept = {empty}",
    "    return self",
]


def kept(hooks: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """An empty list or dictionary, and what each method that fits returns; nothing where it is no container."""
    for empty, rules in (("{}", _OF_DICT), ("[]", _OF_LIST)):
        found = {name: said for name, raw in hooks.items() if (said := _said(name, raw, rules))}
        puts = [said for said in found.values() if _PUTS.search(said)]
        if puts and len(found) > len(puts):
            return empty, found
    return "", {}


def _said(name: str, raw: Any, rules: _Rules) -> str:
    function: Callable[..., Any] = getattr(raw, "__func__", raw)
    if not callable(function) or isinstance(raw, classmethod | staticmethod):
        return ""
    given = parameters_of(function, skip_first=True) or ()
    required = sum(parameter.required for parameter in given)
    for pattern, fewest, said in rules:
        if re.fullmatch(pattern, name) and required <= max(fewest, 1) + 1 and len(given) >= fewest >= min(required, 1):
            return said
    return ""
