"""Rewrites expressions: reading attributes, items and shared variables, looking at values, calling.

Three questions are kept apart: what an expression evaluates to (`_load`), that somebody looks into the value
(`_use`: a container is read), and that only its truth counts (`_test`).
"""

from __future__ import annotations

import ast
from typing import TypeVar

from treadle.threads.instrument.nodes import HOOK_PREFIX, NodeMaker, is_foreign
from treadle.threads.instrument.scopes import ComprehensionNode

# The compiler's own business (`super`), or they run code in the frame that calls them.
_SPECIAL_FUNCTIONS = frozenset({"super", "eval", "exec", "__import__"})
# Without arguments these look at the frame that calls them.
_FRAME_FUNCTIONS = frozenset({"locals", "globals", "vars", "dir"})

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

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.BitAnd: "and_",
    ast.FloorDiv: "floordiv",
}
COMPARISONS: dict[type[ast.AST], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}

_Comprehension = TypeVar("_Comprehension", ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class ExpressionRewriter(NodeMaker):
    def _load(self, node: ast.expr) -> ast.expr:
        result = self.visit(node)
        assert isinstance(result, ast.expr)
        return result

    def _use(self, node: ast.expr) -> ast.expr:
        """The value of `node` is looked at: compared, computed with, tested, printed."""
        value = self._load(node)
        return self._hook("use", node, value) if _may_be_shared(node) else value

    def _spread(self, node: ast.expr, hook: str) -> ast.expr:
        """The items of `node` are taken at once."""
        value = self._load(node)
        return self._hook(hook, node, value) if _may_be_shared(node) else value

    def _iterable(self, node: ast.expr) -> ast.expr:
        value = self._load(node)
        return self._hook("iter", node, value) if _may_be_shared(node) else value

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
        if self.names.is_module_variable(self.scope, name):
            return self._hook("constant", node, self._hook("globals", node), self._constant(name, node))
        if self.names.is_bound_nowhere(self.scope, name):
            where = self._hook("globals", node)
            return self._pick(1, node, self._hook("unbound", node, where, self._constant(name, node)), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._read_attribute(node, "load")

    def _read_attribute(self, node: ast.Attribute, hook: str) -> ast.expr:
        if is_foreign(node.value):
            return node
        return self._hook(hook, node, self._load(node.value), self._constant(self._mangled(node.attr), node))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return self._hook("item", node, self._load(node.value), self._load(node.slice))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if not _looks_at_caller(node):
            node.func = self._callee(node.func)
        node.args = [self._argument(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = self._spread(keyword.value, "merge") if keyword.arg is None else self._load(keyword.value)
        runs_source = isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec") and node.args
        if runs_source and isinstance(node.func, ast.Name) and not isinstance(node.args[0], ast.Starred):
            name = self._constant(node.func.id, node)
            source, *variables = node.args
            node.args = [self._hook("unseen", source, name, source)]
            if variables and not node.keywords and not any(isinstance(one, ast.Starred) for one in variables):
                given = self._hook("exposed", source, *variables)
                node.args.append(self._at(ast.Starred(given, ast.Load()), source))
            else:
                node.args += variables
        return node

    def _callee(self, func: ast.expr) -> ast.expr:
        if isinstance(func, ast.Attribute):
            return self._read_attribute(func, "callee")
        return self._hook("function", func, self._load(func))

    def _argument(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Starred):
            node.value = self._spread(node.value, "spread")
            return node
        return self._load(node)

    def _display(self, node: ast.List | ast.Tuple) -> ast.expr:
        """`[*a, b]`: a list takes in what is unpacked, at once if it can."""
        if not isinstance(node.ctx, ast.Load):
            self.generic_visit(node)
            return node
        for number, element in enumerate(node.elts):
            if isinstance(element, ast.Starred) and _may_be_shared(element.value):
                element.value = self._hook("star", element.value, self._load(element.value))
            else:
                node.elts[number] = self._load(element)
        return node

    visit_List = visit_Tuple = _display

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        node.value = self._iterable(node.value)
        return node

    def visit_Set(self, node: ast.Set) -> ast.expr:
        """A set of constants is filled in the order of the source: one that the compiler makes has another order when
        it comes from a file of compiled code."""
        if all(isinstance(element, ast.Constant) for element in node.elts):
            node.elts = [self._at(ast.Starred(self._at(ast.Tuple(node.elts, ast.Load()), node), ast.Load()), node)]
            return node
        self.generic_visit(node)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        pairs = list(zip(node.keys, node.values, strict=True))
        node.keys = [None if key is None else self._load(key) for key, _ in pairs]
        node.values = [self._spread(value, "merge") if key is None else self._load(value) for key, value in pairs]
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        value = self._load(node.value)
        node.value = self._hook("show", value, value) if _may_hold_shared(node.value) else value
        if node.format_spec is not None:
            node.format_spec = self._load(node.format_spec)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        node.value = self._hook("delegate", node, self._load(node.value))
        return node

    def visit_Yield(self, node: ast.Yield) -> ast.expr:
        value = self._constant(None, node) if node.value is None else self._load(node.value)
        node.value = self._hook("give", node, value)
        return node

    def _place(self, target: ast.expr) -> ast.Attribute:
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

    # -- operators ------------------------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node.left, node.right = self._load(node.left), self._load(node.right)
        if not _may_hold_shared(node.left) and not _may_hold_shared(node.right):
            return node
        return self._hook(OPERATORS[type(node.op)], node, node.left, node.right)

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
        if len(node.ops) == 1 and not isinstance(node.ops[0], ast.Is | ast.IsNot):
            left, right = self._load(node.left), self._load(node.comparators[0])
            node.left, node.comparators = left, [right]
            if not _may_hold_shared(left) and not _may_hold_shared(right):
                return node
            return self._hook(COMPARISONS[type(node.ops[0])], node, left, right)
        return self._chain(node)

    def _chain(self, node: ast.Compare) -> ast.expr:
        """`a < b in c` stays as it is: what an operator looks at is announced with its right operand."""
        left = node.left
        node.left = self._load(left)
        for number, (operator, right) in enumerate(zip(node.ops, list(node.comparators), strict=True)):
            value = self._load(right)
            if not isinstance(operator, ast.Is | ast.IsNot):
                known = isinstance(left, ast.Constant) or (
                    isinstance(left, ast.Name) and self.names.is_private(self.scope, self._mangled(left.id))
                )
                before = self._at(_copy(left), left) if known else self._constant(None, right)
                value = self._hook("use_both", right, value, before)
            node.comparators[number] = value
            left = right
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        value = self._load(node.value)
        if self._is_global(node.target):
            name = self._constant(self._mangled(node.target.id), node)
            return self._hook("named_global", node, value, self._hook("globals", node), name)
        label = self._cell(node.target)
        node.value = value if label is None else self._announced(value, label, node)
        return node

    def _visit_defaults(self, args: ast.arguments) -> None:
        args.defaults = [self._load(default) for default in args.defaults]
        args.kw_defaults = [None if default is None else self._load(default) for default in args.kw_defaults]

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self._visit_defaults(node.args)
        outer, self.scope = self.scope, self.names.scopes[node]
        node.body = self._load(node.body)
        node.body = self._pick(1, node.body, self._hook("called", node.body), node.body)
        self.scope = outer
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
            if isinstance(node, ast.GeneratorExp):
                node.elt = self._hook("give", node.elt, node.elt)
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


def _may_be_shared(node: ast.expr) -> bool:
    # `if __debug__` is decided by the compiler, and must stay so.
    return isinstance(node, _MAY_BE_SHARED) and not (isinstance(node, ast.Name) and node.id == "__debug__")


def _may_hold_shared(node: ast.expr) -> bool:
    """May `node` evaluate to something that is shared, or that has something shared in it?"""
    return _may_be_shared(node) or isinstance(
        node, ast.Tuple | ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp
    )


def _copy(node: ast.expr) -> ast.expr:
    return ast.Constant(node.value) if isinstance(node, ast.Constant) else ast.Name(getattr(node, "id", ""), ast.Load())


def _looks_at_caller(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Name):
        return False
    name = call.func.id
    if name in _FRAME_FUNCTIONS:
        return not call.args and not call.keywords
    return name in _SPECIAL_FUNCTIONS or name.startswith(HOOK_PREFIX)
