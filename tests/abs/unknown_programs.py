"""Random small ABS classes whose method under test begins with unknown objects, lists and numbers.

Each is explored within tight bounds, with and without aliasing, and every run that trying everything finds must be
covered by each reduction: one of its runs, done again with the same inputs, ends in the same state.
`python -m tests.abs.unknown_programs 500 1000` tries 500 programs from the seed 1000 on.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.abs.random_programs import ProgramWriter, command
from treadle.abs.explore.cases import ActorCase
from treadle.abs.machine.criteria import SOUND_REDUCTIONS, Bounds, OrderSelection, ReductionName
from treadle.actors import replay
from treadle.core.errors import UsageError
from treadle.doors.actor.generated import GeneratedCases, generate

MOST_STATES = 400
_LEVELS = 3


class _Writer(ProgramWriter):
    def program(self) -> str:
        out = ["module T;"]
        for cls in ("X", "Y"):
            out += [f"class {cls}(Int a, List<Int> l, X x, Y y) {{", "  Int one() { return this.a; }"]
            out += ["  Unit setX(X o) { this.x = o; }", "  Unit setY(Y o) { this.y = o; }"]
            for level in range(_LEVELS):
                body = " ".join(self._statement(level) for _ in range(self.random.randint(1, 3)))
                future = ", Fut<Int> f" if level else ""
                out.append(f"  Unit m{level}(Int n, List<Int> k{future}) {{ {body} }}")
            out.append("}")
        return "\n".join(out)

    def _statement(self, level: int) -> str:
        v, n = self.name(), self.random.randint(0, 2)
        target = self.one_of("this", "this.x", "this.y")
        kept = self.one_of("this.l", "k")
        later = f"m{level + 1}"
        given = self.one_of("n", str(n)) + ", " + self.one_of("k", "this.l", "Nil")
        simple = [
            "this.a = this.a * 2 + 1;",
            f"this.a = {n};",
            f"if (this.a == {n}) {{ this.a = n; }}",
            f"case {kept} {{ Nil => this.a = this.a + 1; Cons(h, t) => this.l = t; }}",
            f"if (this.a == {n}) {{ case {kept} {{ Nil => this.a = 5; Cons(h, t) => case t {{ Nil => this.a = 6;"
            " Cons(g, u) => this.l = u; } } }",
            f"this.l = Cons({n}, {kept});",
            f"await this.a > {n};",
            f"{target}!setX({self.one_of('this.x', 'null')});",
            f"{target}!setY(this.y);",
            f"if (this.x {self.one_of('==', '!=')} null) {{ this.a = 7; }}",
        ]
        if level:
            simple += ["if (f != null) { await f?; this.a = this.a + 3; }"]
            simple += [f"if (f != null) {{ Int {v} = f.get; this.a = {v}; }}"]
        if level + 1 == _LEVELS:
            return self.random.choice(simple)
        calls = [
            f"Fut<Int> {v} = {target}!one(); {self.one_of('this', 'this.x', 'this.y')}!{later}({given}, {v});",
            f"{target}!{later}({given}, null);",
            f"Fut<Unit> {v} = {target}!{later}({given}, null); await {v}?;",
            f"{target}.{later}({given}, null);",
            f"X {v} = new {self.one_of('', 'local ')}X(1, k, this.x, this.y); {v}!{later}({given}, null);",
        ]
        return self.random.choice(simple + calls * 2)


def unknown_program(seed: int) -> tuple[str, Bounds, bool]:
    """A program, the bounds within which it is explored, and whether unknown objects may be the same."""
    random = Random(seed)
    text = _Writer(random).program()
    return text, Bounds(1, random.choice([2, 3, 5, None]), random.choice([1, 2])), random.random() < 0.5


def _explored(model: str, bounds: Bounds, alias: bool, reduce: ReductionName) -> GeneratedCases:
    selection = OrderSelection(reduce=reduce, alias=alias)
    return generate(f"{model}:X.m0", bounds=bounds, selection=selection, domain=(0, 2), states=MOST_STATES)


def lost(folder: Path, seed: int) -> list[str] | None:
    """What reductions lose or cannot do again; None if there is too much to try."""
    text, bounds, alias = unknown_program(seed)
    model = folder / "unknown.abs"
    model.write_text(text)
    everything = _explored(str(model), bounds, alias, "none")
    if everything.stopped:
        return None
    found = [f"none: {everything.rejected} rejected"] if everything.rejected else []
    for reduce in SOUND_REDUCTIONS[1:]:
        made = _explored(str(model), bounds, alias, reduce)
        if made.rejected:
            found.append(f"{reduce}: {made.rejected} rejected")
        kept = {_inputs_and_end(case) for case in made.cases}
        for case in everything.cases:
            if _inputs_and_end(case) not in kept and not _covered(model, case, made):
                found.append(f"{reduce}: {' '.join(case.order)}, {_inputs_and_end(case)}")
    return found


def _ways(case: ActorCase) -> dict[str, str]:
    """Objects that were there by a way to them: their numbers depend on the order in which they are met."""
    ways = {"s0": "s0"}
    for name in (met := ["s0"]):
        for field, value in case.initial[name].fields.items():
            if value in case.initial and value not in ways:
                ways[value] = f"{ways[name]}.{field}"
                met.append(value)
    return ways


def _renamed(text: str, names: dict[str, str]) -> str:
    """The text with these names; objects that were made have numbers that depend on the order, too."""
    return re.sub(r"\b[sr][0-9]+\b", lambda found: names.get(found[0], "r"), text)


def _end(final: dict[str, Any], outcome: str, names: dict[str, str]) -> str:
    return f"{sorted(_renamed(f'{name} {json.dumps(fields)}', names) for name, fields in final.items())} {outcome}"


def _inputs_and_end(case: ActorCase) -> str:
    told, ways = case.to_json(), _ways(case)
    start = sorted(_renamed(f"{name} {json.dumps(fields)}", ways) for name, fields in told["initial"].items())
    return f"{start} {told['arguments']} {_end(_fields(case), case.outcome, ways)}"


def _covered(model: Path, case: ActorCase, made: GeneratedCases) -> bool:
    """Whether one of the orders that were kept leads from the same inputs to the same end."""
    told, ways = case.to_json(), _ways(case)
    names = {way: name for name, way in ways.items()}
    for kept in made.cases:
        here = {name: names.get(way, name) for name, way in _ways(kept).items()}
        order = [re.sub(r"^s[0-9]+", lambda found: here[found[0]], label) for label in kept.order]  # noqa: B023
        try:
            run = replay(model, "X.m0", initial=told["initial"], arguments=told["arguments"], order=order)
        except UsageError:
            continue  # with these inputs there is no such order
        if _end(run.final, run.outcome, ways) == _end(_fields(case), case.outcome, ways):
            return True
    return False


def _fields(case: ActorCase) -> dict[str, Any]:
    return {name: obj.fields for name, obj in case.final.items()}


def judge(seed: int) -> Iterator[tuple[str, list[str] | None]]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"seed {seed}", lost(Path(folder), seed)


if __name__ == "__main__":
    command(judge)
