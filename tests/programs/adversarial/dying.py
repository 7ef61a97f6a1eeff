"""What dies because the last that holds it is gone: a list, a dictionary, an iterator, an exception.

Nobody names the object that dies; its finaliser writes what another thread reads.
"""

import weakref

from treadle import parallel

from .alternating import alternating
from .truth import holds


class Dying:
    def __init__(self, log, number):
        self.log, self.number = log, number

    def __del__(self):
        self.log[0] = self.number


def dying(hold):
    """`hold` is given an object, holds it somehow for a while, and returns."""

    def make():
        log = [0]
        return lambda number: hold(Dying(log, number)), lambda: log[0]

    make.__name__ = make.__qualname__ = f"dying_{hold.__name__}"
    make.__module__ = __name__
    return alternating(make)


@dying
def in_a_list(one):
    held = [one]
    held.append(1)


@dying
def in_a_list_that_is_forgotten(one):
    held = [one]
    del one
    len(held)
    held = None


@dying
def in_a_dictionary(one):
    held = {"one": [one]}
    held["one"].append(1)


@dying
def in_a_list_older_than_a_hundred_others(one):
    held = [one]
    held.append(1)
    others = [[number] for number in range(100)]
    for other in others:
        other.append(1)


@dying
def in_an_enumeration(one):
    for _ in enumerate([one]):
        pass


@dying
def in_an_exception(one):
    try:
        raise ValueError([one])
    except ValueError as error:
        error.args[0].append(1)


@dying
def in_an_attribute(one):
    class Holder:
        pass

    holder = Holder()
    holder.items = [one]
    holder.items.append(1)


@dying
def in_a_sorted_list(one):
    sorted([one], key=lambda one: one.number)


@dying
def in_arguments(one):
    def take(*args, **kwargs):
        return kwargs["one"].number

    take(*[1], **{"one": one})


@alternating
def dying_in_a_list_with_a_finaliser():
    class Plain:
        pass

    log = [0]

    def write(number):
        held = [Plain()]
        weakref.finalize(held[0], log.__setitem__, 0, number)

    return write, lambda: log[0]


@alternating
def finalisers_in_the_order_of_a_stack():
    class Plain:
        pass

    log, plain = [0], [Plain() for _ in range(3)]
    for number, one in enumerate(reversed(plain)):
        weakref.finalize(one, log.__setitem__, 0, number + 1)
    return lambda number: plain.pop() and None, lambda: log[0]


@alternating
def dying_generator_in_a_list():
    log = [0]

    def generate(number):
        try:
            yield
        finally:
            log[0] = number

    def write(number):
        held = [generate(number)]
        next(held[0])

    return write, lambda: log[0]


@holds
def what_is_gone_is_gone_before_the_next_line():
    log = [0]
    held = [[Dying(log, 1)]]
    held[0].append(1)
    del held
    assert log == [1]
    parallel(int, int)


@holds
def what_is_gone_is_gone_in_every_thread():
    def dies():
        log = [0]
        for number in (1, 2):
            held = [Dying(log, number)]
            held.append(1)
            del held
            assert log == [number]

    parallel(dies, dies)


@holds
def a_weak_reference_knows_of_it():
    class Plain:
        pass

    held = {"one": Plain()}
    known = weakref.ref(held["one"])
    held = None
    assert known() is None
    parallel(int, int)
