"""Compiles what decides the speed of an exploration when a wheel is built: the search, and the part of the runtime that
every operation passes through. Everything else is declared in pyproject.toml.

The compiled modules come from the same sources by mypyc and pass the same tests. Without a compiler, or in an editable
installation (where a stale binary would hide an edited source), the package is pure Python and does the same, slower.
`TREADLE_PURE=1` asks for that.
"""

import glob
import os
import sys

from setuptools import setup
from setuptools.extension import Extension

# threads/greenlets.py is not among them: greenlet needs a Python frame at the bottom of every strand.
HOT = (
    "core/operation",
    "core/dependency",
    "search/*",
    "tasks/drawn_steps",
    "tasks/execution",
    "tasks/steps",
    "tasks/unseen",
    "threads/execution",
    "threads/hooks/*",
    "threads/joined_steps",
    "threads/learning",
    "threads/names",
    "threads/shapes",
    "threads/strands",
    "threads/virtual_time",
)
# Processes and clusters wait most of the time, and inherit from classes in C, which mypyc's classes must not.
COLD = ("search/cluster", "search/node", "search/workers")

# Commands of setuptools that make modules. Others are asked several times before them, and only for what is declared.
BUILDS = frozenset({"bdist_wheel", "build", "build_ext", "install"})


def extensions(*more: str, folder: str | None = None) -> list[Extension]:
    """The hot modules as C, in `folder` if one is given; mypyc ends the process where it refuses one of them."""
    from mypyc.build import mypycify

    sources = [path for pattern in HOT for path in sorted(glob.glob(f"src/treadle/{pattern}.py"))]
    sources = [path for path in sources if path not in {f"src/treadle/{name}.py" for name in COLD}]
    return mypycify(
        [
            "--strict",
            "--ignore-missing-imports",
            "--follow-imports=silent",  # of the other modules only the types matter here
            *more,
            *(path for path in sources if not path.endswith("__init__.py")),
        ],
        opt_level="3",
        group_name="treadle_hot",
        target_dir=folder,
    )


def compiled() -> list[Extension]:
    if os.environ.get("TREADLE_PURE") or not BUILDS.intersection(sys.argv):
        return []
    try:
        made = extensions()
    except (Exception, SystemExit) as problem:
        print(f"treadle: building without compiled modules ({problem})", file=sys.stderr)
        return []
    for extension in made:
        extension.optional = True
    return made


if __name__ == "__main__":
    setup(ext_modules=compiled())
