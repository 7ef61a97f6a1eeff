"""Programs that fail only when writes and reads alternate exactly: chance hardly meets that, the search has to see them.

State that the standard library keeps behind its own functions, modules that are loaded again, `super()`.
"""

import csv
import decimal
import functools
import http.cookies
import importlib
import os
import random
import re
import sqlite3
import string
import sys
import xml.etree.ElementTree

from treadle import parallel

from . import loading
from .truth import fails, holds


def alternating(make):
    """`make` gives a writer of a number and a reader; the program fails when each number is read as it was written."""

    @functools.wraps(make)
    def program():
        write, read = make()
        seen = []

        def writer():
            for number in (1, 2, 3):
                write(number)

        def reader():
            for _ in range(3):
                seen.append(read())

        parallel(writer, reader)
        assert seen != [1, 2, 3]

    return fails(program)


@alternating
def cookie_values():
    morsel = http.cookies.Morsel()
    morsel.set("n", "0", "0")
    return lambda number: morsel.set("n", str(number), str(number)), lambda: int(morsel.value)


@alternating
def csv_limits():
    csv.field_size_limit(0)
    return csv.field_size_limit, csv.field_size_limit


@alternating
def csv_dialects():
    csv.register_dialect("alternating", delimiter="0")
    return (
        lambda number: csv.register_dialect("alternating", delimiter=str(number)),
        lambda: int(csv.get_dialect("alternating").delimiter),
    )


@alternating
def rows_made_by_a_connection():
    connection = sqlite3.connect(":memory:", check_same_thread=False)

    def write(number):
        connection.row_factory = lambda cursor, row: number

    return write, lambda: connection.execute("select 0").fetchone()


@alternating
def data_through_super():
    class Base:
        n = 0

    class Heir(Base):
        def get(self):
            return super().n

    return lambda number: setattr(Base, "n", number), Heir().get


@alternating
def a_method_through_super():
    class Base:
        def get(self):
            return 0

    class Heir(Base):
        def get(self):
            return super().get()

    def write(number):
        Base.get = lambda self: number

    return write, Heir().get


@alternating
def a_generator_is_seeded():
    drawn = {random.Random(seed).random(): seed for seed in (1, 2, 3)}
    numbers = random.Random(0)
    return numbers.seed, lambda: drawn.get(numbers.random())


@alternating
def paths_with_variables():
    os.environ["ALTERNATING"] = "0"
    return (
        lambda number: os.environ.update(ALTERNATING=str(number)),
        lambda: int(os.path.expandvars("$ALTERNATING")),
    )


@alternating
def a_template_of_contexts():
    decimal.DefaultContext.prec = 28

    def write(number):
        decimal.DefaultContext.prec = number if number < 3 else 28

    return write, lambda: {28: 3}.get(decimal.Context().prec, decimal.Context().prec)


@fails
def patterns_forgotten():
    seen = []
    re.compile("altern(at)ing")
    parallel(lambda: seen.append(re.compile("altern(at)ing") is re.compile("altern(at)ing")), re.purge)
    assert seen == [True]


@fails
def a_module_loaded_again():
    loading.TIMES["numbers"] = 0
    sys.modules.pop(loading.__name__ + "_numbers", None)
    numbers = importlib.import_module(".loading_numbers", __package__)
    seen = []
    parallel(lambda: seen.append(numbers.NUMBER), lambda: importlib.reload(numbers))
    assert seen == [1]


@holds
def two_load_one_module():
    name = loading.__name__ + "_numbers"
    sys.modules.pop(name, None)
    loading.TIMES["numbers"] = 0
    seen = []

    def load():
        from tests.programs.adversarial.loading_numbers import NUMBER

        seen.append(NUMBER)

    parallel(load, load)
    assert seen == [1, 1]


@holds
def two_load_modules_that_need_each_other():
    for name in ("_left", "_right"):
        sys.modules.pop(loading.__name__ + name, None)
    seen = []

    def left():
        import tests.programs.adversarial.loading_left as module

        seen.append(module.__name__)

    def right():
        import tests.programs.adversarial.loading_right as module

        seen.append(module.__name__)

    parallel(left, right)
    assert len(seen) == 2


@alternating
def number_of_a_kind_of_dictionary():
    class Counting(dict):
        hits = 0

        def __getitem__(self, key):
            return str(self.hits)

    counting = Counting()
    template = string.Template("$hits")
    return lambda number: setattr(counting, "hits", number), lambda: int(template.substitute(counting))


@alternating
def number_of_the_function_of_a_method():
    class Calls:
        def called(self):
            pass

    Calls.called.times = 0
    return lambda number: setattr(Calls.called, "times", number), lambda: Calls().called.times


@alternating
def lists_counted_in_a_tuple():
    pair = ([0],)
    return (
        lambda number: pair[0].__setitem__(0, number),
        lambda: next((number for number in (1, 2, 3) if pair.count([number])), 0),
    )


@alternating
def last_row_of_a_cursor():
    cursor = sqlite3.connect(":memory:", check_same_thread=False).cursor()
    cursor.execute("create table numbers (number)")
    return lambda number: cursor.execute("insert into numbers values (?)", (number,)), lambda: cursor.lastrowid


@alternating
def rows_changed_by_a_connection():
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute("create table numbers (number)")
    return (
        lambda number: connection.execute("insert into numbers values (?)", (number,)),
        lambda: connection.total_changes,
    )


@alternating
def elements_that_a_builder_makes():
    builder = xml.etree.ElementTree.TreeBuilder()
    root = builder.start("root", {})

    def write(number):
        builder.start("child", {})
        builder.end("child")

    return write, lambda: len(root)
