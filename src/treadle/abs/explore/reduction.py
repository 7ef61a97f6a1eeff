"""Orders that need not be tried: stable actors (seed 000, Theorem 1), independent tasks, and exact comparison.

Everything here answers "may the other order be left out?" and is right to say no. Independence comes in two strengths:
from the program text (fields read and written), and exact: both orders are run from the state at hand and must lead to
states that are equal for every input on the path.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from treadle.abs.language.model import Class
from treadle.abs.machine.code import Code
from treadle.abs.machine.criteria import SOUND_REDUCTIONS
from treadle.abs.machine.effects import Calls, CodeEffect, remaining, targets
from treadle.abs.machine.machine import ActorMachine, MacroStep
from treadle.abs.machine.polynomial import identical
from treadle.abs.machine.state import ActorTask, State
from treadle.abs.machine.values import FailedFuture, Fut, ObjectRef, Unknown, Value, parts
from treadle.symbolic.expr import terms as E
from treadle.symbolic.expr.terms import Expr


class Reduction:
    """The reductions for one machine."""

    def __init__(self, machine: ActorMachine) -> None:
        self._machine = machine
        self.calls = Calls.of(machine.image)
        reduce = machine.selection.reduce
        self._exploits = reduce not in (
            "stable",
            "paper-stable",
        )  # condition 2 is about independence, which "stable" ignores
        self._weak = reduce not in SOUND_REDUCTIONS
        self._futures = not self._weak
        self._chains: dict[tuple[Code, int, Class], tuple[frozenset[str], frozenset[Class]]] = {}
        self._awaits: dict[tuple[Code, int, bool], bool] = {}
        self._independent: dict[tuple[int, int, int, int, bool], bool] = {}

    # ---- independence from the text

    def independent(self, state: State, one: ActorTask, two: ActorTask) -> bool:
        """Whether the two tasks can be exchanged wherever both can run, judging by the program text."""
        if self._may_see(state, one, two) or self._may_see(state, two, one):
            return False
        if self._group(state, one) is not self._group(state, two):
            return True
        if self._is_called(state, one) or self._is_called(state, two):
            return False  # its caller goes on as soon as it ends, before the other one
        key = (id(one.code), one.pc, id(two.code), two.pc, one.this is two.this)
        found = self._independent.get(key)
        if found is None:
            found = self._independent[key] = self._apart(
                remaining(one.code, one.pc), remaining(two.code, two.pc), one.this is two.this
            )
        return found

    @staticmethod
    def _apart(one: CodeEffect, two: CodeEffect, same_object: bool) -> bool:
        if one.blocks or two.blocks:
            return False  # a task that holds the actor while it waits can keep the other one from ever running
        if not same_object:
            return True
        return not (one.writes & (two.reads | two.writes) or two.writes & one.reads)

    @staticmethod
    def _group(state: State, task: ActorTask) -> ObjectRef:
        return state.groups.get(task.this, task.this) if state.groups else task.this

    def _is_called(self, state: State, task: ActorTask) -> bool:
        """Whether a task of the same actor has called this one, or made its object, and waits for its end."""
        if self._machine.selection.self_calls != "at-once":
            return False
        future = self._machine.interned.future(task.key)
        for caller in state.queues[self._group(state, task)]:
            if caller.waiting is not None and caller.waiting.stacked:
                run, env = MacroStep(self._machine, state, []), list(caller.env)
                if any(claim(run, env) is future for claim in caller.waiting.claims):
                    return True
        return False

    def _may_see(self, state: State, filler: ActorTask, poller: ActorTask) -> bool:
        """Whether the one task's end can be noticed by the other one looking at a future."""
        if not remaining(poller.code, poller.pc).polls:
            return False
        future = self._machine.interned.future(filler.key)
        places: list[Value] = [*poller.env, *state.fields[poller.this], *state.futures.values()]
        return any(part is future for place in places for part in parts(state.resolved(place)))

    # ---- stability

    def stable(self, state: State, group: ObjectRef) -> bool:
        """Whether nobody else can give this actor a task that matters for the order of the ones it has.

        Theorem 1 knows no futures. An `await` goes on at once if its future is there and else gives its actor away, so
        that others may notice when a task of this actor ends.
        """
        own = state.queues[group]
        members = {group, *(ref for ref, home in state.groups.items() if home is group)}
        others = self._others(state, group)
        if self._futures and self._end_is_noticed(state, group, others, members):
            return False
        if self._futures and self._machine.bounds.tasks is not None:
            tasks = [state.active[group]] if group in state.active else own
            if any(self._may_wait(state, task, own) for task in tasks):
                return False
        if group in state.active or group in state.next:
            return True  # it can only go on with the task that holds it
        disturbing = self._disturbing(others, {ref.cls for ref in members}, own)
        if disturbing:
            if self._weak:
                if any(self._known_on_chain(state, others, t, members) for t in disturbing):
                    return False
            elif self._reachable(state, [value for t in others for value in t.env], members, set()):
                return False
        waiting = [task for task in own if task.waiting is not None] if self._futures else ()
        return all(self._resumes_harmlessly(state, task, own) for task in waiting)

    def weight(self, state: State, group: ObjectRef) -> int:
        """How many tasks of others speak against this actor being stable, by the text alone (seed 002, section 4.1)."""
        classes = {group.cls, *(ref.cls for ref, home in state.groups.items() if home is group)}
        return len(self._disturbing(self._others(state, group), classes, state.queues[group]))

    @staticmethod
    def _others(state: State, group: ObjectRef) -> list[ActorTask]:
        others = [t for home, queue in state.queues.items() if home is not group for t in queue]
        return others + [task for home, task in state.active.items() if home is not group]

    def _disturbing(self, others: list[ActorTask], classes: set[Class], own: tuple[ActorTask, ...]) -> list[ActorTask]:
        return [t for t in others if any(self._may_matter(t, cls, own) for cls in classes)]

    def _may_matter(self, task: ActorTask, cls: Class, own: tuple[ActorTask, ...]) -> bool:
        """Conditions 1 and 2: a chain of calls leads to the class, and what arrives depends on what is there."""
        methods, _ = self._chain(task, cls)
        if not self._exploits:
            return bool(methods)
        return not all(self._method_apart(cls, method, own) for method in methods)

    def _chain(self, task: ActorTask, target: Class) -> tuple[frozenset[str], frozenset[Class]]:
        """Methods of the target class that the task can cause, and the classes on the way."""
        owner = task.this.cls
        key = (task.code, task.pc, target)
        found = self._chains.get(key)
        if found is None:
            first = self.calls.of_effect(remaining(task.code, task.pc))
            methods = frozenset(name for cls, name in self.calls.reach(first) if cls is target)
            between = frozenset({owner, *(cls for cls, _ in self.calls.leading_to(first, target))})
            found = self._chains[key] = (methods, between)
        return found

    def _method_apart(self, cls: Class, method: str, own: tuple[ActorTask, ...]) -> bool:
        effect = remaining(self._machine.image.methods[cls, method], 0)
        return all(self._apart(effect, remaining(t.code, t.pc), t.this.cls is cls) for t in own)

    def _end_is_noticed(self, state: State, group: ObjectRef, others: list[ActorTask], members: set[ObjectRef]) -> bool:
        """Whether others can come by an `await` of a future that a task of this actor fills.

        Who is waiting for it already goes on when it is there, whatever the order.
        """
        own = (*state.queues[group], *([state.active[group]] if group in state.active else ()))
        ends: set[ObjectRef | Fut] = {self._machine.interned.future(t.key) for t in own if t.wanted}
        if not ends or not any(self._awaits_later(t) for t in others):
            return False
        return self._reachable(state, [value for task in others for value in _held(task)], ends, members)

    def _may_wait(self, state: State, task: ActorTask, own: tuple[ActorTask, ...]) -> bool:
        """Whether an `await` of the task gives its actor away only if others are late.

        Going first then leads to the same states by one task switch more, which counts where switches are limited.
        """
        effect = remaining(task.code, task.pc)
        if not (effect.polls and (effect.releases or effect.creates)):
            return False
        here = {self._machine.interned.future(t.key) for t in own}
        places = [*_held(task), *state.fields[task.this], *state.futures.values()]
        found = {part for place in places for part in parts(state.resolved(place)) if type(part) is Fut}
        return not all(future in here or future in state.futures for future in found)

    def _awaits_later(self, task: ActorTask) -> bool:
        """Whether a task, or one that it causes, may come to an `await` of a future other than where it stands."""
        key = (task.code, task.pc, task.waiting is not None)
        found = self._awaits.get(key)
        if found is None:
            code = task.code
            starts = targets(task.pc, code.effects[task.pc][1]) if task.waiting is not None else [task.pc]
            rest = [remaining(code, pc) for pc in starts]
            caused = self.calls.reach(set().union(*(self.calls.of_effect(effect) for effect in rest)))
            rest += [remaining(self._machine.image.methods[method], 0) for method in caused]
            found = self._awaits[key] = any(effect.polls and (effect.releases or effect.creates) for effect in rest)
        return found

    def _reachable(self, state: State, held: list[Value], wanted: Set[ObjectRef | Fut], hidden: set[ObjectRef]) -> bool:
        """Whether those who hold these values can come to hold a wanted one, while the hidden objects do nothing.

        They know what their tasks and fields hold, what futures have brought, and whatever those objects know in turn.
        """
        seen = set(hidden)
        members = {value for value in wanted if isinstance(value, ObjectRef)}
        todo = list(held)
        while todo:
            value = state.resolved(todo.pop())
            kind = type(value)
            if kind is tuple:
                todo += value[1:]
            elif kind is ObjectRef:
                if value in wanted:
                    return True
                if value not in seen:
                    seen.add(value)
                    todo += state.fields.get(value, ())
            elif kind is Fut:
                if value in wanted:
                    return True
                if value in state.futures:
                    todo.append(state.futures[value])
            elif kind is FailedFuture:
                todo.append(value.exception)
            elif kind is Unknown and self._may_alias(members):
                return True
        return False

    def _known_on_chain(self, state: State, others: list[ActorTask], task: ActorTask, members: set[ObjectRef]) -> bool:
        """Condition 3 as it is published: only actors of the classes on a chain, and their tasks, are looked at."""
        carriers = frozenset().union(*(self._chain(task, ref.cls)[1] for ref in members))
        values: list[Value] = []
        for ref, fields in state.fields.items():
            if ref not in members and ref.cls in carriers:
                values += fields
        for other in others:
            if other.this.cls in carriers:
                values += other.env[1:]
        return any(
            part in members if type(part) is ObjectRef else type(part) is Unknown and self._may_alias(members)
            for value in values
            for part in parts(state.resolved(value))
        )

    def _may_alias(self, members: set[ObjectRef]) -> bool:
        """With aliasing an unknown object may be an assumed one, and so may its fields and parts of unknown data."""
        return self._machine.selection.alias and any(ref.assumed for ref in members)

    def _resumes_harmlessly(self, state: State, waiting: ActorTask, own: tuple[ActorTask, ...]) -> bool:
        """A task that waits for somebody else's future is like a task that may arrive."""
        assert waiting.waiting is not None
        if not waiting.waiting.claims:
            return True  # its condition is about fields, which only this actor's tasks change
        slots = waiting.waiting.claim_slots
        if slots is not None:
            pending = [f for f in (waiting.env[s] for s in slots) if f not in state.futures]
            here = {self._machine.interned.future(t.key) for t in own}
            if all(f in here for f in pending):
                return True  # filled already, or by a task of this very actor
        return all(self.independent(state, waiting, task) for task in own if task is not waiting)

    # ---- exact independence

    def exchangeable(self, state: State, one: ActorTask, two: ActorTask) -> bool:
        """Whether both orders of the two tasks lead to the same states from here, for every input on the path."""
        if self.independent(state, one, two):
            return True
        if self._group(state, one) is not self._group(state, two):
            return False
        first, second = self._both(state, one, two), self._both(state, two, one)
        if first is None or second is None:
            return False
        return all(self._agree(a, b) for a in first for b in second)

    def _both(self, state: State, one: ActorTask, two: ActorTask) -> list[State] | None:
        """Every way of running both, one directly after the other; None if that is not always possible."""
        found: list[State] = []
        for middle in self._machine.macro_step(state, one):
            home = self._group(state, one)
            if isinstance(middle, Exception) or home in middle.active or home in middle.next:
                return None
            if two.waiting is not None:
                return None  # whether it may go on can depend on the first: leave it dependent
            for end in self._machine.macro_step(middle, two):
                if isinstance(end, Exception):
                    return None
                found.append(end)
        return found

    def _agree(self, one: State, two: State) -> bool:
        """Whether two states are equal for all inputs that reach both."""
        path = one.path
        for condition in two.path.conditions:
            joint = path.assume(condition)
            if joint is None:
                return True  # no input reaches both
            path = joint
        if any(unknown in two.bindings and _exclude(v, two.bindings[unknown]) for unknown, v in one.bindings.items()):
            return True  # decided differently: no input reaches both
        same = (
            one.fields.keys() == two.fields.keys()
            and one.futures.keys() == two.futures.keys()
            and one.active.keys() == two.active.keys()
            and one.next == two.next
            and one.groups == two.groups
            and one.output == two.output
            and one.observed == two.observed
        )
        if not same:
            return False
        pairs: list[tuple[Value, Value]] = []
        for ref, fields in one.fields.items():
            pairs += zip(fields, two.fields[ref], strict=True)
        for future, value in one.futures.items():
            pairs.append((value, two.futures[future]))
        for group, queue in one.queues.items():
            mine, theirs = _by_key(queue), _by_key(two.queues.get(group, ()))
            if mine.keys() != theirs.keys():
                return False
            for key, task in mine.items():
                if task.pc != theirs[key].pc or task.code is not theirs[key].code:
                    return False
                pairs += zip(task.env, theirs[key].env, strict=True)
        return all(self._equal(one, two, a, b, path) for a, b in pairs)

    def _equal(self, one: State, two: State, left: Value, right: Value, path: object) -> bool:
        if left is right:
            return True
        left, right = one.resolved(left), two.resolved(right)
        if isinstance(left, FailedFuture) or isinstance(right, FailedFuture):
            if type(left) is not type(right) or left.place != right.place:
                return False
            left, right = left.exception, right.exception
        if type(left) is tuple and type(right) is tuple:
            return (
                left[0] is right[0]
                and len(left) == len(right)
                and all(self._equal(one, two, a, b, path) for a, b in zip(left[1:], right[1:], strict=True))
            )
        if isinstance(left, Expr) or isinstance(right, Expr):
            if isinstance(left, Unknown | ObjectRef | Fut | tuple | None) or isinstance(
                right, Unknown | ObjectRef | Fut | tuple | None
            ):
                return False
            if identical(left, right):
                return True
            if E.sort_of(left) is not E.sort_of(right):
                return False
            assert hasattr(path, "assume")
            different = path.assume(E.ne(left, right))
            return different is None
        return bool(left == right)


def _held(task: ActorTask) -> list[Value]:
    """What a task holds, without the futures that it waits for already."""
    slots = task.waiting.claim_slots if task.waiting is not None else None
    claimed = [task.env[slot] for slot in slots or ()]
    return [value for value in task.env if type(value) is not Fut or value not in claimed]


def _exclude(one: Value, two: Value) -> bool:
    """Whether an unknown cannot have been decided to be both: other constructors, null and an object, other classes."""
    if type(one) is tuple and type(two) is tuple:
        return one[0] is not two[0]
    if one is None or two is None:
        return isinstance(one, ObjectRef) or isinstance(two, ObjectRef)
    return type(one) is type(two) is ObjectRef and one.cls is not two.cls


def _by_key(queue: Iterable[ActorTask]) -> dict[int, ActorTask]:
    return {task.key: task for task in queue}
