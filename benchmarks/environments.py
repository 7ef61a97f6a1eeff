"""Interpreters, and throw-away virtual environments for what is not ours: peers, and releases with known bugs.

An environment is made once below the system's folder for temporary files and used again by later runs; it holds the
named packages and what Treadle itself needs. Treadle is taken from this checkout.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
FOLDER = Path(tempfile.gettempdir()) / "treadle-benchmarks"
OWN_NEEDS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["dependencies"]


class NotInstalled(Exception):
    """An interpreter or a package cannot be had here."""


def interpreter(version: str) -> str:
    """The path of an interpreter by "3.12" or "3.12.1": the one that runs this, one on the PATH, or one of pyenv's."""
    minor = ".".join(version.split(".")[:2])
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [
        sys.executable,
        shutil.which(f"python{minor}"),
        *map(str, sorted(pyenv.glob(f"{minor}.*/bin/python"))),
    ]
    for python in candidates:
        if python and f"{full_version(python)}.".startswith(f"{version}."):
            return python
    raise NotInstalled(f"Python {version} is not installed")


def full_version(python: str) -> str:
    code = "import platform; print(platform.python_version())"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def environment(python: str, *packages: str) -> str:
    """The interpreter of a virtual environment that holds these packages and the needs of Treadle."""
    wanted = sorted({*packages, *OWN_NEEDS})
    name = "-".join([full_version(python), *packages]).replace("=", "").replace("/", "_")
    folder = FOLDER / name
    ready = folder / "ready.txt"
    inner = str(folder / "bin" / "python")
    if ready.exists() and ready.read_text().split("\n") == wanted:
        return inner
    shutil.rmtree(folder, ignore_errors=True)
    _run([python, "-m", "venv", str(folder)])
    _run([inner, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted])
    ready.write_text("\n".join(wanted))
    return inner


def install_checkout(inner: str) -> None:
    """Build Treadle from this checkout, with its compiled parts, and install it in an environment, if it changed."""
    sources = sorted((CHECKOUT / "src").rglob("*.py"))
    state = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    mark = Path(inner).parents[1] / "treadle.txt"
    if not mark.exists() or mark.read_text() != state:
        quiet = ["--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"]
        _run([inner, "-m", "pip", "install", *quiet, str(CHECKOUT)])
        mark.write_text(state)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()
        raise NotInstalled(reason[-1] if reason else f"{command[0]} failed")


def with_treadle() -> dict[str, str]:
    """The variables of a process that imports Treadle from this checkout."""
    return {**os.environ, "PYTHONPATH": str(CHECKOUT / "src"), "PYTHONHASHSEED": "0"}
