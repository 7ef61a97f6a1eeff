"""The options of an exploration, and where a project sets them once: the table `[tool.treadle]` of its pyproject.toml.

Decides which keys there are and what each may hold. A key that is misspelt or of the wrong type is a `UsageError`: a
setting that is silently ignored is a search that is not the one its author believes in.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from treadle.core.errors import UsageError
from treadle.core.words import choices

# key -> (accepted types, how a person says it)
KEYS: dict[str, tuple[tuple[type, ...], str]] = {
    "strategy": ((str,), "a string"),
    "executions": ((int,), "a whole number"),
    "seconds": ((int, float), "a number"),
    "preemptions": ((int,), "a whole number"),
    "delays": ((int,), "a whole number"),
    "operations": ((int,), "a whole number"),
    "timeouts": ((str,), '"idle" or "any"'),
    "clock": ((str,), '"still" or "ticking"'),
    "any_order": ((bool,), "true or false"),
    "cancel": ((str,), '"never", "at-await" or "at-await:NAME,NAME"'),
    "seed": ((int,), "a whole number"),
    "granularity": ((str,), '"messages" or "accesses"'),
    "delivery": ((str,), '"mailbox", "causal" or "promised"'),
    "switches": ((str,), '"free", "gil" or "auto"'),
    "workers": ((int,), "a whole number"),
    "cluster": ((str,), "the address of a Dask scheduler"),
    "ship": ((bool,), "true or false"),
    "resume": ((bool,), "true or false"),
    "instrument": ((list,), "a list of package names"),
}


def check_values(options: Mapping[str, Any], where: str) -> None:
    """Refuse options of a wrong type: `seconds="5"` would only be noticed in the middle of a search."""
    for key, value in options.items():
        types, wanted = KEYS[key]
        if value is None:
            continue
        if key == "instrument" and isinstance(value, str | list | tuple):
            if isinstance(value, str) or all(isinstance(item, str) for item in value):
                continue
        elif isinstance(value, types) and isinstance(value, bool) == (bool in types):
            continue
        raise UsageError(f"{where}: {key} must be {wanted}, not {value!r}")


def find_pyproject(start: Path) -> Path | None:
    """The nearest pyproject.toml at or above a folder."""
    for folder in (start, *start.parents):
        if (folder / "pyproject.toml").is_file():
            return folder / "pyproject.toml"
    return None


def read_settings(start: Path) -> dict[str, Any]:
    """The `[tool.treadle]` table that holds for a folder, checked; empty when there is none.

    A table inside it (`[tool.treadle.class]`) belongs to another command and is left to that.
    """
    path = find_pyproject(start.resolve())
    if path is None:
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {}).get("treadle", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error
    if not isinstance(table, dict):
        raise UsageError(f"{path}: tool.treadle must be a table")
    settings = {key: value for key, value in table.items() if not isinstance(value, dict)}
    for key, value in settings.items():
        if key not in KEYS:
            raise UsageError(f"{path}: [tool.treadle] has no setting '{key}'{choices(key, KEYS)}")
        types, wanted = KEYS[key]
        if not isinstance(value, types) or isinstance(value, bool) != (bool in types):
            raise UsageError(f"{path}: [tool.treadle] {key} must be {wanted}, not {value!r}")
        if isinstance(value, list) and not all(isinstance(item, str) for item in value):
            raise UsageError(f"{path}: [tool.treadle] {key} must be {wanted}, not {value!r}")
    return settings
