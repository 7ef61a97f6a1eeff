"""The release of an installed package, for reports and ledgers."""

from __future__ import annotations

import importlib.metadata


def release_of(package: str) -> str:
    """The release of an installed package, empty for a folder here."""
    names = importlib.metadata.packages_distributions().get(package.partition(".")[0], [package])
    try:
        return importlib.metadata.version(names[0])
    except importlib.metadata.PackageNotFoundError:
        return ""
