"""Streams, files, databases, and objects that digest or compress."""

import codecs
import hashlib
import io
import shelve
import socket
import sqlite3
import struct
import tempfile
import threading
import zlib

from treadle import parallel as par

from .truth import fails, holds


def torn(write, read, good):
    got = []
    par(write, lambda: got.append(read()))
    assert got[0] in good


@fails
def string_io_position_there():
    f = io.StringIO("ab")
    got = []

    def first():
        f.seek(0)
        got.append(f.read(1))

    par(first, first)
    assert got == ["a", "a"]


@fails
def bytes_io_closed():
    f = io.BytesIO(b"ab")

    def read():
        if not f.closed:
            f.read()

    par(read, f.close)


@fails
def spooled_file_position():
    f = tempfile.SpooledTemporaryFile(max_size=100, mode="w+b")
    f.write(b"ab")
    got = []

    def first():
        f.seek(0)
        got.append(f.read(1))

    try:
        par(first, first)
        assert got == [b"a", b"a"]
    finally:
        f.close()


@fails
def shelf_over_dict():
    store = {}
    shelf = shelve.Shelf(store)
    shelf["n"] = 0

    def add():
        shelf["n"] += 1

    par(add, add)
    assert shelf["n"] == 2


@fails
def sqlite_total_changes():
    db = sqlite3.connect(":memory:", check_same_thread=False)
    db.execute("create table t(n)")
    got = []

    def insert():
        before = db.total_changes
        db.execute("insert into t values(1)")
        got.append(db.total_changes - before)

    par(insert, insert)
    assert got == [1, 1]


@fails
def hash_of_shared_buffer():
    data = bytearray(2)

    def write():
        data[0] = 1
        data[1] = 1

    torn(write, lambda: hashlib.sha1(data).digest(), [hashlib.sha1(b"\0\0").digest(), hashlib.sha1(b"\1\1").digest()])


@fails
def decompressor_state():
    d = zlib.decompressobj()
    data = zlib.compress(b"hello")
    got = []
    par(lambda: d.decompress(data), lambda: got.append(d.eof))
    assert got == [False]


@fails
def incremental_encoder_state():
    e = codecs.getincrementalencoder("utf-16")()
    got = []
    par(lambda: got.append(e.encode("a")), lambda: e.encode("b"))
    assert got[0].startswith(codecs.BOM_UTF16)


@fails
def codec_error_handler():
    codecs.register_error("attack", lambda e: ("?", e.end))
    got = []

    def change():
        codecs.register_error("attack", lambda e: ("!", e.end))

    par(change, lambda: got.append("é".encode("ascii", "attack") + "é".encode("ascii", "attack")))
    assert got[0] in (b"??", b"!!")


@fails
def struct_pack_into_there():
    data = bytearray(2)

    def put(x):
        struct.pack_into("BB", data, 0, x, struct.unpack_from("B", data, 1)[0] + 1)

    par(lambda: put(1), lambda: put(2))
    assert data[1] == 2


@fails
def socket_default_timeout():
    old = socket.getdefaulttimeout()

    def use():
        before = socket.getdefaulttimeout()
        socket.setdefaulttimeout(3)
        socket.setdefaulttimeout(before)

    try:
        par(use, use)
        assert socket.getdefaulttimeout() == old
    finally:
        socket.setdefaulttimeout(old)


@holds
def ok_string_io_under_lock():
    f = io.StringIO()
    lock = threading.Lock()

    def write(x):
        with lock:
            f.write(x)
            f.write("\n")

    par(lambda: write("a"), lambda: write("b"))
    assert sorted(f.getvalue().split()) == ["a", "b"]


@holds
def ok_socket_pair_one_way():
    a, b = socket.socketpair()
    got = []
    try:
        par(lambda: a.sendall(b"x"), lambda: got.append(b.recv(1)))
        assert got == [b"x"]
    finally:
        a.close()
        b.close()
