"""The source of one concurrent test: it builds the object, runs the calls in two threads, and asserts what every order
of the calls gives. It fails as long as the fault is there and passes when it is gone.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from treadle.classes.linearizability import DEADLOCK, LIVELOCK, Outcome
from treadle.classes.linearizability import WAITS as NOBODY_WAITS
from treadle.classes.result import ClassResult, Fault, Options
from treadle.classes.stage import REST, Test
from treadle.classes.subject import NOT_COMPARED, PASSING, Subject, invariant_of
from treadle.threads.fingerprint import digest

_OPERATORS = {
    "[]": "getitem", "[]=": "setitem", "del []": "delitem", "()": "call", "==": "eq", "+=": "iadd", "|=": "ior",
    "+": "add",
}  # fmt: skip

# What a test needs where some order of the calls leaves one waiting.
PARALLEL_OR_WAIT = "from treadle.doors.class_.waiting import WAITS, parallel_or_wait"

Place = tuple[str, int, int]


@dataclass
class FaultTest:
    """One test: its name, its source below the decorator that holds the schedule, and the same with plain threads."""

    name: str
    source: str
    plain: str
    needs: list[str]
    fault: Fault
    in_tasks: bool = False


def write_test(result: ClassResult, fault: Fault, options: Options, taken: set[str]) -> FaultTest:
    """The test for one fault."""
    test = fault.witness.test
    sout = _variable(result)
    name = _unique("test_" + "_and_".join(_word(c.method) for calls in test.threads for c in calls[-1:]), taken)
    needs = list(dict.fromkeys(line for call in _calls(test) for line in call.lines()))
    needs += [options.setup_import] if options.setup_import else []
    body = [f"{sout} = {options.setup_call or test.root.source()}", *(call.source(sout) for call in test.alpha)]
    scenario = _Scenario(test, fault, sout, result.subject)
    checks = scenario.check()
    needs += scenario.needs
    if fault.witness.outcome.background:
        rest = f"time.sleep({REST})  # its own threads come to rest"
        body = [line for one in body for line in (one, rest)]
        checks = [rest, *checks, "leave_threads()"]
        needs += ["import time", "from treadle.classes.stage import leave_threads"]
    message = fault.message.replace("\\", "\\\\").replace('"""', "'''")
    lines = [f'"""{message}"""', *body, "", *scenario.threads(), *checks]
    source = "\n".join(f"    {line}".rstrip() for line in lines)
    plain = "\n".join(f"    {line}".rstrip() for line in [*body, "", *scenario.plain()])
    needs += ["import asyncio"] if scenario.in_tasks else []
    needs += ["import time"] if test.passes else []
    kind = "async def" if scenario.in_tasks else "def"
    return FaultTest(
        name,
        f"{kind} {name}():\n{source}\n",
        f"{kind} plain_{name[5:]}():\n{plain}\n",
        needs,
        fault,
        scenario.in_tasks,
    )


@dataclass
class _Part:
    """One thing that a test looks at: its source, and where its values are in an outcome."""

    source: str
    places: list[Place]
    told: bool = False  # is it compared as text, because some order gives a value that has no source form?

    def value(self, order: Outcome) -> str:
        if self.told:
            return repr(order.told[self.places[0]])
        values = [_value(order, place) for place in self.places]
        return values[0] if len(values) == 1 else f"[{', '.join(values)}]"


@dataclass
class _Same:
    """Whether two of the values that a test looks at are one object."""

    source: str
    first: int
    second: int

    def value(self, order: Outcome) -> str:
        return str(order.same[self.first] == order.same[self.second])


def _value(order: Outcome, place: Place) -> str:
    how, text = order.values[place]
    return repr(text) if how == "raised" else str(text)


class _Scenario:
    """The lines of a test after the object is built."""

    def __init__(self, test: Test, fault: Fault, sout: str, subject: Subject | None) -> None:
        self.test, self.fault, self.sout = test, fault, sout
        self.without = subject.tallies if subject is not None else frozenset()
        self.not_compared = (subject.not_compared if subject is not None else NOT_COMPARED) | {PASSING}
        self.invariant = invariant_of(subject.cls if subject is not None else None)
        self.in_tasks = subject is not None and subject.in_tasks  # are the calls made in tasks of one event loop?
        self.word = "task" if self.in_tasks else "thread"
        self.orders = [order for order in fault.witness.orders if not order.ending]
        self.where = fault.witness.violation.where
        # may a call wait for ever, as in some order of the calls?
        self.waits = any(order.ending and not order.late for order in fault.witness.orders) and not (
            self.in_tasks or fault.kind in (DEADLOCK, LIVELOCK)
        )
        self.needs: list[str] = []

    def _known(self, thread: int, place: int) -> list[str]:
        """Exceptions that the call raises in some order of the calls: those are not the fault."""
        found = {o.threads[thread][place][1] for o in self.orders if o.threads[thread][place][0] == "raised"}
        return sorted(found)

    def threads(self) -> list[str]:
        lines: list[str] = []
        for number, calls in enumerate(self.test.threads):
            lines += [f"{'async def' if self.in_tasks else 'def'} {self.word}_{number + 1}():"]
            lines += [f"    {line}" for line in self._body(number, calls)]
            lines += [""]
        names = ", ".join(f"{self.word}_{number + 1}" for number in range(len(self.test.threads)))
        results = ", ".join(f"result_{number + 1}" for number in range(len(self.test.threads)))
        head = f"{results} = " if self.fault.kind == "linearizability" or self.waits else ""
        call = f"parallel_or_wait({names})" if self.waits else f"treadle.parallel({names})"
        return [*lines, f"{head}{self._gathered()}" if self.in_tasks else f"{head}{call}"]

    def _gathered(self) -> str:
        calls = ", ".join(f"task_{number + 1}()" for number in range(len(self.test.threads)))
        calls += ", return_exceptions=True" if self.test.cancels else ""
        return f"await asyncio.gather({calls})"

    def _body(self, thread: int, calls: Sequence[Any]) -> list[str]:
        lines: list[str] = []
        several = len(calls) > 1
        if several:
            lines.append("results = []")
        for place, call in enumerate(calls):
            source = call.source(self.sout)
            if several:
                line = f"results.append({source})" if call.expression else source
            else:
                line = f"return {source}" if call.expression else source
            known = self._known(thread, place)
            if known:
                lines += ["try:", f"    {line}"]
                lines.append(f"except {_catch(known)} as error:  # as when the calls do not overlap")
                if _catch(known) == "Exception":  # by name, as they are compared
                    lines += [f"    if type(error).__name__ not in {known!r}:", "        raise"]
                lines.append(
                    "    results.append(type(error).__name__)" if several else "    return type(error).__name__"
                )
            else:
                lines.append(line)
            if several and not call.expression:
                lines += ["else:", "    results.append(None)"] if known else ["results.append(None)"]
        if several:
            lines.append("return results")
        return lines

    def check(self) -> list[str]:
        """The lines after the threads."""
        if not self.waits:
            return self._compared()
        self.needs.append(PARALLEL_OR_WAIT)
        results = ", ".join(f"result_{number + 1}" for number in range(len(self.test.threads)))
        waits = f"any(result is WAITS for result in ({results}))"
        if self.where == NOBODY_WAITS:
            return [f"assert {waits}  # as in every order of the calls"]
        return [f"if {waits}:", "    return  # as in some order of the calls", *self._compared()]

    def _compared(self) -> list[str]:
        """The lines that compare what the threads gave and left with what the orders of the calls do."""
        kind = self.where[0]
        if self.fault.kind == "serializability":
            return self._tallies() if kind == "tally" else self._inner_state()
        if self.fault.kind == "invariant":
            return [f"assert {self.sout}.{self.invariant}() is not False"]
        if self.fault.kind == "broken state":
            calls = self.test.later if kind == "later" else self.test.omega
            return [f"{call.source(self.sout)}  # works after every order of the calls" for call in calls]
        if self.fault.kind != "linearizability":
            return []
        parts: list[_Part | _Same] = [*self._parts(), *self._same()]
        return _seen_in(
            [part.source for part in parts], [[part.value(order) for part in parts] for order in self.orders]
        )

    def _inner_state(self) -> list[str]:
        """The state itself has no source form: it is told by a digest."""
        self.needs.append("from treadle.threads.fingerprint import digest, inner_state")
        allowed = sorted({digest(order.state) for order in self.orders})
        return [
            "",
            f"state = digest(inner_state({self.sout}, {sorted(self.without)!r}))",
            f'assert state in {allowed!r}, "the object\'s inner state is one that no order of the calls leaves"',
        ]

    def _tallies(self) -> list[str]:
        """Attributes that only count."""
        names = [name for name, _ in self.orders[0].tallies]
        rows = [[str(value) for _, value in order.tallies] for order in self.orders]
        return _seen_in([f"{self.sout}.{name}" for name in names], rows)

    def _parts(self) -> Iterator[_Part]:
        """What can be looked at: the results of the threads, the object's own answers, its attributes."""
        for thread, calls in enumerate(self.test.threads):
            places: list[Place] = [("result", thread, place) for place in range(len(calls))]
            compared = [place for place in places if calls[place[2]].method not in self.not_compared]
            if compared == places and all(map(self._has_source, places)):
                yield _Part(f"result_{thread + 1}", places)
            else:
                for place in compared:
                    index = f"[{place[2]}]" if len(calls) > 1 else ""
                    yield self._part(f"result_{thread + 1}{index}", place)
        for number, call in enumerate(self.test.omega):
            yield self._part(call.source(self.sout), ("observed", number, 0))
        for number, name in enumerate(self.test.fields):
            yield self._part(f"{self.sout}.{name}", ("field", number, 0))

    def _has_source(self, place: Place) -> bool:
        return all(order.values[place][1] is not None for order in self.orders)

    def _part(self, source: str, place: Place) -> _Part:
        if self._has_source(place):
            return _Part(source, [place])
        self.needs.append("from treadle.classes.compared import told")
        without = f", {sorted(self.without)!r}" if self.without else ""
        return _Part(f"told({source}, {self.sout}{without})", [place], told=True)

    def _same(self) -> Iterator[_Same]:
        """Pairs of values that are one object in some of the executions, and two in others."""
        sources = [
            f"result_{thread + 1}" + (f"[{place}]" if len(calls) > 1 else "")
            for thread, calls in enumerate(self.test.threads)
            for place in range(len(calls))
        ]
        sources += [call.source(self.sout) for call in self.test.omega]
        seen = [self.fault.witness.outcome, *self.orders]
        for first, second in combinations(range(len(sources)), 2):
            if any(order.same[first] < 0 or order.same[second] < 0 for order in seen if order.same):
                continue
            if len({order.same[first] == order.same[second] for order in seen if order.same}) == 2:
                yield _Same(f"{sources[first]} is {sources[second]}", first, second)

    def plain(self) -> list[str]:
        lines = [line.replace("treadle.pass_time(", "time.sleep(") for line in self.threads()[:-1]]
        names = [f"thread_{number + 1}" for number in range(len(self.test.threads))]
        if self.in_tasks:
            lines += [self._gathered()]
        else:
            lines += [f"threads = [{', '.join(f'threading.Thread(target={name})' for name in names)}]"]
            lines += ["for thread in threads:", "    thread.start()", "for thread in threads:", "    thread.join()"]
        looks = [call.source(self.sout) for call in (*self.test.omega, *self.test.later)]
        looks += [f"{self.sout}.{name}" for name in self.test.fields]
        return lines + ([f"return {', '.join(looks)}"] if looks and all(map(_is_expression, looks)) else [])


def _seen_in(seen: list[str], rows: list[list[str]]) -> list[str]:
    """The lines that compare what was seen with what the orders give."""

    def tuple_of(values: list[str]) -> str:
        return f"({values[0]},)" if len(values) == 1 else f"({', '.join(values)})"

    allowed = dict.fromkeys(tuple_of(row) for row in rows)
    return ["", f"seen = {tuple_of(seen)}", "assert seen in [", *[f"    {row}," for row in allowed], "]"]


def _is_expression(source: str) -> bool:
    try:
        ast.parse(source, mode="eval")
    except SyntaxError:
        return False
    return True


def _calls(test: Test) -> list[Any]:
    return [test.root, *test.alpha, *(c for calls in test.threads for c in calls), *test.omega, *test.later]


def _catch(names: list[str]) -> str:
    if all(hasattr(builtins, name) for name in names):
        return names[0] if len(names) == 1 else f"({', '.join(names)})"
    return "Exception"


def _variable(result: ClassResult) -> str:
    name = result.subject.name if result.subject is not None else "shared"
    word = snake_case(name)
    # not the name of the class itself, which the test still calls
    return f"{word}_" if keyword.iskeyword(word) else f"shared_{word}" if word == name else word


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _word(method: str) -> str:
    return re.sub(r"\W+", "_", _OPERATORS.get(method, method.rstrip("="))).strip("_") or "call"


def _unique(name: str, taken: set[str]) -> str:
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    taken.add(candidate)
    return candidate
