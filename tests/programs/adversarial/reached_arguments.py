"""What methods of the standard library change or read of what they are given, and what they look at besides."""

import argparse
import array
import configparser
import csv
import ctypes
import decimal
import email.generator
import email.message
import io
import optparse
import pickle
import random
import re
import string
import struct
import sys
import typing
import xml.etree.ElementTree as ET
import zoneinfo

from treadle import parallel as par

from .truth import fails, holds


@fails
def namespace_filled():
    space = argparse.Namespace(a=0, b=0)
    parser = argparse.ArgumentParser()
    parser.add_argument("--a", type=int)
    parser.add_argument("--b", type=int)

    def fill(x):
        parser.parse_args(["--a", str(x)], space)
        return space.a

    got = []
    par(lambda: got.append(fill(1) == 1), lambda: got.append(fill(2) == 2))
    assert got == [True, True]


@fails
def option_values_filled():
    parser = optparse.OptionParser()
    parser.add_option("--a", type="int")
    values = parser.get_default_values()

    def fill(x):
        parser.parse_args(["--a", str(x)], values)
        return values.a

    got = []
    par(lambda: got.append(fill(1) == 1), lambda: got.append(fill(2) == 2))
    assert got == [True, True]


@fails
def struct_object_packs():
    data = bytearray(1)
    one = struct.Struct("B")

    def add():
        one.pack_into(data, 0, one.unpack_from(data)[0] + 1)

    par(add, add)
    assert data[0] == 2


@fails
def struct_object_unpacks_iterator():
    data = bytearray(2)
    one = struct.Struct("B")
    got = []

    def write():
        data[0] = 1
        data[1] = 1

    par(write, lambda: got.append(list(one.iter_unpack(data))))
    assert got[0] in ([(0,), (0,)], [(1,), (1,)])


@fails
def pattern_over_bytearray():
    data = bytearray(b"aa")
    pattern = re.compile(b"a+")
    got = []

    def write():
        data[0] = 98
        data[0] = 97

    par(write, lambda: got.append(bool(pattern.fullmatch(data))))
    assert got == [True]


@fails
def config_written_to_shared_file():
    out = io.StringIO()
    a = configparser.ConfigParser()
    a["s"] = {"n": "1"}
    got = []

    def write():
        before = out.tell()
        a.write(out)
        got.append(out.tell() - before)

    par(write, write)
    assert got[0] == got[1]


@fails
def tree_written_to_shared_file():
    out = io.BytesIO()
    tree = ET.ElementTree(ET.Element("a"))
    got = []

    def write():
        before = out.tell()
        tree.write(out)
        got.append(out.tell() - before)

    par(write, write)
    assert got[0] == got[1]


@fails
def decimal_method_with_given_context():
    context = decimal.Context(prec=3)
    got = []
    par(
        lambda: decimal.Decimal(2).sqrt(context=context),
        lambda: got.append(bool(context.flags[decimal.Inexact]) == bool(context.flags[decimal.Inexact])),
    )
    assert got == [True]


@fails
def decimal_divide_twice_by_shared_context():
    context = decimal.Context(prec=5)
    got = []

    def a():
        decimal.setcontext(context)
        got.append(str(decimal.Decimal(1) / 3) == str(decimal.Decimal(1) / 3))

    def b():
        context.prec = 9

    par(a, b)
    assert got == [True]


@fails
def decimal_sqrt_twice_by_shared_context():
    context = decimal.Context(prec=5)
    got = []

    def a():
        decimal.setcontext(context)
        x = decimal.Decimal(2)
        got.append(str(x.sqrt()) == str(x.sqrt()))

    def b():
        context.prec = 9

    par(a, b)
    assert got == [True]


@fails
def decimal_plus_twice_by_shared_context():
    context = decimal.Context(prec=5)
    got = []

    def a():
        decimal.setcontext(context)
        x = decimal.Decimal("1.23456789")
        first = +x
        second = +x
        got.append(first == second)

    def b():
        context.prec = 3

    par(a, b)
    assert got == [True]


@fails
def decimal_sum_twice_by_shared_context():
    context = decimal.Context(prec=3)
    xs = [decimal.Decimal("1.23"), decimal.Decimal("0.001")]
    got = []

    def a():
        decimal.setcontext(context)
        first = sum(xs)
        second = sum(xs)
        got.append(first == second)

    def b():
        context.prec = 9

    par(a, b)
    assert got == [True]


@fails
def zone_cache_twice():
    got = []

    def ask():
        first = zoneinfo.ZoneInfo("UTC")
        second = zoneinfo.ZoneInfo("UTC")
        got.append(first is second)

    par(ask, zoneinfo.ZoneInfo.clear_cache)
    assert got == [True]


@fails
def protocol_asked_twice():
    @typing.runtime_checkable
    class Named(typing.Protocol):
        name: str

    class Thing:
        pass

    thing = Thing()
    got = []

    def ask():
        first = isinstance(thing, Named)
        second = isinstance(thing, Named)
        got.append(first == second)

    def name():
        thing.name = "x"

    par(ask, name)
    assert got == [True]


@fails
def string_at_twice():
    data = ctypes.create_string_buffer(b"a")
    pointer = ctypes.cast(data, ctypes.c_void_p).value
    got = []

    def ask():
        first = ctypes.string_at(pointer, 1)
        second = ctypes.string_at(pointer, 1)
        got.append(first == second)

    def write():
        data[0] = b"b"

    par(ask, write)
    assert got == [True]


@fails
def from_buffer_torn():
    data = bytearray(4)
    n = ctypes.c_uint32.from_buffer(data)
    got = []

    def write():
        n.value = 0x01010101

    par(write, lambda: got.append((data[0], data[3])))
    assert got[0] in ((0, 0), (1, 1))


@fails
def message_written_to_shared_file():
    out = io.StringIO()
    message = email.message.EmailMessage()
    message["A"] = "b"
    got = []

    def write():
        before = out.tell()
        email.generator.Generator(out).flatten(message)
        got.append(out.tell() - before)

    par(write, write)
    assert got[0] == got[1]


@fails
def csv_writer_shared_file():
    out = io.StringIO()
    got = []

    def write():
        before = out.tell()
        csv.writer(out).writerow([1, 2])
        got.append(out.tell() - before)

    par(write, write)
    assert got[0] == got[1]


@fails
def pickler_to_shared_file():
    out = io.BytesIO()
    got = []

    def write():
        before = out.tell()
        pickle.Pickler(out).dump(1)
        got.append(out.tell() - before)

    par(write, write)
    assert got[0] == got[1]


@fails
def array_from_file():
    source = io.BytesIO(b"ab")
    a, b = array.array("b"), array.array("b")
    par(lambda: a.frombytes(source.read(1)), lambda: b.frombytes(source.read(1)))
    assert a.tobytes() == b"a"


@fails
def input_by_two():
    old = sys.stdin
    sys.stdin = io.StringIO("a\nb\n")
    got = []
    try:
        par(lambda: got.append((input(), 1)), lambda: got.append((input(), 2)))
        assert ("a", 1) in got
    finally:
        sys.stdin = old


@fails
def long_number_twice():
    old = sys.get_int_max_str_digits()
    text = "9" * 1000

    def change():
        sys.set_int_max_str_digits(700)

    got = []

    def ask():
        for _ in range(2):
            try:
                got.append(int(text) > 0)
            except ValueError:
                got.append(None)

    try:
        par(change, ask)
        assert got[0] == got[1]
    finally:
        sys.set_int_max_str_digits(old)


@fails
def class_attribute_read_by_library_method():
    class Mine(string.Formatter):
        word = "a"

        def get_value(self, key, args, kwargs):
            return self.word

    got = []

    def change():
        Mine.word = "b"

    par(change, lambda: got.append(Mine().format("{0}{1}")))
    assert got[0] in ("aa", "bb")


@holds
def ok_struct_object_reads():
    data = bytearray(b"ab")
    one = struct.Struct("B")
    got = []
    par(lambda: got.append(one.unpack_from(data)), lambda: got.append(one.unpack_from(data, 1)))
    assert len(got) == 2


@holds
def ok_parsers_with_their_own_spaces():
    parser = argparse.ArgumentParser()
    parser.add_argument("--a", type=int)
    got = []
    par(lambda: got.append(parser.parse_args(["--a", "1"]).a), lambda: got.append(parser.parse_args(["--a", "2"]).a))
    assert sorted(got) == [1, 2]


@holds
def ok_decimal_by_contexts_of_their_own():
    got = []

    def go():
        x = decimal.Decimal(2)
        got.append((x.sqrt() + x / 3) * 2 == (x.sqrt() + x / 3) * 2)

    par(go, go)
    assert got == [True, True]


@holds
def ok_random_objects_of_their_own():
    got = []

    def go():
        rng = random.Random(1)
        got.append([rng.random(), rng.randint(0, 9)])

    par(go, go)
    assert got[0] == got[1]


@fails
def decimal_flags_kept_beside_their_context():
    context = decimal.Context(prec=3, traps=[])
    flags = context.flags
    got = []

    def look():
        got.append(bool(flags[decimal.Inexact]) == bool(flags[decimal.Inexact]))

    par(lambda: context.divide(decimal.Decimal(1), decimal.Decimal(3)), look)
    assert got == [True]
