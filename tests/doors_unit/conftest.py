"""The generated tests run in children of a Python that has pytest loaded already: these tests make hundreds of suites.

What is about fresh processes themselves is marked `fresh`, and has them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.doors_unit.suites import empty_folder as empty_folder
from treadle.report import fresh_process

Done = subprocess.CompletedProcess[str]


class WarmPythons:
    """`fresh_process.run_python` for pytest, with one waiting Python for each hash seed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.waiting: dict[int, subprocess.Popen[str]] = {}
        self.cold = fresh_process.run_python

    def run(
        self,
        words: Sequence[str],
        *,
        seconds: float = fresh_process.SECONDS,
        environment: Mapping[str, str] | None = None,
        hash_seed: int = 1,
    ) -> Done:
        if words[:2] != ["-m", "pytest"]:
            return self.cold(words, seconds=seconds, environment=environment, hash_seed=hash_seed)
        streams = {name: self.folder / f"{name}-{hash_seed}" for name in ("stdout", "stderr")}
        for file in streams.values():
            file.write_text("")
        given = {**os.environ, **(environment or {}), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        wanted = {
            "words": words[2:],
            "seconds": seconds,
            "environment": given,
            "folder": os.getcwd(),
            **{name: str(file) for name, file in streams.items()},
        }
        python = self._python(hash_seed)
        assert python.stdin is not None
        assert python.stdout is not None
        print(json.dumps(wanted), file=python.stdin, flush=True)
        code = json.loads(python.stdout.readline())
        if code is None:
            raise subprocess.TimeoutExpired(words, seconds)
        return subprocess.CompletedProcess(words, code, *(file.read_text() for file in streams.values()))

    def _python(self, hash_seed: int) -> subprocess.Popen[str]:
        if hash_seed not in self.waiting:
            file = Path(__file__).with_name("warm_pytest.py")
            environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONDONTWRITEBYTECODE": "1"}
            pipe = subprocess.PIPE
            self.waiting[hash_seed] = subprocess.Popen(
                [sys.executable, str(file)], env=environment, cwd=self.folder, stdin=pipe, stdout=pipe, text=True
            )
        return self.waiting[hash_seed]

    def end(self) -> None:
        for python in self.waiting.values():
            python.communicate()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "fresh: what is generated runs in processes of its own")


@pytest.fixture(scope="session")
def _warm_pythons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmPythons]:
    warm = WarmPythons(tmp_path_factory.mktemp("warm"))
    yield warm
    warm.end()


@pytest.fixture(autouse=True)
def _runs_are_warm(request: pytest.FixtureRequest, _warm_pythons: WarmPythons, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("fresh") is None:
        monkeypatch.setattr(fresh_process, "run_python", _warm_pythons.run)
