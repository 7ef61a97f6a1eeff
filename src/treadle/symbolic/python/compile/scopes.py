"""Which names a function owns, and which it takes from around it: Python's scope rules, for the compiler."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(slots=True)
class CompilerScope:
    """The names of one function; `outer` is the function around it."""

    locals: set[str]
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    outer: CompilerScope | None = None
    # names of comprehensions around a nested function, and the slots they live in
    renamed: dict[str, str] = field(default_factory=dict)

    def outer_slot(self, name: str) -> str:
        """Where an enclosing function keeps the name."""
        scope = self.outer
        while scope is not None:
            if name in scope.renamed:
                return scope.renamed[name]
            if name in scope.locals:
                return name
            scope = scope.outer
        return name

    def kind(self, name: str) -> str:
        """'local', 'outer' or 'global'."""
        if name in self.globals:
            return "global"
        if name in self.locals and name not in self.nonlocals:
            return "local"
        scope = self.outer
        while scope is not None:
            if name in scope.locals or name in scope.renamed:
                return "outer"
            scope = scope.outer
        return "global"


class _Bindings(ast.NodeVisitor):
    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.yields = False
        self._comprehension = 0

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store | ast.Del) and not self._comprehension:
            self.bound.add(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.bound.add(node.target.id)
        self.visit(node.value)

    def visit_Global(self, node: ast.Global) -> None:
        self.globals.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.nonlocals.update(node.names)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self.bound.add(node.name)
        for part in node.decorator_list:
            self.visit(part)

    visit_AsyncFunctionDef = visit_FunctionDef
    visit_ClassDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.bound.add(alias.asname or alias.name.partition(".")[0])

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.bound.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.bound.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.bound.add(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.bound.add(node.rest)
        self.generic_visit(node)

    def _visit_comprehension(self, node: ast.AST) -> None:
        # its own names are renamed by the compiler; only a walrus inside binds in the function
        self._comprehension += 1
        self.generic_visit(node)
        self._comprehension -= 1

    visit_ListComp = _visit_comprehension
    visit_SetComp = _visit_comprehension
    visit_DictComp = _visit_comprehension
    visit_GeneratorExp = _visit_comprehension

    def visit_Yield(self, node: ast.Yield | ast.YieldFrom) -> None:
        self.yields = True
        self.generic_visit(node)

    visit_YieldFrom = visit_Yield


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def scope_of(node: FunctionNode, outer: CompilerScope | None) -> tuple[CompilerScope, bool]:
    """The function's scope, and whether it is a generator."""
    finder = _Bindings()
    for part in node.body if isinstance(node.body, list) else [node.body]:
        finder.visit(part)
    names = {p.arg for p in parameters(node.args)} | finder.bound
    scope = CompilerScope(names - finder.globals - finder.nonlocals, finder.globals, finder.nonlocals, outer)
    return scope, finder.yields


def assigned_around(node: ast.AST) -> list[str]:
    """Names that a comprehension assigns with `:=`: they belong to the function around it."""
    found: list[str] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.NamedExpr):
            found.append(child.target.id)
        if not isinstance(child, ast.Lambda):
            found += assigned_around(child)
    return list(dict.fromkeys(found))
