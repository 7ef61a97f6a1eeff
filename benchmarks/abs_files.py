"""How many of other people's ABS files are read, checked and compiled: `python -m benchmarks.abs_files FOLDER`.

FOLDER has checkouts of public models, one below the other, each with its `.git`. A file counts once, whatever its name.
Files that use a product line, component, deployment, database or the meta level, themselves or through a module that
they import, are counted apart, as are foreign classes where a file does not check; so are examples of errors, by their
names. Where two files at the same distance declare a module, the model is tried with each.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path

from treadle.abs.language.depth import deep_recursion
from treadle.abs.language.errors import AbsError, AbsSource, AbsUnsupported
from treadle.abs.language.load import load
from treadle.abs.language.parser import parse
from treadle.abs.machine.statements import compile_program
from treadle.core.errors import UsageError

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_OTHER = re.compile(
    r"""^\s*(?:delta\s+\w+\s*[;(]|productline\b|product\s+\w+\s*\(|features\s+\w|root\s+[A-Z]|component\b|port\s+[A-Z])
    |\b(?:DeploymentComponent|CloudProvider|ABS\.DC|FLI\.[A-Z]\w+|ABS\.FLI|ABS\.Meta|ABS\.DB|Resourcecap|rebind|movecogto)\b
    |\[\s*DC\s*:|\bDC\s+\w|\bbuiltin\s*\(""",
    re.MULTILINE | re.VERBOSE,
)
_REFUSED = re.compile(r"deployment|ABS\.Meta|delta|product|feature|component|database")
_TWO_FILES = re.compile(r"more than one file declares this module: (\S+) and (\S+);")


def stage(path: Path) -> tuple[int, str]:
    """How far a file comes (0 not read, 1 read, 2 checked, 3 compiled) and what stopped it."""
    reached = 0
    try:
        with deep_recursion():
            parse(AbsSource(str(path), path.read_text(encoding="utf-8", errors="replace")))
            reached = 1
            program = load(path)
            reached = 2
            compile_program(program)
            return 3, ""
    except AbsError as error:
        two = _TWO_FILES.search(error.sentence)
        if two is not None and not os.environ.get("ABS_PATH"):
            return min(_with_folder(path, Path(other).parent) for other in two.groups())
        return reached, f"{'refused: ' * isinstance(error, AbsUnsupported)}{error.place}: {error.sentence}"
    except UsageError as error:
        return reached, str(error)


def _with_folder(path: Path, folder: Path) -> tuple[int, str]:
    os.environ["ABS_PATH"] = str(folder)
    try:
        return stage(path)
    finally:
        del os.environ["ABS_PATH"]


def uses_others(path: Path, stopped: str) -> bool:
    """Whether a file that does not check has one of the constructs that are refused by name."""
    text = path.read_text(encoding="utf-8", errors="replace")
    refused = stopped.startswith("refused:") and _REFUSED.search(stopped.rpartition(": ")[2]) is not None
    return refused or _OTHER.search(_COMMENT.sub("", text)) is not None


def tell(folder: Path) -> None:
    files = {sha256(p.read_bytes()).digest(): p for p in sorted(folder.rglob("*.abs"), reverse=True)}
    wrong = [key for key, p in files.items() if "_fail" in p.name]
    print(f"{len(wrong)} examples of errors: {sum(stage(files.pop(key))[0] < 2 for key in wrong)} do not check")
    counted: dict[bool, Counter[int]] = {False: Counter(), True: Counter()}
    for path in sorted(files.values()):
        reached, stopped = stage(path)
        others = reached < 2 and uses_others(path, stopped)
        counted[others][reached] += 1
        if not others and reached < 3:
            print(f"{reached} {stopped.replace(str(folder) + os.sep, '')}".splitlines()[0])
    for others, told in ((False, "without"), (True, "with")):
        stages = counted[others]
        of = stages.total()
        upto = {n: sum(count for reached, count in stages.items() if reached >= n) for n in (1, 2, 3)}
        print(f"{of} files {told} product line, component, deployment, database, foreign or meta level:", end=" ")
        print(f"{upto[1]} are read, {upto[2]} check ({upto[2] / max(of, 1):.2%}), {upto[3]} compile")


if __name__ == "__main__":
    tell(Path(sys.argv[1]))
