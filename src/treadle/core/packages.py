"""What is installed, what is not, which module belongs to which package, and what is being imported."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from types import FrameType, ModuleType

from treadle.core.errors import MissingExtra


def release_of(package: str) -> str:
    """The release of an installed package, empty for a folder here."""
    names = importlib.metadata.packages_distributions().get(package.partition(".")[0], [package])
    try:
        return importlib.metadata.version(names[0])
    except importlib.metadata.PackageNotFoundError:
        return ""


@cache
def _libraries() -> tuple[str, ...]:
    return tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def is_library(file: str) -> bool:
    """Not code of the user: the standard library, an installed package, code without a file."""
    return file.startswith((*_libraries(), "<")) or file == "?"


def is_within(module: str, packages: Iterable[str]) -> bool:
    """Is a module one of these packages, or inside of one?"""
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def with_extra(what: str, module: str) -> ModuleType:
    """A module of Treadle that `what` needs, and whose dependencies are an extra: what is missing is told in one
    sentence, with the command to run."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        raise MissingExtra.from_import(what, missing) from missing


def import_runs(function: str) -> bool:
    """Is this function of the import system among those that wait for us?"""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == function and frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
