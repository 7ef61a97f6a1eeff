"""Failing executions on disk: one JSON file each, below `.treadle/findings/` of the project.

Decides what a replay file holds: the trail, which is what `treadle replay` needs, and beside it what a person wants to
read, the failure and its operations with their source lines. It is written as a whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from treadle.core.errors import UsageError
from treadle.core.files import from_here, write_whole
from treadle.core.result import Finding
from treadle.core.trail import Trail

FOLDER = Path(".treadle") / "findings"


def save(root: Path, target: str, finding: Finding) -> Path:
    """Write one finding; return the file, relative to the current folder where that is shorter."""
    short = re.sub(r"\W+", "_", target.rpartition("::")[2] or target).strip("_")[:60]
    digest = hashlib.sha256(f"{target}\n{finding.replay}".encode()).hexdigest()[:8]
    folder = root / FOLDER
    path = folder / f"{short}-{digest}.json"
    trail = finding.trail if isinstance(finding.trail, Trail) else Trail.parse(finding.replay)
    facts = {**trail.to_json(), **finding.to_json()}
    write_whole(path, json.dumps(facts, indent=1) + "\n")
    return Path(from_here(str(path)))


def load(path: Path) -> Trail:
    """The trail in a file that `save` wrote."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not a replay file: it is not text") from error
    if not text.lstrip().startswith("{"):
        raise UsageError(f"{path} is not a replay file: it holds no JSON object")
    try:
        return Trail.parse(text)
    except UsageError as error:
        raise UsageError(f"{path} is not a replay file that Treadle wrote, or it was damaged") from error
