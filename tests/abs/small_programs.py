"""Random small ABS programs, and what a user can see of all their runs: the ground truth of the reduction tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from treadle.abs.explore.tree import TreeExplorer
from treadle.abs.language.load import loads
from treadle.abs.language.model import Program
from treadle.abs.machine.criteria import Bounds, OrderSelection, SelfCalls
from treadle.abs.machine.machine import ActorMachine, Image
from treadle.abs.machine.statements import compile_program
from treadle.abs.machine.system import main_root
from treadle.abs.machine.values import FailedFuture, Fut, Interned, ObjectRef

FIELDS = ("a", "b")
# how many tasks a method may start: keeps the number of runs small enough to enumerate
_MOST_SENDS = 2


def canonical(value: Any, interned: Interned) -> Any:
    """A value without the numbers that depend on the order of exploration."""
    if isinstance(value, ObjectRef):
        return ("ref", _maker(value.key, interned))
    if isinstance(value, Fut):
        return ("future", _maker(value.key, interned))
    if isinstance(value, FailedFuture):
        return ("failure", canonical(value.exception, interned))
    if type(value) is tuple:
        return (value[0].name, *[canonical(v, interned) for v in value[1:]])
    return value


def _maker(key: int, interned: Interned) -> Any:
    origin = interned.origin(key)
    maker = 1 if origin[0] == "init" else 0  # a block's task is made of its object, everything else of a task
    return tuple(
        _maker(part, interned) if isinstance(part, int) and i == maker else part for i, part in enumerate(origin)
    )


@dataclass
class Compiled:
    """A program ready to be explored several times."""

    program: Program
    image: Image

    @classmethod
    def of(cls, text: str) -> Compiled:
        program = loads(text)
        return cls(program, compile_program(program))


def final_states(
    compiled: Compiled, reduce: Any, most: int | None = None, self_calls: SelfCalls = "at-once"
) -> set[Any] | None:
    """Every final state of the main block: fields, waiting tasks, futures, what failed, the time.

    None if there are too many states.
    """
    selection = OrderSelection(reduce=reduce, self_calls=self_calls)
    machine = ActorMachine(compiled.image, Bounds(None, None, None), selection, None)
    root = main_root(machine, compiled.program)
    explorer = TreeExplorer(machine, root.entry.key)
    explorer.on_state = lambda progress: most is None or progress.states <= most
    found = set()
    for leaf in explorer.leaves(root.state):
        state = leaf.state
        found.add(
            (
                frozenset(
                    (canonical(ref, machine.interned), tuple(canonical(v, machine.interned) for v in fields))
                    for ref, fields in state.fields.items()
                ),
                frozenset((_maker(t.key, machine.interned), t.code.lines[t.pc]) for t in leaf.waiting),
                frozenset(
                    (canonical(f, machine.interned), canonical(v, machine.interned)) for f, v in state.futures.items()
                ),
                tuple(sorted(one.place for one in state.failures())),
                state.clock,
            )
        )
    return None if explorer.stopped else found


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Two classes that call each other's and their own methods, wait for futures and conditions."""
    methods = ["m0", "m1", "m2"]
    bodies = {}
    for cls in ("P", "Q"):
        for level, method in enumerate(methods):
            bodies[cls, method] = _body(draw, cls, level)
    out = ["module T;"]
    grouped = draw(st.sampled_from(["", "local "]))
    for cls, other in (("P", "Q"), ("Q", "P")):
        out.append(f"class {cls}({other} peer) {{")
        out.append("  Int a = 1; Int b = 2;")
        if cls == "P":  # a helper that is a neighbour or shares the group
            out.append(f"  Q help = null; {{ this.help = new {grouped}Q(this); }}")
        else:
            out.append("  P help = this.peer;")
        out.append(f"  {other} friend() {{ return this.peer; }}")
        out.append(f"  Unit meet({other} p) {{ this.peer = p; }}")
        for method in methods:
            out.append(f"  Int {method}(Int x) {{ {bodies[cls, method]} return this.a + x; }}")
        out.append("}")
    starts = draw(
        st.lists(st.sampled_from(["p!m0(1);", "q!m0(2);", "p!m1(3);", "q!m1(4);", "p!m2(5);"]), min_size=1, max_size=3)
    )
    out.append("{ P p = new P(null); Q q = new Q(p); Fut<Unit> f = p!meet(q); f.get; " + " ".join(starts) + " }")
    return "\n".join(out)


def _body(draw: st.DrawFn, cls: str, level: int) -> str:
    """Statements; calls go to later methods only, so that every program ends."""
    statements = []
    sends = 0
    for number in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["write", "mul", "send", "send", "call", "await", "get", "sync"]))
        field, other = draw(st.sampled_from(FIELDS)), draw(st.sampled_from(FIELDS))
        if kind == "write":
            statements.append(f"this.{field} = this.{other} + x;")
        elif kind == "mul":
            statements.append(f"this.{field} = this.{field} * 2;")
        elif kind == "await":
            statements.append(f"await this.{field} > {draw(st.integers(0, 2))};")
        elif level < 2 and sends < _MOST_SENDS:
            sends += 1
            target = draw(st.sampled_from(["this", "this.peer", "this.help", "friend"]))
            if target == "friend":  # a reference that comes out of a future
                other = "Q" if cls == "P" else "P"
                statements.append(f"Fut<{other}> r{number} = this!friend(); await r{number}?;")
                statements.append(f"{other} o{number} = r{number}.get;")
                target = f"o{number}"
            method = f"m{draw(st.integers(level + 1, 2))}"
            if kind == "send":
                statements.append(f"{target}!{method}(x);")
            elif kind == "sync":
                statements.append(f"this.{field} = {target}.{method}(x);")
            else:
                statements.append(f"Fut<Int> f{number} = {target}!{method}(x);")
                if kind == "call":
                    statements.append(f"await f{number}?;")
                statements.append(f"Int v{number} = f{number}.get; this.{field} = v{number};")
    return " ".join(statements)
