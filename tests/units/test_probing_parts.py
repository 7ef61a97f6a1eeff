"""What real calls are watched for: the world they ask, the values they look at, the places that could be set."""

from __future__ import annotations

import ast
import datetime
import random
import sys
import time
import types
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from treadle.units.imports import Imports
from treadle.units.probing import files
from treadle.units.probing.call import Probe, Prober
from treadle.units.probing.feedback import Feedback
from treadle.units.probing.frozen import frozen
from treadle.units.probing.places import places_in
from treadle.units.probing.seen import Unseen, outline, value_of
from treadle.units.probing.values import ValuePool
from treadle.units.probing.world import asking
from treadle.units.target import resolve


def own_package() -> str:
    return __name__.partition(".")[0]


def test_the_clock_and_chance_count_when_the_package_itself_asks() -> None:
    asked: set[str] = set()
    with asking(own_package(), asked):
        random.randint(1, 6)  # through the library, on our behalf
    assert asked == {"chance"}
    with asking(own_package(), asked):
        time.time()
    assert asked == {"chance", "clock"}
    others: set[str] = set()
    with asking("some_other_package", others):
        time.time()
    assert others == set()


def test_the_profiler_of_somebody_else_is_put_back() -> None:
    def somebody(frame: types.FrameType, event: str, arg: Any) -> None:
        pass

    before = sys.getprofile()
    sys.setprofile(somebody)
    try:
        with asking("x", set()):
            pass
        assert sys.getprofile() is somebody
    finally:
        sys.setprofile(before)


class Account:
    def __init__(self) -> None:
        self.items = {"k": [1, 2]}
        self.asked = 0

    @property
    def size(self) -> int:
        self.asked += 1
        return 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("account.items['k'][1]", 2),
        ("len(account.items)", 1),
        ("word.upper() + '!'", "HI!"),
        ("word[0:1]", "h"),
        ("-number % 7", 4),
    ],
)
def test_an_expression_is_worked_out_without_running_the_program(text: str, value: object) -> None:
    account, word, number = Account(), "hi", 3
    assert account is not None
    assert (word, number) == ("hi", 3)
    assert value_of(ast.parse(text, mode="eval").body, sys._getframe()) == value


@pytest.mark.parametrize("text", ["account.items.pop('k')", "account.size", "missing", "word * 10**6 * 10**6"])
def test_what_could_change_the_call_is_not_worked_out(text: str) -> None:
    account, word = Account(), "hi"
    with pytest.raises(Unseen):
        value_of(ast.parse(text, mode="eval").body, sys._getframe(), asks=False)
    assert (account.items, account.asked, word) == ({"k": [1, 2]}, 0, "hi")


def test_values_that_are_likely_to_go_the_same_way_look_alike() -> None:
    assert outline(5) == outline(9) != outline(-1)
    assert outline([1, 2, 3]) == outline([1, 2, 3, 4]) != outline([1])
    assert outline(None) == "None"


def test_places_are_what_the_call_may_have_looked_at() -> None:
    account = Account()
    found = {path: value for _, path, value in places_in("account", account, {"items"})}
    assert found == {".items": {"k": [1, 2]}, ".items['k']": [1, 2], ".items['k'][0]": 1, ".items['k'][1]": 2}


def test_what_a_stand_in_was_asked_for_is_a_place() -> None:
    mock = MagicMock()
    mock.client.get().status  # noqa: B018
    paths = [path for _, path, _ in places_in("mock", mock, set())]
    assert ".client" in paths
    assert ".client.get.return_value" in paths
    assert ".other" not in paths


def test_chance_and_the_hour_are_fixed_where_the_code_looks_them_up() -> None:
    names: dict[str, Any] = {"random": random, "datetime": datetime.datetime, "time": time}
    pool: Any = SimpleNamespace(name=lambda cls: {random.Random: "Random"}.get(cls, cls.__name__))
    ways = list(frozen(["random.randint", "datetime.now", "time.sleep"], names, pool))
    assert {chain for way in ways for chain, _ in way} == {"random.randint", "datetime"}
    space = {"Random": random.Random, "datetime": datetime.datetime}
    for way in ways:
        for chain, source in way:
            made: Any = eval(source, dict(space))
            again: Any = eval(source, dict(space))
            drawn = [one(1, 6) if chain == "random.randint" else one.now() for one in (made, again)]
            assert drawn[0] == drawn[1]
    assert list(frozen(["time.sleep"], names, pool)) == []


def test_what_names_a_file_below_the_current_folder() -> None:
    named = ["a.txt", "b/c.txt", PurePath("d")]
    assert list(map(files.plain_path, named)) == ["a.txt", "b/c.txt", "d"]
    others = ["", ".", "..", "../a", "/etc/passwd", "a b", "a\0", "-x", 3, None]
    assert list(map(files.plain_path, others)) == [""] * len(others)


def test_a_folder_is_emptied_and_what_is_in_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path, content in {"a/b.txt": "text", "c": b"\xff", "d": None}.items():
        files.make(path, content)
    assert files.found_in(str(tmp_path)) == {"a": None, "a/b.txt": b"text", "c": b"\xff", "d": None}
    files.emptied(str(tmp_path))
    assert files.found_in(str(tmp_path)) == {}


def test_a_file_that_was_missing_is_put_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "reading.py").write_text("def read(path: str) -> str:\n    return open(path).read()\n")
    [target] = resolve("reading:read")
    prober = Prober(target, ValuePool(target.function, Imports()), str(tmp_path))
    monkeypatch.chdir(tmp_path)
    reached = prober.call(Probe((("path", '"a.txt"'),)))
    assert reached is not None
    assert isinstance(reached.raised, FileNotFoundError)
    proposed = Feedback(prober, frozenset({"path"})).proposals(reached, set())
    assert proposed[0].given == (("path", '"a.txt"'), (f"{files.FILE}a.txt", '"a\\nb\\n"'))
    again = prober.call(proposed[0])
    assert again is not None
    assert again.result == "a\nb\n"
