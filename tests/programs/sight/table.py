"""Small programs with a known truth: FAILS has a failing schedule, PASSES has none."""

FAILS = []
PASSES = []


def fails(function):
    FAILS.append(function)
    return function


def passes(function):
    PASSES.append(function)
    return function


BOUNDED = []
NAMED = {}


def within_bounds(name):
    """Passes, but rests on this call being one step."""

    def add(function):
        BOUNDED.append(function)
        NAMED[function] = name
        return function

    return add
