"""A library that is not rewritten: its classes note who has asked, its functions keep state where they like.

In the order in which the threads are started nothing fails.
"""

import operator
import sys
import types

from treadle import parallel

from .corners import reads_before
from .truth import fails

SOURCE = '''
import contextlib
import functools

count = 0
seen = []


class Cache(dict):
    """Notes what was asked for, as a cache that forgets the oldest does."""

    def __init__(self, *args):
        super().__init__(*args)
        self.asked = []

    def __getitem__(self, key):
        self.asked.append(key)
        return super().__getitem__(key)

    def get(self, key):
        self.asked.append(key)
        return super().get(key)

    def __contains__(self, key):
        self.asked.append(key)
        return super().__contains__(key)

    def __iter__(self):
        self.asked.append("iter")
        return super().__iter__()

    def __len__(self):
        self.asked.append("len")
        return super().__len__()

    def __setitem__(self, key, value):
        super().__setitem__(key, value)

    def __delitem__(self, key):
        super().__delitem__(key)


class Thing:
    total = 0
    all = []

    def __init__(self):
        self.log = []

    def __getattr__(self, name):
        if name.startswith("made_up"):
            self.log.append(name)
            return len(self.log)
        raise AttributeError(name)

    @property
    def asked(self):
        self.log.append("asked")
        return len(self.log)

    @classmethod
    def bump(cls):
        cls.total = cls.total + 1
        return cls.total

    @staticmethod
    def keep(value):
        Thing.all.append(value)


class Counting:
    def __init__(self):
        self.reads = 0

    def __get__(self, obj, kind):
        self.reads += 1
        return self.reads


class Counted:
    number = Counting()


def bump():
    global count
    count += 1
    return count


def note(value):
    seen.append(value)


def numbers(log):
    log.append(1)
    yield 1
    log.append(2)
    yield 2


@contextlib.contextmanager
def noted(log):
    log.append("in")
    yield
    log.append("out")


def remembered(function):
    kept = {}

    @functools.wraps(function)
    def call(value):
        if value not in kept:
            kept[value] = function(value)
        return kept[value]

    call.kept = kept
    return call
'''


def library():
    """Made anew in every execution: what others keep is not put back."""
    made = types.ModuleType("a_strange_library")
    sys.modules[made.__name__] = made
    exec(compile(SOURCE, "a_strange_library.py", "exec"), vars(made))
    return made


def cache():
    return library().Cache({"a": 1, "b": 2})


def asked_in_turn(first, second):
    """The second thread's question is noted first in some order only."""
    kept = cache()
    parallel(lambda: first(kept), lambda: second(kept))
    assert kept.asked[0] == "a"


@fails
def cache_items():
    asked_in_turn(lambda kept: kept["a"], lambda kept: kept["b"])


@fails
def cache_gets():
    asked_in_turn(lambda kept: kept.get("a"), lambda kept: kept.get("b"))


@fails
def cache_inside():
    asked_in_turn(lambda kept: "a" in kept, lambda kept: "b" in kept)


@fails
def cache_gone_through():
    asked_in_turn(lambda kept: kept["a"], lambda kept: [key for key in kept])


@fails
def cache_counted():
    asked_in_turn(lambda kept: kept["a"], lambda kept: 1 if kept else 0)


@fails
def cache_set():
    kept = cache()
    reads_before(lambda: operator.setitem(kept, "a", 5), lambda: kept["a"], 1)


@fails
def cache_deleted():
    kept = cache()
    reads_before(lambda: operator.delitem(kept, "a"), lambda: "a" in kept, True)


@fails
def attribute_made_up():
    thing = library().Thing()
    assert parallel(lambda: thing.made_up_a, lambda: thing.made_up_b) == [1, 2]


@fails
def property_that_notes():
    thing = library().Thing()
    assert parallel(lambda: thing.asked, lambda: thing.asked) == [1, 2]


@fails
def descriptor_that_counts():
    counted = library().Counted()
    assert parallel(lambda: counted.number, lambda: counted.number) == [1, 2]


@fails
def class_method_twice():
    thing = library().Thing
    assert parallel(lambda: thing.bump(), lambda: thing.bump()) == [1, 2]


@fails
def class_method_and_look():
    thing = library().Thing
    reads_before(lambda: thing.bump(), lambda: thing.total, 0)


@fails
def class_method_and_look_at_an_instance():
    thing = library().Thing()
    reads_before(lambda: thing.bump(), lambda: thing.total, 0)


@fails
def list_of_a_class():
    thing = library().Thing
    reads_before(lambda: thing.keep(1), lambda: len(thing.all), 0)


@fails
def variable_of_a_module():
    made = library()
    reads_before(lambda: made.bump(), lambda: made.count, 0)


@fails
def variable_set_from_here():
    made = library()
    reads_before(lambda: setattr(made, "count", 5), lambda: made.bump(), 1)


@fails
def list_of_a_module():
    made = library()
    reads_before(lambda: made.note(1), lambda: len(made.seen), 0)


@fails
def generator_that_notes():
    log = []
    numbers = library().numbers(log)
    reads_before(lambda: next(numbers), lambda: len(log), 0)


@fails
def loop_over_a_generator_that_notes():
    log = []
    numbers = library().numbers(log)
    reads_before(lambda: [number for number in numbers], lambda: len(log), 0)


@fails
def managers_nested():
    log = []
    noted = library().noted

    def work():
        with noted(log):
            pass

    parallel(work, work)
    assert log == ["in", "out", "in", "out"]


@fails
def function_with_a_memory():
    square = library().remembered(lambda value: value * value)
    reads_before(lambda: square(3), lambda: len(square.kept), 0)
