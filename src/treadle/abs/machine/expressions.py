"""Expressions to closures. Everything a closure needs is looked up here, once; at run time only values move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from treadle.abs.language import syntax as S
from treadle.abs.language import types as T
from treadle.abs.language.errors import AbsPlace, AbsSource, unsupported
from treadle.abs.language.model import AbsFunction, Class
from treadle.abs.language.types import pruned
from treadle.abs.machine import operators as O
from treadle.abs.machine.builtins import BUILTINS
from treadle.abs.machine.code import Env, Exp, FunctionCode
from treadle.abs.machine.criteria import CriterionReached
from treadle.abs.machine.values import Unknown, Value
from treadle.core.errors import InternalError
from treadle.symbolic.expr import terms as E

if TYPE_CHECKING:
    from treadle.abs.machine.machine import MacroStep

_ARITHMETIC: dict[str, Callable[[Value, Value], Value]] = {"+": O.add, "-": O.subtract, "*": O.multiply}
_ORDER = {"<", ">", "<=", ">="}
_PLAINLY_ORDERED = (*T.NUMBERS, T.STRING)
_BOOL = T.BOOL.name


class Slots:
    """Where variables live: a slot per declaration, names by block."""

    def __init__(self, first: list[str]) -> None:
        self.names = list(first)
        self._scopes: list[dict[str, int]] = [{name: i for i, name in enumerate(first)}]

    def enter(self) -> None:
        self._scopes.append({})

    def leave(self) -> None:
        self._scopes.pop()

    def add(self, name: str) -> int:
        self.names.append(name)
        self._scopes[-1][name] = len(self.names) - 1
        return len(self.names) - 1

    def find(self, name: str) -> int:
        slot = self.visible(name)
        if slot is None:
            raise InternalError(f"variable {name} has no slot")
        return slot

    def visible(self, name: str) -> int | None:
        return next((scope[name] for scope in reversed(self._scopes) if name in scope), None)


FunctionValue = Callable[["MacroStep", list[Value]], Value]  # what a function parameter stands for


class ExpCompiler:
    """Compiles the expressions of one program."""

    def __init__(self) -> None:
        self._functions: dict[AbsFunction, FunctionCode] = {}

    def function(self, function: AbsFunction) -> FunctionCode:
        """The code of a function; behind its parameters stand the functions it is given."""
        if function not in self._functions:
            code = self._functions[function] = FunctionCode()
            assert function.decl is not None
            assert function.decl.body is not None
            slots = Slots([*(name for name, _ in function.params), *function.functions])
            code.body = Compilation(self, slots, None).exp(function.decl.body)
            code.slots = len(slots.names)
        return self._functions[function]


class Compilation:
    """Compiles the expressions and patterns of one body."""

    def __init__(self, owner: ExpCompiler, slots: Slots, cls: Class | None) -> None:
        self.owner = owner
        self.slots = slots
        self.uses_destiny = False
        self.fields = {name: i for i, name in enumerate(cls.field_names())} if cls is not None else {}

    def exp(self, exp: S.Exp) -> Exp:
        match exp:
            case S.Literal_(value=value):
                return lambda run, env: value
            case S.Null():
                return lambda run, env: None
            case S.This():
                return lambda run, env: env[0]
            case S.Var(kind="field") | S.Field():
                return self._field(exp.name)
            case S.Var(kind="destiny"):
                self.uses_destiny = True
                return lambda run, env: run.machine.interned.future(run.task.key)
            case S.Var():
                slot = self.slots.find(exp.name)
                return lambda run, env: env[slot]
            case S.Con():
                return self._con(exp)
            case S.FunctionCall():
                return self._call(exp)
            case S.PartialCall():
                return self._apply(exp.function, exp.args, [self._function_value(g) for g in exp.given])
            case S.Unary(op="!"):
                operand = self.exp(exp.operand)
                return lambda run, env: E.not_(operand(run, env))
            case S.Unary():
                operand = self.exp(exp.operand)
                return lambda run, env: O.negate(operand(run, env))
            case S.Binary():
                return self._binary(exp)
            case S.IfExp():
                return self._if(exp)
            case S.Let():
                return self._let(exp)
            case S.CaseExp():
                return self._case(exp)
            case S.As():
                return self._as(exp)
        raise InternalError(f"no value can be computed for {type(exp).__name__} at {exp.at}")

    def _field(self, name: str) -> Exp:
        index = self.fields[name]
        return lambda run, env: run.fields[index]

    def _con(self, exp: S.Con) -> Exp:
        con = exp.con
        if con.data.name == _BOOL:
            truth = con.name == "True"
            return lambda run, env: truth
        args = [self.exp(a) for a in exp.args]
        if not args:
            constant = (con,)
            return lambda run, env: constant
        return lambda run, env: (con, *[a(run, env) for a in args])

    def _call(self, exp: S.FunctionCall) -> Exp:
        if exp.function is not None:
            return self._apply(exp.function, exp.args)
        slot = self.slots.find(exp.name)  # a function parameter
        args = [self.exp(a) for a in exp.args]
        return lambda run, env: env[slot](run, [a(run, env) for a in args])

    def _apply(self, function: AbsFunction, arguments: list[S.Exp], functions: Sequence[Exp] = ()) -> Exp:
        args = [self.exp(a) for a in arguments]
        if function.selector is not None:
            return self._selector(function, args[0])
        if function.builtin:
            builtin = BUILTINS.get(function.name)
            if builtin is None:
                assert function.decl is not None
                at = arguments[0].at if arguments else function.decl.at
                raise unsupported(f"'{function.name}' of {function.module}", at)
            return lambda run, env: builtin(run, *[a(run, env) for a in args])
        code = self.owner.function(function)
        if functions:
            return lambda run, env: _called(
                run, code, [a(run, env) for a in args], tuple([f(run, env) for f in functions])
            )
        return lambda run, env: _called(run, code, [a(run, env) for a in args])

    def _function_value(self, given: str | AbsFunction | S.Lambda) -> Exp:
        """A function given to a partial function: a parameter of this one, a declared one, an anonymous one."""
        if isinstance(given, str):
            slot = self.slots.find(given)
            return lambda run, env: env[slot]
        if isinstance(given, S.Lambda):
            return self._lambda(given)
        names = [f"${n}" for n in range(len(given.params))]
        self.slots.enter()
        places = [self.slots.add(name) for name in names]
        at = given.decl.at if given.decl is not None else AbsPlace(AbsSource("", ""), 1, 1)
        body = self._apply(given, [S.Var(name, at=at) for name in names])
        self.slots.leave()

        def function(run: MacroStep, values: list[Value]) -> Value:
            env: Env = [None] * (places[-1] + 1 if places else 0)
            for place, value in zip(places, values, strict=True):
                env[place] = value
            return body(run, env)

        return lambda run, env: function

    def _lambda(self, exp: S.Lambda) -> Exp:
        self.slots.enter()
        places = [self.slots.add(p.name) for p in exp.params]
        body = self.exp(exp.body)
        self.slots.leave()

        def closure(run: MacroStep, env: Env) -> FunctionValue:
            seen = list(env)

            def function(run: MacroStep, values: list[Value]) -> Value:
                inner = seen.copy()
                for place, value in zip(places, values, strict=True):
                    inner[place] = value
                return body(run, inner)

            return function

        return closure

    def _selector(self, function: AbsFunction, subject: Exp) -> Exp:
        assert function.selector is not None
        field, data = function.selector
        places = {con: con.fields.index(field) + 1 for con in data.constructors if field in con.fields}

        def select(run: MacroStep, env: Env) -> Value:
            value = subject(run, env)
            if type(value) is Unknown:
                value = run.machine.unknowns.built(run, value)
            if value is None or value[0] not in places:
                raise run.throw("PatternMatchFailException")
            return value[places[value[0]]]

        return select

    def _binary(self, exp: S.Binary) -> Exp:
        left, right = self.exp(exp.left), self.exp(exp.right)
        op = exp.op
        if op == "&&":
            return lambda run, env: run.truth(left(run, env)) and right(run, env)
        if op == "||":
            return lambda run, env: run.truth(left(run, env)) or right(run, env)
        if op == "==":
            return lambda run, env: O.equal(run, left(run, env), right(run, env))
        if op == "!=":
            return lambda run, env: E.not_(O.equal(run, left(run, env), right(run, env)))
        if op in _ORDER and pruned(exp.left.type) not in _PLAINLY_ORDERED:
            return self._order(op, left, right)
        if op == "<":
            return lambda run, env: O.less(left(run, env), right(run, env))
        if op == ">":
            return lambda run, env: O.less(right(run, env), left(run, env))
        if op == "<=":
            return lambda run, env: O.less_or_equal(left(run, env), right(run, env))
        if op == ">=":
            return lambda run, env: O.less_or_equal(right(run, env), left(run, env))
        if op == "/":
            divide = O.quotient if pruned(exp.type) == T.INT else O.divide
            return lambda run, env: divide(run, left(run, env), right(run, env))
        if op == "%":
            return lambda run, env: O.remainder(run, left(run, env), right(run, env))
        if op == "+" and pruned(exp.type) == T.STRING:
            to_string = BUILTINS["toString"]
            return lambda run, env: E.concat(to_string(run, left(run, env)), to_string(run, right(run, env)))
        operate = _ARITHMETIC[op]
        return lambda run, env: operate(left(run, env), right(run, env))

    @staticmethod
    def _order(op: str, left: Exp, right: Exp) -> Exp:
        """Data, objects, and values whose type is a parameter."""
        if op in (">", "<="):
            before: Exp = lambda run, env: O.before(run, right(run, env), left(run, env))  # noqa: E731
        else:
            before = lambda run, env: O.before(run, left(run, env), right(run, env))  # noqa: E731
        return before if op in ("<", ">") else lambda run, env: E.not_(before(run, env))

    def _if(self, exp: S.IfExp) -> Exp:
        condition, then, otherwise = self.exp(exp.condition), self.exp(exp.then), self.exp(exp.otherwise)
        return lambda run, env: then(run, env) if run.truth(condition(run, env)) else otherwise(run, env)

    def _let(self, exp: S.Let) -> Exp:
        value = self.exp(exp.value)
        self.slots.enter()
        slot = self.slots.add(exp.name)
        body = self.exp(exp.body)
        self.slots.leave()

        def let(run: MacroStep, env: Env) -> Value:
            env[slot] = value(run, env)
            return body(run, env)

        return let

    def _case(self, exp: S.CaseExp) -> Exp:
        subject = self.exp(exp.subject)
        branches = []
        for branch in exp.branches:
            self.slots.enter()
            branches.append((self.pattern(branch.pattern), self.exp(branch.body)))
            self.slots.leave()

        def case(run: MacroStep, env: Env) -> Value:
            value = subject(run, env)
            for matches, body in branches:
                if matches(run, env, value):
                    return body(run, env)
            raise run.throw("PatternMatchFailException")

        return case

    def pattern(self, pattern: S.Pattern) -> Callable[[MacroStep, Env, Value], bool]:
        """A closure that tells whether a value matches and binds the pattern's names."""
        match pattern:
            case S.AnyPattern():
                return lambda run, env, value: True
            case S.VarPattern(bound=True):
                known = self._field(pattern.name) if pattern.kind == "field" else self._local(pattern.name)
                return lambda run, env, value: run.truth(O.equal(run, value, known(run, env)))
            case S.VarPattern():
                slot = self.slots.add(pattern.name)

                def bind(run: MacroStep, env: Env, value: Value) -> bool:
                    env[slot] = value
                    return True

                return bind
            case S.LiteralPattern(value=literal):
                wanted = Fraction(literal) if isinstance(literal, int) and pruned(pattern.type) == T.RAT else literal
                return lambda run, env, value: run.truth(O.equal(run, value, wanted))
            case S.ConPattern():
                return self._con_pattern(pattern)
        raise InternalError(f"unknown pattern at {pattern.at}")

    def _local(self, name: str) -> Exp:
        slot = self.slots.find(name)
        return lambda run, env: env[slot]

    def _con_pattern(self, pattern: S.ConPattern) -> Callable[[MacroStep, Env, Value], bool]:
        con = pattern.con
        if con.data.name == _BOOL:
            wanted = con.name == "True"
            return lambda run, env, value: run.truth(value) is wanted
        args = [self.pattern(a) for a in pattern.args]

        def matches(run: MacroStep, env: Env, value: Value) -> bool:
            if type(value) is Unknown:
                value = run.machine.unknowns.built(run, value)
            if value is None or value[0] is not con:
                return False
            for arg, part in zip(args, value[1:], strict=True):  # noqa: SIM110  a generator costs twice as much here
                if not arg(run, env, part):
                    return False
            return True

        return matches

    def _as(self, exp: S.As) -> Exp:
        value, target, test = self.exp(exp.value), exp.target, exp.test

        def convert(run: MacroStep, env: Env) -> Value:
            found = run.machine.unknowns.decided(run, value(run, env))
            if found is None:
                return False if test else None
            if type(found) is Unknown:
                found = run.machine.unknowns.receiver(run, found, id(exp))
            fits = target in found.cls.supertypes()
            if test:
                return fits
            return found if fits else None

        return convert


def _called(
    run: MacroStep, code: FunctionCode, values: list[Value], functions: tuple[FunctionValue, ...] = ()
) -> Value:
    """A call of a declared function; criterion loop-k counts how deep it is inside itself."""
    key = (code, functions) if functions else code
    values.extend(functions)
    values.extend([None] * (code.slots - len(values)))
    depth = run.depth
    level = depth[key] = depth.get(key, 0) + 1
    limit = run.bounds.loop
    if limit is None:
        run.tick()
    elif level > limit + 1:
        raise CriterionReached("loop")
    try:
        assert code.body is not None
        return code.body(run, values)
    finally:
        depth[key] -= 1
