"""Parts of Treadle whose dependencies are extras: what is missing is told in one sentence, with the command to run."""

from __future__ import annotations

import importlib
from types import ModuleType

from treadle.core.errors import MissingExtra


def with_extra(what: str, module: str) -> ModuleType:
    """A module of Treadle that `what` needs."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        raise MissingExtra.from_import(what, missing) from missing
