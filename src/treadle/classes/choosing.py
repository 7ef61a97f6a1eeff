"""Which constructors, calls and observers a campaign works with: found out by calling, once per class.

A call belongs to the candidates when the class accepts it: one that raises TypeError or AttributeError on a fresh
object was given what it does not take. An observer is a call that says something and can be repeated: twice in a row
it gives the same answer. What observers say after a concurrent test is what counts as the visible state.
"""

from __future__ import annotations

import inspect
import itertools
import time
import types
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from treadle.classes.calls import Argument, MethodCall
from treadle.classes.coverage import trace_of
from treadle.classes.fitting import WRONG, Attempt
from treadle.classes.grasped import MADE_UP, kind_of, of_elements, of_instance, on_result
from treadle.classes.pools import Pools
from treadle.classes.records import CallRecord, Sequence
from treadle.classes.sequences import LONGEST_CALL
from treadle.classes.stage import Stage
from treadle.classes.stand_ins import needs_stand_in
from treadle.classes.subject import CLASS_ITSELF, Subject, SubjectMethod, is_own
from treadle.classes.ways import constructors, of_heirs
from treadle.core.errors import Unsupported, UsageError
from treadle.observe.effects import WorldEffect
from treadle.threads.fingerprint import attributes_of

# A call that raises one of these was not meant to be made like this.
ILLEGAL = WRONG | {"NotImplementedError", "AssertionError", "NameError", "RecursionError", "Unreached"}

_MOST_ROOTS = 4
# Ways to make the object that are taken over from tests and examples.
_MOST_SEEN = 6
_MOST_CALLS = 8  # per method
_MOST_TRIALS = 24  # per method
_MOST_OBSERVERS = 14
# Operations of all observers together, beyond a few: every execution ends with them.
_MOST_COST = 150
_FEWEST_OBSERVERS = 4

_SCALARS = (int, float, str, bytes, bool, complex, type(None))


@dataclass
class Candidates:
    """CM for one root: the calls to extend sequences with, and how to look at what they leave."""

    root: MethodCall
    calls: list[MethodCall] = field(default_factory=list)
    judged: frozenset[str] = frozenset()  # methods whose concurrent behaviour counts
    omega: tuple[MethodCall, ...] = ()
    later: tuple[MethodCall, ...] = ()
    fields: tuple[str, ...] = ()


# ---------------------------------------------------------------------- constructors


def roots(stage: Stage, pools: Pools, may_go_on: Callable[[], bool]) -> list[MethodCall]:
    """Ways to make a fresh object, those that make a small one first."""
    subject = stage.subject
    if stage.setup is not None:
        return [_probe_setup(stage)]
    found: dict[Hashable, MethodCall] = {}
    problem: str = ""
    for call in pools.ways_seen()[:_MOST_SEEN]:
        made = _tried(stage, call, _NOTHING)
        sound = made.failed is None and not made.ending and not stage.refused and bool(made.calls)
        if sound and _is_one(subject, stage.last_sout):
            found.setdefault(made.calls[0].state, call)
    for constructor in itertools.chain(constructors(subject, pools), _others(found, subject)):
        missing = pools.unmakeable(constructor)
        if missing is not None:
            problem = problem or _cannot_give(subject, constructor, missing.name, missing.type)
            continue
        before = len(found)
        said = _build(stage, pools, constructor, found, may_go_on)
        if len(found) == before and said and may_go_on():
            attempt = _building(stage, constructor)
            if pools.fit(constructor, attempt):
                said = _build(stage, pools, constructor, found, may_go_on)
        problem = problem or said
    if not found and may_go_on():
        raise UsageError(problem or f"{subject.target} cannot be built")
    return _small_first(list(found.values()))[:_MOST_ROOTS]


def _build(
    stage: Stage,
    pools: Pools,
    constructor: SubjectMethod,
    found: dict[Hashable, MethodCall],
    may_go_on: Callable[[], bool],
) -> str:
    """Make objects by a constructor, and keep the calls that make different ones. What went wrong first, if at all."""
    subject = stage.subject
    problem = ""
    for call in itertools.islice(pools.calls(constructor), _MOST_TRIALS):
        if not may_go_on():
            break
        made = _tried(stage, call, _NOTHING)
        if stage.refused:
            problem = problem or _touches_the_world(subject, stage.refused[0])
        elif made.failed is not None:
            problem = problem or _does_not_build(subject, call, made.failed)
        elif made.ending:
            problem = f"the constructor of {subject.target} does not come back: {call} ends in a {made.ending}"
        elif _is_one(subject, stage.last_sout) and made.calls:
            found.setdefault(made.calls[0].state, call)
    return problem


def _building(stage: Stage, constructor: SubjectMethod) -> Attempt:
    def attempt(arguments: tuple[Argument, ...]) -> BaseException | None:
        made = _tried(stage, constructor.call(arguments), _NOTHING)
        stuck = Unsupported("it does not come back") if made.ending or stage.refused else None
        return made.failed or stuck

    return attempt


# Seconds of work after which a method that takes so long has variants enough, and all of them: others wait.
_FOR_ONE_METHOD = 1.0
_FOR_ALL_METHODS = 5.0
# Seconds of work to find out what can be asked, and twice as many as long as only a few such calls are known.
_FOR_OBSERVERS = 2.0
_NOTHING = MethodCall("nothing", "None and {sout}")


def _others(found: dict[Hashable, MethodCall], subject: Subject) -> Iterator[SubjectMethod]:
    """Where no object of the class itself has been made by now: its heirs."""
    made = any(call.method != CLASS_ITSELF for call in found.values())
    if not made and isinstance(subject.cls, type) and not subject.is_used and not needs_stand_in(subject.cls):
        yield from of_heirs(subject)


def _tried(stage: Stage, root: MethodCall, call: MethodCall) -> Sequence:
    """A first run of a call, which may be refused: `stage.refused` says so."""
    stage.probing = True
    try:
        return stage.run_sequence(root, (call,))
    finally:
        stage.probing = False


def _probe_setup(stage: Stage) -> MethodCall:
    root = MethodCall("setup", "None")
    made = _tried(stage, root, _NOTHING)
    if stage.refused:
        raise Unsupported(f"the --setup function would {stage.refused[0]}; pass --allow-effects to let it")
    if made.failed is not None:
        error = made.failed
        raise UsageError(f"the --setup function fails: {type(error).__name__}: {error}")
    return root


def _cannot_give(subject: Subject, method: SubjectMethod, name: str, kind: Any) -> str:
    said = f" of type {getattr(kind, '__qualname__', kind)}" if kind is not kind.__class__ and kind else ""
    return (
        f"{subject.target} cannot be built: nothing in the pools fits parameter '{name}'{said} of its {method.name}; "
        f"give values with --values {name}=EXPRESSION, or a factory of fresh objects with --setup FILE:function"
    )


def _does_not_build(subject: Subject, call: MethodCall, error: BaseException) -> str:
    text = str(error).splitlines()[0] if str(error) else ""
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    names = ", ".join(a.name or str(a.value) for a in call.arguments)
    hint = f"give better values with --values NAME=EXPRESSION ({names}), or" if names else "give"
    return f"{subject.target} cannot be built: {call} raises {said}; {hint} a factory with --setup FILE:function"


def _touches_the_world(subject: Subject, what: WorldEffect) -> str:
    """Constructors that reach outside cannot be run thousands of times."""
    return (
        f"the constructor of {subject.target} would {what}, which no schedule controls; give a factory that replaces "
        "it, with --setup FILE:function, or pass --allow-effects to let it"
    )


def _is_one(subject: Subject, made: Any) -> bool:
    """Is what a factory made an object of the class? Its hint may name a base."""
    cls = subject.cls
    if made is cls or not isinstance(cls, type) or subject.is_used or getattr(cls, "_is_protocol", False):
        return True  # whether an object fits a Protocol, only a Protocol that says so may be asked
    return isinstance(made, cls)


# How early other ways to make an object than the constructors of the class come.
_OTHER_WAYS = {"recorded": 1, "heir": 4, "stand-in": 5}


def _small_first(calls: list[MethodCall]) -> list[MethodCall]:
    """A small capacity shows more in fewer calls: variants with a 1 or a 2, then the plain one, then the others."""

    def rank(call: MethodCall) -> int:
        values = [str(argument.value) for argument in call.arguments]
        if call.method in _OTHER_WAYS:
            return _OTHER_WAYS[call.method]
        if "1" in values:
            return 0
        if "2" in values:
            return 1
        return 2 if not values else 3

    return sorted(calls, key=rank)


# ---------------------------------------------------------------------- calls


def candidate_calls(
    stage: Stage, pools: Pools, root: MethodCall, methods: list[SubjectMethod], may_go_on: Callable[[], bool]
) -> tuple[dict[MethodCall, Sequence], dict[str, str]]:
    """The calls that the class accepts, a few per method, each as it ran on a fresh object; why others are left out.
    Methods that show only now are added to `methods`."""
    found: dict[MethodCall, Sequence] = {}
    skipped: dict[str, str] = {}
    _add(methods, _of_instance(stage, root))
    for method in methods:  # which grows
        if not may_go_on():
            break
        missing = pools.unmakeable(method)
        if missing is not None:
            skipped[method.name] = f"nothing in the pools fits parameter '{missing.name}'"
            continue
        most = min(_FOR_ONE_METHOD, _FOR_ALL_METHODS / len(methods))
        trials = _accepted(stage, pools, root, method, may_go_on, most)
        accepted = trials.calls(method)
        if not accepted:
            skipped[method.name] = trials.problem
        found |= accepted
        for kind in trials.kinds:
            _add(methods, on_result(stage.subject, method, kind))
    return found, skipped


def _add(methods: list[SubjectMethod], more: Iterable[SubjectMethod]) -> None:
    known = {method.name for method in methods}
    methods += [method for method in more if method.name not in known]


def _of_instance(stage: Stage, root: MethodCall) -> list[SubjectMethod]:
    """Methods that the object itself has, or makes up."""
    subject = stage.subject
    if not isinstance(subject.cls, type) or subject.is_used:
        return []
    _tried(stage, root, _NOTHING)
    found = [*of_instance(subject, stage.last_sout), *of_elements(subject)]
    raw = inspect.getattr_static(subject.cls, "__getattr__", None)
    if isinstance(raw, types.FunctionType) and is_own(raw, subject.cls, "__getattr__", subject.packages):
        made = _tried(stage, root, MethodCall(MADE_UP.name, MADE_UP.form)).last
        found += [MADE_UP] if made is not None and made.happened[0] == "returned" else []
    return found


@dataclass
class _Trials:
    """The calls of one method that were tried on a fresh object."""

    chosen: dict[MethodCall, Sequence] = field(default_factory=dict)
    spare: dict[MethodCall, Sequence] = field(default_factory=dict)
    last_resort: dict[MethodCall, Sequence] = field(default_factory=dict)
    traces: set[Any] = field(default_factory=set)
    kinds: set[type] = field(default_factory=set)  # of the results
    problem: str = "the budget ran out first"
    refused: bool = False  # would it change the world?
    wrong: bool = False  # did a call say that it was given something wrong?

    @property
    def returned(self) -> bool:
        return any(made.last is not None and made.last.happened[0] != "raised" for made in self.chosen.values())

    def calls(self, method: SubjectMethod) -> dict[MethodCall, Sequence]:
        if self.refused:
            return {}
        if not self.chosen and not method.parameters:
            return self.last_resort  # it depends on the state, not on what it was given
        few = list(self.spare.items())[: max(0, 2 - len(self.chosen))]
        return {**self.chosen, **dict(few)}


def _accepted(
    stage: Stage, pools: Pools, root: MethodCall, method: SubjectMethod, may_go_on: Callable[[], bool], most: float
) -> _Trials:
    """At least two variants, so that keys can differ and agree, then those that do something new, within some seconds
    of work. Where every value is refused, others are looked for by how."""
    trials = _Trials()
    _try(stage, pools, root, method, may_go_on, trials, time.process_time() + most)
    hopeful = trials.wrong and not trials.returned and not trials.refused and may_go_on()
    if hopeful and pools.fit(method, _calling(stage, root, method, may_go_on)):
        _try(stage, pools, root, method, may_go_on, trials, time.process_time() + most)
    return trials


def _calling(stage: Stage, root: MethodCall, method: SubjectMethod, may_go_on: Callable[[], bool]) -> Attempt:
    def attempt(arguments: tuple[Argument, ...]) -> BaseException | None:
        made = _tried(stage, root, method.call(arguments))
        sound = made.last is not None and made.last.happened[0] == "returned" and not stage.refused
        if sound or not may_go_on():
            return None
        how, error = stage.last_happened
        return error if how == "raised" else Unsupported("it does not come back")

    return attempt


def _try(
    stage: Stage,
    pools: Pools,
    root: MethodCall,
    method: SubjectMethod,
    may_go_on: Callable[[], bool],
    trials: _Trials,
    until: float,
) -> None:
    chosen = trials.chosen
    enough = 3 if sum(parameter.required for parameter in method.parameters) > 1 else 2
    for number, call in enumerate(pools.calls(method)):
        if number >= _MOST_TRIALS or len(chosen) >= _MOST_CALLS or not may_go_on():
            break
        if len(chosen) >= enough and time.process_time() > until:
            break
        made = _tried(stage, root, call)
        if stage.refused and not stage.only_offline:
            trials.refused, trials.problem = True, f"it would {stage.refused[0]}; pass --allow-effects to let it"
            return
        ran = made.last
        if ran is None or len(ran.operations) > LONGEST_CALL:
            long = f"{call} takes more than {LONGEST_CALL} operations"
            trials.problem = long if ran is not None else "the object is not built"
            continue
        if ran.happened[0] == "raised":
            trials.wrong = trials.wrong or ran.happened[1] in WRONG | {"ValueError"}
            if ran.happened[1] in ILLEGAL:
                said = ": ".join(filter(None, ran.happened[1:3]))
                trials.problem = f"every value tried is refused, {call} with {said}"
                trials.last_resort = trials.last_resort or {call: made}
                continue
        if stage.last_happened[0] == "returned":
            trials.kinds.add(kind_of(stage.last_happened[1]))
        trace = trace_of(method.name, ran.steps, _ending(ran))
        if trace not in trials.traces or len(chosen) < enough:
            trials.traces.add(trace)
            chosen[call] = made
        else:
            trials.spare[call] = made


def _ending(ran: CallRecord) -> str:
    return str(ran.happened[1]) if ran.happened[0] == "raised" else ""


# ---------------------------------------------------------------------- observers


def observers(
    stage: Stage, root: MethodCall, calls: list[MethodCall], ways: list[tuple[MethodCall, ...]], iterable: bool
) -> tuple[MethodCall, ...]:
    """Calls that say something about the object and can be repeated, in each of the states that `ways` lead to."""
    pool = [call for call in calls if call.expression and call.method not in ("repr", "str", "iter", "next", "hash")]
    if iterable:
        pool.append(MethodCall("list", "list({sout})"))
    pure: list[tuple[MethodCall, int]] = []
    others: list[tuple[MethodCall, int]] = []
    began = time.process_time()
    for call in sorted(pool, key=lambda call: len(call.arguments)):
        few = len(pure) + len(others) < _FEWEST_OBSERVERS
        if time.process_time() - began > _FOR_OBSERVERS * (2 if few else 1):
            break
        found = _repeats(stage, root, call, ways)
        if found is not None:
            (pure if found[0] else others).append((call, found[1]))
    chosen: list[MethodCall] = []
    for call, cost in pure + others:  # those that change nothing must be asked first
        dear = sum(c for other, c in pure + others if other in chosen) + cost > _MOST_COST
        if len(chosen) < _MOST_OBSERVERS and not (dear and len(chosen) >= _FEWEST_OBSERVERS):
            chosen.append(call)
    return tuple(chosen)


def _repeats(
    stage: Stage, root: MethodCall, call: MethodCall, ways: list[tuple[MethodCall, ...]]
) -> tuple[bool, int] | None:
    """Does a call say the same twice in a row, in every state? Whether it also changes nothing, and its operations."""
    says_something = False
    cost = 0
    pure = True
    for way in ways:
        stage.tell = True
        made = stage.run_sequence(root, (*way, _NOTHING, call, call))
        stage.tell = False
        if made.ending or len(made.calls) < len(way) + 3:
            return None
        before, one, two = made.calls[-3:]
        if one.happened != two.happened or not one.literal:
            return None
        pure = pure and before.state == one.state == two.state
        cost = max(cost, len(one.operations))
        if one.happened[0] == "returned" and one.happened[1] is not None:
            value = one.happened[1]
            if isinstance(value, tuple) and value[:1] in (("iterator",), ("known",), ("object",)):
                return None
            says_something = True
    return (pure, cost) if says_something else None


def absent(happened: tuple[Any, ...]) -> bool:
    """Does an answer say that there is nothing?"""
    if happened[0] == "raised":
        return happened[1] in ("KeyError", "LookupError", "IndexError")
    return happened[1] in (None, ("bool", "False"))


def evicts(stage: Stage, candidates: Candidates) -> bool:
    """Does a call about one key make the entry of another disappear, with no threads at all?"""
    for look in candidates.omega:
        asked = {str(argument.value) for argument in look.arguments}
        if not asked:
            continue
        for put in candidates.calls:
            if not put.arguments or str(put.arguments[0].value) not in asked or len(put.arguments) < 2:
                continue
            for other in candidates.calls:
                if other.method != put.method or str(other.arguments[0].value) in asked:
                    continue
                made = stage.run_sequence(candidates.root, (put, look, other, look))
                if len(made.calls) == 4 and absent(made.calls[3].happened) and not absent(made.calls[1].happened):
                    return True
    return False


def has_query(
    stage: Stage, root: MethodCall, omega: tuple[MethodCall, ...], ways: list[tuple[MethodCall, ...]]
) -> bool:
    """Is there an observer that tells states apart and changes no public attribute? Then plain attributes are the
    class's own business."""
    if len(ways) < 2:
        return False
    before = []
    for way in ways:
        stage.run_sequence(root, (*way, _NOTHING))
        before.append(_plain_attributes(stage))
    for call in omega:
        answers = set()
        changes = False
        for way, plain in zip(ways, before, strict=True):
            made = stage.run_sequence(root, (*way, call))
            changes = changes or _plain_attributes(stage) != plain
            answers.add(made.calls[-1].happened)
        if not changes and len(answers) > 1:
            return True
    return False


def _plain_attributes(stage: Stage) -> dict[str, Any]:
    attributes = attributes_of(stage.last_sout)
    return {
        name: value
        for name, value in attributes.items()
        if not name.startswith("_") and name not in stage.without and isinstance(value, _SCALARS)
    }


def public_fields(stage: Stage, root: MethodCall, ways: list[tuple[MethodCall, ...]]) -> tuple[str, ...]:
    """Public attributes that hold plain values or containers, for a class that has no other way to be looked at."""
    if stage.subject.is_module:
        return ()
    names: dict[str, bool] = {}
    for way in ways:
        stage.run_sequence(root, (*way, _NOTHING))
        for name, value in attributes_of(stage.last_sout).items():
            if not name.startswith("_") and name not in stage.without:
                plain = isinstance(value, (*_SCALARS, list, dict, set, tuple))
                names[name] = names.get(name, True) and plain
    return tuple(sorted(name for name, plain in names.items() if plain))
