"""Turns a module into one whose shared accesses go through hooks, as one AST made from another.

What becomes what:

    obj.name                    _treadle_load(obj, "name")
    obj.name(...)               _treadle_callee(obj, "name")(...)
    f(...)                      _treadle_function(f)(...)
    obj.name = v                _treadle_store(v, obj, "name")
    del obj.name                _treadle_delete(obj, "name")
    obj[k], = v, del            _treadle_item(obj, k), _treadle_set_item(v, obj, k), _treadle_del_item(obj, k)
    a in c                      _treadle_in(a, c)
    a + b, a == b, a += b       _treadle_add(a, b), _treadle_eq(a, b), a = _treadle_iadd(a, b)
    if x, f"{x}", match x       the operand becomes _treadle_use(x), _treadle_show(x), _treadle_match(x)
    for t in it, a, b = it      the iterable becomes _treadle_iter(it), _treadle_iter_unpack(it) for `for a, b in it`
    f(*a), {**d}, [*a]          _treadle_spread(a), _treadle_merge(d), _treadle_star(a)
    def f, lambda               _treadle_called() at the beginning: native code may have called it
    def __hash__, __eq__        if known := _treadle_asked(self, other): return known[0]
    yield v, yield from g       yield _treadle_give(v), yield from _treadle_delegate(g)
    eval(s), exec(s)            the source becomes _treadle_unseen("eval", s), the variables _treadle_exposed(...)
    with cm                     with _treadle_context(cm)
    a rebound global            _treadle_global, _treadle_set_global, _treadle_del_global(_treadle_globals(), "x")
    another variable of a module _treadle_constant(_treadle_globals(), "X")
    a rebound closure cell      (_treadle_cell_read(label), x)[1];  x = (v, _treadle_cell_write(label))[0]
    a name bound nowhere        (_treadle_unbound(_treadle_globals(), "x"), x)[1]
    while not flag: pass        _treadle_spin_start() before a loop that only reads, _treadle_spin() at the end of each
                                iteration

Calls themselves stay native, so tracebacks have no extra frames around the program's own calls. Where a target
sits inside a larger one (`a, o.x = it`, `for o.x in it`, `f().x += 1`) it becomes the attribute `value` of a
place object (see places.py), which keeps Python's order of evaluation without temporary variables.

Invariants: every new node has the location of the node it stands for; no free variable is added to or removed
from any function; nested functions, classes and comprehensions stay in the same order; annotations, patterns and
type parameters are left alone.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Iterator
from typing import TypeVar

from treadle.threads.instrument.scopes import analyse
from treadle.threads.instrument.spin_loops import is_spin_loop
from treadle.threads.instrument.targets import TargetRewriter

# Part of the key of the on-disk cache: change it whenever the rewritten form changes.
REWRITER_VERSION = 13

# Methods of keys that containers ask, and their arguments.
ASKED = {"__hash__": 1, "__eq__": 2}

# Frames for the deepest tree; the parser itself gives up far earlier.
_DEEPEST = 100_000

_Loop = TypeVar("_Loop", ast.For, ast.AsyncFor)
_With = TypeVar("_With", ast.With, ast.AsyncWith)


def rewrite(tree: ast.Module) -> ast.Module:
    """Rewrite `tree` in place and return it."""
    limit = sys.getrecursionlimit()
    try:
        # Python calls do not use the C stack; a sum of a thousand terms is a tree a thousand levels deep.
        sys.setrecursionlimit(max(limit, _DEEPEST))
        return _Rewriter(analyse(tree), tree).run(tree)
    finally:
        sys.setrecursionlimit(limit)


class _Rewriter(TargetRewriter):
    def run(self, tree: ast.Module) -> ast.Module:
        tree.body = self._statements(tree.body)
        return tree

    # -- statements that bind names -------------------------------------------------------------------------

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in body:
            rewritten = self.visit(statement)
            if isinstance(rewritten, list):
                result.extend(rewritten)
            else:
                result.append(rewritten)
        return result

    def _visit_for(self, node: _Loop) -> _Loop:
        if isinstance(node, ast.For):
            unpacks = isinstance(node.target, ast.Tuple | ast.List)
            node.iter = (
                self._hook("iter_unpack", node.iter, self._load(node.iter)) if unpacks else self._iterable(node.iter)
            )
        else:
            node.iter = self._load(node.iter)
        after: list[ast.stmt] = []
        node.target = self._target(node.target, after)
        node.body = [*after, *self._statements(node.body)]
        node.orelse = self._statements(node.orelse)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        return self._visit_for(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.stmt:
        return self._visit_for(node)

    def _visit_with(self, node: _With) -> _With:
        item = node.items[0]
        manager = self._load(item.context_expr)
        if isinstance(node, ast.With):
            manager = self._hook("context", item.context_expr, manager)
        item.context_expr = manager
        after: list[ast.stmt] = []
        if item.optional_vars is not None:
            item.optional_vars = self._target(item.optional_vars, after)
        if len(node.items) > 1:
            # The names bound by one item are seen by the next, so several items are nested statements when one
            # needs statements of its own, and are otherwise left as they stand.
            rest = self._at(type(node)(node.items[1:], node.body), node)
            inner: ast.With | ast.AsyncWith = self._visit_with(rest)
            if after:
                node.items, node.body = [item], [*after, inner]
            else:
                node.items, node.body = [item, *inner.items], inner.body
        else:
            node.body = [*after, *self._statements(node.body)]
        return node

    def visit_With(self, node: ast.With) -> ast.stmt:
        return self._visit_with(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> ast.stmt:
        return self._visit_with(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        if node.type is not None:
            node.type = self._load(node.type)
        body = self._statements(node.body)
        target = self._at(ast.Name(node.name or "", ast.Store()), node)
        if node.name is not None and (self._is_global(target) or self._cell(target) is not None):
            temporary = self._temporary()
            forget = [
                *self._store(target, self._constant(None, node)),
                *self._delete(self._name(target.id, node, ast.Del()), node),
            ]
            guarded = self._at(ast.Try(body, [], [], forget), node)
            node.name = temporary
            body = [*self._store(target, self._name(temporary, node)), guarded]
        node.body = body
        return node

    def _visit_import(self, node: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
        after: list[ast.stmt] = []
        for alias in node.names:
            bound = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
            target = self._at(ast.Name(bound, ast.Store()), alias)
            if not self._is_global(target) and self._cell(target) is None:
                continue
            if alias.asname is None and "." in alias.name:
                # `import a.b` binds `a`; bind it once more, announced.
                after.extend(self._store(target, self._name(bound, alias)))
                continue
            alias.asname = self._temporary()
            after.extend(self._store(target, self._name(alias.asname, alias)))
            after.append(self._at(ast.Delete([self._name(alias.asname, alias, ast.Del())]), alias))
        return [node, *after]

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        return self._visit_import(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        return self._visit_import(node)

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        subject = self._hook("match", node.subject, self._load(node.subject))
        values = [self._load(value) for case in node.cases for value in _values(case.pattern)]
        node.subject = self._pick(0, node.subject, subject, *values) if values else subject
        for case in node.cases:
            stores = self._captures(case.pattern)
            guard = None if case.guard is None else self._test(case.guard)
            if stores:
                last = guard or self._constant(1, case.pattern)
                guard = self._pick(len(stores), case.pattern, *stores, last)
            case.guard = guard
            case.body = self._statements(case.body)
        return node

    def _captures(self, pattern: ast.pattern) -> list[ast.expr]:
        """Rename the shared variables that `pattern` binds; the expressions that store them in its guard."""
        stores: list[ast.expr] = []
        for node in ast.walk(pattern):
            attribute = "rest" if isinstance(node, ast.MatchMapping) else "name"
            name = getattr(node, attribute, None)
            if not isinstance(node, ast.MatchMapping | ast.MatchAs | ast.MatchStar) or name is None:
                continue
            target = self._at(ast.Name(name, ast.Store()), node)
            if self._is_global(target) or self._cell(target) is not None:
                temporary = self._temporary()
                setattr(node, attribute, temporary)
                value = self._name(temporary, node)
                stores.append(self.visit_NamedExpr(self._at(ast.NamedExpr(target, value), node)))
        return stores

    # -- definitions ----------------------------------------------------------------------------------------

    def _announce_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """Bind a shared name announced: the outermost decorator is the last thing called before the store."""
        target = self._at(ast.Name(node.name, ast.Store()), node)
        place = node.decorator_list[0] if node.decorator_list else node
        if self._is_global(target):
            name = self._constant(self._mangled(node.name), place)
            decorator = self._hook("define_global", place, self._hook("globals", place), name)
        else:
            label = self._cell(target)
            if label is None:
                return
            decorator = self._hook("define_cell", place, self._constant(label, place))
        node.decorator_list.insert(0, decorator)

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
        node.decorator_list = [self._load(decorator) for decorator in node.decorator_list]
        self._visit_defaults(node.args)
        outer, self.scope = self.scope, self.names.scopes[node]
        node.body = self._entered(self._statements(node.body), node)
        self.scope = outer
        self._announce_definition(node)
        return node

    def _entered(self, body: list[ast.stmt], node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
        """Native code may have called the function."""
        if isinstance(node, ast.AsyncFunctionDef):
            return body
        first = body[0]
        start = int(isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant))  # a documentation string
        place = body[min(start, len(body) - 1)]
        asked = node.name in ASKED and len(node.args.posonlyargs + node.args.args) == ASKED[node.name]
        first = self._answered(node.args, place) if asked else self._statement(self._hook("called", place))
        return [*body[:start], first, *body[start:]]

    def _answered(self, arguments: ast.arguments, place: ast.stmt) -> ast.stmt:
        """Return what is known to be the answer of a `__hash__` or `__eq__`."""
        names = [self._name(one.arg, place) for one in arguments.posonlyargs + arguments.args]
        temporary = self._temporary()
        known = self._at(
            ast.NamedExpr(self._name(temporary, place, ast.Store()), self._hook("asked", place, *names)), place
        )
        answer = self._at(ast.Subscript(self._name(temporary, place), self._constant(0, place), ast.Load()), place)
        return self._at(ast.If(known, [self._at(ast.Return(answer), place)], []), place)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return self._visit_function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        node.decorator_list = [self._load(decorator) for decorator in node.decorator_list]
        outer = self.scope
        inside = self.names.scopes[node]
        # With type parameters the bases belong to a scope of their own, around the class.
        self.scope = inside.parent or outer
        node.bases = [self._argument(base) for base in node.bases]
        for keyword in node.keywords:
            keyword.value = self._load(keyword.value)
        self.scope = inside
        node.body = self._statements(node.body)
        self.scope = outer
        self._announce_definition(node)
        return node

    def visit_TypeAlias(self, node: ast.AST) -> ast.AST:
        return node

    # -- conditions -----------------------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> ast.stmt:
        node.test = self._test(node.test)
        node.body = self._statements(node.body)
        node.orelse = self._statements(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        if is_spin_loop(node):
            before.append(self._statement(self._hook("spin_start", node.test)))
            node.body = [*self._spin_before_continue(node.body, node), self._spin(node)]
        node.test = self._test(node.test)
        node.body = self._statements(node.body)
        node.orelse = self._statements(node.orelse)
        return [*before, node]

    def _spin(self, loop: ast.While) -> ast.stmt:
        return self._statement(self._hook("spin", loop.test))

    def _spin_before_continue(self, body: list[ast.stmt], loop: ast.While) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, ast.Continue):
                result.append(self._spin(loop))
            elif isinstance(statement, ast.If):
                statement.body = self._spin_before_continue(statement.body, loop)
                statement.orelse = self._spin_before_continue(statement.orelse, loop)
            result.append(statement)
        return result

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        node.test = self._test(node.test)
        if node.msg is not None:
            node.msg = self._load(node.msg)
        return node


def _values(pattern: ast.pattern) -> Iterator[ast.expr]:
    """Copies of the attributes that a pattern compares with: it cannot hold a hook, so they are read before it."""
    for node in ast.walk(pattern):
        dotted = (
            [node.value]
            if isinstance(node, ast.MatchValue)
            else node.keys
            if isinstance(node, ast.MatchMapping)
            else []
        )
        yield from (copy.deepcopy(value) for value in dotted if isinstance(value, ast.Attribute))
