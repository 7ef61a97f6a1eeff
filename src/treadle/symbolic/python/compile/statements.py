"""Python source to IR: one function at a time, every statement of the language either compiled or marked.

A construct that is not supported becomes a `Stop` step at its place: only a path that reaches it ends there. The
compiler decides control flow (short circuit, chained comparison, finally, with, match) and leaves every operation's
meaning to the machine.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from treadle.core.parsing import mangle
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.python.compile.expressions import Expressions
from treadle.symbolic.python.compile.match import compile_match
from treadle.symbolic.python.compile.scopes import CompilerScope, FunctionNode, scope_of


@dataclass(slots=True)
class _Loop:
    head: int
    after: int
    cleanups: int  # how many cleanups were open when the loop began


def compile_function(
    node: FunctionNode, file: str, owner: str | None = None, outer: CompilerScope | None = None, name: str = ""
) -> ir.CompiledFunction:
    scope, is_generator = scope_of(node, outer)
    title = name or (node.name if not isinstance(node, ast.Lambda) else "<lambda>")
    function = ir.CompiledFunction(title, file, node.lineno, _parameters(node.args, owner), [], is_generator, owner)
    compiler = Compiler(function, scope)
    if isinstance(node, ast.AsyncFunctionDef):
        compiler.stop(node, "a coroutine")
    elif isinstance(node, ast.Lambda):
        compiler.end(ir.ReturnStep(node.lineno, compiler.expression(node.body)))
    else:
        compiler.statements(node.body)
        # on no line: the end of the last statement may not have been reached
        compiler.end(ir.ReturnStep(0, ir.Const(None)))
    for block in function.blocks:
        if block.end is None:
            block.end = ir.ReturnStep(node.lineno, ir.Const(None))
    return function


def _parameters(arguments: ast.arguments, owner: str | None) -> list[ir.IrParameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    without = len(positional) - len(arguments.defaults)
    found = [
        ir.IrParameter(mangle(a.arg, owner), "positional" if i < len(arguments.posonlyargs) else "plain", i >= without)
        for i, a in enumerate(positional)
    ]
    if arguments.vararg:
        found.append(ir.IrParameter(mangle(arguments.vararg.arg, owner), "rest"))
    for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(ir.IrParameter(mangle(a.arg, owner), "keyword", default is not None))
    if arguments.kwarg:
        found.append(ir.IrParameter(mangle(arguments.kwarg.arg, owner), "named"))
    return found


class Compiler(Expressions):
    """Statements; expressions are in the base class."""

    def __init__(self, function: ir.CompiledFunction, scope: CompilerScope) -> None:
        super().__init__(function, scope)
        self._loops: list[_Loop] = []
        # what must run when control leaves: finally bodies and __exit__ calls, with the handler around each
        self._cleanups: list[tuple[Callable[[], None], int | None]] = []
        self._caught: list[str] = []

    def statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        method: Callable[[ast.stmt], None] | None = getattr(self, f"_do_{type(node).__name__}", None)
        if method is None:
            self.stop(node, f"the statement '{_keyword(node)}'")
        else:
            method(node)

    # --- simple statements -------------------------------------------------------------------------------

    def _do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.expression(node.value)

    def _do_Pass(self, node: ast.Pass) -> None:
        self.copy(node, ir.Const(None))  # a line of its own, which a test may be asked to reach

    def _do_Global(self, node: ast.Global) -> None:
        pass

    _do_Nonlocal = _do_Global

    def _do_Assign(self, node: ast.Assign) -> None:
        value = self.expression(node.value)
        if len(node.targets) > 1:
            value = self.copy(node, value)
        for target in node.targets:
            self.assign(target, value)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.expression(node.value))

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        op = self.operator(node.op) + "="
        target = node.target
        if isinstance(target, ast.Name):
            old = self.load(target)
            self.store(target, self.op(node, op, old, self.expression(node.value)))
        elif isinstance(target, ast.Attribute):
            obj = self.expression(target.value)
            name = self.mangled(target.attr)
            old = self.temporary()
            self.emit(ir.GetFieldStep(node.lineno, old, obj, name))
            new = self.op(node, op, old, self.expression(node.value))
            self.emit(ir.SetFieldStep(node.lineno, obj, name, new))
        elif isinstance(target, ast.Subscript):
            obj = self.expression(target.value)
            index = self.expression(target.slice)
            old = self.temporary()
            self.emit(ir.GetItemStep(node.lineno, old, obj, index))
            new = self.op(node, op, old, self.expression(node.value))
            self.emit(ir.SetItemStep(node.lineno, obj, index, new))

    def _do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name) and self.scope.kind(target.id) == "local":
                self.emit(ir.DeleteStep(node.lineno, self.slot(target.id)))
            elif isinstance(target, ast.Attribute):
                obj = self.expression(target.value)
                self.emit(ir.DelFieldStep(node.lineno, obj, self.mangled(target.attr)))
            elif isinstance(target, ast.Subscript):
                obj = self.expression(target.value)
                self.emit(ir.DelItemStep(node.lineno, obj, self.expression(target.slice)))
            elif isinstance(target, ast.Tuple | ast.List):
                self._do_Delete(ast.copy_location(ast.Delete(target.elts), node))
            else:
                self.stop(node, "deleting a name of another scope")

    def _do_Assert(self, node: ast.Assert) -> None:
        fine, wrong = self.block(), self.block()
        self.condition(node.test, fine, wrong)
        self.go(wrong)
        args = (self.expression(node.msg),) if node.msg else ()
        error = self.temporary()
        self.emit(ir.CallStep(node.lineno, error, ir.Const(AssertionError), args))
        self.end(ir.RaiseStep(node.lineno, error))
        self.go(fine)

    def _do_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            dst = self.temporary()
            self.emit(ir.NewStep(node.lineno, dst, "module", (ir.Const(alias.name), ir.Const(bool(alias.asname)))))
            name = alias.asname or alias.name.partition(".")[0]
            self.store(ast.copy_location(ast.Name(name, ast.Store()), node), dst)

    def _do_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            dst = self.temporary()
            where = ir.Const(("." * node.level) + (node.module or ""))
            self.emit(ir.NewStep(node.lineno, dst, "import", (where, ir.Const(alias.name))))
            self.store(ast.copy_location(ast.Name(alias.asname or alias.name, ast.Store()), node), dst)

    def _do_FunctionDef(self, node: ast.FunctionDef) -> None:
        decorators = [self.expression(d) for d in node.decorator_list]
        value: ir.Operand = self.closure(node, compile_function(node, self.file, self.owner, self.scope))
        for decorator in reversed(decorators):
            decorated = self.temporary()
            self.emit(ir.CallStep(node.lineno, decorated, decorator, (value,)))
            value = decorated
        self.store(ast.copy_location(ast.Name(node.name, ast.Store()), node), value)

    def nested(self, node: ast.Lambda | ast.FunctionDef, name: str = "") -> ir.CompiledFunction:
        return compile_function(node, self.file, self.owner, self.visible_scope(), name)

    # --- leaving -----------------------------------------------------------------------------------------

    def _run_cleanups(self, down_to: int) -> None:
        """Run finally bodies and __exit__ calls between here and where control is going."""
        saved, handler = self._cleanups, self.handler
        while len(self._cleanups) > down_to:
            cleanup, outside = self._cleanups[-1]
            self._cleanups = self._cleanups[:-1]
            self.set_handler(outside)
            cleanup()
        self._cleanups = saved
        self.set_handler(handler)

    def _do_Return(self, node: ast.Return) -> None:
        value: ir.Operand = self.expression(node.value) if node.value else ir.Const(None)
        if self._cleanups:
            value = self.copy(node, value)
            self._run_cleanups(0)
        self.end(ir.ReturnStep(node.lineno, value))
        self.go(self.block())

    def _do_Break(self, node: ast.Break) -> None:
        loop = self._loops[-1]
        self._pass(node, loop)
        self._run_cleanups(loop.cleanups)
        self.end(ir.JumpStep(node.lineno, loop.after))
        self.go(self.block())

    def _do_Continue(self, node: ast.Continue) -> None:
        loop = self._loops[-1]
        self._pass(node, loop)
        self._run_cleanups(loop.cleanups)
        self.end(ir.JumpStep(node.lineno, loop.head))
        self.go(self.block())

    def _pass(self, node: ast.Break | ast.Continue, loop: _Loop) -> None:
        """The statement itself is passed before what is run on the way out, which may raise."""
        if len(self._cleanups) > loop.cleanups:
            onward = self.block()
            self.jump(node, onward)
            self.go(onward)

    def _do_Raise(self, node: ast.Raise) -> None:
        if node.exc is None:
            value: ir.Operand = self._caught[-1] if self._caught else ir.Const(None)
            self.end(ir.RaiseStep(node.lineno, value))
        else:
            value = self.expression(node.exc)
            cause = self.expression(node.cause) if node.cause else None
            self.end(ir.RaiseStep(node.lineno, value, cause))
        self.go(self.block())

    # --- branching ---------------------------------------------------------------------------------------

    def _do_If(self, node: ast.If) -> None:
        then, orelse, after = self.block(), self.block(), self.block()
        self.condition(node.test, then, orelse)
        self.go(then)
        self.statements(node.body)
        self.jump(node, after)
        self.go(orelse)
        self.statements(node.orelse)
        self.jump(node, after)
        self.go(after)

    def _do_While(self, node: ast.While) -> None:
        head, body, orelse, after = (self.block() for _ in range(4))
        self.begin_loop(node, head, body)
        self.condition(node.test, body, orelse)
        self._loop_body(node, head, body, orelse, after)

    def _loop_body(
        self,
        node: ast.While | ast.For,
        head: ir.BasicBlock,
        body: ir.BasicBlock,
        orelse: ir.BasicBlock,
        after: ir.BasicBlock,
    ) -> None:
        self._loops.append(_Loop(head.number, after.number, len(self._cleanups)))
        self.go(body)
        if isinstance(node, ast.For):
            self.assign(node.target, f"%item{head.number}")
        self.statements(node.body)
        self.jump(node, head)
        self._loops.pop()
        self.go(orelse)
        self.statements(node.orelse)
        self.jump(node, after)
        self.go(after)

    def _do_For(self, node: ast.For) -> None:
        iterator = self.temporary()
        self.emit(ir.IterateStep(node.lineno, iterator, self.expression(node.iter)))
        head, body, orelse, after = (self.block() for _ in range(4))
        self.begin_loop(node, head, body)
        self.end(ir.NextStep(node.lineno, f"%item{head.number}", iterator, body.number, orelse.number))
        self._loop_body(node, head, body, orelse, after)

    def _do_Match(self, node: ast.Match) -> None:
        compile_match(self, node, self.statements)

    # --- exceptions --------------------------------------------------------------------------------------

    def _do_Try(self, node: ast.Try) -> None:
        if node.finalbody:
            self._with_cleanup(node, lambda: self.statements(node.finalbody), lambda: self._try_except(node))
        else:
            self._try_except(node)

    def _with_cleanup(self, node: ast.stmt, cleanup: Callable[[], None], body: Callable[[], None]) -> None:
        """body, then cleanup whichever way the body is left."""
        outside = self.handler
        failed = self.block()
        self._cleanups.append((cleanup, outside))
        self.set_handler(failed.number)
        body()
        self._cleanups.pop()
        self.set_handler(outside)
        after = self.block()
        cleanup()
        self.jump(node, after)
        self.go(failed)
        error = self.temporary()
        self.emit(ir.CatchStep(node.lineno, error))
        self._caught.append(error)
        cleanup()
        self._caught.pop()
        self.end(ir.RaiseStep(node.lineno, error))
        self.go(after)

    def _try_except(self, node: ast.Try) -> None:
        if not node.handlers:
            self.statements(node.body)
            self.statements(node.orelse)
            return
        outside = self.handler
        caught, after = self.block(), self.block()
        self.set_handler(caught.number)
        self.statements(node.body)
        self.set_handler(outside)
        self.statements(node.orelse)
        self.jump(node, after)
        self.go(caught)
        error = self.temporary()
        self.emit(ir.CatchStep(node.handlers[0].lineno, error))
        for clause in node.handlers:
            body, following = self.block(), self.block()
            if clause.type is None:
                self.jump(clause, body)
            else:
                matched = self.op(clause, "matches", error, self.expression(clause.type))
                self.end(ir.BranchStep(clause.lineno, matched, body.number, following.number))
            self.go(body)
            self._caught.append(error)
            if clause.name:
                name = ast.copy_location(ast.Name(clause.name, ast.Store()), clause)
                self.store(name, error)
            self.statements(clause.body)
            if clause.name and self.scope.kind(clause.name) == "local":
                self.emit(ir.DeleteStep(clause.lineno, self.slot(clause.name), quiet=True))
            self._caught.pop()
            self.jump(clause, after)
            self.go(following)
        self.end(ir.RaiseStep(node.lineno, error))
        self.go(after)

    def _do_With(self, node: ast.With) -> None:
        self._with_items(node, list(node.items))

    def _with_items(self, node: ast.With, items: list[ast.withitem]) -> None:
        if not items:
            self.statements(node.body)
            return
        item = items[0]
        manager = self.copy(node, self.expression(item.context_expr))
        leave, enter, entered = self.temporary(), self.temporary(), self.temporary()
        self.op(node, "with", manager)
        self.emit(ir.GetFieldStep(node.lineno, leave, manager, "__exit__"))
        self.emit(ir.GetFieldStep(node.lineno, enter, manager, "__enter__"))
        self.emit(ir.CallStep(node.lineno, entered, enter, ()))

        def close() -> None:
            nothing = ir.Const(None)
            self.emit(ir.CallStep(node.lineno, self.temporary(), leave, (nothing, nothing, nothing)))

        outside = self.handler
        failed, after = self.block(), self.block()
        self._cleanups.append((close, outside))
        self.set_handler(failed.number)
        if item.optional_vars is not None:
            self.assign(item.optional_vars, entered)
        self._with_items(node, items[1:])
        self._cleanups.pop()
        self.set_handler(outside)
        close()
        self.jump(node, after)
        self.go(failed)
        error, kind = self.temporary(), self.temporary()
        self.emit(ir.CatchStep(node.lineno, error))
        self.emit(ir.CallStep(node.lineno, kind, ir.Const(type), (error,)))
        answer = self.temporary()
        self.emit(ir.CallStep(node.lineno, answer, leave, (kind, error, ir.Const(None))))
        swallowed = self.op(node, "truth", answer)
        again = self.block()
        self.end(ir.BranchStep(node.lineno, swallowed, after.number, again.number))
        self.go(again)
        self.end(ir.RaiseStep(node.lineno, error))
        self.go(after)


def _keyword(node: ast.stmt) -> str:
    names = {"AsyncFor": "async for", "AsyncWith": "async with", "ClassDef": "class", "TryStar": "except*"}
    names["AsyncFunctionDef"] = "async def"
    return names.get(type(node).__name__, type(node).__name__.lower())
