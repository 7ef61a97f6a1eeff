"""Saying what code does that Treadle cannot follow: `treadle_stubs.py` beside a project.

    from treadle.stubs import case

    @case("fastmath.isqrt", when=lambda n: n < 0)
    def negative(n):
        raise ValueError("isqrt() of a negative number")

    @case("fastmath.isqrt", when=lambda n: n == 0 or n == 1)
    def itself(n):
        return n

Each function is one case of the summary of the compiled function that it names. `when` is its guard, a function of
some of the parameters, by name; without one the case always holds. The cases are tried in the order in which they are
written, and the first whose guard holds is the one: guards and bodies are ordinary Python, followed with unknown
values like the program itself. Nothing here runs when the program runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Case:
    """One guarded function, and the function it stands for."""

    target: Any
    function: Callable[..., Any]
    when: Callable[..., Any] | None


# the cases of the stub file that is being read
_written: list[Case] = []


def case(target: str, *, when: Callable[..., Any] | None = None) -> Callable[[F], F]:
    """A case of the function `target`, named with its module as in "package.module.function"."""

    def keep(function: F) -> F:
        _written.append(Case(target, function, when))
        return function

    return keep


__all__ = ["case"]
