"""The one way to run what we have written in a fresh process: a module, or the tests of a file that is not there yet.

Decides what such a process sees: the modules that this one can import, no plugins and no settings of the project, a
hash seed that is said. Each test runs alone, in a child of its own, unless all are asked for together
(`treadle.report.isolation` is the plugin that does it and reports).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Self

from treadle.core.errors import TreadleError, UsageError
from treadle.core.verdict import EXIT_CANNOT_WRITE

# Starting pytest plus the tests: generous, because a busy machine must not turn a good test into a bad one.
SECONDS = 600.0
# A test that has not finished by then never will.
SECONDS_OF_A_TEST = 60


# What tests may do to the world: all; nothing, and one that tries fails by that; nothing, which is an outcome of the
# call that tries, as it was where the test was found.
Effects = Literal["allowed", "refused", "outcome"]


# How a test ended: it tried what tests may not do to the world, or it did not come to its end.
FreshEnding = Literal["passed", "failed", "refused", "endless"]


class CouldNotRunTests(TreadleError):
    """The tests of a file could not be collected, or did not come to their end; the text says why."""


class ImportRefused(CouldNotRunTests):
    """They could not be imported, because the code would have changed the world."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the code cannot be imported: it would {what}")


# Decides the order of sets of strings.
HASH_SEED = "PYTHONHASHSEED"


def usual_hash_seed() -> int:
    """The seed that a command of ours runs with: the one that somebody has chosen, or always the same."""
    chosen = os.environ.get(HASH_SEED, "")
    return int(chosen) if chosen.isdecimal() else 0


class RaisedByTest(NamedTuple):
    """The exception that a test ended with: the module of its class and its name, and the module that raised it."""

    module: str
    name: str
    within: str


@dataclass(frozen=True, slots=True)
class FreshOutcome:
    """How one test ended in a fresh process."""

    ended: FreshEnding
    why: str = ""  # for people
    raised: RaisedByTest | None = None

    @property
    def passed(self) -> bool:
        return self.ended == "passed"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for files that nobody keeps; when it cannot be used, that is one sentence."""
    try:
        with tempfile.TemporaryDirectory(prefix="treadle-") as folder:
            yield Path(folder)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(f"tests cannot be run without temporary files ({why}); no file was written") from None


class FreshRun:
    """A `python WORDS...` that has been started, with the modules that this process can import; `finish` waits for it.

    Several may run side by side. One that is left before it has ended is ended.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        seconds: float = SECONDS,
        environment: Mapping[str, str] | None = None,
        hash_seed: int = 1,
    ) -> None:
        paths = [part for part in sys.path if part]
        if os.getcwd() not in paths:
            paths.insert(0, os.getcwd())
        everything = {
            **os.environ,
            **(environment or {}),
            "PYTHONPATH": os.pathsep.join(paths),
            HASH_SEED: str(hash_seed),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, *words], env=everything, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._ends = time.monotonic() + seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.__exit__(None, None, None)  # what it has started may hold the pipes: nobody reads them to the end

    def finish(self) -> subprocess.CompletedProcess[str]:
        """What it came to. Raises subprocess.TimeoutExpired."""
        out, err = self._process.communicate(timeout=max(self._ends - time.monotonic(), 0.0))
        if self._process.returncode == EXIT_CANNOT_WRITE:
            raise OSError(errno.EIO, err.strip().splitlines()[-1])
        return subprocess.CompletedProcess(self._process.args, self._process.returncode, out, err)


def run_python(
    words: Sequence[str],
    *,
    seconds: float = SECONDS,
    environment: Mapping[str, str] | None = None,
    hash_seed: int = 1,
) -> subprocess.CompletedProcess[str]:
    """`python WORDS...` with the modules that this process can import. Raises subprocess.TimeoutExpired."""
    with FreshRun(words, seconds=seconds, environment=environment, hash_seed=hash_seed) as run:
        return run.finish()


class FreshTests:
    """Tests of a file that have been started: each alone in a process, so many at a time; `at_once=0`: all in one.

    Those of the names in `without` are left out.
    """

    def __init__(
        self,
        file: Path,
        *,
        at_once: int = 1,
        effects: Effects = "allowed",
        hash_seed: int = 1,
        seconds: float = SECONDS,
        seconds_of_a_test: int = SECONDS_OF_A_TEST,
        environment: Mapping[str, str] | None = None,
        without: Collection[str] = (),
    ) -> None:
        self._seconds = seconds
        self._report = file.parent / f"report-{hash_seed}.jsonl"
        more = {
            **(environment or {}),
            "TREADLE_CHECK": str(self._report),
            "TREADLE_ALONE": str(at_once),
            "TREADLE_EFFECTS": effects,
            "TREADLE_SECONDS": str(seconds_of_a_test),
            "PYTEST_ADDOPTS": "",
            "PYTEST_DEBUG_TEMPROOT": str(file.parent),  # where the folders of tests are made
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        if without:
            names = file.parent / f"without-{hash_seed}.json"
            names.write_text(json.dumps(sorted(without)), encoding="utf-8")
            more["TREADLE_WITHOUT"] = str(names)
        words = ["-m", "pytest", "-q", "--no-header", "-p", "treadle.report.isolation", "-p", "no:cacheprovider"]
        here = str(file.parent)  # without confcutdir pytest reads through every folder above
        words += ["-c", os.devnull, "--rootdir", here, "--confcutdir", here, str(file)]
        self._run = FreshRun(words, seconds=seconds, environment=more, hash_seed=hash_seed)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._run.__exit__()

    def outcomes(self, partly: bool = False) -> dict[str, FreshOutcome]:
        """How each ended. One that ended the process it was to report from is missing, and with `partly` one for which
        there was no time. Raises `CouldNotRunTests`, and of those `ImportRefused`."""
        said = ""
        try:
            done = self._run.finish()
            said = done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            if not partly:
                raise CouldNotRunTests(f"they did not finish in {self._seconds:g} s") from None
            self._report.touch()
        if not self._report.exists():
            raise CouldNotRunTests(said[-3000:])
        found: dict[str, FreshOutcome] = {}
        for line in self._report.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if "import_would" in entry:
                raise ImportRefused(entry["import_would"])
            if entry["test"] not in found or entry["ended"] != "passed":
                raised = RaisedByTest(*entry["raised"]) if entry.get("raised") else None
                found[entry["test"]] = FreshOutcome(entry["ended"], entry.get("why", ""), raised)
        return found


def run_tests(file: Path, *, at_once: int = 1, effects: Effects = "allowed") -> dict[str, FreshOutcome]:
    """How each test of a file ends, alone in a process. Raises `CouldNotRunTests`."""
    with FreshTests(file, at_once=at_once, effects=effects) as tests:
        return tests.outcomes()
