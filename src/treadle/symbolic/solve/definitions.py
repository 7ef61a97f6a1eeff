"""What z3 is told of the functions in `text`: word equations over new constants.

z3 takes strings apart well when it may name the parts: `s == left + middle + right` is answered in milliseconds where
the same thing in terms of indices takes seconds. Every definition holds for all strings, except that letters and digits
are those of ASCII, which is what tests use, unless the condition itself mentions others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import z3

from treadle.symbolic.expr.characters import UNICODE_SPACE, complement, ranges
from treadle.symbolic.expr.node import BOOL, INT, REAL, STR, Expr, Value, parts
from treadle.symbolic.expr.operators import OPERATORS
from treadle.symbolic.expr.patterns import matched
from treadle.symbolic.expr.text import first_word, other_words, parted
from treadle.symbolic.solve.regular import Language, TakenApart, parsed

Term = Any  # z3's classes carry no types
Translate = Callable[[Value, Any], Term]
Ranges = Sequence[tuple[int, int]]


class Definitions:
    """Constants for the nodes of `text`, and what holds of them; `term` translates the arguments."""

    def __init__(self, term: Translate, context: Term) -> None:
        self._term = term
        self._context = context
        # building a regular expression takes longer than z3 takes to read it
        self._patterns: dict[tuple[Any, ...], Term] = {}

    def constant(self, e: Expr) -> Term:
        """The new constant that stands for a node."""
        return {STR: z3.String, INT: z3.Int, BOOL: z3.Bool, REAL: z3.Real}[e.sort](self._name(e), self._context)

    def _name(self, e: Expr, part: str = "") -> str:
        return f"{e.op} {e.order[2].hex()} {part}"

    def _part(self, e: Expr, part: str) -> Term:
        return z3.String(self._name(e, part), self._context)

    def _text(self, text: str) -> Term:
        return self._term(text, STR)

    def of(self, e: Expr) -> list[Term]:
        """What holds of the nodes of an expression that are functions of `text`."""
        found: list[Term] = []
        inside = list(parts(e))
        foreign = any(isinstance(a, str) and not a.isascii() for part in inside for a in part.args)
        for part in inside:
            if _is_defined(part):
                s, constant = self._term(part.args[0], STR), self.constant(part)
                found.extend(getattr(self, f"_{part.op}")(part, s, constant))
                if part.op == "recased" and not foreign:
                    found.append(self._in_ascii(s))
            elif part.op in ("streq", "prefix", "suffix", "contains"):
                found.extend(self._looked_at(part))
        return found

    # --- regular expressions -----------------------------------------------------------------------------

    def _pattern(self, kind: str, wanted: Ranges, build: Callable[[], Term]) -> Term:
        key = (kind, *wanted)
        found = self._patterns.get(key)
        if found is None:
            found = self._patterns[key] = build()
        return found

    def _one_of(self, wanted: Ranges) -> Term:
        return self._pattern("one", wanted, lambda: self._union(wanted))

    def _union(self, wanted: Ranges) -> Term:
        made = [z3.Range(self._text(chr(low)), self._text(chr(high))) for low, high in wanted]
        return made[0] if len(made) == 1 else z3.Union(*made)

    def _many(self, wanted: Ranges) -> Term:
        return self._pattern("many", wanted, lambda: z3.Star(self._one_of(wanted)))

    def _anything(self) -> Term:
        return self._pattern("anything", (), lambda: z3.Full(z3.ReSort(z3.StringSort(self._context))))

    def _only(self, term: Term, wanted: Ranges) -> Term:
        return z3.InRe(term, self._many(wanted))

    def _starts(self, term: Term, wanted: Ranges) -> Term:
        build = lambda: z3.Concat(self._one_of(wanted), self._anything())  # noqa: E731 - one line, used once
        return z3.InRe(term, self._pattern("starts", wanted, build))

    def _ends(self, term: Term, wanted: Ranges) -> Term:
        build = lambda: z3.Concat(self._anything(), self._one_of(wanted))  # noqa: E731 - one line, used once
        return z3.InRe(term, self._pattern("ends", wanted, build))

    # --- taking apart ------------------------------------------------------------------------------------

    def _strip(self, e: Expr, s: Term, middle: Term) -> list[Term]:
        _, characters, sides = e.args
        gone = [(ord(c), ord(c)) for c in sorted(set(characters))] if characters else ranges(UNICODE_SPACE)
        kept = complement(gone)
        facts, whole = [], [middle]
        if "l" in sides:
            left = self._part(e, "left")
            whole.insert(0, left)
            facts += [self._only(left, gone), z3.Or(middle == self._text(""), self._starts(middle, kept))]
        if "r" in sides:
            right = self._part(e, "right")
            whole.append(right)
            facts += [self._only(right, gone), z3.Or(middle == self._text(""), self._ends(middle, kept))]
        return [s == z3.Concat(*whole), *facts]

    def _parted(self, e: Expr, s: Term, result: Term) -> list[Term]:
        _, separator, place = e.args
        mark, empty = self._text(separator), self._text("")
        if place.startswith("before"):
            before, after = result, self._term(parted(e.args[0], separator, place.replace("before", "after")), STR)
        else:
            before, after = self._term(parted(e.args[0], separator, place.replace("after", "before")), STR), result
        if place.endswith("last"):
            no_other = z3.Not(z3.Contains(z3.Concat(self._text(separator[1:]), after), mark))
            without = z3.And(before == empty, after == s)
        else:
            no_other = z3.Not(z3.Contains(z3.Concat(before, self._text(separator[:-1])), mark))
            without = z3.And(before == s, after == empty)
        found = z3.And(s == z3.Concat(before, mark, after), no_other)
        return [z3.If(z3.Contains(s, mark), found, without)]

    def _first_word(self, e: Expr, s: Term, word: Term) -> list[Term]:
        others = self._term(other_words(e.args[0]), STR)
        spaces = ranges(UNICODE_SPACE)
        left, gap, empty = self._part(e, "left"), self._part(e, "gap"), self._text("")
        more = z3.And(gap != empty, self._starts(others, complement(spaces)))
        return [
            s == z3.Concat(left, word, gap, others),
            self._only(left, spaces),
            self._only(word, complement(spaces)),
            self._only(gap, spaces),
            z3.Or(others == empty, more),
            z3.Implies(word == empty, z3.And(gap == empty, others == empty)),
        ]

    def _other_words(self, e: Expr, s: Term, others: Term) -> list[Term]:
        word = first_word(e.args[0])
        assert isinstance(word, Expr)
        return self._first_word(word, s, self.constant(word))

    # --- regular expressions of Python -------------------------------------------------------------------

    def _matched(self, e: Expr, s: Term, result: Term) -> list[Term]:
        _, pattern, flags, how = e.args
        items, all_flags = parsed(pattern, flags)
        language = Language(self._text, self._context)
        found = z3.InRe(s, language.whole(items, all_flags, how))
        told = result == found if language.exact else z3.Implies(result, found)
        return [told, *([self._in_ascii(s)] if language.ascii and pattern.isascii() else [])]

    def _apart(self, e: Expr, s: Term) -> tuple[list[Term], Term, TakenApart]:
        """What holds of the groups of a match, and the constant for whether there is one."""
        whole = matched(*e.args[:4])
        assert isinstance(whole, Expr)
        there = self.constant(whole)
        flag = lambda part: z3.Bool(self._name(whole, part), self._context)  # noqa: E731 - one line, used once
        apart = TakenApart(
            Language(self._text, self._context), lambda part: self._part(whole, part), flag, self._text("")
        )
        items, flags = parsed(e.args[1], e.args[2])
        facts = apart.whole(s, items, flags, e.args[3])
        return [*self._matched(whole, s, there), z3.Implies(there, z3.And(*facts))], there, apart

    def _group(self, e: Expr, s: Term, result: Term) -> list[Term]:
        facts, there, apart = self._apart(e, s)
        return [*facts, result == z3.If(there, apart.group(e.args[4]), self._text(""))]

    def _has_group(self, e: Expr, s: Term, result: Term) -> list[Term]:
        facts, there, apart = self._apart(e, s)
        return [*facts, z3.Implies(result, there), z3.Implies(there, result == apart.is_set(e.args[4]))]

    def _group_start(self, e: Expr, s: Term, result: Term) -> list[Term]:
        facts, there, apart = self._apart(e, s)
        text = apart.group(e.args[4])
        inside = z3.And(result >= 0, z3.SubString(s, result, z3.Length(text)) == text)
        return [*facts, result >= -1, z3.Implies(z3.And(there, result >= 0), inside)]

    # --- letters -----------------------------------------------------------------------------------------

    def _in_ascii(self, s: Term) -> Term:
        return self._only(s, [(0, 127)])

    def _recased(self, e: Expr, s: Term, result: Term) -> list[Term]:
        method = e.args[1]
        facts = [z3.Length(result) == z3.Length(s)]
        if method in ("lower", "casefold", "upper"):
            changed = ("A", "Z") if method != "upper" else ("a", "z")
            same = [
                (low, min(high, 127)) for low, high in complement([(ord(changed[0]), ord(changed[1]))]) if low < 128
            ]
            facts += [self._only(result, same), self._only(s, same) == (result == s)]
        return [z3.Implies(self._in_ascii(s), z3.And(*facts))]

    def _looked_at(self, e: Expr) -> list[Term]:
        """What a comparison of s.lower() with a known text says of s itself."""
        a, b = e.args
        if not (isinstance(a, Expr) and a.op == "recased" and isinstance(b, str) and b and b.isascii()):
            return []
        s, method = self._term(a.args[0], STR), a.args[1]
        if method in ("title", "capitalize") and e.op != "streq":
            return []
        told = z3.BoolVal(False, self._context)
        if getattr(b.swapcase() if method == "swapcase" else b, method)() == b:
            pattern = [self._one_of([(n, n) for n in range(128) if _may_become(chr(n), c, method)]) for c in b]
            if e.op in ("suffix", "contains"):
                pattern.insert(0, self._anything())
            if e.op in ("prefix", "contains"):
                pattern.append(self._anything())
            told = z3.InRe(s, z3.Concat(*pattern) if len(pattern) > 1 else pattern[0])
        return [z3.Implies(self._in_ascii(s), self._term(e, BOOL) == told)]

    def _repr(self, e: Expr, s: Term, result: Term) -> list[Term]:
        plain = [(low, high) for low, high in complement([(ord("'"), ord("'")), (ord("\\"), ord("\\"))])]
        plain = [(max(low, 32), min(high, 126)) for low, high in plain if high >= 32 and low <= 126]
        quote = self._text("'")
        return [
            z3.Implies(self._only(s, plain), result == z3.Concat(quote, s, quote)),
            z3.Length(result) >= z3.Length(s) + 2,
        ]

    # --- numbers -----------------------------------------------------------------------------------------

    def _digits(self) -> Term:
        return z3.Plus(self._one_of([(ord("0"), ord("9"))]))

    def _grouped(self) -> Term:
        return z3.Concat(self._digits(), z3.Star(z3.Concat(z3.Re(self._text("_")), self._digits())))

    def _sign(self) -> Term:
        return z3.Option(z3.Union(z3.Re(self._text("+")), z3.Re(self._text("-"))))

    def _spaced(self, *parts: Term) -> Term:
        spaces = self._many(ranges(UNICODE_SPACE))
        return z3.Concat(spaces, *parts, spaces)

    def _is_int(self, e: Expr, s: Term, result: Term) -> list[Term]:
        return [result == z3.InRe(s, self._spaced(self._sign(), self._grouped()))]

    def _int_of(self, e: Expr, s: Term, result: Term) -> list[Term]:
        return self._number(e, s, lambda value: result == value)

    def _number(self, e: Expr, s: Term, told: Callable[[Term], Term]) -> list[Term]:
        """What is told of the number that a text of digits is; of other ways to write numbers nothing is told."""
        left, sign, number, right = (self._part(e, part) for part in ("left", "sign", "number", "right"))
        spaces = ranges(UNICODE_SPACE)
        value = z3.StrToInt(number)
        taken_apart = z3.And(
            s == z3.Concat(left, sign, number, right),
            self._only(left, spaces),
            z3.InRe(sign, self._sign()),
            z3.InRe(number, self._digits()),
            self._only(right, spaces),
            told(z3.If(sign == self._text("-"), -value, value)),
        )
        return [z3.Implies(z3.InRe(s, self._spaced(self._sign(), self._digits())), taken_apart)]

    def _is_finite(self, e: Expr, s: Term, result: Term) -> list[Term]:
        point = z3.Re(self._text("."))
        plain = z3.Union(
            z3.Concat(self._grouped(), z3.Option(z3.Concat(point, z3.Option(self._grouped())))),
            z3.Concat(point, self._grouped()),
        )
        power = z3.Concat(self._one_of([(ord("E"), ord("E")), (ord("e"), ord("e"))]), self._sign(), self._grouped())
        # more digits than these may be too many for a float
        short = z3.And(z3.Length(s) <= 300, z3.InRe(s, self._spaced(self._sign(), plain)))
        written = z3.InRe(s, self._spaced(self._sign(), plain, z3.Option(power)))
        return [z3.Implies(short, result), z3.Implies(result, written)]

    def _is_endless(self, e: Expr, s: Term, result: Term) -> list[Term]:
        return []

    def _float_of(self, e: Expr, s: Term, result: Term) -> list[Term]:
        return self._number(e, s, lambda value: z3.Implies(z3.Length(s) <= 15, result == z3.ToReal(value)))


def _is_defined(part: Expr) -> bool:
    return part.op in OPERATORS and OPERATORS[part.op].by_definition


def _may_become(letter: str, wanted: str, method: str) -> bool:
    if method in ("title", "capitalize"):
        return letter.lower() == wanted.lower()
    return bool(getattr(letter, method)() == wanted)


def instances(e: Expr, value: Callable[[Value], Any]) -> Iterable[tuple[Expr, list[tuple[Expr, Any]], Any]]:
    """The functions in an expression that z3 knows in part, their unknown arguments and their values under a model."""
    for part in parts(e):
        if _is_defined(part) or part.op in ("replace_all", "replace_first", "str_to_int", "int_to_str"):
            yield part, [(a, value(a)) for a in part.args if isinstance(a, Expr)], value(part)
