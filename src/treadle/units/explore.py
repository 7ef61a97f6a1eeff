"""From one function to its paths: unknown arguments in, every path run, one test case out of each.

The set-up of the unit door: which class `self` has, which types the parameters have, where the loop bound, the
domain and the clock come from.
"""

from __future__ import annotations

import ast
import contextlib
import contextvars
import dataclasses
import functools
import hashlib
import inspect
import os
import re
import sys
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from treadle.core.errors import UsageError
from treadle.symbolic import types as t
from treadle.symbolic.explore import Exploration, MachineFault, PathRun, explore
from treadle.symbolic.expr.terms import BOOL, Expr
from treadle.symbolic.guide.guided import GivenUp, Guide, Walk, guided
from treadle.symbolic.guide.local_paths import LocalGuide
from treadle.symbolic.heap.aliasings import AliasingNumbers
from treadle.symbolic.heap.assumptions import Assumed
from treadle.symbolic.heap.objects import Heap, UnknownRef
from treadle.symbolic.ir.machine import Raised
from treadle.symbolic.path import (
    Alternative,
    CannotFollow,
    Choices,
    CodePlace,
    Impossible,
    Limit,
    PathEnd,
    SymbolicPath,
    unforced,
)
from treadle.symbolic.python.calls.stubs import Stubs
from treadle.symbolic.python.calls.world import UnknownWorld
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.machine.iteration import refuse_dropped
from treadle.symbolic.python.machine.python_machine import PythonMachine
from treadle.symbolic.python.summaries.composer import Summaries, restarting
from treadle.symbolic.python.summaries.joined_calls import JoinedCalls
from treadle.symbolic.python.summaries.store import SummaryStore
from treadle.symbolic.python.types import fields, hints, infer
from treadle.symbolic.python.types.heirs import is_plain_object, known_subclasses
from treadle.symbolic.python.values.matching import matching
from treadle.symbolic.python.values.values import GeneratorValue, IteratorValue
from treadle.symbolic.solve.solver import Solver
from treadle.symbolic.testcase import TestCase
from treadle.units.assumptions import assumptions_of, hold_for
from treadle.units.cases import Cases, cases_of
from treadle.units.contracts import Contracts
from treadle.units.ctrl_c import CtrlC
from treadle.units.infer import inferred
from treadle.units.options import HEAPS, UnitOptions
from treadle.units.select import (
    ALL_PATHS,
    NOTHING,
    AlreadyCovered,
    TestSelection,
    conclude,
    guide_for,
    nearest_first,
)
from treadle.units.target import UnitTarget
from treadle.units.terminate import criterion

if TYPE_CHECKING:
    from collections.abc import Generator as Generator_


@dataclass(slots=True)
class FinishedPath:
    """One finished path, still on its machine."""

    vm: PythonMachine
    arguments: dict[str, Any]
    value: Any = None
    raised: Any = None
    drained: bool = False
    # adds to a test case what the contracts have to say about it
    annotate: Callable[[TestCase, Any], None] = lambda case, concrete: None


@dataclass(slots=True)
class ExploredTarget:
    """Everything found out about one target."""

    target: UnitTarget
    options: UnitOptions = field(default_factory=UnitOptions)
    cases: list[TestCase] = field(default_factory=list)
    seen: Exploration = field(default_factory=Exploration)
    paths: int = 0
    # the paths that have run to their end, by their choices without forced ones
    finished: list[Choices] = field(default_factory=list)
    # those of them that a limit cut inside, among their aliasings: the first one that has no case yet
    inside: dict[Choices, AliasingNumbers] = field(default_factory=dict)
    # digests of what was decided about contracts, so that no answer is given twice
    decided: list[str] = field(default_factory=list)
    # Ctrl-C ended the exploration
    stopped: bool = False
    # the criterion, when not all paths were asked for
    selection: TestSelection | None = None
    # of a selection of local paths: those that have their test
    traces: list[tuple[Any, ...]] = field(default_factory=list)
    # cases that could not be given values
    unlabelled: list[CodePlace] = field(default_factory=list)
    # summaries 'computed', 'reused' from an earlier run, and calls 'composed' from them; what went wrong with the files
    summaries: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)
    # cases that are in no file: they cannot be written down, or the real run is not the same every time
    unwritten: list[CodePlace] = field(default_factory=list)

    def add(self, found: ExploredTarget) -> None:
        """Take what another search has found on paths that this one has not run to their end."""
        known = set(self.finished)
        for case in found.cases:
            if case.choices not in known:
                self.cases.append(case)
                self.finished.append(case.choices)
                self.paths += 1


# The machine recurses once per call and expression of the program; each of its frames takes several of ours.
HOST_RECURSION = 20_000


# Of the time of a target, what is added to look for branches that the cut paths may have had.
_FOR_THE_REST = 0.25


class CannotExplore(UsageError):
    """No unknown inputs can be made for a target, or it cannot be followed at all."""


def parameter_types(target: UnitTarget, options: UnitOptions) -> dict[str, t.Type]:
    """Parameter -> type: --types, hint, use; one with a default and no type is left out.

    A parameter of unknown type without a default is the user's to name.
    """
    function = target.function
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise CannotExplore(
            f"'{target.name}' is a coroutine; its schedules matter, which are for treadle explore and treadle actor; "
            f"here, test the plain functions that it calls"
        )
    if target.is_context:
        raise CannotExplore(f"'{target.name}' is for `with`: nothing happens until that enters it")
    if target.receiver == "self" and not any(map(is_plain_object, known_subclasses(target.cls or object))):
        raise CannotExplore(
            f"{target.file}:{target.line}: no unknown object can be made for '{target.name}', because its class is "
            f"abstract or derives from a compiled one; test a function that makes the objects itself"
        )
    resolved = hints.resolved_hints(function)
    found: dict[str, t.Type] = {}
    for parameter in target.parameters():
        name = parameter.name
        kind = _named_type(options.types[name], name, function) if name in options.types else None
        if kind is None and name in resolved:
            kind = hints.from_hint(resolved[name])
            if kind is not None and parameter.default is None:
                kind = t.nullable(kind)
        if kind is None and not _is_said(resolved.get(name)):
            kind = infer.infer_parameter(function, name)
        if kind is None and resolved.get(name) in (object, Any):
            # anything at all: one of its own kind for a method, and two that are not
            own = hints.from_class(target.cls) if target.cls is not None else None
            kind = t.union(own or t.STR, t.INT, t.NONE)
        if kind is None and parameter.default is not inspect.Parameter.empty:
            continue  # no type, but a default that is certainly right: the tests leave the parameter out
        if kind is None:
            raise CannotExplore(
                f"{target.file}:{target.line}: {_what_is_missing(name, resolved.get(name), target)}, "
                f"or pass --types {name}=TYPE"
            )
        found[name] = hints.parameter_type(kind, options.none and name not in options.types)
    rest = target.rest()
    if rest is not None and len(found) == len(target.parameters()):
        hint = resolved.get(rest.name)
        kind = hints.from_hint(hint) if hint is not None else None
        found[rest.name] = t.TupleOf((), kind or t.INT)
    return found


def _is_said(hint: Any) -> bool:
    """Whether the hint is a class: what the use of the parameter suggests would be something else."""
    cls = typing.get_origin(hint) or hint
    return isinstance(cls, type) and cls is not object and not inspect.isabstract(cls)


def _what_is_missing(name: str, hint: Any, target: UnitTarget) -> str:
    if _is_said(hint):
        return f"no unknown {hint.__name__} can be made for parameter '{name}' of '{target.name}'; give it another hint"
    return f"the type of parameter '{name}' of '{target.name}' is unknown; give it a hint"


def _named_type(text: str, name: str, function: Any) -> t.Type:
    try:
        kind = hints.parse(text, function.__globals__)
    except Exception as error:
        raise UsageError(f"--types {name}={text}: not a type ({error})") from None
    if kind is None:
        raise UsageError(f"--types {name}={text}: inputs of this type cannot be made")
    return kind


def words_of(function: types.FunctionType) -> tuple[str, ...]:
    """Strings that the code mentions: worth trying as inputs."""
    found: dict[str, None] = {}
    try:
        node = source.node_of(function.__code__)
    except source.NoSource:
        return ()
    body = node.body if isinstance(node.body, list) else [node.body]
    for statement in body:
        for part in ast.walk(statement):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and len(part.value) <= 12:
                found[part.value] = None
    first = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
    return tuple(w for w in found if w != first)[:12]


def matching_words(function: types.FunctionType) -> tuple[str, ...]:
    """Texts that match the regular expressions which the code mentions, where the solver gives up."""
    code, names = function.__code__, function.__globals__
    known = [value for name in code.co_names if isinstance(value := names.get(name), re.Pattern)]
    given = [(one.pattern, one.flags) for one in known if isinstance(one.pattern, str)]
    if names.get("re") is re and "re" in code.co_names:
        given += [(text, 0) for text in code.co_consts if isinstance(text, str) and re.search(r"[\\\[(*+?]", text)]
    return tuple(word for pattern, flags in given[:8] for word in matching(pattern, flags)[:3])


# Tried where a string has to be picked: empty, padded, mixed case, with digits, with separators.
_SAMPLES = ("ab", " Ab1 ", "a,b", "", "12", "a b")


# A function that is called less often than this is not worth a summary: making one runs it once for each of its paths.
SUMMARISED_AFTER = 4


class Session:
    """Explores one target: the whole tree, or what is below the trails of `start`."""

    def __init__(
        self,
        target: UnitTarget,
        options: UnitOptions,
        make_heap: Callable[..., Heap] | None = None,
        progress: Callable[[int], None] = lambda n: None,
        start: Sequence[Alternative] = (Alternative(()),),
        inside: Mapping[Choices, AliasingNumbers] | None = None,
        decided: Iterable[str] = (),
        known: AlreadyCovered = NOTHING,
    ) -> None:
        self.target = target
        self.options = options
        self.make_heap = make_heap or HEAPS[options.heap]
        self.progress = progress
        self.start = start
        # paths of `start` that have cases already: the aliasing to go on with
        self.inside = inside or {}
        self.types = parameter_types(target, options)
        self.contracts = Contracts(target, options.pre, options.contracts)
        self.inferred = inferred(target, self.types) if options.infer_assumptions else []
        self.assumptions = (
            *assumptions_of(target, options.assume, self.types),
            *dict.fromkeys(one.assumption for one in self.inferred),
        )
        self._decided = set(decided)
        self.ctrl_c = CtrlC()
        self.words = words_of(target.function)
        self.result = ExploredTarget(target, options)
        self.guide: Guide | None = None
        self.know(known)
        self.stubs = Stubs(options.stubs)
        self.ends_here = criterion(options.terminate)
        self.joined_calls: JoinedCalls | None = None
        if self.guide is not None:
            self.joined_calls = JoinedCalls(options.k, allow_effects=options.allow_effects, stubs=self.stubs)
        self.summaries: Summaries | None = None
        if options.summaries and self.ends_here is None:  # a summary passes no lines
            store = SummaryStore() if options.keep_summaries else None
            self.summaries = Summaries(
                options.k, allow_effects=options.allow_effects, stubs=self.stubs, after=SUMMARISED_AFTER, store=store
            )

    def know(self, known: AlreadyCovered) -> None:
        """Leave out of a selection what has its test already; look first for what has none."""
        self.known = known
        options = self.options
        if known.first is not None:
            self.guide = nearest_first(self.target, known.first)
        if options.select != ALL_PATHS:
            found = guide_for(self.target, options.select, options.points, options.k, known)
            self.guide, self.result.selection = found

    def explore(self) -> ExploredTarget:
        """One path after the other, in this process. Ctrl-C keeps what was found."""
        with self.ctrl_c:
            try:
                with contextlib.closing(self._search()) as found:
                    for ran in found:
                        self.keep(ran)
            except KeyboardInterrupt:
                self.result.stopped = True
            return self.finish()

    @property
    def has_a_rest(self) -> bool:
        """Whether a limit cut the paths of a short suite, whose branches are worth a search of their own."""
        cut = self.result.seen.cut
        return self.options.is_brief and not self.result.stopped and bool(cut[Limit.TIME] or cut[Limit.PATHS])

    def for_the_rest(self) -> Session:
        """A search for the branches of the function itself, each for itself.

        It joins paths in which only data differs, so it gets through where there are too many to follow.
        """
        seconds = self.options.seconds * _FOR_THE_REST
        return Session(self.target, dataclasses.replace(self.options, select="branches", seconds=seconds))

    def leave(self) -> ExploredTarget:
        """Not begun: all of it is for later."""
        self.result.stopped = True
        self.result.seen.pending.extend(self.start)
        self.result.inside.update(self.inside)
        self.result.seen.cut[Limit.TIME] += len(self.start)
        return self.finish()

    def finish(self) -> ExploredTarget:
        """After the last path: what only the search as a whole can say."""
        left = {unforced(alternative.choices) for alternative in self.result.seen.pending}
        self.result.inside.update({t: c for t, c in self.inside.items() if t in left and t not in self.result.inside})
        if self.summaries is not None:
            self.result.summaries.update(self.summaries.counts())
            self.result.warnings += self.summaries.store.warnings if self.summaries.store is not None else []
        if isinstance(self.guide, LocalGuide):
            self.result.traces = list(self.guide.covered.traces())
        if self.result.selection is not None:
            conclude(self.result.selection, self.result)
        return self.result

    def _search(self) -> Generator_[PathRun[Cases], None, None]:
        """The paths that finish: all of them, or those that the guide asks for."""
        seconds, full, words = self.options.seconds, self.is_full, self.samples
        solver, seen = self.solver(), self.result.seen
        if self.guide is not None:
            return guided(self.cases, solver, seen, self.guide, seconds=seconds, full=full, words=words)
        return explore(self.cases, solver, seen, seconds=seconds, full=full, words=words, start=self.start)

    def is_full(self) -> bool:
        """The limit on paths is reached; as many tests fill it too, since a path may have several."""
        return max(len(self.result.finished), len(self.result.cases)) >= self.options.paths

    def keep(self, ran: PathRun[Cases]) -> None:
        """A finished path and its test cases."""
        assert ran.result is not None
        result, seen = self.result, self.result.seen
        choices = unforced(ran.choices)
        result.finished.append(choices)
        rest, limit, new = ran.result.rest, ran.result.limit, 0
        for case in ran.result.found:
            if len(result.cases) >= self.options.paths:
                rest, limit = case.aliasing, Limit.PATHS
                break
            if not self._decided_already(case):
                result.cases.append(case)
                new += 1
        if rest is not None:
            result.inside[choices] = rest
            seen.pending.append(Alternative(choices, with_forced=False))
            seen.cut[limit] += 1
        elif ran.result.found and not new:
            return
        result.paths += 1
        for _ in range(ran.result.unlabelled):
            result.unlabelled.append(CodePlace(self.target.file, self.target.line, "no values found for a path"))
        self.progress(len(result.cases))

    def _decided_already(self, case: TestCase) -> bool:
        """Deciding a contract took several ways after one path of the code: one way for each answer is enough."""
        for open_, why in case.undecided:
            what = f"the {open_.kind} `{open_.condition}` cannot be decided: {why}"
            place = CodePlace(open_.file or self.target.file, open_.line or self.target.line, what)
            if place not in self.result.unlabelled:
                self.result.unlabelled.append(place)
        if case.body is None:
            return False
        broken = case.violation
        aliasing = tuple(choice for before, choice in case.aliasing if before <= len(case.body))
        key = (case.body, aliasing, broken and (broken.kind, broken.condition, broken.of, broken.where))
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        if digest in self._decided:
            return True
        self._decided.add(digest)
        self.result.decided.append(digest)
        return False

    def assuming(self) -> list[str]:
        """What is taken for granted about the inputs."""
        known = {one.assumption for one in self.inferred}
        return [*self.contracts.stated(), *(str(a) for a in self.assumptions if a not in known)]

    def impossible(self) -> bool:
        """No input fulfils the preconditions: there is no path at all, and nothing got in the way of finding one."""
        if self.guide is not None and self.guide.satisfied:
            return False  # nobody looked for one
        seen = self.result.seen
        code = source.code_of(self.target.function.__code__)
        if self.result.selection is not None and (code.file, code.line) in seen.followed:
            return False  # paths were begun, and given up because they do not lead to what is wanted
        nothing = not (self.result.paths or sum(seen.cut.values()) or seen.unsupported or seen.gave_up)
        return nothing and not self.result.stopped and bool(self.contracts.preconditions())

    @property
    def samples(self) -> tuple[str, ...]:
        return (*self.words, *_SAMPLES)

    def solver(self) -> Solver:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), HOST_RECURSION))
        solver = Solver(self.options.domain)
        solver.words = (*self.words, *matching_words(self.target.function))
        return solver

    @functools.cached_property
    def aliasing_solver(self) -> Solver:
        """Asked which aliasings a finished path leaves open; apart, so that the search takes no notice."""
        return Solver(self.options.domain)

    def cases(self, path: SymbolicPath) -> Cases:
        """Run one path; its test cases, one for each aliasing that the path leaves open."""
        with self.ctrl_c.path():
            return self._cases(path)

    def _cases(self, path: SymbolicPath) -> Cases:
        run = self.run_path(path)
        walk: Walk | None = path.walk
        if walk is not None and not walk.selected():
            raise GivenUp
        if path.is_joined:
            path = path.apart()
            run = self.run_path(path)
        start, most = self.inside.get(unforced(path.choices), ()), self.options.paths
        one = self.result.selection is not None  # the other aliasings of a path that is wanted add nothing
        if one and not self.assumptions:
            most = 1
        found = cases_of(self.target, run, path, self.aliasing_solver, self.words, most, start)
        if self.assumptions and found.found:
            found.found = [case for case in found.found if hold_for(case, self.assumptions)]
            if not found.found and found.rest is None:
                raise Impossible
        for case in found.found:
            case.stubs = tuple(run.vm.stub_cases)
        if walk is not None:
            if one and found.found:
                found = Cases(found.found[:1], found.unlabelled)
            walk.kept = bool(found.found)
            for case in found.found:
                case.meets = path.walk.met
        return found

    def run_path(self, path: SymbolicPath) -> FinishedPath:
        try:
            # a ContextVar that the code sets is as it was for the next path
            return contextvars.copy_context().run(restarting, path, lambda plain: self._run_path(path, plain))
        except RecursionError:
            raise CannotFollow("recursion that is too deep to follow") from None
        except (PathEnd, Raised, UsageError):
            raise
        except Exception as error:
            # a gap in the machine must not cost the other paths: it is listed, with the place where it happened
            if "TREADLE_DEBUG" in os.environ:
                raise
            raise MachineFault(f"{type(error).__name__}: {error}"[:200]) from error

    def _run_path(self, path: SymbolicPath, run_plainly: set[int]) -> FinishedPath:
        heap = self.make_heap(path, alias=self.options.alias, subclasses=known_subclasses)
        vm = PythonMachine(path, heap, self.options.k, allow_effects=self.options.allow_effects)
        vm.field_type = fields.field_type
        self.contracts.prepare(vm, heap)
        vm.summaries, vm.run_plainly = self.joined_calls or self.summaries, run_plainly
        vm.stubs, vm.ends_here = self.stubs, self.ends_here
        vm.world = None if self.options.allow_effects else UnknownWorld()
        if self.guide is not None:
            vm.walk = path.walk = self.guide.walk(vm)
        path.place = CodePlace(self.target.file, self.target.line, "")
        arguments: dict[str, Any] = {}
        heap.assumed = Assumed(self.assumptions, arguments) if self.assumptions else None
        positional: list[Any] = []
        named: dict[str, Any] = {}
        if self.target.receiver == "self":
            me = heap.value_of_type(t.Instance(self.target.cls or object), "self")
            if self._heirs:
                vm.force(me).classes = self._heirs
            arguments["self"] = me
            positional.append(me)
            if isinstance(me, UnknownRef):
                heap.refs["self"] = me
        elif self.target.receiver == "cls":
            positional.append(self.target.cls)
        left_out = False
        for parameter in self.target.parameters():
            if parameter.name not in self.types:
                left_out = True
                continue
            value = heap.value_of_type(self.types[parameter.name], parameter.name)
            arguments[parameter.name] = value
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY or left_out:
                named[parameter.name] = value
            else:
                positional.append(value)
        rest = self.target.rest()
        if rest is not None and rest.name in self.types:
            given = vm.force(heap.value_of_type(self.types[rest.name], rest.name))
            arguments[rest.name] = given
            positional.extend(given)
        run = FinishedPath(vm, arguments)
        try:
            run.value = self.contracts.call(vm, positional, named, functools.partial(_known_truth, vm))
            if isinstance(run.value, GeneratorValue | IteratorValue):
                run.drained = True
                run.value = vm.new_list(vm.spread(run.value))
        except Raised as raised:
            run.raised = raised.value
        refuse_dropped(vm)
        run.annotate = functools.partial(self.contracts.annotate, vm, run.raised, run.drained)
        return run

    @functools.cached_property
    def _heirs(self) -> tuple[type, ...]:
        """The classes of objects that the target is a method of; () where nobody overrides it."""
        cls = self.target.cls or object
        name = self.target.name.rpartition(".")[2]
        known, written = known_subclasses(cls), inspect.getattr_static(cls, name, None)
        kept = tuple(c for c in known if inspect.getattr_static(c, name, None) is written)
        return kept if len(kept) < len(known) else ()


def _known_truth(vm: PythonMachine, value: Any) -> Any:
    """A test of one truth value only would not notice the other."""
    return vm.decide(value) if isinstance(value, Expr) and value.sort is BOOL else value


__all__ = ["CannotExplore", "ExploredTarget", "FinishedPath", "Impossible", "Session", "parameter_types"]
