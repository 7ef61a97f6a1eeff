"""What a failing schedule looks like to a person: one column per strand, and the pair of accesses that clashed.

Decides which of the steps of an execution matter. A step matters when another strand touches the same thing and one of
the two changes it; of those, the ones around the switches are shown and the rest is counted. Keeps: no line is wider
than the width asked for, steps are shown in the order in which they happened, and nothing is claimed about the
schedule that the steps do not show.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from treadle.core.dependency import dependent, only_reads, same_place
from treadle.core.operation import ACQUIRE, FINISH, GET, MULTI, PUT, READ, SLEEP, SPIN, WAIT, WRITE, YIELD, parts, verb
from treadle.core.result import BEGINS, CHOOSES, GOES_ON, Step, Waiting
from treadle.report.terminal import columns, harmless

# Room for "    reads Account#1.balance -> 0": below this, columns are harder to read than a list.
_NARROWEST_COLUMN = 30
# More than a terminal is wide is never read side by side.
_WIDEST_COLUMN = 60
# Steps shown before and after each switch; the rest of a strand's run is counted.
_AROUND = 3
# A schedule longer than this after shrinking is shown by its last part.
_MOST_STEPS = 60

# Fewer steps left out than this are not worth a line.
_WORTH_COUNTING = 3

# Files whose names alone tell nobody which package they are of.
_IN_EVERY_PACKAGE = ("__init__.py", "__main__.py")

# A place is what a step works on: an object and a part of it, None for the whole.
_Place = tuple[Any, Any]

_WAITING = frozenset({WAIT, SLEEP, SPIN, GET})
_NOISE = frozenset({FINISH, YIELD})
_WANTS = {ACQUIRE: "waits to acquire", GET: "waits to get from", PUT: "waits to put into", SPIN: "spins on"}


def explain(
    steps: Sequence[Step],
    *,
    width: int | None = None,
    waiting: Sequence[Waiting] = (),
    raised: tuple[str, int, str] | None = None,
) -> str:
    """The failing schedule as plain text, never wider than `width` (default: the terminal, less the four columns by
    which others indent it). Where it `raised` is told, unless one of the steps shown stands at that line."""
    if width is None:
        width = columns() - 4
    width = max(width, 40)
    stacks = [frame[0] for one in waiting for frame in one.stack]
    names = short_names([step.file for step in steps] + stacks + ([raised[0]] if raised is not None else []))
    fought_over = {name for one in waiting for name in (one.object, *one.holds)}
    shown = _what_matters(steps, fought_over)
    lines = _table(shown, names, width)
    places = {(row.step.file, row.step.line) for row in shown if row.step is not None}
    if raised is not None and raised[:2] not in places:
        lines += ["", *_wrap(f"fails at {source_line(*raised[:2], names)}", width)]
    pair = None if waiting else culprit(steps)
    if pair is not None:
        lines += ["", *_wrap(pair.sentence(names), width)]
    if waiting:
        lines += ["", *_stuck(waiting, names, width)]
    return harmless("\n".join(lines).strip("\n"))


# ---------------------------------------------------------------------- what matters


def _places(step: Step) -> list[_Place]:
    """What a step works on; a call into code that is not rewritten may work on several things."""
    return [(name, _plain(key)) for _, name, key in parts(step.performed) if name is not None]


def _plain(key: Any) -> Any:
    """A key that can be looked up."""
    try:
        hash(key)
    except TypeError:
        return repr(key)
    return key


def _shared(steps: Sequence[Step]) -> set[_Place]:
    """The places that two strands touch and at least one of them changes: `dependent`, asked of all pairs at once."""
    strands: dict[_Place, set[str]] = {}
    changed: set[_Place] = set()
    whole: set[Any] = set()  # objects that somebody touches as a whole: all of their parts are one
    for step in steps:
        changes = not only_reads(step.performed)
        for name, key in _places(step):
            for place in ((name, key), (name, None)):
                strands.setdefault(place, set()).add(step.strand)
                if changes:
                    changed.add(place)
            if key is None:
                whole.add(name)
    touched = {place for step in steps for place in _places(step)}
    return {
        (name, key)
        for name, key in touched
        if any(len(strands[at]) > 1 and at in changed for at in ((name, key), (name, None if name in whole else key)))
    }


@dataclass(slots=True)
class _Row:
    """One step that is shown, or a number of steps of one strand that are not."""

    strand: str
    step: Step | None
    skipped: int = 0


def _what_matters(steps: Sequence[Step], fought_over: set[str]) -> list[_Row]:
    """The steps on shared things around the switches, and the last step of all; the others only counted."""
    first = _first_of_others(steps)
    strands = {step.strand for step in steps}
    shared = _shared(steps[first:]) | {(name, None) for name in fought_over}
    # joining a strand tells nothing that the columns do not show
    told = [_tells(step) and step.performed[1] not in strands for step in steps]
    matters = [told[number] and any(place in shared for place in _places(step)) for number, step in enumerate(steps)]
    if not any(matters):
        matters = [_tells(step) for step in steps]
    matters = [does or _is_of_task(step) for does, step in zip(matters, steps, strict=True)]
    if any(matters[first:]):
        matters[:first] = [False] * first  # what main sets up before there is anybody else
    keep = _near_switches(steps, matters)
    if len(keep) > _MOST_STEPS:
        keep = set(sorted(keep)[-_MOST_STEPS:])
    rows: list[_Row] = []
    for number, step in enumerate(steps):
        if number in keep:
            rows.append(_Row(step.strand, step))
        elif told[number]:
            if rows and rows[-1].step is None and rows[-1].strand == step.strand:
                rows[-1].skipped += 1
            else:
                rows.append(_Row(step.strand, None, 1))
    shown = {row.strand for row in rows if row.step is not None}
    start = next((number for number, row in enumerate(rows) if row.step is not None), 0)
    end = max((number for number, row in enumerate(rows) if row.step is not None), default=-1)
    return [
        row
        for number, row in enumerate(rows)
        if row.strand in shown and start <= number <= end and (row.step is not None or row.skipped >= _WORTH_COUNTING)
    ]


def _is_of_task(step: Step) -> bool:
    """Is this a task that begins, or goes on after what it awaited?"""
    return step.operation in (BEGINS, GOES_ON, CHOOSES)


def _tells(step: Step) -> bool:
    return step.performed[0] not in _NOISE or _is_of_task(step)


def _first_of_others(steps: Sequence[Step]) -> int:
    """Where somebody besides main does something for the first time: what comes before is setting up."""
    return next((number for number, step in enumerate(steps) if step.strand != "main"), 0)


def _near_switches(steps: Sequence[Step], matters: list[bool]) -> set[int]:
    """The numbers of the steps that matter and stand at most _AROUND such steps from a switch of strands."""
    important = [number for number, does in enumerate(matters) if does]
    keep: set[int] = set()
    for place, number in enumerate(important):
        window = important[max(0, place - _AROUND) : place + _AROUND + 1]
        if any(steps[other].strand != steps[number].strand for other in window) or place >= len(important) - _AROUND:
            keep.add(number)
    return keep


# ---------------------------------------------------------------------- the pair that clashed


@dataclass(slots=True)
class Clash:
    """Two accesses of one strand that were meant to go together, and the access of another that came between."""

    first: Step
    between: Step
    last: Step | None

    def sentence(self, names: dict[str, str]) -> str:
        def at(step: Step) -> str:
            return f"{names.get(step.file, step.file)}:{step.line}"

        thing, other = self.between.object, self.between.strand
        if self.last is None:
            again = "it" if thing == self.first.object else thing
            return (
                f"{self.first.strand} {self.first.operation} {self.first.object} ({at(self.first)}), "
                f"then {other} {self.between.operation} {again} ({at(self.between)})"
            )
        one, two = _noun(self.first), _noun(self.last)
        strand = self.first.strand
        if at(self.first) == at(self.between) == at(self.last):
            both = f"two {one}s" if one == two else f"{one} and {two}"
            return f"{other} {self.between.operation} {thing} between {strand}'s {both} of it (all at {at(self.first)})"
        if one == two and at(self.first) == at(self.last):
            what = f"{strand}'s two {one}s of it (both at {at(self.first)})"
        elif one == two:
            what = f"{strand}'s two {one}s of it ({at(self.first)} and {at(self.last)})"
        else:
            what = f"{strand}'s {one} ({at(self.first)}) and {two} ({at(self.last)}) of it"
        return f"{other} {self.between.operation} {thing} ({at(self.between)}) between {what}"


def _noun(step: Step) -> str:
    return {"reads": "read", "writes": "write", "calls": "call"}[verb(step.performed)]


# The four orders of three accesses (mine, another's, mine) that no serial order gives (Lu et al., AVIO, ASPLOS 2006),
# the likeliest mistake first: a lost update, a stale check, an own write overwritten, a half-done change seen.
_UNSERIALIZABLE = {"RWW": 4, "RWR": 3, "WWR": 3, "WRW": 2}


def culprit(steps: Sequence[Step]) -> Clash | None:
    """The accesses that clashed, among those since there was more than one strand."""
    return clash(steps[_first_of_others(steps) :])


def clash(steps: Sequence[Step]) -> Clash | None:
    """The likeliest culprit: an unserializable triple of accesses, else the last pair that conflicts."""
    memory = [(number, step) for number, step in enumerate(steps) if step.performed[0] in (READ, WRITE, MULTI)]
    best: tuple[float, Clash] | None = None
    for place, (start, first) in enumerate(memory):
        for later in range(place + 1, len(memory)):
            end, last = memory[later]
            if last.strand != first.strand or not _touch(first, last):
                continue
            for middle in range(place + 1, later):
                between = memory[middle][1]
                if between.strand == first.strand or not (_touch(first, between) and _touch(between, last)):
                    continue
                score = _UNSERIALIZABLE.get(_letter(first) + _letter(between) + _letter(last), 0)
                if not score:
                    continue
                weight = score - 10 * _waits_between(steps, start, end) - (end - start) / (len(steps) + 1)
                if best is None or weight > best[0]:
                    best = (weight, Clash(first, between, last))
            break  # only neighbouring accesses of one strand are meant to go together
    if best is not None and best[0] > 0:
        return best[1]
    return _last_conflict(memory) or (best[1] if best else None)


def _letter(step: Step) -> str:
    return "R" if only_reads(step.performed) else "W"


def _touch(one: Step, other: Step) -> bool:
    return same_place(one.performed, other.performed)


def _waits_between(steps: Sequence[Step], start: int, end: int) -> bool:
    """Did the strand let others go on of its own will? Then nobody meant the two accesses to go together."""
    strand = steps[start].strand
    return any(step.strand == strand and step.performed[0] in _WAITING for step in steps[start + 1 : end])


def _last_conflict(memory: list[tuple[int, Step]]) -> Clash | None:
    for place in range(len(memory) - 1, 0, -1):
        later = memory[place][1]
        for _, earlier in reversed(memory[:place]):
            if earlier.strand != later.strand and dependent(earlier.performed, later.performed):
                return Clash(earlier, later, None)
    return None


# ---------------------------------------------------------------------- the table


def short_names(files: Sequence[str]) -> dict[str, str]:
    """The shortest ends of the paths that still tell the files apart."""
    names: dict[str, str] = {}
    different = set(files)
    for file in different:
        parts = PurePath(file).parts
        least = 2 if parts and parts[-1] in _IN_EVERY_PACKAGE else 1
        for count in range(min(least, len(parts)), len(parts) + 1):
            end = "/".join(parts[-count:])
            if not any(other != file and other.endswith(f"{os.sep}{end}") for other in different):
                break
        names[file] = end if parts else file
    return names


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def _wrap(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        while len(word) > width:
            lines[-1], word = word[:width], word[width:]
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _deed(step: Step) -> str:
    """What a step did: `reads Account#1.balance -> 0`, `writes Account#1.balance <- 1`, `acquires Lock#1`."""
    return " ".join(filter(None, (f"{step.operation} {step.object}".rstrip(), _value(step))))


def _value(step: Step) -> str:
    arrow = "<-" if step.performed[0] == WRITE else "->"
    return f"{arrow} {step.value}" if step.value else ""


def _source(step: Step) -> str:
    return linecache.getline(step.file, step.line).strip()


def source_line(file: str, line: int, names: dict[str, str]) -> str:
    """`test_bank.py:16: assert account.balance == 2`."""
    return f"{names.get(file, file)}:{line}: {linecache.getline(file, line).strip()}".rstrip(": ")


def _table(rows: list[_Row], names: dict[str, str], width: int) -> list[str]:
    strands = sorted({row.strand for row in rows}, key=_in_order)
    afterwards: list[_Row] = []
    if len(strands) > 1 and "main" in strands:
        others = [number for number, row in enumerate(rows) if row.strand != "main"]
        if all(row.strand != "main" for row in rows[: others[-1]]):  # main only looks at what the others left
            rows, afterwards = rows[: others[-1] + 1], rows[others[-1] + 1 :]
            strands.remove("main")
    if not strands:
        return []
    column = min((width - 2 * (len(strands) - 1)) // len(strands), _WIDEST_COLUMN)
    if column < _NARROWEST_COLUMN:
        return _list(rows + afterwards, names, width)
    place = {name: index * (column + 2) for index, name in enumerate(strands)}
    lines = ["".join(f"{_cut(name, column):<{column + 2}}" for name in strands).rstrip()]
    lines.append("  ".join("-" * column for _ in strands))
    lines += _cells(rows, place, column, names)
    if afterwards:
        lines += ["", "main, when they are done", *_cells(afterwards, {"main": 0}, width, names)]
    return lines


def _in_order(strand: str) -> tuple[bool, list[tuple[int, str]]]:
    """T2 before T10, and main to the right: it mostly sets things up and waits."""
    parts = strand.lstrip("T").split(".")
    return strand == "main", [(int(part), "") if part.isdigit() else (0, part) for part in parts]


def _cells(rows: list[_Row], place: dict[str, int], column: int, names: dict[str, str]) -> list[str]:
    lines: list[str] = []
    before: tuple[str, str, int] | None = None
    for row in rows:
        margin = " " * place[row.strand]
        if row.step is None:
            lines.append(f"{margin}  ({row.skipped} more step{'s' * (row.skipped > 1)})")
            before = None
            continue
        step = row.step
        if (step.strand, step.file, step.line) != before:
            lines += [margin + line for line in _place(step, names, column)]
            before = (step.strand, step.file, step.line)
        lines += [margin + line for line in _deeds(step, column)]
    return lines


def _place(step: Step, names: dict[str, str], column: int) -> list[str]:
    """Where a step stands: file, line and source, below each other when they do not fit beside each other."""
    if not step.file:
        return ["(no source line)"]
    place, source = f"{names[step.file]}:{step.line}", _source(step)
    if not source or len(place) + 2 + len(source) <= column:
        return [_cut(f"{place}  {source}".rstrip(), column)]
    return [_cut(place, column), _cut(f"  {source}", column)]


def _deeds(step: Step, column: int) -> list[str]:
    """What a step did; the value goes to a line of its own when it does not fit."""
    text = f"  {_deed(step)}"
    if len(text) > column and step.value:
        head = f"  {step.operation} {step.object}".rstrip()
        return [_cut(head, column), _cut(f"    {_value(step)}", column)]
    if len(text) > column and step.operation == CHOOSES:
        return [f"  {step.operation}", _cut(f"    {step.object}", column)]
    return [_cut(text, column)]


def _list(rows: list[_Row], names: dict[str, str], width: int) -> list[str]:
    """Too many strands for columns: one line per step, the strand's name in front, and below them the source."""
    margin = max(len(row.strand) for row in rows) + 2
    places = [f"{names[row.step.file]}:{row.step.line}" for row in rows if row.step is not None]
    middle = max((len(text) for text in places), default=0) + 2
    lines = []
    for row in rows:
        if row.step is None:
            text = f"({row.skipped} more step{'s' * (row.skipped > 1)})"
        else:
            text = f"{names[row.step.file]}:{row.step.line}".ljust(middle) + _deed(row.step)
        lines.append(_cut(row.strand.ljust(margin) + text, width))
    source = {(row.step.file, row.step.line): _source(row.step) for row in rows if row.step is not None}
    shown = [f"{names[file]}:{line}".ljust(middle) + text for (file, line), text in source.items() if text]
    return lines + [""] * bool(shown) + [_cut(line, width) for line in shown]


# ---------------------------------------------------------------------- deadlocks


def cycle(waiting: Sequence[Waiting]) -> list[Waiting]:
    """The strands that wait for each other in a ring, or nothing."""
    by_strand = {one.strand: one for one in waiting}
    for start in waiting:
        path: list[Waiting] = []
        one: Waiting | None = start
        while one is not None and one not in path:
            path.append(one)
            one = by_strand.get(one.held_by)
        if one is start:
            return path
    return []


def _stuck(waiting: Sequence[Waiting], names: dict[str, str], width: int) -> list[str]:
    """Who waits for what, who holds it, and where each of them stands."""
    lines: list[str] = []
    for one in sorted(waiting, key=lambda one: one.object == one.held_by):  # those who only join others come last
        held = f", held by {one.held_by}" if one.held_by and one.held_by != one.object else ""
        note = f" ({one.note})" if one.note and not held else ""
        lines += _wrap(f"{one.strand} {wants(one)} {one.object}{held}{note}", width)
        if one.holds:
            lines.append(_cut(f"    holds {', '.join(one.holds)}", width))
        for file, line, function in one.stack:
            place = f"    {names[file]}:{line} in {function}"
            source = linecache.getline(file, line).strip()
            lines.append(_cut(f"{place}: {source}" if source else place, width))
    ring = cycle(waiting)
    if ring:
        links = " ".join(f"{one.strand} -> {one.object} ->" for one in ring)
        lines += _wrap(f"cycle: {links} {ring[0].strand}", width)
    elif waiting:
        lines += _wrap("no cycle: nobody is left to let them go on", width)
    return lines


def wants(one: Waiting) -> str:
    """What a strand is about to do, and cannot."""
    return _WANTS.get(one.wanted[0], "waits for")
