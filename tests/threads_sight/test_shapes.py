"""What an attribute of an object is for the search."""

from __future__ import annotations

import datetime
import functools
import queue
import threading
import types
import weakref
from configparser import ConfigParser
from typing import Any

import pytest

from treadle.threads import shapes
from treadle.threads.instrument.swap import REWRITTEN

pytestmark = pytest.mark.usefixtures("rewritten")


class Account:
    rate = 3

    def __init__(self) -> None:
        self.balance = 0

    def pay(self) -> None:
        pass

    @property
    def double(self) -> int:
        return self.balance * 2

    @functools.cached_property
    def made(self) -> int:
        return 1


class Slots:
    __slots__ = ("one",)


class Tags(list[str]):
    pass


@pytest.mark.parametrize(
    ("kind", "name", "shape"),
    [
        (Account, "balance", shapes.FIELD),
        (Account, "rate", shapes.CLASS),
        (Account, "pay", shapes.CODE),
        (Account, "double", shapes.CODE),
        (Account, "made", shapes.FIELD),  # kept in the object once it is made
        (Account, "__dict__", shapes.WHOLE),
        (Slots, "one", shapes.FIELD),
        (Tags, "append", shapes.CONTAINER),
        (list, "sort", shapes.CONTAINER),
        (type(threading.Lock()), "acquire", shapes.ADOPT),
        (queue.Queue, "put", shapes.CODE),
        (queue.Queue, "queue", shapes.STATE_OF_MODEL),
        (threading.Thread, "name", shapes.FIELD),
        (types.ModuleType, "anything", shapes.MODULE),
        (type, "rate", shapes.META),
        (weakref.ProxyType, "balance", shapes.PROXY),
        (datetime.date, "year", shapes.NONE),  # it never changes
        (str, "upper", shapes.NONE),
        (ConfigParser, "get", shapes.ATOMIC),  # a method of a library is one operation
        (functools.partial, "tag", shapes.FIELD),
    ],
)
def test_an_attribute_is(kind: type, name: str, shape: int) -> None:
    assert shapes.classify(kind, name) == shape


def test_the_same_class_is_a_librarys_while_its_module_is_not_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shapes.classify(Account, "pay") == shapes.CODE
    monkeypatch.delitem(REWRITTEN, __name__)
    assert shapes.classify(Account, "pay") == shapes.ATOMIC


def test_a_class_that_reads_its_attributes_itself_is_seen_by_its_code() -> None:
    class Watching:
        def __getattribute__(self, name: str) -> Any:
            return object.__getattribute__(self, name)

    assert shapes.classify(Watching, "balance") == shapes.CODE
    assert shapes.plain_shape(Watching, "balance") == shapes.FIELD
