"""Random programs, run plain and rewritten: same results, same log, same errors on the same lines."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.threads_instrument.differential import run_both

HEAD = """
import contextlib
class O:
    kind = 5
    __secret = 1
    def __init__(self): self.a = 1; self.b = [1, 2]; self.__x = 3
    def m(self, v=0): self.a = v; return self.__x + O.__secret
    @property
    def p(self): log.append("p"); return self.a
    @p.setter
    def p(self, v): log.append("set p"); self.a = v
    def __repr__(self): return f"O({self.__dict__})"
o = O(); l = [1, 2, 3]; d = {"k": 1, "j": [3]}; s = {1, 2}; g = 0
def note(v): log.append(v); return v
def gen(n): yield from range(n); yield (yield 7)
"""

NAMES = st.sampled_from(["x", "y", "z", "g", "p"])
PLACES = st.sampled_from(["o.a", "o.p", "l[0]", "l[-1]", "d['k']", "d['new']", "note(o).a", "note(l)[x % 3]", "o.b[0]"])
TARGETS = st.recursive(
    NAMES | PLACES, lambda inner: st.lists(inner, min_size=2, max_size=2).map(lambda two: f"({', '.join(two)})")
)

ATOMS = st.sampled_from(
    ["0", "1", "2", "'s'", "None", "x", "y", "z", "g", "p", "o.a", "o.p", "o.kind", "l", "d", "s", "o.m(2)", "len(l)"]
    + ["l[0]", "l[1:]", "d['k']", "d.get('j')", "o.missing", "d['missing']", "inner()", "list(gen(2))", "(l, d)"]
)


def _compound(e: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operator = st.sampled_from(["+", "-", "*", "==", "<", "is", "in", "not in", "and", "or", "%", "!="])
    return st.one_of(
        st.tuples(e, operator, e).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        e.map(lambda a: f"(not {a})"),
        e.map(lambda a: f"note({a})"),
        e.map(lambda a: f"f'<{{{a}!r}}>'" if "'" not in a else f"({a})"),
        st.tuples(e, e, e).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(e, e).map(lambda t: f"[{t[0]} for v in [1, 2] if {t[1]}]"),
        st.tuples(e, e).map(lambda t: f"(lambda v: (v, {t[0]}))({t[1]})"),
        st.tuples(NAMES, e).map(lambda t: f"({t[0]} := {t[1]})"),
        st.tuples(e, e).map(lambda t: f"({t[0]} < {t[1]} < 9)"),
        st.tuples(e, e).map(lambda t: f"[*[{t[0]}], {t[1]}]"),
    )


EXPRESSIONS = st.recursive(ATOMS, _compound, max_leaves=6)


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def _blocks(body: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    e = EXPRESSIONS
    return st.one_of(
        st.tuples(e, body, body).map(lambda t: [f"if {t[0]}:", *_indented(t[1]), "else:", *_indented(t[2])]),
        st.tuples(TARGETS, e, body).map(lambda t: [f"for {t[0]} in [{t[1]}, (1, 2)]:", *_indented(t[2])]),
        st.tuples(body, body).map(
            lambda t: ["try:", *_indented(t[0]), "except Exception as e:", "    note(str(e))", *_indented(t[1])]
        ),
        st.tuples(body, body).map(lambda t: ["try:", *_indented(t[0]), "finally:", *_indented(t[1])]),
        st.tuples(e, TARGETS, body).map(
            lambda t: [f"with contextlib.nullcontext({t[0]}) as {t[1]}:", *_indented(t[2])]
        ),
        st.tuples(e, body).map(lambda t: [f"while len(log) < 9 and note({t[0]}):", *_indented(t[1])]),
        st.tuples(e, body, body).map(
            lambda t: [
                f"match {t[0]}:",
                "    case [x, *y] if x:",
                *_indented(_indented(t[1])),
                "    case {'k': z}:",
                *_indented(_indented(t[2])),
                "    case z: note(z)",
            ]
        ),
        body.map(lambda b: ["def inner():", "    nonlocal x, y", "    global g", *_indented(b), "    return x"]),
    )


SIMPLE = st.one_of(
    st.tuples(TARGETS, EXPRESSIONS).map(lambda t: [f"{t[0]} = {t[1]}"]),
    st.tuples(NAMES, TARGETS, EXPRESSIONS).map(lambda t: [f"{t[0]} = {t[1]} = {t[2]}"]),
    st.tuples(NAMES | PLACES, st.sampled_from(["+", "-", "*", "|"]), EXPRESSIONS).map(
        lambda t: [f"{t[0]} {t[1]}= {t[2]}"]
    ),
    st.sampled_from([["del o.a"], ["del l[0]"], ["del d['k'], x"], ["pass"], ["return y"]]),
    EXPRESSIONS.map(lambda e: [e]),
)


def _joined(bodies: list[list[str]]) -> list[str]:
    return [line for body in bodies for line in body]


BODIES = st.recursive(
    SIMPLE, lambda body: _blocks(body) | st.lists(body, min_size=1, max_size=3).map(_joined), max_leaves=8
)


@given(st.lists(BODIES, min_size=1, max_size=4))
@settings(max_examples=250)
def test_random_program(bodies: list[list[str]]) -> None:
    main = [
        "def main(p):",
        *_indented(["global g", "x = 1; y = [0]; z = (1, 2)", "def inner(): return x", *_joined(bodies)]),
    ]
    tail = ["    return x, y, z, p", "result = main(4), o, l, d, g"]
    plain, rewritten = run_both(HEAD + "\n".join([*main, *tail]))
    assume("RecursionError" not in plain.error)  # the depth reached counts the frames of the hooks
    assert rewritten == plain
