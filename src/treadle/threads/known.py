"""The table of what calls into code that is not rewritten do: which are harmless, which only read, which change.

Whatever is not listed here may read and change everything it is given, and keeps state in its module. An entry needs a
reason, and the conformance suite must not be able to refute it (`tests/threads_sight/test_conformance.py`): declaring a
writer a reader turns it red.
"""

from __future__ import annotations

import array
import bisect
import calendar
import collections
import copy
import csv
import datetime
import decimal
import faulthandler
import fractions
import functools
import gc
import heapq
import io
import itertools
import json
import logging
import operator
import os
import pathlib
import pickle
import pprint
import re
import string
import struct
import sys
import threading
import types
import typing
import uuid
import weakref
import xml.etree.ElementTree
from typing import Any, Final

# What a function does with its arguments.
PURE: Final = 0  # nothing that another strand could see
LOOKS: Final = 1  # looks at the containers it is given, not into their items; takes from iterators
READS: Final = 2  # looks at everything in its arguments
CHANGES: Final = 3  # may change everything that its arguments lead to
SORTS: Final = 4  # changes its first argument, and compares what is in it
COPIES: Final = 5  # reads all that its arguments lead to, attributes of the program's own objects included

_LOOKING: tuple[Any, ...] = (len, iter, list, tuple, set, frozenset, dict, bytes, bytearray, bool, enumerate, zip, map)
_LOOKING += (filter, reversed, collections.deque, collections.OrderedDict, collections.defaultdict, memoryview)
_LOOKING += (types.MappingProxyType, functools.reduce, operator.length_hint, aiter, anext, array.array, slice, range)
_LOOKING += (object, complex, float, int, type, itertools.tee, types.SimpleNamespace, functools.partial, re.compile)
_LOOKING += tuple(kind for kind in vars(itertools).values() if isinstance(kind, type))
_READING: tuple[Any, ...] = (repr, str, ascii, format, sum, any, all, min, max, sorted, abs, divmod, pow, round, hash)
_COPYING: tuple[Any, ...] = (copy.copy, copy.deepcopy, pickle.dumps, dir)
_READING += (json.dumps, pprint.pformat, bisect.bisect_left, bisect.bisect_right)
_READING += (heapq.nlargest, heapq.nsmallest, decimal.Decimal, fractions.Fraction, collections.Counter)
_READING += (datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone, uuid.UUID)
_READING += (io.StringIO, io.BytesIO, string.Template, struct.pack, struct.unpack, operator.index, operator.truth)
_READING += (operator.itemgetter, operator.attrgetter, operator.methodcaller, chr, hex, bin, oct)
_PURE: tuple[Any, ...] = (isinstance, issubclass, callable, ord, sys._getframe, input, open)
_PURE += (globals, locals, sys.exc_info, compile, exec, eval, __import__, __build_class__, sys.getrefcount, sys.intern)
_PURE += (sys.getsizeof, functools.wraps, functools.update_wrapper, functools.total_ordering)
_PURE += (functools.lru_cache, functools.cache, functools.cached_property, functools.singledispatch, property)
_PURE += (staticmethod, classmethod, functools.cmp_to_key, BaseException, weakref.ref, weakref.proxy)
_SORTING: tuple[Any, ...] = (heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop)
_SORTING += (bisect.insort_left, bisect.insort_right)

# They write into what they are given, although most functions of their modules only read.
_CHANGING: tuple[Any, ...] = (
    struct.pack_into,
    json.dump,
    json.load,
    pickle.dump,
    pickle.load,
    pprint.pprint,
    pprint.pp,
)

FUNCTIONS: Final[dict[Any, int]] = {
    **dict.fromkeys(_CHANGING, CHANGES),
    **dict.fromkeys(_PURE, PURE),
    **dict.fromkeys(_LOOKING, LOOKS),
    **dict.fromkeys(_READING, READS),
    **dict.fromkeys(_SORTING, SORTS),
    **dict.fromkeys(_COPYING, COPIES),
}

# What functions and types look at besides their arguments.
LOOKS_AT: Final[dict[Any, Any]] = {
    os.path.expandvars: os.environ,
    os.path.expanduser: os.environ,
    decimal.Context: decimal.DefaultContext,
    decimal.getcontext: decimal.DefaultContext,
}

# Modules whose functions keep no state that a program can see, and only read what they are given.
READING_MODULES: Final = frozenset(
    {"math", "cmath", "json", "_json", "textwrap", "statistics", "string", "re", "base64", "binascii", "html", "copy"}
    | {"urllib.parse", "datetime", "_datetime", "fractions", "numbers", "hashlib", "_hashlib", "hmac", "zlib", "pprint"}
    | {"unicodedata", "difflib", "keyword", "token", "typing", "_operator", "operator", "struct"}
    | {"_struct", "ipaddress", "calendar", "colorsys", "shlex", "fnmatch", "reprlib", "pickle", "_pickle", "uuid"}
    | {"types", "dis", "opcode", "stringprep", "zoneinfo", "posixpath", "ntpath", "genericpath", "bisect", "graphlib"}
    | {"dataclasses", "time", "errno", "stat", "_stat"}
)
# Modules that call what they are given, or make something of it, without looking into it themselves.
TRANSPARENT_MODULES: Final = frozenset(
    {"contextlib", "functools", "_functools", "abc", "_abc", "_collections_abc", "enum", "warnings", "_warnings"}
    | {"importlib", "_frozen_importlib", "_frozen_importlib_external", "_imp", "_weakref", "faulthandler"}
    | {"contextvars", "_contextvars", "greenlet", "mypy_extensions"}
)
# Modules whose types keep their state in their objects alone, so that no location stands for the module.
SELF_CONTAINED: Final = (
    READING_MODULES
    | TRANSPARENT_MODULES
    | {"builtins", "collections", "_collections", "array", "io", "_io", "itertools", "decimal", "_decimal", "heapq"}
    | {
        "weakref",
        "_weakrefset",
        "_heapq",
        "_bisect",
        "_thread",
        "_string",
        "_sre",
        "_random",
        "csv",
        "_csv",
        "argparse",
    }
    | {"configparser", "xml.etree.ElementTree", "optparse", "http.cookies", "email", "pathlib", "ctypes", "_ctypes"}
    | {"unittest.case", "unittest.mock", "collections.abc"}
)
# Functions that set what others of their modules work by. Once one was called, a location stands for the module, and
# `settings` puts back what was set.
SETTINGS: Final = "settings of the standard library"
SETTERS: Final[frozenset[Any]] = frozenset(
    {calendar.setfirstweekday, xml.etree.ElementTree.register_namespace, re.purge}
    | {csv.field_size_limit, csv.register_dialect, csv.unregister_dialect}
    | {sys.setrecursionlimit, sys.set_int_max_str_digits, gc.set_threshold, threading.stack_size}
    | {faulthandler.enable, faulthandler.disable}
    | {getattr(typing, name) for name in ("clear_overloads",) if hasattr(typing, name)}
)
# And those that are not worth an import.
SETTERS_BY_NAME: Final = frozenset({"zoneinfo.ZoneInfo.clear_cache"})
# Native modules whose calls hold the interpreter lock from beginning to end, callbacks into Python apart.
ATOMIC_NATIVE: Final = frozenset(
    {
        "builtins",
        "collections",
        "_collections",
        "array",
        "itertools",
        "functools",
        "_functools",
        "operator",
        "_operator",
    }
    | {"_heapq", "_bisect", "_struct", "math", "_json", "re", "_sre", "datetime", "_datetime", "decimal", "_decimal"}
    | {"sys", "gc", "types", "time", "binascii", "unicodedata", "_random", "_weakref", "weakref", "_contextvars", "abc"}
    | {"_abc", "_thread", "_string", "_csv", "_ctypes", "ctypes", "copy", "random"}
)

# Modules whose functions in Python work on files that nobody can name beforehand.
FILE_MODULES: Final = frozenset(
    {"os", "shutil", "glob", "zipfile", "tarfile", "gzip", "bz2", "lzma", "shelve", "fileinput"}
)
# Functions of `os` that work on the file behind a descriptor.
ON_DESCRIPTORS: Final = frozenset(
    {"write", "writev", "pwrite", "pread", "readv", "preadv", "ftruncate", "fsync", "fdatasync", "fstat", "fchmod"}
    | {"close", "sendfile", "copy_file_range", "posix_fallocate"}
)

# What their objects do depends on which objects are alive.
WEAK_MODULES: Final = frozenset({"weakref", "_weakrefset", "_weakref"})

# Types whose values never change.
IMMUTABLE: Final[tuple[type, ...]] = (
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    datetime.tzinfo,
    re.Pattern,
    re.Match,
    pathlib.PurePath,
    struct.Struct,
    operator.itemgetter,
    operator.attrgetter,
    operator.methodcaller,
)

_OPERATORS = frozenset(
    {"__len__", "__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__add__", "__radd__"}
    | {"__mul__", "__rmul__", "__reversed__", "__repr__", "__str__", "__format__", "__getitem__", "__bool__", "__or__"}
    | {"__ror__", "__and__", "__rand__", "__sub__", "__rsub__", "__xor__", "__rxor__", "__copy__", "__deepcopy__"}
    | {"__reduce__", "__reduce_ex__", "__length_hint__", "__sizeof__", "__getstate__", "__neg__", "__pos__", "__hash__"}
    | {"__iter__", "__class__", "__dir__", "__init_subclass__", "__buffer__", "__release_buffer__", "__subclasshook__"}
)

# Methods that do not change their object, type by type; a type that is not here has none.
_MAPPING = frozenset({"get", "copy", "keys", "values", "items"}) | _OPERATORS
READERS: Final[dict[type, frozenset[str]]] = {
    list: frozenset({"index", "count", "copy"}) | _OPERATORS,
    dict: _MAPPING | {"fromkeys"},
    collections.Counter: _MAPPING | {"most_common", "elements", "total", "__missing__"},
    set: frozenset({"copy", "difference", "intersection", "union", "symmetric_difference", "isdisjoint"})
    | {"issubset", "issuperset"}
    | _OPERATORS,
    collections.deque: frozenset({"index", "count", "copy", "maxlen"}) | _OPERATORS,
    bytearray: frozenset(name for name in vars(bytes) if not name.startswith("__")) | _OPERATORS | {"copy"},
    array.array: frozenset({"count", "index", "tobytes", "tolist", "tounicode", "buffer_info", "typecode", "itemsize"})
    | _OPERATORS,
    memoryview: frozenset(name for name in vars(memoryview) if name not in ("release", "__setitem__", "__exit__")),
    types.MappingProxyType: frozenset(vars(types.MappingProxyType)),
    collections.UserDict: _MAPPING,
    collections.UserList: frozenset({"index", "count", "copy"}) | _OPERATORS,
    collections.UserString: frozenset(name for name in vars(collections.UserString)),
    collections.ChainMap: _MAPPING | {"new_child", "parents"},
    io.StringIO: frozenset({"getvalue", "tell", "closed", "readable", "writable", "seekable", "isatty", "newlines"}),
    io.BytesIO: frozenset({"getvalue", "tell", "closed", "readable", "writable", "seekable", "isatty"}),
    functools._lru_cache_wrapper: frozenset({"cache_info", "cache_parameters", "__get__", "__copy__", "__deepcopy__"}),
    weakref.WeakSet: frozenset({"copy", "difference", "intersection", "union", "isdisjoint", "issubset", "issuperset"})
    | _OPERATORS,
    weakref.WeakValueDictionary: _MAPPING | {"valuerefs", "itervaluerefs"},
    weakref.WeakKeyDictionary: _MAPPING | {"keyrefs"},
    types.GeneratorType: frozenset({"gi_frame", "gi_running", "gi_code", "gi_yieldfrom", "gi_suspended", "__iter__"}),
}

# Methods of types that otherwise only read what they are given: these change it.
FILLING: Final = frozenset(
    {"pack_into", "readinto", "readinto1", "parse_args", "parse_known_args", "parse_intermixed_args"}
    | {"write", "writerow", "writerows", "read_file", "dump", "load", "decompress_into", "sqrt", "quantize"}
)

# Make a view or an iterator, or only concern the object as such: no access yet.
LAZY: Final = frozenset({"keys", "values", "items", "__class__", "__sizeof__", "__init_subclass__", "__dir__"}) | {
    "__hash__",
    "cast",
    "toreadonly",
    "mapping",
    "__subclasshook__",
}


def reads(kind: type, method: str) -> bool:
    """Does this method of a type that is not rewritten leave its object as it is?"""
    for cls in kind.__mro__:
        known = READERS.get(cls)
        if known is not None:
            return method in known
        if is_stranger(vars(cls).get(method)):
            return False
    return issubclass(kind, IMMUTABLE)


def keeps_data(module: str) -> bool:
    """May the functions of this module change what its variables and classes hold? Those of the standard library that
    do so are told by name (`SETTERS`), or are called rarely beside a look at such a variable."""
    return bool(module) and module.partition(".")[0] not in sys.stdlib_module_names


def is_stranger(code: object) -> bool:
    """Is this a function in Python of which its name says nothing: neither of the standard library nor in C?"""
    if type(code) is not types.FunctionType:
        return False
    return str(code.__globals__.get("__name__")).partition(".")[0] not in sys.stdlib_module_names


_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40, "exception": 40, "critical": 50}


def says_nothing(obj: object, method: str, args: tuple[Any, ...]) -> bool:
    """Is it a message to a logger that is below its level? Then the level is all that is looked at."""
    if not isinstance(obj, logging.Logger):
        return False
    level = _LEVELS.get(method) if method != "log" else args[0] if args and type(args[0]) is int else None
    return level is not None and not _is_enabled(obj, level)


def _is_enabled(logger: logging.Logger, level: int) -> bool:
    """What `isEnabledFor` answers, which keeps its answer: asked ahead of its time, that would be the wrong one."""
    if type(logger).isEnabledFor is not logging.Logger.isEnabledFor:
        return True
    if logger.disabled:
        return False
    kept = vars(logger)["_cache"].get(level)
    return logger.manager.disable < level >= logger.getEffectiveLevel() if kept is None else bool(kept)


def in_modules(name: str, modules: frozenset[str]) -> bool:
    """Is a module one of these, or below one of them?"""
    while name:
        if name in modules:
            return True
        name = name.rpartition(".")[0]
    return False
