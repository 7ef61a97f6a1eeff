"""Python written for the machine to follow in place of compiled functions: itertools, functools and their like.

These are never called by Treadle itself. Each takes and gives exactly what the original does, for the uses that
the machine supports; `MODELS` says which function stands for which.
"""

# mypy: ignore-errors
# ruff: noqa: SIM110, SIM113

import copy
import functools
import itertools
import math
import operator

_NOTHING = object()


def chain(*iterables):
    for iterable in iterables:
        yield from iterable


def chain_from_iterable(iterables):
    for iterable in iterables:
        yield from iterable


def islice(iterable, *args):
    start, stop, step = 0, None, 1
    if len(args) == 1:
        stop = args[0]
    elif len(args) == 2:
        start, stop = args
    else:
        start, stop, step = args
    start = 0 if start is None else start
    step = 1 if step is None else step
    if stop is not None and stop < 0 and len(args) == 1:
        raise ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if start < 0 or (stop is not None and stop < 0):
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if step < 1:
        raise ValueError("Step for islice() must be a positive integer or None.")
    position = 0
    wanted = start
    if stop is not None and stop <= 0:
        return
    for value in iterable:
        if stop is not None and position >= stop:
            return
        if position == wanted:
            yield value
            wanted += step
        position += 1
        if stop is not None and position >= stop:
            return


def count(start=0, step=1):
    while True:
        yield start
        start += step


def repeat(value, times=None):
    if times is None:
        while True:
            yield value
    for _ in range(times):
        yield value


def cycle(iterable):
    saved = []
    for value in iterable:
        yield value
        saved.append(value)
    while saved:
        for value in saved:
            yield value


def takewhile(predicate, iterable):
    for value in iterable:
        if not predicate(value):
            return
        yield value


def dropwhile(predicate, iterable):
    iterator = iter(iterable)
    for value in iterator:
        if not predicate(value):
            yield value
            break
    yield from iterator


def filterfalse(predicate, iterable):
    for value in iterable:
        if predicate is None:
            if not value:
                yield value
        elif not predicate(value):
            yield value


def accumulate(iterable, func=None, *, initial=None):
    iterator = iter(iterable)
    total = initial
    if initial is None:
        total = next(iterator, _NOTHING)
        if total is _NOTHING:
            return
    yield total
    for value in iterator:
        total = total + value if func is None else func(total, value)
        yield total


def starmap(function, iterable):
    for args in iterable:
        yield function(*args)


def zip_longest(*iterables, fillvalue=None):
    iterators = [iter(it) for it in iterables]
    open_ones = len(iterators)
    if not open_ones:
        return
    done = [False for _ in iterators]
    while True:
        values = []
        for i in range(len(iterators)):
            if done[i]:
                values.append(fillvalue)
                continue
            value = next(iterators[i], _NOTHING)
            if value is _NOTHING:
                done[i] = True
                open_ones -= 1
                if open_ones == 0:
                    return
                value = fillvalue
            values.append(value)
        yield tuple(values)


def pairwise(iterable):
    iterator = iter(iterable)
    before = next(iterator, _NOTHING)
    for value in iterator:
        yield before, value
        before = value


def compress(data, selectors):
    for value, keep in zip(data, selectors, strict=False):
        if keep:
            yield value


def product(*iterables, repeat=1):
    pools = [tuple(pool) for pool in iterables] * repeat
    result = [()]
    for pool in pools:
        result = [(*x, y) for x in result for y in pool]
    yield from result


def permutations(iterable, r=None):
    pool = tuple(iterable)
    n = len(pool)
    r = n if r is None else r
    for indices in product(range(n), repeat=r):
        if len(set(indices)) == r:
            yield tuple(pool[i] for i in indices)


def combinations(iterable, r):
    pool = tuple(iterable)
    n = len(pool)
    for indices in permutations(range(n), r):
        if sorted(indices) == list(indices):
            yield tuple(pool[i] for i in indices)


def combinations_with_replacement(iterable, r):
    pool = tuple(iterable)
    n = len(pool)
    for indices in product(range(n), repeat=r):
        if sorted(indices) == list(indices):
            yield tuple(pool[i] for i in indices)


def groupby(iterable, key=None):
    group = []
    current = _NOTHING
    for value in iterable:
        k = value if key is None else key(value)
        if current is _NOTHING:
            current = k
        elif k != current:
            yield current, iter(group)
            group = []
            current = k
        group.append(value)
    if current is not _NOTHING:
        yield current, iter(group)


def tee(iterable, n=2):
    iterator = iter(iterable)
    waiting = [[] for _ in range(n)]

    def branch(own):
        while True:
            if not own:
                value = next(iterator, _NOTHING)
                if value is _NOTHING:
                    return
                for other in waiting:
                    other.append(value)
            yield own.pop(0)

    return tuple([branch(own) for own in waiting])


def batched(iterable, n, *, strict=False):
    if n < 1:
        raise ValueError("n must be at least one")
    batch = []
    for value in iterable:
        batch.append(value)
        if len(batch) == n:
            yield tuple(batch)
            batch = []
    if batch:
        if strict:
            raise ValueError("batched(): incomplete batch")
        yield tuple(batch)


def reduce(function, sequence, initial=_NOTHING):
    iterator = iter(sequence)
    if initial is _NOTHING:
        value = next(iterator, _NOTHING)
        if value is _NOTHING:
            raise TypeError("reduce() of empty iterable with no initial value")
    else:
        value = initial
    for element in iterator:
        value = function(value, element)
    return value


def any_(iterable):
    for element in iterable:
        if element:
            return True
    return False


def all_(iterable):
    for element in iterable:
        if not element:
            return False
    return True


def filter_(function, iterable):
    for value in iterable:
        if function is None:
            if value:
                yield value
        elif function(value):
            yield value


def gcd(*integers):
    result = 0
    for n in integers:
        a, b = operator.index(result), operator.index(n)
        while b:
            a, b = b, a % b
        result = -a if a < 0 else a
    return result


def comb(n, k):
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    if k > n:
        return 0
    result = 1
    for i in range(k):
        result = result * (n - i) // (i + 1)
    return result


def factorial(n):
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    result = 1
    for i in range(n):
        result = result * (i + 1)
    return result


def prod(iterable, *, start=1):
    total = start
    for value in iterable:
        total = total * value
    return total


def itemgetter_1(item):
    return lambda obj: obj[item]


def itemgetter_n(*items):
    return lambda obj: tuple([obj[i] for i in items])


def shallow_copy(x):
    kind = type(x)
    if is_atomic(kind) or kind is tuple or kind is frozenset:
        return x
    if kind is list or kind is dict or kind is set:
        return x.copy()
    new = blank(kind)
    for name, value in vars(x).items():
        object.__setattr__(new, name, value)
    return new


def deep_copy(x, memo=None):
    return _deep_copy(x, [] if memo is None else blank(None))


def _deep_copy(x, done):
    kind = type(x)
    if is_atomic(kind):
        return x
    for old, new in done:
        if old is x:
            return new
    if kind is tuple:
        parts = [_deep_copy(part, done) for part in x]
        for i in range(len(parts)):
            if parts[i] is not x[i]:
                return tuple(parts)
        return x
    if kind is list:
        new = []
        done.append((x, new))
        for part in x:
            new.append(_deep_copy(part, done))
        return new
    if kind is dict:
        new = {}
        done.append((x, new))
        for key, value in x.items():
            new[_deep_copy(key, done)] = _deep_copy(value, done)
        return new
    if kind is set:
        new = set()
        done.append((x, new))
        for part in x:
            new.add(_deep_copy(part, done))
        return new
    new = blank(kind)
    done.append((x, new))
    for name, value in vars(x).items():
        object.__setattr__(new, name, _deep_copy(value, done))
    return new


def is_atomic(kind):
    """Whether objects of the class are their own copies: answered by the machine."""


def blank(kind):
    """A new object without fields, of a class that leaves copying to `copy`: made by the machine."""


MODELS = {
    copy.copy: shallow_copy,
    copy.deepcopy: deep_copy,
    itertools.chain: chain,
    itertools.chain.from_iterable: chain_from_iterable,
    itertools.islice: islice,
    itertools.count: count,
    itertools.repeat: repeat,
    itertools.cycle: cycle,
    itertools.takewhile: takewhile,
    itertools.dropwhile: dropwhile,
    itertools.filterfalse: filterfalse,
    itertools.accumulate: accumulate,
    itertools.starmap: starmap,
    itertools.zip_longest: zip_longest,
    itertools.pairwise: pairwise,
    itertools.compress: compress,
    itertools.product: product,
    itertools.permutations: permutations,
    itertools.combinations: combinations,
    itertools.combinations_with_replacement: combinations_with_replacement,
    itertools.groupby: groupby,
    itertools.tee: tee,
    functools.reduce: reduce,
    any: any_,
    all: all_,
    filter: filter_,
    math.gcd: gcd,
    math.prod: prod,
    math.comb: comb,
    math.factorial: factorial,
}
if hasattr(itertools, "batched"):
    MODELS[itertools.batched] = batched
