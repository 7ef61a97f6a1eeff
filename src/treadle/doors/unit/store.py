"""What `treadle unit` remembers between runs: one JSON file per target, below `.treadle/unit/` of the current folder.

A file is written as a whole or not at all. Losing one loses no test: the next run starts anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from treadle.core.errors import UsageError
from treadle.core.files import write_whole
from treadle.units.grow import TargetMemory
from treadle.units.select import ALL_PATHS, words

FOLDER = Path(".treadle") / "unit"


def place(target: str, select: str = ALL_PATHS, points: Sequence[str] = ()) -> Path:
    """Module names have no '-', so that no two targets, and no two selections, share a file."""
    selected = f"-{words(select, points)}" if select != ALL_PATHS else ""
    return FOLDER / f"{target.replace(':', '-')}{selected}.json"


def place_of(kept: TargetMemory) -> Path:
    return place(kept.target, kept.options.get("select", ALL_PATHS), kept.options.get("points", ()))


def load(target: str, select: str = ALL_PATHS, points: Sequence[str] = ()) -> TargetMemory | None:
    """What the last run kept of a target; None when there was none."""
    path = place(target, select, points)
    try:
        kept = TargetMemory.from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; run without --more to start anew") from None
    except (ValueError, TypeError) as error:
        why = "it is not JSON" if isinstance(error, json.JSONDecodeError | UnicodeDecodeError) else str(error)
        raise UsageError(
            f"{path} is damaged ({why}); delete it, or run treadle unit {target} without --more to start anew"
        ) from None
    # a file system that does not tell upper case from lower may hand out the file of another target
    return kept if kept.target == target else None


def text(kept: TargetMemory) -> str:
    return json.dumps(kept.to_json(), indent=1) + "\n"


def mark() -> None:
    """Tell version control that nothing here is its business. Raises OSError when the folder cannot be written."""
    ignore = FOLDER.parent / ".gitignore"
    if not ignore.exists():
        write_whole(ignore, "# Made by treadle; nothing here needs to be kept.\n*\n")
