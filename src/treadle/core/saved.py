"""Campaigns that were stopped, below `.treadle/campaigns/` of the current folder: `--resume` goes on with them.

A campaign is known by its door and by everything that decides what it does, except budgets and who does the work. What
it had done counts only for the very same code: the files of every module that was loaded when it was stopped (the
standard library aside, whose version is part of the name) must be there unchanged. Entries are signed (`signed.py`).
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import sysconfig
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from treadle.core.signed import SignedFiles

FOLDER = Path(".treadle") / "campaigns"
_LIBRARY = Path(sysconfig.get_path("stdlib"))


def nothing_saved(target: str) -> str:
    return (
        f"there is nothing to go on with: no campaign of {target} was stopped, or the code or the options have changed "
        "since; leave out --resume"
    )


class SavedCampaign:
    """Where one campaign is kept."""

    def __init__(self, door: str, *what: object) -> None:
        facts = (version("treadle"), sys.implementation.cache_tag, sys.hexversion, what)
        self.name = f"{door}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:24]}"
        self._files = SignedFiles(Path.cwd() / FOLDER, b"treadle campaign, signed\n")

    def load(self) -> Any:
        """What was saved; None when there is nothing, or the code has changed since."""
        body = self._files.load(self.name)
        if body is None:
            return None
        files, state = pickle.loads(body)
        return pickle.loads(state) if all(_digest(Path(file)) == known for file, known in files.items()) else None

    def save(self, state: Any, files: Iterable[Path] | None = None) -> bool:
        """Keep a campaign that depends on these files, or on all modules that are loaded."""
        paths = set(_loaded() if files is None else files)
        digests = {str(path): _digest(path) for path in paths}
        return self._files.save(self.name, pickle.dumps((digests, pickle.dumps(state))))

    def remove(self) -> None:
        if self._files.folder is not None:
            (self._files.folder / self.name).unlink(missing_ok=True)


def _loaded() -> Iterable[Path]:
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and (_LIBRARY not in Path(file).parents or "site-packages" in file):
            yield Path(file)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
