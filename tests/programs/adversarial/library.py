"""The standard library: state that its modules and objects keep, and the shared objects they are given."""

import argparse
import array
import calendar
import configparser
import contextlib
import contextvars
import csv
import decimal
import fractions
import gc
import graphlib
import hashlib
import io
import json
import logging
import os
import pathlib
import pickle
import random
import re
import reprlib
import socket
import sqlite3
import statistics
import string
import struct
import sys
import tempfile
import types
import unittest.mock
import urllib.parse
import warnings
import xml.etree.ElementTree
import zlib

from treadle import parallel

from .truth import fails, holds


def scratch(name):
    """A file of this process that is not there yet."""
    path = pathlib.Path(tempfile.gettempdir()) / f"treadle-program-{os.getpid()}-{name}"
    path.unlink(missing_ok=True)
    return path


@fails
def string_io_position():
    f = io.StringIO("ab")
    assert parallel(lambda: f.read(1), lambda: f.read(1)) == ["a", "b"]


@fails
def bytes_io_seek_then_read():
    f = io.BytesIO(b"abcd")

    def read_at(i):
        f.seek(i)
        return f.read(1)

    assert parallel(lambda: read_at(0), lambda: read_at(2)) == [b"a", b"c"]


@fails
def bytes_io_buffer_is_a_view():
    f = io.BytesIO(b"a")

    def write():
        f.getbuffer()[0] = 98

    assert parallel(f.getvalue, write)[0] == b"a"


@fails
def print_to_a_shared_file():
    f = io.StringIO()
    parallel(lambda: print("a", end="", file=f), lambda: print("b", end="", file=f))
    assert f.getvalue() == "ab"


@fails
def text_wrapper_buffers():
    raw = io.BytesIO()
    f = io.TextIOWrapper(raw, encoding="ascii")
    f.write("a")
    assert parallel(raw.getvalue, f.flush)[0] == b""


@fails
def csv_rows_interleave():
    f = io.StringIO()
    out = csv.writer(f)

    def write(n):
        out.writerow([n])
        out.writerow([n])

    parallel(lambda: write(1), lambda: write(2))
    assert f.getvalue().split() in (["1", "1", "2", "2"], ["2", "2", "1", "1"])


@fails
def file_in_a_folder_checked_then_made():
    path = scratch("lock")

    def make():
        if not path.exists():
            path.touch(exist_ok=False)

    try:
        parallel(make, make)
    finally:
        path.unlink()


@fails
def file_read_between_two_writes():
    path = scratch("n")
    path.write_text("0")

    def add():
        path.write_text(str(int(path.read_text() or 0) + 1))

    try:
        parallel(add, add)
        assert path.read_text() == "2"
    finally:
        path.unlink()


@fails
def environment_variable():
    os.environ["TREADLE_PROGRAM"] = "0"

    def add():
        os.environ["TREADLE_PROGRAM"] = str(int(os.getenv("TREADLE_PROGRAM")) + 1)

    parallel(add, add)
    assert os.environ.pop("TREADLE_PROGRAM") == "2"


@fails
def recursion_limit_put_back():
    usual = sys.getrecursionlimit()

    def deep():
        sys.setrecursionlimit(usual + 1000)
        sys.setrecursionlimit(usual)

    assert parallel(sys.getrecursionlimit, deep)[0] == usual


@fails
def first_weekday_put_back():
    def sunday():
        calendar.setfirstweekday(6)
        calendar.setfirstweekday(0)

    assert parallel(calendar.firstweekday, sunday)[0] == 0


@fails
def default_socket_timeout():
    def change():
        socket.setdefaulttimeout(5)
        socket.setdefaulttimeout(None)

    assert parallel(socket.getdefaulttimeout, change)[0] is None


@fails
def collector_threshold():
    usual = gc.get_threshold()

    def change():
        gc.set_threshold(9000)
        gc.set_threshold(*usual)

    assert parallel(gc.get_threshold, change)[0] == usual


@fails
def standard_output_redirected():
    kept = sys.stdout

    def capture():
        with contextlib.redirect_stdout(io.StringIO()):
            pass

    assert parallel(lambda: sys.stdout is kept, capture)[0]


@fails
def warnings_filters_saved_and_restored():
    def quiet():
        with warnings.catch_warnings():
            warnings.simplefilter("error", UnicodeWarning)  # nobody else has set this one

    kept = list(warnings.filters)
    assert parallel(lambda: list(warnings.filters) == kept, quiet)[0]


@fails
def modules_table():
    name = "treadle_program_module"
    sys.modules.pop(name, None)

    def put():
        sys.modules[name] = types.ModuleType(name)
        del sys.modules[name]

    assert not parallel(lambda: name in sys.modules, put)[0]


@fails
def import_in_a_thread_finds_a_planted_module():
    name = "treadle_program_planted"
    sys.modules[name] = types.ModuleType(name)

    def load():
        import treadle_program_planted

        return treadle_program_planted

    def remove():
        sys.modules.pop(name)

    parallel(load, remove)


@fails
def random_sequence_is_shared():
    r = random.Random(1)
    expected = random.Random(1).random()
    assert parallel(r.random, r.random)[0] == expected


@fails
def random_state_saved_and_restored():
    r = random.Random(1)

    def draw():
        state = r.getstate()
        x = r.random()
        r.setstate(state)
        return x

    a, b = parallel(draw, draw)
    assert a == b


@fails
def random_shuffle_of_a_shared_list():
    row = [1, 2, 3]

    def reader():
        return sorted([row[0], row[1], row[2]])

    assert parallel(reader, lambda: random.Random(4).shuffle(row))[0] == [1, 2, 3]


@fails
def module_random_is_shared():
    random.seed(3)
    first = random.random()
    random.seed(3)
    assert parallel(random.random, random.random)[0] == first


@fails
def decimal_context_object_shared():
    ctx = decimal.Context(prec=3)

    def change():
        ctx.prec = 1

    assert str(parallel(lambda: ctx.divide(1, 3), change)[0]) == "0.333"


@fails
def decimal_flags_are_shared():
    ctx = decimal.Context(prec=2)
    parallel(ctx.clear_flags, lambda: ctx.divide(1, 3))
    assert ctx.flags[decimal.Inexact]


@fails
def fraction_read_twice():
    box = [fractions.Fraction(1, 2)]

    def write():
        box[0] = fractions.Fraction(3, 4)

    assert parallel(lambda: (box[0].numerator, box[0].denominator), write)[0] in ((1, 2), (3, 4))


@fails
def context_variable_in_a_shared_context():
    var = contextvars.ContextVar("v", default=0)
    ctx = contextvars.copy_context()

    def add():
        var.set(var.get() + 1)

    parallel(lambda: ctx.run(add), lambda: ctx.run(add))
    assert ctx[var] == 2


@fails
def context_entered_twice():
    var = contextvars.ContextVar("v")
    ctx = contextvars.copy_context()
    box = [0]

    def work():
        box[0] += 1
        var.set(box[0])

    parallel(lambda: ctx.run(work), lambda: ctx.run(work))


@fails
def exit_stack_shared():
    log = []
    stack = contextlib.ExitStack()
    stack.callback(log.append, 1)
    assert parallel(lambda: len(log), stack.close)[0] == 0


@fails
def context_manager_object_used_once():
    @contextlib.contextmanager
    def managed():
        yield

    m = managed()

    def use():
        with m:
            pass

    parallel(use, use)


@fails
def logging_level_of_a_logger():
    log = logging.Logger("program")
    log.setLevel(logging.INFO)
    assert parallel(lambda: log.isEnabledFor(logging.INFO), lambda: log.setLevel(logging.ERROR))[0]


@fails
def logging_handler_added_twice():
    log = logging.Logger("program")

    def setup():
        if not log.handlers:
            log.addHandler(logging.NullHandler())

    parallel(setup, setup)
    assert len(log.handlers) == 1


@fails
def logging_records_in_order():
    seen = []

    class Keep(logging.Handler):
        def emit(self, record):
            seen.append(record.getMessage())

    log = logging.Logger("program")
    log.addHandler(Keep())
    parallel(lambda: log.warning("a"), lambda: log.warning("b"))
    assert seen == ["a", "b"]


@fails
def sqlite_check_then_insert():
    db = sqlite3.connect(":memory:", check_same_thread=False)
    db.execute("create table t(n)")

    def insert():
        if db.execute("select count(*) from t").fetchone()[0] == 0:
            db.execute("insert into t values (1)")

    parallel(insert, insert)
    assert db.execute("select count(*) from t").fetchone()[0] == 1


@fails
def sqlite_cursor_shared():
    db = sqlite3.connect(":memory:", check_same_thread=False)
    cursor = db.execute("select 1 union select 2")
    assert parallel(cursor.fetchone, cursor.fetchone) == [(1,), (2,)]


@fails
def json_of_a_shared_tree():
    tree = {"a": {"b": [0]}}
    leaf = tree["a"]["b"]

    def write():
        leaf[0] = 1

    assert parallel(lambda: json.dumps(tree), write)[0] == '{"a": {"b": [0]}}'


@fails
def json_default_hook():
    class Point:
        x = y = 0

    p = Point()

    def write():
        p.x = p.y = 1

    text = parallel(lambda: json.dumps(p, default=lambda o: [o.x, o.y]), write)[0]
    assert text in ("[0, 0]", "[1, 1]")


@fails
def pickle_state_hook():
    class Pair(dict):
        def __reduce__(self):
            return (tuple, ([self["a"], self["b"]],))

    p = Pair(a=0, b=0)

    def write():
        p["a"] = 1
        p["b"] = 1

    assert pickle.loads(parallel(lambda: pickle.dumps(p), write)[0]) in ((0, 0), (1, 1))


@fails
def pickler_memo_is_shared():
    f = io.BytesIO()
    out = pickle.Pickler(f)
    parallel(lambda: out.dump("a"), lambda: out.dump("b"))
    f.seek(0)
    assert pickle.load(f) == "a"


@fails
def regular_expression_callback():
    hits = [0]

    def count(match):
        hits[0] += 1
        return ""

    parallel(lambda: re.sub("a", count, "a"), lambda: re.sub("a", count, "a"))
    assert hits == [2]


@fails
def regular_expression_iterator():
    found = re.finditer("[ab]", "ab")
    assert parallel(lambda: next(found)[0], lambda: next(found)[0]) == ["a", "b"]


@fails
def regular_expression_on_a_bytearray():
    data = bytearray(b"a")

    def write():
        data[0] = 98

    assert parallel(lambda: re.match(b"a", data) is not None, write)[0]


@fails
def template_substitutes_from_a_shared_dict():
    names = {"who": "a"}
    hello = string.Template("$who $who")

    def write():
        names["who"] = "b"

    assert parallel(lambda: hello.substitute(names), write)[0] == "a a"


@fails
def format_map_calls_missing():
    class Names(dict):
        used = 0

        def __missing__(self, key):
            self.used += 1
            return key

    names = Names()
    parallel(lambda: "{a}".format_map(names), lambda: "{b}".format_map(names))
    assert names.used == 2


@fails
def array_element():
    numbers = array.array("i", [0])

    def add():
        numbers[0] += 1

    parallel(add, add)
    assert numbers[0] == 2


@fails
def struct_packs_into_a_shared_buffer():
    b = bytearray(2)
    assert parallel(lambda: struct.unpack("BB", b), lambda: struct.pack_into("BB", b, 0, 1, 2))[0] == (0, 0)


@fails
def hash_object_updated():
    h = hashlib.md5(usedforsecurity=False)
    parallel(lambda: h.update(b"a"), lambda: h.update(b"b"))
    assert h.hexdigest() == hashlib.md5(b"ab", usedforsecurity=False).hexdigest()


@fails
def decompressor_is_a_stream():
    d = zlib.decompressobj()
    data = zlib.compress(b"ab")
    got = parallel(lambda: d.decompress(data[:6]), lambda: d.decompress(data[6:]))
    assert got[0] + got[1] == b"ab"


@fails
def mock_counts_calls():
    m = unittest.mock.Mock()
    assert parallel(lambda: m.call_count, m)[0] == 0


@fails
def mock_side_effect_list():
    m = unittest.mock.Mock(side_effect=[1, 2])
    assert parallel(lambda: m(), lambda: m()) == [1, 2]


@fails
def patched_attribute():
    target = types.SimpleNamespace(n=1)

    def patched():
        with unittest.mock.patch.object(target, "n", 2):
            pass

    assert parallel(lambda: target.n, patched)[0] == 1


@fails
def patched_dict():
    settings = {"a": 1}

    def patched():
        with unittest.mock.patch.dict(settings, a=2):
            pass

    assert parallel(lambda: settings["a"], patched)[0] == 1


@fails
def argument_namespace():
    ns = argparse.Namespace(n=0)

    def add():
        setattr(ns, "n", getattr(ns, "n") + 1)  # noqa: B009, B010

    parallel(add, add)
    assert ns.n == 2


@fails
def config_parser_section():
    c = configparser.ConfigParser()
    c["a"] = {"n": "0"}

    def add():
        c["a"]["n"] = str(int(c["a"]["n"]) + 1)

    parallel(add, add)
    assert c["a"]["n"] == "2"


@fails
def element_tree_grows():
    root = xml.etree.ElementTree.Element("a")

    def add():
        if len(root) == 0:
            xml.etree.ElementTree.SubElement(root, "b")

    parallel(add, add)
    assert len(root) == 1


@fails
def element_attribute():
    e = xml.etree.ElementTree.Element("a", n="0")

    def add():
        e.set("n", str(int(e.get("n")) + 1))

    parallel(add, add)
    assert e.get("n") == "2"


@fails
def topological_sorter_hands_out_work():
    order = graphlib.TopologicalSorter({"b": {"a"}})
    order.prepare()
    assert parallel(order.get_ready, order.get_ready) == [("a",), ()]


@fails
def statistics_of_a_shared_list():
    row = [1, 3]

    def write():
        row[0] = 5

    assert parallel(lambda: statistics.mean(row), write)[0] == 2


@fails
def short_repr_of_a_shared_list():
    row = [1]
    assert parallel(lambda: reprlib.repr(row), lambda: row.append(2))[0] == "[1]"


@fails
def query_from_a_shared_dict():
    query = {"a": 1}

    def write():
        query["a"] = 2

    assert parallel(lambda: urllib.parse.urlencode(query), write)[0] == "a=1"


@holds
def string_io_of_ones_own():
    def write(text):
        f = io.StringIO()
        f.write(text)
        return f.getvalue()

    assert parallel(lambda: write("a"), lambda: write("b")) == ["a", "b"]


@holds
def json_of_constants():
    assert parallel(lambda: json.dumps([1]), lambda: json.loads("[2]")) == ["[1]", [2]]


@holds
def compiled_pattern_shared():
    pattern = re.compile("a+")
    assert parallel(lambda: pattern.match("aa")[0], lambda: pattern.match("b")) == ["aa", None]


@holds
def context_variable_per_thread():
    var = contextvars.ContextVar("v", default=0)

    def add():
        var.set(var.get() + 1)
        return var.get()

    assert parallel(add, add) == [1, 1]


@holds
def decimal_context_per_thread():
    def precise(n):
        decimal.getcontext().prec = n
        return len(str(decimal.Decimal(1) / 3)) - 2

    assert parallel(lambda: precise(3), lambda: precise(5)) == [3, 5]


@holds
def random_of_ones_own():
    a, b = parallel(lambda: random.Random(1).random(), lambda: random.Random(1).random())
    assert a == b


@holds
def struct_of_constants():
    assert parallel(lambda: struct.pack("B", 1), lambda: struct.unpack("B", b"\x02")) == [b"\x01", (2,)]


@holds
def print_keeps_both():
    f = io.StringIO()
    parallel(lambda: f.write("a"), lambda: f.write("b"))
    assert sorted(f.getvalue()) == ["a", "b"]


@holds
def hash_objects_of_ones_own():
    def digest(data):
        return hashlib.sha256(data).hexdigest()

    a, b = parallel(lambda: digest(b"a"), lambda: digest(b"a"))
    assert a == b


@holds
def files_of_ones_own():
    def write(name):
        path = scratch(name)
        path.write_text(name)
        try:
            return path.read_text()
        finally:
            path.unlink()

    assert parallel(lambda: write("a"), lambda: write("b")) == ["a", "b"]


@holds
def sqlite_insert_or_ignore():
    db = sqlite3.connect(":memory:", check_same_thread=False)
    db.execute("create table t(n unique)")

    def insert():
        db.execute("insert or ignore into t values (1)")

    parallel(insert, insert)
    assert db.execute("select count(*) from t").fetchone()[0] == 1


@holds
def element_appended_twice():
    root = xml.etree.ElementTree.Element("a")

    def add():
        root.append(xml.etree.ElementTree.Element("b"))

    parallel(add, add)
    assert len(root) == 2


@fails
def names_of_a_shared_namespace():
    names = {"n": 0}
    parallel(lambda: exec("n = n + 1", names), lambda: exec("n = n + 1", names))
    assert names["n"] == 2


@fails
def compiled_code_over_a_shared_list():
    items = []
    code = compile("items.append(len(items))", "<made>", "exec")
    parallel(lambda: exec(code, {"items": items}), lambda: exec(code, {"items": items}))
    assert items == [0, 1]


@fails
def exit_stack_closed_by_two():
    stack = contextlib.ExitStack()
    stack.callback(int)
    parallel(stack.close, stack.close)
