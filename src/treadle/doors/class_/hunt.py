"""A hunt through installed packages: what there is to run, what was done before, and how the findings are ranked.

Every public class is a target, and every module whose functions change its state (`pkg.mod:`). What was found out about
a target is kept in a ledger, one line each, so that a hunt that was stopped goes on where it was: a line counts as long
as the release of the package and the budget are the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from treadle.classes.subject import examine, public_classes
from treadle.core.errors import TreadleError, UsageError
from treadle.core.packages import release_of

# The gravest first.
_KINDS = ("deadlock", "livelock", "exception", "invariant", "broken state", "linearizability", "serializability")


@dataclass
class Prey:
    """What a hunt is after: targets with the release of their package, and modules that cannot be imported."""

    targets: dict[str, str] = field(default_factory=dict)  # target -> package and release
    refused: dict[str, str] = field(default_factory=dict)  # module -> why

    def add(self, package: str, modules: Iterable[tuple[str, ModuleType | UsageError]]) -> None:
        """The classes of a package, and its modules that are shared objects themselves."""
        release = f"{package} {release_of(package)}".strip()
        for name, module in modules:
            if isinstance(module, UsageError):
                self.refused[name] = str(module)
                continue
            for cls in public_classes(module):
                self.targets[f"{name}:{cls.__qualname__}"] = release
            if _has_state(module):
                self.targets[f"{name}:"] = release


def _has_state(module: ModuleType) -> bool:
    """Do public functions of a module change what it holds?"""
    try:
        subject = examine(f"{module.__name__}:", module)
    except TreadleError:
        return False
    return bool(subject.changing & {method.name for method in subject.methods})


class Ledger:
    """What was found out so far, one line for each target."""

    def __init__(self, path: Path, budget: str) -> None:
        self.path, self.budget = path, budget
        self.facts: dict[str, dict[str, Any]] = {}

    def read(self, targets: dict[str, str]) -> None:
        """Take over the lines that still hold; a line that was cut off while it was written does not."""
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                facts = json.loads(line)
            except ValueError:
                continue
            if targets.get(facts["target"]) == facts["release"] and facts["budget"] == self.budget:
                self.facts[facts["target"]] = facts

    def add(self, facts: dict[str, Any], release: str) -> None:
        facts = {**facts, "release": release, "budget": self.budget}
        self.facts[facts["target"]] = facts
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(facts) + "\n")


def ranked(facts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The faults of all targets, the gravest and best shown first."""
    faults = [{"target": one["target"], "release": one["release"], **f} for one in facts for f in one["faults"]]

    def rank(fault: dict[str, Any]) -> tuple[Any, ...]:
        kind = _KINDS.index(fault["kind"]) if fault["kind"] in _KINDS else len(_KINDS)
        every = fault.get("on_every_build", False)
        return kind, not fault["test"], not every, -len(fault.get("effects", ())), fault["target"]

    return sorted(faults, key=rank)


def summary(facts: Iterable[dict[str, Any]], refused: dict[str, str]) -> dict[str, dict[str, int]]:
    """For each release how many targets were run, with which verdict, and how many were left out."""
    found: dict[str, Counter[str]] = {}
    for one in facts:
        row = found.setdefault(one["release"], Counter())
        row["left out" if one.get("skipped") else one["verdict"]] += 1
        row["faults"] += len(one["faults"])
    for name in refused:
        package = name.partition(".")[0]
        home = next((release for release in found if release.partition(" ")[0] == package), package)
        found.setdefault(home, Counter())["modules refused"] += 1
    return {release: dict(row) for release, row in sorted(found.items())}
