"""Growing a suite: what earlier runs have covered, and where the next one goes on.

The paths of one target fall into three lists: finished (they have their tests), cut by the loop bound, and
pending because a run ended early. A wider bound changes nothing about a finished path, so k + 1 is exactly what lies
below the cut ones; the subtrees are disjoint, so nothing comes twice. A path that stands for many aliasings may have
been left in the midst of them: then it is pending, and the first aliasing without a test is known.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from treadle import __version__
from treadle.core.errors import UsageError
from treadle.core.trail import Trail
from treadle.core.words import without_addresses
from treadle.symbolic.heap.aliasings import AliasingNumbers
from treadle.symbolic.path import Alternative, Choices, CodePlace, Limit, unforced
from treadle.symbolic.testcase import CaseObject, TestCase
from treadle.units.code import Code, changes, code_of
from treadle.units.explore import ExploredTarget, parameter_types
from treadle.units.options import UnitOptions
from treadle.units.select import ALL_PATHS, NOTHING, AlreadyCovered, TestSelection
from treadle.units.target import UnitTarget

# Of the kept form itself; another number cannot be read.
VERSION = 4


@dataclass(slots=True)
class TargetMemory:
    """What is known of one target after its last run."""

    target: str
    file: str
    k: int
    options: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    code: Code = field(default_factory=dict)
    finished: list[Choices] = field(default_factory=list)
    cut: list[Choices] = field(default_factory=list)
    pending: list[Choices] = field(default_factory=list)
    # pending paths that have some of their tests -> the aliasing to go on with
    inside: dict[Choices, AliasingNumbers] = field(default_factory=dict)
    # how many tests were made so far, and what they say about contracts
    made: int = 0
    decided: list[str] = field(default_factory=list)
    # of a selection: the goals and the local paths that have their test. It is searched from the root each time, so
    # that its cut and pending paths are at most the root.
    met: list[str] = field(default_factory=list)
    traces: list[tuple[Any, ...]] = field(default_factory=list)
    # what keeps the suite from claiming every path, whatever is added to it
    unsupported: list[CodePlace] = field(default_factory=list)
    sampled: list[CodePlace] = field(default_factory=list)
    deep: int = 0
    wrong: int = 0
    made_by: str = ""

    @property
    def selects(self) -> bool:
        return bool(self.options.get("select", ALL_PATHS) != ALL_PATHS)

    @property
    def complete(self) -> bool:
        """No bound cut anything: there is nothing to add."""
        return not (self.cut or self.pending)

    def to_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            **{f.name: getattr(self, f.name) for f in dataclasses.fields(self)},
            **{name: [self._trail(c) for c in getattr(self, name)] for name in _PATHS},
            **{name: [[p.file, p.line, p.what] for p in getattr(self, name)] for name in _PLACES},
            "inside": [[self._trail(choices), at] for choices, at in self.inside.items()],
        }

    def _trail(self, choices: Choices) -> str:
        return str(Trail(self.target, choices, door="unit"))

    @classmethod
    def from_json(cls, found: Any) -> TargetMemory:
        """Raises ValueError with the reason when this is not what `to_json` gave."""
        if not isinstance(found, dict) or found.get("version") != VERSION:
            raise ValueError("it was not written by this version of Treadle")
        try:
            facts = {f.name: found[f.name] for f in dataclasses.fields(cls)}
            facts |= {name: [Trail.parse(t).choices for t in found[name]] for name in _PATHS}
            facts |= {name: [CodePlace(str(f), int(n), str(w)) for f, n, w in found[name]] for name in _PLACES}
            facts["inside"] = {
                Trail.parse(t).choices: tuple((int(a), int(b)) for a, b in at) for t, at in found["inside"]
            }
            facts |= {name: [str(one) for one in found[name]] for name in ("decided", "met")}
            facts["traces"] = [_as_tuple(trace) for trace in found["traces"]]
        except KeyError as missing:
            raise ValueError(f"it has no {missing}") from None
        except (UsageError, AttributeError) as error:
            raise ValueError(str(error)) from None
        kept = cls(**facts)
        if not (
            all(isinstance(n, int) for n in (kept.k, kept.made, kept.deep, kept.wrong))
            and all(isinstance(d, dict) for d in (kept.options, kept.parameters, kept.code))
            and isinstance(kept.file, str)
            and kept.inside.keys() <= set(kept.pending)
        ):
            raise ValueError("its parts have the wrong types")
        return kept


_PATHS = ("finished", "cut", "pending")
_PLACES = ("unsupported", "sampled")


def _as_tuple(found: Any) -> Any:
    """JSON's lists as the tuples that they were."""
    return tuple(map(_as_tuple, found)) if isinstance(found, list) else found


def made_by() -> str:
    return f"treadle {__version__}, Python {sys.version_info.major}.{sys.version_info.minor}"


def parameters(target: UnitTarget, options: UnitOptions) -> dict[str, str]:
    """The types that the arguments have: they may come from code that no path enters."""
    shown = {name: repr(kind) for name, kind in parameter_types(target, options).items()}
    return {name: without_addresses(text) for name, text in shown.items()}


# --- going on ----------------------------------------------------------------------------------------------


@dataclass
class Growth:
    """How one target goes on: from which trails, under which bound."""

    kept: TargetMemory
    k: int
    start: list[Alternative] = field(default_factory=list)
    # as in `Session`
    inside: dict[Choices, AliasingNumbers] = field(default_factory=dict)
    decided: list[str] = field(default_factory=list)
    known: AlreadyCovered = NOTHING
    # its tests are no longer in the file: they are made again, from their trails
    again: bool = False

    @property
    def complete(self) -> bool:
        return not self.start

    def anew(self) -> None:
        """Make the tests of earlier runs once more: their file is gone."""
        self.again = True
        if self.kept.selects:
            self.start, self.known = [Alternative(())], NOTHING
        else:
            self.start = [*map(_stored, self.kept.finished), *self.start]
        self.inside, self.decided = {}, []

    def is_old(self, choices: Choices, aliasing: AliasingNumbers = ()) -> bool:
        """Whether the test of this path, with this aliasing, was made by an earlier run."""
        if choices in self.kept.inside:
            return aliasing < self.kept.inside[choices]
        return choices in self._finished

    @functools.cached_property
    def _finished(self) -> frozenset[Choices]:
        return frozenset(self.kept.finished)


def _stored(choices: Choices) -> Alternative:
    return Alternative(choices, with_forced=False)


def go_on(kept: TargetMemory, target: UnitTarget, options: UnitOptions, wanted: int | None) -> Growth:
    """The next step of growing: what was left pending, else the next bound (or the one that is wanted)."""
    _check(kept, target, options)
    if wanted is not None and wanted < kept.k:
        raise UsageError(f"-k {wanted}: {kept.target} has already grown to k = {kept.k}; leave -k out, or give more")
    if wanted == kept.k and kept.cut and not kept.pending:
        raise UsageError(
            f"-k {wanted}: {kept.target} already has every path of k = {kept.k}; -k {kept.k + 1} adds more"
        )
    k = kept.k if kept.pending or kept.complete else kept.k + 1
    if wanted is not None and not kept.complete:
        k = wanted
    left = [*kept.pending, *(kept.cut if k > kept.k else ())]
    known = AlreadyCovered(frozenset(kept.met), traces=tuple(kept.traces))
    return Growth(kept, k, [_stored(c) for c in dict.fromkeys(left)], kept.inside, kept.decided, known)


def _check(kept: TargetMemory, target: UnitTarget, options: UnitOptions) -> None:
    """The kept trails belong to this code under these options, or they mean nothing."""
    anew = f"run treadle unit {kept.target} -k {kept.k} to start anew"
    if kept.made_by != made_by():
        raise UsageError(f"{kept.target} was explored by {kept.made_by}, this is {made_by()}; {anew}")
    found = changes(kept.code)
    if found:
        what = "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")
        raise UsageError(f"the paths of {kept.target} are no longer what they were: {what}; {anew}")
    now = options.paths_depend_on()
    other = [name for name in {**kept.options, **now} if kept.options.get(name) != now.get(name)]
    if other:
        before = ", ".join(_flag(name, kept.options.get(name)) for name in other)
        raise UsageError(f"the tests of {kept.target} were made with {before}; pass the same with --more, or {anew}")
    types = parameters(target, options)
    if types != kept.parameters:
        names = ", ".join(n for n in {**kept.parameters, **types} if kept.parameters.get(n) != types.get(n))
        raise UsageError(f"parameters of {kept.target} no longer have the types they had ({names}); {anew}")


def _flag(name: str, value: Any) -> str:
    """An option as it is written on the command line."""
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return flag if value else f"--no-{name.replace('_', '-')}"
    if name == "domain":
        return f"{flag} {value[0]}..{value[1]}"
    if not value:
        return f"no {flag}"
    return " ".join(f"{flag} {v}" for v in value) if isinstance(value, list) else f"{flag} {value}"


def keep(
    explored: ExploredTarget,
    options: UnitOptions,
    file: str,
    growth: Growth | None,
    wrong: int,
    written: Collection[int] | None = None,
) -> TargetMemory:
    """What is known after a run; `growth` is what the run went on from, None if it began at the root.

    `written` are the cases that have come through, by identity; all of them when it is not given.
    """
    seen = explored.seen
    again = growth is not None and growth.again
    before = growth.kept if growth is not None else TargetMemory(explored.target.text, file, options.k)
    wider = options.k > before.k
    missed = [*seen.unsupported, *seen.gave_up, *explored.unlabelled, *explored.unwritten]
    classes = {cls for case in explored.cases for cls in _classes(case)}
    code = {**before.code}
    for name, parts in code_of(seen.followed, classes, options.stubs).items():
        code[name] = {**code.get(name, {}), **parts}
    pending = [unforced(a.choices) for a in seen.pending]
    finished = dict.fromkeys([*before.finished, *explored.finished])
    cut = [*(() if wider else before.cut), *seen.cut_at_loops]
    met: list[str] = []
    if explored.selection is not None:
        cases = [c for c in explored.cases if written is None or id(c) in written]
        met, left = _selected(explored.selection, cases)
        root: list[Choices] = [()]
        cut, pending = (root * bool(found and left) for found in (seen.cut[Limit.LOOP], pending))
    return TargetMemory(
        explored.target.text,
        file,
        options.k,
        options.paths_depend_on(),
        parameters(explored.target, options),
        code,
        [choices for choices in finished if choices not in set(pending)],
        cut,
        pending,
        explored.inside,
        (0 if again else before.made) + len(explored.cases),
        [*(() if again else before.decided), *explored.decided],
        met,
        explored.traces,
        list(dict.fromkeys([*before.unsupported, *missed])),
        list(dict.fromkeys([*before.sampled, *seen.sampled])),
        before.deep + seen.cut[Limit.DEPTH],
        before.wrong + wrong,
        made_by(),
    )


def _selected(selection: TestSelection, cases: Iterable[TestCase]) -> tuple[list[str], bool]:
    """The goals that have their test, and whether there may be more to find with another bound."""
    bits = selection.met(cases)
    met = [goal.text for number, goal in enumerate(selection.goals) if bits >> number & 1]
    left = any(not goal.dead and not bits >> number & 1 for number, goal in enumerate(selection.goals))
    return met, left or not selection.goals


def _classes(case: TestCase) -> Iterable[type]:
    """The classes of the objects that the case builds."""
    todo: list[Any] = list(case.arguments.values())
    met: set[int] = set()
    while todo:
        value = todo.pop()
        if isinstance(value, tuple):
            todo.extend(value)
        elif isinstance(value, CaseObject) and id(value) not in met:
            met.add(id(value))
            if value.cls is not None:
                yield value.cls
            todo.extend([*value.items, *value.fields.values(), *(part for entry in value.entries for part in entry)])
