"""Names and statements: every way to bind, unbind or look up a name or an attribute."""

import functools
import operator
import sys
import types

from treadle import parallel

from .truth import fails, holds

counter = 0
MODE = "slow"


@fails
def nonlocal_bound_by_def():
    def answer():
        return 1

    def exchange():
        nonlocal answer

        def answer():
            return 2

    assert parallel(lambda: answer(), exchange)[0] == 1


@fails
def nonlocal_bound_by_class():
    class Kind:
        n = 1

    def exchange():
        nonlocal Kind

        class Kind:
            n = 2

    assert parallel(lambda: Kind.n, exchange)[0] == 1


@fails
def nonlocal_bound_by_import():
    tool = types

    def exchange():
        nonlocal tool
        import operator as tool

    assert parallel(lambda: tool.__name__, exchange)[0] == "types"


@fails
def nonlocal_unbound_by_except():
    error = None

    def reader():
        return error

    def handler():
        nonlocal error
        try:
            raise ValueError
        except ValueError as error:
            pass

    parallel(reader, handler)


@fails
def nonlocal_bound_by_with():
    class Manager:
        def __enter__(self):
            return 5

        def __exit__(self, *exc):
            return False

    held = 0

    def writer():
        nonlocal held
        with Manager() as held:
            pass
        held = 0

    assert parallel(lambda: held, writer)[0] == 0


@fails
def nonlocal_bound_by_match():
    point = 0

    def writer():
        nonlocal point
        match (1, 2):
            case (1, point):
                point = 0

    assert parallel(lambda: point, writer)[0] == 0


@fails
def nonlocal_bound_by_walrus_in_comprehension():
    last = 0

    def writer():
        nonlocal last
        [last := x for x in (1, 0)]

    assert parallel(lambda: last, writer)[0] == 0


@fails
def nonlocal_bound_by_unpacking():
    a = b = 0

    def writer():
        nonlocal a, b
        a, (b, *_) = 1, (1, 2)

    def reader():
        return a, b

    assert parallel(reader, writer)[0] in ((0, 0), (1, 1))


@fails
def nonlocal_deleted():
    thing = 1

    def remover():
        nonlocal thing
        del thing
        thing = 1

    assert parallel(lambda: thing, remover)[0] == 1


@fails
def for_target_is_an_attribute():
    box = types.SimpleNamespace(n=0)

    def writer():
        for box.n in (1, 2, 0):
            pass

    assert parallel(lambda: box.n, writer)[0] == 0


@fails
def for_target_is_an_item():
    box = [0]

    def writer():
        for box[0] in (1, 0):
            pass

    assert parallel(lambda: box[0], writer)[0] == 0


@fails
def with_target_is_an_item():
    box = {"held": None}

    class Manager:
        def __enter__(self):
            return 1

        def __exit__(self, *exc):
            box["held"] = None

    def writer():
        with Manager() as box["held"]:
            pass

    assert parallel(lambda: box["held"], writer)[0] is None


@fails
def global_counter_by_augmented_assignment():
    def add():
        global counter
        counter += 1

    parallel(add, add)
    assert counter == 2


@fails
def global_capital_rebound():
    def fast():
        global MODE
        MODE = "fast"

    assert parallel(lambda: MODE, fast)[0] == "slow"


@fails
def global_through_own_module_object():
    me = sys.modules[__name__]

    def add():
        me.counter = me.counter + 1

    parallel(add, add)
    assert counter == 2


@fails
def cell_contents_written():
    n = 0

    def read():
        return n

    def write():
        read.__closure__[0].cell_contents = 1

    assert parallel(read, write)[0] == 0


@fails
def function_defaults_replaced():
    def value(n=1):
        return n

    def replace():
        value.__defaults__ = (2,)

    assert parallel(lambda: value(), replace)[0] == 1


@fails
def function_keyword_defaults_replaced():
    def value(*, n=1):
        return n

    def replace():
        value.__kwdefaults__["n"] = 2

    assert parallel(lambda: value(), replace)[0] == 1


@fails
def function_code_replaced():
    def value():
        return 1

    def other():
        return 2

    def replace():
        value.__code__ = other.__code__

    assert parallel(lambda: value(), replace)[0] == 1


@fails
def mutable_default_as_shared_state():
    def remember(x, seen=[]):  # noqa: B006
        if len(seen) == 0:
            seen.append(x)
        return len(seen)

    parallel(lambda: remember(1), lambda: remember(2))
    assert remember(3) == 1


@fails
def function_attribute_as_counter():
    def visit():
        visit.count += 1

    visit.count = 0
    parallel(visit, visit)
    assert visit.count == 2


@fails
def function_dict_update():
    def visit():
        pass

    def work():
        d = vars(visit)
        d["n"] = d.get("n", 0) + 1

    parallel(work, work)
    assert visit.n == 2


@fails
def wraps_shares_its_original():
    def original():
        return original.calls

    original.calls = 0

    @functools.wraps(original)
    def wrapped():
        wrapped.__wrapped__.calls += 1

    parallel(wrapped, wrapped)
    assert original() == 2


@fails
def partial_keywords_changed():
    show = functools.partial(dict, a=1)

    def change():
        show.keywords["a"] = 2

    assert parallel(lambda: show()["a"], change)[0] == 1


@fails
def bound_method_of_shared_self():
    class Account:
        balance = 1

        def take(self):
            if self.balance:
                self.balance -= 1
                return True

    take = Account().take
    assert parallel(take, take).count(True) == 1


@fails
def in_place_operator_on_closure_list():
    parts = []

    def add(x):
        nonlocal parts
        parts = parts + [x]

    parallel(lambda: add(1), lambda: add(2))
    assert len(parts) == 2


@fails
def star_args_of_shared_list():
    arguments = [1, 2]

    def swap():
        arguments.append(3)
        arguments.pop()

    assert parallel(lambda: max(*arguments), swap)[0] == 2


@fails
def double_star_of_shared_dict():
    options = {"sep": "-"}

    def change():
        options["sep"] = "+"

    def call():
        return (lambda sep: sep)(**options)

    assert parallel(call, change)[0] == "-"


@fails
def chained_comparison_reads_twice():
    box = [5]

    def flip():
        box[0] = 50
        box[0] = 5

    assert parallel(lambda: 0 < box[0] < 10, flip)[0]


@fails
def conditional_expression_checks_then_uses():
    box = {"a": 1}

    def reader():
        return box["a"] if "a" in box else 0

    parallel(reader, box.clear)


@fails
def walrus_in_condition_then_reread():
    box = {"a": 1}

    def reader():
        if (x := box.get("a")) is not None:
            return x == box.get("a")
        return True

    def writer():
        box["a"] = 2

    assert parallel(reader, writer)[0]


@fails
def slice_assignment_and_two_reads():
    row = [0, 0, 0]

    def writer():
        row[:] = [1, 1, 1]

    def reader():
        return row[0] == row[2]

    assert parallel(reader, writer)[0]


@fails
def extended_slice_deletion():
    row = [0, 1, 2, 3]

    def writer():
        del row[::2]

    def reader():
        return row[3]

    parallel(reader, writer)


@fails
def starred_assignment_of_shared_list():
    row = [1, 2]

    def reader():
        first, *rest = row
        return first

    parallel(reader, row.clear)


@fails
def fstring_of_nested_shared_list():
    row = [[0]]

    def writer():
        row[0][0] = 1

    assert parallel(lambda: f"{row!r:>5}", writer)[0] == "[[0]]"


@fails
def percent_formatting_with_a_mapping():
    names = {"who": "a"}

    def writer():
        names["who"] = "b"

    assert parallel(lambda: "%(who)s" % names, writer)[0] == "a"


@fails
def truth_of_a_shared_container():
    jobs = [1]

    def reader():
        if not jobs:
            raise RuntimeError("no job")

    def writer():
        jobs.append(jobs.pop())

    parallel(reader, writer)


@fails
def try_finally_puts_back():
    state = {"busy": False}

    def work():
        state["busy"] = True
        try:
            pass
        finally:
            state["busy"] = False

    assert parallel(lambda: state["busy"], work)[0] is False


@fails
def dict_display_reads_a_shared_dict():
    a = {"x": 1}

    def writer():
        a["y"] = 2
        del a["y"]

    assert parallel(lambda: {**a}, writer)[0] == {"x": 1}


@fails
def class_body_reads_closure():
    n = 0

    def define():
        class Body:
            before = n
            after = n

        return Body.before == Body.after

    def write():
        nonlocal n
        n = 1

    assert parallel(define, write)[0]


@fails
def match_on_mapping_then_use():
    message = {"kind": "a", "size": 1}

    def reader():
        match message:
            case {"kind": "a"}:
                return message["size"]

    def writer():
        message.pop("size")

    parallel(reader, writer)


@fails
def match_on_attribute_value():
    state = types.SimpleNamespace(phase=1)

    def reader():
        match 1:
            case state.phase:
                return True
        return False

    def writer():
        state.phase = 2

    assert parallel(reader, writer)[0]


@fails
def operator_module_does_it():
    box = [0]

    def add():
        operator.setitem(box, 0, operator.add(operator.getitem(box, 0), 1))

    parallel(add, add)
    assert box == [2]


@fails
def operator_iadd_on_slot():
    box = {"v": (0,)}

    def add(x):
        box["v"] = operator.iadd(box["v"], (x,))

    parallel(lambda: add(1), lambda: add(2))
    assert len(box["v"]) == 3


@holds
def locals_are_private():
    def work(n):
        total = 0
        for x in range(n):
            total += x
        return total

    assert parallel(lambda: work(3), lambda: work(4)) == [3, 6]


@holds
def default_bound_early():
    n = 1

    def reader(n=n):
        return n

    def writer():
        nonlocal n
        n = 2

    assert parallel(reader, writer)[0] == 1


@holds
def one_store_is_whole():
    pair = (0, 0)

    def writer():
        nonlocal pair
        pair = (1, 1)

    def reader():
        a, b = pair
        return a == b

    assert parallel(reader, writer)[0]


@holds
def rebound_function_is_one_of_two():
    def answer():
        return 1

    def exchange():
        nonlocal answer
        answer = lambda: 2  # noqa: E731

    assert parallel(lambda: answer(), exchange)[0] in (1, 2)


@holds
def read_once_then_compare():
    box = [5]

    def flip():
        box[0] = 7
        box[0] = 5

    def reader():
        x = box[0]
        return x in (5, 7) and x == x

    assert parallel(reader, flip)[0]


@holds
def each_argument_its_own_default():
    def remember(x, seen=None):
        seen = [] if seen is None else seen
        seen.append(x)
        return seen

    assert parallel(lambda: remember(1), lambda: remember(2)) == [[1], [2]]


@holds
def slice_copy_is_one_step():
    row = [0, 0, 0]

    def writer():
        row[:] = [1, 1, 1]

    assert parallel(lambda: row[:], writer)[0] in ([0, 0, 0], [1, 1, 1])


@holds
def writes_to_different_items():
    row = [0, 0]

    def add(i):
        row[i] += 1

    parallel(lambda: add(0), lambda: add(1))
    assert row == [1, 1]
