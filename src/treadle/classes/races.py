"""One race is one fault: findings that have an unprotected function in common are its effects, the gravest first.

A lock that is missing shows in many ways: an exception here, a lost update there, a wrong answer in a third pair of
methods. `grouped` puts them together, so that a person reads one fault with all its effects.
"""

from __future__ import annotations

from treadle.classes.result import ClassResult, Fault


def one_race_one_fault(result: ClassResult) -> None:
    """Put the findings of a result together. A warning that belongs to the race of a fault is one of its effects."""
    flat = [effect for fault in result.faults for effect in fault.all_effects]
    warned = [effect for warning in result.warnings for effect in warning.all_effects]
    groups = grouped(flat)
    rest: list[Fault] = []
    for warning in warned:
        home = next((group for group in groups if warning.race & races_of(group)), None)
        (rest if home is None else home).append(warning)
    result.faults = [_as_one(group) for group in groups]
    result.warnings = [_as_one(group) for group in grouped(rest)]
    if flat:
        result.reason = reason_of(len(result.faults))


def reason_of(number: int) -> str:
    return f"{number} fault{'s' * (number != 1)}, each with a schedule that was run again"


def grouped(faults: list[Fault]) -> list[list[Fault]]:
    """The findings race by race, in the order in which the races were found."""
    groups: list[list[Fault]] = []
    for fault in faults:
        together = [group for group in groups if fault.race & races_of(group)]
        merged = [one for group in together for one in group] + [fault]
        place = groups.index(together[0]) if together else len(groups)
        groups = [group for group in groups if group not in together]
        groups.insert(place, merged)
    return groups


def races_of(group: list[Fault]) -> frozenset[str]:
    return frozenset().union(*(fault.race for fault in group))


def _as_one(group: list[Fault]) -> Fault:
    """The gravest finding stands for the race; among equals one that a test shows, then the first that was found."""
    lead, *effects = sorted(group, key=lambda one: (one.gravity, not one.test, one.found_after))
    known = {lead.message}
    lead.effects = []
    for effect in effects:
        effect.effects = []
        if effect.message not in known:
            known.add(effect.message)
            lead.effects.append(effect)
    return lead


def told_together(effects: list[Fault]) -> list[tuple[Fault, str]]:
    """The effects with their sentences; what several pairs of calls do in the same lines is told once, with all of them
    before it. The first stands for them."""
    groups: dict[tuple[str, str, tuple[str, ...]], list[Fault]] = {}
    for effect in effects:
        groups.setdefault((effect.kind, effect.what, tuple(effect.locations)), []).append(effect)
    told = []
    for (_, what, _), group in groups.items():
        pairs = ", ".join(dict.fromkeys(one.calls for one in group))
        told.append((group[0], f"{pairs}: {what}"))
    return told
