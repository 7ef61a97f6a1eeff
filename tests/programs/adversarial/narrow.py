"""Failures that one interleaving in hundreds shows: sampling will not stumble on them, so the access must be seen.

The reader looks seven times while the writer goes there and back twice. One pattern of looks breaks the assertion; it
is not regular, and every other schedule leaves the same behind.
"""

import abc
import calendar
import contextlib
import copy
import functools
import gc
import heapq
import io
import queue
import sys
import threading
import types
import warnings

from treadle import parallel

from .truth import fails

PATTERN = [False, True, True, False, False, False, True]


def meets(look, there, back):
    """Whether the looks follow the pattern, run beside a thread that goes there and back."""

    def reader():
        met = True
        for wanted in PATTERN:
            met = met if look() is wanted else False
        return met

    def writer():
        there()
        back()
        there()
        back()

    return parallel(reader, writer)[0]


@fails
def narrow_control():
    box = [1]
    assert not meets(
        lambda: box[0] == 2, lambda: box.__setitem__(0, 2), lambda: box.__setitem__(0, 1)
    )


@fails
def narrow_cell_contents():
    n = 1

    def look():
        return n == 2

    cell = look.__closure__[0]

    def put(value):
        cell.cell_contents = value

    assert not meets(look, lambda: put(2), lambda: put(1))


@fails
def narrow_function_defaults():
    def value(n=1):
        return n

    def put(*values):
        value.__defaults__ = values

    assert not meets(lambda: value() == 2, lambda: put(2), lambda: put(1))


@fails
def narrow_function_keyword_defaults():
    def value(*, n=1):
        return n

    def put(n):
        value.__kwdefaults__["n"] = n

    assert not meets(lambda: value() == 2, lambda: put(2), lambda: put(1))


@fails
def narrow_function_code():
    def value():
        return 1

    def other():
        return 2

    one, two = value.__code__, other.__code__

    def put(code):
        value.__code__ = code

    assert not meets(lambda: value() == 2, lambda: put(two), lambda: put(one))


@fails
def narrow_partial_keywords():
    show = functools.partial(dict, a=1)

    def put(n):
        show.keywords["a"] = n

    assert not meets(lambda: show()["a"] == 2, lambda: put(2), lambda: put(1))


@fails
def narrow_match_on_value_pattern():
    state = types.SimpleNamespace(phase=1)

    def look():
        match 2:
            case state.phase:
                return True
        return False

    def put(n):
        state.phase = n

    assert not meets(look, lambda: put(2), lambda: put(1))


@fails
def narrow_slot_descriptor_by_hand():
    class Slotted:
        __slots__ = ("n",)

    o = Slotted()
    o.n = 1
    slot = Slotted.__dict__["n"]
    assert not meets(lambda: slot.__get__(o) == 2, lambda: slot.__set__(o, 2), lambda: slot.__set__(o, 1))


@fails
def narrow_bases():
    class A:
        n = 1

    class B:
        n = 2

    class C(A):
        pass

    def put(base):
        C.__bases__ = (base,)

    assert not meets(lambda: C.n == 2, lambda: put(B), lambda: put(A))


@fails
def narrow_class_len():
    class Sized:
        def __len__(self):
            return 1

    o, one = Sized(), Sized.__len__

    def put(method):
        Sized.__len__ = method

    assert not meets(lambda: len(o) == 2, lambda: put(lambda self: 2), lambda: put(one))


@fails
def narrow_class_bool():
    class Truth:
        def __bool__(self):
            return False

    o, no = Truth(), Truth.__bool__

    def put(method):
        Truth.__bool__ = method

    assert not meets(lambda: not not o, lambda: put(lambda self: True), lambda: put(no))


@fails
def narrow_class_call():
    class Callback:
        def __call__(self):
            return 1

    o, one = Callback(), Callback.__call__

    def put(method):
        Callback.__call__ = method

    assert not meets(lambda: o() == 2, lambda: put(lambda self: 2), lambda: put(one))


@fails
def narrow_class_eq_removed():
    class Same:
        def __eq__(self, other):
            return False

    o, eq = Same(), Same.__eq__

    def put():
        Same.__eq__ = eq

    def remove():
        del Same.__eq__

    assert not meets(lambda: o == o, remove, put)


@fails
def narrow_class_contains():
    class Bag:
        def __contains__(self, x):
            return False

    o, no = Bag(), Bag.__contains__
    yes = lambda self, x: True  # noqa: E731
    assert not meets(
        lambda: 1 in o, lambda: setattr(Bag, "__contains__", yes), lambda: setattr(Bag, "__contains__", no)
    )


@fails
def narrow_class_enter():
    class Manager:
        def __enter__(self):
            return 1

        def __exit__(self, *exc):
            pass

    o, one = Manager(), Manager.__enter__

    def look():
        with o as x:
            return x == 2

    def put(method):
        Manager.__enter__ = method

    assert not meets(look, lambda: put(lambda self: 2), lambda: put(one))


@fails
def narrow_class_iter():
    class Row:
        def __iter__(self):
            return iter([1])

    o, one = Row(), Row.__iter__

    def put(method):
        Row.__iter__ = method

    assert not meets(lambda: list(o) == [2], lambda: put(lambda self: iter([2])), lambda: put(one))


@fails
def narrow_class_add():
    class Money:
        def __add__(self, other):
            return 1

    o, one = Money(), Money.__add__

    def put(method):
        Money.__add__ = method

    assert not meets(lambda: o + 0 == 2, lambda: put(lambda self, other: 2), lambda: put(one))


@fails
def narrow_class_hash():
    class Key:
        def __hash__(self):
            return 1

    o, one = Key(), Key.__hash__

    def put(method):
        Key.__hash__ = method

    assert not meets(lambda: hash(o) == 2, lambda: put(lambda self: 2), lambda: put(one))


@fails
def narrow_class_format():
    class Show:
        def __str__(self):
            return "1"

    o, one = Show(), Show.__str__

    def put(method):
        Show.__str__ = method

    assert not meets(lambda: f"{o}" == "2", lambda: put(lambda self: "2"), lambda: put(one))


@fails
def narrow_class_property():
    class Square:
        area = property(lambda self: 1)

    o = Square()
    one, two = Square.__dict__["area"], property(lambda self: 2)

    def put(value):
        Square.area = value

    assert not meets(lambda: o.area == 2, lambda: put(two), lambda: put(one))


@fails
def narrow_class_attribute_by_type_setattr():
    class Config:
        level = 1

    def put(n):
        type.__setattr__(Config, "level", n)

    assert not meets(lambda: Config.level == 2, lambda: put(2), lambda: put(1))


@fails
def narrow_class_attribute_by_object_of_subclass():
    class Config:
        level = 1

    class Local(Config):
        pass

    o = Local()

    def put(n):
        Config.level = n

    assert not meets(lambda: o.level == 2, lambda: put(2), lambda: put(1))


@fails
def narrow_subclass_list():
    class Base:
        pass

    class Other:
        pass

    def look():
        return len(Base.__subclasses__()) == 1

    kept = []

    def define():
        kept.append(type("Sub", (Base,), {}))

    def move_away():
        kept.pop().__bases__ = (Other,)

    assert not meets(look, define, move_away)


@fails
def narrow_abstract_registration():
    class Shape(abc.ABC):
        pass

    a, b, c, d, e = (type(f"C{i}", (), {}) for i in range(5))

    def reader():
        return [issubclass(k, Shape) for k in (a, b, c, d, e)] == [False, True, True, False, True]

    def writer():
        for kind in (b, a, c, e, d):
            Shape.register(kind)

    assert not parallel(reader, writer)[0]


@fails
def narrow_deepcopy():
    class Box:
        pass

    o = Box()
    o.n = [1]

    def put(n):
        o.n[0] = n

    assert not meets(lambda: copy.deepcopy(o).n == [2], lambda: put(2), lambda: put(1))


@fails
def narrow_deepcopy_of_a_list_of_lists():
    rows = [[1]]
    row = rows[0]

    def put(n):
        row[0] = n

    assert not meets(lambda: copy.deepcopy(rows) == [[2]], lambda: put(2), lambda: put(1))


@fails
def narrow_exception_context():
    error = ValueError()

    def throw():
        try:
            raise KeyError
        except KeyError:
            try:
                raise error
            except ValueError:
                pass

    def forget():
        error.__context__ = None

    assert not meets(lambda: error.__context__ is not None, throw, forget)


@fails
def narrow_exception_traceback():
    error = ValueError()

    def throw():
        try:
            raise error
        except ValueError:
            pass

    def forget():
        error.__traceback__ = None

    assert not meets(lambda: error.__traceback__ is not None, throw, forget)


@fails
def narrow_exception_cause():
    error = ValueError()

    def throw():
        try:
            raise error from KeyError()
        except ValueError:
            pass

    def forget():
        error.__cause__ = None

    assert not meets(lambda: error.__cause__ is not None, throw, forget)


@fails
def narrow_singledispatch():
    @functools.singledispatch
    def name(x):
        return "any"

    def put(n):
        name.register(int, lambda x: n)

    assert not meets(lambda: name(3) == "two", lambda: put("two"), lambda: put("one"))


@fails
def narrow_wrapped_original():
    def one():
        return 1

    wrapper = functools.wraps(one)(lambda: wrapper.__wrapped__())

    def put(function):
        wrapper.__wrapped__ = function

    assert not meets(lambda: wrapper() == 2, lambda: put(lambda: 2), lambda: put(one))


@fails
def narrow_property_getter_by_hand():
    class Box:
        def __init__(self):
            self._n = 1

        n = property(lambda self: self._n)

    o = Box()

    def put(n):
        o._n = n

    assert not meets(lambda: Box.n.fget(o) == 2, lambda: put(2), lambda: put(1))


@fails
def narrow_method_type_rebound_self():
    class Box:
        def __init__(self, n):
            self.n = n

        def get(self):
            return self.n

    o = Box(1)
    get = types.MethodType(Box.get, o)

    def put(n):
        object.__setattr__(o, "n", n)

    assert not meets(lambda: get() == 2, lambda: put(2), lambda: put(1))


@fails
def narrow_staticmethod_exchanged():
    class Tool:
        run = staticmethod(lambda: 1)

    one = Tool.__dict__["run"]

    def put(value):
        Tool.run = value

    assert not meets(lambda: Tool.run() == 2, lambda: put(staticmethod(lambda: 2)), lambda: put(one))


@fails
def narrow_module_getattr():
    module = types.ModuleType("config")
    module.__getattr__ = lambda name: 1

    def put(n):
        if n == 2:
            module.flag = 2
        else:
            del module.flag

    assert not meets(lambda: module.flag == 2, lambda: put(2), lambda: put(1))


@fails
def narrow_annotations_of_a_function():
    def value(x: int):
        return x

    def put(kind):
        value.__annotations__["x"] = kind

    assert not meets(lambda: value.__annotations__["x"] is str, lambda: put(str), lambda: put(int))


@fails
def narrow_first_weekday():
    calendar.setfirstweekday(0)
    assert not meets(
        lambda: calendar.firstweekday() == 6, lambda: calendar.setfirstweekday(6), lambda: calendar.setfirstweekday(0)
    )


@fails
def narrow_recursion_limit():
    usual = sys.getrecursionlimit()
    assert not meets(
        lambda: sys.getrecursionlimit() != usual,
        lambda: sys.setrecursionlimit(usual + 100),
        lambda: sys.setrecursionlimit(usual),
    )


@fails
def narrow_collector_threshold():
    usual = gc.get_threshold()
    assert not meets(
        lambda: gc.get_threshold() != usual, lambda: gc.set_threshold(9999), lambda: gc.set_threshold(*usual)
    )


@fails
def narrow_standard_output():
    usual, other = sys.stdout, io.StringIO()

    def put(f):
        sys.stdout = f

    assert not meets(lambda: sys.stdout is other, lambda: put(other), lambda: put(usual))


@fails
def narrow_standard_output_redirected():
    usual = sys.stdout
    redirect = contextlib.redirect_stdout(io.StringIO())
    assert not meets(
        lambda: sys.stdout is not usual, lambda: redirect.__enter__(), lambda: redirect.__exit__(None, None, None)
    )


@fails
def narrow_warnings_filters():
    kept = warnings.filters

    def put(filters):
        warnings.filters = filters

    assert not meets(lambda: warnings.filters is not kept, lambda: put([]), lambda: put(kept))


@fails
def narrow_warnings_caught():
    kept = warnings.filters
    catch = warnings.catch_warnings()

    def leave():
        catch.__exit__()
        catch._entered = False

    assert not meets(lambda: warnings.filters is not kept, lambda: catch.__enter__(), leave)


@fails
def narrow_import_statement():
    module = types.ModuleType("treadle_program_narrow")
    name = module.__name__

    def look():
        try:
            import treadle_program_narrow  # noqa: F401
        except ImportError:
            return False
        return True

    assert not meets(look, lambda: sys.modules.__setitem__(name, module), lambda: sys.modules.__delitem__(name))


@fails
def narrow_format_map_missing():
    class Names(dict):
        n = "1"

        def __missing__(self, key):
            return self.n

    names = Names()

    def put(n):
        names.n = n

    assert not meets(lambda: "{a}".format_map(names) == "2", lambda: put("2"), lambda: put("1"))


@fails
def narrow_text_wrapper_flush():
    raw = io.BytesIO()
    text = io.TextIOWrapper(raw, encoding="ascii")

    def there():
        text.write("a")
        text.flush()

    def back():
        raw.seek(0)
        raw.truncate()

    assert not meets(lambda: raw.tell() == 1, there, back)


@fails
def narrow_list_of_a_queue():
    q = queue.Queue()
    assert not meets(lambda: len(q.queue) == 1, lambda: q.put(1), lambda: q.get())


@fails
def narrow_unfinished_tasks_of_a_queue():
    q = queue.Queue()

    def there():
        q.put(1)

    def back():
        q.get()
        q.task_done()

    assert not meets(lambda: q.unfinished_tasks == 1, there, back)


@fails
def narrow_name_of_a_thread():
    thread = threading.current_thread()
    usual = thread.name

    def put(name):
        thread.name = name

    assert not meets(lambda: thread.name == "other", lambda: put("other"), lambda: put(usual))


@fails
def narrow_value_of_a_semaphore():
    s = threading.Semaphore(1)
    assert not meets(lambda: s._value == 0, lambda: s.acquire(), lambda: s.release())


@fails
def narrow_merged_heap_reads_its_source():
    row = [1]

    def put(n):
        row[0] = n

    assert not meets(lambda: next(heapq.merge(row)) == 2, lambda: put(2), lambda: put(1))


@fails
def narrow_thread_excepthook():
    usual = threading.excepthook

    def put(hook):
        threading.excepthook = hook

    assert not meets(lambda: threading.excepthook is print, lambda: put(print), lambda: put(usual))
