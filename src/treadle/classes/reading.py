"""What the source and the documentation of a class say of it, without running anything.

Decides which methods change the object, which attributes only count, whether time matters, and which results are
promised only approximately.
"""

from __future__ import annotations

import ast
import re
import typing
from collections.abc import Iterable, Iterator

_APPROXIMATE = re.compile(
    r"approximat|best[- ]effort|eventually consistent|not (be )?(reliable|exact|accurate|atomic|consistent)|unreliable"
    r"|(may|might|could|can) be (stale|inaccurate|outdated|out of date|inconsistent)|\bestimate",
    re.IGNORECASE,
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CLOCKS = frozenset({"monotonic", "perf_counter", "time_ns", "monotonic_ns", "utcnow", "now"})
# Methods of containers that change them.
_CHANGE = frozenset(
    ("append", "appendleft", "add", "pop", "popleft", "popitem", "clear", "update", "setdefault", "remove", "discard")
    + ("extend", "insert", "put", "put_nowait", "move_to_end", "rotate", "sort", "reverse", "set", "write", "push")
)


def is_approximate(name: str, documentation: str, of_class: str) -> bool:
    """Does the documentation of a method, or a sentence of the class's that names it, promise no exact result?"""
    named = re.compile(rf"`{re.escape(name)}`|\b{re.escape(name)}\(")
    about = [part for part in re.split(r"[.;]\s|\n\n", of_class) if named.search(part)]
    return any(_APPROXIMATE.search(text) for text in (documentation, *about))


def keeps_objects(trees: Iterable[ast.AST], *names: str) -> bool:
    """Does making an object of a class, or a class method of it, change the class, as in a singleton?"""
    makers = (
        node
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS)
        and (
            node.name in ("__new__", "__call__")
            or any(isinstance(one, ast.Name) and one.id == "classmethod" for one in node.decorator_list)
        )
    )
    return any(_changes(node, frozenset({"cls", *names})) for node in makers)


def looks_at_a_clock(trees: Iterable[ast.AST]) -> bool:
    """Is there anything in the source that depends on the time?"""
    return any(_is_clock(node) for tree in trees for node in ast.walk(tree))


def _is_clock(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _CLOCKS or (
            node.attr == "time" and isinstance(node.value, ast.Name) and node.value.id == "time"
        )
    return isinstance(node, ast.Name) and node.id in _CLOCKS


# ---------------------------------------------------------------------- which methods change the object


def changing(trees: Iterable[ast.AST], state: frozenset[str]) -> frozenset[str]:
    """Methods that change an attribute, something that an attribute holds, or a global; or call one that does.

    `state` are the globals that hold something, for a module that is itself the shared object.
    """
    state |= {"self", "s"}
    bases_first = reversed(list(trees))  # a method of the class stands for that of its base
    functions = {node.name: node for tree in bases_first for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)}
    found = {name for name, node in functions.items() if _changes(node, state)}
    while True:
        more = {name for name, node in functions.items() if name not in found and _called(node) & found}
        if not more:
            return frozenset(found)
        found |= more


def _changes(function: _Function, state: frozenset[str]) -> bool:
    shared = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Attribute | ast.Subscript)
            and not isinstance(node.ctx, ast.Load)
            and _part_of(node, state)
        ):
            return True
        if isinstance(node, ast.Name) and node.id in shared and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGE:
            holder = node.func.value
            if _part_of(holder, state) and not _is_self(holder):
                return True
    return False


def _part_of(node: ast.AST, state: frozenset[str]) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and node.id in state


def _called(function: _Function) -> set[str]:
    return {
        node.func.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_self(node.func.value)
    }


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "s")


# ---------------------------------------------------------------------- attributes that only count


def tallies(trees: Iterable[ast.AST]) -> frozenset[str]:
    """Attributes that only count events: raised by one in places and never read by the class itself.

    Such statistics are not what the class is for.
    """
    counted: set[str] = set()
    used: set[str] = set()
    kept: set[str] = set()
    methods: set[str] = set()  # called, and no state
    for tree in trees:
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            methods.add(function.name)
            locks = {id(node) for node in _taken_as_locks(function)}
            for node in ast.walk(function):
                if id(node) in locks:
                    continue
                if isinstance(node, ast.AugAssign) and _is_self_attribute(node.target):
                    if isinstance(node.value, ast.Constant) and node.value.value == 1:
                        counted.add(node.target.attr)  # type: ignore[union-attr]
                    else:
                        used.add(node.target.attr)  # type: ignore[union-attr]
                elif isinstance(node, ast.Attribute) and _is_self_attribute(node):
                    if isinstance(node.ctx, ast.Load):
                        used.add(node.attr)
                    elif function.name not in ("__init__", "__new__"):
                        kept.add(node.attr)
    found = counted - used
    return frozenset(found) if (used | kept) - found - methods - {"_lock", "lock"} else frozenset()


def _taken_as_locks(function: ast.AST) -> Iterator[ast.expr]:
    """What is only entered, taken or given back."""
    for node in ast.walk(function):
        if isinstance(node, ast.With):
            yield from (item.context_expr for item in node.items)
        elif isinstance(node, ast.Attribute) and node.attr in ("acquire", "release"):
            yield node.value


def _is_self_attribute(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and _is_self(node.value)


def asked_of_parameters(trees: Iterable[ast.AST]) -> dict[str, frozenset[str]]:
    """By the name of a parameter of a constructor that is kept as it is: the methods that are called on it."""
    whole = list(trees)
    kept: dict[str, str] = {}  # attribute -> parameter
    for tree in whole:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                names = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
                for line in ast.walk(node):
                    if isinstance(line, ast.Assign) and isinstance(line.value, ast.Name) and line.value.id in names:
                        kept |= {one.attr: line.value.id for one in line.targets if _of_self(one)}
    found: dict[str, set[str]] = {}
    for tree in whole:
        for node in ast.walk(tree):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and _of_self(called.value) and called.value.attr in kept:
                found.setdefault(kept[called.value.attr], set()).add(called.attr)
    return {name: frozenset(asked) for name, asked in found.items()}


def _of_self(node: ast.AST) -> typing.TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
