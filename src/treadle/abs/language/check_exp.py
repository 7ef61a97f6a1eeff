"""Types of expressions: every expression gets its type and every name its meaning, or an error with its place.

The expected type is passed down where there is one: it decides what `Nil` is a list of, and whether `a / b` of two
integers is a number of the older dialect (Int) or of the newer one (Rat).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from treadle.abs.language import syntax as S
from treadle.abs.language import types as T
from treadle.abs.language.errors import AbsError, AbsPlace, unsupported
from treadle.abs.language.model import AbsFunction, AbsMethod, Class, Constructor, Data, Interface
from treadle.abs.language.names import PARTIAL, STDLIB, ModuleNames, did_you_mean, resolve
from treadle.abs.language.types import AnyType, Meta, Type, fits, pruned, substituted

_TIMED = {"duration", "lowlevelDeadline", "thisDC"}
_ARITHMETIC = {"+", "-", "*", "/", "%"}


class VariableScope:
    """The variables in sight: a chain of blocks, then the fields of the class."""

    def __init__(self, outer: VariableScope | None = None, cls: Class | None = None) -> None:
        self.outer = outer
        self.cls: Class | None = cls if outer is None else outer.cls
        self.own: dict[str, AnyType] = {}

    def local(self, name: str) -> AnyType | None:
        scope: VariableScope | None = self
        while scope is not None:
            if name in scope.own:
                return scope.own[name]
            scope = scope.outer
        return None

    def field(self, name: str) -> AnyType | None:
        return dict(self.cls.fields).get(name) if self.cls is not None else None

    def known(self) -> list[str]:
        names: list[str] = [] if self.cls is None else self.cls.field_names()
        scope: VariableScope | None = self
        while scope is not None:
            names += scope.own
            scope = scope.outer
        return names

    def inner(self) -> VariableScope:
        return VariableScope(self)


class ExpChecker:
    """Checks expressions in one module, inside one method, function or main block."""

    def __init__(self, names: ModuleNames, type_params: list[str], functions: dict[str, AbsFunction | None]) -> None:
        self.names = names
        self.type_params = type_params
        self.function_params = functions

    # ---- the entry points

    def check(self, exp: S.Exp, scope: VariableScope, expected: AnyType | None = None) -> AnyType:
        """The type of an expression; an error if it does not fit the expected one."""
        found = self._type(exp, scope, None if expected is None else pruned(expected))
        exp.type = found
        if expected is not None and not fits(found, expected):
            if self._old_division(exp, expected):
                exp.type = T.INT
                return T.INT
            self._fail(f"a value of type {T.settled(found)} where {T.settled(expected)} is needed", exp.at)
        return found

    def future(self, exp: S.Exp, scope: VariableScope) -> AnyType:
        """What a future brings; of a Destiny nobody knows."""
        found = self.check(exp, scope)
        result: AnyType = Meta()
        if pruned(found) != T.DESTINY and not fits(found, T.future(result)):
            self._fail(f"a value of type {T.settled(found)} where {T.future(result)} is needed", exp.at)
        return result

    def boolean(self, exp: S.Exp, scope: VariableScope) -> None:
        self.check(exp, scope, T.BOOL)

    @staticmethod
    def _fail(sentence: str, at: AbsPlace) -> NoReturn:
        raise AbsError(sentence, at)

    @staticmethod
    def _old_division(exp: S.Exp, expected: AnyType) -> bool:
        return pruned(expected) == T.INT and isinstance(exp, S.Binary) and exp.op == "/" and exp.type == T.INT

    # ---- one method per kind of expression

    def _type(self, exp: S.Exp, scope: VariableScope, expected: AnyType | None) -> AnyType:
        match exp:
            case S.Literal_(value=str()):
                return T.STRING
            case S.Literal_(value=int()):
                return T.INT
            case S.Literal_():
                return T.FLOAT
            case S.Null():
                return T.NULL
            case S.This():
                if scope.cls is None:
                    self._fail("there is no 'this' here", exp.at)
                return scope.cls.type
            case S.Var():
                return self._var(exp, scope)
            case S.Field():
                return self._field(exp, scope)
            case S.Con():
                return self._con(exp, scope, expected)
            case S.FunctionCall():
                return self._call(exp, scope, expected)
            case S.PartialCall():
                return self._partial_call(exp, scope, expected)
            case S.Unary(op="!"):
                return self.check(exp.operand, scope, T.BOOL)
            case S.Unary():
                return self._number(exp.operand, scope, expected)
            case S.Binary():
                return self._binary(exp, scope, expected)
            case S.IfExp():
                self.boolean(exp.condition, scope)
                return self._join([exp.then, exp.otherwise], [scope, scope], expected)
            case S.Let():
                declared = resolve(exp.declared, self.names, self.type_params)
                self.check(exp.value, scope, declared)
                inner = scope.inner()
                inner.own[exp.name] = declared
                return self.check(exp.body, inner, expected)
            case S.CaseExp():
                return self._case(exp, scope, expected)
            case S.As():
                return self._as(exp, scope)
            case S.NewObject():
                return self._new(exp, scope)
            case S.Send():
                return T.future(self._method(exp, scope).result)
            case S.SyncCall() | S.AwaitCall():
                return self._method(exp, scope).result
            case S.GetFuture():
                return self.future(exp.future, scope)
            case S.Lambda():
                self._fail("an anonymous function is given to a partial function: map((Int x) => x + 1)(list)", exp.at)
        raise AssertionError(exp)

    def _var(self, exp: S.Var, scope: VariableScope) -> AnyType:
        local = scope.local(exp.name)
        if local is not None:
            exp.kind = "local"
            return local
        field = scope.field(exp.name)
        if field is not None:
            exp.kind = "field"
            return field
        if exp.name == "destiny":
            exp.kind = "destiny"
            return T.DESTINY
        if exp.name in self.names.functions:
            self._fail(f"'{exp.name}' is a function; call it: {exp.name}(...)", exp.at)
        self._fail(f"there is no variable '{exp.name}'{did_you_mean(exp.name, scope.known())}", exp.at)

    def _field(self, exp: S.Field, scope: VariableScope) -> AnyType:
        self.check(exp.target, scope)
        if not isinstance(exp.target, S.This):
            self._fail("only fields of 'this' can be read; other objects are asked by calling a method", exp.at)
        found = scope.field(exp.name)
        if found is None:
            assert scope.cls is not None
            hint = did_you_mean(exp.name, scope.cls.field_names())
            self._fail(f"class {scope.cls.name} has no field '{exp.name}'{hint}", exp.at)
        return found

    def _con(self, exp: S.Con, scope: VariableScope, expected: AnyType | None) -> AnyType:
        con = self.names.constructors.get(exp.name)
        if con is None:
            if exp.name in self.names.classes:
                self._fail(f"'{exp.name}' is a class; create an object with: new {exp.name}(...)", exp.at)
            hint = did_you_mean(exp.name, self.names.constructors)
            self._fail(f"there is no constructor '{exp.name}'{hint}", exp.at)
        exp.con = con
        meaning: dict[str, AnyType] = {p: Meta() for p in con.data.type_params}
        result = substituted(con.data.type, meaning)
        if expected is not None:
            fits(result, expected)
        self._args(f"constructor {exp.name}", exp.args, [substituted(p, meaning) for p in con.params], scope, exp.at)
        return result

    def _call(self, exp: S.FunctionCall, scope: VariableScope, expected: AnyType | None) -> AnyType:
        if exp.name in self.function_params:
            return self._call_of_parameter(exp, scope)
        partial = self.names.functions.get(exp.name + PARTIAL)
        if partial is not None and exp.name not in self.names.functions:
            self._fail(f"'{exp.name}' takes functions first: {exp.name}({', '.join(partial.functions)})(...)", exp.at)
        function = self._older(self._function(exp.name, exp.at), expected)
        exp.function = function
        meaning: dict[str, AnyType] = {p: Meta() for p in function.type_params}
        result = substituted(function.result, meaning)
        if expected is not None and isinstance(pruned(result), Type) and pruned(result) not in T.NUMBERS:
            fits(result, expected)
        params = [substituted(t, meaning) for _, t in function.params]
        self._args(f"function {exp.name}", exp.args, params, scope, exp.at)
        return result

    def _function(self, name: str, at: AbsPlace) -> AbsFunction:
        found = self.names.functions.get(name)
        if found is not None:
            return found
        if name in _TIMED:
            raise unsupported(f"'{name}' (Timed ABS)", at)
        self._fail(f"there is no function '{name}'{did_you_mean(name, self.names.functions)}", at)

    def _older(self, function: AbsFunction, expected: AnyType | None) -> AbsFunction:
        """In older models `lookup` gives the value itself, as `lookupUnsafe` does now."""
        wanted = pruned(expected) if expected is not None else None
        is_lookup = function.name == "lookup" and function.module == STDLIB
        if not is_lookup or not isinstance(wanted, Type) or wanted.name == f"{STDLIB}.Maybe":
            return function
        return self.names.functions.get("lookupUnsafe", function)

    def _call_of_parameter(self, exp: S.FunctionCall, scope: VariableScope) -> AnyType:
        """A call of a function parameter: its type is known only where the partial function is used."""
        for arg in exp.args:
            self.check(arg, scope)
        return Meta()

    def _partial_call(self, exp: S.PartialCall, scope: VariableScope, expected: AnyType | None) -> AnyType:
        if exp.name + PARTIAL not in self.names.functions:
            self._fail(f"there is no partial function '{exp.name}'", exp.at)
        function = exp.function = self.names.functions[exp.name + PARTIAL]
        if len(exp.functions) != len(function.functions):
            self._fail(f"'{exp.name}' takes {len(function.functions)} functions, not {len(exp.functions)}", exp.at)
        exp.given.clear()
        for given in exp.functions:
            if isinstance(given, S.Lambda):
                self._lambda(given, scope)
                exp.given.append(given)
            elif isinstance(given, S.Var):
                is_param = given.name in self.function_params
                exp.given.append(given.name if is_param else self._function(given.name, given.at))
            else:
                self._fail("the name of a function is needed here, or an anonymous one: (Int x) => x + 1", given.at)
        meaning: dict[str, AnyType] = {p: Meta() for p in function.type_params}
        result = substituted(function.result, meaning)
        if expected is not None:
            fits(result, expected)
        params = [substituted(t, meaning) for _, t in function.params]
        self._args(f"function {exp.name}", exp.args, params, scope, exp.at)
        return result

    def _args(self, what: str, args: list[S.Exp], params: list[AnyType], scope: VariableScope, at: AbsPlace) -> None:
        if len(args) != len(params):
            self._fail(f"{what} takes {len(params)} argument{'s' * (len(params) != 1)}, not {len(args)}", at)
        for arg, param in zip(args, params, strict=True):
            self.check(arg, scope, param)

    def _lambda(self, exp: S.Lambda, scope: VariableScope) -> None:
        inner = scope.inner()
        exp.resolved = [resolve(p.type, self.names, self.type_params) for p in exp.params]
        inner.own.update(zip((p.name for p in exp.params), exp.resolved, strict=True))
        self.check(exp.body, inner)

    def _number(self, exp: S.Exp, scope: VariableScope, expected: AnyType | None) -> AnyType:
        return self._as_number(self.check(exp, scope, expected if expected == T.INT else None), exp.at)

    def _as_number(self, type_: AnyType, at: AbsPlace) -> AnyType:
        found = pruned(type_)
        if isinstance(found, Meta):
            found.value = T.INT
            return T.INT
        if found not in T.NUMBERS:
            self._fail(f"a number is needed here, not a value of type {found}", at)
        return found

    def _binary(self, exp: S.Binary, scope: VariableScope, expected: AnyType | None) -> AnyType:
        if exp.op in ("&&", "||"):
            self.boolean(exp.left, scope)
            self.boolean(exp.right, scope)
            return T.BOOL
        if exp.op in _ARITHMETIC:
            return self._arithmetic(exp, scope, expected)
        left = self.check(exp.left, scope)
        # null and Nil take their type from the other side
        right = self.check(exp.right, scope)
        if not (fits(left, right) or fits(right, left) or self._both_objects(left, right)):
            self._fail(f"{T.settled(left)} and {T.settled(right)} cannot be compared", exp.at)
        return T.BOOL

    @staticmethod
    def _both_objects(left: AnyType, right: AnyType) -> bool:
        a, b = pruned(left), pruned(right)
        return isinstance(a, Type) and isinstance(b, Type) and a.kind == b.kind == "object"

    def _arithmetic(self, exp: S.Binary, scope: VariableScope, expected: AnyType | None) -> AnyType:
        wanted = expected if expected == T.INT else None
        left = pruned(self.check(exp.left, scope, wanted))
        # a string takes anything on its other side; every part is checked once, or long sums would take for ever
        right = pruned(self.check(exp.right, scope, None if left == T.STRING else wanted))
        if exp.op == "+" and T.STRING in (left, right):
            return T.STRING
        left, right = self._as_number(left, exp.left.at), self._as_number(right, exp.right.at)
        if exp.op == "/":
            both_int = left == right == T.INT
            return T.INT if both_int and expected == T.INT else T.RAT
        return max((left, right), key=lambda t: T.NUMBERS.index(t) if t in T.NUMBERS else 0)

    def _join(self, exps: list[S.Exp], scopes: list[VariableScope], expected: AnyType | None) -> AnyType:
        """The common type of branches."""
        result: AnyType = expected if expected is not None else Meta()
        for exp, scope in zip(exps, scopes, strict=True):
            found = self.check(exp, scope, expected)
            if expected is None and not fits(found, result):
                if not fits(result, found):
                    self._fail(f"branches have types {T.settled(result)} and {T.settled(found)}", exp.at)
                result = found
        return result

    def _case(self, exp: S.CaseExp, scope: VariableScope, expected: AnyType | None) -> AnyType:
        subject = self.subject(exp.subject, [b.pattern for b in exp.branches], scope)
        scopes = []
        for branch in exp.branches:
            inner = scope.inner()
            self.pattern(branch.pattern, subject, inner)
            scopes.append(inner)
        return self._join([b.body for b in exp.branches], scopes, expected)

    def subject(self, exp: S.Exp, patterns: Sequence[S.Pattern], scope: VariableScope) -> AnyType:
        """The type of what is matched; a `lookup` is of the older kind if the patterns are not those of Maybe."""
        found = self.check(exp, scope)
        wanted = next((self.names.constructors.get(p.name) for p in patterns if isinstance(p, S.ConPattern)), None)
        if isinstance(exp, S.FunctionCall) and wanted is not None and exp.function is not None:
            expected = wanted.data.type
            older = self._older(exp.function, expected)
            if older is not exp.function:
                return self.check(exp, scope, substituted(expected, {p: Meta() for p in wanted.data.type_params}))
        return found

    def pattern(self, pattern: S.Pattern, subject: AnyType, scope: VariableScope) -> None:
        """Check a pattern against the type it is matched with; new names enter the scope."""
        pattern.type = subject
        match pattern:
            case S.VarPattern():
                local = scope.local(pattern.name)
                known = local if local is not None else scope.field(pattern.name)
                if known is None:
                    scope.own[pattern.name] = subject
                    return
                pattern.bound, pattern.kind = True, "local" if local is not None else "field"
                self._pattern_fits(known, subject, pattern)
            case S.LiteralPattern(value=None):
                self._pattern_fits(T.NULL, subject, pattern)
            case S.LiteralPattern():
                self._pattern_fits(T.STRING if isinstance(pattern.value, str) else T.INT, subject, pattern)
            case S.ConPattern():
                con = self.names.constructors.get(pattern.name)
                if con is None:
                    hint = did_you_mean(pattern.name, self.names.constructors)
                    self._fail(f"there is no constructor '{pattern.name}'{hint}", pattern.at)
                pattern.con = con
                self._con_pattern(pattern, con, subject, scope)

    def _con_pattern(self, pattern: S.ConPattern, con: Constructor, subject: AnyType, scope: VariableScope) -> None:
        meaning: dict[str, AnyType] = {p: Meta() for p in con.data.type_params}
        self._pattern_fits(substituted(con.data.type, meaning), subject, pattern)
        if len(pattern.args) != len(con.params):
            self._fail(f"constructor {con.name} takes {len(con.params)} arguments, not {len(pattern.args)}", pattern.at)
        for arg, param in zip(pattern.args, con.params, strict=True):
            self.pattern(arg, substituted(param, meaning), scope)

    def _pattern_fits(self, found: AnyType, subject: AnyType, pattern: S.Pattern) -> None:
        known = pruned(subject)
        if isinstance(known, Type) and known.kind == "parameter":
            return  # an older model may ask what a type parameter turned out to be
        if not (fits(found, subject) or fits(subject, found)):
            self._fail(f"a pattern of type {T.settled(found)} for a value of type {T.settled(subject)}", pattern.at)

    def _as(self, exp: S.As, scope: VariableScope) -> AnyType:
        self.check(exp.value, scope)
        target = self.names.type_named(exp.interface)
        if not isinstance(target, Interface | Class):
            self._fail(f"'{exp.interface}' is no interface", exp.at)
        exp.target = target
        return T.BOOL if exp.test else target.type

    # ---- expressions with an effect

    def _new(self, exp: S.NewObject, scope: VariableScope) -> AnyType:
        cls = self.names.classes.get(exp.name)
        if cls is None:
            other = self.names.types.get(exp.name)
            what = "an interface, not a class" if isinstance(other, Interface) else "no class"
            what = "a data type, not a class" if isinstance(other, Data) else what
            self._fail(f"'{exp.name}' is {what}{did_you_mean(exp.name, self.names.classes)}", exp.at)
        exp.cls = cls
        self._args(f"class {cls.name}", exp.args, [t for _, t in cls.fields[: cls.params]], scope, exp.at)
        return cls.type

    def _method(self, exp: S.Send | S.SyncCall | S.AwaitCall, scope: VariableScope) -> AbsMethod:
        receiver = pruned(self.check(exp.receiver, scope))
        if not isinstance(receiver, Type) or receiver.kind != "object":
            if isinstance(receiver, Type) and receiver.name.endswith(".DC"):
                raise unsupported("a deployment component", exp.at)
            self._fail(f"only objects have methods, not values of type {T.settled(receiver)}", exp.at)
        methods = receiver.decl.methods()
        method: AbsMethod | None = methods.get(exp.method)
        if method is None:
            hint = did_you_mean(exp.method, methods)
            self._fail(f"{receiver} has no method '{exp.method}'{hint}", exp.at)
        self._args(f"method {exp.method}", exp.args, [t for _, t in method.params], scope, exp.at)
        return method
