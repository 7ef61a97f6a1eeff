"""Puts marks into rewritten code: here the plain code looks at the eval breaker (the rules are in switching.py).

A second pass over a module that is rewritten already. What becomes what:

    def f(): body               _treadle_enter() first; a lambda: (_treadle_enter(), body)[1]
    (yield x)                   _treadle_resumed((yield x))
    for t in it                 it becomes _treadle_rounds(it): a mark between two items, as the jump back is
    while test: body            a mark at the end of the body; and, when the plain code tests at the end, between that
                                test and the body: while test and _treadle_jumped(again): body; again = 1
    continue                    a mark before it, in a `while`
    class C: ..., @d def f()    a mark behind it: it is called into being
    a + b, -a, a < b            _treadle_operate(operator, a, b): the operands may have code in Python
    locals(), super(), ...      a mark behind calls that the first pass leaves alone
    from p import x             a mark behind it, when p is a package; match: a mark in each case and behind, when its
                                patterns ask classes that are no builtins

Calls themselves are marked by the hooks, which know what is called (`hooks/checked.py`).
"""

from __future__ import annotations

import ast
import builtins
import copy
from typing import TypeVar

from treadle.threads.instrument.expressions import COMPARISONS
from treadle.threads.instrument.expressions import OPERATORS as BINARY
from treadle.threads.instrument.nodes import HOOK_PREFIX, is_foreign
from treadle.threads.switching import ALL, BODY_ENDED, TESTED_AGAIN, Loops, running

# Part of the key of the on-disk cache: change it whenever marks change.
MARKS_VERSION = 3

_Function = TypeVar("_Function", ast.FunctionDef, ast.AsyncFunctionDef)
_Comprehension = TypeVar("_Comprehension", ast.ListComp, ast.SetComp, ast.DictComp)

# By the name of the function in the module `operator`.
OPERATORS: dict[type[ast.AST], str] = {
    **BINARY,
    **COMPARISONS,
    ast.Invert: "invert",
    ast.UAdd: "pos",
    ast.USub: "neg",
}


def mark(tree: ast.Module, loops: Loops) -> ast.Module:
    """Mark a rewritten module in place and return it; `loops` are those of its plain code."""
    _Marker(loops).visit(tree)
    return tree


class _Marker(ast.NodeTransformer):
    def __init__(self, loops: Loops) -> None:
        self.loops = loops
        self.in_function = False
        self.while_variables: list[
            str | None
        ] = []  # of the loops around, innermost last; None for a `for`, empty for none
        self.temporaries = 0

    # -- making nodes ---------------------------------------------------------------------------------------

    def _at(self, node: ast.expr, place: ast.AST) -> ast.expr:
        for part in ast.walk(node):
            if isinstance(part, ast.expr) and not hasattr(part, "lineno"):
                ast.copy_location(part, place)
        return node

    def _hook(self, name: str, place: ast.AST, *args: ast.expr) -> ast.Call:
        call = ast.Call(ast.Name(HOOK_PREFIX + name, ast.Load()), list(args), [])
        self._at(call, place)
        return call

    def _statement(self, name: str, place: ast.AST, *args: ast.expr) -> ast.stmt:
        return ast.copy_location(ast.Expr(self._hook(name, place, *args)), place)

    # -- entering -------------------------------------------------------------------------------------------

    def _visit_function(self, node: _Function) -> list[ast.stmt]:
        decorated = any(not _is_hook(decorator) for decorator in node.decorator_list)
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.args = self.visit(node.args)
        outside = self.in_function, self.while_variables
        self.in_function, self.while_variables = True, []
        node.body = self._entered(self._statements(node.body))
        self.in_function, self.while_variables = outside
        return [node, self._statement("check", node)] if decorated else [node]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> list[ast.stmt]:
        return self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> list[ast.stmt]:
        return self._visit_function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> list[ast.stmt]:
        outside = self.in_function, self.while_variables
        self.in_function, self.while_variables = False, []
        self.generic_visit(node)
        node.body = self._entered(node.body)
        self.in_function, self.while_variables = outside
        return [node, self._statement("check", node)]

    def _entered(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """`body` with the mark for entering it, behind its docstring, and behind an answer that was known."""
        first = body[0]
        start = int(
            isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
        )
        asked = body[start] if start < len(body) else first
        start += isinstance(asked, ast.If) and isinstance(asked.test, ast.NamedExpr) and _is_hook(asked.test.value)
        return [*body[:start], self._statement("enter", first), *body[start:]]

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        outside, self.in_function = self.in_function, True
        self.generic_visit(node)
        self.in_function = outside
        both = ast.Tuple([self._hook("enter", node.body), node.body], ast.Load())
        node.body = self._at(ast.Subscript(both, ast.Constant(1), ast.Load()), node.body)
        return node

    def visit_Yield(self, node: ast.Yield) -> ast.expr:
        self.generic_visit(node)
        return self._hook("resumed", node, node)

    # -- loops ----------------------------------------------------------------------------------------------

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in body:
            visited = self.visit(statement)
            result.extend(visited if isinstance(visited, list) else [visited])
        return result

    def visit_For(self, node: ast.For) -> ast.stmt:
        node.iter = self._hook("rounds", node.iter, self.visit(node.iter))
        node.target = self.visit(node.target)
        self.while_variables.append(None)
        node.body = self._statements(node.body)
        self.while_variables.pop()
        node.orelse = self._statements(node.orelse)
        return node

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.stmt:
        node.iter = self.visit(node.iter)
        node.target = self.visit(node.target)
        self.while_variables.append("")
        node.body = self._statements(node.body)
        self.while_variables.pop()
        node.orelse = self._statements(node.orelse)
        node.body.append(self._statement("check", node))
        return node

    def visit_While(self, node: ast.While) -> ast.stmt | list[ast.stmt]:
        tested, ended = self._looks_of(node)
        node.test = self.visit(node.test)
        variable = ""  # none in a class body or a module, where it would be seen: a mark too many there
        if tested and self.in_function:
            self.temporaries += 1
            variable = f"{HOOK_PREFIX}again_{self.temporaries}"
        self.while_variables.append(variable)
        node.body = self._statements(node.body)
        self.while_variables.pop()
        node.orelse = self._statements(node.orelse)
        node.body.append(self._statement("check", node, ast.Constant(ended)))
        if not tested:
            return node
        again: ast.expr = ast.Name(variable, ast.Load()) if variable else ast.Constant(1)
        jumped = self._hook("jumped", node.test, again, ast.Constant(tested))
        node.test = self._at(ast.BoolOp(ast.And(), [node.test, jumped]), node.test)
        if not variable:
            return node
        node.body.append(self._set(variable, 1, node))
        return [self._set(variable, 0, node), node]

    def _looks_of(self, node: ast.While) -> tuple[int, int]:
        """The versions that look between the test and the body, in later rounds, and those that do before the test. Of
        the version that runs us the plain code tells."""
        if isinstance(node.test, ast.Constant):
            return 0, ALL
        at_end = self._tested_at_the_end(node)
        tested, ended = TESTED_AGAIN & ~running(), BODY_ENDED & ~running()
        if at_end is not False:
            tested |= running()
        if not at_end:
            ended |= running()
        return tested, ended

    def _tested_at_the_end(self, node: ast.While) -> bool | None:
        first, last = node.body[0], node.body[-1]
        end = (last.end_lineno or last.lineno, last.end_col_offset or last.col_offset)
        return self.loops.tested_at_the_end((node.lineno, node.col_offset), (first.lineno, first.col_offset), end)

    def _set(self, variable: str, value: int, place: ast.AST) -> ast.stmt:
        target = ast.copy_location(ast.Name(variable, ast.Store()), place)
        constant = ast.copy_location(ast.Constant(value), place)
        return ast.copy_location(ast.Assign([target], constant), place)

    def visit_Continue(self, node: ast.Continue) -> ast.stmt | list[ast.stmt]:
        variable = self.while_variables[-1]
        if variable is None:
            return node
        check = self._statement("check", node)
        return [check, self._set(variable, 0, node), node] if variable else [check, node]

    # -- comprehensions -------------------------------------------------------------------------------------

    def _loops_of(self, generators: list[ast.comprehension], first: str) -> None:
        for number, generator in enumerate(generators):
            if not generator.is_async:
                hook = "rounds" if number else first
                generator.iter = self._hook(hook, generator.iter, generator.iter)

    def _visit_comprehension(self, node: _Comprehension) -> _Comprehension:
        self.generic_visit(node)
        self._loops_of(node.generators, "comprehension")
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        return self._visit_comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        return self._visit_comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        return self._visit_comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        self.generic_visit(node)
        self._loops_of(node.generators, "generator")
        return node

    # -- operators and calls --------------------------------------------------------------------------------

    def _operated(self, node: ast.expr, operator: ast.AST, *operands: ast.expr) -> ast.expr:
        name = OPERATORS.get(type(operator))
        if name is None or all(isinstance(operand, ast.Constant) for operand in operands):
            return node
        return self._hook("operate", node, ast.Constant(name), *operands)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return self._operated(node, node.op, node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return self._operated(node, node.op, node.operand)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) > 1:  # which of them is reached is decided at run time: the operands say what they are
            node.left = self._hook("operand", node.left, node.left)
            node.comparators = [self._hook("operand", one, one) for one in node.comparators]
            return node
        return self._operated(node, node.ops[0], node.left, node.comparators[0])

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        self.generic_visit(node)
        node.value = self._hook("operand", node.value, node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and not _is_hook(node.func) and not is_foreign(node.func):
            # a call whose function is no hook is one that the first pass left alone, of a function made in C
            return self._hook("super" if node.func.id == "super" else "resumed", node, node)
        return node

    # -- imports and patterns -------------------------------------------------------------------------------

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        package = ast.Name("__package__", ast.Load())
        where = [ast.Constant(node.level), ast.Constant(node.module or ""), package]
        future = node.module == "__future__" and not node.level  # must stay first
        return [node] if future else [node, self._statement("imported", node, *where)]

    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        """A mark in every case and behind, where patterns ask classes that are more than a name of a builtin."""
        patterns = [part for case in node.cases for part in ast.walk(case.pattern)]
        asked = [part.cls for part in patterns if isinstance(part, ast.MatchClass) and not _is_builtin(part.cls)]
        self.generic_visit(node)
        if not asked:
            return [node]
        for case in node.cases:
            case.body.insert(0, self._statement("matched", case.body[0], *map(copy.deepcopy, asked)))
            if case.guard is not None:
                first = self._hook("matched", case.guard, *map(copy.deepcopy, asked))
                case.guard = self._at(ast.BoolOp(ast.And(), [first, case.guard]), case.guard)
        return [node, self._statement("matched", node, *map(copy.deepcopy, asked))]

    # annotations and patterns themselves are left alone
    def visit_arg(self, node: ast.arg) -> ast.arg:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        node.target = self.visit(node.target)
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        node.body = self._statements(node.body)
        return node

    def visit_TypeAlias(self, node: ast.AST) -> ast.AST:
        return node


def _is_builtin(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and isinstance(getattr(builtins, node.id, None), type)


def _is_hook(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        node = node.func
    return isinstance(node, ast.Name) and node.id.startswith(HOOK_PREFIX)
