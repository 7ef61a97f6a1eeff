"""Small programs that lose something, or do not, depending on where the interpreter switches threads.

Each has a `step` that two threads perform on one state. It is meant to be atomic: when nothing is lost, `ok(state,
calls)` holds. The module imports nothing of Treadle, because `plain_threads.py` runs it on every interpreter at hand.
"""

import collections
import contextlib
import dataclasses
import decimal
import enum
import fractions
import functools
import numbers as number_types
import operator
import threading
import time
from collections import namedtuple

PROGRAMS = {}


class Program:
    def __init__(self, name, make, step, ok):
        self.name, self.make, self.step, self.ok = name, make, step, ok


class State:
    def __init__(self):
        self.v = 0
        self.a = self.b = 0
        self.bad = False
        self.busy = False
        self.text = ""
        self.d = {"k": 0}
        self.l = [0]
        self.lock = threading.Lock()
        self.rlock = threading.RLock()

    def get(self):
        return self.v

    def set(self, value):
        self.v = value

    @classmethod
    def class_get(cls, state):
        return state.v

    @staticmethod
    def static_get(state):
        return state.v

    @property
    def prop(self):
        return self.v

    @prop.setter
    def prop(self, value):
        self.v = value

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return 0


class Child(State):
    def get(self):
        return super().get()


class Slots:
    __slots__ = ("v",)

    def __init__(self):
        self.v = 0


class Watched:
    def __init__(self):
        object.__setattr__(self, "v", 0)

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


class Klass:
    n = 0


class Descriptor:
    def __get__(self, obj, kind=None):
        return obj.v


class Described(State):
    read = Descriptor()


class One:
    """A number with operators in Python."""

    def __radd__(self, other):
        return other + 1

    def __neg__(self):
        return -1

    def __eq__(self, other):
        return False

    def __hash__(self):
        return 1

    def __bool__(self):
        return True

    def __getitem__(self, key):
        return 1

    def __contains__(self, value):
        return True

    def __iter__(self):
        return iter((1,))

    def __format__(self, spec):
        return "1"

    def __call__(self, state):
        return state.v

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class Finalised:
    def __del__(self):
        pass


class Box:
    def __init__(self, state):
        self.value = state.v


@dataclasses.dataclass
class Point:
    x: int


class Colour(enum.Enum):
    RED = 1


Pair = namedtuple("Pair", "left right")
ONE = One()
HALF = fractions.Fraction(1, 2)
TENTH = decimal.Decimal("0.1")
HALVES = [HALF]
LIBRARY_LIST = collections.UserList([1])
LIBRARY_DICT = collections.UserDict(k=1)
PAIR = Pair(1, 2)
TABLE = {ONE: 1}
POINT, OTHER_POINT = Point(1), Point(2)
total = 0


def ident(x):
    return x


def numbers():
    yield 1


@contextlib.contextmanager
def managed():
    yield


def counted(state, calls):
    return state.v == calls


def counted_twice(state, calls):
    return state.v == 2 * calls


def never_bad(state, calls):
    return not state.bad


def program(make=State, ok=counted):
    def add(step):
        PROGRAMS[step.__name__] = Program(step.__name__, make, step, ok)
        return step

    return add


# -- reading and writing with nothing, or with C code that is no call, in between --------------------------------


@program()
def attribute_augmented(s):
    s.v += 1


@program()
def attribute_assigned(s):
    s.v = s.v + 1


@program(ok=lambda s, calls: s.d["k"] == calls)
def dict_augmented(s):
    s.d["k"] += 1


@program(ok=lambda s, calls: s.l[0] == calls)
def list_augmented(s):
    s.l[0] += 1


@program()
def through_a_local(s):
    x = s.v
    y = x * 2 // 2
    s.v = y + 1


@program()
def through_a_branch(s):
    x = s.v
    if x >= 0:
        s.v = x + 1


@program()
def conditional_expression(s):
    s.v = s.v + 1 if s.v >= 0 else 0


@program()
def formatted(s):
    x = s.v
    _ = f"{x} of {x:>10}"
    s.v = x + 1


@program()
def tuple_unpacked(s):
    a, b = s.v, 1
    s.v = a + b


@program()
def displays(s):
    d = {"x": [s.v, 1]}
    s.v = d["x"][0] + d["x"][1]


@program(ok=lambda s, calls: s.l[0] == calls)
def slices(s):
    copy = s.l[:]
    s.l[:] = [copy[0] + 1]


@program()
def starred_display(s):
    x = s.v
    _ = [*s.l, *s.d]
    _ = {**s.d}
    s.v = x + 1


@program()
def chained_comparison(s):
    x = s.v
    if -1 < x < 10**12 and x is not None:
        s.v = x + 1


@program()
def contained(s):
    x = s.v
    if "k" in s.d:
        s.v = x + 1


@program()
def boolean_operators(s):
    x = s.v or 0
    s.v = (x and x + 1) or 1


@program()
def named_expression(s):
    s.v = (x := s.v) + 1
    _ = x


@program()
def matched(s):
    match s.v:
        case int(x):
            s.v = x + 1


@program()
def tried(s):
    x = s.v
    try:
        x = x + 1
    finally:
        s.v = x


@program()
def raised(s):
    x = s.v
    try:
        raise ValueError
    except ValueError:
        s.v = x + 1


@program()
def asserted(s):
    x = s.v
    assert x >= 0
    s.v = x + 1


@program()
def deleted(s):
    d = {1: 2}
    x = s.v
    del d[1]
    s.v = x + 1


@program(make=Slots)
def slot(s):
    s.v += 1


def _fresh_class():
    Klass.n = 0
    return Klass


@program(make=_fresh_class, ok=lambda s, calls: s.n == calls)
def class_attribute(s):
    s.n += 1


def _fresh_total():
    global total
    total = 0


@program(make=_fresh_total, ok=lambda s, calls: total == calls)
def module_variable(s):
    global total
    total += 1


@program(make=_fresh_total, ok=lambda s, calls: total == calls)
def module_variable_and_call(s):
    global total
    total = int(total) + 1


class Closure:
    def __init__(self):
        count = 0

        def increase():
            nonlocal count
            count += 1

        def increase_with_call():
            nonlocal count
            count = ident(count) + 1

        self.increase, self.increase_with_call, self.count = increase, increase_with_call, lambda: count


@program(make=Closure, ok=lambda s, calls: s.count() == calls)
def closure_variable(s):
    s.increase()


@program(make=Closure, ok=lambda s, calls: s.count() == calls)
def closure_variable_and_call(s):
    s.increase_with_call()


@program()
def function_made(s):
    x = s.v

    def inner():
        return x

    s.v = x + 1
    return inner


@program()
def imported_again(s):
    x = s.v
    import os as _

    s.v = x + 1


@program()
def decimal_added(s):
    x = s.v
    _ = TENTH + TENTH
    s.v = x + 1


@program()
def named_tuple_field(s):
    x = s.v
    s.v = x + PAIR.left


@program(ok=lambda s, calls: len(s.text) == calls)
def text_extended(s):
    s.text = s.text + "x"


@program(ok=lambda s, calls: s.l[0] == calls)
def list_rebound(s):
    s.l = [s.l[0] + 1] + s.l[1:]


@program(ok=lambda s, calls: len(s.l) == calls + 1)
def list_extended_in_place(s):
    s.l += [1]


@program(ok=lambda s, calls: len(s.l) == calls + 1)
def list_appended(s):
    s.l.append(1)


@program(ok=never_bad)
def exclusive(s):
    if s.busy:
        s.bad = True
    s.busy = True
    s.busy = False


@program(ok=never_bad)
def torn_pair(s):
    s.a = s.a + 1
    s.b = s.b + 1
    if s.a != s.b:
        s.bad = True


@program(ok=never_bad)
def swapped(s):
    s.a, s.b = s.b + 1, s.a + 1
    if s.a != s.b:
        s.bad = True


# -- reading inside a Python function, which returns without a check ---------------------------------------------


@program()
def read_by_a_method(s):
    s.v = s.get() + 1


@program()
def read_by_a_bound_method(s):
    get = s.get
    s.v = get() + 1


@program()
def read_by_a_class_method(s):
    s.v = s.class_get(s) + 1


@program()
def read_by_a_static_method(s):
    s.v = s.static_get(s) + 1


@program()
def read_by_a_property(s):
    s.v = s.prop + 1


@program(make=Described)
def read_by_a_descriptor(s):
    s.v = s.read + 1


@program(make=Child)
def read_through_super(s):
    s.v = s.get() + 1


@program()
def read_by_a_lambda(s):
    s.v = (lambda: s.v)() + 1


@program()
def set_by_setattr(s):
    setattr(s, "v", s.v + 1)


@program(ok=lambda s, calls: s.d["k"] == calls)
def set_by_update(s):
    s.d.update(k=s.d["k"] + 1)


@program(ok=lambda s, calls: s.l[0] == calls)
def set_by_setitem(s):
    s.l.__setitem__(0, s.l[0] + 1)


@program()
def generator_made(s):
    x = s.v
    _ = numbers()
    s.v = x + 1


# -- a check in between: calls -----------------------------------------------------------------------------------


@program()
def python_call(s):
    s.v = ident(s.v) + 1


@program()
def type_call(s):
    s.v = int(s.v) + 1


@program()
def length(s):
    x = s.v
    _ = len(s.d)
    s.v = x + 1


@program()
def instance_check(s):
    x = s.v
    if isinstance(x, int):
        s.v = x + 1


@program()
def type_of(s):
    x = s.v
    _ = type(x)
    s.v = x + 1


@program()
def string_method(s):
    x = s.v
    _ = "x".upper()
    s.v = x + 1


@program()
def maximum(s):
    s.v = max(s.v, 0) + 1


@program()
def append_in_between(s):
    mine = []
    x = s.v
    mine.append(x)
    s.v = x + 1


@program(ok=lambda s, calls: s.d["k"] == calls)
def read_by_get(s):
    s.d["k"] = s.d.get("k") + 1


@program()
def read_by_getattr(s):
    s.v = getattr(s, "v") + 1


@program()
def read_by_a_callable_object(s):
    s.v = ONE(s) + 1


@program()
def read_by_a_constructor(s):
    s.v = Box(s).value + 1


@program()
def operator_function(s):
    s.v = operator.add(s.v, 1)


@program()
def partial_call(s):
    x = s.v
    _ = functools.partial(ident, 1)()
    s.v = x + 1


@program()
def starred_call(s):
    x = s.v
    args = (x,)
    s.v = int(*args) + 1


@program()
def keyword_call(s):
    x = s.v
    _ = dict(k=x)
    s.v = x + 1


@program()
def written_by_a_method(s):
    s.set(s.v + 1)


@program()
def written_by_a_property(s):
    s.prop = s.v + 1


@program(make=Watched)
def written_by_setattr_method(s):
    s.v = s.v + 1


@program()
def slept(s):
    x = s.v
    time.sleep(0)
    s.v = x + 1


@program()
def sorted_by_key(s):
    x = s.v
    _ = sorted((1, 2), key=ident)
    s.v = x + 1


@program()
def class_made(s):
    x = s.v

    class Inner:
        pass

    s.v = x + 1
    return Inner


@program()
def decorated(s):
    x = s.v

    @ident
    def inner():
        return x

    s.v = x + 1
    return inner


@program(ok=never_bad)
def exclusive_with_call(s):
    if s.busy:
        s.bad = True
    s.busy = True
    int()
    s.busy = False


@program(ok=never_bad)
def torn_pair_with_call(s):
    s.a = s.a + 1
    int()
    s.b = s.b + 1
    if s.a != s.b:
        s.bad = True


# -- a check in between: loops -----------------------------------------------------------------------------------


@program()
def for_loop(s):
    x = s.v
    for _ in (1, 2):
        pass
    s.v = x + 1


@program()
def for_loop_left_at_once(s):
    x = s.v
    for _ in (1, 2):
        break
    s.v = x + 1


@program()
def for_loop_over_nothing(s):
    x = s.v
    for _ in ():
        pass
    s.v = x + 1


@program()
def while_loop(s):
    x = s.v
    i = 0
    while i < 2:
        i += 1
    s.v = x + 1


@program()
def while_loop_not_entered(s):
    x = s.v
    i = 5
    while i < 2:
        i += 1
    s.v = x + 1


@program()
def while_test_reads_once(s):
    n = 0
    while (x := s.v) >= 0 and n < 1:
        s.v = x + 1
        n += 1


@program(ok=counted_twice)
def while_test_reads_twice(s):
    n = 0
    while (x := s.v) >= 0 and n < 2:
        s.v = x + 1
        n += 1


@program(ok=counted_twice)
def while_continued(s):
    n = 0
    while (x := s.v) >= 0 and n < 2:
        s.v = x + 1
        n += 1
        continue


@program(ok=counted_twice)
def while_true(s):
    n = 0
    while True:
        x = s.v
        s.v = x + 1
        n += 1
        if n == 2:
            break


@program()
def comprehension(s):
    x = s.v
    _ = [i for i in (1, 2)]
    s.v = x + 1


@program()
def comprehension_over_nothing(s):
    x = s.v
    _ = [i for i in ()]
    s.v = x + 1


@program()
def generator_expression_made(s):
    x = s.v
    _ = (i for i in ())
    s.v = x + 1


@program()
def generator_run(s):
    x = s.v
    for _ in numbers():
        break
    s.v = x + 1


# -- a check in between: code in Python behind an operator, a statement, an attribute ----------------------------


@program()
def python_addition(s):
    s.v = s.v + ONE


@program()
def python_negation(s):
    s.v = s.v - -ONE


@program()
def python_comparison(s):
    x = s.v
    if not ONE == 1:
        s.v = x + 1


@program()
def python_truth(s):
    x = s.v
    if ONE:
        s.v = x + 1


@program()
def python_item(s):
    x = s.v
    s.v = x + ONE[0]


@program()
def python_containment(s):
    x = s.v
    if 1 in ONE:
        s.v = x + 1


@program()
def python_iteration(s):
    x = s.v
    (y,) = ONE
    s.v = x + y


@program()
def python_hash(s):
    x = s.v
    s.v = x + TABLE[ONE]


@program()
def python_format(s):
    x = s.v
    _ = f"{ONE}"
    s.v = x + 1


@program()
def python_getattr(s):
    x = s.v
    _ = s.missing
    s.v = x + 1


@program()
def python_finaliser(s):
    t = Finalised()
    x = s.v
    t = None
    s.v = x + 1
    return t


@program()
def python_manager(s):
    x = s.v
    with ONE:
        s.v = x + 1


@program()
def library_manager(s):
    x = s.v
    with managed():
        s.v = x + 1


@program()
def library_addition(s):
    x = s.v
    _ = HALF + HALF
    s.v = x + 1


@program()
def library_comparison(s):
    x = s.v
    if HALF < 1:
        s.v = x + 1


@program()
def library_attribute(s):
    x = s.v
    s.v = x + Colour.RED.value


@program()
def generated_comparison(s):
    x = s.v
    if POINT != OTHER_POINT:
        s.v = x + 1


# -- locks -------------------------------------------------------------------------------------------------------


@program()
def locked(s):
    with s.lock:
        x = s.v
        int()
        s.v = x + 1


@program()
def locked_by_calls(s):
    s.lock.acquire()
    x = s.v
    int()
    s.v = x + 1
    s.lock.release()


@program()
def locked_again(s):
    with s.rlock:
        x = s.v
        with s.rlock:
            s.v = int(x) + 1


@program()
def lock_taken_after_the_read(s):
    x = s.v
    with s.lock:
        s.v = x + 1


@program()
def lock_taken_after_the_read_and_call(s):
    x = s.v
    with s.lock:
        s.v = int(x) + 1


@program()
def lock_acquired_after_the_read(s):
    x = s.v
    s.lock.acquire()
    s.v = x + 1
    s.lock.release()


@program()
def lock_left_before_the_write(s):
    with s.lock:
        x = s.v
    s.v = x + 1


@program()
def lock_again_in_between(s):
    with s.rlock:
        pass
    x = s.v
    with s.rlock:
        s.v = x + 1


# -- code in Python that is reached through C: imports, patterns, containers, and what only looks like it ---------


@program()
def imported_from_package(s):
    x = s.v
    from collections import abc as _

    s.v = x + 1


@program()
def imported_from_module(s):
    x = s.v
    from os import path as _

    s.v = x + 1


@program()
def percent_library(s):
    x = s.v
    _ = "%s" % HALF
    s.v = x + 1


@program()
def percent_library_in_tuple(s):
    x = s.v
    _ = "%s" % (HALF,)
    s.v = x + 1


@program()
def library_in_lists_compared(s):
    x = s.v
    if HALVES != [1]:
        s.v = x + 1


@program()
def library_in_tuples_compared(s):
    x = s.v
    if (HALF,) < (1,):
        s.v = x + 1


@program()
def library_in_list(s):
    x = s.v
    if 1 not in HALVES:
        s.v = x + 1


@program()
def library_not_in_display(s):
    x = s.v
    if HALF not in (1, 2):
        s.v = x + 1


@program()
def library_in_list_formatted(s):
    x = s.v
    _ = f"{HALVES}"
    s.v = x + 1


@program()
def matched_abstract_class(s):
    x = s.v
    match x:
        case number_types.Number():
            s.v = x + 1


@program()
def matched_sequence(s):
    x = s.v
    match LIBRARY_LIST:
        case [_]:
            s.v = x + 1


@program()
def matched_value(s):
    x = s.v
    match HALF:
        case 1:
            pass
        case _:
            s.v = x + 1


@program()
def library_starred_display(s):
    x = s.v
    _ = [*LIBRARY_LIST]
    s.v = x + 1


@program()
def library_double_starred_display(s):
    x = s.v
    _ = {**LIBRARY_DICT}
    s.v = x + 1


@program()
def library_unpacked(s):
    x = s.v
    (y,) = LIBRARY_LIST
    s.v = x + y


@program()
def library_truth(s):
    x = s.v
    if not LIBRARY_DICT:
        pass
    s.v = x + 1


@program()
def library_item(s):
    x = s.v
    s.v = x + LIBRARY_DICT["k"]


@program()
def call_that_raises(s):
    x = s.v
    try:
        int("x")
    except ValueError:
        s.v = x + 1


@program()
def method_that_raises(s):
    x = s.v
    try:
        {}.pop(1)
    except KeyError:
        s.v = x + 1


@program()
def missing_key(s):
    x = s.v
    try:
        {}[1]
    except KeyError:
        s.v = x + 1


@program()
def library_default(s):
    d = collections.defaultdict(fractions.Fraction)
    x = s.v
    d[1]
    s.v = x + 1


@program()
def python_default(s):
    d = collections.defaultdict(lambda: 1)
    x = s.v
    d[1]
    s.v = x + 1


@program()
def library_added_in_place(s):
    mine = [1]
    x = s.v
    mine += LIBRARY_LIST
    s.v = x + 1


@program()
def yield_from(s):
    def inner():
        yield 1

    def outer():
        x = s.v
        yield from inner()
        s.v = x + 1

    for _ in outer():
        pass


@program()
def generator_finishes(s):
    def gen():
        x = s.v
        s.v = x + 1
        yield 1

    for _ in gen():
        break


@program()
def library_comparison_chained(s):
    x = s.v
    if 0 < HALF < 1:
        s.v = x + 1


@program()
def library_manager_suppresses(s):
    x = s.v
    with contextlib.suppress(KeyError):
        s.v = x + 1


@program()
def library_manager_made_before(s):
    n = contextlib.nullcontext()
    x = s.v
    with n:
        s.v = x + 1


@program()
def try_in_loop(s):
    for i in range(1):
        x = s.v
        try:
            continue
        finally:
            s.v = x + 1


@program()
def set_comprehension(s):
    x = s.v
    _ = {i for i in (1,)}
    s.v = x + 1


@program()
def comprehension_without_items(s):
    x = s.v
    _ = [i for i in (1, 2) if i > 5]
    s.v = x + 1


@program()
def while_else(s):
    x = s.v
    i = 0
    while i < 1:
        i += 1
    else:
        s.v = x + 1


@program()
def while_test_reads_last(s):
    i = 0
    while i < 1 and (x := s.v) >= 0:
        i += 1
        s.v = x + 1


@program(ok=counted_twice)
def for_loop_twice(s):
    for _ in (1, 2):
        s.v = s.v + 1


@program()
def for_loop_over_the_value(s):
    for x in [s.v]:
        s.v = x + 1


@program()
def comprehension_reads(s):
    (x,) = [s.v for _ in (1,)]
    s.v = x + 1


@program()
def generator_expression_asked(s):
    s.v = next(x for x in (s.v,)) + 1


@program()
def sum_of_display(s):
    s.v = sum([s.v, 1])


@program()
def lambda_default(s):
    x = s.v
    f = lambda y=x: y
    s.v = f() + 1


@program()
def library_starred_call(s):
    def f(*a):
        return 1

    x = s.v
    s.v = x + f(*LIBRARY_LIST)


@program()
def raise_class_with_init(s):
    class E(Exception):
        def __init__(self, *a):
            pass

    x = s.v
    try:
        raise E
    except E:
        s.v = x + 1


@program()
def raise_from(s):
    x = s.v
    try:
        try:
            raise ValueError
        except ValueError as e:
            raise KeyError from e
    except KeyError:
        s.v = x + 1


class Getter:
    def __init__(self):
        self.kept = contextlib.nullcontext(0)


@program(make=Getter, ok=lambda s, calls: s.kept.enter_result == calls)
def read_by_a_library_function(s):
    s.kept.enter_result = s.kept.__enter__() + 1
