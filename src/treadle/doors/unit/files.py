"""The test file of `treadle unit`: where it goes, and how tests are added to it."""

from __future__ import annotations

import ast
import math
import os
import re
from pathlib import Path

from treadle.core.errors import UsageError
from treadle.core.files import is_unedited, seal, without_seal
from treadle.report.pytest_file import PytestFile, module_folder
from treadle.units.imports import Imports
from treadle.units.target import UnitTarget


def output_path(found: list[UnitTarget], texts: list[str], output: str | os.PathLike[str] | None) -> Path:
    if output is not None:
        path = Path(output)
        if path.suffix != ".py":
            raise UsageError(f"--output {path}: a pytest file ends in .py")
        return path
    module = found[0].module.__name__.replace(".", "_")
    inside = texts[0].partition(":")[2].replace(".", "_").lower() if len(texts) == 1 else ""
    name = re.sub(r"_+", "_", f"test_{module}_{inside}".strip("_") + "_unit.py")
    folder = Path("tests") if Path("tests").is_dir() else Path()
    return folder / name


def folders(path: Path, targets: list[UnitTarget]) -> list[Path]:
    """Where modules lie that are found neither from the tests' folder nor from the current one."""
    inside = {Path.cwd().resolve(), path.resolve().parent}
    found = [root for target in targets for root in module_folder(target.module.__name__) if root not in inside]
    return [root for root in dict.fromkeys(found) if str(root) not in os.environ.get("PYTHONPATH", "")]


def content_of(path: Path, source: str, append: bool) -> str:
    """What the file is going to be."""
    if not (append and path.exists()):
        return seal(source)
    existing = path.read_text(encoding="utf-8")
    joined = appended(existing, source)
    return seal(joined) if is_unedited(existing) else joined


def names_in(content: str) -> frozenset[str]:
    """The functions that a test file has."""
    return frozenset(n.name for n in ast.parse(content).body if isinstance(n, ast.FunctionDef))


def imports_of(content: str) -> Imports:
    """What a test file imports, so that what is added to it gets no name of these."""
    found = Imports()
    for node in ast.parse(content).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found.names |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found.modules |= {alias.name: alias.asname or alias.name for alias in node.names}
    return found


def with_sorted_imports(content: str) -> str:
    """A file of ours with its imports at the top in groups, those of one module together; else as it is."""
    body = ast.parse(content).body
    own = [place for place, node in enumerate(body) if isinstance(node, ast.Import | ast.ImportFrom)]
    if not own or own != list(range(own[0], own[0] + len(own))) or "# noqa" in content:
        return content  # something stands between them
    lines = content.splitlines()
    first, last = body[own[0]].lineno, body[own[-1]].end_lineno or 0
    imports = PytestFile("imports", imports=imports_of(content).lines()).source().partition("\n\n")[2].rstrip()
    return "\n".join([*lines[: first - 1], imports, *lines[last:]]) + "\n"


def tests_in(content: str) -> int:
    """The tests of a file: one for each row of a table."""
    found = 0
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            tables = [d.args[1] for d in node.decorator_list if isinstance(d, ast.Call) and len(d.args) > 1]
            found += math.prod(len(t.elts) for t in tables if isinstance(t, ast.List | ast.Tuple))
    return found


def read(path: Path) -> str | None:
    """A test file that tests are to be added to; None when there is none."""
    if not path.exists():
        return None
    try:
        content = path.read_text(encoding="utf-8")
        ast.parse(content)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"cannot add tests to '{path}': {error}") from None
    return content


def appended(existing: str, source: str) -> str:
    """The existing file, with the imports and the tests that it does not have yet."""
    old = without_seal(existing).rstrip() + "\n"
    old_tree, new_tree = ast.parse(old), ast.parse(source)
    old_lines, new_lines = old.splitlines(), source.splitlines()
    known = {n.name for n in old_tree.body if isinstance(n, ast.FunctionDef)}
    imports_here = {ast.unparse(n) for n in old_tree.body if isinstance(n, ast.Import | ast.ImportFrom)}
    imports = [
        "\n".join(new_lines[n.lineno - 1 : n.end_lineno])
        for n in new_tree.body
        if isinstance(n, ast.Import | ast.ImportFrom) and ast.unparse(n) not in imports_here
    ]
    last = max((n.end_lineno or 0 for n in old_tree.body if isinstance(n, ast.Import | ast.ImportFrom)), default=0)
    if not last and old_tree.body and ast.get_docstring(old_tree):
        last = old_tree.body[0].end_lineno or 0
    merged = [*old_lines[:last], *imports, *old_lines[last:]]
    text_ = "\n".join(merged).rstrip() + "\n"
    for node in new_tree.body:
        if isinstance(node, ast.FunctionDef) and node.name not in known:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            text_ += "\n\n" + "\n".join(new_lines[first - 1 : node.end_lineno]) + "\n"
    return text_
