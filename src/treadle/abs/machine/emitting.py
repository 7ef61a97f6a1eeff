"""Expressions with effects to instructions: creation, calls, get and await, in the order in which they happen.

An effect inside an expression (`x = o.m() + 1`) is given an instruction of its own before the statement; a synchronous
call becomes an asynchronous one, a wait that gives the actor away if the receiver shares it, and a blocking get (seed
002, section 4.1). Beside each instruction stands what it does to the actor (`effects`), for the reductions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from treadle.abs.language import syntax as S
from treadle.abs.language.check import children
from treadle.abs.language.errors import AbsPlace, unsupported
from treadle.abs.language.types import Type, pruned
from treadle.abs.machine.code import BLOCKED, SUSPENDED, Code, Env, Exp, Instruction, TaskWait, WaitsFor
from treadle.abs.machine.effects import CodeEffect, effect_of, fields_read
from treadle.abs.machine.expressions import Compilation, ExpCompiler, Slots
from treadle.abs.machine.guards import holds
from treadle.abs.machine.machine import Thrown
from treadle.abs.machine.policies import policy_named
from treadle.abs.machine.values import FailedFuture, Fut, ObjectRef

if TYPE_CHECKING:
    from treadle.abs.machine.machine import MacroStep

_PENDING = object()
# expressions that do something
EFFECTS = (S.NewObject, S.Send, S.SyncCall, S.AwaitCall, S.GetFuture)


class Label:
    """A place not emitted yet."""

    __slots__ = ("pc",)

    def __init__(self) -> None:
        self.pc = -99


class Emitter:
    """Code under construction."""

    def __init__(self, code: Code, exps: ExpCompiler, points: Any) -> None:
        self.code = code
        self.points = points
        self.slots = Slots(["this", *(name for name, _ in code.params)])
        self.exps = Compilation(exps, self.slots, code.cls)
        self.field_index = {name: i for i, name in enumerate(code.cls.field_names())} if code.cls else {}
        self._finals: list[S.Statement] = []  # finally blocks around the current statement
        self._unhandled: set[int] = set()  # copies of finally blocks: not covered by their own try

    # ---- emitting

    @property
    def _here(self) -> int:
        return len(self.code.instructions)

    def _emit(
        self, instruction: Instruction, effect: CodeEffect, at: AbsPlace | None, jumps: tuple[Any, ...] = ()
    ) -> int:
        self.code.instructions.append(instruction)
        self.code.effects.append((effect, jumps))
        self.code.file = self.code.file or (at.source.name if at is not None else "")
        before = self.code.lines[-1] if self.code.lines else 0
        self.code.lines.append(at.line if at is not None else before)
        return self._here - 1

    def _temporary(self) -> int:
        return self.slots.add(f"${len(self.slots.names)}")

    def _store(self, slot: int, value: Exp, effect: CodeEffect, at: AbsPlace) -> None:
        following = self._here + 1

        def store(run: MacroStep, env: Env) -> int:
            env[slot] = value(run, env)
            return following

        self._emit(store, effect, at)

    def _store_field(self, index: int, value: Exp, effect: CodeEffect, at: AbsPlace) -> None:
        following = self._here + 1

        def store_field(run: MacroStep, env: Env) -> int:
            run.fields[index] = value(run, env)
            return following

        self._emit(store_field, effect, at)

    def _jump(self, label: Label) -> None:
        self._emit(lambda run, env: label.pc, CodeEffect(), None, (label,))

    def _branch(self, condition: Exp, otherwise: Label, effect: CodeEffect, at: AbsPlace) -> None:
        following = self._here + 1

        def branch(run: MacroStep, env: Env) -> int:
            return following if run.truth(condition(run, env)) else otherwise.pc

        self._fork(branch, otherwise, effect, at)

    def _fork(self, way: Instruction, otherwise: Label, effect: CodeEffect, at: AbsPlace) -> None:
        """An instruction that goes to the next one or elsewhere; which way it took is noted, for coverage."""
        code, here = self.code, self._here

        def fork(run: MacroStep, env: Env) -> int:
            to = way(run, env)
            run.sides.append((code, here, to))
            return to

        code.forks.append(here)
        self._emit(fork, effect, at, (otherwise, here + 1))

    # ---- expressions with effects

    def _value(self, exp: S.Exp) -> Exp:
        """A closure for the expression; effects inside become instructions first."""
        return self.exps.exp(self._pure(exp))

    def _pure(self, exp: S.Exp) -> S.Exp:
        if isinstance(exp, EFFECTS):
            return self._read(self._effect(exp), exp)
        if not any(_has_effect(child) for child in children(exp)):
            return exp
        match exp:
            case S.Con(args=args) | S.FunctionCall(args=args):
                copy: S.Exp = replace(exp, args=[self._pure(a) for a in args])
                if isinstance(exp, S.Con) and isinstance(copy, S.Con):
                    copy.con = exp.con
                if isinstance(exp, S.FunctionCall) and isinstance(copy, S.FunctionCall):
                    copy.function = exp.function
            case S.PartialCall(args=args):
                copy = replace(exp, args=[self._pure(a) for a in args])
                copy.function, copy.given = exp.function, exp.given
            case S.Unary():
                copy = replace(exp, operand=self._pure(exp.operand))
            case S.Binary():
                copy = replace(exp, left=self._pure(exp.left), right=self._pure(exp.right))
            case S.As():
                copy = replace(exp, value=self._pure(exp.value))
                copy.target = exp.target
            case _:
                raise AssertionError(exp)
        copy.type = exp.type
        return copy

    def _read(self, slot: int, exp: S.Exp) -> S.Exp:
        var = S.Var(self.slots.names[slot], at=exp.at)
        var.kind, var.type = "local", exp.type
        return var

    def _effect(self, exp: S.Exp) -> int:
        """Instructions for one effect; the slot its value is in."""
        match exp:
            case S.NewObject():
                return self._new(exp)
            case S.Send():
                slot = self._temporary()
                self._send(exp, slot)
                return slot
            case S.GetFuture():
                future = self._value(exp.future)
                wanted = WaitsFor(result=exp.type)
                return self._get(future, self._claim_slot(exp.future), fields_read(exp.future), exp.at, wanted)
            case S.SyncCall():
                future_slot, target_slot = self._temporary(), self._temporary()
                self._send(exp, future_slot, target_slot)
                wanted = self._callee(exp)
                self._await_if_shared(future_slot, target_slot, exp.at, wanted)
                return self._get(lambda run, env: env[future_slot], future_slot, frozenset(), exp.at, wanted)
            case S.AwaitCall():
                future_slot = self._await_end(exp)
                return self._get(lambda run, env: env[future_slot], future_slot, frozenset(), exp.at)
        raise AssertionError(exp)

    def _await_end(self, exp: S.AwaitCall) -> int:
        future_slot = self._temporary()
        self._send(exp, future_slot)
        self._await([lambda run, env: env[future_slot]], [future_slot], [], frozenset(), exp.at, self._callee(exp))
        return future_slot

    @staticmethod
    def _callee(exp: S.SyncCall | S.AwaitCall) -> WaitsFor:
        receiver = pruned(exp.receiver.type)
        assert isinstance(receiver, Type)
        return WaitsFor(receiver.decl, exp.method)

    def _new(self, exp: S.NewObject) -> int:
        args = [self._value(a) for a in exp.args]
        slot, point = self._temporary(), next(self.points)
        cls, local = exp.cls, exp.kind == "local"
        if "Foreign" in cls.annotations:
            raise unsupported(f"an object of the foreign class '{cls.name}' (ABS.FLI)", exp.at)
        policy = policy_named(exp.scheduler)
        if policy is not None:
            self.code.policies.add(policy)
        following = self._here + 1

        def new(run: MacroStep, env: Env) -> int:
            env[slot] = run.create(cls, [a(run, env) for a in args], local, point, policy)
            return following

        # an initialisation block runs inside this step: it may look at futures and, in the same group, hold the actor
        looks = cls.init is not None
        made = CodeEffect(creates=frozenset({cls}), polls=looks, blocks=looks and local)
        self._emit(new, effect_of(*exp.args).joined(made), exp.at)
        if local:
            self.code.makes_local.add(cls)
        if local and looks:
            self._await_creation(slot, exp.at)
        return slot

    def _await_creation(self, slot: int, at: AbsPlace) -> None:
        """An object of the same group whose initialisation block has to wait: its maker waits for the block's end."""
        here, following = self._here, self._here + 1

        def initialised(run: MacroStep, env: Env) -> Fut:
            return run.machine.interned.future(run.machine.interned.key("init", env[slot].key))

        waiting = TaskWait([initialised], None, [], stacked=True)

        def await_creation(run: MacroStep, env: Env) -> int:
            group = run.state.groups[env[slot]]
            queue = (*run.state.queues[group], *(t for home, t in run.state.active.items() if home is group))
            if not any(t.this is env[slot] and t.code is run.image.creation[env[slot].cls] for t in queue):
                return following
            run.guard, run.resume = waiting, here
            return SUSPENDED

        self._emit(await_creation, CodeEffect(polls=True, releases=True), at)

    def _send(self, exp: S.Send | S.SyncCall | S.AwaitCall, slot: int | None, target_slot: int | None = None) -> None:
        receiver = self._value(exp.receiver)
        args = [self._value(a) for a in exp.args]
        point = next(self.points)
        method, wanted = exp.method, slot is not None
        following = self._here + 1

        def send(run: MacroStep, env: Env) -> int:
            future = run.send(receiver(run, env), method, [a(run, env) for a in args], point, wanted)
            if slot is not None:
                env[slot] = future
            if target_slot is not None:
                env[target_slot] = run.target
            return following

        known = pruned(exp.receiver.type)
        assert isinstance(known, Type)
        effect = effect_of(exp.receiver, *exp.args)
        self._emit(send, effect.joined(CodeEffect(calls=frozenset({(known.decl, method)}))), exp.at)

    def _get(
        self, future: Exp, claim_slot: int | None, reads: frozenset[str], at: AbsPlace, wanted: WaitsFor | None = None
    ) -> int:
        """The value of a future; `wanted` says whose, and is None where the future is known to be there."""
        slot = self._temporary()
        here, following = self._here, self._here + 1
        waiting = TaskWait([future], None if claim_slot is None else [claim_slot], [])

        def get(run: MacroStep, env: Env) -> int:
            wanted = future(run, env)
            if wanted is None:
                raise run.throw("NullPointerException")
            value = run.state.futures.get(wanted, _PENDING)
            if value is _PENDING:
                run.guard, run.resume = waiting, here
                return BLOCKED
            if type(value) is FailedFuture:
                run.state.observed = run.state.observed | {wanted}
                raise Thrown(value.exception)
            env[slot] = value
            return following

        self._emit(get, CodeEffect(reads=reads, blocks=wanted is not None, polls=True), at)
        if wanted is not None:
            self.code.waits[here] = wanted
        return slot

    def _await_if_shared(self, future_slot: int, target_slot: int, at: AbsPlace, wanted: WaitsFor) -> None:
        """`if (this == y) await w?`: an actor must not wait for itself."""
        here, following = self._here, self._here + 1
        waiting = TaskWait([lambda run, env: env[future_slot]], [future_slot], [], stacked=True)

        def await_if_shared(run: MacroStep, env: Env) -> int:
            groups = run.state.groups
            mine: ObjectRef = env[0]
            theirs, called = env[target_slot], env[future_slot]
            group = groups.get(mine, mine)
            if group is not groups.get(theirs, theirs) or called in run.state.futures:
                return following
            run.runs_next(group, called)
            run.guard, run.resume = waiting, here
            return SUSPENDED

        self._emit(await_if_shared, CodeEffect(polls=True, releases=True), at)
        self.code.waits[here] = wanted

    def _claim_slot(self, exp: S.Exp) -> int | None:
        return self.slots.find(exp.name) if isinstance(exp, S.Var) and exp.kind == "local" else None

    def _await(
        self,
        claims: list[Exp],
        slots: list[int] | None,
        conditions: list[Exp],
        reads: frozenset[str],
        at: AbsPlace,
        wanted: WaitsFor | None = None,
    ) -> None:
        here, following = self._here, self._here + 1
        waiting = TaskWait(claims, slots, conditions)

        def await_(run: MacroStep, env: Env) -> int:
            if holds(waiting, run, env):
                return following
            run.guard, run.resume = waiting, here
            return SUSPENDED

        self._emit(await_, CodeEffect(reads=reads, polls=bool(claims), releases=True), at)
        self.code.waits[here] = WaitsFor() if conditions or wanted is None else wanted


def _has_effect(exp: S.Exp) -> bool:
    return isinstance(exp, EFFECTS) or any(_has_effect(child) for child in children(exp))
