"""Tools of the standard library and of the system: mocks, flags of descriptors, ctypes, tables of modules."""

from concurrent.futures import ThreadPoolExecutor
import contextlib
import ctypes
import difflib
import faulthandler
import filecmp
import functools
import gettext
import io
import os
import pathlib
import select
import shutil
import socket
import string
import struct
import sys
import tempfile
import tokenize
import unittest.mock as mock
import urllib.request

from treadle import parallel as par

from .truth import fails, holds


def seen(write, read, good):
    got = []
    par(write, lambda: got.append(read()))
    assert got[0] in good


@fails
def mock_patch_overlaps():
    class Box:
        n = 0

    def use(value):
        with mock.patch.object(Box, "n", value):
            pass

    par(lambda: use(1), lambda: use(2))
    assert Box.n == 0


@fails
def mock_return_value_changed():
    m = mock.Mock(return_value=1)

    def visit():
        m.return_value = 2
        m.return_value = 1

    seen(visit, lambda: m(), [1])


@fails
def difflib_matcher_shared():
    matcher = difflib.SequenceMatcher(None, "abc", "abc")

    def use(text, expected):
        matcher.set_seq1(text)
        assert (matcher.ratio() == 1.0) == expected

    par(lambda: use("abc", True), lambda: use("xyz", False))


@fails
def faulthandler_for_a_while():
    was = faulthandler.is_enabled()
    faulthandler.disable()

    def use():
        before = faulthandler.is_enabled()
        faulthandler.enable(sys.__stderr__)
        if not before:
            faulthandler.disable()

    try:
        par(use, use)
        assert not faulthandler.is_enabled()
    finally:
        (faulthandler.enable if was else faulthandler.disable)()


@fails
def inheritable_flag():
    r, w = os.pipe()

    def use():
        before = os.get_inheritable(r)
        os.set_inheritable(r, True)
        os.set_inheritable(r, before)

    try:
        par(use, use)
        assert not os.get_inheritable(r)
    finally:
        os.close(r)
        os.close(w)


@fails
def poll_object():
    a, b = socket.socketpair()
    p = select.poll()
    p.register(a, select.POLLOUT)
    try:
        seen(lambda: (p.modify(a, 0), p.modify(a, select.POLLOUT)), lambda: len(p.poll(0)), [1])
    finally:
        a.close()
        b.close()


@fails
def text_domain():
    old = gettext.textdomain()

    def use(name):
        gettext.textdomain(name)
        assert gettext.textdomain() == name

    try:
        par(lambda: use("aa"), lambda: use("bb"))
    finally:
        gettext.textdomain(old)


@fails
def tokenizer_shared():
    tokens = tokenize.generate_tokens(io.StringIO("a b").readline)
    got = []
    par(lambda: got.append(next(tokens).string), lambda: next(tokens))
    assert got == ["a"]


@fails
def opener_installed():
    old = urllib.request._opener
    a, b = urllib.request.OpenerDirector(), urllib.request.OpenerDirector()

    def use(opener):
        urllib.request.install_opener(opener)
        assert urllib.request._opener is opener

    try:
        par(lambda: use(a), lambda: use(b))
    finally:
        urllib.request.install_opener(old)


@fails
def archive_formats():
    def use():
        if "attack" not in [name for name, _ in shutil.get_archive_formats()]:
            shutil.register_archive_format("attack", print)
            added.append(1)

    added = []
    try:
        par(use, use)
        assert added == [1]
    finally:
        with contextlib.suppress(KeyError):
            shutil.unregister_archive_format("attack")


@fails
def ctypes_qsort_compares():
    count = {"n": 0}

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    def compare(a, b):
        count["n"] = count["n"] + 1
        return a[0] - b[0]

    libc = ctypes.CDLL(None)

    def sort():
        numbers = (ctypes.c_int * 2)(2, 1)
        libc.qsort(numbers, 2, ctypes.sizeof(ctypes.c_int), compare)

    par(sort, sort)
    assert count["n"] == 2


@fails
def bytearray_under_ctypes_written_by_item():
    data = bytearray(1)
    n = (ctypes.c_uint8 * 1).from_buffer(data)

    def add():
        data[0] = n[0] + 1

    par(add, add)
    assert n[0] == 2


@fails
def default_of_lambda_is_shared():
    go = lambda box=[0]: box.__setitem__(0, box[0] + 1) or box  # noqa: E731, B006
    par(go, go)
    assert go.__defaults__[0] == [2]


@fails
def cached_bound_method():
    class Box:
        def __init__(self):
            self.n = 0

        @functools.lru_cache(maxsize=1)  # noqa: B019
        def get(self, key):
            self.n += 1
            return self.n

    box = Box()
    got = []
    par(lambda: got.append((box.get(1), box.get(1))), lambda: box.get(2))
    assert got[0][0] == got[0][1]


@fails
def ring_buffer_of_struct():
    buffer = memoryview(bytearray(8))
    head = struct.Struct("<I")

    def add():
        (n,) = head.unpack_from(buffer, 4)
        head.pack_into(buffer, 4, n + 1)

    par(add, add)
    assert head.unpack_from(buffer, 4) == (2,)


@fails
def recv_into_shared_buffer():
    a, b = socket.socketpair()
    c, d = socket.socketpair()
    buffer = bytearray(1)
    a.send(b"1")
    c.send(b"2")
    got = []

    def read(s, expected):
        s.recv_into(buffer)
        got.append(bytes(buffer) == expected)

    try:
        par(lambda: read(b, b"1"), lambda: read(d, b"2"))
        assert all(got)
    finally:
        for s in (a, b, c, d):
            s.close()


@fails
def readinto_shared_buffer():
    buffer = bytearray(1)
    got = []

    def read(data):
        io.BytesIO(data).readinto(buffer)
        got.append(bytes(buffer) == data)

    par(lambda: read(b"1"), lambda: read(b"2"))
    assert all(got)


@fails
def pool_map_consumes_shared_iterator():
    source = iter([1, 2])
    got = []
    with ThreadPoolExecutor(2) as pool:
        other = pool.submit(next, source)
        got.extend(pool.map(abs, source))
        other.result()
    assert got == [2]


@fails
def path_rename_read():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x"
        other = pathlib.Path(folder) / "y"
        path.write_text("a")

        def move():
            path.rename(other)
            other.rename(path)

        par(move, path.read_text)


@fails
def compare_cache():
    with tempfile.TemporaryDirectory() as folder:
        a, b = os.path.join(folder, "a"), os.path.join(folder, "b")
        for path in (a, b):
            pathlib.Path(path).write_text("x")

        def visit():
            pathlib.Path(a).write_text("yy")
            pathlib.Path(a).write_text("x")

        seen(visit, lambda: filecmp.cmp(a, b, shallow=False), [True])


@holds
def ok_own_temporary_folders():
    got = []

    def go():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x"
            path.write_text("1")
            got.append(path.read_text())

    par(go, go)
    assert got == ["1", "1"]


@holds
def ok_open_exclusive():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x")
        got = []

        def make():
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL))
                got.append(1)
            except FileExistsError:
                pass

        par(make, make)
        assert got == [1]
