"""Keys with a `__hash__` or `__eq__` of the program: a dictionary or a set asks them first, and then does one thing.

CPython hashes a key before it looks at the container, compares it with what it finds, begins again when the container
was changed meanwhile, and has its effect only behind the last comparison. So here the key is hashed before the point of
the operation; at the point, comparisons that the container would ask for are made beforehand, with the same point again
behind each that others can interrupt; and the native call, which asks once more, is given the answers (`asked`, which
such methods begin with). Each method runs as often as it does without Treadle. A comparison that touches nothing shared
needs no point behind it: what others change meanwhile makes the container begin again, so the call does what it would
do if it had begun after them.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Final

from treadle.core.operation import READ, Operation
from treadle.threads.hooks.points import holding, include, perform
from treadle.threads.names import INERT
from treadle.threads.strands import STATE, Strand
from treadle.threads.unwinding import Asks

# Of an object that was asked, and what it was compared with: the answer.
Answers = dict[tuple[int, ...], tuple[Any, ...]]

_HOOK: Final = "_treadle_asked"
# Methods of dictionaries and sets whose first argument is a key.
KEYED: Final = frozenset(
    {"get", "setdefault", "pop", "add", "discard", "remove", "move_to_end"}
    | {"__getitem__", "__setitem__", "__delitem__", "__contains__"}
)


def asked(*objects: Any) -> tuple[Any, ...]:
    """A `__hash__` or `__eq__` of the program begins: the answer, if it is known, in a tuple."""
    strand = STATE.strand
    if strand is None:
        return ()
    answers = strand.answers
    if answers is None:
        if strand.held and not STATE.coasting:
            strand.callback()
        return ()
    question = tuple(map(id, objects))
    found = answers.get(question, ())
    if found:
        if not STATE.coasting:
            del answers[question]  # it may be asked again, and say something else
        return found[-1:]
    if STATE.coasting:
        raise Asks(*objects)
    strand.answers = None  # nobody foresaw it: it runs inside the native call
    return ()


def hashed(key: Any) -> Answers | None:
    """Hash a key, if the program has code for that."""
    answers: Answers = {}
    _hash(key, answers)
    return answers or None


def _hash(key: Any, answers: Answers) -> None:
    method: Any = type(key).__hash__
    if method is tuple.__hash__:
        for part in key:
            if type(part) not in INERT:
                _hash(part, answers)
    elif _can_be_answered(method):
        answers[id(key),] = key, hash(key)


def include_key(strand: Strand, operations: list[Operation], key: Any) -> None:
    """Add what a container reads of a key while it hashes it by code that is not rewritten, as a dataclass inside a
    function has it."""
    method: Any = type(key).__hash__
    if method is tuple.__hash__:
        for part in key:
            if type(part) not in INERT:
                include_key(strand, operations, part)
    elif type(method) is types.FunctionType and method.__code__.co_names and not _can_be_answered(method):
        include(strand, operations, key, READ)


def _can_be_answered(method: Any) -> bool:
    return type(method) is types.FunctionType and _HOOK in method.__code__.co_names


def keyed(
    treadle_strand: Strand,
    treadle_operations: list[Operation],
    treadle_container: Any,
    treadle_key: Any,
    treadle_answers: Answers | None,
    treadle_called: Callable[..., Any],
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Do what was announced to a container and its key, now that it may be done."""
    strand, operations, container = treadle_strand, treadle_operations, treadle_container
    key, answers, called = treadle_key, treadle_answers, treadle_called
    if answers is None:
        return holding(strand, operations, called, *args, **kwargs)
    execution = strand.execution
    question = _question(strand, container, key, answers) if operations else ()
    while question:
        one, other = question
        equal: Any = type(one).__eq__
        if not _can_be_answered(equal):
            break  # something around it: it runs inside the native call
        step = execution.step
        answers[id(one), id(other)] = one, other, equal(one, other)
        if execution.step != step or execution.constants is not None:  # others came between, or a GIL may be given away
            perform(strand, operations)
        question = _question(strand, container, key, answers)
    before, strand.answers = strand.answers, answers
    try:
        return holding(strand, operations, called, *args, **kwargs)
    finally:
        strand.answers = before


def _question(strand: Strand, container: Any, key: Any, answers: Answers) -> tuple[Any, ...]:
    """What the container would ask first, looking for the key, that has no answer yet. Nothing of the program runs."""
    before, strand.answers = strand.answers, answers
    coasting, STATE.coasting = STATE.coasting, True
    try:
        (dict if isinstance(container, dict) else set).__contains__(container, key)
    except Asks as asks:
        return asks.args
    except Exception:
        pass  # the call itself will tell
    finally:
        strand.answers, STATE.coasting = before, coasting
    return ()
