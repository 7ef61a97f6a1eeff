"""What the text of a function asks its inputs and the explorer has no answer to: each is a guess, by its name.

The explorer's ints are never bools, its objects of the classes that are loaded, with the fields that these have; two
equal numbers or texts are one; module state is as it is after the import. Code that cannot tell the difference is the
usual case, and loses nothing. Names are read, not values: what is asked in another way is not seen.
"""

from __future__ import annotations

import ast
import functools
import inspect
import types
from collections.abc import Iterator

from treadle.symbolic import types as t
from treadle.symbolic.python.compile.source import NoSource, node_of, tree_of
from treadle.symbolic.python.types.heirs import known_subclasses
from treadle.units.target import UnitTarget, with_callees

_CHANGING = {
    *("append", "extend", "insert", "add", "update", "clear"),
    *("pop", "popitem", "remove", "discard", "setdefault", "sort"),
}


def asked_in_vain(target: UnitTarget, kinds: dict[str, t.Type]) -> Iterator[str]:
    """One sentence for each question that is not followed, of the target and what it calls."""
    nodes: list[ast.AST] = []
    for function in with_callees(target.function):
        try:
            nodes += ast.walk(node_of(function.__code__))
        except NoSource:
            continue
    name, plain = target.name, {one for one, kind in kinds.items() if _is_plain(kind)}
    numbers = any(option == t.INT for kind in kinds.values() for option in t.options(kind))
    if any(map(_asks_for_bool, nodes)) or (numbers and any(map(_compares_texts_of, nodes))):
        yield f"numbers of {name} are no bools"
    asks = any(_calls(node, "type", 1) or _is_attribute(node, "__class__") for node in nodes)
    if asks or _heirs_of_plain(target, kinds):
        yield f"objects of {name} have the classes that are loaded, texts and containers their own"
    if any(_calls(node, "hasattr", 2) or _calls(node, "getattr", 3) or _looks_inside(node) for node in nodes):
        yield f"objects of {name} have the attributes of their classes, and no others"
    if any(_compares_identity(node, plain) for node in nodes):
        yield f"equal numbers and texts of {name} are the same object"
    tuples = {one for one, kind in kinds.items() if any(isinstance(o, t.TupleOf) for o in t.options(kind))}
    if any(_compares_identity(node, tuples) for node in nodes):
        yield f"tuples of {name} are objects of their own"
    if target.is_generator and any(map(_notices_its_end, nodes)):
        yield f"what {name} yields is taken to its end, and nothing is sent or thrown into it"
    for function in with_callees(target.function)[1:]:
        for one in _changed_defaults(function):
            yield f"the default of '{one}' of {function.__name__} is as it is after the import"
    if target.receiver == "cls" and len(known_subclasses(target.cls or object)) > 1:
        yield f"{name} is called on {target.cls.__name__ if target.cls else 'its class'}, and on none of its subclasses"
    cached = {one.attr for one in nodes if isinstance(one, ast.Attribute) and _is_cached(target, one.attr)}
    for one in sorted(cached):
        yield f"the cached property '{one}' has not been read before"
    changed = sorted(_changed_globals(target) & {node.id for node in nodes if isinstance(node, ast.Name)})
    if changed:
        yield f"{', '.join(changed)} of {target.module.__name__} is as it is after the import"


def makes_floats(function: types.FunctionType) -> bool:
    """Whether ints become floats, which are rounded, in a function or in what it calls."""
    for one in with_callees(function):
        try:
            nodes = ast.walk(node_of(one.__code__))
        except NoSource:
            continue
        for node in nodes:
            match node:
                case ast.BinOp(op=ast.Div()) | ast.AugAssign(op=ast.Div()) | ast.Constant(value=float()):
                    return True
                case ast.Call(func=ast.Name(id="float"), args=[_]):
                    return True
    return False


def holds_sets(target: UnitTarget) -> bool:
    """Whether the function, what it calls or its class make or know sets, whose order changes from run to run."""
    functions = with_callees(target.function)
    for cls in target.cls.__mro__ if target.cls is not None else ():
        functions += [value for value in vars(cls).values() if isinstance(value, types.FunctionType)]
    for one in functions:
        known = (one.__globals__.get(name) for name in one.__code__.co_names)
        if any(isinstance(value, set | frozenset) for value in known):
            return True
        try:
            nodes = ast.walk(node_of(one.__code__))
        except NoSource:
            continue
        for node in nodes:
            made = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("set", "frozenset")
            if made or isinstance(node, ast.Set | ast.SetComp):
                return True
    return False


def _heirs_of_plain(target: UnitTarget, kinds: dict[str, t.Type]) -> bool:
    """Whether the code knows classes that derive from the type of a number, text or container among the inputs."""
    plain = {str(option).partition("[")[0] for kind in kinds.values() for option in t.options(kind)}
    known = [*(target.function.__globals__.get(name) for name in target.function.__code__.co_names)]
    known += [
        value for value in vars(target.module).values() if getattr(value, "__module__", "") == target.module.__name__
    ]
    classes = [value for value in known if isinstance(value, type)]
    return any(base.__name__ in plain for one in classes if one not in _PLAIN for base in _PLAIN & {*one.__mro__})


_PLAIN: frozenset[type] = frozenset((int, float, str, list, dict, set, frozenset, tuple))


def _changed_defaults(function: types.FunctionType) -> Iterator[str]:
    """Parameters whose defaults, lists and such, the function itself changes."""
    try:
        node = node_of(function.__code__)
    except NoSource:
        return
    changed = set(_changed_names(node))
    for parameter in inspect.signature(function).parameters.values():
        if isinstance(parameter.default, list | dict | set) and parameter.name in changed:
            yield parameter.name


def _changed_names(function: ast.AST) -> Iterator[str]:
    """Names of what a function changes without assigning to them."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in _CHANGING:
                yield name
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                yield name


def _is_plain(kind: t.Type) -> bool:
    return all(isinstance(option, t.Scalar | t.NoneType) for option in t.options(kind)) and kind != t.NONE


def _asks_for_bool(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]):
            return any(isinstance(part, ast.Name) and part.id == "bool" for part in ast.walk(kind))
        case ast.Compare(ops=ops, comparators=others):
            pairs = zip(ops, others, strict=True)
            return any(
                isinstance(op, ast.Is | ast.IsNot) and isinstance(getattr(other, "value", None), bool)
                for op, other in pairs
            )
    return False


def _compares_texts_of(node: ast.AST) -> bool:
    """Whether the text of something is compared: that of True is not that of 1."""
    if not isinstance(node, ast.Compare):
        return False
    parts = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
    return any(isinstance(part, ast.JoinedStr) or _calls(part, "str", 1) or _calls(part, "repr", 1) for part in parts)


def _calls(node: ast.AST, name: str, arguments: int) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=called), args=args):
            return called == name and len(args) == arguments
    return False


def _looks_inside(node: ast.AST) -> bool:
    return _calls(node, "vars", 1) or _is_attribute(node, "__dict__")


def _is_cached(target: UnitTarget, name: str) -> bool:
    return isinstance(inspect.getattr_static(target.cls, name, None), functools.cached_property)


def _is_attribute(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name


def _compares_identity(node: ast.AST, plain: set[str]) -> bool:
    if not isinstance(node, ast.Compare) or not any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
        return False
    sides = [node.left, *node.comparators]
    return not any(isinstance(side, ast.Constant) for side in sides) and any(
        isinstance(side, ast.Name) and side.id in plain for side in sides
    )


def _notices_its_end(node: ast.AST) -> bool:
    inside = ast.walk(node) if isinstance(node, ast.Try | ast.With) else ()
    uses = isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and isinstance(node.value, ast.Yield)
    return uses or any(isinstance(part, ast.Yield | ast.YieldFrom) for part in inside)


def _changed_globals(target: UnitTarget) -> set[str]:
    """Names of the module that its functions assign, or change what they hold."""
    return _changed_in(tree_of(target.file)[0]) & set(vars(target.module))


@functools.cache
def _changed_in(module: ast.Module) -> set[str]:
    found: set[str] = set()
    for function in ast.walk(module):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        local = {arg.arg for arg in ast.walk(function) if isinstance(arg, ast.arg)}
        local |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        found.update(name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names)
        found.update(set(_changed_names(function)) - local)
    return found
