"""A written pytest file as one of `unittest`: one class, a table as a loop of subTests, pytest's words as unittest's.

What is converted has been run as it was; what comes out is run again in a fresh process before it is written
(`fresh_unittest`). Only what Treadle itself writes is understood.
"""

from __future__ import annotations

import ast
import re
import sys
from textwrap import dedent

from treadle.core.errors import InternalError
from treadle.doors.unit.pytest_text import WIDTH
from treadle.report.fresh_process import run_python, scratch_folder

_CLOSE = '''
def _close(found, expected):
    """Whether floats, also inside of lists, tuples and dicts, differ by no more than rounding."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(_close(found[k], v) for k, v in expected.items())
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(_close, found, expected))
    return found == expected or math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-12)
'''
# what only the parameters of a pytest test may need
_PATH = "from pathlib import Path"
_COMPARED = {ast.Eq: "assertEqual", ast.Is: "assertIs", ast.In: "assertIn", ast.IsNot: "assertIsNot"}


def as_unittest(source: str, name: str) -> str:
    """The same tests as methods of a class with this name."""
    tree = ast.parse(source)
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    first = min(_first_line(test) for test in tests)
    head = [line for line in source.splitlines()[: first - 1] if line != "import pytest"]
    writer = _Methods(source)
    methods = [writer.method(test) for test in tests]
    needed = ["import unittest", *(["import math"] if writer.approximate else [])]
    needed += [*(["from unittest import mock"] if writer.patched else []), *sorted(writer.needed)]
    used = {node.id for text in methods for node in ast.walk(ast.parse(dedent(text))) if isinstance(node, ast.Name)}
    head = [line for line in "\n".join(head).rstrip().splitlines() if line != _PATH or "Path" in used]
    text = "\n".join(_with_imports(head, needed))
    helper = [_CLOSE.strip("\n")] if writer.approximate else []
    body = f"class {name}(unittest.TestCase):\n" + "\n".join(methods)
    main = 'if __name__ == "__main__":\n    unittest.main()'
    return re.sub(r"\n{4,}", "\n\n\n", "\n\n\n".join([text, *helper, body, main])) + "\n"


def class_name(target: str) -> str:
    """`pkg.mod:Class.method` is ClassMethodTest."""
    words = re.split(r"[\W_]+", target.partition(" ")[0].rpartition(":")[2])
    return "".join(word[:1].upper() + word[1:] for word in words if word) + "Test"


def fresh_unittest(source: str, tests: int) -> None:
    """Run the file in a fresh process. Raises InternalError unless so many tests pass."""
    with scratch_folder() as folder:
        file = folder / "test_candidate.py"
        file.write_text(source, encoding="utf-8")
        done = run_python(["-m", "unittest", "discover", "-s", str(folder), "-p", file.name])
    ran = re.search(r"^Ran (\d+) tests?", done.stderr, re.MULTILINE)
    if done.returncode or ran is None or int(ran[1]) != tests:
        raise InternalError(f"the tests do not pass in the style of unittest:\n{done.stderr[-2000:]}")


def _first_line(test: ast.FunctionDef) -> int:
    return min([test.lineno, *(d.lineno for d in test.decorator_list)])


def _with_imports(head: list[str], needed: list[str]) -> list[str]:
    """Imports of the standard library stand first."""
    start = next((i for i, line in enumerate(head) if line.startswith(("import ", "from "))), len(head))
    end = next(
        (i for i, line in enumerate(head) if i >= start and not line.startswith(("import ", "from "))), len(head)
    )
    needed = [line for line in needed if line not in head]
    block, rest = head[start:end], head[end:]
    own = [line for line in block if "noqa" in line or line.split()[1].partition(".")[0] not in sys.stdlib_module_names]
    first = sorted([*needed, *(line for line in block if line not in own)], key=lambda x: (x.startswith("from"), x))
    own += [line for line in rest if line.startswith(("import ", "from "))]
    rest = [line for line in rest if not line.startswith(("import ", "from "))]
    while rest and not rest[0]:
        rest = rest[1:]
    return [*head[:start], *first, *(["", *own] if own else []), *(["", *rest] if rest else [])]


class _Methods:
    """Converts tests; remembers what the file needs for them."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.splitlines()
        self.approximate = self.patched = False
        self.needed: set[str] = set()

    def method(self, test: ast.FunctionDef) -> str:
        table = next((d for d in test.decorator_list if isinstance(d, ast.Call)), None)
        if table is None:
            body = self._block(test.body, test.lineno)
            return f"    def {test.name}(self):\n" + _indented(body)
        columns = ast.literal_eval(table.args[0])
        named = [columns] if isinstance(columns, str) else list(columns)
        case = "case" if "case" not in named else "case_"
        names = ", ".join([case, *named])
        rows = table.args[1]
        assert isinstance(rows, ast.List)
        shown = [line for row in rows.elts for line in self._row(row, rows.lineno)]
        lines = [f"for {names} in [", *(f"    {line}" for line in shown), "]:", f"    with self.subTest({case}):"]
        lines += [f"        {line}" for line in self._block(test.body, test.lineno)]
        return f"    def {test.name}(self):\n" + _indented(lines)

    def _row(self, row: ast.expr, before: int) -> list[str]:
        assert isinstance(row, ast.Call)
        trail = self.lines[row.lineno - 2].strip()
        known = next(k.value for k in row.keywords if k.arg == "id")
        values = [ast.unparse(known), *(self._text(value) for value in row.args)]
        line = f"({', '.join(values)}),"
        short = [line] if len(line) <= WIDTH - 12 else ["(", *(f"    {value}," for value in values), "),"]
        return [*([trail] if trail.startswith("#") and row.lineno - 1 > before else []), *short]

    def _text(self, node: ast.AST) -> str:
        found = ast.get_source_segment(self.source, node)
        assert found is not None
        return found

    def _block(self, body: list[ast.stmt], before: int) -> list[str]:
        """The statements with the comments between them, without indentation."""
        found: list[str] = []
        for statement in body:
            between = self.lines[before : statement.lineno - 1]
            found += [line.strip() for line in between if line.strip().startswith("#")]
            found += self._statement(statement)
            before = statement.end_lineno or statement.lineno
        return found

    def _statement(self, statement: ast.stmt) -> list[str]:
        match statement:
            case ast.Assert(test=test):
                return [self._assertion(test)]
            case ast.With(items=items, body=body):
                around = ", ".join(ast.unparse(item).replace("pytest.raises(", "self.assertRaises(") for item in items)
                inside = [f"    {line}" for line in self._block(body, body[0].lineno)]
                return [f"with {around}:", *inside]
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="monkeypatch"), attr=how), args=args)):
                return self._patching(how, [self._text(arg) for arg in args])
        own = self.lines[statement.lineno - 1 : statement.end_lineno]
        return [own[0].strip(), *(line[statement.col_offset :] for line in own[1:])]

    def _patching(self, how: str, args: list[str]) -> list[str]:
        if how == "chdir":
            self.needed |= {"import contextlib", "import tempfile"}
            folder = "self.enterContext(tempfile.TemporaryDirectory())"
            return [f"{args[0]} = {folder}", f"self.enterContext(contextlib.chdir({args[0]}))"]
        owner, name = args[:2]
        if how == "delattr":
            return [f"delattr({owner}, {name})"]
        if args[2] == "None":  # it is not there, and is made by the call
            return [
                f"setattr({owner}, {name}, None)",
                f"self.addCleanup(lambda: hasattr({owner}, {name}) and delattr({owner}, {name}))",
            ]
        self.patched = True
        return [f"self.enterContext(mock.patch.object({owner}, {name}, {args[2]}))"]

    def _assertion(self, test: ast.expr) -> str:
        match test:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Call(func=func, args=[expected])]) if (
                ast.unparse(func) == "pytest.approx"
            ):
                self.approximate = True
                return f"self.assertTrue(_close({self._said(left)}, {self._said(expected)}))"
            case ast.Compare(left=left, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
                return f"self.assertIsNone({self._said(left)})"
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
                return f"self.{_COMPARED[type(op)]}({self._said(left)}, {self._said(right)})"
            case ast.Call(func=ast.Name(id="isinstance"), args=[value, kind]):
                return f"self.assertIsInstance({self._said(value)}, {self._said(kind)})"
        return f"self.assertTrue({self._said(test)})"

    def _said(self, node: ast.expr) -> str:
        return re.sub(r"\bcaught\.value\b", "caught.exception", self._text(node))


def _indented(lines: list[str]) -> str:
    return "".join(f"        {line}\n" if line else "\n" for one in lines for line in one.split("\n"))
