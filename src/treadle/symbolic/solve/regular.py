"""Regular expressions of Python as those of z3: read off the standard library's own parser.

`Language` gives, for a pattern and how it is asked, a z3 expression whose words are the texts that match. Where z3
has no word for something (look-around, back references, word boundaries, possessive repeats) it has more words
than match, and `exact` is False: nothing that matches is ever left out, so that an "impossible" is true.

`\\w` and `\\d` are those of ASCII (`ascii` says that they occur): z3 takes seconds for Unicode's. `\\s` is Unicode's.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import z3

from treadle.symbolic.expr.characters import UNICODE_SPACE, complement, ranges

Term = Any  # z3's classes carry no types
Parsed = Sequence[tuple[Any, Any]]
Ranges = list[tuple[int, int]]

_LAST = 0x2FFFF
_WORD = "0-9A-Z_a-z"
_BEGINNING = {"AT_BEGINNING", "AT_BEGINNING_STRING"}
_END = {"AT_END", "AT_END_STRING"}
_REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
# More letters than these are not looked up one by one.
_MOST_LETTERS = 600


@functools.lru_cache(256)
def parsed(pattern: str, flags: int) -> tuple[Parsed, int]:
    """The pattern as `re` reads it, and its flags with those inside of it."""
    found = re._parser.parse(pattern, flags & ~re.DEBUG)
    return list(found), found.state.flags


@functools.lru_cache(256)
def is_exact(pattern: str, flags: int, how: str) -> bool:
    """Whether z3 is told exactly what matches, letters beyond ASCII's aside."""
    language = Language(lambda text: z3.StringVal(text), None)
    items, all_flags = parsed(pattern, flags)
    language.whole(items, all_flags, how)
    return language.exact


@functools.lru_cache(256)
def is_of_ascii(pattern: str, flags: int) -> bool:
    """Whether letters beyond ASCII's matter that z3 is not told of."""
    language = Language(lambda text: z3.StringVal(text), None)
    language.sequence(*parsed(pattern, flags))
    return language.ascii


def groups_in(items: Iterable[tuple[Any, Any]]) -> set[int]:
    """The numbers of the capturing groups inside."""
    found: set[int] = set()
    for op, argument in items:
        name = str(op)
        if name == "SUBPATTERN":
            found |= ({argument[0]} if argument[0] is not None else set()) | groups_in(argument[3])
        elif name in _REPEATS:
            found |= groups_in(argument[2])
        elif name == "BRANCH":
            found |= {number for option in argument[1] for number in groups_in(option)}
        elif name == "ATOMIC_GROUP":
            found |= groups_in(argument)
        elif name in ("ASSERT", "ASSERT_NOT"):
            found |= groups_in(argument[1])
        elif name == "GROUPREF_EXISTS":
            found |= groups_in(argument[1]) | groups_in(argument[2] or ())
    return found


@functools.lru_cache(256)
def always_set(pattern: str, flags: int) -> frozenset[int]:
    """The groups that take part in every match."""

    def sure(items: Parsed) -> set[int]:
        found: set[int] = set()
        for op, argument in items:
            if str(op) == "SUBPATTERN":
                found |= {argument[0]} | sure(argument[3])
            elif str(op) in _REPEATS and argument[0] > 0:
                found |= sure(argument[2])
        return found

    return frozenset({0, *(number for number in sure(parsed(pattern, flags)[0]) if number is not None)})


@functools.cache
def _same_letters() -> dict[int, list[int]]:
    """For each letter in lower case those that `re` takes for it when case does not matter."""
    lower = re._compiler._sre.unicode_tolower  # type: ignore[attr-defined]
    found: dict[int, list[int]] = {}
    for n in range(_LAST + 1):
        low = lower(n)
        if low != n:
            found.setdefault(low, [low]).append(n)
    extra: dict[int, tuple[int, ...]] = re._casefix._EXTRA_CASES  # type: ignore[attr-defined]
    before = {low: list(found.get(low, [low])) for low in {*extra, *(o for others in extra.values() for o in others)}}
    for low, others in extra.items():
        found[low] = [*before[low], *(n for other in others for n in before[other])]
    return found


def _joined(numbers: Iterable[int]) -> Ranges:
    made: Ranges = []
    for n in sorted(set(numbers)):
        if made and made[-1][1] == n - 1:
            made[-1] = (made[-1][0], n)
        else:
            made.append((n, n))
    return made


class Language:
    """The words of parts of one pattern, as z3's regular expressions."""

    def __init__(self, text: Callable[[str], Term], context: Term) -> None:
        self._text = text
        self._sort = z3.ReSort(z3.StringSort(context))
        self.exact = True
        self.ascii = False

    # --- words -------------------------------------------------------------------------------------------

    def whole(self, items: Parsed, flags: int, how: str) -> Term:
        """The texts in which there is a match."""
        if len(items) == 1 and str(items[0][0]) == "BRANCH":
            return self._union([self.whole(list(option), flags, how) for option in items[0][1][1]])
        before, inside, after = self.anchored(items, flags, how)
        return self._concat([before, self.sequence(inside, flags), after])

    def anchored(self, items: Parsed, flags: int, how: str) -> tuple[Term, Parsed, Term]:
        """What may stand before a match, what is matched, what may stand behind it."""
        items = list(items)
        before, after = (self.anything() if how == "search" else self._empty()), self._empty()
        while items and _anchor(items[0]) in _BEGINNING and not flags & re.MULTILINE:
            before, items = self._empty(), items[1:]
        if how == "fullmatch":
            while items and _anchor(items[-1]) in _END and not flags & re.MULTILINE:
                items = items[:-1]
            return before, items, after
        ends = []
        while items and _anchor(items[-1]) in _END and not flags & re.MULTILINE:
            ends.append(_anchor(items[-1]))
            items = items[:-1]
        if not ends:
            after = self.anything()
        elif "AT_END_STRING" not in ends:
            after = z3.Option(z3.Re(self._text("\n")))
        return before, items, after

    def sequence(self, items: Parsed, flags: int) -> Term:
        return self._concat([self._item(str(op), argument, flags) for op, argument in items])

    def _item(self, op: str, argument: Any, flags: int) -> Term:
        match op:
            case "LITERAL":
                return self._one_of(self._cases([(argument, argument)], flags))
            case "NOT_LITERAL":
                return self._one_of(complement(self._cases([(argument, argument)], flags)))
            case "ANY":
                return self._one_of([(0, _LAST)] if flags & re.DOTALL else [(0, 9), (11, _LAST)])
            case "IN":
                return self._one_of(self._members(argument, flags))
            case "BRANCH":
                return self._union([self.sequence(option, flags) for option in argument[1]])
            case "SUBPATTERN":
                _, added, removed, inside = argument
                return self.sequence(inside, (flags | added) & ~removed)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                self.exact &= op != "POSSESSIVE_REPEAT"
                least, most, inside = argument
                return self._repeated(least, most, self.sequence(inside, flags))
            case "ATOMIC_GROUP":
                self.exact = False
                return self.sequence(argument, flags)
            case "GROUPREF":
                self.exact = False
                return self.anything()
            case "GROUPREF_EXISTS":
                self.exact = False
                return self._union([self.sequence(argument[1], flags), self.sequence(argument[2] or (), flags)])
        # look-around, and anchors elsewhere than at the ends: they take nothing
        self.exact = False
        return self._empty()

    def _repeated(self, least: int, most: Any, inside: Term) -> Term:
        endless = most == re._constants.MAXREPEAT
        if endless:
            return z3.Star(inside) if least == 0 else self._concat([*[inside] * (least - 1), z3.Plus(inside)])
        if most == 0:
            return self._empty()
        return z3.Option(inside) if (least, most) == (0, 1) else z3.Loop(inside, least, most)

    def _members(self, items: Sequence[tuple[Any, Any]], flags: int) -> Ranges:
        found: Ranges = []
        negated = False
        for op, argument in items:
            name = str(op)
            if name == "NEGATE":
                negated = True
            elif name == "LITERAL":
                found += self._cases([(argument, argument)], flags)
            elif name == "RANGE":
                found += self._cases([argument], flags)
            elif name == "CATEGORY":
                found += self._category(str(argument), flags)
        found = _merged(found)
        return complement(found) if negated else found

    def _category(self, name: str, flags: int) -> Ranges:
        kind = name.removeprefix("CATEGORY_").removeprefix("NOT_")
        if kind == "DIGIT":
            found = ranges("0-9")
            self.ascii |= not flags & re.ASCII
        elif kind == "SPACE":
            found = ranges("\t-\r ") if flags & re.ASCII else ranges(UNICODE_SPACE)
        else:
            found = ranges(_WORD)
            self.ascii |= not flags & re.ASCII
        return complement(found) if "NOT_" in name else list(found)

    def _cases(self, given: Ranges, flags: int) -> Ranges:
        """Characters that the solver has, with their other cases where these do not matter."""
        self.exact &= all(low <= _LAST for low, _ in given)
        given = [(low, min(high, _LAST)) for low, high in given if low <= _LAST]
        if not flags & re.IGNORECASE:
            return given
        if sum(high - low for low, high in given) > _MOST_LETTERS:
            self.exact = False
            return [(0, _LAST)]
        numbers = [n for low, high in given for n in range(low, high + 1)]
        if flags & re.ASCII:
            return _joined(ord(c) for n in numbers for c in _ascii_cases(chr(n)))
        lower = re._compiler._sre.unicode_tolower  # type: ignore[attr-defined]
        return _joined(other for n in numbers for other in (n, *_same_letters().get(lower(n), [lower(n)])))

    # --- z3's words --------------------------------------------------------------------------------------

    def anything(self) -> Term:
        return z3.Full(self._sort)

    def _empty(self) -> Term:
        return z3.Re(self._text(""))

    def _one_of(self, wanted: Ranges) -> Term:
        if not wanted:
            return z3.Empty(self._sort)
        return self._union([z3.Range(self._text(chr(low)), self._text(chr(high))) for low, high in wanted])

    def _union(self, parts: list[Term]) -> Term:
        return parts[0] if len(parts) == 1 else z3.Union(*parts)

    def _concat(self, parts: list[Term]) -> Term:
        empty = self._empty()
        parts = [part for part in parts if not part.eq(empty)]
        return empty if not parts else parts[0] if len(parts) == 1 else z3.Concat(*parts)


def _anchor(item: tuple[Any, Any]) -> str:
    return str(item[1]) if str(item[0]) == "AT" else ""


def _ascii_cases(c: str) -> set[str]:
    return {c, c.lower(), c.upper()} if c.isascii() else {c}


def _merged(given: Ranges) -> Ranges:
    made: Ranges = []
    for low, high in sorted(given):
        if made and low <= made[-1][1] + 1:
            made[-1] = (made[-1][0], max(high, made[-1][1]))
        else:
            made.append((low, high))
    return made


class TakenApart:
    """A text and the groups of a match in it, as equations over new constants.

    What holds of every match is said; which of several ways to split a text `re` takes is not.
    """

    def __init__(
        self, language: Language, part: Callable[[str], Term], flag: Callable[[str], Term], empty: Term
    ) -> None:
        self._language = language
        self._part = part
        self._flag = flag
        self._empty = empty
        self._parts = 0

    def group(self, number: int) -> Term:
        return self._part(f"group {number}")

    def is_set(self, number: int) -> Term:
        return self._flag(f"set {number}")

    def whole(self, s: Term, items: Parsed, flags: int, how: str) -> list[Term]:
        if len(items) == 1 and str(items[0][0]) == "BRANCH":
            options = [list(option) for option in items[0][1][1]]
            return [z3.Or(*(z3.And(*self.whole(s, o, flags, how), *self._unset(options, o)) for o in options))]
        before, inside, after = self._language.anchored(items, flags, how)
        start, end = self._part("before"), self._part("behind")
        return [
            s == z3.Concat(start, self.group(0), end),
            z3.InRe(start, before),
            z3.InRe(end, after),
            *self._sequence(inside, flags, self.group(0)),
        ]

    def _new(self) -> Term:
        self._parts += 1
        return self._part(f"part {self._parts}")

    def _unset(self, options: Sequence[Parsed], taken: Parsed) -> list[Term]:
        others = {number for option in options for number in groups_in(option)} - groups_in(taken)
        return [z3.And(z3.Not(self.is_set(n)), self.group(n) == self._empty) for n in sorted(others)]

    def _sequence(self, items: Parsed, flags: int, text: Term) -> list[Term]:
        facts: list[Term] = []
        pieces: list[Term] = []
        plain: list[tuple[Any, Any]] = []

        def flush() -> None:
            if plain:
                pieces.append(self._new())
                facts.append(z3.InRe(pieces[-1], self._language.sequence(list(plain), flags)))
                plain.clear()

        for op, argument in items:
            if groups_in([(op, argument)]):
                flush()
                pieces.append(self._new())
                facts += self._item(str(op), argument, flags, pieces[-1])
            else:
                plain.append((op, argument))
        flush()
        whole = self._empty if not pieces else pieces[0] if len(pieces) == 1 else z3.Concat(*pieces)
        return [text == whole, *facts]

    def _item(self, op: str, argument: Any, flags: int, text: Term) -> list[Term]:
        if op == "SUBPATTERN":
            number, added, removed, inside = argument
            own = [text == self.group(number), self.is_set(number)] if number is not None else []
            return [*own, *self._sequence(inside, (flags | added) & ~removed, text)]
        if op in _REPEATS and argument[:2] == (1, 1):
            return self._sequence(argument[2], flags, text)
        if op in _REPEATS and argument[:2] == (0, 1):
            without = [text == self._empty, *self._unset([argument[2]], [])]
            return [z3.Or(z3.And(*without), z3.And(*self._sequence(argument[2], flags, text)))]
        if op == "BRANCH":
            options = [list(option) for option in argument[1]]
            return [z3.Or(*(z3.And(*self._sequence(o, flags, text), *self._unset(options, o)) for o in options))]
        return [z3.InRe(text, self._language.sequence([(op, argument)], flags))]
