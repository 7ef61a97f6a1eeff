"""Rewrites expressions: reading attributes, items and shared variables, looking at values, calling.

Three questions are kept apart: what an expression evaluates to (`_load`), that somebody looks into the value
(`_use`: a container is read), and that only its truth counts (`_test`).
"""

from __future__ import annotations

import ast
from types import EllipsisType, NoneType
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
            keyword.value = self._use(keyword.value) if keyword.arg is None else self._load(keyword.value)
        return node

    def _callee(self, func: ast.expr) -> ast.expr:
        if isinstance(func, ast.Attribute):
            return self._read_attribute(func, "callee")
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
        pairs = list(zip(node.keys, node.values, strict=True))
        node.keys = [None if key is None else self._load(key) for key, _ in pairs]
        node.values = [self._use(value) if key is None else self._load(value) for key, value in pairs]
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        node.value = self._use(node.value)
        if node.format_spec is not None:
            node.format_spec = self._load(node.format_spec)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        node.value = self._iterable(node.value)
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
        left, right = node.left, node.right
        node.left = self._load(left) if _computes_without_containers(node.op, right) else self._use(left)
        node.right = self._load(right) if _computes_without_containers(node.op, left) else self._use(right)
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
        operands = [node.left, *node.comparators]
        looked_at = [False] * len(operands)
        for number, operator in enumerate(node.ops):
            if not isinstance(operator, ast.Is | ast.IsNot):
                looked_at[number] |= not _is_constant(operands[number + 1], _UNLIKE_CONTAINERS)
                looked_at[number + 1] |= not _is_constant(operands[number], _UNLIKE_CONTAINERS)
        node.left, *node.comparators = [
            self._use(operand) if looked else self._load(operand)
            for operand, looked in zip(operands, looked_at, strict=True)
        ]
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


# Compared with a constant of these types, no container needs to look at its elements.
_UNLIKE_CONTAINERS = (int, float, complex, str, NoneType, EllipsisType)


def _is_constant(node: ast.expr, kinds: tuple[type, ...]) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, kinds)


def _computes_without_containers(operator: ast.operator, operand: ast.expr) -> bool:
    """Is `x operator operand` an error whenever x is a container? True for most arithmetic with a number."""
    if isinstance(operator, ast.Mult):
        return False
    return _is_constant(operand, (int, float, complex)) or (
        isinstance(operator, ast.Add) and _is_constant(operand, (str,))
    )


def _looks_at_caller(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Name):
        return False
    name = call.func.id
    if name in _FRAME_FUNCTIONS:
        return not call.args and not call.keywords
    return name in _SPECIAL_FUNCTIONS or name.startswith(HOOK_PREFIX)
