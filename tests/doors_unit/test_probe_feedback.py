"""What a call compared, lacked or was refused leads the next ones: each program's line `# here` is reached soon."""

from __future__ import annotations

import datetime
import decimal
import re
import sys
import types
from pathlib import Path
from textwrap import dedent

import pytest

from treadle.doors.unit.check import from_report
from treadle.doors.unit.files import imports_of, with_sorted_imports
from treadle.doors.unit.probe_source import ProbeWriter
from treadle.units.imports import Imports
from treadle.units.probing import call as probe_call
from treadle.units.probing.call import Probe, Prober
from treadle.units.probing.search import ProbeSearch
from treadle.units.probing.values import ValuePool
from treadle.units.target import resolve

PROGRAMS = {
    "a_field_of_an_heir_of_dict": """
        class Table(dict):
            def __init__(self) -> None:
                super().__init__()
                self.source = None
                self["rows"] = 0
            def f(self):
                if isinstance(self.source, str):
                    return 1  # here
    """,
    "an_argument_of_the_constructor_that_has_a_default": """
        class Door:
            __slots__ = ("lock",)
            def __init__(self, colour: str = "red", key: int | None = None) -> None:
                self.lock = (key, key)
            def f(self):
                if self.lock[0] is not None:
                    return 1  # here
    """,
    "both_parts_of_a_condition": """
        class Printer:
            def __init__(self) -> None:
                self.stream = None
            def f(self):
                if self.stream is not None and not self.stream.isatty():
                    return 1  # here
    """,
    "what_is_walked_over_and_asked": """
        class Layout:
            def __init__(self) -> None:
                self.windows = [Window()]
            def walk(self):
                return list(self.windows)
            def f(self):
                for window in self.walk():
                    if isinstance(window, Window) and window.content.is_focusable():
                        return 1  # here
        class Window:
            def __init__(self) -> None:
                self.content = Content()
        class Content:
            def is_focusable(self) -> bool:
                return False
    """,
    "the_second_question_of_a_parser": """
        def accepts(tokens, kind):
            return bool(tokens) and tokens[-1] == object()
        def f(tokens):
            if accepts(tokens, "="):
                return 0
            if accepts(tokens, "!="):
                return 1  # here
    """,
    "behind_a_method_that_raises": """
        class Parser:
            def __init__(self) -> None:
                self.place = 0
            def numbers(self):
                return [1, 2][self.place + 5]
            def f(self):
                found = self.numbers()
                return found  # here
    """,
    "a_part_of_what_is_walked_over": """
        import os
        def f(folder: str):
            for base, folders, files in os.walk(folder):
                if "entries" in folders:
                    return 1  # here
    """,
    "compared": """
        def f(shape):
            if shape.side(3).kind == "deep blue" and shape.words[17] == shape.name.strip():
                return 1  # here
    """,
    "compared_after_lower": """
        KINDS = {"rectangular": 1}
        def f(kind: str):
            if KINDS.get(kind.lower().strip(), 0) == 1 and kind.lower() in KINDS:
                return 1  # here
    """,
    "a_number_of_the_module": """
        LIMIT = 48_611
        def f(order):
            if order.total - 1 == LIMIT:
                return 0
            if order.count > LIMIT:
                return 1  # here
    """,
    "a_length": """
        def f(name: str):
            if len(name) == 23:
                return 1  # here
    """,
    "a_prefix": """
        PREFIX = "xy:" * 3
        def f(thing):
            if thing.name.startswith(PREFIX):
                return 1  # here
    """,
    "a_pattern_that_is_computed": """
        import re
        def f(text: str, digits: int = 3):
            pattern = re.compile("[a-f]{%d}-[0-9]{4}" % digits)
            if pattern.match(text):
                return 1  # here
    """,
    "an_attribute_that_is_missing": """
        class Reader:
            def __init__(self, path):
                self.file = open(path + "/none.txt", "w")
            def f(self):
                if self.ready and self.lines[2].kind == "deep":
                    return 1  # here
    """,
    "an_attribute_that_only_its_objects_have": """
        class Dial:
            def __init__(self):
                raise RuntimeError
            def parts(self, n):
                return []
            def f(self, n):
                first, second, third = self.parts(n)
                if self.lamp.colour == "dark green":
                    return 1  # here
    """,
    "a_key_that_is_missing": """
        def f(row):
            if row["customer"]["name"] == "Ada":
                return 1  # here
    """,
    "a_handler": """
        def f(client):
            try:
                reply = client.get("x").text
            except ConnectionResetError:
                return 1  # here
    """,
    "a_flag_of_the_module": """
        HAVE_COLOUR = False
        def f(n: int):
            if HAVE_COLOUR:
                return 1  # here
    """,
    "what_the_call_changes": """
        import re
        class Reader:
            def __init__(self, pattern):
                self.pattern = pattern
                self.compiled = None
            def f(self):
                if self.compiled is None:
                    self.compiled = re.compile(self.pattern)
                elif self.compiled:
                    return 1  # here
    """,
    "beside_what_may_not_be_patched": """
        import sys
        def f(n: int):
            if sys.exc_info()[0] is None and sys.platform == "plan9":
                return 1  # here
    """,
    "a_function_of_the_module": """
        import os
        def f(folder: str):
            if os.path.exists(folder) and os.path.islink(folder):
                return 1  # here
    """,
    "what_is_refused": """
        import socket
        def f(host: str):
            connection = socket.create_connection((host, 80))
            if connection.recv(1) == b"q":
                return 1  # here
    """,
    "several_parts": """
        def parts(text):
            raise RuntimeError("no parts today")
        def f(text: str):
            scheme, host, port = parts(text)
            if port:
                return 1  # here
    """,
    "elements_with_parts": """
        def f(intervals):
            for left, low, high, right in intervals:
                if left:
                    return 1  # here
    """,
    "options_by_name": """
        def f(**options):
            for key, value in options.items():
                if key in ("max_age", "maxage") and not value:
                    return 1  # here
    """,
    "a_part_of_a_text": """
        def f(line: str):
            key, _, value = line.partition("=")
            if value.split(":")[0] == "deep" and key == "colour of the sea":
                return 1  # here
    """,
    "a_number_in_a_text": """
        import re
        def f(text: str):
            hours, minutes = re.match("([0-9]+):([0-9]+)", text).groups()
            if int(hours) == 23 and int(minutes) == 59:
                return 1  # here
    """,
    "a_number_with_leading_zeros": """
        import re
        def f(text: str):
            found = re.fullmatch("([0-9]{4})-([0-9]{2})", text)
            if found and not int(found[1]) and int(found[2]) > 12:
                return 1  # here
    """,
    "a_negative_number": """
        async def f(n: int):
            if n + 1 == -7_000:
                return 1  # here
    """,
    "the_end_of_a_path": """
        from pathlib import Path
        def f(path: Path):
            if path.suffix == ".toml" and path.stem == "pyproject":
                return 1  # here
    """,
    "a_path_that_is_not_there": """
        from pathlib import Path
        def f(path: Path):
            if path.exists() and path.stat().st_size > 70_000:
                return 1  # here
    """,
    "the_hour_of_a_date": """
        from datetime import date
        def f(when: date):
            if when.year == 1752 and when.month == 9:
                return 1  # here
    """,
    "a_decimal": """
        from decimal import Decimal
        def f(price: Decimal):
            if price == Decimal("10.505"):
                return 1  # here
    """,
    "a_number_beside_a_fraction": """
        from fractions import Fraction
        def f(part: Fraction):
            if part > 5_000:
                return 1  # here
    """,
    "the_start_of_bytes": """
        def f(data: bytes):
            if data.startswith(b"\\x89PNG") and data[4:6] == b"ok":
                return 1  # here
    """,
    "a_date_in_a_text": """
        from datetime import datetime
        def f(text: str):
            when = datetime.strptime(text, "%d/%m/%y %H:%M")
            if when.year > 2000:
                return 1  # here
    """,
    "a_key_in_json": """
        import json
        def f(text: str):
            if "customer" in json.loads(text):
                return 1  # here
    """,
    "its_own_method": """
        import sys
        class Painter:
            def in_colour(self):
                return sys.flags.quiet == 7
            def f(self):
                if self.in_colour():
                    return 1  # here
    """,
}


def search_for(name: str, folder: Path, target: str) -> tuple[ProbeSearch, int, Imports]:
    program = dedent(PROGRAMS[name]).lstrip()
    (folder / f"feedback_{name}.py").write_text(program)
    line = next(n for n, text in enumerate(program.splitlines(), 1) if "# here" in text)
    [one] = resolve(f"feedback_{name}:{target}")
    imports = Imports()
    pool = ValuePool(one.function, imports)
    pool.scratch = str(folder)
    prober = Prober(one, pool, str(folder))
    return ProbeSearch(prober, {(-1, line)}, 60), line, imports


@pytest.fixture(autouse=True)
def _any_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_call, "_MOST_WAITING", 600.0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_reached_soon(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    owner = re.search(r"class (\w+)", PROGRAMS[name])
    search, line, imports = search_for(name, tmp_path, f"{owner[1]}.f" if owner else "f")
    found = search.run()
    assert line in {n for one in found for n in one.lines}
    assert search.calls < 1500, search.calls
    # and the test that shows it does so as well
    last = next(one for one in found if line in one.lines)
    test = ProbeWriter(search.prober, imports, set()).test(last.probe, "here")
    assert test is not None
    names: dict[str, object] = {"tmp_path": tmp_path, "monkeypatch": monkeypatch}
    given = "tmp_path, monkeypatch" if "tmp_path" in test.strong else ""
    exec("\n".join([*imports.lines(), "import pytest", test.strong, f"{test.name}({given})"]), names)


def test_what_is_patched_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    search, line, _ = search_for("a_flag_of_the_module", tmp_path, "f")
    reached = search.prober.call(Probe((("n", "1"), ("@HAVE_COLOUR", "True"))))
    assert reached is not None
    assert line in reached.lines
    assert sys.modules["feedback_a_flag_of_the_module"].HAVE_COLOUR is False


def test_names_of_the_file_are_left_to_it() -> None:
    """`import datetime` in the file that the tests are added to, and a datetime among the values."""
    imports = imports_of("import datetime\nfrom decimal import Decimal as D\n")
    assert isinstance(search_for, types.FunctionType)
    pool = ValuePool(search_for, imports)
    when, number = pool.of_hint(datetime.datetime)[1], pool.of_hint(decimal.Decimal)[0]
    assert (when, number) == ("datetime_(2020, 1, 2, tzinfo=timezone.utc)", 'D("1.50")')
    assert (pool.value(when), pool.value(number)) == (
        datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC),
        decimal.Decimal("1.50"),
    )


def test_branches_between_lines_that_no_test_reaches_are_wanted_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "feedback_untaken.py"
    file.write_text("def f(a, b):\n    if a:\n        if b:\n            return 1\n    return 2\n")
    [target] = resolve("feedback_untaken:f")
    entry = {
        "executed_lines": [2, 5],
        "missing_lines": [3, 4],
        "executed_branches": [[2, 5]],
        "missing_branches": [[2, 3], [3, 4], [3, 5]],
    }
    coverage = from_report({"files": {str(file): entry}}, [target])
    place = str(file.resolve())
    assert coverage.unreached == [(place, 3, None), (place, 4, None), (place, 3, 5)]
    assert coverage.untaken == [(place, 2, 3), (place, 3, 4), (place, 3, 5)]


def test_imports_of_a_file_that_is_added_to_are_sorted() -> None:
    lines = [
        "import pytest",
        "",
        "from b import c",
        "from unittest.mock import patch",
        "from b import a",
        "",
        "",
        "x = 1",
    ]
    assert with_sorted_imports('"""Tests."""\n\n' + "\n".join(lines) + "\n") == (
        '"""Tests."""\n\nfrom unittest.mock import patch\n\nimport pytest\n\nfrom b import a, c\n\n\nx = 1\n'
    )
    apart = "import sys\n\nsys.path.insert(0, '')\n\nimport b\n"
    assert with_sorted_imports(apart) == apart
