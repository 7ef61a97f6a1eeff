"""Two threads that meet where nobody looks: in what a module of the standard library keeps, in a class that derives from
a built-in one, under a name that is bound nowhere.

In the order in which the threads are started nothing fails: the reader comes first.
"""

import builtins
import calendar
import collections
import datetime
import decimal
import fractions
import functools
import http.cookies
import linecache
import logging
import mimetypes
import sys
import threading
import typing
import xml.etree.ElementTree

from treadle import parallel

from . import met_elsewhere
from .corners import reads_before
from .truth import fails, holds


def setter(obj, key, value):
    def write():
        obj[key] = value

    return write


@fails
def cookie_of_a_jar():
    jar = http.cookies.SimpleCookie(n="0")
    reads_before(setter(jar, "n", "1"), lambda: jar["n"].value, "0")


@fails
def cookie_counted():
    jar = http.cookies.SimpleCookie(n="0")

    def add():
        jar["n"] = str(int(jar["n"].value) + 1)

    parallel(add, add)
    assert jar["n"].value == "2"


@fails
def counter_loses_a_key():
    counter = collections.Counter(a=1)

    def forget():
        del counter["a"]

    reads_before(forget, lambda: counter["a"], 1)


@fails
def line_of_a_cached_file():
    linecache.cache["nowhere"] = (1, None, ["first\n"], "nowhere")
    try:
        reads_before(lambda: linecache.cache.pop("nowhere", None), lambda: linecache.getline("nowhere", 1), "first\n")
    finally:
        linecache.cache.pop("nowhere", None)


@fails
def cache_of_lines_is_cleared():
    linecache.cache["nowhere"] = (1, None, ["first\n"], "nowhere")
    try:
        reads_before(linecache.clearcache, lambda: "nowhere" in linecache.cache, True)
    finally:
        linecache.cache.pop("nowhere", None)


@fails
def types_of_files():
    mimetypes.init()
    try:
        reads_before(
            setter(mimetypes.types_map, ".odd", "odd/kind"), lambda: mimetypes.guess_type("a.odd"), (None, None)
        )
    finally:
        mimetypes.types_map.pop(".odd", None)


@fails
def first_day_of_the_week():
    try:
        reads_before(lambda: calendar.setfirstweekday(6), calendar.firstweekday, 0)
    finally:
        calendar.setfirstweekday(0)


@holds
def days_of_a_month():
    parallel(lambda: calendar.monthrange(2024, 2), lambda: calendar.isleap(2024))


@fails
def prefix_of_a_namespace():
    spaces = xml.etree.ElementTree._namespace_map
    element = xml.etree.ElementTree.Element("{urn:odd}a")
    try:
        reads_before(
            lambda: xml.etree.ElementTree.register_namespace("odd", "urn:odd"),
            lambda: xml.etree.ElementTree.tostring(element),
            b'<ns0:a xmlns:ns0="urn:odd" />',
        )
    finally:
        spaces.pop("urn:odd", None)


@fails
def level_that_is_named():
    try:
        reads_before(lambda: logging.addLevelName(77, "ODD"), lambda: logging.getLevelName(77), "Level 77")
    finally:
        logging._levelToName.pop(77, None)
        logging._nameToLevel.pop("ODD", None)


def _shown():
    @functools.singledispatch
    def show(value):
        return "anything"

    return show


@fails
def dispatch_registered():
    show = _shown()
    reads_before(lambda: show.register(int, lambda value: "number"), lambda: show(1), "anything")


@fails
def dispatch_asked_for_its_registry():
    show = _shown()
    reads_before(lambda: show.register(int, lambda value: "number"), lambda: int in show.registry, False)


@holds
def dispatch_only_used():
    show = _shown()
    show.register(int, lambda value: "number")
    assert parallel(lambda: show(1), lambda: show("a")) == ["number", "anything"]


@fails
def variable_that_goes():
    globals()["passing"] = 1

    def go():
        del globals()["passing"]

    parallel(lambda: passing, go)  # noqa: F821


@fails
def variable_that_comes():
    globals().pop("coming", None)

    def ask():
        try:
            return coming  # noqa: F821
        except NameError:
            return None

    reads_before(setter(globals(), "coming", 1), ask, None)


@fails
def builtin_that_comes():
    def come():
        builtins.odd_builtin = 1

    def ask():
        try:
            return odd_builtin  # noqa: F821
        except NameError:
            return None

    try:
        reads_before(come, ask, None)
    finally:
        vars(builtins).pop("odd_builtin", None)


def _elsewhere(name):
    value = getattr(met_elsewhere, name)
    reads_before(lambda: setattr(met_elsewhere, name, "new"), lambda: met_elsewhere.ask(name), value)


@fails
def bound_by_unpacking():
    _elsewhere("left")


@fails
def bound_by_a_loop():
    _elsewhere("last")


@fails
def bound_by_a_walrus():
    _elsewhere("found")


class Zone(datetime.tzinfo):
    hours = 0

    def utcoffset(self, moment):
        return datetime.timedelta(hours=self.hours)

    def dst(self, moment):
        return None


@fails
def zone_that_moves():
    zone = Zone()
    moment = datetime.datetime(2020, 1, 1, tzinfo=zone)
    reads_before(lambda: setattr(zone, "hours", 1), moment.isoformat, "2020-01-01T00:00:00+00:00")


class Moment(datetime.datetime):
    mark = 0

    @property
    def shown(self):
        return self.mark


@fails
def moment_with_a_mark():
    moment = Moment(2020, 1, 1)
    reads_before(lambda: setattr(moment, "mark", 1), lambda: moment.shown, 0)


class Price(decimal.Decimal):
    pass


@fails
def price_with_a_count():
    price = Price(3)
    price.asked = 0

    def ask():
        price.asked += 1

    parallel(ask, ask)
    assert price.asked == 2


class Share(fractions.Fraction):
    __slots__ = ("owner",)


@fails
def share_with_an_owner():
    share = Share(1, 2)
    share.owner = "a"
    reads_before(lambda: setattr(share, "owner", "b"), lambda: share.owner, "a")


@fails
def annotations_of_a_class():
    class Record:
        number: int

    reads_before(setter(Record.__annotations__, "text", str), lambda: len(typing.get_type_hints(Record)), 1)


class Numbered(threading.local):
    def __init__(self, log, *, step=1):
        self.number = len(log) * step
        log.append(self.number)


@fails
def locals_numbered_in_turn():
    log = []
    local = Numbered(log, step=10)
    assert parallel(lambda: local.number, lambda: local.number) == [10, 20]


@holds
def local_made_in_each_thread():
    log = []
    local = Numbered(log, step=10)
    parallel(lambda: local.number, lambda: local.number)
    assert len(log) == 3
    assert local.number == 0


@fails
def path_of_the_imports():
    before = len(sys.path)
    try:
        reads_before(lambda: sys.path.append("/odd"), lambda: len(sys.path), before)
    finally:
        sys.path[before:] = []
