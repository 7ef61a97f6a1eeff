"""Statements, methods, functions: checks every body of a program and fills what the machine needs to know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from treadle.abs.language import syntax as S
from treadle.abs.language import types as T
from treadle.abs.language.check_exp import ExpChecker, VariableScope
from treadle.abs.language.declare import Declared
from treadle.abs.language.errors import AbsError, together
from treadle.abs.language.model import AbsFunction, AbsMethod, Class, Program
from treadle.abs.language.names import resolve
from treadle.abs.language.types import AnyType, Meta, settled

_EFFECTS = (S.NewObject, S.Send, S.SyncCall, S.AwaitCall, S.GetFuture)


def check(declared: Declared) -> Program:
    """Check all bodies of the program; the errors of all of them are told together."""
    program = declared.program
    parts: list[Callable[[], None]] = [
        partial(_function, function, declared)
        for function in program.functions
        if function.decl is not None and function.decl.body is not None
    ]
    for cls in program.classes:
        parts += _class(cls, declared)
    if program.main is not None:
        checker = StatementChecker(ExpChecker(declared.names[program.main_module], [], {}), None)
        parts.append(partial(checker.block, program.main, VariableScope(None, None)))
    _each(parts)
    return program


def _each(parts: Iterable[Callable[[], None]]) -> None:
    """Check every part, whatever is wrong with the ones before."""
    errors: list[AbsError] = []
    for part in parts:
        try:
            part()
        except AbsError as error:
            errors.append(error)
    if errors:
        raise together(errors)


def _function(function: AbsFunction, declared: Declared) -> None:
    assert function.decl is not None
    assert function.decl.body is not None
    functions: dict[str, AbsFunction | None] = dict.fromkeys(function.functions)
    checker = ExpChecker(declared.names[function.module], function.type_params, functions)
    scope = VariableScope()
    scope.own.update(function.params)
    _pure(function.decl.body, "a function")
    checker.check(function.decl.body, scope, function.result)


def _class(cls: Class, declared: Declared) -> Iterator[Callable[[], None]]:
    """What there is to check in a class, part by part."""
    names = declared.names[cls.module]

    def initial(type_: AnyType, value: S.Exp) -> None:
        if not isinstance(value, S.NewObject):
            _pure(value, "a field's initial value")
        ExpChecker(names, [], {}).check(value, VariableScope(None, cls), type_)

    def body(method: AbsMethod) -> None:
        scope = VariableScope(None, cls)
        scope.own.update(method.params)
        StatementChecker(ExpChecker(names, [], {}), method.result).block(method.body or [], scope)
        if settled(method.result) != T.UNIT and not _returns(method.body or []):
            raise AbsError(f"method '{method.name}' may end without returning {method.result}", method.at)

    for (_, type_), value in zip(cls.fields, cls.initial, strict=True):
        if value is not None:
            yield partial(initial, type_, value)
    plain = StatementChecker(ExpChecker(names, [], {}), None)
    yield partial(plain.block, cls.init or [], VariableScope(None, cls))
    yield partial(plain.branches, cls.recover, T.EXCEPTION, VariableScope(None, cls))
    for method in cls.own.values():
        yield partial(body, method)


def _returns(body: list[S.Statement]) -> bool:
    """Whether every way through the statements ends in return or throw."""
    if not body:
        return False
    match body[-1]:
        case S.ReturnStatement() | S.Throw():
            return True
        case S.StatementBlock(body=inner):
            return _returns(inner)
        case S.If(then=then, otherwise=otherwise):
            return otherwise is not None and _returns([then]) and _returns([otherwise])
        case S.Switch(branches=branches):
            return bool(branches) and all(_returns([b.body]) for b in branches)
        case S.Try(body=inner_body, catches=catches):
            return _returns([inner_body]) and all(_returns([c.body]) for c in catches)
        case S.While(condition=S.Con(name="True")):
            return True
    return False


def _pure(exp: S.Exp, where: str) -> None:
    """An error if there is a call, creation or get inside."""
    if isinstance(exp, _EFFECTS):
        raise AbsError(f"{where} cannot create objects, call methods or wait for futures", exp.at)
    for child in children(exp):
        _pure(child, where)


def children(exp: S.Exp) -> list[S.Exp]:
    """The expressions directly inside one."""
    match exp:
        case S.Con(args=args) | S.FunctionCall(args=args) | S.NewObject(args=args):
            return list(args)
        case S.PartialCall(args=args, functions=functions):
            return [*args, *(f for f in functions if isinstance(f, S.Lambda))]
        case S.Lambda(body=body):
            return [body]
        case S.Unary(operand=operand):
            return [operand]
        case S.Binary(left=left, right=right):
            return [left, right]
        case S.IfExp():
            return [exp.condition, exp.then, exp.otherwise]
        case S.Let():
            return [exp.value, exp.body]
        case S.CaseExp():
            return [exp.subject, *(b.body for b in exp.branches)]
        case S.As(value=value):
            return [value]
        case S.Send() | S.SyncCall() | S.AwaitCall():
            return [exp.receiver, *exp.args]
        case S.GetFuture(future=future):
            return [future]
    return []


class StatementChecker:
    """Checks the statements of one body; `result` is what it returns (None: it returns nothing)."""

    def __init__(self, exps: ExpChecker, result: AnyType | None) -> None:
        self.exps = exps
        self.result = result

    def block(self, body: list[S.Statement], scope: VariableScope) -> None:
        _each([partial(self._in_block, statement, scope) for statement in body])

    def _in_block(self, statement: S.Statement, scope: VariableScope) -> None:
        try:
            self.statement(statement, scope)
        finally:
            if isinstance(statement, S.VarDecl):
                scope.own.setdefault(statement.name, Meta())  # where it is wrong, its uses are no errors of their own

    def statement(self, statement: S.Statement, scope: VariableScope) -> None:
        exps = self.exps
        match statement:
            case S.StatementBlock(body=body):
                self.block(body, scope.inner())
            case S.VarDecl():
                self._declare(statement, scope)
            case S.Assignment():
                target = exps.check(statement.target, scope)
                if not isinstance(statement.target, S.Var | S.Field):
                    raise AbsError("only variables and fields can be assigned", statement.at)
                self._value(statement.value, scope, target)
            case S.ExpStatement(value=value):
                self._value(value, scope, None)
            case S.ReturnStatement():
                self._return(statement, scope)
            case S.Assert(condition=condition):
                exps.boolean(condition, scope)
            case S.Throw(value=value):
                exps.check(value, scope, T.EXCEPTION)
            case S.While():
                _pure(statement.condition, "a loop condition")
                exps.boolean(statement.condition, scope)
                self.statement(statement.body, scope.inner())
            case S.Foreach():
                self._foreach(statement, scope)
            case S.If():
                exps.boolean(statement.condition, scope)
                ways = [statement.then, *([statement.otherwise] if statement.otherwise is not None else ())]
                _each([partial(self.statement, way, scope.inner()) for way in ways])
            case S.AwaitStatement(guard=guard):
                for claim in guard.claims:
                    exps.future(claim, scope)
                for condition in guard.conditions:
                    _pure(condition, "a guard")
                    exps.boolean(condition, scope)
            case S.Delay(least=least):
                exps.check(least, scope, T.RAT)
            case S.Switch():
                subject = exps.subject(statement.subject, [b.pattern for b in statement.branches], scope)
                self.branches(statement.branches, subject, scope)
            case S.Try():
                self.statement(statement.body, scope.inner())
                self.branches(statement.catches, T.EXCEPTION, scope)
                if statement.finally_ is not None:
                    self.statement(statement.finally_, scope.inner())

    def _value(self, exp: S.Exp, scope: VariableScope, expected: AnyType | None) -> None:
        for child in children(exp):
            self._hoistable(child)
        self.exps.check(exp, scope, expected)

    def _hoistable(self, exp: S.Exp) -> None:
        """Effects may be nested only where they always happen, exactly once."""
        lazy = isinstance(exp, S.Binary) and exp.op in ("&&", "||")
        if lazy or isinstance(exp, S.IfExp | S.Let | S.CaseExp | S.Lambda):
            _pure(exp, "a conditional expression")
        for child in children(exp):
            self._hoistable(child)

    def _declare(self, statement: S.VarDecl, scope: VariableScope) -> None:
        declared = resolve(statement.declared, self.exps.names, self.exps.type_params)
        statement.resolved = declared
        if statement.name in scope.own:
            raise AbsError(f"variable '{statement.name}' is declared twice", statement.at)
        if statement.value is not None:
            if isinstance(statement.value, S.IfExp | S.Let | S.CaseExp):
                _pure(statement.value, "a conditional expression")
            self._value(statement.value, scope, declared)
        scope.own[statement.name] = declared

    def _return(self, statement: S.ReturnStatement, scope: VariableScope) -> None:
        expected = self.result if self.result is not None else T.UNIT
        if statement.value is None:
            if settled(expected) != T.UNIT:
                raise AbsError(f"a value of type {expected} must be returned", statement.at)
        else:
            self._value(statement.value, scope, expected)

    def _foreach(self, statement: S.Foreach, scope: VariableScope) -> None:
        element: AnyType = Meta()
        self.exps.check(statement.values, scope, T.list_of(element))
        statement.element = element
        inner = scope.inner()
        inner.own[statement.name] = element
        if statement.index is not None:
            inner.own[statement.index] = T.INT
        self.statement(statement.body, inner)

    def branches(self, branches: list[S.StatementBranch], subject: AnyType, scope: VariableScope) -> None:
        _each([partial(self._branch, branch, subject, scope.inner()) for branch in branches])

    def _branch(self, branch: S.StatementBranch, subject: AnyType, scope: VariableScope) -> None:
        self.exps.pattern(branch.pattern, subject, scope)
        self.statement(branch.body, scope)
