"""ABS files, loaded and compiled, and how a target names one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from treadle.abs.language.depth import deep_recursion
from treadle.abs.language.load import load
from treadle.abs.language.model import Program
from treadle.abs.machine.machine import Image
from treadle.abs.machine.statements import compile_program
from treadle.core.errors import UsageError


@dataclass(slots=True)
class AbsModel:
    """A loaded and compiled ABS file."""

    program: Program
    image: Image

    @classmethod
    def load(cls, path: str | Path) -> AbsModel:
        with deep_recursion():
            program = load(path)
            return cls(program, compile_program(program))

    @staticmethod
    def load_once(path: Path) -> AbsModel:
        """The model of a file, loaded again only when the file has changed."""
        return _loaded(path.resolve(), path.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _loaded(path: Path, changed: int) -> AbsModel:
    return AbsModel.load(path)


def split_target(target: str) -> tuple[str, str]:
    """`model.abs:Class.method` or `model.abs`."""
    path, colon, name = target.rpartition(":")
    if not colon or not path.endswith(".abs"):
        path, name = target, ""
    if not path.endswith(".abs"):
        raise UsageError(
            f"'{target}' is no ABS model; write model.abs:Class.method (actors in Python: `treadle schedule` for the "
            "orders of their messages, `treadle unit` for a function with unknown inputs)"
        )
    if not Path(path).is_file():
        raise UsageError(f"there is no file '{path}'")
    return path, name
