"""Statements to instructions, and a program to an `Image`; `emitting` has the effects inside expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING

from treadle.abs.language import syntax as S
from treadle.abs.language.errors import AbsPlace, unsupported
from treadle.abs.language.model import Class, Program
from treadle.abs.language.types import AnyType, Type, pruned
from treadle.abs.machine.code import BLOCKED, ENDED, SUSPENDED, Code, Env, Exp, TaskWait, WaitsFor
from treadle.abs.machine.course import deciding
from treadle.abs.machine.criteria import CriterionReached
from treadle.abs.machine.defaults import default_value
from treadle.abs.machine.effects import CodeEffect, effect_of
from treadle.abs.machine.emitting import EFFECTS, Emitter, Label
from treadle.abs.machine.expressions import ExpCompiler
from treadle.abs.machine.machine import LONG, Image, Thrown
from treadle.abs.machine.policies import policy_named
from treadle.abs.machine.values import ASSERTION_FAILED, Value
from treadle.core.errors import Unsupported
from treadle.symbolic.expr.terms import Expr

if TYPE_CHECKING:
    from treadle.abs.machine.machine import MacroStep


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
        policy = policy_named(cls.annotations.get("Scheduler"))
        if policy is not None:
            image.policies[cls] = policy
        for method in cls.own.values():
            code = Code(method.name, cls, method.params)
            image.methods[cls, method.name] = code
            _BodyCompiler(code, exps, points).body(method.body or [], cls.recover)
        image.creation[cls] = code = Code("new", cls, [])
        _BodyCompiler(code, exps, points).creation(cls)
    image.main = code = Code("main", None, [])
    _BodyCompiler(code, exps, points).body(program.main or [])
    return image


class _BodyCompiler(Emitter):
    """The statements of one body."""

    # ---- whole bodies

    def body(self, statements: list[S.Statement], recover: Sequence[S.StatementBranch] = ()) -> None:
        self._block(statements)
        self._finish()
        if recover:
            self._recover(recover)

    def _recover(self, branches: Sequence[S.StatementBranch]) -> None:
        """What the class does about an exception that leaves a method, which then goes on to whoever waits for it."""
        caught, done = self._temporary(), Label()
        self._handle(0, self._here, self._here, caught)
        self._branches(branches, caught, done)
        at = branches[0].at
        self._throw(lambda run, env: env[caught], CodeEffect(), at)
        done.pc = self._here

        def recovered(run: MacroStep, env: Env) -> Value:
            run.state.observed = run.state.observed | {run.machine.interned.future(run.task.key)}
            return env[caught]

        self._throw(recovered, CodeEffect(), at)
        self.code.slots = len(self.slots.names)

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
        self.code.uses_destiny = self.exps.uses_destiny

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
            case S.Die():
                raise unsupported("'die'", statement.at)
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
        elif isinstance(value, EFFECTS):
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
                raise Unsupported("a delay of unknown length cannot be explored; give it a known number")
            return run.state.clock + max(Fraction(0), Fraction(length))

        self._store(slot, end, effect, statement.at)
        here, following = self._here, self._here + 1
        waiting = TaskWait([], [], [], until=slot)

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
                raise run.throw(ASSERTION_FAILED)
            return following

        self._emit(check, effect_of(statement.condition), statement.at)

    def _throw(self, value: Exp, effect: CodeEffect, at: AbsPlace) -> None:
        def throw(run: MacroStep, env: Env) -> int:
            raise Thrown(value(run, env))

        self._emit(throw, effect, at, (None,))

    def _while(self, statement: S.While) -> None:
        turns = self._temporary()
        condition = self._value(statement.condition)
        top, following = self._here + 1, self._here + 2

        def begin(run: MacroStep, env: Env) -> int:
            env[turns] = 0
            run.begin_loop(top)
            return top

        self._emit(begin, CodeEffect(), statement.at)
        leave = Label()
        code = self.code
        code.counters.add(turns)
        code.loops[top] = statement.at
        names = deciding(statement)
        if names is not None:
            code.deciding[top] = sorted(slot for name in names if (slot := self.slots.visible(name)) is not None)

        def test(run: MacroStep, env: Env) -> int:
            if not _enters(run, env, turns, condition):
                return leave.pc
            if run.steps >= LONG:
                run.check_progress(code, top, env)
            return following

        self._fork(test, leave, effect_of(statement.condition), statement.at)
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
        leave = Label()
        top, following = self._here, self._here + 1

        def more(run: MacroStep, env: Env) -> bool:
            return bool(run.machine.unknowns.built(run, env[rest])[0].name != "Nil")

        def test(run: MacroStep, env: Env) -> int:
            if not _enters(run, env, turns, more):
                return leave.pc
            if index is not None:
                env[index] = env[turns] - 1
            _, env[element], env[rest] = run.machine.unknowns.built(run, env[rest])
            return following

        self._fork(test, leave, CodeEffect(), statement.at)
        self._block([statement.body])
        self._emit(lambda run, env: top, CodeEffect(), None, (top,))
        self.slots.leave()
        leave.pc = self._here

    def _if(self, statement: S.If) -> None:
        otherwise, end = Label(), Label()
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
        end = Label()
        self._branches(statement.branches, subject, end)
        self._throw(lambda run, env: run.image.constant("PatternMatchFailException"), CodeEffect(), statement.at)
        end.pc = self._here

    def _branches(self, branches: Sequence[S.StatementBranch], subject: int, end: Label) -> None:
        for branch in branches:
            self.slots.enter()
            matches = self.exps.pattern(branch.pattern)
            otherwise = Label()
            if not isinstance(branch.pattern, S.AnyPattern):
                self._branch(_match(matches, subject), otherwise, CodeEffect(), branch.at)
            self._block([branch.body])
            self._jump(end)
            otherwise.pc = self._here
            self.slots.leave()

    def _try(self, statement: S.Try) -> None:
        caught, passing = self._temporary(), self._temporary()
        normal, end = Label(), Label()
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


def _enters(run: MacroStep, env: Env, turns: int, condition: Exp) -> bool:
    """Whether a loop takes another turn; criterion loop-k: at most k of them."""
    if not run.truth(condition(run, env)):
        return False
    env[turns] += 1
    limit = run.bounds.loop
    if limit is not None and env[turns] > limit:
        raise CriterionReached("loop")
    run.tick()
    return True


def _match(matches: Callable[[MacroStep, Env, Value], bool], subject: int) -> Exp:
    return lambda run, env: matches(run, env, env[subject])


def _constant(value: Value) -> Exp:
    return lambda run, env: value
