"""`treadle unit` never touches the world, nor does the code under test touch the command."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import treadle
from treadle.core.errors import UsageError
from treadle.doors.unit.result import Suite


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_a_deletion_that_the_program_swallows_does_not_happen() -> None:
    """Stubbed, the path is followed to its end; the real run of its test must delete nothing, in either round."""
    Path("world_clean.py").write_text(
        "import os\n\n\ndef clean(n: int) -> int:\n    try:\n        os.unlink('precious.txt')\n"
        "    except OSError:\n        return 1\n    return 0\n"
    )
    Path("precious.txt").write_text("kept")
    Path("treadle_stubs.py").write_text(
        "from treadle.stubs import case\n\n\n@case('os.unlink')\ndef absent(path):\n    raise OSError('no such file')\n"
    )
    suite = treadle.unit("world_clean:clean", write_file=False)
    assert suite.paths == 1
    assert any("--allow-effects" in place.what for place in suite.unsupported), suite.unsupported
    assert Path("precious.txt").read_text() == "kept"


def test_a_program_that_closes_the_streams_does_not_silence_the_command() -> None:
    Path("world_streams.py").write_text(
        "import sys\n\n\ndef quiet(n: int) -> int:\n    if n < 0:\n        sys.stdout.close()\n    return n\n"
    )
    command = [sys.executable, "-m", "treadle", "unit", "world_streams:quiet", "--json", "--output", "test_x.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert json.loads(done.stdout)["target"] == "world_streams:quiet"


def test_importing_the_code_changes_nothing() -> None:
    Path("world_import.py").write_text("open('made.txt', 'w').close()\n\n\ndef f(n: int) -> int:\n    return n\n")
    with pytest.raises(UsageError, match=r"cannot be imported: it would write the file 'made.txt'; pass --allow-eff"):
        treadle.unit("world_import:f", write_file=False)
    assert not Path("made.txt").exists()
    assert treadle.unit("world_import:f", write_file=False, allow_effects=True).tests == 1
    assert Path("made.txt").exists()


@pytest.mark.slow
def test_an_import_that_swallows_the_refusal_changes_nothing_either() -> None:
    Path("world_log.py").write_text(
        "import os\n\nos.environ['WORLD_LOG'] = '1'\n"
        "try:\n    open('made.txt', 'w').close()\nexcept OSError:\n    pass\n"
        "\n\ndef f(n: int) -> int:\n    return n\n"
    )
    suite = treadle.unit("world_log:f", write_file=False)
    assert (suite.tests, suite.complete) == (1, True)
    assert suite.warnings == ["while it was imported, the code was refused to write the file 'made.txt'"]
    assert not Path("made.txt").exists()


@pytest.mark.slow
def test_a_constructor_changes_nothing() -> None:
    Path("world_made.py").write_text(
        "class C:\n    def __init__(self, n: int) -> None:\n"
        "        self.n = n\n        open('made.txt', 'w').close()\n\n"
        "    def f(self) -> int:\n        return 1 if self.n > 0 else 0\n"
    )
    suite = treadle.unit("world_made:C.f", write_file=False)
    assert "object.__new__(C)" in suite.source
    assert suite.tests == 2
    assert not Path("made.txt").exists()


@pytest.mark.slow
def test_a_module_that_is_loaded_already_is_imported_again_under_guard() -> None:
    Path("world_loaded.py").write_text(
        "import os\n\nif 'TREADLE_CHECK' in os.environ:\n    os.mkdir('made')\n\n\n"
        "def f(n: int) -> int:\n    return n\n"
    )
    with pytest.raises(UsageError, match=r"cannot be imported: it would change files \(os.mkdir .*; pass --allow-eff"):
        treadle.unit("world_loaded:f", write_file=False)
    assert not Path("made").exists()


@pytest.mark.slow
def test_no_test_is_written_of_luck_or_of_the_hour() -> None:
    Path("unit_luck.py").write_text(
        "import random\nfrom datetime import datetime\n\n\n"
        "def coin():\n    if random.random() < 0.5:\n        return 'heads'\n    return 'tails'\n\n\n"
        "def greeting():\n    if datetime.now().hour < 12:\n        return 'morning'\n    return 'day'\n\n\n"
        "def shuffled(xs: list[int]):\n    random.shuffle(xs)\n    return len(xs)\n"
    )
    suite = treadle.unit("unit_luck", write_file=False)
    tests = {node.name: ast.unparse(node) for node in ast.parse(suite.source).body if isinstance(node, ast.FunctionDef)}
    coins = [text for name, text in tests.items() if "coin" in name]
    assert all("patch" in text for text in coins)
    hours = [text for name, text in tests.items() if "greeting" in name]
    assert len(hours) == 2
    assert all("patch('unit_luck.datetime', " in text for text in hours)
    assert any("shuffled" in name for name in tests)


def unit(name: str, program: str, target: str, **options: object) -> Suite:
    Path(f"{name}.py").write_text(dedent(program).lstrip())
    return treadle.unit(f"{name}:{target}", write_file=False, probe=False, **options)  # type: ignore[arg-type]


def results(suite: Suite) -> set[object]:
    return {case.outcome.value if case.outcome.raises is None else case.outcome.raises for case in suite.cases}


def test_a_cache_as_people_write_it_gets_all_its_branches() -> None:
    program = """
        import threading
        import time
        from collections import OrderedDict

        class Cache:
            def __init__(self, capacity: int, ttl: float) -> None:
                if capacity <= 0:
                    raise ValueError("capacity")
                self.capacity = capacity
                self.ttl = ttl
                self._data: OrderedDict[str, tuple[float, int]] = OrderedDict()
                self._lock = threading.Lock()

            def get(self, key: str, default: int = 0) -> int:
                with self._lock:
                    if key not in self._data:
                        return default
                    stamp, value = self._data[key]
                    if time.monotonic() - stamp > self.ttl:
                        del self._data[key]
                        return default
                    self._data.move_to_end(key)
                    return value

            def put(self, key: str, value: int) -> None:
                with self._lock:
                    if key in self._data:
                        self._data.move_to_end(key)
                    self._data[key] = (time.monotonic(), value)
                    while len(self._data) > self.capacity:
                        self._data.popitem(last=False)
    """
    suite = unit("world_cache", program, "Cache", k=1)
    assert suite.coverage.is_full
    assert not suite.unsupported
    assert not suite.disagreements
    assert 'monkeypatch.setattr(time, "monotonic", monotonic)' in suite.source
    assert "_lock = threading.Lock()" in suite.source  # where the constructor cannot make the object
    assert not suite.complete  # floats are exact numbers here


_QUESTIONS: dict[str, tuple[str, str, set[object]]] = {
    "renamed": ("from time import time as now", "1 if now() > 5 else 0", {0, 1}),
    "monotonic": ("import time", "1 if time.perf_counter() <= time.perf_counter() else 0", {1}),
    "dice": ("import random", "random.randint(1, 2)", {1, 2}),
    "choice": ("import random\nfrom random import choice", "random.choice(['a', 'b'])", {"a", "b"}),
    "nothing": ("import random", "random.choice('')", {IndexError}),
    "range": ("from random import randrange", "'low' if randrange(3) < 3 else 'high'", {"low"}),
    "environment": ("import os", "os.environ.get('A', 'none') == 'b'", {True, False}),
    "getenv": ("import os", "os.getenv('A') is None", {True, False}),
    "missing": ("from os import environ", "environ['A'] == ''", {True, False, KeyError}),
    "attribute": (
        "import os\n\n\nclass Kept:\n    names = os.environ\n",
        "Kept.names.get('A', 'none') == 'b'",
        {True, False},
    ),
    "sleep": ("import time", "time.sleep(3)", {None}),
    "typed": ("", "input('n? ') == 'x'", {True, False}),
    "home": ("import os", "os.path.expandvars('$A') == 'b'", {True, False}),
    "file": ("import os", "os.path.exists('x')", {True, False}),
}


@pytest.mark.parametrize("name", _QUESTIONS)
def test_what_is_asked_of_the_world_is_an_unknown_input(name: str) -> None:
    imported, asked, expected = _QUESTIONS[name]
    program = f"{imported}\n\n\ndef f():\n    found = {asked}\n    return _told(found)\n\n\ndef _told(found):\n"
    program += "    if found == 1:\n        return found\n    return found\n"
    suite = unit(f"world_asks_{name}", program, "f")
    assert not suite.disagreements
    assert not suite.unsupported
    assert results(suite) == expected


def test_what_chance_picks_is_one_of_the_objects_that_were_given() -> None:
    program = """
        import random

        class Card:
            def __init__(self, suit: str) -> None:
                self.suit = suit
                self.used = False

        def draw(cards: list[Card]) -> str:
            card = random.choice(cards)
            card.used = True
            return "red" if card.suit == "hearts" else "any"

        def made() -> bool:
            cards = [Card("a"), Card("b")]
            return random.choice(cards) is cards[1]
    """
    suite = unit("world_cards", program, "draw")
    assert suite.complete
    assert results(suite) == {"red", "any", IndexError, TypeError, AttributeError}
    # a stand-in cannot give what is made during the call
    assert unit("world_cards", program, "made").unsupported


def test_a_function_of_the_world_that_the_code_has_from_elsewhere_is_not_followed() -> None:
    suite = unit(
        "world_given", "import time\n\nASK = [time.time]\n\n\ndef f() -> bool:\n    return ASK[0]() > 5\n", "f"
    )
    assert suite.tests == 0
    assert "reads the clock" in suite.unsupported[0].what


def test_what_the_real_environment_refuses_is_not_claimed() -> None:
    suite = unit("world_number", "import os\n\n\ndef f(n: int) -> None:\n    os.environ['A'] = n\n", "f")
    assert (suite.tests, suite.complete) == (0, False)


def test_a_lock_that_the_code_holds_itself_is_not_waited_for() -> None:
    program = """
        import threading

        def f(n: int) -> int:
            lock = threading.Lock()
            with lock:
                if n > 3:
                    with lock:
                        return 1
                return 2 if lock.locked() and not lock.acquire(blocking=False) else 3
    """
    suite = unit("world_held", program, "f")
    assert results(suite) == {2}
    assert "would never end" in suite.unsupported[0].what


@pytest.mark.parametrize(
    "asked", ["time.gmtime()", "time.strftime('%Y')", "os.path.abspath('x')", "os.path.realpath('xy')"]
)
def test_what_this_machine_says_now_is_no_result(asked: str) -> None:
    suite = unit(f"world_now_{len(asked)}", f"import os, time\n\n\ndef f():\n    return len({asked}) > 1000\n", "f")
    assert suite.tests == 0
    assert "pass --allow-effects" in suite.unsupported[0].what


def test_that_a_lock_is_free_is_not_all_there_is() -> None:
    program = """
        import threading

        class Door:
            def __init__(self) -> None:
                self.lock = threading.Lock()

            def state(self) -> str:
                return "busy" if self.lock.locked() else "free"
    """
    suite = unit("world_busy", program, "Door.state")
    assert results(suite) == {"free"}
    assert not suite.complete
