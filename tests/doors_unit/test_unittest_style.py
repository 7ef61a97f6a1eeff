"""`--style unittest`: the same tests as methods of a TestCase, run in a fresh process before they are written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import treadle
from treadle.core.errors import InternalError, UsageError
from treadle.doors.unit.unittest_style import as_unittest, class_name, fresh_unittest

PROGRAM = """
    COUNT = 0


    class Account:
        def __init__(self, balance: int = 0) -> None:
            self.balance = balance

        def draw(self, amount: int) -> int:
            global COUNT
            COUNT += 1
            if amount > self.balance:
                raise ValueError(f"only {self.balance}")
            self.balance -= amount
            return self.balance


    def share(total: float, heads: int) -> float:
        if heads == 3:
            return total * 0.1
        return total / heads


    def found(shape):
        if shape.kind == "round":
            return None
        return ["a", shape.kind == "flat"]
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.slow
def test_a_module_gets_a_file_of_unittest() -> None:
    Path("styled_bank.py").write_text(dedent(PROGRAM).lstrip())
    suite = treadle.unit("styled_bank", style="unittest", trails=True, output="test_styled.py")
    text = Path("test_styled.py").read_text()
    assert "pytest" not in text.replace("test_styled", "")
    assert "class StyledBankTest(unittest.TestCase):" in text
    for word in ("self.subTest(case)", "self.assertRaises(ValueError) as caught", "caught.exception"):
        assert word in text, word
    assert "mock.patch.object(styled_bank, " in text
    assert text.count("# tr2:") == suite.tests - len(suite.probed)
    done = subprocess.run([sys.executable, "-m", "unittest", "-q", "test_styled"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"Ran {text.count('    def test_')} tests" in done.stderr
    Path("styled_bank.py").write_text(dedent(PROGRAM).lstrip().replace("-= amount", "-= amount + 1"))
    done = subprocess.run([sys.executable, "-m", "unittest", "-q", "test_styled"], capture_output=True, text=True)
    assert done.returncode == 1


def test_a_file_that_fails_in_that_style_is_not_written() -> None:
    source = as_unittest("import pytest\n\n\ndef test_one():\n    assert 1 == 2\n", class_name("m:f"))
    assert "self.assertEqual(1, 2)" in source
    with pytest.raises(InternalError, match="do not pass in the style of unittest"):
        fresh_unittest(source, 1)
    with pytest.raises(InternalError):
        fresh_unittest(source.replace("(1, 2)", "(2, 2)"), 2)
    fresh_unittest(source.replace("(1, 2)", "(2, 2)"), 1)


def test_floats_are_compared_with_a_tolerance() -> None:
    lines = ["assert [0.1 + 0.2] == pytest.approx([0.3])", 'assert {"a": 1.0} == pytest.approx({"a": 1.0})']
    source = "import pytest\n\n\ndef test_one():\n" + "".join(f"    {line}\n" for line in lines)
    written = as_unittest(source, "FloatsTest")
    fresh_unittest(written, 1)
    with pytest.raises(InternalError):
        fresh_unittest(written.replace("[0.3]", "[0.31]"), 1)


def test_a_whole_file_is_nothing_to_add_to() -> None:
    with pytest.raises(UsageError, match="leave out --append and --more"):
        treadle.unit("json:loads", style="unittest", append=True)
    with pytest.raises(UsageError, match="--style nose: write pytest or unittest"):
        treadle.unit("json:loads", style="nose")
