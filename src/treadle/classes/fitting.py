"""Arguments that fit, found from how others were refused.

A call that raises TypeError, AttributeError or ValueError was given what it does not take, and the line that raised
says what: the parameters that it names get other values, one at a time, and a value with which the call gets further
is kept. Further means: a later line of the method, or of what it calls there.
"""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import treadle
from treadle.classes.calls import Argument, Value
from treadle.observe.parameters import Parameter

# What a call raises that was given something wrong; what an empty object raises (KeyError) is another thing.
WRONG = frozenset({"TypeError", "AttributeError"})
# Calls that are made to find arguments for one method.
_MOST_TRIALS = 60
_OURS = (str(Path(treadle.__file__).parent), "<treadle")
_NO_ATTRIBUTE = re.compile(r"has no attribute '(\w+)'")

# A call with these arguments: what it raises, None where it is accepted. And the values that have an attribute.
Attempt = Callable[[tuple[Argument, ...]], BaseException | None]
Having = Callable[[str], list[Value]]


def fitted(
    parameters: Sequence[Parameter], pools: dict[str, list[Value]], having: Having, attempt: Attempt
) -> dict[str, Value]:
    """Values with which a call is accepted, by the names of its parameters; none where they are not found."""

    def raises(values: dict[str, Value]) -> BaseException | None:
        return attempt(tuple(Argument(values[one.name], one.name if one.by_name else "") for one in parameters))

    chosen = {name: values[0] for name, values in pools.items() if values}
    if not chosen or len(chosen) < len(parameters):
        return {}
    error = raises(chosen)
    trials = 1
    while error is not None:
        better = None
        for name in _blamed(error, list(chosen)):
            missing = _NO_ATTRIBUTE.search(str(error))
            for value in [*(having(missing[1]) if missing else ()), *pools[name]]:
                if trials >= _MOST_TRIALS:
                    return {}
                trials += 1
                other = raises({**chosen, name: value})
                if other is None or _reached(other) > _reached(error):
                    better = (name, value, other)
                    break
            if better is not None:
                break
        if better is None:
            return {}
        chosen[better[0]], error = better[1], better[2]
    return chosen


def _frames(error: BaseException) -> list[tuple[str, int]]:
    """The places of the traceback that are not ours, the method first."""
    places = ((frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__))
    return [place for place in places if not place[0].startswith(_OURS)]


def _reached(error: BaseException) -> list[int]:
    return [line for _, line in _frames(error)]


def _blamed(error: BaseException, names: list[str]) -> list[str]:
    """The parameters that the line which raised names, the method's own line first; all where it names none."""
    frames = _frames(error)
    said = [set(re.findall(r"\w+", linecache.getline(file, line))) for file, line in (*frames[:1], *frames[-1:])]
    found = [name for words in said for name in names if name in words]
    return list(dict.fromkeys(found)) or names
