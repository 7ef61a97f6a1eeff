"""From our expressions to z3's: one z3 term per node, remembered.

Python's floor division and remainder are spelled out on z3's (whose remainder is never negative). Strings map
to z3's sequences, references to integers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import z3

from treadle.symbolic.expr.characters import CLASSES, ranges
from treadle.symbolic.expr.operators import OPERATORS
from treadle.symbolic.expr.terms import BOOL, INT, REAL, STR, Expr, Sort, Value, terms_of
from treadle.symbolic.solve.definitions import Definitions

Term = Any  # z3's classes carry no types


def constant(value: Any, sort: Sort, context: Term = None) -> Term:
    if sort is BOOL:
        return z3.BoolVal(bool(value), context)
    if sort is REAL:
        fraction = Fraction(value)
        return z3.Q(fraction.numerator, fraction.denominator, context)
    if sort is STR:
        return z3.StringVal(_escaped(value), context)
    return z3.IntVal(value, context)


def _escaped(text: str) -> str:
    """z3 reads \\u{..} as an escape: a literal backslash and everything above ASCII are written as one."""
    return "".join(c if " " <= c <= "~" and c != "\\" else f"\\u{{{ord(c):x}}}" for c in text)


_VARIABLE: dict[Sort, Callable[[str, Term], Term]] = {
    BOOL: z3.Bool,
    REAL: z3.Real,
    STR: z3.String,
    INT: z3.Int,
    Sort.REF: z3.Int,
}


def _floordiv(a: Term, b: Term) -> Term:
    return z3.If(b > 0, a / b, (-a) / (-b))


def _mod(a: Term, b: Term) -> Term:
    return z3.If(b > 0, a % b, -((-a) % (-b)))


def _class(s: Term, name: str) -> Term:
    made = [
        z3.Range(z3.StringVal(_escaped(chr(low)), s.ctx), z3.StringVal(_escaped(chr(high)), s.ctx))
        for low, high in ranges(CLASSES[name])
    ]
    return z3.InRe(s, z3.Plus(z3.Union(*made) if len(made) > 1 else made[0]))


def _replace_all(s: Term, old: Term, new: Term) -> Term:
    context = s.ctx
    raw = z3.Z3_mk_seq_replace_all(context.ref(), s.as_ast(), old.as_ast(), new.as_ast())
    return z3.SeqRef(raw, context)


_OPERATOR: dict[str, Callable[..., Term]] = {
    "mul": lambda a, b: a * b,
    "rmul": lambda a, b: a * b,
    "div": _floordiv,
    "mod": _mod,
    "rdiv": lambda a, b: a / b,
    "to_real": z3.ToReal,
    "floor": z3.ToInt,
    "iff": lambda a, b: a == b,
    "same": lambda a, b: a == b,
    "not": z3.Not,
    "and": z3.And,
    "or": z3.Or,
    "ite": z3.If,
    "len": z3.Length,
    "concat": z3.Concat,
    "streq": lambda a, b: a == b,
    "at": lambda s, i: z3.SubString(s, i, 1),
    "substr": z3.SubString,
    "contains": z3.Contains,
    "prefix": lambda s, start: z3.PrefixOf(start, s),
    "suffix": lambda s, end: z3.SuffixOf(end, s),
    "index_of": z3.IndexOf,
    "replace_first": z3.Replace,
    "replace_all": _replace_all,
    "strlt": lambda a, b: a < b,
    "strle": lambda a, b: a <= b,
    "int_to_str": lambda i: z3.If(i >= 0, z3.IntToStr(i), z3.Concat(z3.StringVal("-", i.ctx), z3.IntToStr(-i))),
    "str_to_int": z3.StrToInt,
    "ord": z3.StrToCode,
    "chr": z3.StrFromCode,
}


class Translator:
    """Remembers the z3 term of every node it has seen; the terms live in one context of z3, None for the common one."""

    def __init__(self, context: Term = None) -> None:
        self._context = context
        self._terms: dict[Expr, Term] = {}
        self._definitions = Definitions(self.term, context)
        self._defined: dict[Expr, list[Term]] = {}

    def term(self, value: Value, sort: Sort) -> Term:
        if not isinstance(value, Expr):
            return constant(value, sort, self._context)
        found = self._terms.get(value)
        if found is None:
            found = self._terms[value] = self._build(value)
        return found

    def assertions(self, condition: Expr) -> list[Term]:
        """The condition, and the definitions of the functions in it that z3 does not have."""
        found = self._defined.get(condition)
        if found is None:
            found = self._defined[condition] = [self.term(condition, BOOL), *self._definitions.of(condition)]
        return found

    def _build(self, e: Expr) -> Term:
        op, args = e.op, e.args
        if op == "var":
            return _VARIABLE[e.sort](f"{args[0]}:{e.sort.value}", self._context)
        if op == "sum":
            return self._sum(e)
        if op in ("ge0", "gt0", "eq0"):
            return self._comparison(op, args[0])
        if op == "in_class":
            return _class(self.term(args[0], STR), args[1])
        if op == "cdiv":
            a = self.term(args[0], INT)
            return a / args[1] if args[1] > 0 else (-a) / -args[1]
        if op == "cmod":
            a = self.term(args[0], INT)
            return a % args[1] if args[1] > 0 else -((-a) % -args[1])
        if op == "ite":
            return z3.If(self.term(args[0], BOOL), self.term(args[1], e.sort), self.term(args[2], e.sort))
        if OPERATORS[op].by_definition:
            return self._definitions.constant(e)
        return _OPERATOR[op](*self._arguments(e))

    def _arguments(self, e: Expr) -> list[Term]:
        sorts = OPERATORS[e.op].takes or (e.sort,)
        sorts += sorts[-1:] * (len(e.args) - len(sorts))
        return [self.term(a, s) for a, s in zip(e.args, sorts, strict=True)]

    def _sum(self, e: Expr) -> Term:
        start, terms = terms_of(e)
        parts = [
            self.term(atom, e.sort) if c == 1 else self.term(c, e.sort) * self.term(atom, e.sort) for atom, c in terms
        ]
        if start:
            parts.append(self.term(start, e.sort))
        return parts[0] if len(parts) == 1 else z3.Sum(parts)

    def _comparison(self, op: str, inner: Expr) -> Term:
        """Positive terms left, negative right: z3 sees the comparison the program made."""
        start, terms = terms_of(inner)
        sort = inner.sort

        def side(sign: int) -> Term:
            parts = [
                self.term(a, sort) if c * sign == 1 else self.term(c * sign, sort) * self.term(a, sort)
                for a, c in terms
                if c * sign > 0
            ]
            if start * sign > 0 or not parts:
                parts.append(self.term(max(start * sign, 0), sort))
            return parts[0] if len(parts) == 1 else z3.Sum(parts)

        left, right = side(1), side(-1)
        if op == "ge0":
            return left >= right
        return left > right if op == "gt0" else left == right


def value_of(term: Term, sort: Sort) -> Any:
    """A z3 constant as a host value."""
    if sort is BOOL:
        return z3.is_true(term)
    if sort is REAL:
        if z3.is_algebraic_value(term):
            term = term.approx(20)
        return Fraction(term.numerator_as_long(), term.denominator_as_long())
    if sort is STR:
        return _unescaped(term.as_string())
    return term.as_long()


def _unescaped(text: str) -> str:
    out = ""
    i = 0
    while i < len(text):
        if text.startswith("\\u{", i):
            end = text.index("}", i)
            out += chr(int(text[i + 3 : end], 16))
            i = end + 1
        else:
            out += text[i]
            i += 1
    return out
