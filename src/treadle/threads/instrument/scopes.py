"""Decides which variables of a module are shared: globals and closure cells that functions rebind.

A local variable belongs to one call and needs no hook. Two kinds of names do:

- a module global that some function rebinds (`global x`), or that looks like state other modules may rebind
  (`stop = False` at module level, read by a function here and set as `module.stop = True` elsewhere);
- a variable of a function that an inner function can see while it is rebound: either the inner function rebinds
  it (`nonlocal x`), or its owner does so after (or in the same loop as) the inner function was made.

Names are resolved by Python's own rules (class bodies are skipped, `:=` in a comprehension binds outside of it,
the first iterable of a comprehension belongs to the enclosing scope). Annotations are never looked at.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass, field
from typing import Literal

from treadle.core.parsing import mangle

Kind = Literal["module", "function", "class", "comprehension", "type parameters"]
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ComprehensionNode = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(eq=False, slots=True)
class NameScope:
    """One block of names. Moments number the bindings and inner scopes in the order of the text."""

    kind: Kind
    qualname: str
    parent: NameScope | None
    class_name: str | None
    moment: int
    bound: dict[str, list[int]] = field(default_factory=dict)
    declared_global: set[str] = field(default_factory=set)
    declared_nonlocal: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    loops: list[tuple[int, int]] = field(default_factory=list)
    children: list[NameScope] = field(default_factory=list)
    shared_cells: set[str] = field(default_factory=set)

    def owns(self, name: str) -> bool:
        """Is `name` a variable of this very scope?"""
        return name in self.bound and name not in self.declared_global and name not in self.declared_nonlocal

    def owner_of(self, name: str) -> NameScope | None:
        """The scope whose variable `name` means here; None for a module global or a built-in."""
        if name in self.declared_global:
            return None
        if self.owns(name):
            return None if self.kind == "module" else self
        scope = self.parent
        while scope is not None and scope.kind != "module":
            if scope.kind != "class":
                if name in scope.declared_global:
                    return None
                if scope.owns(name):
                    return scope
            scope = scope.parent
        return None


@dataclass(frozen=True, slots=True)
class ScopeNames:
    """What the rewriter asks: the scope of a node, and how a name used in a scope is shared."""

    scopes: dict[ast.AST, NameScope]
    rebound_globals: frozenset[str]
    module_variables: frozenset[str]  # the other variables of the module that hold data
    bound_nowhere: frozenset[str]  # names that only other modules, `globals()` or an import of everything can bind

    def is_shared_global(self, scope: NameScope, name: str) -> bool:
        return scope.kind != "module" and name in self.rebound_globals and scope.owner_of(name) is None

    def is_module_variable(self, scope: NameScope, name: str) -> bool:
        """Does `name` mean a variable of the module that only other modules may rebind?"""
        return scope.kind != "module" and name in self.module_variables and scope.owner_of(name) is None

    def is_bound_nowhere(self, scope: NameScope, name: str) -> bool:
        """Not in the body of a class, which can bind names of its own in many ways."""
        inside = scope.kind in ("function", "comprehension")
        return inside and name in self.bound_nowhere and scope.owner_of(name) is None

    def shared_cell(self, scope: NameScope, name: str) -> str | None:
        """The label of the shared closure variable that `name` means here, as in `outer.<locals>.x`."""
        owner = scope.owner_of(name)
        if owner is None or name not in owner.shared_cells:
            return None
        return f"{owner.qualname}.<locals>.{name}"

    def is_private(self, scope: NameScope, name: str) -> bool:
        """Is `name` a variable that only the running call can rebind?"""
        return scope.kind == "function" and scope.owns(name) and name not in scope.shared_cells


def analyse(tree: ast.Module) -> ScopeNames:
    collector = _Collector()
    collector.run(tree)
    rebound_globals: set[str] = set(collector.module_state)
    for scope in collector.scopes.values():
        rebound_globals |= scope.declared_global & scope.bound.keys()
        for name in scope.declared_nonlocal & scope.bound.keys() - {"__class__"}:
            owner = scope.owner_of(name)
            if owner is not None:
                owner.shared_cells.add(name)
    for scope in collector.scopes.values():
        if scope.kind in ("function", "comprehension"):
            for child in scope.children:
                _find_late_bindings(scope, child, _runs_later(child), child)
    # `__class__` is the compiler's: where it is mentioned decides which cells a class body has.
    shared = frozenset(rebound_globals - {"__class__"})
    data = frozenset(collector.module_data - shared)
    return ScopeNames(collector.scopes, shared, data, _bound_nowhere(tree, collector.scopes) - data - shared)


def _bound_nowhere(tree: ast.Module, scopes: dict[ast.AST, NameScope]) -> frozenset[str]:
    return frozenset(
        name
        for scope in scopes.values()
        for name in scope.uses
        if scope.owner_of(name) is None
        and name not in scopes[tree].bound
        and not name.startswith("__")
        and not hasattr(builtins, name)
    )


def _find_late_bindings(owner: NameScope, capture: NameScope, later: bool, scope: NameScope) -> None:
    """Mark the variables of `owner` that may be rebound once `capture`, which holds `scope`, exists."""
    if later:
        for name in scope.uses:
            captured = owner.owns(name) and scope.owner_of(name) is owner
            if captured and any(_may_follow(owner, moment, capture.moment) for moment in owner.bound[name]):
                owner.shared_cells.add(name)
    for child in scope.children:
        _find_late_bindings(owner, capture, later or _runs_later(child), child)


def _runs_later(scope: NameScope) -> bool:
    """Can the scope's code still run after the statement that made it?"""
    return scope.kind == "function"


def _may_follow(owner: NameScope, binding: int, capture: int) -> bool:
    if binding > capture:
        return True
    return any(start <= binding <= end and start <= capture <= end for start, end in owner.loops)


class _Collector(ast.NodeVisitor):
    """Walks a module once and builds its scopes."""

    def __init__(self) -> None:
        self.scopes: dict[ast.AST, NameScope] = {}
        self.moment = 0
        self.module_state: set[str] = set()
        self.module_data: set[str] = set()

    def run(self, tree: ast.Module) -> None:
        self.scope = self.scopes[tree] = NameScope("module", "", None, None, 0)
        self._visit_all(tree.body)

    # -- scopes ---------------------------------------------------------------------------------------------

    def _enter(self, node: ast.AST, kind: Kind, name: str, class_name: str | None) -> NameScope:
        outer = self.scope
        prefix = outer.qualname
        if outer.kind in ("function", "comprehension"):
            prefix += ".<locals>"
        if kind == "type parameters":
            qualname = prefix
        elif not prefix or mangle(name, outer.class_name) in outer.declared_global:
            qualname = name
        else:
            qualname = f"{prefix}.{name}"
        self.moment += 1
        scope = NameScope(kind, qualname, outer, class_name, self.moment)
        outer.children.append(scope)
        self.scopes[node] = scope
        self.scope = scope
        return outer

    def _bind(self, name: str) -> None:
        self.moment += 1
        self.scope.bound.setdefault(mangle(name, self.scope.class_name), []).append(self.moment)

    def _visit_all(self, nodes: list[ast.stmt] | list[ast.expr]) -> None:
        for node in nodes:
            self.visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._visit_all(node.decorator_list)
        self._visit_defaults(node.args)
        self._bind(node.name)
        outer = self.scope
        self._enter_type_parameters(node)
        self._enter(node, "function", node.name, self.scope.class_name)
        self._bind_arguments(node.args)
        self._visit_all(node.body)
        self.scope = outer

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_defaults(node.args)
        outer = self._enter(node, "function", "<lambda>", self.scope.class_name)
        self._bind_arguments(node.args)
        self.visit(node.body)
        self.scope = outer

    def _visit_defaults(self, args: ast.arguments) -> None:
        self._visit_all(args.defaults)
        self._visit_all([default for default in args.kw_defaults if default is not None])

    def _bind_arguments(self, args: ast.arguments) -> None:
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
            self._bind(arg.arg)
        for star in (args.vararg, args.kwarg):
            if star is not None:
                self._bind(star.arg)

    def _enter_type_parameters(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        type_params = getattr(node, "type_params", None)
        if type_params:
            self._enter(type_params[0], "type parameters", "", self.scope.class_name)
            for parameter in type_params:
                self._bind(parameter.name)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_all(node.decorator_list)
        outer = self.scope
        self._enter_type_parameters(node)
        self._visit_all(node.bases)
        self._visit_all([keyword.value for keyword in node.keywords])
        self._enter(node, "class", node.name, node.name)
        self._visit_all(node.body)
        self.scope = outer
        self._bind(node.name)

    def _visit_comprehension(self, node: ComprehensionNode) -> None:
        self.visit(node.generators[0].iter)
        kind: Kind = "function" if isinstance(node, ast.GeneratorExp) else "comprehension"
        names = {ast.ListComp: "<listcomp>", ast.SetComp: "<setcomp>", ast.DictComp: "<dictcomp>"}
        outer = self._enter(node, kind, names.get(type(node), "<genexpr>"), self.scope.class_name)
        self.scopes[node.generators[0]] = self.scope
        start = self.moment + 1
        for number, generator in enumerate(node.generators):
            if number:
                self.visit(generator.iter)
            self.visit(generator.target)
            self._visit_all(generator.ifs)
        if isinstance(node, ast.DictComp):
            self.visit(node.key)
            self.visit(node.value)
        else:
            self.visit(node.elt)
        self.scope.loops.append((start, self.moment))
        self.scope = outer

    visit_ListComp = _visit_comprehension
    visit_SetComp = _visit_comprehension
    visit_DictComp = _visit_comprehension
    visit_GeneratorExp = _visit_comprehension

    # -- bindings -------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.scope.uses.add(mangle(node.id, self.scope.class_name))
        else:
            self._bind_data(node.id)

    def _bind_data(self, name: str) -> None:
        self._bind(name)
        if self.scope.kind == "module" and not name.startswith(("__", "@")):
            self.module_data.add(name)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        inner = self.scope
        while self._is_comprehension(self.scope) and self.scope.parent is not None:
            self.scope = self.scope.parent
        self._bind_data(node.target.id)
        self.scope = inner
        if self._is_comprehension(inner):
            inner.uses.add(mangle(node.target.id, inner.class_name))

    @staticmethod
    def _is_comprehension(scope: NameScope) -> bool:
        return scope.kind == "comprehension" or scope.qualname.endswith("<genexpr>")

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.declared_global.update(mangle(name, self.scope.class_name) for name in node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.declared_nonlocal.update(mangle(name, self.scope.class_name) for name in node.names)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._bind(alias.asname or alias.name.partition(".")[0])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self._bind(alias.asname or alias.name)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self.visit(node.type)
        if node.name is not None:
            self._bind(node.name)
        self._visit_all(node.body)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self.generic_visit(node)
        if node.name is not None:
            self._bind(node.name)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.generic_visit(node)
        if node.rest is not None:
            self._bind(node.rest)

    def visit_TypeAlias(self, node: ast.AST) -> None:
        """The value of `type X = ...` is an annotation; only the name is bound."""
        self.visit(node.name)  # type: ignore[attr-defined]

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        self._visit_all(node.targets)
        for target in node.targets:
            self._note_state(target, node.value)

    def _note_state(self, target: ast.expr, value: ast.expr) -> None:
        """A module-level `flag = False` or `count = 0`. CONSTANTS and __dunders__ are taken at their word."""
        if self.scope.kind == "module" and isinstance(target, ast.Name) and isinstance(value, ast.Constant):
            name = target.id
            if name != name.upper() and not name.startswith(("__", "@")):
                self.module_state.add(name)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self.visit(node.target)
        if isinstance(node.target, ast.Name):
            self.scope.uses.add(mangle(node.target.id, self.scope.class_name))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)
            self._note_state(node.target, node.value)
        elif isinstance(node.target, ast.Name):
            self.scope.bound.setdefault(mangle(node.target.id, self.scope.class_name), [])

    # -- loops ----------------------------------------------------------------------------------------------

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        start = self.moment + 1
        self.visit(node.target)
        self._visit_all(node.body)
        self.scope.loops.append((start, self.moment))
        self._visit_all(node.orelse)

    visit_AsyncFor = visit_For

    def visit_While(self, node: ast.While) -> None:
        start = self.moment + 1
        self.visit(node.test)
        self._visit_all(node.body)
        self.scope.loops.append((start, self.moment))
        self._visit_all(node.orelse)
