"""ABS text to syntax tree: the grammar is `grammar.lark`, the tree is `syntax`.

A text that does not parse leaves as one `AbsError` at the first place that cannot be continued; words that belong to
the parts of ABS that are not executed here (deltas, product lines, Timed ABS) get a sentence of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import lark

from treadle.abs.language import syntax as S
from treadle.abs.language.errors import AbsError, AbsPlace, AbsSource, unsupported

# first word of a construct that ABS has and Treadle does not execute -> how the construct is called
NOT_EXECUTED = {
    "delta": "a delta (delta-oriented programming)",
    "productline": "a product line",
    "product": "a product of a product line",
    "features": "a product line's feature list",
    "root": "a feature model",
    "group": "a feature model",
    "extension": "a feature model",
    "uses": "a delta ('uses')",
    "adds": "a delta ('adds')",
    "modifies": "a delta ('modifies')",
    "removes": "a delta ('removes')",
    "port": "a component ('port')",
    "rebind": "a component ('rebind')",
    "critical": "a component ('critical')",
    "builtin": "a database query ('builtin')",
    "movecogto": "'movecogto' (deployment)",
    "original": "a call of 'original' (delta)",
    "stateupdate": "a delta ('stateupdate')",
}


@cache
def _parser() -> lark.Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return lark.Lark(grammar, parser="lalr", start=["start", "exp"], propagate_positions=True, maybe_placeholders=True)


def parse(source: AbsSource) -> list[S.Module]:
    """The modules of one ABS text."""
    try:
        tree = _parser().parse(source.text, start="start")
    except lark.exceptions.UnexpectedInput as problem:
        raise _syntax_error(source, problem) from None
    return [module for module in _Builder(source).build(tree) if isinstance(module, S.Module)]


@lru_cache(maxsize=4096)
def parse_expression(text: str) -> S.Exp:
    """One expression, as tests write values down; not to be changed, the same text gives the same tree."""
    source = AbsSource("<value>", text)
    try:
        tree = _parser().parse(text, start="exp")
    except lark.exceptions.UnexpectedInput as problem:
        raise _syntax_error(source, problem) from None
    exp: S.Exp = _Builder(source).build(tree)
    return exp


def parse_inside(text: str, at: AbsPlace) -> S.Exp:
    """An expression inside a string of this place."""
    try:
        exp: S.Exp = _Builder(AbsSource(at.source.name, text)).build(_parser().parse(text, start="exp"))
    except lark.exceptions.UnexpectedInput:
        raise AbsError(f"'${text}$' in this string is no expression", at) from None
    return exp


def _syntax_error(source: AbsSource, problem: lark.exceptions.UnexpectedInput) -> AbsError:
    line, column = problem.line, problem.column
    at_end = isinstance(problem, lark.exceptions.UnexpectedToken) and problem.token.type == "$END"
    if at_end or line is None or line < 1:
        lines = source.text.rstrip().splitlines() or [""]
        line, column = len(lines), len(lines[-1]) + 1
    place = AbsPlace(source, line, max(column, 1))
    lines = source.text.splitlines()
    rest = lines[line - 1][place.column - 1 :] if line <= len(lines) else ""
    word = rest[: next((i for i, c in enumerate(rest) if not (c.isalnum() or c == "_")), len(rest))]
    for candidate in (word, _word_before(source.text, line, place.column)):
        if candidate in NOT_EXECUTED:
            return unsupported(NOT_EXECUTED[candidate], place)
    if not rest.strip():
        return AbsError("the text ends in the middle of a construct; is a '}' or ';' missing?", place)
    shown = word or rest[0]
    if isinstance(problem, lark.exceptions.UnexpectedToken):
        wanted = _readable(problem.expected)
    elif isinstance(problem, lark.exceptions.UnexpectedCharacters):
        wanted = _readable(problem.allowed or set())
    else:
        wanted = ""
    if not source.text.lstrip().startswith("module") and "module" in wanted:
        return AbsError(f"'{shown}' is not expected here: an ABS text begins with 'module Name;'", place)
    return AbsError(f"'{shown}' is not expected here" + (f"; expected {wanted}" if wanted else ""), place)


def _word_before(text: str, line: int, column: int) -> str:
    before = text.splitlines()[line - 1][: column - 1].split() if line <= len(text.splitlines()) else []
    return before[-1] if before else ""


_TERMINALS = {
    "LOWER": "a name",
    "UPPER": "a type or constructor name",
    "INT": "a number",
    "STRING": "a string",
}


def _readable(expected: set[str]) -> str:
    """At most a handful of expected things, in words; more would say nothing."""
    terminals = {str(t.name): t.pattern.value for t in _parser().terminals if t.pattern.type == "str"}
    words = {_TERMINALS.get(name) or (f"'{terminals[name]}'" if name in terminals else "") for name in expected}
    words.discard("")
    return " or ".join(sorted(words)) if 0 < len(words) <= 6 else ""


class _Builder:
    """Turns lark's tree into ours; one method per rule, each given the rule's children, already built."""

    def __init__(self, source: AbsSource) -> None:
        self._source = source

    def build(self, tree: Any) -> Any:
        if not isinstance(tree, lark.Tree):
            return tree
        children = [self.build(child) for child in tree.children]
        method: Callable[..., Any] = getattr(self, "_" + tree.data.rstrip("_"))
        place = AbsPlace(self._source, getattr(tree.meta, "line", 1), getattr(tree.meta, "column", 1))
        return method(place, children)

    def _place(self, token: Any) -> AbsPlace:
        return AbsPlace(self._source, token.line, token.column)

    def _start(self, at: AbsPlace, c: list[Any]) -> Any:
        return c

    # ---- modules and declarations

    def _module(self, at: AbsPlace, c: list[Any]) -> S.Module:
        *parts, main = c[1:]
        return S.Module(
            str(c[0]),
            [p for p in parts if isinstance(p, S.Export)],
            [p for p in parts if isinstance(p, S.Import)],
            [p for p in parts if isinstance(p, S.Declaration)],
            main,
            at=at,
        )

    def _export(self, at: AbsPlace, c: list[Any]) -> S.Export:
        return S.Export(c[0], None if c[1] is None else str(c[1]), at=at)

    def _export_all(self, at: AbsPlace, c: list[Any]) -> S.Export:
        return S.Export(None, None if c[0] is None else str(c[0]), at=at)

    def _import_names(self, at: AbsPlace, c: list[Any]) -> S.Import:
        return S.Import(c[0], None if c[1] is None else str(c[1]), at=at)

    def _import_all(self, at: AbsPlace, c: list[Any]) -> S.Import:
        return S.Import(None, str(c[0]), at=at)

    def _any_names(self, at: AbsPlace, c: list[Any]) -> list[str]:
        return c

    def _any_name(self, at: AbsPlace, c: list[Any]) -> str:
        return str(c[0])

    def _declaration(self, at: AbsPlace, c: list[Any]) -> Any:
        if isinstance(c[-1], S.ClassDecl) and len(c) > 1:
            c[-1].annotations = c[0]
        return c[-1]

    def _uses(self, at: AbsPlace, c: list[Any]) -> S.TraitExp:
        used: S.TraitExp = c[0]
        return used

    def _trait_decl(self, at: AbsPlace, c: list[Any]) -> S.TraitDecl:
        return S.TraitDecl(str(c[0]), c[1], at=self._place(c[0]))

    def _trait_exp(self, at: AbsPlace, c: list[Any]) -> S.TraitExp:
        return S.TraitExp(c[0], c[1:], at=at)

    def _trait_methods(self, at: AbsPlace, c: list[Any]) -> S.TraitMethods:
        methods = [m for m in c if isinstance(m, S.MethodDecl)]
        return S.TraitMethods(methods, str(c[0]) if c and not methods else None, at=at)

    def _trait_operation(self, at: AbsPlace, c: list[Any]) -> S.TraitOperation:
        return S.TraitOperation("adds" if str(c[0]) == "adds" else "modifies", c[1], [], at=at)

    def _trait_removes(self, at: AbsPlace, c: list[Any]) -> S.TraitOperation:
        return S.TraitOperation("removes", S.TraitMethods([], None, at=at), [signature.name for signature in c], at=at)

    def _data_decl(self, at: AbsPlace, c: list[Any]) -> S.DataDecl:
        return S.DataDecl(str(c[0]), c[1] or [], [x for x in c[2:] if x is not None], at=at)

    def _constructor(self, at: AbsPlace, c: list[Any]) -> S.ConstructorDecl:
        return S.ConstructorDecl(str(c[0]), [p for p in c[1:] if p is not None], at=at)

    def _constructor_param(self, at: AbsPlace, c: list[Any]) -> tuple[S.TypeUse, str | None]:
        return c[0], None if c[1] is None else str(c[1])

    def _type_params(self, at: AbsPlace, c: list[Any]) -> list[str]:
        return [str(x) for x in c]

    def _type_decl(self, at: AbsPlace, c: list[Any]) -> S.TypeDecl:
        return S.TypeDecl(str(c[0]), c[-1], at=at)

    def _exception_decl(self, at: AbsPlace, c: list[Any]) -> S.ExceptionDecl:
        return S.ExceptionDecl(self._constructor(at, c), at=at)

    def _function_decl(self, at: AbsPlace, c: list[Any]) -> S.FunctionDecl:
        *_, result, name, type_params, params, body = c
        return S.FunctionDecl(result, str(name), type_params or [], [], params, body, at=self._place(name))

    def _partial_function(self, at: AbsPlace, c: list[Any]) -> S.FunctionDecl:
        *_, result, name, type_params, functions, params, body = c
        return S.FunctionDecl(result, str(name), type_params or [], functions, params, body, at=self._place(name))

    def _fn_names(self, at: AbsPlace, c: list[Any]) -> list[str]:
        return [str(x) for x in c]

    def _function_body(self, at: AbsPlace, c: list[Any]) -> S.Exp | None:
        return c[0] if isinstance(c[0], S.Exp) else None

    def _params(self, at: AbsPlace, c: list[Any]) -> list[S.Param]:
        return [p for p in c if p is not None]

    def _param(self, at: AbsPlace, c: list[Any]) -> S.Param:
        param = S.Param(c[-2], str(c[-1]), at=self._place(c[-1]))
        param.final = _is_final(c[:-2])
        return param

    def _interface_decl(self, at: AbsPlace, c: list[Any]) -> S.InterfaceDecl:
        return S.InterfaceDecl(str(c[0]), c[1] or [], c[2:], at=self._place(c[0]))

    def _upper_names(self, at: AbsPlace, c: list[Any]) -> list[str]:
        return [str(x) for x in c]

    def _signature(self, at: AbsPlace, c: list[Any]) -> S.Signature:
        result, name, params = c[-3:]
        return S.Signature(result, str(name), params, at=self._place(name))

    def _class_decl(self, at: AbsPlace, c: list[Any]) -> S.ClassDecl:
        name, params, implements, *items = c
        blocks = [i for i in items if isinstance(i, list)]
        recover = [branch for i in items if isinstance(i, tuple) for branch in i]
        if len(blocks) > 1:
            raise AbsError(f"class {name} has more than one initialisation block", self._place(name))
        return S.ClassDecl(
            str(name),
            params or [],
            implements or [],
            [i for i in items if isinstance(i, S.FieldDecl)],
            blocks[0] if blocks else None,
            [i for i in items if isinstance(i, S.MethodDecl)],
            recover,
            [i for i in items if isinstance(i, S.TraitExp)],
            at=self._place(name),
        )

    def _field_decl(self, at: AbsPlace, c: list[Any]) -> S.FieldDecl:
        *before, type_, name, value = c
        field = S.FieldDecl(type_, str(name), value, at=self._place(name))
        field.final = _is_final(before)
        return field

    def _recover(self, at: AbsPlace, c: list[Any]) -> tuple[S.StatementBranch, ...]:
        return tuple(c)

    def _init_block(self, at: AbsPlace, c: list[Any]) -> list[S.Statement]:
        return c

    def _method(self, at: AbsPlace, c: list[Any]) -> S.MethodDecl:
        start = next(i for i, x in enumerate(c) if isinstance(x, S.TypeUse))
        result, name, params, *body = c[start:]
        return S.MethodDecl(result, str(name), params, body, at=self._place(name))

    def _main_block(self, at: AbsPlace, c: list[Any]) -> list[S.Statement]:
        return [s for s in c if isinstance(s, S.Statement)]

    def _type(self, at: AbsPlace, c: list[Any]) -> S.TypeUse:
        return S.TypeUse(str(c[0]), [a for a in c[1:] if isinstance(a, S.TypeUse)], at=at)

    def _annotations(self, at: AbsPlace, c: list[Any]) -> dict[str, S.Exp]:
        """What annotations say, by the name before the colon; those without are themselves the name."""
        return {name: exp for items in c for name, exp in items}

    def _annotation(self, at: AbsPlace, c: list[Any]) -> list[tuple[str, S.Exp]]:
        return c

    def _annotation_item(self, at: AbsPlace, c: list[Any]) -> tuple[str, S.Exp]:
        return str(c[0] if c[0] is not None else getattr(c[1], "name", "")), c[1]

    def _name(self, at: AbsPlace, c: list[Any]) -> Any:
        return c[0]

    # ---- statements

    def _annotated(self, at: AbsPlace, c: list[Any]) -> S.Statement:
        statement: S.Statement = c[-1]
        made = getattr(statement, "value", None)
        if isinstance(made, S.NewObject):
            made.scheduler = c[0].get("Scheduler")
        return statement

    def _block(self, at: AbsPlace, c: list[Any]) -> S.StatementBlock:
        return S.StatementBlock(c, at=at)

    def _var_decl(self, at: AbsPlace, c: list[Any]) -> S.VarDecl:
        *_, type_, name, value = c
        return S.VarDecl(type_, str(name), value, at=self._place(name))

    def _assign(self, at: AbsPlace, c: list[Any]) -> S.Assignment:
        return S.Assignment(c[0], c[1], at=at)

    def _exp_statement(self, at: AbsPlace, c: list[Any]) -> S.ExpStatement:
        return S.ExpStatement(c[0], at=at)

    def _operation_statement(self, at: AbsPlace, c: list[Any]) -> S.ExpStatement:
        """`1 / 0;`: a value nobody wants, that may still raise an exception."""
        return S.ExpStatement(S.Binary(str(c[1]), c[0], c[2], at=at), at=at)

    def _value_statement(self, at: AbsPlace, c: list[Any]) -> S.ExpStatement:
        return S.ExpStatement(S.Unary("-", c[1], at=at), at=at)

    def _skip(self, at: AbsPlace, c: list[Any]) -> S.Skip:
        return S.Skip(at=at)

    def _suspend(self, at: AbsPlace, c: list[Any]) -> S.Suspend:
        return S.Suspend(at=at)

    def _return(self, at: AbsPlace, c: list[Any]) -> S.ReturnStatement:
        return S.ReturnStatement(c[0] if c else None, at=at)

    def _assert(self, at: AbsPlace, c: list[Any]) -> S.Assert:
        return S.Assert(c[0], at=at)

    def _throw(self, at: AbsPlace, c: list[Any]) -> S.Throw:
        return S.Throw(c[0], at=at)

    def _die(self, at: AbsPlace, c: list[Any]) -> S.Die:
        return S.Die(c[0], at=at)

    def _while(self, at: AbsPlace, c: list[Any]) -> S.While:
        return S.While(c[0], c[1], at=at)

    def _foreach(self, at: AbsPlace, c: list[Any]) -> S.Foreach:
        return S.Foreach(str(c[0]), None if c[1] is None else str(c[1]), c[2], c[3], at=at)

    def _if(self, at: AbsPlace, c: list[Any]) -> S.If:
        return S.If(c[0], c[1], c[2], at=at)

    def _await(self, at: AbsPlace, c: list[Any]) -> S.Statement:
        guard, delays = c[0]
        if delays:  # a delay that is over stays over: what else the guard wants is looked at then
            rest = [S.AwaitStatement(guard, at=at)] if guard.claims or guard.conditions else []
            return S.StatementBlock([*(self._delay(at, args, releases=True) for args in delays), *rest], at=at)
        if not guard.claims and len(guard.conditions) == 1 and isinstance(guard.conditions[0], S.Send):
            send = guard.conditions[0]
            call = S.AwaitCall(send.receiver, send.method, send.args, at=at)
            return S.ExpStatement(call, at=at)
        return S.AwaitStatement(guard, at=at)

    def _duration(self, at: AbsPlace, c: list[Any]) -> S.Statement:
        return self._delay(at, c[0], releases=False)

    @staticmethod
    def _delay(at: AbsPlace, args: list[S.Exp], releases: bool) -> S.Statement:
        if len(args) not in (1, 2):
            raise AbsError("a duration is one number, or the least and the most", at)
        return S.Delay(args[0], releases, varies=len(args) == 2 and not _same(args[0], args[1]), at=at)

    def _guard(self, at: AbsPlace, c: list[Any]) -> tuple[S.AwaitGuard, list[list[S.Exp]]]:
        """The guard, and the delays in it."""
        claims: list[S.Exp] = []
        conditions: list[S.Exp] = []
        for is_claim, exp in (atom for atom in c if isinstance(atom, tuple)):
            while is_claim and isinstance(exp, S.Binary) and exp.op == "&&":
                conditions.append(exp.left)  # `await b && f?` parses as `await (b && f)?`
                exp = exp.right
            (claims if is_claim else conditions).append(exp)
        return S.AwaitGuard(claims, conditions, at=at), [atom for atom in c if isinstance(atom, list)]

    def _delay_guard(self, at: AbsPlace, c: list[Any]) -> list[S.Exp]:
        args: list[S.Exp] = c[0]
        return args

    def _claim(self, at: AbsPlace, c: list[Any]) -> tuple[bool, S.Exp]:
        return True, c[0]

    def _condition(self, at: AbsPlace, c: list[Any]) -> tuple[bool, S.Exp]:
        return False, c[0]

    def _switch(self, at: AbsPlace, c: list[Any]) -> S.Switch:
        return S.Switch(c[0], c[1:], at=at)

    def _statement_branch(self, at: AbsPlace, c: list[Any]) -> S.StatementBranch:
        return S.StatementBranch(c[0], c[1], at=at)

    def _catches(self, at: AbsPlace, c: list[Any]) -> list[S.StatementBranch]:
        return c

    def _try(self, at: AbsPlace, c: list[Any]) -> S.Try:
        return S.Try(c[0], c[1], c[2], at=at)

    # ---- patterns

    def _wildcard(self, at: AbsPlace, c: list[Any]) -> S.Pattern:
        return S.AnyPattern(at=at)

    def _pattern_var(self, at: AbsPlace, c: list[Any]) -> S.Pattern:
        return S.VarPattern(str(c[0]), at=at)

    def _pattern_int(self, at: AbsPlace, c: list[Any]) -> S.Pattern:
        return S.LiteralPattern(-int(c[-1]) if len(c) > 1 else int(c[-1]), at=at)

    def _pattern_string(self, at: AbsPlace, c: list[Any]) -> S.Pattern:
        return S.LiteralPattern(_text(c[0]), at=at)

    def _pattern_null(self, at: AbsPlace, c: list[Any]) -> S.Pattern:
        return S.LiteralPattern(None, at=at)

    def _pattern_con(self, at: AbsPlace, c: list[Any]) -> S.Pattern:
        return S.ConPattern(str(c[0]), [p for p in c[1:] if p is not None], at=at)

    # ---- expressions

    def _if_exp(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.IfExp(c[0], c[1], c[2], at=at)

    def _let(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        *bindings, body = c
        for declared, name, value in reversed(bindings):
            body = S.Let(declared, name, value, body, at=at)
        exp: S.Exp = body
        return exp

    def _let_binding(self, at: AbsPlace, c: list[Any]) -> tuple[S.TypeUse, str, S.Exp]:
        return c[0], str(c[1]), c[2]

    def _case(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.CaseExp(c[0], c[1], at=at)

    def _exp_branches(self, at: AbsPlace, c: list[Any]) -> list[S.CaseBranch]:
        return c

    def _exp_branch(self, at: AbsPlace, c: list[Any]) -> S.CaseBranch:
        return S.CaseBranch(c[0], c[1], at=at)

    def _or(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.Binary("||", c[0], c[1], at=at)

    def _and(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.Binary("&&", c[0], c[1], at=at)

    def _binary(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.Binary(str(c[1]), c[0], c[2], at=at)

    def _not(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.Unary("!", c[0], at=at)

    def _negate(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        operand = c[-1]
        if isinstance(operand, S.Literal_) and isinstance(operand.value, int | float):
            return S.Literal_(-operand.value, at=at)
        return S.Unary("-", operand, at=at)

    def _as(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.As(c[0], str(c[1]), False, at=at)

    def _implements(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.As(c[0], str(c[1]), True, at=at)

    def _int(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.Literal_(int(c[0]), at=at)

    def _float(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.Literal_(float(c[0]), at=at)

    def _string(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.Literal_(_text(c[0]), at=at)

    def _template(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        """`text $expression$ text`: the parts joined by +."""
        joined: S.Exp = S.Literal_("", at=at)
        for number, part in enumerate(re.split(r"(?<!\\)\$", str(c[0])[1:-1])):
            if number % 2 == 0:
                inside: S.Exp = S.Literal_(_TEMPLATE_ESCAPE.sub(r"\1", part), at=at)
            else:
                inside = parse_inside(part, at)
            joined = S.Binary("+", joined, inside, at=at)
        return joined

    def _lambda(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.Lambda(c[1], c[2], at=at)

    def _this(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.This(at=at)

    def _null(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.Null(at=at)

    def _var(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.Var(str(c[0]), at=at)

    def _con(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.Con(str(c[0]), c[1] or [], at=at)

    def _call(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.FunctionCall(str(c[0]), c[1], at=at)

    def _variadic(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        """`list[a, b]` is `list(Cons(a, Cons(b, Nil)))`."""
        values: S.Exp = S.Con("Nil", [], at=at)
        for element in reversed(c[1]):
            values = S.Con("Cons", [element, values], at=at)
        return S.FunctionCall(str(c[0]), [values], at=at)

    def _partial_call(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.PartialCall(str(c[0]), c[1], c[2], at=at)

    def _args(self, at: AbsPlace, c: list[Any]) -> list[S.Exp]:
        return [a for a in c if a is not None]

    def _parens(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        exp: S.Exp = c[0]
        return exp

    def _field(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.Field(c[0], str(c[1]), at=self._place(c[1]))

    def _get(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.GetFuture(c[0], at=at)

    def _sync_call(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.SyncCall(c[0], str(c[1]), c[2], at=self._place(c[1]))

    def _send(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.Send(c[0], str(c[1]), c[2], at=self._place(c[1]))

    def _await_call(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        if not isinstance(c[0], S.Send):
            raise AbsError("'await' in an expression needs an asynchronous call: await o!m()", at)
        return S.AwaitCall(c[0].receiver, c[0].method, c[0].args, at=at)

    def _new(self, at: AbsPlace, c: list[Any]) -> S.Exp:
        return S.NewObject("local" if c[0] == "local" else "cog", str(c[1]), c[2] or [], at=self._place(c[1]))

    def _new_kind(self, at: AbsPlace, c: list[Any]) -> str:
        return str(c[0])


_TEMPLATE_ESCAPE = re.compile(r"\\([$`])")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def _text(token: Any) -> str:
    """The value of a string literal."""
    out: list[str] = []
    characters = iter(str(token)[1:-1])
    for char in characters:
        if char == "\\":
            following = next(characters, "\\")
            out.append(_ESCAPES.get(following, following))
        else:
            out.append(char)
    return "".join(out)


def _same(one: Any, other: Any) -> bool:
    """Are two pieces of syntax written alike, wherever they stand?"""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if is_dataclass(one):
        return all(_same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one) if f.name != "at")
    return bool(one == other)


def _is_final(before: list[Any]) -> bool:
    """Whether what stands before a declaration says so: the word, or the annotation."""
    return any("Final" in part if isinstance(part, dict) else part == "final" for part in before)
