"""Arguments of other classes that have been used: an object brought into a state by its own methods.

A fresh basket is empty, and what a class does with an empty one is often nothing. So beside fresh objects the pools
hold a few that went through one or two calls of their own class, found by running them: each is in a state of its own.
The value is a function that makes it anew, which a written test holds as well.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

from treadle.classes.calls import MethodCall, Value
from treadle.classes.records import Sequence
from treadle.classes.stage import Stage
from treadle.classes.subject import SubjectMethod, examine
from treadle.core.errors import TreadleError

_NOTHING = MethodCall("nothing", "None and {sout}")
# Methods that wait for somebody, or end the object's life.
_NOT_CALLED = re.compile(r"^(get|wait|join|acquire|close|shutdown|stop|kill|run|start|serve)|_(get|wait|join)$")
# Objects in other states, for one class; calls tried per method; calls in a row.
_MOST = 3
_MOST_CALLS = 3
_MOST_TRIALS = 40
_LONGEST = 2


@dataclass
class Grower:
    """Finds states of objects of other classes, on the stage of the subject."""

    stage: Stage

    def values(self, cls: type, fresh: Value, calls: Callable[[SubjectMethod], Iterator[MethodCall]]) -> list[Value]:
        """The object after some of its own methods, one value for each new state."""
        if self.stage.subject.is_module:
            return []
        root = MethodCall("constructor", fresh.source, needs=fresh.needs)
        setup, self.stage.setup = self.stage.setup, None
        try:
            return self._found(cls, root, calls)
        except TreadleError:
            return []  # it blocks, or cannot be run here: fresh objects have to do
        finally:
            self.stage.setup = setup

    def _found(
        self, cls: type, root: MethodCall, calls: Callable[[SubjectMethod], Iterator[MethodCall]]
    ) -> list[Value]:
        methods = [
            method
            for method in examine(f"{cls.__module__}:{cls.__qualname__}", cls).methods
            if method.form.startswith("{sout}") and not _NOT_CALLED.search(method.name)
        ]
        steps = [call for method in methods for call in itertools.islice(calls(method), _MOST_CALLS)]
        first = self.stage.run_sequence(root, (_NOTHING,))
        if not first.calls or first.strands > 1:
            return []
        seen: set[Hashable] = {first.calls[0].state}
        found: list[tuple[MethodCall, ...]] = []
        ways: list[tuple[MethodCall, ...]] = [()]
        trials = 0
        for _ in range(_LONGEST):
            longer: list[tuple[MethodCall, ...]] = []
            for way, call in itertools.product(ways, steps):
                trials += 1
                if trials > _MOST_TRIALS or len(found) >= _MOST:
                    break
                made = self.stage.run_sequence(root, (*way, call))
                if _is_new(made, len(way) + 1, seen):
                    seen.add(made.calls[-1].state)
                    longer.append((*way, call))
                    if not any(call.method == other[-1].method for other in found):
                        found.append((*way, call))  # another method says more than the same one with other values
            ways = longer
        return [_value(cls, root, way) for way in found]


def _is_new(made: Sequence, length: int, seen: set[Hashable]) -> bool:
    if made.ending or made.strands > 1 or len(made.calls) != length:
        return False
    last = made.calls[-1]
    return last.happened[0] == "returned" and last.state not in seen


def _value(cls: type, root: MethodCall, way: tuple[MethodCall, ...]) -> Value:
    """A function that makes the object, and a call of it."""
    word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
    did = "_".join(re.sub(r"\W+", "_", call.form.partition("(")[0].replace("{sout}", "")).strip("_") for call in way)
    name = f"{word}_after_{did or 'use'}"
    lines = [f"def {name}():", f"    {word} = {root.source()}", *(f"    {call.source(word)}" for call in way)]
    needs = [*root.needs, *(line for call in way for line in call.lines())]
    return Value(f"{name}()", (*dict.fromkeys(needs), "\n".join([*lines, f"    return {word}"])))
