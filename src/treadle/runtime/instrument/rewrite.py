"""Turns a module into one whose shared accesses go through hooks, as one AST made from another.

What becomes what:

    obj.name                    _treadle_load(obj, "name")
    obj.name(...)               _treadle_callee(obj, "name")(...)
    f(...)                      _treadle_function(f)(...)
    obj.name = v                _treadle_store(v, obj, "name")
    del obj.name                _treadle_delete(obj, "name")
    obj[k], = v, del            _treadle_item(obj, k), _treadle_set_item(v, obj, k), _treadle_del_item(obj, k)
    a in c                      _treadle_in(a, c)
    if x, x == y, f"{x}", ...   the operand becomes _treadle_use(x): its value is looked at
    for t in it, a, b = it      the iterable becomes _treadle_iter(it)
    with cm                     with _treadle_context(cm)
    a rebound global            _treadle_global, _treadle_set_global, _treadle_del_global(_treadle_globals(), "x")
    a rebound closure cell      (_treadle_cell_read(label), x)[1];  x = (v, _treadle_cell_write(label))[0]
    while not flag: pass        _treadle_spin() at the end of each iteration of a loop that only reads

Calls themselves stay native, so tracebacks have no extra frames around the program's own calls. Where a target
sits inside a larger one (`a, o.x = it`, `for o.x in it`, `f().x += 1`) it becomes the attribute `value` of a
place object (see places.py), which keeps Python's order of evaluation without temporary variables.

Invariants: every new node has the location of the node it stands for; no free variable is added to or removed
from any function; nested functions, classes and comprehensions stay in the same order; annotations, patterns and
type parameters are left alone.
"""

from __future__ import annotations

import ast
from typing import TypeVar

from treadle.runtime.instrument.scopes import ComprehensionNode, FunctionNode, Names, Scope, analyse, mangle

# Part of the key of the on-disk cache: change it whenever the rewritten form changes.
REWRITER_VERSION = 1

HOOK_PREFIX = "_treadle_"

# These look at the frame that calls them, or are the compiler's own business (`super`).
_FRAME_FUNCTIONS = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec", "__import__"})

# What may evaluate to a container that somebody else can reach; anything else is a fresh value.
_MAY_BE_SHARED = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Call,
    ast.Await,
    ast.NamedExpr,
    ast.IfExp,
    ast.BoolOp,
    ast.Yield,
    ast.YieldFrom,
)

INPLACE_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "iadd",
    ast.Sub: "isub",
    ast.Mult: "imul",
    ast.MatMult: "imatmul",
    ast.Div: "itruediv",
    ast.Mod: "imod",
    ast.Pow: "ipow",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
    ast.BitOr: "ior",
    ast.BitXor: "ixor",
    ast.BitAnd: "iand",
    ast.FloorDiv: "ifloordiv",
}

_Loop = TypeVar("_Loop", ast.For, ast.AsyncFor)
_With = TypeVar("_With", ast.With, ast.AsyncWith)
_Comprehension = TypeVar("_Comprehension", ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def rewrite(tree: ast.Module) -> ast.Module:
    """Rewrite `tree` in place and return it."""
    return _Rewriter(analyse(tree), tree).run(tree)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, names: Names, tree: ast.Module) -> None:
        self.names = names
        self.scope: Scope = names.scopes[tree]
        self.temporaries = 0

    def run(self, tree: ast.Module) -> ast.Module:
        tree.body = self._statements(tree.body)
        return tree

    # -- making nodes ---------------------------------------------------------------------------------------

    def _at(self, node: _Node, place: ast.AST) -> _Node:
        node.lineno, node.col_offset = place.lineno, place.col_offset  # type: ignore[attr-defined]
        node.end_lineno, node.end_col_offset = place.end_lineno, place.end_col_offset  # type: ignore[attr-defined]
        return node

    def _name(self, name: str, place: ast.AST, ctx: ast.expr_context | None = None) -> ast.Name:
        return self._at(ast.Name(name, ctx or ast.Load()), place)

    def _constant(self, value: str | int | None, place: ast.AST) -> ast.Constant:
        return self._at(ast.Constant(value), place)

    def _hook(self, name: str, place: ast.AST, *args: ast.expr) -> ast.Call:
        return self._at(ast.Call(self._name(HOOK_PREFIX + name, place), list(args), []), place)

    def _statement(self, value: ast.expr) -> ast.Expr:
        return self._at(ast.Expr(value), value)

    def _pick(self, index: int, place: ast.AST, *items: ast.expr) -> ast.expr:
        """All of `items` are evaluated in order; the one at `index` is the value."""
        both = self._at(ast.Tuple(list(items), ast.Load()), place)
        return self._at(ast.Subscript(both, self._constant(index, place), ast.Load()), place)

    def _temporary(self) -> str:
        self.temporaries += 1
        return f"{HOOK_PREFIX}value_{self.temporaries}"

    def _mangled(self, name: str) -> str:
        return mangle(name, self.scope.class_name)

    def _place(self, target: ast.expr) -> ast.expr:
        """An attribute or subscript or shared global as a target that may sit anywhere."""
        match target:
            case ast.Attribute():
                name = self._constant(self._mangled(target.attr), target)
                place = self._hook("attribute_place", target, self._load(target.value), name)
            case ast.Subscript():
                place = self._hook("item_place", target, self._load(target.value), self._load(target.slice))
            case ast.Name():
                name = self._constant(self._mangled(target.id), target)
                place = self._hook("global_place", target, self._hook("globals", target), name)
            case _:
                raise AssertionError(ast.dump(target))
        return self._at(ast.Attribute(place, "value", ast.Store()), target)

    # -- reading --------------------------------------------------------------------------------------------

    def _load(self, node: ast.expr) -> ast.expr:
        result = self.visit(node)
        assert isinstance(result, ast.expr)
        return result

    def _use(self, node: ast.expr) -> ast.expr:
        """The value of `node` is looked at: compared, computed with, tested, printed."""
        value = self._load(node)
        return self._hook("use", node, value) if isinstance(node, _MAY_BE_SHARED) else value

    def _iterable(self, node: ast.expr) -> ast.expr:
        value = self._load(node)
        return self._hook("iter", node, value) if isinstance(node, _MAY_BE_SHARED) else value

    def _test(self, node: ast.expr) -> ast.expr:
        """`node` where only its truth counts."""
        match node:
            case ast.BoolOp():
                node.values = [self._test(value) for value in node.values]
                return node
            case ast.UnaryOp(op=ast.Not()):
                node.operand = self._test(node.operand)
                return node
            case ast.IfExp():
                node.test = self._test(node.test)
                node.body = self._test(node.body)
                node.orelse = self._test(node.orelse)
                return node
        return self._use(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return node
        name = self._mangled(node.id)
        if self.names.is_shared_global(self.scope, name):
            return self._hook("global", node, self._hook("globals", node), self._constant(name, node))
        label = self.names.shared_cell(self.scope, name)
        if label is not None:
            return self._pick(1, node, self._hook("cell_read", node, self._constant(label, node)), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._read_attribute(node, "load")

    def _read_attribute(self, node: ast.Attribute, hook: str) -> ast.expr:
        if _is_foreign(node.value):
            return node
        return self._hook(hook, node, self._load(node.value), self._constant(self._mangled(node.attr), node))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return self._hook("item", node, self._load(node.value), self._load(node.slice))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        node.func = self._callee(node.func)
        node.args = [self._argument(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = self._use(keyword.value) if keyword.arg is None else self._load(keyword.value)
        return node

    def _callee(self, func: ast.expr) -> ast.expr:
        if isinstance(func, ast.Attribute):
            return self._read_attribute(func, "callee")
        if isinstance(func, ast.Name) and (func.id in _FRAME_FUNCTIONS or func.id.startswith(HOOK_PREFIX)):
            return func
        return self._hook("function", func, self._load(func))

    def _argument(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Starred):
            node.value = self._use(node.value)
            return node
        return self._load(node)

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        node.value = self._iterable(node.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        # Evaluated pair by pair, and so visited pair by pair: nested functions keep their order.
        for number, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            if key is None:
                node.values[number] = self._use(value)
            else:
                node.keys[number] = self._load(key)
                node.values[number] = self._load(value)
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        node.value = self._use(node.value)
        if node.format_spec is not None:
            node.format_spec = self._load(node.format_spec)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        node.value = self._iterable(node.value)
        return node

    # -- operators ------------------------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node.left = self._use(node.left)
        node.right = self._use(node.right)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self._test(node.operand) if isinstance(node.op, ast.Not) else self._use(node.operand)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        *tested, last = node.values
        node.values = [*(self._test(value) for value in tested), self._load(last)]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self._test(node.test)
        node.body = self._load(node.body)
        node.orelse = self._load(node.orelse)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            inside = self._hook("in", node, self._load(node.left), self._load(node.comparators[0]))
            if isinstance(node.ops[0], ast.In):
                return inside
            return self._at(ast.UnaryOp(ast.Not(), inside), node)
        looks = [not isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops]
        node.left = self._use(node.left) if looks[0] else self._load(node.left)
        for number, operand in enumerate(node.comparators):
            looked_at = looks[number] or looks[min(number + 1, len(looks) - 1)]
            node.comparators[number] = self._use(operand) if looked_at else self._load(operand)
        return node

    # -- targets --------------------------------------------------------------------------------------------

    def _cell(self, target: ast.expr) -> str | None:
        if not isinstance(target, ast.Name):
            return None
        return self.names.shared_cell(self.scope, self._mangled(target.id))

    def _is_global(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Name) and self.names.is_shared_global(self.scope, self._mangled(target.id))

    def _announced(self, value: ast.expr, label: str, place: ast.AST) -> ast.expr:
        """`value`, and then the announcement that the cell is about to be written."""
        return self._pick(0, place, value, self._hook("cell_write", place, self._constant(label, place)))

    def _target(self, target: ast.expr, after: list[ast.stmt]) -> ast.expr:
        """A target inside a larger one. From the first shared cell on, values go through temporaries and are
        stored by the statements added to `after`, so that each announcement is followed by its write at once."""
        match target:
            case ast.Tuple() | ast.List():
                target.elts = [self._target(element, after) for element in target.elts]
                return target
            case ast.Starred():
                target.value = self._target(target.value, after)
                return target
        if after or self._cell(target) is not None:
            temporary = self._temporary()
            after.extend(self._store(target, self._name(temporary, target)))
            after.append(self._at(ast.Delete([self._name(temporary, target, ast.Del())]), target))
            return self._name(temporary, target, ast.Store())
        if isinstance(target, ast.Attribute | ast.Subscript) or self._is_global(target):
            return self._place(target)
        return target

    def _store(self, target: ast.expr, value: ast.expr, whole: ast.AST | None = None) -> list[ast.stmt]:
        """`target = value` with `value` rewritten already."""
        place = whole or target
        match target:
            case ast.Attribute() if not _is_foreign(target.value):
                name = self._constant(self._mangled(target.attr), target)
                return [self._statement(self._hook("store", place, value, self._load(target.value), name))]
            case ast.Subscript():
                owner, key = self._load(target.value), self._load(target.slice)
                return [self._statement(self._hook("set_item", place, value, owner, key))]
            case ast.Name() if self._is_global(target):
                name = self._constant(self._mangled(target.id), target)
                globals_ = self._hook("globals", target)
                return [self._statement(self._hook("set_global", place, value, globals_, name))]
        label = self._cell(target)
        if label is not None:
            value = self._announced(value, label, target)
        after: list[ast.stmt] = []
        if isinstance(target, ast.Tuple | ast.List):
            target = self._target(target, after)
        return [self._at(ast.Assign([target], value), place), *after]

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        unpacks = any(isinstance(target, ast.Tuple | ast.List) for target in node.targets)
        if len(node.targets) == 1:
            value = self._iterable(node.value) if unpacks else self._load(node.value)
            return self._store(node.targets[0], value, node)
        # `x = a, b = it` keeps the value itself, so it cannot be replaced by an iterator.
        value = self._use(node.value) if unpacks else self._load(node.value)
        after: list[ast.stmt] = []
        node.targets = [self._target(target, after) for target in node.targets]
        node.value = value
        return [node, *after]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None:
            return node
        node.value = self._load(node.value)
        label = self._cell(node.target)
        if label is not None:
            node.value = self._announced(node.value, label, node.target)
        elif isinstance(node.target, ast.Attribute | ast.Subscript):
            node.target = self._place(node.target)  # type: ignore[assignment]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        target = node.target
        match target:
            case ast.Attribute(value=ast.Name() as owner) if self._keeps(owner, node.value):
                pass
            case ast.Subscript(value=ast.Name() as owner, slice=key) if self._keeps(owner, node.value) and self._keeps(
                key, node.value
            ):
                pass
            case ast.Attribute() | ast.Subscript():
                node.target = self._place(target)  # type: ignore[assignment]
                node.value = self._use(node.value)
                return node
            case _:
                if self._cell(target) is None and not self._is_global(target):
                    node.value = self._use(node.value)
                    return node
        old = self._load(_copy_as_load(target))
        new = self._hook(INPLACE_OPERATORS[type(node.op)], node, old, self._use(node.value))
        return self._store(target, new, node)

    def _keeps(self, operand: ast.expr, value: ast.expr) -> bool:
        """Does `operand` certainly mean the same before and after `value` is evaluated?"""
        if isinstance(operand, ast.Constant):
            return True
        if not isinstance(operand, ast.Name):
            return False
        if not self.names.is_private(self.scope, self._mangled(operand.id)):
            return False
        return not any(isinstance(node, ast.NamedExpr) and node.target.id == operand.id for node in ast.walk(value))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        value = self._load(node.value)
        if self._is_global(node.target):
            name = self._constant(self._mangled(node.target.id), node)
            return self._hook("named_global", node, value, self._hook("globals", node), name)
        label = self._cell(node.target)
        node.value = value if label is None else self._announced(value, label, node)
        return node

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        return [statement for target in node.targets for statement in self._delete(target, node)]

    def _delete(self, target: ast.expr, whole: ast.AST) -> list[ast.stmt]:
        match target:
            case ast.Tuple() | ast.List():
                return [statement for part in target.elts for statement in self._delete(part, whole)] or [
                    self._at(ast.Delete([target]), whole)
                ]
            case ast.Attribute():
                name = self._constant(self._mangled(target.attr), target)
                return [self._statement(self._hook("delete", target, self._load(target.value), name))]
            case ast.Subscript():
                owner, key = self._load(target.value), self._load(target.slice)
                return [self._statement(self._hook("del_item", target, owner, key))]
            case ast.Name() if self._is_global(target):
                name = self._constant(self._mangled(target.id), target)
                return [self._statement(self._hook("del_global", target, self._hook("globals", target), name))]
        delete = self._at(ast.Delete([target]), target)
        label = self._cell(target)
        if label is None:
            return [delete]
        return [self._statement(self._hook("cell_write", target, self._constant(label, target))), delete]

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
        node.iter = self._iterable(node.iter) if isinstance(node, ast.For) else self._load(node.iter)
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
        node.subject = self._use(node.subject)
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

    def _visit_function_inside(self, node: FunctionNode) -> None:
        outer, self.scope = self.scope, self.names.scopes[node]
        if isinstance(node, ast.Lambda):
            node.body = self._load(node.body)
        else:
            node.body = self._statements(node.body)
        self.scope = outer

    def _visit_defaults(self, args: ast.arguments) -> None:
        args.defaults = [self._load(default) for default in args.defaults]
        args.kw_defaults = [None if default is None else self._load(default) for default in args.kw_defaults]

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
        self._visit_function_inside(node)
        self._announce_definition(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return self._visit_function(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self._visit_defaults(node.args)
        self._visit_function_inside(node)
        return node

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

    # -- comprehensions -------------------------------------------------------------------------------------

    def _visit_comprehension(self, node: _Comprehension) -> _Comprehension:
        outer, inside = self.scope, self.names.scopes[node]
        generators: list[ast.comprehension] = []
        for number, generator in enumerate(node.generators):
            self.scope = inside if number else outer
            iterable = generator.iter
            generator.iter = self._load(iterable) if generator.is_async else self._iterable(iterable)
            self.scope = inside
            rebound: list[ast.comprehension] = []
            generator.target = self._comprehension_target(generator.target, rebound)
            ifs = [self._test(condition) for condition in generator.ifs]
            (rebound or [generator])[-1].ifs = ifs
            if rebound:
                generator.ifs = []
            generators += [generator, *rebound]
        node.generators = generators
        if isinstance(node, ast.DictComp):
            node.key = self._load(node.key)
            node.value = self._load(node.value)
        else:
            node.elt = self._load(node.elt)
        self.scope = outer
        return node

    def _comprehension_target(self, target: ast.expr, rebound: list[ast.comprehension]) -> ast.expr:
        """A shared cell `x` gets its value from a loop of its own: `for x in ((value, announcement)[0],)`."""
        match target:
            case ast.Tuple() | ast.List():
                target.elts = [self._comprehension_target(element, rebound) for element in target.elts]
                return target
            case ast.Starred():
                target.value = self._comprehension_target(target.value, rebound)
                return target
            case ast.Attribute() | ast.Subscript():
                return self._place(target)
        label = self._cell(target)
        if label is None:
            return target
        temporary = self._temporary()
        value = self._announced(self._name(temporary, target), label, target)
        once = self._at(ast.Tuple([value], ast.Load()), target)
        rebound.append(ast.comprehension(target, once, [], 0))
        return self._name(temporary, target, ast.Store())

    def visit_ListComp(self, node: ast.ListComp) -> ComprehensionNode:
        return self._visit_comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ComprehensionNode:
        return self._visit_comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ComprehensionNode:
        return self._visit_comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ComprehensionNode:
        return self._visit_comprehension(node)

    # -- conditions -----------------------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> ast.stmt:
        node.test = self._test(node.test)
        node.body = self._statements(node.body)
        node.orelse = self._statements(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        if _is_spin_loop(node):
            node.body = [*self._spin_before_continue(node.body, node), self._spin(node)]
        node.test = self._test(node.test)
        node.body = self._statements(node.body)
        node.orelse = self._statements(node.orelse)
        return node

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


_Node = TypeVar("_Node", bound=ast.AST)


def _is_foreign(node: ast.expr) -> bool:
    """Names that pytest's assertion rewriting put in (`@pytest_ar`) are not the program's."""
    return isinstance(node, ast.Name) and node.id.startswith("@")


def _copy_as_load(target: ast.Name | ast.Attribute | ast.Subscript) -> ast.expr:
    copy: ast.expr
    match target:
        case ast.Name():
            copy = ast.Name(target.id, ast.Load())
        case ast.Attribute():
            copy = ast.Attribute(target.value, target.attr, ast.Load())
        case ast.Subscript():
            copy = ast.Subscript(target.value, target.slice, ast.Load())
    return ast.copy_location(copy, target)


def _is_spin_loop(loop: ast.While) -> bool:
    """Does an iteration of `loop` only look, so that it can do nothing new before another strand acts?"""
    return _only_looks(loop.test) and _only_waits(loop.body)


def _only_looks(node: ast.expr) -> bool:
    return not any(isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for part in ast.walk(node))


def _only_waits(body: list[ast.stmt]) -> bool:
    for statement in body:
        match statement:
            case ast.Pass() | ast.Continue() | ast.Expr(value=ast.Constant()):
                continue
            case ast.Expr(value=ast.Call(func=ast.Name(id="sleep") | ast.Attribute(attr="sleep"))):
                continue
            case ast.If() if _only_looks(statement.test):
                if _leaves_or_waits(statement.body) and _leaves_or_waits(statement.orelse):
                    continue
        return False
    return True


def _leaves_or_waits(body: list[ast.stmt]) -> bool:
    if body and isinstance(body[-1], ast.Break | ast.Return | ast.Raise):
        return _only_waits(body[:-1])
    return _only_waits(body)
