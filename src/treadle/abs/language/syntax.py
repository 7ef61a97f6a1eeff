"""The syntax tree of ABS: one small class per construct, each with its place.

The parser fills the written parts. The checker fills the fields marked `init=False`: what a name refers to and which
type an expression has. Nothing after the checker looks a name up again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from treadle.abs.language.errors import AbsPlace


@dataclass(slots=True, kw_only=True)
class SyntaxNode:
    at: AbsPlace


# ---- types as written


@dataclass(slots=True)
class TypeUse(SyntaxNode):
    name: str
    args: list[TypeUse]


@dataclass(slots=True)
class Param(SyntaxNode):
    type: TypeUse
    name: str
    final: bool = field(default=False, init=False)


# ---- expressions


@dataclass(slots=True)
class Exp(SyntaxNode):
    type: Any = field(default=None, init=False)  # a types.Type once checked


@dataclass(slots=True)
class Literal_(Exp):
    value: int | float | str


@dataclass(slots=True)
class This(Exp):
    pass


@dataclass(slots=True)
class Null(Exp):
    pass


@dataclass(slots=True)
class Var(Exp):
    name: str
    kind: Literal["local", "field", "destiny", "?"] = field(default="?", init=False)


@dataclass(slots=True)
class Field(Exp):
    target: Exp
    name: str


@dataclass(slots=True)
class Con(Exp):
    name: str
    args: list[Exp]
    con: Any = field(default=None, init=False)  # a model.Constructor


@dataclass(slots=True)
class FunctionCall(Exp):
    name: str
    args: list[Exp]
    function: Any = field(default=None, init=False)  # a model.Function


@dataclass(slots=True)
class PartialCall(Exp):
    name: str
    functions: list[Exp]
    args: list[Exp]
    function: Any = field(default=None, init=False)
    given: list[Any] = field(default_factory=list, init=False)


@dataclass(slots=True)
class Lambda(Exp):
    """An anonymous function, where a function is given to a partial function."""

    params: list[Param]
    body: Exp
    resolved: list[Any] = field(default_factory=list, init=False)  # the parameters' types


@dataclass(slots=True)
class Unary(Exp):
    op: Literal["!", "-"]
    operand: Exp


@dataclass(slots=True)
class Binary(Exp):
    op: str
    left: Exp
    right: Exp


@dataclass(slots=True)
class IfExp(Exp):
    condition: Exp
    then: Exp
    otherwise: Exp


@dataclass(slots=True)
class Let(Exp):
    declared: TypeUse
    name: str
    value: Exp
    body: Exp


@dataclass(slots=True)
class CaseBranch(SyntaxNode):
    pattern: Pattern
    body: Exp


@dataclass(slots=True)
class CaseExp(Exp):
    subject: Exp
    branches: list[CaseBranch]


@dataclass(slots=True)
class As(Exp):
    value: Exp
    interface: str
    test: bool  # `implements` only asks, `as` converts
    target: Any = field(default=None, init=False)


# ---- expressions with an effect: only where the lowering can give them a statement of their own


@dataclass(slots=True)
class NewObject(Exp):
    kind: Literal["cog", "local"]
    name: str
    args: list[Exp]
    cls: Any = field(default=None, init=False)
    scheduler: Exp | None = field(default=None, init=False)  # what the annotation Scheduler says


@dataclass(slots=True)
class Send(Exp):
    receiver: Exp
    method: str
    args: list[Exp]


@dataclass(slots=True)
class SyncCall(Exp):
    receiver: Exp
    method: str
    args: list[Exp]


@dataclass(slots=True)
class AwaitCall(Exp):
    receiver: Exp
    method: str
    args: list[Exp]


@dataclass(slots=True)
class GetFuture(Exp):
    future: Exp


# ---- patterns


@dataclass(slots=True)
class Pattern(SyntaxNode):
    type: Any = field(default=None, init=False)


@dataclass(slots=True)
class AnyPattern(Pattern):
    pass


@dataclass(slots=True)
class VarPattern(Pattern):
    name: str
    bound: bool = field(default=False, init=False)  # the name was in scope: compare, do not bind
    kind: Literal["local", "field"] = field(default="local", init=False)


@dataclass(slots=True)
class LiteralPattern(Pattern):
    value: int | str | None


@dataclass(slots=True)
class ConPattern(Pattern):
    name: str
    args: list[Pattern]
    con: Any = field(default=None, init=False)


# ---- statements


@dataclass(slots=True)
class Statement(SyntaxNode):
    pass


@dataclass(slots=True)
class StatementBlock(Statement):
    body: list[Statement]


@dataclass(slots=True)
class VarDecl(Statement):
    declared: TypeUse
    name: str
    value: Exp | None
    resolved: Any = field(default=None, init=False)


@dataclass(slots=True)
class Assignment(Statement):
    target: Exp
    value: Exp


@dataclass(slots=True)
class ExpStatement(Statement):
    value: Exp


@dataclass(slots=True)
class Skip(Statement):
    pass


@dataclass(slots=True)
class Suspend(Statement):
    pass


@dataclass(slots=True)
class ReturnStatement(Statement):
    value: Exp | None


@dataclass(slots=True)
class Assert(Statement):
    condition: Exp


@dataclass(slots=True)
class Throw(Statement):
    value: Exp


@dataclass(slots=True)
class Die(Throw):
    """Read and checked as a throw; not executed."""


@dataclass(slots=True)
class While(Statement):
    condition: Exp
    body: Statement


@dataclass(slots=True)
class Foreach(Statement):
    name: str
    index: str | None
    values: Exp
    body: Statement
    element: Any = field(default=None, init=False)


@dataclass(slots=True)
class If(Statement):
    condition: Exp
    then: Statement
    otherwise: Statement | None


@dataclass(slots=True)
class AwaitGuard(SyntaxNode):
    claims: list[Exp]
    conditions: list[Exp]


@dataclass(slots=True)
class AwaitStatement(Statement):
    guard: AwaitGuard


@dataclass(slots=True)
class Delay(Statement):
    """`duration(least, most)` holds the actor for that time, `await duration(least, most)` gives it away."""

    least: Exp
    releases: bool
    varies: bool = False  # is the most another expression than the least?


@dataclass(slots=True)
class StatementBranch(SyntaxNode):
    pattern: Pattern
    body: Statement


@dataclass(slots=True)
class Switch(Statement):
    subject: Exp
    branches: list[StatementBranch]


@dataclass(slots=True)
class Try(Statement):
    body: Statement
    catches: list[StatementBranch]
    finally_: Statement | None


# ---- declarations


@dataclass(slots=True)
class ConstructorDecl(SyntaxNode):
    name: str
    params: list[tuple[TypeUse, str | None]]


@dataclass(slots=True)
class DataDecl(SyntaxNode):
    name: str
    type_params: list[str]
    constructors: list[ConstructorDecl]


@dataclass(slots=True)
class TypeDecl(SyntaxNode):
    name: str
    meaning: TypeUse


@dataclass(slots=True)
class ExceptionDecl(SyntaxNode):
    constructor: ConstructorDecl

    @property
    def name(self) -> str:
        return self.constructor.name


@dataclass(slots=True)
class FunctionDecl(SyntaxNode):
    result: TypeUse
    name: str
    type_params: list[str]
    functions: list[str]  # names of function parameters, of a partial function
    params: list[Param]
    body: Exp | None  # None: builtin


@dataclass(slots=True)
class Signature(SyntaxNode):
    result: TypeUse
    name: str
    params: list[Param]


@dataclass(slots=True)
class InterfaceDecl(SyntaxNode):
    name: str
    extends: list[str]
    signatures: list[Signature]


@dataclass(slots=True)
class FieldDecl(SyntaxNode):
    type: TypeUse
    name: str
    value: Exp | None
    final: bool = field(default=False, init=False)


@dataclass(slots=True)
class MethodDecl(SyntaxNode):
    result: TypeUse
    name: str
    params: list[Param]
    body: list[Statement]


@dataclass(slots=True)
class ClassDecl(SyntaxNode):
    name: str
    params: list[Param]
    implements: list[str]
    fields: list[FieldDecl]
    init: list[Statement] | None
    methods: list[MethodDecl]
    recover: list[StatementBranch]
    uses: list[TraitExp]
    annotations: dict[str, Exp] = field(default_factory=dict, init=False)


@dataclass(slots=True)
class TraitMethods(SyntaxNode):
    """Methods written down, or the name of the trait that has them."""

    methods: list[MethodDecl]
    name: str | None


@dataclass(slots=True)
class TraitOperation(SyntaxNode):
    kind: Literal["adds", "modifies", "removes"]
    given: TraitMethods
    removed: list[str]


@dataclass(slots=True)
class TraitExp(SyntaxNode):
    first: TraitMethods
    operations: list[TraitOperation]


@dataclass(slots=True)
class TraitDecl(SyntaxNode):
    name: str
    meaning: TraitExp


Declaration = TraitDecl | DataDecl | TypeDecl | ExceptionDecl | FunctionDecl | InterfaceDecl | ClassDecl


@dataclass(slots=True)
class Export(SyntaxNode):
    names: list[str] | None  # None: everything
    origin: str | None


@dataclass(slots=True)
class Import(SyntaxNode):
    names: list[str] | None
    origin: str | None


@dataclass(slots=True)
class Module(SyntaxNode):
    name: str
    exports: list[Export]
    imports: list[Import]
    declarations: list[Declaration]
    main: list[Statement] | None
