"""Modules of the standard library that keep something for everybody."""

import argparse
import ast
import csv
import decimal
import email.message
import gc
import importlib
import ipaddress
import logging
import os
import pickle
import random
import re
import sys
import types
import typing
import uuid
import warnings
import xml.etree.ElementTree as ET
import zoneinfo

from treadle import parallel as par

from .truth import fails, holds


def torn(write, read, good):
    got = []
    par(write, lambda: got.append(read()))
    assert got[0] in good


@fails
def decimal_set_as_current_by_both():
    context = decimal.Context(prec=5)
    got = []

    def a():
        decimal.setcontext(context)
        decimal.getcontext().prec = 2
        got.append(str(decimal.Decimal(1) / 3) == "0.33")

    def b():
        decimal.setcontext(context)
        decimal.getcontext().prec = 9

    par(a, b)
    assert got == [True]


@fails
def random_shuffle_shared_list():
    items = [1, 2, 3, 4]
    rng = random.Random(7)
    torn(lambda: rng.shuffle(items), lambda: items.index(1), [0])


@fails
def catch_warnings_overlap():
    before = list(warnings.filters)

    def quiet():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.warn("x", stacklevel=1)

    try:
        par(quiet, quiet)
        assert list(warnings.filters) == before
    finally:
        warnings.filters[:] = before


@fails
def int_digits_limit():
    old = sys.get_int_max_str_digits()

    def more():
        sys.set_int_max_str_digits(sys.get_int_max_str_digits() + 10)

    try:
        par(more, more)
        assert sys.get_int_max_str_digits() == old + 20
    finally:
        sys.set_int_max_str_digits(old)


@fails
def sys_excepthook_chained():
    old = sys.excepthook
    calls = []

    def chain(name):
        before = sys.excepthook

        def hook(*args):
            calls.append(name)
            if before is not old:
                before(*args)

        sys.excepthook = hook

    try:
        par(lambda: chain("a"), lambda: chain("b"))
        sys.excepthook(ValueError, ValueError(), None)
        assert sorted(calls) == ["a", "b"]
    finally:
        sys.excepthook = old


@fails
def gc_switched_off_for_a_while():
    was = gc.isenabled()
    gc.enable()

    def quiet():
        before = gc.isenabled()
        gc.disable()
        if before:
            gc.enable()

    try:
        par(quiet, quiet)
        assert gc.isenabled()
    finally:
        (gc.enable if was else gc.disable)()


@fails
def log_record_factory_chained():
    old = logging.getLogRecordFactory()

    def chain(name):
        before = logging.getLogRecordFactory()

        def factory(*args, **kw):
            record = before(*args, **kw)
            setattr(record, name, 1)
            return record

        logging.setLogRecordFactory(factory)

    try:
        par(lambda: chain("aa"), lambda: chain("bb"))
        record = logging.getLogRecordFactory()("n", 10, "p", 1, "m", (), None)
        assert hasattr(record, "aa") and hasattr(record, "bb")
    finally:
        logging.setLogRecordFactory(old)


@fails
def csv_dialect_registered():
    def use():
        if "attack" not in csv.list_dialects():
            csv.register_dialect("attack", delimiter=";")
        csv.get_dialect("attack")

    def drop():
        if "attack" in csv.list_dialects():
            csv.unregister_dialect("attack")

    try:
        par(use, drop)
    finally:
        if "attack" in csv.list_dialects():
            csv.unregister_dialect("attack")


@fails
def argument_namespace_shared():
    space = argparse.Namespace(n=0)

    def add():
        space.n += 1

    par(add, add)
    assert space.n == 2


@fails
def element_child_made_twice():
    root = ET.Element("root")

    def child():
        if root.find("x") is None:
            ET.SubElement(root, "x")

    par(child, child)
    assert len(root) == 1


@fails
def email_header_replaced():
    message = email.message.EmailMessage()
    message["X-N"] = "0"

    def add():
        n = int(message["X-N"])
        message.replace_header("X-N", str(n + 1))

    par(add, add)
    assert message["X-N"] == "2"


@fails
def zone_cache_cleared():
    got = []

    def ask():
        got.append(zoneinfo.ZoneInfo("UTC") is zoneinfo.ZoneInfo("UTC"))

    par(ask, zoneinfo.ZoneInfo.clear_cache)
    assert got == [True]


@fails
def pickle_torn():
    class_ = types.SimpleNamespace
    o = class_(a=0, b=0)

    def write():
        o.a = 1
        o.b = 1

    torn(write, lambda: pickle.loads(pickle.dumps(o)), [class_(a=0, b=0), class_(a=1, b=1)])


@fails
def re_sub_callback_there():
    count = {"n": 0}

    def swap(match):
        count["n"] += 1
        return str(count["n"])

    got = []
    par(lambda: got.append(re.sub("x", swap, "x")), lambda: got.append(re.sub("x", swap, "x")))
    assert sorted(got) == ["1", "2"]


@fails
def ast_visitor_counts():
    tree = ast.parse("x")

    class Names(ast.NodeVisitor):
        n = 0

        def visit_Name(self, node):
            Names.n = Names.n + 1

    par(lambda: Names().visit(tree), lambda: Names().visit(tree))
    assert Names.n == 2


@fails
def patched_function_of_stdlib():
    old = os.path.exists

    def patch():
        before = os.path.exists
        os.path.exists = lambda p: True
        os.path.exists("x")
        os.path.exists = before

    try:
        par(patch, patch)
        assert os.path.exists is old
    finally:
        os.path.exists = old


@fails
def typing_overload_registry():
    class Shape(typing.Protocol):
        n: int

    class Thing:
        pass

    Runtime = typing.runtime_checkable(Shape)
    thing = Thing()
    got = []

    def grow():
        thing.n = 1

    par(grow, lambda: got.append(isinstance(thing, Runtime)))
    assert got == [False]


@fails
def import_module_looks_in_shared_table():
    module = types.ModuleType("attack_late")
    got = []

    def put():
        sys.modules["attack_late"] = module

    def look():
        try:
            got.append(importlib.import_module("attack_late"))
        except ImportError:
            got.append(None)

    try:
        par(put, look)
        assert got == [module]
    finally:
        sys.modules.pop("attack_late", None)


@holds
def ok_addresses_and_uuids():
    got = []
    par(
        lambda: got.append(ipaddress.ip_address("127.0.0.1").is_loopback),
        lambda: got.append(uuid.UUID(int=1) == uuid.UUID(int=1)),
    )
    assert got == [True, True]


@holds
def ok_generic_aliases():
    got = []
    par(lambda: got.append(typing.List[int]), lambda: got.append(typing.List[int]))
    assert got[0] == got[1]


@holds
def ok_random_of_its_own():
    got = []

    def go():
        got.append(random.Random(5).random())

    par(go, go)
    assert got[0] == got[1]
