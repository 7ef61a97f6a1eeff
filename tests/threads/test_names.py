"""Names of objects: the same in every execution, whatever the schedule and the address."""

from __future__ import annotations

import functools
import threading
import types
from typing import Any

import treadle
from tests.threads_primitives.running import AtRandom, execute, inside, together
from treadle.threads import names
from treadle.threads.strands import Strand, current


class Account:
    pass


def strand() -> Strand:
    running = current()
    assert running is not None
    return running


def name_of(obj: Any) -> str:
    return names.meet(strand(), obj).name


def test_objects_are_counted_by_who_met_them_first() -> None:
    found: set[tuple[str, ...]] = set()
    for seed in range(10):
        met: dict[int, str] = {}

        def main(met: dict[int, str] = met) -> None:
            mine = Account()
            names.meet(strand(), mine)

            def work(number: int) -> None:
                met[number] = f"{name_of(mine)} {name_of(Account())}"

            together(lambda: work(0), lambda: work(1))

        execute(main, AtRandom(seed))
        found.add((met[0], met[1]))
    assert found == {("Account#1 Account#T1.1", "Account#1 Account#T2.1")}


def test_what_a_function_carries_is_named_when_it_is_handed_over() -> None:
    def main() -> list[str]:
        kept, given, bound = Account(), [1], {"k": 1}

        def closure(*more: object) -> None:
            print(kept, more)

        names.announce(strand(), functools.partial(closure, given))
        names.announce(strand(), bound.get)
        known = strand().execution.names
        return [known[id(one)].name for one in (kept, given, bound)]

    assert inside(main) == ["Account#1", "list#1", "dict#1"]


def test_what_is_found_at_a_place_is_called_by_it() -> None:
    def main() -> tuple[str, str]:
        held, in_a_tuple = Account(), Account()
        names.name_by_path(strand(), held, "bank.main")
        names.name_by_path(strand(), (1, in_a_tuple), "bank.both")
        return name_of(held), name_of(in_a_tuple)

    assert inside(main) == ("bank.main", "bank.both.1")


def test_an_address_that_is_used_again_is_another_object() -> None:
    def main() -> bool:
        gone = Account()
        names.meet(strand(), gone)
        key = id(gone)
        del gone
        return key in strand().execution.names

    assert inside(main) is False


def test_globals_are_called_by_module_and_variable() -> None:
    module = types.ModuleType("bank")
    kept: list[int] = []
    account = type("Account", (), {"__module__": "bank", "limit": []})

    def default(of: list[int] = kept) -> None:
        pass

    default.__module__, default.__qualname__ = "bank", "default"
    vars(module).update(ACCOUNTS={}, LIMIT=3, Account=account, default=default)
    found, _ = names.names_of_globals([module])
    assert {one.name for one in found.values()} >= {"bank.ACCOUNTS", "class Account.limit", "default.default"}
    assert all(one.shared for one in found.values())
    assert id(3) not in found


class _Base:
    pass


class _Made(_Base):
    def __init__(self) -> None:
        super().__init__()
        self.value = 0


def test_objects_that_are_made_through_super_are_not_taken_for_one() -> None:
    """Two writes to each of two objects: each pair in both orders, and no order between the pairs."""

    def test() -> None:
        made: dict[str, _Made] = {}

        def make(name: str) -> None:
            made[name] = _Made()

        def write(name: str, value: int) -> None:
            made[name].value = value

        for name in "ab":
            making = threading.Thread(target=make, args=(name,))
            making.start()
            making.join()
        writing = [threading.Thread(target=write, args=(name, value)) for name in "ab" for value in (1, 2)]
        for thread in writing:
            thread.start()
        for thread in writing:
            thread.join()

    result = treadle.check(test, strategy="dpor")
    assert (result.verdict, result.executions) == (treadle.Verdict.PASSED_EXHAUSTIVE, 4)
