"""`match` statements: each pattern becomes tests and bindings that jump to the next case when they fail."""

from __future__ import annotations

import ast
from collections.abc import Callable

from treadle.symbolic.ir import steps as ir
from treadle.symbolic.python.compile.expressions import Expressions


def compile_match(c: Expressions, node: ast.Match, statements: Callable[[list[ast.stmt]], None]) -> None:
    subject = c.copy(node, c.expression(node.subject))
    after = c.block()
    for case in node.cases:
        following = c.block()
        _pattern(c, case.pattern, subject, following)
        if case.guard is not None:
            body = c.block()
            c.condition(case.guard, body, following)
            c.go(body)
        statements(case.body)
        c.jump(case.body[-1], after)
        c.go(following)
    c.jump(node, after)
    c.go(after)


def _test(c: Expressions, node: ast.AST, truth: str, fail: ir.BasicBlock) -> None:
    passed = c.block()
    c.end(ir.BranchStep(getattr(node, "lineno", 0), truth, passed.number, fail.number))
    c.go(passed)


def _bind(c: Expressions, node: ast.AST, name: str, value: ir.Operand) -> None:
    target = ast.Name(name, ast.Store())
    target.lineno = getattr(node, "lineno", 0)
    c.store(target, value)


def _pattern(c: Expressions, node: ast.pattern, subject: str, fail: ir.BasicBlock) -> None:
    line = node.lineno
    match node:
        case ast.MatchValue(value=value):
            equal = c.op(node, "==", subject, c.expression(value))
            _test(c, node, c.op(node, "truth", equal), fail)
        case ast.MatchSingleton(value=constant):
            _test(c, node, c.op(node, "is", subject, ir.Const(constant)), fail)
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                _pattern(c, inner, subject, fail)
            if name is not None:
                _bind(c, node, name, subject)
        case ast.MatchOr(patterns=patterns):
            done = c.block()
            for alternative in patterns[:-1]:
                following = c.block()
                _pattern(c, alternative, subject, following)
                c.jump(node, done)
                c.go(following)
            _pattern(c, patterns[-1], subject, fail)
            c.jump(node, done)
            c.go(done)
        case ast.MatchSequence(patterns=patterns):
            star = next((i for i, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
            fixed = len(patterns) - (star is not None)
            _test(c, node, c.op(node, "is sequence", subject), fail)
            size = c.temporary()
            c.emit(ir.CallStep(line, size, ir.Const(len), (subject,)))
            comparison = ">=" if star is not None else "=="
            enough = c.op(node, comparison, size, ir.Const(fixed))
            _test(c, node, c.op(node, "truth", enough), fail)
            slots = tuple(c.temporary() for _ in patterns)
            c.emit(ir.UnpackStep(line, slots, subject, star))
            for part, slot in zip(patterns, slots, strict=True):
                if isinstance(part, ast.MatchStar):
                    if part.name:
                        _bind(c, part, part.name, slot)
                else:
                    _pattern(c, part, slot, fail)
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            _test(c, node, c.op(node, "is mapping", subject), fail)
            for key, part in zip(keys, patterns, strict=True):
                k = c.expression(key)
                _test(c, node, c.op(node, "truth", c.op(node, "in", k, subject)), fail)
                found = c.temporary()
                c.emit(ir.GetItemStep(line, found, subject, k))
                _pattern(c, part, found, fail)
            if rest is not None:
                c.stop(node, "'**rest' in a mapping pattern")
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=named):
            kind = c.copy(node, c.expression(cls))
            is_one = c.temporary()
            c.emit(ir.CallStep(line, is_one, ir.Const(isinstance), (subject, kind)))
            _test(c, node, c.op(node, "truth", is_one), fail)
            for i, part in enumerate(patterns):
                _pattern(c, part, c.op(node, "match argument", subject, kind, ir.Const(i)), fail)
            for name, part in zip(names, named, strict=True):
                found = c.temporary()
                c.emit(ir.GetFieldStep(line, found, subject, name))
                _pattern(c, part, found, fail)
        case _:
            c.stop(node, "this pattern")
