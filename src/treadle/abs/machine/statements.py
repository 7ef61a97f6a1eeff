"""Statements to instructions, and a program to an `Image`.

An effect inside an expression (`x = o.m() + 1`) is given an instruction of its own before the statement; a synchronous
call becomes an asynchronous one, a wait that gives the actor away if the receiver shares it, and a blocking get (seed
002, section 4.1). Beside each instruction stands what it does to the actor (`effects`), for the reductions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any

from treadle.abs.language import syntax as S
from treadle.abs.language.check import children
from treadle.abs.language.errors import AbsPlace
from treadle.abs.language.model import Class, Program
from treadle.abs.language.types import AnyType, Type, pruned
from treadle.abs.machine.code import BLOCKED, ENDED, SUSPENDED, Code, Env, Exp, Instruction, TaskWait, WaitsFor
from treadle.abs.machine.criteria import CriterionReached
from treadle.abs.machine.defaults import default_value
from treadle.abs.machine.effects import CodeEffect, effect_of, fields_read
from treadle.abs.machine.expressions import Compilation, ExpCompiler, Slots
from treadle.abs.machine.guards import holds
from treadle.abs.machine.machine import Image, Thrown
from treadle.abs.machine.values import FailedFuture, Fut, Value
from treadle.core.errors import Unsupported
from treadle.symbolic.expr.terms import Expr

if TYPE_CHECKING:
    from treadle.abs.machine.machine import MacroStep

_PENDING = object()
_EFFECTS = (S.NewObject, S.Send, S.SyncCall, S.AwaitCall, S.GetFuture)


def compile_program(program: Program) -> Image:
    """Everything that can run, compiled."""
    image = Image()
    exps = ExpCompiler()
    points = count(1)
    for cls in program.classes:
        for ancestor in cls.supertypes():
            image.implementing.setdefault(ancestor, []).append(cls)
    for data in program.data:
        for con in data.constructors:
            image.constructors.setdefault(con.name, con)
    for cls in program.classes:
        for method in cls.own.values():
            code = Code(method.name, cls, method.params)
            image.methods[cls, method.name] = code
            _BodyCompiler(code, exps, points).body(method.body or [], cls.recover)
        image.creation[cls] = code = Code("new", cls, [])
        _BodyCompiler(code, exps, points).creation(cls)
    image.main = code = Code("main", None, [])
    _BodyCompiler(code, exps, points).body(program.main or [])
    return image


class _Label:
    """A place not emitted yet."""

    __slots__ = ("pc",)

    def __init__(self) -> None:
        self.pc = -99


class _BodyCompiler:
    def __init__(self, code: Code, exps: ExpCompiler, points: Any) -> None:
        self.code = code
        self.points = points
        self.slots = Slots(["this", *(name for name, _ in code.params)])
        self.exps = Compilation(exps, self.slots, code.cls)
        self.field_index = {name: i for i, name in enumerate(code.cls.field_names())} if code.cls else {}
        self._finals: list[S.Statement] = []  # finally blocks around the current statement
        self._unhandled: set[int] = set()  # copies of finally blocks: not covered by their own try

    # ---- whole bodies

    def body(self, statements: list[S.Statement], recover: Sequence[S.StatementBranch] = ()) -> None:
        self._block(statements)
        self._finish()
        if recover:
            self._recover(recover)

    def _recover(self, branches: Sequence[S.StatementBranch]) -> None:
        """What the class does about an exception that leaves a method, which then goes on to whoever waits for it."""
        caught, done = self._temporary(), _Label()
        self._handle(0, self._here, self._here, caught)
        self._branches(branches, caught, done)
        at = branches[0].at
        self._throw(lambda run, env: env[caught], CodeEffect(), at)
        done.pc = self._here

        def recovered(run: MacroStep, env: Env) -> Value:
            run.state.observed = run.state.observed | {run.machine.interned.future(run.task.key)}
            return env[caught]

        self._throw(recovered, CodeEffect(), at)
        self.code.slots, self.code.names = len(self.slots.names), self.slots.names

    def creation(self, cls: Class) -> None:
        """Initial field values in order, then the initialisation block."""
        for index, ((name, type_), value) in enumerate(zip(cls.fields, cls.initial, strict=True)):
            if index >= cls.params:
                initial = self._value(value) if value is not None else _constant(default_value(type_))
                at = value.at if value is not None else cls.at
                self._store_field(index, initial, CodeEffect(writes=frozenset({name})), at)
        self._block(cls.init or [])
        self._finish()

    def _finish(self) -> None:
        def end(run: MacroStep, env: Env) -> int:
            run.result = run.image.constant("Unit")
            return ENDED

        self._emit(end, CodeEffect(), None)
        self.code.slots = len(self.slots.names)
        self.code.names = self.slots.names
        self.code.uses_destiny = self.exps.uses_destiny

    # ---- emitting

    @property
    def _here(self) -> int:
        return len(self.code.instructions)

    def _emit(
        self, instruction: Instruction, effect: CodeEffect, at: AbsPlace | None, jumps: tuple[Any, ...] = ()
    ) -> int:
        self.code.instructions.append(instruction)
        self.code.effects.append((effect, jumps))
        self.code.lines.append(at.line if at is not None else 0)
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

    def _jump(self, label: _Label) -> None:
        self._emit(lambda run, env: label.pc, CodeEffect(), None, (label,))

    def _branch(self, condition: Exp, otherwise: _Label, effect: CodeEffect, at: AbsPlace) -> None:
        following = self._here + 1

        def branch(run: MacroStep, env: Env) -> int:
            return following if run.truth(condition(run, env)) else otherwise.pc

        self._emit(branch, effect, at, (otherwise, following))

    # ---- expressions with effects

    def _value(self, exp: S.Exp) -> Exp:
        """A closure for the expression; effects inside become instructions first."""
        return self.exps.exp(self._pure(exp))

    def _pure(self, exp: S.Exp) -> S.Exp:
        if isinstance(exp, _EFFECTS):
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
        following = self._here + 1

        def new(run: MacroStep, env: Env) -> int:
            env[slot] = run.create(cls, [a(run, env) for a in args], local, point)
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

        waiting = TaskWait([initialised], None, [], at.line)

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
        waiting = TaskWait([future], None if claim_slot is None else [claim_slot], [], at.line, reads)

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
        waiting = TaskWait([lambda run, env: env[future_slot]], [future_slot], [], at.line)

        def await_if_shared(run: MacroStep, env: Env) -> int:
            groups = run.state.groups
            mine, theirs = env[0], env[target_slot]
            if groups.get(mine, mine) is not groups.get(theirs, theirs) or env[future_slot] in run.state.futures:
                return following
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
        waiting = TaskWait(claims, slots, conditions, at.line, reads)

        def await_(run: MacroStep, env: Env) -> int:
            if holds(waiting, run, env):
                return following
            run.guard, run.resume = waiting, here
            return SUSPENDED

        self._emit(await_, CodeEffect(reads=reads, polls=bool(claims), releases=True), at)
        self.code.waits[here] = WaitsFor() if conditions or wanted is None else wanted

    # ---- statements

    def _block(self, statements: list[S.Statement]) -> None:
        self.slots.enter()
        awaited: set[str] = set()  # futures this block has just waited for: their get does not block
        for statement in statements:
            self._statement(statement, awaited)
        self.slots.leave()

    def _statement(self, statement: S.Statement, awaited: set[str]) -> None:
        match statement:
            case S.VarDecl():
                self._declaration(statement, awaited)
            case S.Assignment():
                self._assignment(statement, awaited)
            case S.ExpStatement(value=value):
                self._expression_statement(value, awaited)
            case S.AwaitStatement(guard=guard):
                self._guard(guard, statement.at)
                awaited.update(c.name for c in guard.claims if isinstance(c, S.Var) and c.kind == "local")
            case S.Delay():
                self._delay(statement)
            case S.StatementBlock(body=body):
                self._block(body)
            case S.Skip():
                pass
            case S.Suspend():
                self._suspend(statement.at)
            case S.ReturnStatement():
                self._return(statement)
            case S.Assert():
                self._assert(statement)
            case S.Throw():
                self._throw(self._value(statement.value), effect_of(statement.value), statement.at)
            case S.While():
                self._while(statement)
            case S.Foreach():
                self._foreach(statement)
            case S.If():
                self._if(statement)
            case S.Switch():
                self._switch(statement)
            case S.Try():
                self._try(statement)
            case _:
                raise AssertionError(statement)
        if not isinstance(statement, S.VarDecl | S.Assignment | S.AwaitStatement | S.ExpStatement | S.Skip | S.Assert):
            awaited.clear()

    def _awaited_get(self, exp: S.Exp | None, awaited: set[str]) -> int | None:
        """`x = f.get` right after `await f?`: the slot of a get that cannot block."""
        if isinstance(exp, S.GetFuture) and isinstance(exp.future, S.Var) and exp.future.name in awaited:
            future = self._value(exp.future)
            return self._get(future, self._claim_slot(exp.future), frozenset(), exp.at)
        return None

    def _expression(self, exp: S.Exp, awaited: set[str]) -> Exp:
        slot = self._awaited_get(exp, awaited)
        if slot is not None:
            found = slot
            return lambda run, env: env[found]
        return self._value(exp)

    def _declaration(self, statement: S.VarDecl, awaited: set[str]) -> None:
        if statement.value is None:
            value, effect = _constant(default_value(statement.resolved)), CodeEffect()
        else:
            value, effect = self._expression(statement.value, awaited), effect_of(statement.value)
        slot = self.slots.add(statement.name)
        awaited.discard(statement.name)
        self._store(slot, value, effect, statement.at)

    def _assignment(self, statement: S.Assignment, awaited: set[str]) -> None:
        value, effect = self._expression(statement.value, awaited), effect_of(statement.value)
        target = statement.target
        assert isinstance(target, S.Var | S.Field)
        if isinstance(target, S.Field) or target.kind == "field":
            written = effect.joined(CodeEffect(writes=frozenset({target.name})))
            self._store_field(self.field_index[target.name], value, written, statement.at)
        else:
            awaited.discard(target.name)
            self._store(self.slots.find(target.name), value, effect, statement.at)

    def _expression_statement(self, value: S.Exp, awaited: set[str]) -> None:
        if isinstance(value, S.Send):
            self._send(value, None)
        elif isinstance(value, S.AwaitCall):
            self._await_end(value)  # nobody asks for the result, so its exception reaches nobody here
        elif isinstance(value, _EFFECTS):
            if self._awaited_get(value, awaited) is None:
                self._effect(value)
        else:
            compiled = self._value(value)
            following = self._here + 1

            def evaluate(run: MacroStep, env: Env) -> int:
                compiled(run, env)
                return following

            self._emit(evaluate, effect_of(value), value.at)

    def _guard(self, guard: S.AwaitGuard, at: AbsPlace) -> None:
        claims = [self._value(c) for c in guard.claims]
        slots = [self._claim_slot(c) for c in guard.claims]
        known = [s for s in slots if s is not None]
        conditions = [self._value(c) for c in guard.conditions]
        reads = effect_of(*guard.claims, *guard.conditions).reads
        result = _result_of(guard.claims[0].type) if len(guard.claims) == 1 else None
        here = known if len(known) == len(slots) else None
        self._await(claims, here, conditions, reads, at, WaitsFor(result=result))

    def _delay(self, statement: S.Delay) -> None:
        """The task goes on when nothing else can run before its time: delays end at their least."""
        least, slot = self._value(statement.least), self._temporary()
        effect = effect_of(statement.least)

        def end(run: MacroStep, env: Env) -> Value:
            length = least(run, env)
            if isinstance(length, Expr):
                raise Unsupported("a delay of unknown length cannot be explored")
            return run.state.clock + max(Fraction(0), Fraction(length))

        self._store(slot, end, effect, statement.at)
        here, following = self._here, self._here + 1
        waiting = TaskWait([], [], [], statement.at.line, until=slot)

        def delay(run: MacroStep, env: Env) -> int:
            if run.state.clock >= env[slot]:
                return following
            run.guard, run.resume = waiting, here
            return SUSPENDED if statement.releases else BLOCKED

        effect = CodeEffect(releases=statement.releases, blocks=not statement.releases, polls=True)
        self._emit(delay, effect, statement.at)

    def _suspend(self, at: AbsPlace) -> None:
        following = self._here + 1

        def suspend(run: MacroStep, env: Env) -> int:
            run.guard, run.resume = None, following
            return SUSPENDED

        self._emit(suspend, CodeEffect(releases=True), at)

    def _return(self, statement: S.ReturnStatement) -> None:
        slot = self._temporary()
        value = self._value(statement.value) if statement.value is not None else None
        unit = value is None

        def result(run: MacroStep, env: Env) -> Value:
            return run.image.constant("Unit") if unit or value is None else value(run, env)

        effect = effect_of(statement.value) if statement.value is not None else CodeEffect()
        self._store(slot, result, effect, statement.at)
        finals, self._finals = self._finals, []
        for depth in range(len(finals) - 1, -1, -1):  # innermost first; each sees only the ones around it
            self._finals = finals[:depth]
            before = self._here
            self._block([finals[depth]])
            self._unhandled.update(range(before, self._here))
        self._finals = finals

        def leave(run: MacroStep, env: Env) -> int:
            run.result = env[slot]
            return ENDED

        self._emit(leave, CodeEffect(), statement.at, (None,))

    def _assert(self, statement: S.Assert) -> None:
        condition = self._value(statement.condition)
        following = self._here + 1

        def check(run: MacroStep, env: Env) -> int:
            if not run.truth(condition(run, env)):
                raise run.throw("AssertionFailException")
            return following

        self._emit(check, effect_of(statement.condition), statement.at)

    def _throw(self, value: Exp, effect: CodeEffect, at: AbsPlace) -> None:
        def throw(run: MacroStep, env: Env) -> int:
            raise Thrown(value(run, env))

        self._emit(throw, effect, at, (None,))

    def _while(self, statement: S.While) -> None:
        turns = self._temporary()
        self._store(turns, _constant(0), CodeEffect(), statement.at)
        condition = self._value(statement.condition)
        leave = _Label()
        top, following = self._here, self._here + 1

        def test(run: MacroStep, env: Env) -> int:
            if not run.truth(condition(run, env)):
                return leave.pc
            _turn(run, env, turns)
            return following

        self._emit(test, effect_of(statement.condition), statement.at, (leave, following))
        self._block([statement.body])
        self._emit(lambda run, env: top, CodeEffect(), None, (top,))
        leave.pc = self._here

    def _foreach(self, statement: S.Foreach) -> None:
        turns, rest = self._temporary(), self._temporary()
        self._store(rest, self._value(statement.values), effect_of(statement.values), statement.at)
        self._store(turns, _constant(0), CodeEffect(), statement.at)
        self.slots.enter()
        element = self.slots.add(statement.name)
        index = self.slots.add(statement.index) if statement.index is not None else None
        leave = _Label()
        top, following = self._here, self._here + 1

        def test(run: MacroStep, env: Env) -> int:
            values = run.machine.unknowns.built(run, env[rest])
            if values[0].name == "Nil":
                return leave.pc
            if index is not None:
                env[index] = env[turns]
            _turn(run, env, turns)
            env[element], env[rest] = values[1], values[2]
            return following

        self._emit(test, CodeEffect(), statement.at, (leave, following))
        self._block([statement.body])
        self._emit(lambda run, env: top, CodeEffect(), None, (top,))
        self.slots.leave()
        leave.pc = self._here

    def _if(self, statement: S.If) -> None:
        otherwise, end = _Label(), _Label()
        condition = self._value(statement.condition)
        self._branch(condition, otherwise, effect_of(statement.condition), statement.at)
        self._block([statement.then])
        if statement.otherwise is not None:
            self._jump(end)
        otherwise.pc = self._here
        if statement.otherwise is not None:
            self._block([statement.otherwise])
            end.pc = self._here

    def _switch(self, statement: S.Switch) -> None:
        subject = self._temporary()
        self._store(subject, self._value(statement.subject), effect_of(statement.subject), statement.at)
        end = _Label()
        self._branches(statement.branches, subject, end)
        self._throw(lambda run, env: run.image.constant("PatternMatchFailException"), CodeEffect(), statement.at)
        end.pc = self._here

    def _branches(self, branches: Sequence[S.StatementBranch], subject: int, end: _Label) -> None:
        for branch in branches:
            self.slots.enter()
            matches = self.exps.pattern(branch.pattern)
            otherwise = _Label()
            self._branch(_match(matches, subject), otherwise, CodeEffect(), branch.at)
            self._block([branch.body])
            self._jump(end)
            otherwise.pc = self._here
            self.slots.leave()

    def _try(self, statement: S.Try) -> None:
        caught, passing = self._temporary(), self._temporary()
        normal, end = _Label(), _Label()
        if statement.finally_ is not None:
            self._finals.append(statement.finally_)
        start = self._here
        self._block([statement.body])
        self._jump(normal)
        body_end = self._here
        self._handle(start, body_end, self._here, caught)
        self._branches(statement.catches, caught, normal)
        self._throw(lambda run, env: env[caught], CodeEffect(), statement.at)
        catches_end = self._here
        normal.pc = self._here
        if statement.finally_ is not None:
            self._finals.pop()
            self._block([statement.finally_])
            self._jump(end)
            self._handle(body_end, catches_end, self._here, passing)
            self._block([statement.finally_])
            self._throw(lambda run, env: env[passing], CodeEffect(), statement.at)
        end.pc = self._here

    def _handle(self, start: int, stop: int, target: int, slot: int) -> None:
        for pc in range(start, stop):
            if pc not in self.code.handlers and pc not in self._unhandled:
                self.code.handlers[pc] = (target, slot)


def _result_of(future: AnyType) -> AnyType | None:
    known = pruned(future)
    return known.args[0] if isinstance(known, Type) and known.args else None


def _turn(run: MacroStep, env: Env, turns: int) -> None:
    """Criterion loop-k: at most k turns of a loop."""
    number = env[turns] + 1
    env[turns] = number
    limit = run.bounds.loop
    if limit is not None and number > limit:
        raise CriterionReached("loop")
    run.tick()


def _match(matches: Callable[[MacroStep, Env, Value], bool], subject: int) -> Exp:
    return lambda run, env: matches(run, env, env[subject])


def _constant(value: Value) -> Exp:
    return lambda run, env: value


def _has_effect(exp: S.Exp) -> bool:
    return isinstance(exp, _EFFECTS) or any(_has_effect(child) for child in children(exp))
