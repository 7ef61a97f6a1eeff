"""Exploring a test of Hypothesis's: Hypothesis draws the examples, and each example is explored.

Decides who does what. Hypothesis calls what stands in the place of the test once per example, and looks for a smaller
one when it fails; here every schedule of the example is run, and a failing schedule is shrunk as always. Inside an
execution the example is drawn anew from the choices that Hypothesis made for it, so that no execution sees what another
did to it, and locks in it are under control. Those choices are part of the trail, in Hypothesis's own coding: a replay
draws the same example.

A pass is one within the examples that were drawn. Budgets hold for all of them together.

This file is the only one that uses private names of Hypothesis.
"""

from __future__ import annotations

import copy
import functools
import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from treadle.core.errors import TreadleError, Unsupported, UsageError
from treadle.core.result import Result, Verdict
from treadle.core.verdict import exception_for, worst
from treadle.doors.explore.models import OpenLoom

_EXPLICIT = "@example "

# What one execution changes in an explicit example, the next must not see.
_CONTAINERS = (list, dict, set, bytearray)

# While Hypothesis looks for a smaller example, each is given so many times the executions that showed the failure.
_ROOM = 10
_LEAST = 100

# Characters of an example that a note shows.
_SHOWN = 300


def is_given(function: Any) -> bool:
    """Did `@given` make this function?"""
    return getattr(function, "is_hypothesis_test", False) is True


class Example:
    """The arguments that Hypothesis made for one call of a test, drawn anew by every execution.

    `code` is what a trail holds: the version of Hypothesis and its choices, or the number of an explicit `@example`.
    """

    def __init__(self, given: Any, code: str) -> None:
        self.given = given
        self.code = code
        self.executions = 0
        self.rejected = 0  # executions in which an assumption did not hold
        self.draws_more = False
        self._explicit: dict[str, Any] | None = None
        self._choices: Sequence[Any] = ()
        if code.startswith(_EXPLICIT):
            self._explicit = _explicit_numbered(given, code.removeprefix(_EXPLICIT))
        else:
            self._choices = _choices_of(given, code)

    @contextmanager
    def drawn(self) -> Iterator[dict[str, Any]]:
        """Inside the `with` block, Hypothesis takes what runs for its test of this example."""
        from hypothesis.control import BuildContext
        from hypothesis.errors import StopTest, UnsatisfiedAssumption
        from hypothesis.internal.conjecture.data import ConjectureData

        self.executions += 1
        data = ConjectureData.for_choices(self._choices)
        arguments: dict[str, Any] = {}
        with BuildContext(data, wrapped_test=self.given):
            try:
                if self._explicit is not None:
                    for name, value in self._explicit.items():
                        arguments[name] = copy.deepcopy(value) if isinstance(value, _CONTAINERS) else value
                else:
                    for name, strategy in self.given.hypothesis._given_kwargs.items():
                        arguments[name] = data.draw(strategy)
                yield arguments
            except UnsatisfiedAssumption:
                self.rejected += 1
            except StopTest:
                self.draws_more = True


def _choices_of(given: Any, code: str) -> Sequence[Any]:
    import hypothesis
    from hypothesis.core import decode_failure

    version, _, packed = code.partition(" ")
    if version != hypothesis.__version__:
        raise UsageError(
            f"the example of {_name(given)} was drawn by Hypothesis {version}, and here is {hypothesis.__version__}, "
            "which may draw another from the same choices: install that version, or explore the test again"
        )
    try:
        return decode_failure(packed.encode())
    except (hypothesis.errors.InvalidArgument, UnicodeError):
        raise UsageError(f"the example of {_name(given)} in this trail is damaged; copy the whole string") from None


def _explicit_numbered(given: Any, number: str) -> dict[str, Any]:
    found = _explicit_examples(given)
    if not number.isdecimal() or not 1 <= int(number) <= len(found):
        raise UsageError(
            f"the trail belongs to explicit example {number[:20]} of {_name(given)}, which has {len(found)} now; "
            "explore the test again"
        )
    return found[int(number) - 1]


def _explicit_examples(given: Any) -> list[dict[str, Any]]:
    """The arguments of every `@example`, by name, in the order in which they are written."""
    names = [
        one.name
        for one in inspect.signature(given.hypothesis.inner_test).parameters.values()
        if one.kind is one.POSITIONAL_OR_KEYWORD
    ]
    found = []
    for one in reversed(getattr(given, "hypothesis_explicit_examples", ())):
        by_place = zip(names[len(names) - len(one.args) :], one.args, strict=True)
        found.append(dict(by_place) if one.args else dict(one.kwargs))
    return found


def _name(given: Any) -> str:
    return str(getattr(given, "__name__", given))


class _Over(BaseException):
    """Ends a run of Hypothesis: it lets what is no Exception pass."""


class ExampleSearch:
    """One run of Hypothesis over a test. `explore(example, **options)` explores one example, with options of `check`
    that come before those of the test."""

    def __init__(self, given: Any, explore: Callable[..., Result], options: dict[str, Any]) -> None:
        self.given = given
        self.explore = explore
        self.executions: int | None = options.get("executions")
        self.seconds: float | None = options.get("seconds")
        self.kept = OpenLoom()
        self.started = time.perf_counter()
        self.results: dict[str, Result] = {}  # of every example, by its code
        self.failing: list[str] = []  # the codes of those that fail, in the order in which they were found
        self.minimal: list[str] = []  # those that Hypothesis reports
        self.shown: dict[str, str] = {}
        self.error: TreadleError | None = None
        self.cut = ""

    def run(self, *args: Any, **kwargs: Any) -> Result:
        """Call the test as Hypothesis has it, with `args` and `kwargs` for what is not drawn."""
        from hypothesis import Phase, settings

        given, handle = self.given, self.given.hypothesis
        inner, own = handle.inner_test, given._hypothesis_internal_use_settings

        def one_example(*args: Any, **drawn: Any) -> None:
            self._one(drawn)

        handle.inner_test = functools.wraps(inner)(one_example)
        # a deadline is one for a single call, not for all schedules; what explains the lines of one traces them
        phases = [phase for phase in own.phases if phase is not Phase.explain]
        given._hypothesis_internal_use_settings = settings(own, deadline=None, phases=phases)
        try:
            given(*args, **kwargs)
        except _Over:
            pass
        except BaseException as error:
            if not self.failing:  # of Hypothesis's own: nothing satisfies an assumption, a strategy is wrong
                raise UsageError(f"Hypothesis: {type(error).__name__}: {_first_line(error)}") from error
        finally:
            self.kept.close()
            handle.inner_test, given._hypothesis_internal_use_settings = inner, own
        if self.error is not None:
            raise self.error
        return self._failed() if self.failing else self._passed()

    def _one(self, drawn: dict[str, Any]) -> None:
        """What Hypothesis calls in the place of the test."""
        from hypothesis import reject
        from hypothesis.control import current_build_context

        code = self._code(drawn, current_build_context().data.choices)
        if code not in self.results:
            example = Example(self.given, code)
            names = self.given.hypothesis._given_kwargs
            self.shown[code] = _described({name: value for name, value in drawn.items() if name in names})
            try:
                self.results[code] = self._explored(example)
            except TreadleError as error:
                self.error = error
                raise _Over from None
            if example.draws_more:
                self.error = Unsupported(
                    f"{_name(self.given)} draws values while it runs (st.data(), st.randoms() or a function that "
                    "Hypothesis made), which is not explored: let @given draw them before, as arguments"
                )
                raise _Over
            if example.rejected == example.executions:
                del self.results[code]
                reject()
        result = self.results[code]
        if result.failed:
            if code not in self.failing:
                self.failing.append(code)
            if current_build_context().is_final:
                self.minimal.append(code)
            finding = result.findings[0]
            raised = finding.exception or exception_for(finding.kind, finding.message)
            raise raised if isinstance(raised, Exception) else _Over
        if result.cut_by == "interrupted":
            self.cut = result.reason
            raise _Over

    def _code(self, drawn: dict[str, Any], choices: Sequence[Any]) -> str:
        import hypothesis
        from hypothesis.core import encode_failure

        if not choices:
            for number, explicit in enumerate(_explicit_examples(self.given), 1):
                if all(drawn.get(name) is value for name, value in explicit.items()):
                    return f"{_EXPLICIT}{number}"
        return f"{hypothesis.__version__} {encode_failure(choices).decode()}"

    def _explored(self, example: Example) -> Result:
        executions, seconds = self._left()
        if (executions is not None and executions <= 0) or (seconds is not None and seconds <= 0):
            self.cut = "the budget is used up"
            raise _Over
        if self.failing:  # that a smaller example fails, too, is worth so much
            room = max(_LEAST, _ROOM * self.results[self.failing[-1]].executions)
            executions = room if executions is None else min(room, executions)
        return self.explore(example, executions=executions, seconds=seconds, builds=False, kept=self.kept)

    def _left(self) -> tuple[int | None, float | None]:
        spent = sum(one.executions for one in self.results.values())
        took = time.perf_counter() - self.started
        return (
            None if self.executions is None else self.executions - spent,
            None if self.seconds is None else self.seconds - took,
        )

    # ------------------------------------------------------------------ the end

    def _failed(self) -> Result:
        """The smallest example that Hypothesis came to, explored once more, for all that a finding has."""
        code = self.minimal[0] if self.minimal else min(self.failing, key=len)
        found = self.results[code]
        result = self.explore(Example(self.given, code), executions=None, seconds=None)
        if not result.failed:  # something besides schedule and example decides, as its note says
            result = found
        for finding in result.findings:
            finding.notes.insert(0, f"Hypothesis drew {self.shown[code]}")
        result.executions = sum(one.executions for one in self.results.values())
        result.reason = f"failed with example {list(self.results).index(code) + 1} that Hypothesis drew"
        return self._timed(result)

    def _passed(self) -> Result:
        """One result for all examples: the worst verdict, where one of them at least has several schedules."""
        results = list(self.results.values())
        if not results:
            return self._timed(Result("", Verdict.CUT, 0, False, "", 0.0, reason=f"{self.cut}: not a pass"))
        explored = [one for one in results if one.verdict is not Verdict.NOTHING_TO_EXPLORE]
        if not explored:
            return self._timed(results[0])
        verdict = worst([one.verdict for one in explored])
        shown = next(one for one in explored if one.verdict is verdict)
        shown.executions = sum(one.executions for one in results)
        for one in explored:
            shown.bounds |= one.bounds
        shown.bounds["examples"] = len(results)
        drawn = f"{len(results)} example{'s' * (len(results) != 1)}"
        if self.cut:
            shown.verdict, shown.reason = Verdict.CUT, f"{self.cut} after {drawn}: not a pass"
        elif verdict is Verdict.CUT:
            cut = sum(one.verdict is verdict for one in explored)
            shown.reason = f"{cut} of {drawn} that Hypothesis drew were cut; the first: {shown.reason}"
        else:
            shown.verdict = Verdict.PASSED_WITHIN_BOUNDS
            shown.reason = f"every schedule of {drawn} that Hypothesis drew was run: {shown.executions} executions"
        shown.exhaustive = False
        return self._timed(shown)

    def _timed(self, result: Result) -> Result:
        result.seconds = time.perf_counter() - self.started
        return result


def _described(arguments: dict[str, Any]) -> str:
    shown = ", ".join(f"{name}={_represented(value)}" for name, value in arguments.items())
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _represented(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0]
