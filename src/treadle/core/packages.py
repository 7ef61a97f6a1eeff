"""What is installed, and what is being imported."""

from __future__ import annotations

import importlib.metadata
import sys
from types import FrameType


def release_of(package: str) -> str:
    """The release of an installed package, empty for a folder here."""
    names = importlib.metadata.packages_distributions().get(package.partition(".")[0], [package])
    try:
        return importlib.metadata.version(names[0])
    except importlib.metadata.PackageNotFoundError:
        return ""


def import_runs(function: str) -> bool:
    """Is this function of the import system among those that wait for us?"""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == function and frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
