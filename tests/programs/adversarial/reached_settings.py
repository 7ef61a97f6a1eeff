"""What functions look at without being given it: streams, folders, limits, handlers, contexts."""

import codecs
import contextvars
import csv
import decimal
import io
import json
import os
import os.path
import pathlib
import random
import shutil
import socket
import string
import sys
import tempfile
import threading
import time
import uuid
import warnings

from treadle import parallel as par

from .truth import fails, holds


def seen(write, read, good):
    """`write` changes and puts back; `read` must not see it."""
    got = []
    par(write, lambda: got.append(read()))
    assert got[0] in good


@fails
def builtin_hidden_by_global():
    def patch():
        globals()["abs"] = lambda x: 7
        del globals()["abs"]

    seen(patch, lambda: abs(-1), [1])


@fails
def print_goes_to_sys_stdout():
    old = sys.stdout
    out = io.StringIO()

    def patch():
        sys.stdout = out
        sys.stdout = old

    try:
        par(patch, lambda: print("", end="x" * 0 + "y" if False else "y"))
        assert out.getvalue() == ""
    finally:
        sys.stdout = old


@fails
def input_reads_sys_stdin():
    old = sys.stdin
    sys.stdin = io.StringIO("main\n")

    def patch():
        sys.stdin = io.StringIO("other\n")

    got = []
    try:
        par(patch, lambda: got.append(input()))
        assert got == ["main"]
    finally:
        sys.stdin = old


@fails
def relative_open_and_chdir():
    old = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "d"))
        os.chdir(folder)

        def visit():
            os.chdir("d")
            os.chdir("..")

        try:
            seen(visit, lambda: os.path.exists("d"), [True])
        finally:
            os.chdir(old)


@fails
def abspath_and_chdir():
    old = os.getcwd()

    def visit():
        os.chdir("/")
        os.chdir(old)

    try:
        seen(visit, lambda: os.path.abspath("x"), [os.path.join(old, "x")])
    finally:
        os.chdir(old)


@fails
def path_cwd_and_chdir():
    old = os.getcwd()

    def visit():
        os.chdir("/")
        os.chdir(old)

    try:
        seen(visit, lambda: str(pathlib.Path("x").absolute()), [os.path.join(old, "x")])
    finally:
        os.chdir(old)


@fails
def path_home():
    old = os.environ.get("HOME")
    os.environ["HOME"] = "/a"

    def visit():
        os.environ["HOME"] = "/b"
        os.environ["HOME"] = "/a"

    try:
        seen(visit, lambda: str(pathlib.Path.home()), ["/a"])
    finally:
        os.environ["HOME"] = old or "/"


@fails
def terminal_size():
    os.environ["COLUMNS"] = "80"

    def visit():
        os.environ["COLUMNS"] = "10"
        os.environ["COLUMNS"] = "80"

    try:
        seen(visit, lambda: shutil.get_terminal_size().columns, [80])
    finally:
        del os.environ["COLUMNS"]


@fails
def zone_of_the_process():
    old = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()

    def visit():
        os.environ["TZ"] = "EST5"
        time.tzset()
        os.environ["TZ"] = "UTC"
        time.tzset()

    try:
        seen(visit, lambda: time.localtime(0).tm_hour, [0])
    finally:
        if old is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = old
        time.tzset()


@fails
def zone_names():
    old = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()

    def visit():
        os.environ["TZ"] = "EST5"
        time.tzset()
        os.environ["TZ"] = "UTC"
        time.tzset()

    try:
        seen(visit, lambda: time.tzname[0], ["UTC"])
    finally:
        if old is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = old
        time.tzset()


@fails
def long_numbers_and_the_limit():
    old = sys.get_int_max_str_digits()

    def visit():
        sys.set_int_max_str_digits(700)
        sys.set_int_max_str_digits(old)

    try:
        par(visit, lambda: int("9" * 1000))
    finally:
        sys.set_int_max_str_digits(old)


@fails
def long_numbers_shown():
    old = sys.get_int_max_str_digits()
    big = 10**1000

    def visit():
        sys.set_int_max_str_digits(700)
        sys.set_int_max_str_digits(old)

    try:
        par(visit, lambda: str(big))
    finally:
        sys.set_int_max_str_digits(old)


@fails
def warning_shown_by_patched_function():
    old = warnings.showwarning
    before = list(warnings.filters)
    warnings.simplefilter("always")
    shown = []

    def spy(*args, **kw):
        shown.append(1)

    warnings.showwarning = spy

    def visit():
        warnings.showwarning = lambda *a, **k: None
        warnings.showwarning = spy

    try:
        par(visit, lambda: warnings.warn("x", stacklevel=1))
        assert shown == [1]
    finally:
        warnings.showwarning = old
        warnings.filters[:] = before


@fails
def json_encoder_class_patched():
    class Encoder(json.JSONEncoder):
        def default(self, o):
            return 0

    def visit():
        old = Encoder.default
        Encoder.default = lambda self, o: 1
        Encoder.default = old

    seen(visit, lambda: json.dumps(object(), cls=Encoder), ["0"])


@fails
def csv_dialect_by_name():
    csv.register_dialect("attack", delimiter=",")

    def visit():
        csv.register_dialect("attack", delimiter=";")
        csv.register_dialect("attack", delimiter=",")

    try:
        seen(visit, lambda: next(csv.reader(["a,b"], "attack")), [["a", "b"]])
    finally:
        csv.unregister_dialect("attack")


@fails
def codec_error_handler_between_two():
    codecs.register_error("attackb", lambda e: ("?", e.end))

    def visit():
        codecs.register_error("attackb", lambda e: ("!", e.end))
        codecs.register_error("attackb", lambda e: ("?", e.end))

    seen(visit, lambda: "é".encode("ascii", "attackb"), [b"?"])


@fails
def codec_error_handler_of_decode():
    codecs.register_error("attackc", lambda e: ("?", e.end))

    def visit():
        codecs.register_error("attackc", lambda e: ("!", e.end))
        codecs.register_error("attackc", lambda e: ("?", e.end))

    seen(visit, lambda: str(b"\xff", "ascii", "attackc"), ["?"])


@fails
def codec_error_handler_of_text_file():
    codecs.register_error("attackd", lambda e: ("?", e.end))

    def visit():
        codecs.register_error("attackd", lambda e: ("!", e.end))
        codecs.register_error("attackd", lambda e: ("?", e.end))

    f = io.TextIOWrapper(io.BytesIO(b"\xff"), encoding="ascii", errors="attackd")
    seen(visit, f.read, ["?"])


@fails
def new_socket_and_default_timeout():
    def visit():
        socket.setdefaulttimeout(3)
        socket.setdefaulttimeout(None)

    def read():
        with socket.socket() as s:
            return s.gettimeout()

    seen(visit, read, [None])


@fails
def random_seed_and_sample():
    random.seed(1)
    expected = random.Random(1).sample(range(100), 2)

    def visit():
        random.seed(2)
        random.seed(1)

    seen(visit, lambda: random.sample(range(100), 2), [expected])


@fails
def argv_read_by_parser():
    import argparse

    old = sys.argv
    sys.argv = ["x", "--n", "1"]

    def visit():
        sys.argv = ["x", "--n", "2"]
        sys.argv = ["x", "--n", "1"]

    def read():
        parser = argparse.ArgumentParser()
        parser.add_argument("--n")
        return parser.parse_args().n

    try:
        seen(visit, read, ["1"])
    finally:
        sys.argv = old


@fails
def decimal_context_in_copied_contexts():
    decimal.setcontext(decimal.Context(prec=5))
    one, two = contextvars.copy_context(), contextvars.copy_context()

    def add():
        context = decimal.getcontext()
        context.prec = context.prec + 1

    par(lambda: one.run(add), lambda: two.run(add))
    assert decimal.getcontext().prec == 7


@fails
def decimal_unary_plus():
    context = decimal.Context(prec=5)
    x = decimal.Decimal("1.23456789")
    got = []

    def visit():
        context.prec = 2
        context.prec = 5

    def plus():
        decimal.setcontext(context)
        got.append(str(+x))

    par(visit, plus)
    assert got == ["1.2346"]


@fails
def decimal_sum():
    context = decimal.Context(prec=3)
    xs = [decimal.Decimal("1.23"), decimal.Decimal("0.001")]
    got = []

    def visit():
        context.prec = 9
        context.prec = 3

    def total():
        decimal.setcontext(context)
        got.append(str(sum(xs)))

    par(visit, total)
    assert got == ["1.23"]


@fails
def thread_profile_function():
    old = threading.getprofile()

    def use():
        before = threading.getprofile()
        threading.setprofile(print)
        threading.setprofile(before)

    try:
        par(use, use)
        assert threading.getprofile() is old
    finally:
        threading.setprofile(old)


@fails
def uuid_getnode_cache():
    old = uuid._node
    uuid._node = 5

    def visit():
        uuid._node = 6
        uuid._node = 5

    try:
        seen(visit, uuid.getnode, [5])
    finally:
        uuid._node = old


@fails
def template_pattern_class():
    class Mine(string.Template):
        idpattern = "[a-z]"

    def visit():
        Mine.pattern, old = string.Template.pattern, Mine.pattern
        Mine.pattern = old

    seen(visit, lambda: Mine("$aa").substitute(a="x", aa="y"), ["xa"])


@holds
def ok_codecs():
    got = []
    par(lambda: got.append("é".encode("ascii", "replace")), lambda: got.append("é".encode("ascii", "replace")))
    assert got == [b"?", b"?"]
