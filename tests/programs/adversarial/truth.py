"""The two tables of the adversarial programs: those that some schedule breaks, and those that none does.

A program is a function without arguments. What is true of it is known by reasoning about Python, not by exploring it:
every native call that runs no Python code is one step, and between any two steps another thread may run.
"""

FAILS = []
HOLDS = []


def fails(program):
    """Some schedule breaks an assertion, raises, or blocks for ever."""
    FAILS.append(program)
    return program


def holds(program):
    """No schedule does."""
    HOLDS.append(program)
    return program
