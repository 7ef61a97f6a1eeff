"""Writing: the test file and what the next `--more` needs change together, or nothing changes.

Everything is first written beside its place. Only when all of it is there, safe on the disk, do the new files take
the places of the old ones, the test file first: a test that is remembered and not written would be lost, one that is
written and not remembered would at worst come twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from treadle.core.errors import UsageError
from treadle.core.files import PreparedFile, prepare
from treadle.doors.unit import store as unit_store
from treadle.units.ctrl_c import CtrlC
from treadle.units.grow import TargetMemory


def commit(path: Path, content: str | None, kept: Sequence[TargetMemory], growing: bool) -> list[str]:
    """Write the tests, if there are any, and remember what is kept; what could not be remembered, in words.

    Without the place to remember, a first run still writes its tests. One that adds to a file does not: the next one
    would add them again.
    """
    warnings: list[str] = []
    store: list[PreparedFile] = []
    parts: list[PreparedFile] = []
    stale: list[Path] = []
    try:
        try:
            for one in kept:
                store.append(prepare(unit_store.place_of(one), unit_store.text(one)))
            if kept:
                unit_store.mark()
        except OSError as error:
            why = f"cannot write {unit_store.FOLDER} ({error.strerror or error})"
            if growing:
                raise UsageError(f"{why}; no test was added, and the files are as they were") from None
            warnings.append(f"--more will not be able to go on: {why}")
            stale = [unit_store.place_of(one) for one in kept]
        if content is not None:
            try:
                parts.append(prepare(path, content))
            except OSError as error:
                why = error.strerror or str(error)
                raise UsageError(f"cannot write '{path}' ({why}); no file was changed") from None
        with CtrlC():
            for prepared in (*parts, *(() if stale else store)):
                prepared.publish()
            for place in stale:  # of another suite than the one that is there now
                _forget(place)
    finally:
        for prepared in (*parts, *store):
            prepared.discard()
    return warnings


def _forget(place: Path) -> None:
    try:
        place.unlink(missing_ok=True)
    except OSError:
        pass  # not even a folder
