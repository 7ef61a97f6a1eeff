"""Small programs with a known truth: FAILS has a failing schedule, PASSES has none."""

FAILS = []
PASSES = []


def fails(function):
    FAILS.append(function)
    return function


def passes(function):
    PASSES.append(function)
    return function
