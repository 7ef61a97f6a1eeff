"""Expressions to IR steps, and the block under construction.

Evaluation order is Python's, left to right; an operand that a later part of the same expression could rebind (a
walrus) is copied first.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from treadle.core.parsing import mangle
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.python.compile.scopes import CompilerScope, assigned_around

_OPERATORS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//"}
_OPERATORS |= {ast.Mod: "%", ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@"}
_OPERATORS |= {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_OPERATORS |= {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Not: "not"}
_OPERATORS |= {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_OPERATORS |= {ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}


class Expressions:
    """Builds one function's blocks; `Compiler` adds the statements."""

    def __init__(self, function: ir.CompiledFunction, scope: CompilerScope) -> None:
        self.function = function
        self.file = function.file
        self.owner = function.owner
        self.scope = scope
        self.handler: int | None = None
        self._temporaries = 0
        self._renamed: list[dict[str, str]] = []
        self.current = function.block()

    # --- blocks ------------------------------------------------------------------------------------------

    def block(self) -> ir.BasicBlock:
        block = self.function.block()
        block.handler = self.handler
        return block

    def go(self, block: ir.BasicBlock) -> None:
        """Continue in this block."""
        block.handler = self.handler
        self.current = block

    def set_handler(self, handler: int | None) -> None:
        """Steps from here on are watched by another handler: that takes a new block."""
        if handler == self.handler:
            return
        self.handler = handler
        fresh = self.block()
        if self.current.end is None:
            self.current.end = ir.JumpStep(self._line(), fresh.number)
        self.go(fresh)

    def _line(self) -> int:
        return self.current.steps[-1].line if self.current.steps else self.function.line

    def emit(self, step: ir.IrStep) -> None:
        if self.current.end is None:
            self.current.steps.append(step)

    def end(self, terminator: ir.Terminator) -> None:
        if self.current.end is None:
            self.current.end = terminator

    def jump(self, node: ast.AST, target: ir.BasicBlock) -> None:
        self.end(ir.JumpStep(getattr(node, "lineno", 0), target.number))

    def begin_loop(self, node: ast.AST, head: ir.BasicBlock, body: ir.BasicBlock) -> None:
        line = getattr(node, "lineno", 0)
        head.loop = line
        body.body_of = head.number
        self.emit(ir.BeginLoopStep(line, head.number))
        self.jump(node, head)
        self.go(head)

    def stop(self, node: ast.AST, what: str) -> None:
        self.end(ir.StopStep(getattr(node, "lineno", self.function.line), what))
        self.go(self.block())

    def temporary(self) -> str:
        self._temporaries += 1
        return f"%{self._temporaries}"

    def result(self, node: ast.AST, step: Callable[..., ir.IrStep], *args: object) -> str:
        """Where the value of a new step is kept."""
        dst = self.temporary()
        self.emit(step(getattr(node, "lineno", 0), dst, *args))
        return dst

    def copy(self, node: ast.AST, value: ir.Operand) -> str:
        return self.result(node, ir.AssignStep, value)

    def op(self, node: ast.AST, op: str, *args: ir.Operand) -> str:
        return self.result(node, ir.OpStep, op, args)

    def operator(self, op: ast.AST) -> str:
        return _OPERATORS[type(op)]

    def mangled(self, name: str) -> str:
        return mangle(name, self.owner)

    # --- names -------------------------------------------------------------------------------------------

    def slot(self, name: str) -> str:
        for renamed in reversed(self._renamed):
            if name in renamed:
                return renamed[name]
        return self.mangled(name)

    def _is_renamed(self, name: str) -> bool:
        return any(name in renamed for renamed in self._renamed)

    def load(self, node: ast.Name) -> ir.Operand:
        name = node.id
        kind = "local" if self._is_renamed(name) else self.scope.kind(name)
        if kind == "local":
            return self.slot(name)
        if kind == "outer":
            return self.result(node, ir.LoadOuterStep, self.mangled(self.scope.outer_slot(name)))
        return self.result(node, ir.LoadGlobalStep, self.mangled(name))

    def store(self, node: ast.Name, value: ir.Operand) -> None:
        name = node.id
        kind = "local" if self._is_renamed(name) else self.scope.kind(name)
        if kind == "local":
            self.emit(ir.AssignStep(node.lineno, self.slot(name), value))
        elif kind == "outer":
            self.emit(ir.StoreOuterStep(node.lineno, self.mangled(self.scope.outer_slot(name)), value))
        else:
            self.emit(ir.StoreGlobalStep(node.lineno, self.mangled(name), value))

    def assign(self, target: ast.expr, value: ir.Operand) -> None:
        if isinstance(target, ast.Name):
            self.store(target, value)
        elif isinstance(target, ast.Attribute):
            obj = self.expression(target.value)
            self.emit(ir.SetFieldStep(target.lineno, obj, self.mangled(target.attr), value))
        elif isinstance(target, ast.Subscript):
            obj = self.expression(target.value)
            self.emit(ir.SetItemStep(target.lineno, obj, self.expression(target.slice), value))
        elif isinstance(target, ast.Tuple | ast.List):
            star = next((i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
            slots = tuple(self.temporary() for _ in target.elts)
            self.emit(ir.UnpackStep(target.lineno, slots, value, star))
            for element, name in zip(target.elts, slots, strict=True):
                self.assign(element.value if isinstance(element, ast.Starred) else element, name)
        else:
            self.stop(target, "this kind of assignment target")

    # --- expressions -------------------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> ir.Operand:
        method: Callable[[object], ir.Operand] | None = getattr(self, f"_get_{type(node).__name__}", None)
        if method is None:
            kind = {"Await": "await", "TemplateStr": "a template string"}.get(type(node).__name__)
            self.stop(node, f"the expression '{kind or type(node).__name__}'")
            return ir.Const(None)
        return method(node)

    def _safe(self, node: ast.expr, *later: ast.expr | None) -> ir.Operand:
        """An operand that later parts of the same expression cannot change."""
        value = self.expression(node)
        if (
            isinstance(value, str)
            and not value.startswith("%")
            and any(isinstance(n, ast.NamedExpr) for part in later if part for n in ast.walk(part))
        ):
            return self.copy(node, value)
        return value

    def _get_Constant(self, node: ast.Constant) -> ir.Operand:
        return ir.Const(node.value)

    def _get_Name(self, node: ast.Name) -> ir.Operand:
        return self.load(node)

    def _get_BinOp(self, node: ast.BinOp) -> ir.Operand:
        left = self._safe(node.left, node.right)
        return self.op(node, self.operator(node.op), left, self.expression(node.right))

    def _get_UnaryOp(self, node: ast.UnaryOp) -> ir.Operand:
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            value = node.operand.value
            if isinstance(value, int | float) and not isinstance(value, bool):
                return ir.Const(-value)
        return self.op(node, self.operator(node.op), self.expression(node.operand))

    def _get_Compare(self, node: ast.Compare) -> ir.Operand:
        left = self._safe(node.left, *node.comparators)
        if len(node.ops) == 1:
            return self.op(node, self.operator(node.ops[0]), left, self.expression(node.comparators[0]))
        result = self.temporary()
        done = self.block()
        for i, (op, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.copy(node, self.expression(right_node))
            self.emit(ir.AssignStep(node.lineno, result, self.op(node, self.operator(op), left, right)))
            if i < len(node.ops) - 1:
                going = self.block()
                truth = self.op(node, "truth", result)
                self.end(ir.BranchStep(node.lineno, truth, going.number, done.number))
                self.go(going)
            left = right
        self.jump(node, done)
        self.go(done)
        return result

    def _get_BoolOp(self, node: ast.BoolOp) -> ir.Operand:
        result = self.temporary()
        done = self.block()
        for i, part in enumerate(node.values):
            self.emit(ir.AssignStep(part.lineno, result, self.expression(part)))
            if i < len(node.values) - 1:
                going = self.block()
                truth = self.op(part, "truth", result)
                then, orelse = (going, done) if isinstance(node.op, ast.And) else (done, going)
                self.end(ir.BranchStep(part.lineno, truth, then.number, orelse.number))
                self.go(going)
        self.jump(node, done)
        self.go(done)
        return result

    def condition(self, node: ast.expr, then: ir.BasicBlock, orelse: ir.BasicBlock) -> None:
        """Branch on an expression's truth, without building the value of and/or/not."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.condition(node.operand, orelse, then)
        elif isinstance(node, ast.BoolOp):
            for part in node.values[:-1]:
                going = self.block()
                if isinstance(node.op, ast.And):
                    self.condition(part, going, orelse)
                else:
                    self.condition(part, then, going)
                self.go(going)
            self.condition(node.values[-1], then, orelse)
        else:
            truth = self.op(node, "truth", self.expression(node))
            self.end(ir.BranchStep(node.lineno, truth, then.number, orelse.number))

    def _get_IfExp(self, node: ast.IfExp) -> ir.Operand:
        result = self.temporary()
        then, orelse, done = self.block(), self.block(), self.block()
        self.condition(node.test, then, orelse)
        for block, part in ((then, node.body), (orelse, node.orelse)):
            self.go(block)
            self.emit(ir.AssignStep(part.lineno, result, self.expression(part)))
            self.jump(node, done)
        self.go(done)
        return result

    def _get_NamedExpr(self, node: ast.NamedExpr) -> ir.Operand:
        value = self.expression(node.value)
        renamed, self._renamed = self._renamed, []
        self.store(node.target, value)
        self._renamed = renamed
        return value

    def _get_Attribute(self, node: ast.Attribute) -> ir.Operand:
        return self.result(node, ir.GetFieldStep, self.expression(node.value), self.mangled(node.attr))

    def _get_Subscript(self, node: ast.Subscript) -> ir.Operand:
        obj = self._safe(node.value, node.slice)
        return self.result(node, ir.GetItemStep, obj, self.expression(node.slice))

    def _get_Slice(self, node: ast.Slice) -> ir.Operand:
        parts = [self.expression(p) if p else ir.Const(None) for p in (node.lower, node.upper, node.step)]
        return self._new(node, "slice", *parts)

    def _new(self, node: ast.AST, kind: str, *args: object) -> str:
        return self.result(node, ir.NewStep, kind, args)

    def _elements(self, nodes: list[ast.expr]) -> list[Any]:
        found: list[object] = []
        for i, node in enumerate(nodes):
            if isinstance(node, ast.Starred):
                found.append(("*", self._safe(node.value, *nodes[i + 1 :])))
            else:
                found.append(self._safe(node, *nodes[i + 1 :]))
        return found

    def _get_List(self, node: ast.List | ast.Tuple | ast.Set) -> ir.Operand:
        return self._new(node, type(node).__name__.lower(), *self._elements(node.elts))

    _get_Tuple = _get_Set = _get_List

    def _get_Dict(self, node: ast.Dict) -> ir.Operand:
        pairs: list[object] = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                pairs.append(("**", self.expression(value)))
            else:
                k = self.expression(key)
                pairs.append((k, self.expression(value)))
        return self._new(node, "dict", *pairs)

    def _get_JoinedStr(self, node: ast.JoinedStr) -> ir.Operand:
        parts: list[object] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.expression(part.value)
                spec = self.expression(part.format_spec) if part.format_spec else ir.Const("")
                conversion = chr(part.conversion) if part.conversion > 0 else ""
                parts.append((value, ir.Const(conversion), spec))
            else:
                parts.append(self.expression(part))
        return self._new(node, "text", *parts)

    def _get_Lambda(self, node: ast.Lambda) -> ir.Operand:
        return self.closure(node, self.nested(node))

    def visible_scope(self) -> CompilerScope:
        """The scope a nested function sees: this one, with the comprehension names around it."""
        if not self._renamed:
            return self.scope
        merged = {name: slot for renamed in self._renamed for name, slot in renamed.items()}
        s = self.scope
        return CompilerScope(s.locals, s.globals, s.nonlocals, s.outer, merged)

    def nested(self, node: ast.Lambda | ast.FunctionDef, name: str = "") -> ir.CompiledFunction:
        raise NotImplementedError

    def closure(self, node: ast.Lambda | ast.FunctionDef, function: ir.CompiledFunction) -> str:
        defaults = tuple(self.expression(d) for d in node.args.defaults)
        named = tuple(
            (self.mangled(a.arg), self.expression(d))
            for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if d is not None
        )
        return self.result(node, ir.ClosureStep, function, defaults, named)

    def _get_Call(self, node: ast.Call) -> ir.Operand:
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args
        if is_super and self.scope.kind("super") == "global":
            return self._new(node, "super")
        function = self._safe(node.func, *node.args)
        args = tuple(self._elements(node.args))
        named = tuple((k.arg, self.expression(k.value)) for k in node.keywords)
        return self.result(node, ir.CallStep, function, args, named)

    def _get_Starred(self, node: ast.Starred) -> ir.Operand:
        return self.expression(node.value)

    def _get_Yield(self, node: ast.Yield) -> ir.Operand:
        return self.result(node, ir.YieldStep, self.expression(node.value) if node.value else ir.Const(None))

    def _get_YieldFrom(self, node: ast.YieldFrom) -> ir.Operand:
        """Each value of the inner iterable, then what the inner generator returned."""
        iterator, item, dst = self.temporary(), self.temporary(), self.temporary()
        self.emit(ir.IterateStep(node.lineno, iterator, self.expression(node.value)))
        head, body, done = self.block(), self.block(), self.block()
        self.begin_loop(node, head, body)
        self.end(ir.NextStep(node.lineno, item, iterator, body.number, done.number))
        self.go(body)
        self.emit(ir.YieldStep(node.lineno, self.temporary(), item))
        self.jump(node, head)
        self.go(done)
        self.emit(ir.OpStep(node.lineno, dst, "returned", (iterator,)))
        return dst

    # --- comprehensions ----------------------------------------------------------------------------------

    def _get_ListComp(self, node: ast.ListComp | ast.SetComp) -> ir.Operand:
        kind, method = ("list", "append") if isinstance(node, ast.ListComp) else ("set", "add")
        result = self._new(node, kind)

        def add() -> None:
            self.op(node, method, result, self.expression(node.elt))

        self._generators(node, node.generators, add)
        return result

    _get_SetComp = _get_ListComp

    def _get_DictComp(self, node: ast.DictComp) -> ir.Operand:
        result = self._new(node, "dict")

        def add() -> None:
            key = self.expression(node.key)
            self.emit(ir.SetItemStep(node.lineno, result, key, self.expression(node.value)))

        self._generators(node, node.generators, add)
        return result

    def _generators(self, node: ast.AST, generators: list[ast.comprehension], body: Callable[[], None]) -> None:
        if not generators:
            body()
            return
        generator = generators[0]
        line = getattr(node, "lineno", 0)
        if generator.is_async:
            self.stop(node, "an asynchronous comprehension")
        iterator = self.temporary()
        self.emit(ir.IterateStep(line, iterator, self.expression(generator.iter)))
        names = {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
        self._renamed.append({name: f"{name}.{iterator[1:]}" for name in names})
        head, inside, after = self.block(), self.block(), self.block()
        self.begin_loop(node, head, inside)
        item = self.temporary()
        self.end(ir.NextStep(line, item, iterator, inside.number, after.number))
        self.go(inside)
        self.assign(generator.target, item)
        for test in generator.ifs:
            kept = self.block()
            self.condition(test, kept, head)
            self.go(kept)
        self._generators(node, generators[1:], body)
        self.jump(node, head)
        self._renamed.pop()
        self.go(after)

    def _get_GeneratorExp(self, node: ast.GeneratorExp) -> ir.Operand:
        """A small generator function over the first iterable, which is evaluated here and now."""
        first = node.generators[0]
        arguments = ast.arguments(posonlyargs=[], args=[ast.arg(".0")], kwonlyargs=[], kw_defaults=[], defaults=[])
        body: list[ast.stmt] = [ast.Expr(ast.Yield(node.elt))]
        for generator in reversed(node.generators):
            for test in reversed(generator.ifs):
                body = [ast.If(test, body, [])]
            source = generator.iter if generator is not first else ast.Name(".0", ast.Load())
            body = [ast.For(generator.target, source, body, [])]
        assigned = assigned_around(node)
        outer: list[ast.stmt] = [ast.Nonlocal(assigned)] if assigned else []
        inner = ast.FunctionDef("<genexpr>", arguments, [*outer, *body], [])
        for part in ast.walk(inner):
            if "lineno" in part._attributes and not hasattr(part, "lineno"):
                ast.copy_location(part, node)
        maker = self.closure(inner, self.nested(inner, "<genexpr>"))
        iterator, dst = self.temporary(), self.temporary()
        self.emit(ir.IterateStep(node.lineno, iterator, self.expression(first.iter)))
        self.emit(ir.CallStep(node.lineno, dst, maker, (iterator,)))
        return dst
