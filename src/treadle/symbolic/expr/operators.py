"""The operators of expressions, one row each: how a node is built, what it means, how it is written.

A new operator is a constructor (in `terms` or `text`), a row here, and its z3 term: in `solve.translate`, or in
`solve.definitions` when z3 does not have it (`by_definition`). A test goes over the rows and asks for all of them.

Not here: unknowns (`var`) and sums (`sum`), whose arguments are no plain values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treadle.symbolic.expr import patterns, text
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.node import INT, REAL, STR, Sort, Value


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator; it reads as `infix` between its operands, as `call`, or in a way that `show` knows."""

    # builds it again from its arguments, simplifying
    build: Callable[..., Value]
    # on known values
    means: Callable[..., Any]
    infix: str = ""
    call: str = ""
    # sorts of the arguments where they are not all of the node's own; the last one stands for the rest
    takes: tuple[Sort, ...] = ()
    # z3 does not have it: for z3 it is a new constant with a definition
    by_definition: bool = False


def _zero_of(a: Value) -> Value:
    return Fraction(0) if x.sort_of(a) is REAL else 0


def _substr(s: str, start: int, count: int) -> str:
    return s[start : start + count] if 0 <= start <= len(s) and count > 0 else ""


def _find(s: str, part: str, start: int) -> int:
    return s.find(part, start) if 0 <= start <= len(s) else -1


def _every(*values: bool) -> bool:
    return all(values)


def _some(*values: bool) -> bool:
    return any(values)


# Division by zero is given a value (0) because a solver does too, and every path that divides carries the condition
# that the divisor is not 0.
OPERATORS: dict[str, Operator] = {
    "mul": Operator(x.mul, lambda a, b: a * b, "*"),
    "rmul": Operator(x.rmul, lambda a, b: a * b, "*"),
    "div": Operator(x.floordiv, lambda a, b: a // b if b else 0, "//"),
    "cdiv": Operator(x.floordiv, lambda a, b: a // b, "//"),
    "mod": Operator(x.mod, lambda a, b: a % b if b else 0, "%"),
    "cmod": Operator(x.mod, lambda a, b: a % b, "%"),
    "rdiv": Operator(x.rdiv, lambda a, b: Fraction(a) / b if b else Fraction(0), "/"),
    "to_real": Operator(x.to_real, Fraction, call="{0}", takes=(INT,)),
    "floor": Operator(x.floor, lambda a: a.numerator // a.denominator, call="floor({0})", takes=(REAL,)),
    "ge0": Operator(lambda a: x.ge(a, _zero_of(a)), lambda a: a >= 0),
    "gt0": Operator(lambda a: x.gt(a, _zero_of(a)), lambda a: a > 0),
    "eq0": Operator(lambda a: x.eq(a, _zero_of(a)), lambda a: a == 0),
    "iff": Operator(x.eq, lambda a, b: a == b, "=="),
    "same": Operator(x.eq, lambda a, b: a == b, "is", takes=(INT,)),
    "not": Operator(x.not_, lambda a: not a),
    "and": Operator(x.and_, _every),
    "or": Operator(x.or_, _some),
    "ite": Operator(x.ite, lambda condition, yes, no: yes if condition else no),
    "len": Operator(x.length, len, call="len({0})", takes=(STR,)),
    "concat": Operator(x.concat, lambda *parts: "".join(parts)),
    "streq": Operator(x.eq, lambda a, b: a == b, "==", takes=(STR,)),
    "at": Operator(x.at, lambda s, i: s[i] if 0 <= i < len(s) else "", call="{0}[{1}]", takes=(STR, INT)),
    "substr": Operator(x.substr, _substr, takes=(STR, INT)),
    "contains": Operator(x.contains, lambda s, part: part in s, call="{1} in {0}", takes=(STR,)),
    "prefix": Operator(x.prefix, str.startswith, call="{0}.startswith({1})", takes=(STR,)),
    "suffix": Operator(x.suffix, str.endswith, call="{0}.endswith({1})", takes=(STR,)),
    "index_of": Operator(x.index_of, _find, takes=(STR, STR, INT)),
    "replace_first": Operator(
        x.replace_first, lambda s, old, new: s.replace(old, new, 1), call="{0}.replace({1}, {2}, 1)"
    ),
    "replace_all": Operator(x.replace_all, str.replace, call="{0}.replace({1}, {2})"),
    "strlt": Operator(x.str_lt, lambda a, b: a < b, "<", takes=(STR,)),
    "strle": Operator(x.str_le, lambda a, b: a <= b, "<=", takes=(STR,)),
    "int_to_str": Operator(x.int_to_str, str, call="str({0})", takes=(INT,)),
    "str_to_int": Operator(
        x.str_to_int, lambda s: int(s) if s.isascii() and s.isdigit() else -1, call="int({0})", takes=(STR,)
    ),
    "ord": Operator(x.ord_, lambda c: ord(c) if len(c) == 1 else -1, call="ord({0})", takes=(STR,)),
    "chr": Operator(x.chr_, lambda i: chr(i) if 0 <= i < 0x110000 else "", call="chr({0})", takes=(INT,)),
    "in_class": Operator(x.in_class, lambda s, name: x.MATCHERS[name].fullmatch(s) is not None, takes=(STR,)),
    "strip": Operator(text.strip, text.stripped, by_definition=True),
    "parted": Operator(text.parted, text.part, by_definition=True),
    "first_word": Operator(text.first_word, text.word, call="{0}.split()[0]", by_definition=True),
    "other_words": Operator(text.other_words, text.words, call="{0}.split(None, 1)[1]", by_definition=True),
    "recased": Operator(text.recased, text.in_case, by_definition=True),
    "repr": Operator(text.repr_, repr, call="repr({0})", by_definition=True),
    "is_int": Operator(text.is_int, text.reads_as_int, call="{0} is an int", by_definition=True),
    "int_of": Operator(text.int_of, text.as_int, call="int({0})", by_definition=True),
    "is_finite": Operator(text.is_finite, text.reads_as_finite, call="{0} is a float", by_definition=True),
    "is_endless": Operator(text.is_endless, text.reads_as_endless, call="{0} is inf or nan", by_definition=True),
    "matched": Operator(patterns.matched, patterns.is_match, by_definition=True),
    "group": Operator(patterns.group, patterns.text_of_group, by_definition=True),
    "has_group": Operator(patterns.has_group, patterns.takes_part, by_definition=True),
    "group_start": Operator(patterns.group_start, patterns.place_of_group, by_definition=True),
    "float_of": Operator(text.float_of, text.as_fraction, call="float({0})", by_definition=True),
}
