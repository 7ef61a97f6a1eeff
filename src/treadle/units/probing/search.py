"""A search by real calls: which picked values lead a function to lines and branches that no test reaches yet?

What a call (`call`) reached decides whether it is kept. What kept ones compared, lacked or were refused says what
is tried next (`feedback`); then they are changed by chance, those first that pass a branch of which only one way
is known. The search is the same every time, as far as the code is; it ends after so many calls, or after so much
processor time.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import enum
import functools
import inspect
import random
import re
import time
import types
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import NonCallableMock

from treadle.units.imports import NotWritable
from treadle.units.probing.call import PATCHED, Arc, Probe, Prober, ProbeRun, named_rest
from treadle.units.probing.examples import example_calls
from treadle.units.probing.feedback import Feedback, Sketch
from treadle.units.probing.frozen import frozen
from treadle.units.probing.places import places_in
from treadle.units.value_source import quoted

_MOST_CALLS = 6000
_MOST_CALLS_WITHOUT_NEWS = 1500
# when all is reached, but some of it only by calls that raise or have stand-ins: so many more for others
_CALLS_FOR_A_PLAIN_ONE = 150
# asking for the time is slow on some systems
_CALLS_PER_LOOK = 16
# calls that end in a new way are gone on from, too, up to so many
_MOST_KEPT = 60
_MOST_PATHS = 60
# calls that turn over a part of a condition, or ask it of other values, and reach nothing new are gone on from
_MOST_STEPS = 60
_MOST_SKETCHES = 200
# what a test has rather than a stand-in, if it does the same
_PLAIN = ('"a"', "None", "1")
# how much longer a busy machine may take where nobody waits for an end
_BUSY = 15
# of what kept calls suggest, so many are tried before one by chance
_PROPOSED_PER_CHANCE = 3


class ProbeSearch:
    """Finds calls that reach what is wanted; `kept` are those that reached something new."""

    def __init__(self, prober: Prober, wanted: set[Arc], seconds: float, busy: bool = True) -> None:
        self.prober = prober
        self.pool = prober.pool
        self.wanted = set(wanted)
        self.ends = time.process_time() + seconds
        self._latest = time.monotonic() + (_BUSY if busy else 3) * seconds
        self.random = random.Random(prober.target.text)
        self.kept: list[ProbeRun] = []
        self.seen: set[Arc] = set()
        # of these, what calls reached that came back and had no stand-ins
        self._plainly: set[Arc] = set()
        self.after: dict[int, set[int]] = defaultdict(set)
        self._tried: set[Probe] = set()
        self._ended: set[tuple[type, int, str]] = set()
        self.calls = self._last_news = self._steps = 0
        self.options: dict[str, list[str]] = {}
        self._anything = self.pool.anything()
        # parameters that may be anything, and those that a call must have
        self._free: set[str] = set()
        self._needed: list[str] = []
        self._feedback: Feedback | None = None
        self._proposed: deque[Iterator[Probe]] = deque()
        # what conditions of which one way is known were asked of, in outline
        self._sketches: set[Sketch] = set()
        self._open_lines: set[int] | None = None
        self._was_endless = False

    def run(self) -> list[ProbeRun]:
        for probe in self._first():
            if self._over():
                return self._found()
            self._try(probe)
        while self.kept and not self._over():
            for _ in range(_PROPOSED_PER_CHANCE):
                if not self._was_endless:
                    self._try_proposed()
            if not self._was_endless:
                self._try(self._changed(self._parent()))
        return self._found()

    def _found(self) -> list[ProbeRun]:
        return [one for one in self.kept if not one.refused]

    def _try_proposed(self) -> None:
        """One of each kept call in turn, so that none keeps the others waiting."""
        while self._proposed:
            proposals = self._proposed.popleft()
            probe = next(proposals, None)
            if probe is not None:
                self._proposed.append(proposals)
                self._try(probe)
                return

    def _suggested(self, one: ProbeRun) -> Iterator[Probe]:
        """What a kept call suggests, asked when its turn comes."""
        assert self._feedback is not None
        yield from self._feedback.proposals(one, self._open())

    def _open(self) -> set[int]:
        """Lines that were left in one way only so far, and the conditions and loops that lead to them."""
        if self._open_lines is None:
            found = {line for line, to in self.after.items() if len(to) == 1 and line > 0}
            self._open_lines = found | (self._feedback.around(found) if self._feedback is not None else set())
        return self._open_lines

    def _over(self) -> bool:
        done = bool(self.wanted) and not (self.wanted - self.seen)
        done = done and (self.wanted <= self._plainly or self.calls - self._last_news > _CALLS_FOR_A_PLAIN_ONE)
        done = done or self.calls - self._last_news > _MOST_CALLS_WITHOUT_NEWS
        looks = self.calls % _CALLS_PER_LOOK == 0 or self._was_endless
        self._was_endless = False
        return done or self.calls >= _MOST_CALLS or (looks and self._is_late())

    def _is_late(self) -> bool:
        """The processor time is up, or many times as much of the clock's."""
        return time.process_time() > self.ends or time.monotonic() > self._latest

    def _try(self, probe: Probe) -> None:
        if probe in self._tried:
            self.calls += 1  # so that a search without anything new comes to its end
            return
        self._tried.add(probe)
        self.calls += 1
        sketches: set[Sketch] = set()
        open_lines, feedback = self._open(), self._feedback
        watch = (lambda frame: feedback.sketch(frame, open_lines, sketches)) if feedback is not None else None
        reached = self.prober.call(probe, watch)
        if reached is None or not reached.arcs:
            return
        if reached.endless:
            self._was_endless = True  # and nothing is learned from it
            return
        is_step = feedback is not None and probe in feedback.steps and self._steps < _MOST_STEPS
        self._steps += is_step
        asks = bool(sketches - self._sketches) and len(self._sketches) < _MOST_SKETCHES
        self._sketches |= sketches
        ended = (type(reached.raised), max(reached.lines, default=0), _words(reached.raised))
        news = reached.arcs - self.seen
        if (news and not reached.refused) or (ended not in self._ended and len(self.kept) < _MOST_KEPT):
            found = [p for name, value in reached.values.items() for p in places_in(name, value, self.prober.names)]
            reached.paths = found[:_MOST_PATHS]
            self.kept.append(reached)
            self._proposed.appendleft(self._suggested(reached))
            if news:
                self._last_news = self.calls
        elif not reached.refused and self._is_nicer(reached):
            pass
        elif is_step or asks:
            self._proposed.append(self._suggested(reached))
        self._ended.add(ended)
        if not reached.refused and reached.raised is None and not probe.has_stand_ins:
            self._plainly |= reached.arcs
        if not reached.refused and news:
            self.seen |= reached.arcs
            self._open_lines = None
            for line, to in reached.arcs:
                self.after[line].add(to)
        reached.values, reached.result = {}, None

    def _is_nicer(self, reached: ProbeRun) -> bool:
        """Whether it does without stand-ins what a kept call does with them; then it is kept instead."""
        if reached.probe.has_stand_ins:
            return False
        for place, one in enumerate(self.kept):
            same = one.arcs == reached.arcs and type(one.raised) is type(reached.raised)
            if same and not one.refused and one.probe.has_stand_ins:
                self.kept[place] = reached
                return True
        return False

    # --- where it starts ---------------------------------------------------------------------------------

    def _first(self) -> Iterator[Probe]:
        """The likeliest values of all, then the others of each parameter, one at a time."""
        target = self.prober.target
        if target.receiver == "self":
            self.options["self"] = self._receivers()
        needed = [p for p in self.prober.parameters if p.default is p.empty]
        examples = example_calls(target)
        for parameter in self.prober.parameters:
            meant = [call[parameter.name] for call in examples if parameter.name in call]
            found = list(dict.fromkeys([*meant, *self.pool.of_parameter(target.function, parameter)]))
            if found and self.pool.is_told(parameter.name):  # a hint is taken at its word
                self.options[parameter.name] = found
            else:
                self.options[parameter.name] = list(dict.fromkeys([*found, *self._anything]))
                self._free.add(parameter.name)
        for key in named_rest(target):
            self.options[key] = self._anything
            self._free.add(key)
        self._feedback = Feedback(self.prober, frozenset(self.options) - self._free - {"self"})
        names = self._needed = [*(["self"] if target.receiver == "self" else []), *(p.name for p in needed)]
        start = Probe(tuple((name, self.options[name][0]) for name in names))
        ways = self._fixed_ways()
        start = ways[0](start) if ways else start
        yield start
        yield from (way(start) for way in ways[1:])
        for call in examples:
            example = start
            for name, text in call.items():
                example = example.with_value(name, text)
            yield example
        for turn in range(1, 40):
            for name, options in self.options.items():
                if turn < len(options):
                    yield start.with_value(name, options[turn])

    def _fixed_ways(self) -> list[Callable[[Probe], Probe]]:
        """Ways to fix what the function asks of chance and of the clock."""
        assert self._feedback is not None
        chains = dict.fromkeys(chain for line in self._feedback.chains.values() for chain in line)
        found = list(frozen(chains, self.prober.target.function.__globals__, self.pool))
        for chain, text in (one for way in found for one in way):
            self.prober.fixed.add(PATCHED + chain)
            self.options.setdefault(PATCHED + chain, []).append(text)
        return [functools.partial(_with_patches, way) for way in found]

    def _receivers(self) -> list[str]:
        cls = self.prober.target.cls or object
        found = [*self.pool.of_class(cls), *self.pool.with_options(cls)]
        with contextlib.suppress(NotWritable):
            found = [*found, f"object.__new__({self.pool.name(cls)})"]
        return list(dict.fromkeys(found))

    # --- how it goes on ----------------------------------------------------------------------------------

    def _parent(self) -> ProbeRun:
        """Those that pass a line with one way out so far are worth most."""
        open_lines = self._open()
        wanted = {start if start > 0 else self._before(line) for start, line in self.wanted - self.seen}
        weights = [1 + 2 * len(one.lines & open_lines) + 20 * len(one.lines & wanted) for one in self.kept]
        return self.random.choices(self.kept, weights)[0]

    def _before(self, line: int) -> int:
        """The line that was met and is nearest above one that was not: the condition, as a rule."""
        return max((met for start, met in self.seen if start == -1 and met < line), default=0)

    def _changed(self, parent: ProbeRun) -> Probe:
        probe = parent.probe
        for _ in range(self.random.choice((1, 1, 2, 3))):
            chance = self.random.random()
            if chance < 0.15 and (before := self._call_before(probe)) is not None:
                probe = before
            elif parent.paths and chance < 0.55:
                name, path, now = self.random.choice(parent.paths)
                new = self._like(now)
                probe = probe.with_set(name, path, new) if new and name in dict(probe.given) else probe
            elif probe.sets and chance < 0.6:
                probe = dataclasses.replace(probe, sets=probe.sets[:-1])
            elif self.options:
                probe = self._other_value(probe)
        return probe

    def _call_before(self, probe: Probe) -> Probe | None:
        """The receiver brought into another state by one of its own methods."""
        made = dict(probe.given).get("self", "MagicMock")
        if "MagicMock" in made or "object.__new__" in made or not self._methods():
            return None
        method = self.random.choice(self._methods())
        needed = [p for p in list(inspect.signature(method).parameters.values())[1:] if p.default is p.empty]
        needed = [p for p in needed if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        chosen = [self.random.choice((self.pool.of_parameter(method, p) or self._anything)[:4]) for p in needed]
        named = [f"{p.name}=" if p.kind is p.KEYWORD_ONLY else "" for p in needed]
        text = f".{method.__name__}({', '.join(n + c for n, c in zip(named, chosen, strict=True))})"
        return dataclasses.replace(probe, sets=(*probe.sets, ("self", text, "")))

    @functools.cache  # noqa: B019 (a search is one call)
    def _methods(self) -> list[types.FunctionType]:
        cls = self.prober.target.cls or object
        found = {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}
        return [
            value
            for name, value in sorted(found.items())
            if isinstance(value, types.FunctionType) and not name.startswith("_") and value.__name__ == name
        ]

    def _other_value(self, probe: Probe) -> Probe:
        name = self.random.choice(list(self.options))
        optional = name not in self._needed and name not in self.prober.fixed
        if optional and name in dict(probe.given) and self.random.random() < 0.3:
            return probe.without(name)
        options = self.options[name]
        if name in self._free:
            options = options[:8] if self.random.random() < 0.5 else self.random.choice(self.pool.kinds)
        return probe.with_value(name, self._mixed(self.random.choice(options)))

    def _mixed(self, text: str) -> str:
        """Now and then two texts together, or a list of two."""
        if text[:1] in "\"'" and self.random.random() < 0.3:
            other = self.random.choice(self.pool.texts())
            with contextlib.suppress(ValueError, SyntaxError):
                return quoted(ast.literal_eval(text) + ast.literal_eval(other))
        return text

    def _like(self, now: Any) -> str:
        """Something to set: of the kind that is there, or None; anything for the unknown; nothing for an object."""
        if now is None or isinstance(now, NonCallableMock):
            return self.random.choice(self.random.choice(self.pool.kinds))
        if self.random.random() < 0.1:
            return "None"
        if isinstance(now, bool):
            return str(not now)
        if isinstance(now, int) and not isinstance(now, enum.Enum):
            return self.random.choice(self.pool.numbers())
        if isinstance(now, str):
            return self.random.choice(self.pool.texts())
        if isinstance(now, dict):
            return self.random.choice(self.pool.dicts())
        if isinstance(now, list | tuple | set):
            return self.random.choice([*self.pool.of_hint(type(now)), f"[{self.pool.stub()}]"])
        if isinstance(now, float | bytes):
            return self.random.choice(self.pool.of_hint(type(now)))
        return ""


def _with_patches(way: list[tuple[str, str]], probe: Probe) -> Probe:
    for chain, text in way:
        probe = probe.with_value(PATCHED + chain, text)
    return probe


def _words(raised: BaseException | None) -> str:
    """What an exception says, without names and what is another every time."""
    try:
        return re.sub(r"0x\w+|'[^']*'|\d+", "", str(raised))[:100] if raised is not None else ""
    except Exception:
        return ""


def simplest(prober: Prober, one: ProbeRun, wanted: frozenset[Arc]) -> ProbeRun:
    """The same without whatever is not needed to reach what is wanted."""
    for part in one.probe.sets:
        fewer = dataclasses.replace(one.probe, sets=tuple(s for s in one.probe.sets if s is not part))
        one = _if_enough(prober.call(fewer), wanted) or one
    for name, text in one.probe.given:
        if text == prober.pool.stub() and not name.startswith((PATCHED, "self")):
            plainer = (prober.call(one.probe.with_value(name, other)) for other in _PLAIN)
            one = next((run for run in plainer if _if_enough(run, wanted)), None) or one
    needed = {"self", *prober.fixed, *(p.name for p in prober.parameters if p.default is p.empty)}
    for name, _ in one.probe.given:
        if name not in needed:
            one = _if_enough(prober.call(one.probe.without(name)), wanted) or one
    return one


def _if_enough(reached: ProbeRun | None, wanted: frozenset[Arc]) -> ProbeRun | None:
    return reached if reached is not None and not reached.refused and wanted <= reached.arcs else None


def fewest(found: list[ProbeRun], wanted: set[Arc]) -> list[ProbeRun]:
    """Few calls that together reach what all of them reach of what is wanted: those that return first."""
    left = set().union(*(one.arcs for one in found)) & wanted if found else set()
    chosen: list[ProbeRun] = []
    while left:
        best = max(found, key=lambda one: (len(one.arcs & left), one.raised is None, -one.probe.oddity))
        chosen.append(best)
        left -= best.arcs
    return chosen
