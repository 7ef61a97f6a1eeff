"""A written file finds what it tests from where it stands, and only tests that do what they say land in it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from treadle.core.errors import UsageError
from treadle.core.files import is_unedited
from treadle.report.fresh_process import CouldNotRunTests, run_tests
from treadle.report.pytest_file import PytestFile, module_folder, not_as_told, write_pytest_file


def make(**parts: object) -> PytestFile:
    made = PytestFile("Tests of bank, written by treadle.")
    for name, value in parts.items():
        setattr(made, name, value)
    return made


def test_the_layout(tmp_path: Path) -> None:
    file = make(
        about="About it.",
        imports=["import threading", "from bank import Account", "import pytest", "import treadle"],
        first_imports=["import ring"],
        folders=[tmp_path / "src"],
        files={"MODEL": tmp_path / "model.abs"},
        definitions=["def made():\n    return 1\n"],
        tests={"test_one": "def test_one():\n    pass\n"},
    )
    assert file.source(tmp_path / "tests") == (
        '"""Tests of bank, written by treadle.\n\nAbout it.\n"""\n\n'
        "import sys\nimport threading\nfrom pathlib import Path\n\n"
        "import pytest\nimport treadle\n\n"
        "sys.path.insert(0, str(Path(__file__).resolve().parent / '../src'))\n\n"
        "import ring  # noqa: E402\nfrom bank import Account  # noqa: E402\n\n"
        "MODEL = Path(__file__).resolve().parent / '../model.abs'\n\n\n"
        "def made():\n    return 1\n\n\n"
        "def test_one():\n    pass\n"
    )


def test_tests_that_do_not_end_as_told_are_named_with_the_reason() -> None:
    tests = {
        "test_good": "def test_good():\n    assert True",
        "test_bad": "def test_bad():\n    assert 1 == 2",
        "test_dies": "def test_dies():\n    import os\n    os._exit(3)",
    }
    wrong = not_as_told(make(tests=tests), lambda ended: ended.passed)
    assert wrong.keys() == {"test_bad", "test_dies"}
    assert "1 == 2" in wrong["test_bad"]
    assert not_as_told(make(tests=tests), lambda ended: not ended.passed).keys() == {"test_good"}


def test_each_test_runs_alone() -> None:
    tests = {
        f"test_{name}": f"def test_{name}():\n    SEEN.append(1)\n    assert SEEN == [1]" for name in ("one", "two")
    }
    assert not_as_told(make(definitions=["SEEN = []"], tests=tests), lambda ended: ended.passed) == {}


def test_a_file_that_cannot_be_collected_says_so(tmp_path: Path) -> None:
    file = make(imports=["import no_such_module_at_all"], tests={"test_one": "def test_one():\n    pass"})
    assert "no_such_module_at_all" in not_as_told(file, lambda ended: True)["test_one"]
    place = tmp_path / "test_x.py"
    place.write_text("def (:\n")
    with pytest.raises(CouldNotRunTests, match="SyntaxError"):
        run_tests(place)


def test_an_edited_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "test_bank.py"
    write_pytest_file(path, make(tests={"test_one": "def test_one():\n    pass"}), "--write")
    assert is_unedited(path.read_text())
    path.write_text(path.read_text() + "\n# mine\n")
    with pytest.raises(UsageError, match="edited by hand"):
        write_pytest_file(path, make(), "--write")
    assert "# mine" in path.read_text()


def test_a_module_of_the_project_needs_its_folder_and_an_installed_one_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "treadle_shop").mkdir()
    (tmp_path / "treadle_shop" / "__init__.py").touch()
    (tmp_path / "treadle_shop" / "till.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    import treadle_shop.till  # type: ignore[import-not-found]

    assert treadle_shop.till
    assert module_folder("treadle_shop.till") == module_folder("treadle_shop") == [tmp_path.resolve()]
    assert module_folder("pytest") == module_folder("json") == module_folder("sys") == []
    for name in ("treadle_shop", "treadle_shop.till"):
        del sys.modules[name]
