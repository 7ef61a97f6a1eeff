"""Macro-steps: one task runs, alone, until it ends, suspends or blocks (seed 000 Fig. 1 and 3, seed 002 Fig.
17).

The same machine runs known and unknown data: an operation on known values never asks the solver. Where
execution can go more than one way (an unknown condition, constructor, receiver), `choose` is asked; a
macro-step is run once for every sequence of choices, from the same starting state, which costs less than
copying half-run tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from treadle.abs.language.model import Class, Constructor
from treadle.abs.machine.code import BLOCKED, ENDED, SUSPENDED, Code, Env
from treadle.abs.machine.criteria import Bounds, CriterionReached, EndlessLoop, OrderSelection
from treadle.abs.machine.effects import Calls
from treadle.abs.machine.path import PathConditions
from treadle.abs.machine.policies import TaskPolicy
from treadle.abs.machine.state import ActorTask, State, TakenStep
from treadle.abs.machine.unknowns import Unknowns
from treadle.abs.machine.values import FailedFuture, Fut, Interned, ObjectRef, Value
from treadle.core.errors import Unsupported

# Turns of loops in one step from which on it is asked whether they lead anywhere: short loops do not pay for it.
LONG = 1024

Observer = Callable[[str, Any], None]


class Thrown(Exception):
    """An ABS exception on its way to a handler."""

    def __init__(self, value: Value) -> None:
        super().__init__(str(value))
        self.value = value


class RefusedHere(Unsupported):
    """What a task came to and Treadle does not execute, with file and line."""


class Infeasible(Exception):
    """The choices made so far contradict each other: nothing runs this way."""


class ActorMachine:
    """A compiled program with the tables of one exploration."""

    def __init__(self, image: Image, bounds: Bounds, selection: OrderSelection, domain: tuple[int, int] | None) -> None:
        self.image = image
        self.bounds = bounds
        self.selection = selection
        self.paths = PathConditions(domain)
        self.interned = Interned()
        self.unknowns = Unknowns(self)
        # a `new` may make one actor more than a call on an unknown receiver (the counting of the published
        # figures)
        self.actor_limit = bounds.actors
        self.policies: dict[ObjectRef, TaskPolicy] = {}  # of objects whose `new` names one
        self._of_class: dict[str, TaskPolicy] = dict(selection.of_class)
        self.observer: Observer | None = None
        self.entry = -1  # key of the task under test, which does not count as a task switch

    def policy(self, actor: ObjectRef) -> TaskPolicy:
        """In which order the actor takes its tasks: as was asked for, else as the model says."""
        asked = self._of_class.get(actor.cls.name) or self.selection.tasks
        return asked if asked != "all" else self.policies.get(actor) or self.image.policies.get(actor.cls, "all")

    @property
    def any_order(self) -> bool:
        """Whether every actor may take its tasks in any order."""
        asked = {self.selection.tasks, *self._of_class.values()} | self.image.policies_named
        return self.selection.objects != "round-robin" and asked == {"all"}

    def inside_a_step(self, state: State, task: ActorTask, group: ObjectRef) -> bool:
        """Whether the task goes on where a call on its own actor has returned, which is no task switch."""
        return group in state.next and task.waiting is not None

    def macro_step(self, state: State, task: ActorTask) -> Iterator[State | CriterionReached | RefusedHere]:
        """Every way the task can run from here: the states after it, or what ended the way."""
        for run in self._ways(state):
            try:
                yield run.execute(task)
            except CriterionReached as cut:
                cut.picks = tuple(run.picks)
                yield cut
            except RefusedHere as refused:
                yield refused
            except Infeasible:
                pass

    def step_again(self, state: State, task: ActorTask, picks: tuple[int, ...]) -> State:
        """The one way the task runs on known data, with these results of `random`."""
        return MacroStep(self, state, list(picks)).execute(task)

    def cases_of(self, state: State, question: Callable[[MacroStep], Value]) -> list[tuple[State, Value]]:
        """Ask a question whose answer may depend on unknowns: every answer, with the state in which it is
        the answer."""
        found: list[tuple[State, Value]] = []
        for run in self._ways(state):
            try:
                found.append((run.state, question(run)))
            except (Infeasible, CriterionReached, Thrown):
                pass
        return found

    def _ways(self, state: State) -> Iterator[MacroStep]:
        """A run for each way of what is not known, one after the other."""
        choices: list[int] = []
        while True:
            run = MacroStep(self, state, choices)
            yield run
            if not run.next_choices():
                return
            choices = run.choices


class Image:
    """The compiled program: what does not change between explorations."""

    def __init__(self) -> None:
        self.methods: dict[tuple[Class, str], Code] = {}
        self.creation: dict[Class, Code] = {}  # field initialisers and init block
        self.main: Code | None = None
        self.policies: dict[Class, TaskPolicy] = {}  # what classes say about the order of tasks
        self.constructors: dict[str, Constructor] = {}
        self.implementing: dict[Any, list[Class]] = {}
        self.calls: Calls | None = None  # filled by effects.Calls.of

    @property
    def policies_named(self) -> set[TaskPolicy]:
        """Every policy that a class or a `new` names."""
        codes = [*self.methods.values(), *self.creation.values(), *([self.main] if self.main else [])]
        return set(self.policies.values()).union(*(code.policies for code in codes))

    def constant(self, name: str) -> Value:
        """A constructor of the standard library without arguments: Unit, an exception."""
        return (self.constructors[name],)


class MacroStep:
    """One macro-step under way."""

    __slots__ = (
        "_earlier",
        "_next_look",
        "_position",
        "_widths",
        "bounds",
        "choices",
        "depth",
        "fields",
        "guard",
        "image",
        "machine",
        "picks",
        "result",
        "resume",
        "serial",
        "sides",
        "state",
        "steps",
        "target",
        "task",
        "this",
    )

    def __init__(self, machine: ActorMachine, state: State, choices: list[int]) -> None:
        self.machine = machine
        self.image = machine.image
        self.bounds = machine.bounds
        self.state = state.copy()
        self.choices = choices
        self._position = 0
        self._widths: list[int] = []
        self.depth: dict[Any, int] = {}
        self.result: Value = None
        self.guard: Any = None
        self.resume = 0
        self.serial = 0
        self.steps = 0
        self._next_look = LONG
        self._earlier: dict[int, tuple[Env, tuple[Any, ...]]] = {}  # of each loop a turn since the last look
        self.picks: list[int] = []  # what `random` gave
        self.sides: list[tuple[Code, int, int]] = []  # branches passed, and where they led
        self.fields: list[Value] = []

    # ---- choices

    def choose(self, width: int) -> int:
        """One of `width` ways to go on; the caller sees all of them, one macro-step each."""
        position = self._position
        self._position = position + 1
        self._widths.append(width)
        if position < len(self.choices):
            return self.choices[position]
        self.choices.append(0)
        return 0

    def next_choices(self) -> bool:
        """Advance to the next sequence of choices, as an odometer does; False when all have been seen."""
        choices, widths = self.choices[: self._position], self._widths
        while choices and choices[-1] + 1 >= widths[len(choices) - 1]:
            choices.pop()
        if not choices:
            return False
        choices[-1] += 1
        self.choices = choices
        return True

    def truth(self, condition: Value) -> bool:
        """Decide a condition: known, forced by the path, or a choice that joins the path."""
        if condition is True or condition is False:
            return condition
        yes, no = self.state.path.split(condition)
        if yes is None:
            return False
        if no is None:
            return True
        if self.choose(2) == 0:
            self.state.path = yes
            return True
        self.state.path = no
        return False

    def assume(self, condition: Value) -> None:
        """Add a condition that must hold on this way."""
        path = self.state.path.assume(condition)
        if path is None:
            raise Infeasible
        self.state.path = path

    # ---- running a task

    def execute(self, task: ActorTask) -> State:
        """Run the task until it ends, suspends or blocks; the state after it."""
        state = self.state
        this = task.this
        group = state.groups.get(this, this) if state.groups else this
        inside = self.machine.inside_a_step(state, task, group)
        if group in state.next:
            state.next = {g: key for g, key in state.next.items() if g is not group}
        if group in state.active:  # it never gave the actor away: no switch
            state.active = {g: t for g, t in state.active.items() if g is not group}
        else:
            state.queues[group] = tuple([t for t in state.queues[group] if t is not task])
            if (task.key != self.machine.entry or task.pc) and not inside:
                state.switches[this] = state.switches.get(this, 0) + 1
        self.this, self.task, self.serial = this, task, task.serial
        self.fields = list(state.fields[this])
        env: Env = list(task.env)
        outcome = self.go(task.code, task.pc, env)
        state.fields[this] = tuple(self.fields)
        self._settle(task, env, outcome, group)
        state.last = TakenStep(state.last, task, tuple(self.picks), tuple(self.sides))
        return state

    def go(self, code: Code, pc: int, env: Env) -> int:
        """The instruction loop."""
        instructions = code.instructions
        while pc >= 0:
            try:
                while pc >= 0:
                    at = pc
                    pc = instructions[pc](self, env)
            except CriterionReached as cut:
                cut.place = cut.place or code.place(at)
                cut.at = cut.at or f"{code.file}:{code.lines[at]}"
                raise
            except RefusedHere:
                raise
            except Unsupported as refused:
                raise RefusedHere(f"{code.file}:{code.lines[at]}: {refused}") from None
            except (Thrown, RecursionError) as problem:
                thrown = problem if isinstance(problem, Thrown) else self.throw("StackOverflowException")
                value = thrown.value
                handler = code.handlers.get(at)
                if handler is None:
                    self.result = FailedFuture(value, code.place(at))
                    return ENDED
                pc, slot = handler
                env[slot] = value
        return pc

    def _settle(self, task: ActorTask, env: Env, outcome: int, group: ObjectRef) -> None:
        state = self.state
        if outcome == ENDED:
            if task.wanted or type(self.result) is FailedFuture:
                state.futures[self.machine.interned.future(task.key)] = self.result
            self._return_to_caller(group)
            return
        stopped = ActorTask(
            task.key, task.this, task.code, self.resume, tuple(env), self.serial, self.guard, task.wanted
        )
        if outcome == SUSPENDED:
            state.queues[group] = (*state.queues[group], stopped)
            if group not in state.next:
                self._count_giving_away(stopped)
        else:
            assert outcome == BLOCKED
            state.active = {**state.active, group: stopped}

    def _count_giving_away(self, stopped: ActorTask) -> None:
        """Giving the actor away counts as a switch: waiting is not free under a task limit (seed 001, Example 2).

        It is cut where it is one too many, so that whether a run is cut does not depend on who waits last.
        """
        switches = self.state.switches
        count = switches[stopped.this] = switches.get(stopped.this, 0) + 1
        if self.bounds.tasks is not None and count > self.bounds.tasks:
            cut = CriterionReached("task")
            cut.place = stopped.code.place(stopped.pc)
            raise cut

    def _return_to_caller(self, group: ObjectRef) -> None:
        """A task of the same actor that waits for what has just ended goes on before all others."""
        state = self.state
        if self.machine.selection.self_calls != "at-once":
            return
        for task in state.queues.get(group, ()):
            if task.waiting is None or not task.waiting.stacked:
                continue
            if all(claim(self, list(task.env)) in state.futures for claim in task.waiting.claims):
                state.next = {**state.next, group: task.key}

    def runs_next(self, group: ObjectRef, called: Fut) -> None:
        """A call on the own actor: nothing else of it runs before the called task (unless calls are awaited)."""
        if self.machine.selection.self_calls == "at-once":
            self.state.next = {**self.state.next, group: called.key}

    def tick(self) -> None:
        """One turn of a loop, or call of a function."""
        self.steps += 1
        if self.bounds.steps is not None and self.steps > self.bounds.steps:
            raise CriterionReached("loop")

    def check_progress(self, code: Code, pc: int, env: Env) -> None:
        """Refuse a loop that comes back to where it was: what is known, drawn, made and held is the same.

        Compared is with a turn that is ever further back (Brent's way to find a cycle), so that a repetition of any
        length is noticed in the end.
        """
        here = self._decides(code, pc, env)
        env_then, then = self._earlier.get(pc, (None, ()))
        try:
            repeats = env is env_then and here == then
        except RecursionError:  # values too deep to compare
            repeats = False
        if repeats:
            raise EndlessLoop(code.loops[pc])
        if self.steps >= self._next_look:
            self._earlier.clear()
            self._next_look = 2 * self.steps
        self._earlier.setdefault(pc, (env, here))

    def begin_loop(self, pc: int) -> None:
        """A loop is compared with earlier turns since it was begun: what is around it may have changed before that."""
        self._earlier.pop(pc, None)

    def _decides(self, code: Code, pc: int, env: Env) -> tuple[Any, ...]:
        """All on which another turn of a loop depends, but for the counters of loops, which only a bound looks at."""
        state = self.state
        known = state.path, len(state.bindings), len(state.not_null), len(state.distinct), len(state.assumed)
        around = self._position, known, list(self.fields)
        slots = code.deciding.get(pc)
        if slots is not None:
            return [env[slot] for slot in slots], *around
        held = [value for slot, value in enumerate(env) if slot not in code.counters]
        return self.serial, held, *around

    # ---- what a task does to others

    def fresh(self) -> int:
        self.serial += 1
        return self.machine.interned.key(self.task.key, self.serial)

    def send(self, receiver: Value, method: str, args: list[Value], point: int, wanted: bool = True) -> Fut:
        """Asynchronous call: a new task in the receiver's queue (rules asy of seed 000 Fig. 3)."""
        known = type(receiver) is ObjectRef
        target: ObjectRef = receiver if known else self.machine.unknowns.receiver(self, receiver, point)
        state = self.state
        code = self.image.methods[target.cls, method]
        key = self.fresh()
        env = (target, *args, *[None] * (code.slots - 1 - len(args)))
        task = ActorTask(key, target, code, 0, env, 0, None, wanted or code.uses_destiny)
        group = state.groups.get(target, target) if state.groups else target
        state.queues[group] = (*state.queues.get(group, ()), task)
        self.target = target
        if self.machine.observer is not None:
            self.machine.observer("call", (self.this, task))
        return self.machine.interned.future(key)

    def create(
        self, cls: Class, args: list[Value], local: bool, point: int, policy: TaskPolicy | None = None
    ) -> ObjectRef:
        """A new object: fields, initialisation block, then `run` as its first task."""
        self.count_actor(point, 1)
        key = self.fresh()
        ref = self.machine.interned.ref(key, cls, False)
        state = self.state
        if local:
            state.groups = {**state.groups, ref: state.groups.get(self.this, self.this)}
        else:
            state.queues[ref] = ()
        if policy is not None:
            self.machine.policies[ref] = policy
        state.fields[ref] = tuple(args)  # its place among the objects is before those that its own block makes
        if self.machine.observer is not None:
            self.machine.observer("new", (self.this, ref))
        self._initialise(ref, cls, args)
        if (cls, "run") in self.image.methods and not self.image.methods[cls, "run"].params:
            self.send(ref, "run", [], point, wanted=False)
        return ref

    def count_actor(self, point: int, extra: int) -> None:
        """Criterion actor-number: actors made at one program point."""
        limit = self.machine.actor_limit
        made = self.state.made.get(point, 0) + 1
        if limit is not None and made > limit + extra:
            raise CriterionReached("actor")
        self.state.made = {**self.state.made, point: made}

    def _initialise(self, ref: ObjectRef, cls: Class, args: list[Value]) -> None:
        code = self.image.creation[cls]
        outer = (self.this, self.task, self.serial, self.fields)
        env: Env = [ref, *[None] * (code.slots - 1)]
        self.this, self.fields = ref, [*args, *[None] * (len(cls.fields) - len(args))]
        self.task = ActorTask(self.machine.interned.key("init", ref.key), ref, code, 0, (), 0, None)
        self.serial = 0
        outcome = self.go(code, 0, env)
        failed = self.result if outcome == ENDED and isinstance(self.result, FailedFuture) else None
        self.state.fields[ref] = tuple(self.fields)
        if outcome != ENDED:
            group = self.state.groups.get(ref, ref)
            self._settle(self.task, env, outcome, group)
        self.this, self.task, self.serial, self.fields = outer
        self.result = None
        if failed is not None:
            raise Thrown(failed.exception)

    def throw(self, name: str) -> Thrown:
        return Thrown(self.image.constant(name))
