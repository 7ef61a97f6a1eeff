"""The one writer of pytest files: a header, imports that find the code under test, tests; run before it is written.

Decides the layout, how a file finds modules and files that lie beside it, and what lands: only tests that, each alone
in a fresh process, ended as they say they do. Who may overwrite what is decided by `treadle.core.files`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from treadle.core.files import write_sealed
from treadle.report.fresh_process import CouldNotRunTests, Effects, FreshOutcome, run_tests, scratch_folder

# Packages whose imports stand between those of the standard library and those of the code under test.
_BETWEEN = frozenset({"pytest", "treadle"})


@dataclass(slots=True)
class PytestFile:
    """The parts of a test file; `source` joins them for the folder in which it is to stand.

    Without a folder it names whole paths, and is the same text wherever it stands.
    """

    title: str  # the first line of its docstring
    about: str = ""  # the rest of the docstring
    imports: list[str] = field(default_factory=list)  # lines, in any order
    first_imports: list[str] = field(default_factory=list)  # of the code under test: these before all others
    folders: list[Path] = field(default_factory=list)  # that must be on sys.path
    files: dict[str, Path] = field(default_factory=dict)  # names of constants -> files that the tests use
    definitions: list[str] = field(default_factory=list)  # what the tests use
    tests: dict[str, str] = field(default_factory=dict)  # name of the function -> source, with its decorators
    appendix: list[str] = field(default_factory=list)

    def source(self, folder: Path | None = None) -> str:
        """The text of the file, in this folder."""
        blocks = [self._head(folder), *self.definitions, *self.tests.values(), *self.appendix]
        return "\n\n\n".join(block.strip("\n") for block in blocks) + "\n"

    def only(self, names: set[str]) -> PytestFile:
        """The same file with some of its tests."""
        made = PytestFile(**{name: getattr(self, name) for name in self.__slots__})
        made.tests = {name: source for name, source in self.tests.items() if name in names}
        return made

    def _head(self, folder: Path | None) -> str:
        paths = [f"sys.path.insert(0, {_on_path(place, folder)})" for place in dict.fromkeys(self.folders)]
        constants = [f"{name} = {_beside(place, folder)}" for name, place in self.files.items()]
        imports = {*self.imports, *(["import sys"] if paths else [])}
        imports |= {"from pathlib import Path"} if constants or (paths and folder is not None) else set()
        standard = [line for line in imports if _package(line) in sys.stdlib_module_names]
        between = [line for line in imports if _package(line) in _BETWEEN]
        own = [line for line in imports if line not in (*standard, *between, *self.first_imports)]
        own = [*self.first_imports, *_sorted(own)]
        if paths:
            own = [f"{line}  # noqa: E402" if "\n" not in line else line for line in own]
        groups = [_sorted(standard), _sorted(between), paths, own, constants]
        docstring = f'"""{self.title}\n\n{self.about}\n"""' if self.about else f'"""{self.title}"""'
        return "\n\n".join([docstring, *("\n".join(group) for group in groups if group)])


def _package(line: str) -> str:
    return line.split()[1].partition(".")[0]


def _sorted(lines: list[str]) -> list[str]:
    return sorted(lines, key=lambda line: (line.startswith("from"), line))


def _beside(place: Path, folder: Path | None) -> str:
    """A place as a written file finds it, relative to itself, so that both can move together."""
    if folder is None:
        return f"Path({str(place.resolve())!r})"
    try:
        way = Path(os.path.relpath(place.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return f"Path({str(place.resolve())!r})"
    return "Path(__file__).resolve().parent" + ("" if way == "." else f" / {way!r}")


def _on_path(place: Path, folder: Path | None) -> str:
    return repr(str(place)) if folder is None else f"str({_beside(place, folder)})"


def module_folder(module: str) -> list[Path]:
    """The folder that must be on sys.path to import a module; none when it is installed."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if not file or {"site-packages", "dist-packages"} & set(Path(file).parts):
        return []
    depth = module.count(".") + (Path(file).name == "__init__.py")
    home = Path(file).resolve().parents[depth]
    if home == Path(sys.prefix) or str(home).startswith(os.path.dirname(os.__file__)):
        return []
    return [home]


def not_as_told(
    file: PytestFile, expected: Callable[[FreshOutcome], bool], effects: Effects = "allowed", at_once: int = 1
) -> dict[str, str]:
    """Run every test alone in a fresh process; those that do not end as expected, with how they ended."""
    with scratch_folder() as folder:
        trial = folder / "test_trial.py"
        trial.write_text(file.source(folder), encoding="utf-8")
        try:
            ended = run_tests(trial, at_once=at_once, effects=effects)
        except CouldNotRunTests as error:
            return dict.fromkeys(file.tests, str(error).strip() or "pytest gives no reason")
    wrong: dict[str, str] = {}
    for test in file.tests:
        outcome = ended.get(test, FreshOutcome("failed", "it ended the process it ran in"))
        if test not in ended or not expected(outcome):
            wrong[test] = outcome.why or "it passed"
    return wrong


def write_pytest_file(path: Path, file: PytestFile, option: str, force: bool = False) -> None:
    """Write the file, sealed, if its place is free or ours. `option` is the one that names another place."""
    write_sealed(path, file.source(path.parent), option, force)
