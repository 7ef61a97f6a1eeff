"""Attributes and variables that are found by ways round: metaclasses, descriptors, dictionaries, aliases, formatting.

As in `narrow`, one interleaving in hundreds breaks the assertion, so whoever finds it has seen both accesses.
"""

import ctypes
import functools
import types
from typing import Generic, TypeVar

from treadle import parallel

from .narrow import meets
from .truth import fails, holds

NUMBER = 1


class Box:
    n = 1


@fails
def attribute_of_the_metaclass():
    class Meta(type):
        n = 1

    class Made(metaclass=Meta):
        pass

    assert not meets(lambda: Made.n == 2, lambda: setattr(Meta, "n", 2), lambda: setattr(Meta, "n", 1))


@fails
def attribute_of_a_generic_class():
    class Holder(Generic[TypeVar("T")]):
        n = 1

    alias = Holder[int]
    assert not meets(lambda: alias.n == 2, lambda: setattr(Holder, "n", 2), lambda: setattr(Holder, "n", 1))


@fails
def descriptor_hidden_through_the_dictionary():
    class Always:
        def __get__(self, obj, kind):
            return 1

    class Has:
        d = Always()

    has = Has()
    assert not meets(lambda: has.d == 2, lambda: vars(has).update(d=2), lambda: vars(has).pop("d"))


@fails
def variables_of_a_class_shown():
    class Local:
        n = 1

    shown = vars(Local)
    assert not meets(lambda: shown["n"] == 2, lambda: setattr(Local, "n", 2), lambda: setattr(Local, "n", 1))


@fails
def global_through_a_method_of_globals():
    assert not meets(
        lambda: NUMBER == 2, lambda: globals().update(NUMBER=2), lambda: globals().__setitem__("NUMBER", 1)
    )


@fails
def module_attribute_made_on_demand():
    module = types.ModuleType("on_demand")
    one, two = (lambda name: 1), (lambda name: 2)
    module.__getattr__ = one
    assert not meets(
        lambda: module.x == 2, lambda: setattr(module, "__getattr__", two), lambda: setattr(module, "__getattr__", one)
    )


@fails
def attribute_of_a_partial():
    partial = functools.partial(int)
    partial.n = 1
    assert not meets(lambda: partial.n == 2, lambda: setattr(partial, "n", 2), lambda: setattr(partial, "n", 1))


@fails
def field_of_a_structure():
    class Structure(ctypes.Structure):
        _fields_ = [("n", ctypes.c_int)]

    made = Structure(1)
    assert not meets(lambda: made.n == 2, lambda: setattr(made, "n", 2), lambda: setattr(made, "n", 1))


@fails
def attribute_in_a_format():
    box = Box()
    assert not meets(
        lambda: "{0.n}".format(box) == "2", lambda: setattr(box, "n", 2), lambda: setattr(box, "n", 1)
    )


@fails
def names_by_dir():
    box = Box()
    assert not meets(lambda: "m" in dir(box), lambda: setattr(box, "m", 2), lambda: delattr(box, "m"))


@holds
def own_dictionaries_updated():
    def fill():
        box = Box()
        vars(box).update(n=2, m=3)
        return box.n + box.m + len("{0.n}".format(box)) + sum("m" == name for name in dir(box))

    assert parallel(fill, fill) == [7, 7]
