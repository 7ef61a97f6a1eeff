"""What is rewritten: the test's module, the project's own code, and what was named."""

from __future__ import annotations

import json
import linecache
import os
import random
import sys
import sysconfig
import textwrap
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

import treadle
from treadle import Verdict
from treadle.core.errors import UsageError
from treadle.threads.instrument import ModuleSelection
from treadle.threads.instrument.selection import NEVER, file_of, find_root


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "tests").mkdir(parents=True)
    (root / "pyproject.toml").write_text("")
    (root / "tests" / "test_a.py").write_text("")
    return root


def test_root_is_the_nearest_folder_that_looks_like_one(project: Path) -> None:
    assert find_root(project / "tests" / "test_a.py") == project
    (project / "tests" / "setup.cfg").write_text("")
    assert find_root(project / "tests" / "test_a.py") == project / "tests"


def test_without_a_project_the_folder_of_the_test_is_the_root(tmp_path: Path) -> None:
    folder = tmp_path / "loose"
    folder.mkdir()
    assert find_root(folder / "test_a.py") == folder


def test_own_code_is_what_lives_below_the_root_and_is_not_installed(project: Path) -> None:
    selection = ModuleSelection.for_test(project / "tests" / "test_a.py")
    assert selection.selects("bank", str(project / "src" / "bank.py"))
    assert selection.selects("conftest", str(project / "tests" / "conftest.py"))
    assert not selection.selects("six", str(project / ".venv" / "lib" / "python3.11" / "site-packages" / "six.py"))
    assert not selection.selects("six", str(project / ".tox" / "py" / "six.py"))
    assert not selection.selects("elsewhere", str(project.parent / "elsewhere.py"))
    assert not selection.selects("project2", str(project) + "2/module.py")
    assert not selection.selects("fast", str(project / "src" / "fast.cpython-311-x86_64-linux-gnu.so"))
    assert not selection.selects("nameless", None)


def test_interpreter_that_lives_inside_the_project_is_not_own_code() -> None:
    stdlib = Path(sysconfig.get_path("stdlib"))
    selection = ModuleSelection(stdlib.parent.parent)
    assert not selection.selects("textwrap", str(stdlib / "textwrap.py"))


def test_root_reached_through_a_link(project: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(project)
    selection = ModuleSelection.for_test(link / "tests" / "test_a.py")
    assert selection.selects("bank", str(link / "bank.py"))
    assert selection.selects("bank2", str(project / "bank2.py"))


def test_named_packages_and_their_submodules() -> None:
    selection = ModuleSelection.for_test(test_named_packages_and_their_submodules, ["json", "textwrap"])
    assert selection.selects("json", json.__file__)
    assert selection.selects("json.decoder", str(Path(json.__file__).parent / "decoder.py"))
    assert selection.selects("textwrap", textwrap.__file__)
    assert not selection.selects("jsonlike", "/somewhere/jsonlike.py")


def test_the_module_of_the_test_is_selected_wherever_it_lives() -> None:
    selection = ModuleSelection.for_test(textwrap.dedent)
    assert selection.selects("textwrap", textwrap.__file__)


@pytest.mark.parametrize("name", ["treadle.core.errors", "threading", "concurrent.futures.thread", "asyncio"])
def test_what_the_runtime_stands_on_is_never_rewritten(name: str) -> None:
    root = Path(sys.modules["treadle"].__file__ or "").parents[2]
    assert not ModuleSelection(root, (name,)).selects(name, str(root / "anything.py"))


@pytest.mark.parametrize(
    ("package", "sentence"),
    [
        ("no_such_package", "cannot instrument 'no_such_package': no package or module of that name is installed"),
        ("json.no_such", "cannot instrument 'json.no_such': no package or module of that name is installed"),
        ("no.such", "cannot instrument 'no.such': no package or module of that name is installed"),
        ("", "cannot instrument '': no package or module of that name is installed"),
        ("greenlet", "'greenlet' cannot be instrumented: strands run on it"),
        ("queue", "'queue' cannot be instrumented: modelled by the runtime"),
        ("itertools", "cannot instrument 'itertools': it is built into the interpreter, and atomic as it is"),
    ],
)
def test_package_that_cannot_be_instrumented(package: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        ModuleSelection.for_test(test_package_that_cannot_be_instrumented, [package])
    assert str(error.value) == sentence


def test_c_extension_is_atomic() -> None:
    import importlib.machinery
    import importlib.util

    names = ("_bisect", "_heapq", "_struct", "_json", "math", "_ctypes")  # some builds have some of them built in
    extension = next(
        name
        for name in names
        if isinstance(getattr(importlib.util.find_spec(name), "loader", None), importlib.machinery.ExtensionFileLoader)
    )
    with pytest.raises(UsageError, match="it is a C extension, which is atomic as it is"):
        ModuleSelection.for_test(test_c_extension_is_atomic, [extension])


@pytest.mark.parametrize("name", NEVER)
def test_every_exclusion_is_told_with_its_reason(name: str) -> None:
    with pytest.raises(UsageError, match=rf"^'{name}' cannot be instrumented: {NEVER[name]}$"):
        ModuleSelection.for_test(test_every_exclusion_is_told_with_its_reason, [name])


class Key:
    pass


ONE, OTHER = Key(), Key()


def _weak_set() -> None:
    shared: weakref.WeakSet[Key] = weakref.WeakSet()
    treadle.parallel(lambda: shared.add(ONE), lambda: shared.add(OTHER))


def _weak_values() -> None:
    shared: weakref.WeakValueDictionary[int, Key] = weakref.WeakValueDictionary()
    treadle.parallel(lambda: shared.setdefault(1, ONE), lambda: shared.setdefault(1, OTHER))


def _random() -> None:
    shared = random.Random(7)
    treadle.parallel(lambda: shared.choice([1, 2]), lambda: shared.shuffle([1, 2]))


def _environment() -> None:
    treadle.parallel(lambda: os.environ.update(SHARED_A="1"), lambda: os.environ.update(SHARED_B="1"))


def _warnings() -> None:
    treadle.parallel(lambda: warnings.simplefilter("ignore"), lambda: warnings.filters[:])


def _lines() -> None:
    treadle.parallel(lambda: linecache.getline(__file__, 1), linecache.checkcache)


@pytest.mark.parametrize(
    ("test", "named"),
    [
        (_weak_set, "_weakrefset.WeakSet.add"),
        (_weak_values, "weakref.WeakValueDictionary.setdefault"),
        (_random, "random.Random.choice"),
        (_environment, "os._Environ.update"),
        (_warnings, "the exchange of warnings.filters"),
        (_lines, "linecache.checkcache"),
    ],
)
def test_what_cannot_be_instrumented_is_never_one_step_in_silence(test: Callable[[], None], named: str) -> None:
    result = treadle.check(test)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert named in result.reason


def test_what_stands_in_the_place_of_a_module_has_no_file() -> None:
    class Proxy:
        """As Twisted puts it around a module of which something is deprecated."""

        __file__ = "/somewhere/else.py"

    assert file_of(Proxy()) is None  # type: ignore[arg-type]
