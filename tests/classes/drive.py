"""What the tests of this folder share: running campaigns on the classes of tests/programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from treadle.classes.descriptors import examine_use
from treadle.classes.result import ClassResult, Options
from treadle.classes.subject import Subject, find_class
from treadle.doors.class_.campaign import ClassCampaign

PROGRAMS = Path(__file__).parents[1] / "programs"
if str(PROGRAMS) not in sys.path:
    sys.path.insert(0, str(PROGRAMS))


def subject(target: str) -> Subject:
    return examine_use(target, find_class(target))


def campaign(target: str, **options: Any) -> ClassResult:
    """One campaign with a budget that none of these classes needs."""
    options.setdefault("budget", 600.0)
    return ClassCampaign(subject(target), Options(**options)).run()


def always() -> bool:
    """May a search go on? These are small."""
    return True


def kinds(result: ClassResult) -> dict[str, str]:
    """methods -> kind of fault."""
    return {" || ".join(sorted(fault.methods)): fault.kind for fault in result.faults}
