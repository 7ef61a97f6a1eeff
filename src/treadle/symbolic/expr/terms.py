"""Expressions over unknown values: what a program computed, written in terms of its inputs.

Every node is hash-consed: two equal expressions are the same object, so `is` decides equality, a node is a
cheap dictionary key, and a path condition is a sequence of nodes. A known value is never wrapped: the
constructors below take and return plain `int`, `bool`, `Fraction` and `str` when everything is known, and an
`Expr` only when an unknown takes part. Test with `isinstance(value, Expr)`.

Sorts
    INT   unbounded integers            constants: int (never bool)
    BOOL  truth values                  constants: bool
    REAL  exact rationals               constants: Fraction
    STR   strings                       constants: str
    REF   references: only == and ite   constants: int (an identity chosen by the caller)

API
    var(name, sort)                                     an unknown; the name identifies it
    add sub mul neg floordiv mod power                  INT (Python's floor semantics)
    radd rsub rmul rneg rdiv to_real floor              REAL
    lt le gt ge eq ne                                   both operands of one sort -> BOOL
    not_ and_ or_ implies ite                           BOOL; ite over any sort
    bool_to_int                                         True -> 1
    concat length at substr contains prefix suffix      STR
    index_of replace_first replace_all str_lt str_le
    int_to_str str_to_int ord_ chr_ in_class
    is_linear(expression)                               no product, quotient or remainder of two unknowns
Beside this file
    meaning.evaluate(expression, model)                 the value under a model (mapping of var -> value)
    meaning.substitute(expression, mapping)             rebuild with some unknowns replaced
    show.show(expression)                               readable text: "n > 0", "a % b == 0"

Integers and rationals live in a linear normal form (constant + coefficients times atoms), comparisons as
`sum >= 0`, `sum > 0` (rationals only) and `sum == 0`; that decides most trivial conditions without a solver.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd
from typing import Any, TypeVar

from treadle.symbolic.expr.characters import CLASSES as CLASSES
from treadle.symbolic.expr.characters import MATCHERS as MATCHERS
from treadle.symbolic.expr.node import BOOL as BOOL
from treadle.symbolic.expr.node import DEFAULTS as DEFAULTS
from treadle.symbolic.expr.node import INT as INT
from treadle.symbolic.expr.node import REAL as REAL
from treadle.symbolic.expr.node import REF as REF
from treadle.symbolic.expr.node import STR as STR
from treadle.symbolic.expr.node import Const as Const
from treadle.symbolic.expr.node import Expr as Expr
from treadle.symbolic.expr.node import Integer as Integer
from treadle.symbolic.expr.node import Model as Model
from treadle.symbolic.expr.node import Real as Real
from treadle.symbolic.expr.node import Sort as Sort
from treadle.symbolic.expr.node import Text as Text
from treadle.symbolic.expr.node import Truth as Truth
from treadle.symbolic.expr.node import Value as Value
from treadle.symbolic.expr.node import is_linear as is_linear
from treadle.symbolic.expr.node import node
from treadle.symbolic.expr.node import sort_of as sort_of
from treadle.symbolic.expr.node import var as var

C = TypeVar("C", bound=Const)

# ---------------------------------------------------------------------------------------------------------
# sums: constant + ((atom, coefficient), ...), atoms in their `order`


def terms_of(value: Value) -> tuple[Any, tuple[tuple[Expr, Any], ...]]:
    if not isinstance(value, Expr):
        return value, ()
    if value.op == "sum":
        return value.args[0], value.args[1]
    return 0, ((value, 1),)


def _sum(constant: Any, terms: Iterable[tuple[Expr, Any]], sort: Sort) -> Expr | Any:
    kept = tuple((a, c) for a, c in terms if c != 0)
    if len(kept) > 1:
        kept = tuple(sorted(kept, key=lambda term: term[0].order))
    if sort is REAL:
        constant = Fraction(constant)
    if not kept:
        return constant
    if constant == 0 and len(kept) == 1 and kept[0][1] == 1:
        return kept[0][0]
    return node("sum", (constant, kept), sort)


def _combine(a: Any, b: Any, factor: int, sort: Sort) -> Expr | Any:
    """a + factor * b"""
    if not isinstance(a, Expr) and not isinstance(b, Expr):
        return a + factor * b
    ca, ta = terms_of(a)
    cb, tb = terms_of(b)
    merged: dict[Expr, Any] = dict(ta)
    for atom, coefficient in tb:
        merged[atom] = merged.get(atom, 0) + factor * coefficient
    return _sum(ca + factor * cb, merged.items(), sort)


def add(a: Integer, b: Integer) -> Integer:
    return _combine(a, b, 1, INT)


def sub(a: Integer, b: Integer) -> Integer:
    return _combine(a, b, -1, INT)


def neg(a: Integer) -> Integer:
    return _combine(0, a, -1, INT)


def radd(a: Real, b: Real) -> Real:
    return _combine(a, b, 1, REAL)


def rsub(a: Real, b: Real) -> Real:
    return _combine(a, b, -1, REAL)


def rneg(a: Real) -> Real:
    return _combine(Fraction(0), a, -1, REAL)


def _scale(a: Expr, factor: Any, sort: Sort) -> Expr | Any:
    constant, terms = terms_of(a)
    return _sum(constant * factor, [(atom, c * factor) for atom, c in terms], sort)


def _product(a: Any, b: Any, op: str, sort: Sort) -> Expr | Any:
    if not isinstance(a, Expr):
        a, b = b, a
    if not isinstance(a, Expr):
        return a * b
    if not isinstance(b, Expr):
        return _scale(a, b, sort)
    if a.order > b.order:
        a, b = b, a
    return node(op, (a, b), sort)


def mul(a: Integer, b: Integer) -> Integer:
    return _product(a, b, "mul", INT)


def rmul(a: Real, b: Real) -> Real:
    return _product(a, b, "rmul", REAL)


def power(a: Integer, exponent: int) -> Integer:
    """a ** exponent for a known exponent >= 0."""
    result: Integer = 1
    for _ in range(exponent):
        result = mul(result, a)
    return result


def floordiv(a: Integer, b: Integer) -> Integer:
    """Python's `//` on integers; the caller has made sure that b is not 0 on this path."""
    if not isinstance(b, Expr):
        if not isinstance(a, Expr):
            return a // b
        if b == 1:
            return a
        if b == -1:
            return neg(a)
        constant, terms = terms_of(a)
        if all(c % b == 0 for _, c in terms):
            return _sum(constant // b, [(atom, c // b) for atom, c in terms], INT)
    if a is b:
        return 1
    return node("div", (a, b), INT) if isinstance(b, Expr) else node("cdiv", (a, b), INT)


def mod(a: Integer, b: Integer) -> Integer:
    """Python's `%` on integers (the sign of b); the caller has made sure that b is not 0 on this path."""
    if not isinstance(b, Expr):
        if not isinstance(a, Expr):
            return a % b
        if b in (1, -1):
            return 0
        constant, terms = terms_of(a)
        reduced = [(atom, c % b) for atom, c in terms]
        a = _sum(constant % b, reduced, INT)
        if not isinstance(a, Expr):
            return int(a % b)
        if a.op == "cmod" and a.args[1] == b:
            return a
    if a is b:
        return 0
    return node("mod", (a, b), INT) if isinstance(b, Expr) else node("cmod", (a, b), INT)


def to_real(a: Real) -> Real:
    if not isinstance(a, Expr):
        return Fraction(a)
    if a.op == "sum":
        terms = [(node("to_real", (atom,), REAL), Fraction(c)) for atom, c in a.args[1]]
        return _sum(Fraction(a.args[0]), terms, REAL)
    return node("to_real", (a,), REAL)


def rdiv(a: Real, b: Real) -> Real:
    """Exact quotient; the caller has made sure that b is not 0 on this path."""
    if not isinstance(b, Expr):
        return rmul(a, Fraction(1) / b)
    if a is b:
        return Fraction(1)
    return node("rdiv", (a, b), REAL)


def floor(a: Real) -> Integer:
    """The greatest integer not above a rational."""
    if not isinstance(a, Expr):
        return a.numerator // a.denominator
    constant, terms = terms_of(a)
    if Fraction(constant).denominator == 1 and all(
        atom.op == "to_real" and Fraction(c).denominator == 1 for atom, c in terms
    ):
        return _sum(int(constant), [(atom.args[0], int(c)) for atom, c in terms], INT)
    return node("floor", (a,), INT)


def bool_to_int(a: Truth) -> Integer:
    return ite(a, 1, 0) if isinstance(a, Expr) else int(a)


# ---------------------------------------------------------------------------------------------------------
# comparisons


def _at_least_zero(a: Real) -> Truth:
    """a >= 0, divided by the common factor so that equal conditions are the same node."""
    if not isinstance(a, Expr):
        return a >= 0
    constant, terms = terms_of(a)
    if a.sort is INT:
        divisor = gcd(*(c for _, c in terms))
        if divisor > 1:
            a = _sum(constant // divisor, [(t, c // divisor) for t, c in terms], INT)
        bounded = _known_sign(a)
        if bounded is not None:
            return bounded
        return node("ge0", (a,), BOOL)
    return node("ge0", (_unit(a),), BOOL)


def _known_sign(a: Expr) -> bool | None:
    """Lengths are never negative: decides len(s) >= 0 and its like."""
    constant, terms = terms_of(a)
    if all(atom.op == "len" for atom, _ in terms):
        if constant >= 0 and all(c > 0 for _, c in terms):
            return True
        if constant < 0 and all(c < 0 for _, c in terms):
            return False
    return None


def _unit(a: Expr) -> Expr:
    """Scale a rational sum so that its first coefficient is 1 or -1."""
    _, terms = terms_of(a)
    lead = abs(terms[0][1])
    return a if lead == 1 else _scale(a, 1 / Fraction(lead), REAL)


def ge(a: Value, b: Value) -> Truth:
    if sort_of(a) is STR:
        return str_le(b, a)
    return _at_least_zero(_combine(a, b, -1, REAL if sort_of(a) is REAL else INT))


def gt(a: Value, b: Value) -> Truth:
    if sort_of(a) is REAL:
        difference = _combine(a, b, -1, REAL)
        return difference > 0 if not isinstance(difference, Expr) else node("gt0", (_unit(difference),), BOOL)
    if sort_of(a) is STR:
        return str_lt(b, a)
    return _at_least_zero(sub(_combine(a, b, -1, INT), 1))


def le(a: Value, b: Value) -> Truth:
    return ge(b, a)


def lt(a: Value, b: Value) -> Truth:
    return gt(b, a)


def eq(a: Value, b: Value) -> Truth:
    """a == b for two values of one sort."""
    if a is b:
        return True
    if not isinstance(a, Expr):
        if not isinstance(b, Expr):
            return bool(a == b)
        a, b = b, a
    sort = a.sort
    if sort is BOOL:
        if not isinstance(b, Expr):
            return a if b else not_(a)
        if a.order > b.order:
            a, b = b, a
        return node("iff", (a, b), BOOL)
    if sort is INT or sort is REAL:
        return _equals_zero(_combine(a, b, -1, sort), sort)
    if sort is STR:
        return _string_equal(a, b)
    if isinstance(b, Expr) and a.order > b.order:
        a, b = b, a
    return node("same", (a, b), BOOL)


def _equals_zero(a: Real, sort: Sort) -> Truth:
    if not isinstance(a, Expr):
        return bool(a == 0)
    if a.op == "ite" and not isinstance(a.args[1], Expr) and not isinstance(a.args[2], Expr):
        return ite(a.args[0], a.args[1] == 0, a.args[2] == 0)
    constant, terms = terms_of(a)
    if sort is REAL:
        a = _unit(a)
        _, terms = terms_of(a)
        return node("eq0", (a if terms[0][1] > 0 else rneg(a),), BOOL)
    divisor = gcd(*(c for _, c in terms))
    if constant % divisor:
        return False
    if terms[0][1] < 0:
        divisor = -divisor
    if divisor != 1:
        a = _sum(constant // divisor, [(t, c // divisor) for t, c in terms], INT)
        constant, terms = terms_of(a)
    if len(terms) == 1 and terms[0][0].op == "len" and constant > 0:
        return False
    if len(terms) == 1 and terms[0][1] == 1 and terms[0][0].op == "ite" and _is_table(terms[0][0]):
        condition, yes, no = terms[0][0].args
        return ite(condition, eq(yes, -constant), eq(no, -constant))
    return node("eq0", (a,), BOOL)


def _is_table(value: Value, depth: int = 4) -> bool:
    """Known integers chosen by conditions: comparing one with an integer leaves conditions only."""
    if not isinstance(value, Expr):
        return True
    _, terms = terms_of(value)
    if depth == 0 or len(terms) != 1 or terms[0][0].op != "ite":
        return False
    return all(_is_table(side, depth - 1) for side in terms[0][0].args[1:])


def ne(a: Value, b: Value) -> Truth:
    return not_(eq(a, b))


# ---------------------------------------------------------------------------------------------------------
# truth


def not_(a: Truth) -> Truth:
    if not isinstance(a, Expr):
        return not a
    if a.op == "not":
        inner: Expr = a.args[0]
        return inner
    if a.op == "ge0":
        inner = a.args[0]
        if inner.sort is INT:
            return _at_least_zero(sub(-1, inner))
        return node("gt0", (rneg(inner),), BOOL)
    if a.op == "gt0":
        return node("ge0", (rneg(a.args[0]),), BOOL)
    return node("not", (a,), BOOL)


def _junction(values: Iterable[Truth], op: str, neutral: bool) -> Truth:
    kept: dict[Expr, None] = {}
    for value in values:
        if not isinstance(value, Expr):
            if bool(value) is not neutral:
                return not neutral
        elif value.op == op:
            kept.update(dict.fromkeys(value.args))
        else:
            kept[value] = None
    if any(not_(value) in kept for value in kept):
        return not neutral
    if not kept:
        return neutral
    if len(kept) == 1:
        return next(iter(kept))
    return node(op, tuple(kept), BOOL)


def and_(*values: Truth) -> Truth:
    return _junction(values, "and", True)


def or_(*values: Truth) -> Truth:
    return _junction(values, "or", False)


def implies(a: Truth, b: Truth) -> Truth:
    return or_(not_(a), b)


def ite(condition: Truth, yes: C | Expr, no: C | Expr) -> C | Expr:
    """`yes` if the condition holds, else `no`; both of one sort."""
    if not isinstance(condition, Expr):
        return yes if condition else no
    if yes is no or (not isinstance(yes, Expr) and not isinstance(no, Expr) and yes == no):
        return yes
    sort = sort_of(yes)
    if isinstance(no, Expr):
        sort = no.sort
    if sort is BOOL and not (isinstance(yes, Expr) and isinstance(no, Expr)):
        return _truth_if(condition, yes, no)
    if condition.op == "not":
        return ite(condition.args[0], no, yes)
    return node("ite", (condition, yes, no), sort)


def _truth_if(condition: Expr, yes: Any, no: Any) -> Expr | Any:
    """The same for truth values of which one is known."""
    if not isinstance(yes, Expr):
        return or_(condition, no) if yes else and_(not_(condition), no)
    return or_(not_(condition), yes) if no else and_(condition, yes)


# ---------------------------------------------------------------------------------------------------------
# strings


def concat(*parts: Text) -> Text:
    flat: list[Text] = []
    for part in parts:
        pieces = part.args if isinstance(part, Expr) and part.op == "concat" else (part,)
        for piece in pieces:
            last = flat[-1] if flat else None
            if isinstance(piece, str) and isinstance(last, str):
                flat[-1] = last + piece
            elif piece != "":
                flat.append(piece)
    if not flat:
        return ""
    if len(flat) == 1:
        return flat[0]
    return node("concat", tuple(flat), STR)


def length(s: Text) -> Integer:
    if isinstance(s, str):
        return len(s)
    if s.op == "concat":
        total: Integer = 0
        for part in s.args:
            total = add(total, length(part))
        return total
    if s.op == "chr":
        return 1
    return node("len", (s,), INT)


def _string_equal(a: Expr, b: Value) -> Truth:
    if isinstance(b, Expr) and a.order > b.order:
        a, b = b, a
    if isinstance(b, str):
        if a.op == "concat":
            parts = a.args
            if isinstance(parts[0], str):
                if not b.startswith(parts[0]):
                    return False
                return eq(concat(*parts[1:]), b[len(parts[0]) :])
            if isinstance(parts[-1], str):
                if not b.endswith(parts[-1]):
                    return False
                return eq(concat(*parts[:-1]), b[: len(b) - len(parts[-1])])
        if b == "":
            return eq(length(a), 0)
        if a.op == "at" and len(b) > 1:
            return False
        if a.op == "chr":
            return eq(a.args[0], ord(b)) if len(b) == 1 else False
        if a.op == "ite":
            condition, yes, no = a.args
            if not isinstance(yes, Expr) or not isinstance(no, Expr):
                return ite(condition, eq(yes, b), eq(no, b))
    return node("streq", (a, b), BOOL)


def at(s: Text, i: Integer) -> Text:
    """The character at an index already known to be inside (0 <= i < len)."""
    if isinstance(s, str) and not isinstance(i, Expr):
        return s[i] if 0 <= i < len(s) else ""
    return node("at", (s, i), STR)


def substr(s: Text, start: Integer, count: Integer) -> Text:
    """`count` characters from `start`; both already inside the string."""
    if not isinstance(count, Expr) and count <= 0:
        return ""
    if isinstance(s, str) and not isinstance(start, Expr) and not isinstance(count, Expr):
        return s[start : start + count]
    if not isinstance(start, Expr) and start == 0 and isinstance(s, Expr) and count is length(s):
        return s
    return node("substr", (s, start, count), STR)


def contains(s: Text, part: Text) -> Truth:
    if isinstance(s, str) and isinstance(part, str):
        return part in s
    if s is part or part == "":
        return True
    if s == "":
        return eq(part, "")
    return node("contains", (s, part), BOOL)


def prefix(s: Text, start: Text) -> Truth:
    """s.startswith(start)"""
    if isinstance(s, str) and isinstance(start, str):
        return s.startswith(start)
    if s is start or start == "":
        return True
    return node("prefix", (s, start), BOOL)


def suffix(s: Text, end: Text) -> Truth:
    """s.endswith(end)"""
    if isinstance(s, str) and isinstance(end, str):
        return s.endswith(end)
    if s is end or end == "":
        return True
    return node("suffix", (s, end), BOOL)


def index_of(s: Text, part: Text, start: Integer = 0) -> Integer:
    """s.find(part, start) for 0 <= start <= len(s)"""
    if isinstance(s, str) and isinstance(part, str) and not isinstance(start, Expr):
        return s.find(part, start)
    return node("index_of", (s, part, start), INT)


def replace_first(s: Text, old: Text, new: Text) -> Text:
    """s.replace(old, new, 1)"""
    if isinstance(s, str) and isinstance(old, str) and isinstance(new, str):
        return s.replace(old, new, 1)
    return node("replace_first", (s, old, new), STR)


def replace_all(s: Text, old: Text, new: Text) -> Text:
    """s.replace(old, new) for a non-empty `old`"""
    if isinstance(s, str) and isinstance(old, str) and isinstance(new, str):
        return s.replace(old, new)
    return node("replace_all", (s, old, new), STR)


def str_lt(a: Value, b: Value) -> Truth:
    if isinstance(a, str) and isinstance(b, str):
        return a < b
    return False if a is b else node("strlt", (a, b), BOOL)


def str_le(a: Value, b: Value) -> Truth:
    if isinstance(a, str) and isinstance(b, str):
        return a <= b
    return True if a is b else node("strle", (a, b), BOOL)


def int_to_str(i: Integer) -> Text:
    return node("int_to_str", (i,), STR) if isinstance(i, Expr) else str(i)


def str_to_int(s: Text) -> Integer:
    """int(s) for a string already known to be decimal digits."""
    return node("str_to_int", (s,), INT) if isinstance(s, Expr) else int(s)


def ord_(c: Text) -> Integer:
    """ord(c) for a string already known to be one character."""
    if not isinstance(c, Expr):
        return ord(c)
    return c.args[0] if c.op == "chr" else node("ord", (c,), INT)


def chr_(i: Integer) -> Text:
    """chr(i) for an integer already known to be in range."""
    if not isinstance(i, Expr):
        return chr(i)
    return i.args[0] if i.op == "ord" else node("chr", (i,), STR)


def in_class(s: Text, name: str) -> Truth:
    """Whether the string is not empty and every character is in the class (see CLASSES)."""
    if not isinstance(s, Expr):
        return MATCHERS[name].fullmatch(s) is not None
    return node("in_class", (s, name), BOOL)
