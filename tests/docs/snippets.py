"""The code blocks of a Markdown page, as a reader would use them: in order, in an empty folder.

- a python or toml block whose first line is `# name.py` or `# name.toml` is a file of that folder;
- any other python block is a program, run there;
- a console block holds commands (`$ treadle ...`) and what each prints; `...` stands for anything, and a command
  without output is only run: it must not be wrong use;
- the bundled models of examples/ are in the folder;
- blocks of other kinds (sh, text, json) are not run.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

MODELS = Path(__file__).parent.parent.parent / "examples"
_WRONG = (2, 70, 127)  # wrong use, a bug in Treadle, no such command

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
_TITLE = re.compile(r"^# ([\w/]+\.(?:py|toml))\n")


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    line: int

    @property
    def file(self) -> str | None:
        """The name of the file that this block is, if it is one."""
        title = _TITLE.match(self.text)
        return title[1] if title and self.kind in ("python", "toml") else None

    def commands(self) -> list[tuple[str, str]]:
        """The commands of a console block, each with the output that the page shows."""
        parts = re.split(r"^\$ (.*)\n", self.text, flags=re.M)
        return list(zip(parts[1::2], parts[2::2], strict=True))


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in _BLOCK.finditer(text)]


def run(command: str | list[str], folder: Path) -> tuple[str, int]:
    """What a command prints in a folder, stdout and stderr together, and its exit code."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        # pytest-asyncio, which a reader need not have, warns of projects that do not set an option of its own
        "PYTHONWARNINGS": "ignore:The configuration option",
    }
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        command,
        shell=isinstance(command, str),
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout, done.returncode


def matches(expected: str, got: str) -> bool:
    """Is this what the page shows? Blank lines and the spaces at the ends of lines do not count."""

    def plain(text: str) -> str:
        return "".join(f"{line.rstrip()}\n" for line in text.splitlines() if line.strip())

    return doctest.OutputChecker().check_output(plain(expected), plain(got), doctest.ELLIPSIS)


def check(page: Path, folder: Path) -> list[str]:
    """Do all that a page says, in an empty folder. Returns what did not come out as written."""
    wrong: list[str] = []
    (folder / "pytest.ini").touch()  # the folder is a project of its own
    for model in MODELS.rglob("*.abs"):
        shutil.copy(model, folder)
    for block in blocks(page):
        if block.file is not None:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.kind == "python":
            (folder / "snippet.py").write_text(block.text, encoding="utf-8")
            got, code = run([sys.executable, "snippet.py"], folder)
            if code:
                wrong.append(f"{page.name}:{block.line}: the program fails:\n{got}")
        elif block.kind == "console":
            for command, expected in block.commands():
                got, code = run(command, folder)
                if not (matches(expected, got) if expected.strip() else code not in _WRONG):
                    wrong.append(f"{page.name}:{block.line}: $ {command}\nexpected:\n{expected}\ngot:\n{got}")
    return wrong
