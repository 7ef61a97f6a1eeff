"""Types of parameters without hints, from how the function uses them.

A guess is only as good as the use: arithmetic means int, a str method means str, being walked over means list, the
other side of an operator means another object of the class. A parameter whose use says nothing has no type, and the
user is asked for one.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import types
from typing import Any

from treadle.symbolic import types as t
from treadle.symbolic.python.compile.source import NoSource, node_of
from treadle.symbolic.python.types import hints
from treadle.symbolic.python.types.assignments import mentioned_fields

_STR_ONLY = frozenset(n for n in dir(str) if not n.startswith("_")) - {"count", "index"}
_LIST_ONLY = frozenset({"append", "extend", "insert", "sort", "reverse", "remove"})
_DICT_ONLY = frozenset({"keys", "values", "items", "get", "setdefault", "update", "popitem"})
_SET_ONLY = frozenset({"add", "discard", "union", "intersection", "difference", "issubset", "issuperset", "isdisjoint"})
_ARITHMETIC = (ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.Add)
_BINARY = "add sub mul truediv floordiv mod divmod pow and or xor lshift rshift matmul"
_OPERATORS = frozenset(f"__{side}{name}__" for name in _BINARY.split() for side in ("", "r", "i")) | {
    *("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__")
}
# methods of a pattern, and where they take the text; the functions of `re` take the pattern first
_TEXT_PLACES = {"sub": 1, "subn": 1} | dict.fromkeys(
    ("match", "fullmatch", "search", "findall", "finditer", "split"), 0
)
_MAX_DEPTH = 3
_TEXTS = "text string name line word msg message prefix suffix sep separator title label filename pattern char"
_NUMBERS = "n k count index size width height length limit depth start stop end step num number position offset"
_LISTS = "items values numbers nums seq sequence iterable elements array words lines data"
_FUNCTIONS = "func function fn callback key op operator binop factory"
_NAMES: dict[str, t.Type] = {
    **dict.fromkeys(_TEXTS.split(), t.STR),
    **dict.fromkeys(_NUMBERS.split(), t.INT),
    **dict.fromkeys(_LISTS.split(), t.ListOf(t.INT)),
    **dict.fromkeys(_FUNCTIONS.split(), t.FunctionOf(t.INT)),
    **dict.fromkeys(("predicate", "pred"), t.FunctionOf(t.BOOL)),
    "words": t.ListOf(t.STR),
    "lines": t.ListOf(t.STR),
    "mapping": t.DictOf(t.STR, t.INT),
}


def infer_parameter(function: types.FunctionType, name: str, depth: int = 0) -> t.Type | None:
    """The type that a parameter's uses suggest, or None."""
    parameter = inspect.signature(function).parameters.get(name)
    if parameter is not None and parameter.default is not inspect.Parameter.empty:
        default = _from_value(parameter.default)
        if default is not None:
            return default
    try:
        node = node_of(function.__code__)
    except NoSource:
        return None
    body = node.body if isinstance(node.body, list) else [node.body]
    found = _Uses(_as_written(name, function), function, depth).of(body)
    if parameter is not None and parameter.default is None and found is not None:
        return t.nullable(found)
    return found


def _as_written(name: str, function: types.FunctionType) -> str:
    """The name in the source: `__x` of a method of C is `_C__x` to everybody else."""
    owner = function.__qualname__.split(".")[-2:][0].lstrip("_")
    return name.removeprefix(f"_{owner}") if name.startswith(f"_{owner}__") else name


def _from_value(value: object) -> t.Type | None:
    if isinstance(value, bool):
        return t.BOOL
    if isinstance(value, int):
        return t.INT
    if isinstance(value, float):
        return t.FLOAT
    if isinstance(value, str):
        return t.STR
    if isinstance(value, list | tuple):
        return t.ListOf((_from_value(value[0]) if value else None) or t.INT)
    if isinstance(value, dict):
        return t.DictOf(t.STR, t.INT)
    return None


class _Uses:
    """Votes for a parameter's type, strongest first."""

    def __init__(self, name: str, function: types.FunctionType, depth: int) -> None:
        self.name = name
        self.function = function
        self.depth = depth

    def is_it(self, node: ast.AST | None) -> bool:
        return isinstance(node, ast.Name) and node.id == self.name

    def of(self, body: list[Any]) -> t.Type | None:
        nodes = [n for part in body for n in ast.walk(part)]
        for rule in (
            self._isinstance,
            self._constants,
            self._methods,
            self._attributes,
            self._strings,
            self._containers,
            self._numbers,
            self._called_itself,
            self._passed_on,
            self._operand,
            self._by_name,
            self._sums,
            self._truth,
        ):
            found = rule(nodes)
            if found is not None:
                return found
        return None

    def _isinstance(self, nodes: list[ast.AST]) -> t.Type | None:
        known: list[t.Type] = []
        for node in nodes:
            match node:
                case ast.Call(func=ast.Name(id="isinstance"), args=[first, kind]) if self.is_it(first):
                    try:
                        value = eval(ast.unparse(kind), dict(self.function.__globals__))
                    except Exception:
                        continue
                    flat = value if isinstance(value, tuple) else (value,)
                    known += [k for k in (hints.from_hint(v) for v in flat) if k is not None]
        if not known:
            return None
        # a test that asks expects other answers too
        return t.union(*known, t.INT) if t.INT not in known else t.union(*known)

    def _constants(self, nodes: list[ast.AST]) -> t.Type | None:
        """Compared with texts, or with numbers and with texts: it may be either."""
        known: list[t.Type | None] = []
        for node in nodes:
            match node:
                case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant() as one]):
                    known += [_from_value(one.value)] if self.is_it(left) else []
                case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[several]) if self.is_it(left):
                    if isinstance(several, ast.Tuple | ast.List | ast.Set):
                        known += [_from_value(one.value) for one in several.elts if isinstance(one, ast.Constant)]
        kinds = [kind for kind in dict.fromkeys(known) if kind in (t.INT, t.STR)]
        return t.union(*kinds) if t.STR in kinds else None

    def _methods(self, nodes: list[ast.AST]) -> t.Type | None:
        called = {
            n.func.attr
            for n in nodes
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and self.is_it(n.func.value)
        }
        if called & _LIST_ONLY:
            return t.ListOf(self._element(nodes))
        if called & _DICT_ONLY and not called & (_STR_ONLY - _DICT_ONLY):
            return t.DictOf(t.STR, t.INT)
        if called & _SET_ONLY:
            return t.SetOf(t.INT)
        if called & _STR_ONLY:
            return t.STR
        return None

    def _attributes(self, nodes: list[ast.AST]) -> t.Type | None:
        names = {n.attr for n in nodes if isinstance(n, ast.Attribute) and self.is_it(n.value)}
        if not names:
            return None
        for value in self.function.__globals__.values():
            if not isinstance(value, type) or value.__module__ == "builtins" or issubclass(value, BaseException):
                continue
            kind = hints.from_class(value)
            if isinstance(kind, t.Instance) and all(n in mentioned_fields(value) or hasattr(value, n) for n in names):
                return kind
        return None

    def _strings(self, nodes: list[ast.AST]) -> t.Type | None:
        for node in nodes:
            match node:
                case ast.Compare(left=left, ops=[op, *_], comparators=[right, *_]):
                    for one, other in ((left, right), (right, left)):
                        text = isinstance(other, ast.Constant) and isinstance(other.value, str)
                        sought = isinstance(op, ast.In | ast.NotIn) and one is right
                        if self.is_it(one) and text and not sought:
                            return t.STR
                case ast.BinOp(left=left, right=right, op=ast.Add()):
                    for one, other in ((left, right), (right, left)):
                        text = isinstance(other, ast.JoinedStr) or (
                            isinstance(other, ast.Constant) and isinstance(other.value, str)
                        )
                        if self.is_it(one) and text:
                            return t.STR
                case ast.Call(func=ast.Name(id="ord"), args=[first]) if self.is_it(first):
                    return t.STR
                case ast.Call(func=ast.Attribute(attr="join"), args=[first]) if self.is_it(first):
                    return t.ListOf(t.STR)
                case ast.Call(func=ast.Attribute(value=owner, attr=method), args=args) if method in _TEXT_PLACES:
                    if any(self.is_it(a) for a in args) and self._is_text_for(owner, method, args):
                        return t.STR
        return None

    def _is_text_for(self, owner: ast.expr, method: str, args: list[ast.expr]) -> bool:
        """Whether it is the text that a regular expression is asked about: `SKU.match(s)`, `re.match("a+", s)`."""
        try:
            known = eval(ast.unparse(owner), dict(self.function.__globals__))
        except Exception:
            return False
        place = _TEXT_PLACES[method]
        if known is re:
            pattern = args[0] if args else None
            known = pattern.value if isinstance(pattern, ast.Constant) else pattern
            place += 1
        elif isinstance(known, re.Pattern):
            known = known.pattern
        else:
            return False
        return not isinstance(known, bytes) and place < len(args) and self.is_it(args[place])

    def _containers(self, nodes: list[ast.AST]) -> t.Type | None:
        for node in nodes:
            match node:
                case ast.Subscript(value=value, slice=index) if self.is_it(value):
                    if isinstance(index, ast.Constant) and isinstance(index.value, str):
                        return t.DictOf(t.STR, t.INT)
                    return t.ListOf(self._element(nodes))
                case ast.For(iter=source) | ast.comprehension(iter=source) if self.is_it(source):
                    return t.ListOf(self._element(nodes))
                case ast.Call(func=ast.Name(id=called), args=[first, *_]) if self.is_it(first) and called in (
                    *("len", "sum", "sorted", "any", "all", "list", "tuple", "set", "iter"),
                    *("enumerate", "zip", "reversed"),
                ):
                    return t.ListOf(self._element(nodes))
                case ast.Call(func=ast.Name(id="min" | "max"), args=[first]) if self.is_it(first):
                    return t.ListOf(self._element(nodes))
                case ast.Call(func=ast.Name(id=called), args=[_, first, *_]) if self.is_it(first) and called in (
                    *("map", "filter", "zip", "islice", "chain", "takewhile", "dropwhile"),
                ):
                    return t.ListOf(self._element(nodes))
                case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[right]) if self.is_it(right):
                    return t.ListOf(t.INT)
                case ast.Starred(value=value) if self.is_it(value):
                    return t.ListOf(t.INT)
        return None

    def _element(self, nodes: list[ast.AST]) -> t.Type:
        """From how the loop variable over the parameter is used."""
        if self.depth >= _MAX_DEPTH:
            return t.INT
        for node in nodes:
            match node:
                case ast.For(target=ast.Name(id=name), iter=source, body=body) if self.is_it(source):
                    return _Uses(name, self.function, self.depth + 1).of(list(body)) or t.INT
                case ast.ListComp(elt=elt, generators=[generator]) | ast.GeneratorExp(elt=elt, generators=[generator]):
                    if self.is_it(generator.iter) and isinstance(generator.target, ast.Name):
                        inner = _Uses(generator.target.id, self.function, self.depth + 1)
                        return inner.of([elt, *generator.ifs]) or t.INT
        return t.INT

    def _numbers(self, nodes: list[ast.AST]) -> t.Type | None:
        for node in nodes:
            match node:
                case ast.BinOp(left=left, right=right, op=op) if self.is_it(left) or self.is_it(right):
                    if isinstance(op, ast.Div):
                        return t.FLOAT
                    other = right if self.is_it(left) else left
                    number = isinstance(other, ast.Constant) and isinstance(other.value, int | float)
                    if isinstance(op, _ARITHMETIC) and (not isinstance(op, ast.Add) or number):
                        if isinstance(other, ast.Constant) and isinstance(other.value, float):
                            return t.FLOAT
                        return t.INT
                case ast.AugAssign(target=target, op=op, value=value) if self.is_it(target) or self.is_it(value):
                    if not isinstance(op, ast.Add):
                        return t.INT
                case ast.UnaryOp(op=ast.USub(), operand=operand) if self.is_it(operand):
                    return t.INT
                case ast.Compare(left=left, ops=ops, comparators=rights):
                    sides = [left, *rights]
                    if any(self.is_it(s) for s in sides):
                        if any(isinstance(s, ast.Constant) and isinstance(s.value, float) for s in sides):
                            return t.FLOAT
                        if any(isinstance(o, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for o in ops):
                            return t.INT
                        if any(isinstance(s, ast.Constant) and isinstance(s.value, int) for s in sides):
                            return t.INT
                case ast.Call(func=ast.Name(id=called), args=args) if called in (
                    "range",
                    "abs",
                    "chr",
                    "int",
                    "divmod",
                ):
                    if any(self.is_it(a) for a in args):
                        return t.INT
                case ast.Call(func=ast.Name(id="min" | "max"), args=[_, _, *_] as args):
                    if any(self.is_it(a) for a in args):
                        return self._beside(args)
                case ast.Subscript(slice=index) if self.is_it(index):
                    return t.INT
        return None

    def _beside(self, others: list[ast.expr]) -> t.Type:
        """A number, of the kind that the others are known to be."""
        parameters = inspect.signature(self.function).parameters
        values = [o.value for o in others if isinstance(o, ast.Constant)]
        values += [parameters[o.id].default for o in others if isinstance(o, ast.Name) and o.id in parameters]
        return t.FLOAT if any(isinstance(v, float) for v in values) else t.INT

    def _operand(self, nodes: list[ast.AST]) -> t.Type | None:
        """The other side of an operator that the class defines: one of its objects, or something else."""
        name = self.function.__name__
        owner = self._owner()
        if (
            owner is None
            or name not in _OPERATORS
            or list(inspect.signature(self.function).parameters)[1:] != [self.name]
        ):
            return None
        kind = hints.from_class(owner)
        return t.union(kind, t.INT) if isinstance(kind, t.Instance) else None

    def _owner(self) -> type | None:
        """The class in whose body the function is, if that is a class of the module."""
        first, _, rest = self.function.__qualname__.partition(".")
        owner = self.function.__globals__.get(first)
        return owner if isinstance(owner, type) and "." not in rest and rest else None

    def _passed_on(self, nodes: list[ast.AST]) -> t.Type | None:
        """As an argument of a function whose parameter has a type."""
        if self.depth >= _MAX_DEPTH:
            return None
        for node in nodes:
            called, shift = self._called(node)
            if called is None or not isinstance(node, ast.Call):
                continue
            for position, argument in enumerate(node.args):
                if self.is_it(argument):
                    found = _parameter_at(called, position + shift, self.depth + 1)
                    if found is not None:
                        return found
        return None

    def _called(self, node: ast.AST) -> tuple[types.FunctionType | None, int]:
        """The function a call means, and how many parameters its receiver takes."""
        names = self.function.__globals__
        match node:
            case ast.Call(func=ast.Name(id=name)) if name == next(
                iter(inspect.signature(self.function).parameters), None
            ):
                owner = self._owner()
                init = owner.__dict__.get("__init__") if owner is not None else None
                return (init, 1) if isinstance(init, types.FunctionType) else (None, 0)
            case ast.Call(func=ast.Name(id=name)):
                found = names.get(name)
                if isinstance(found, type):
                    init = found.__dict__.get("__init__")
                    return (init, 1) if isinstance(init, types.FunctionType) else (None, 0)
                return (found, 0) if isinstance(found, types.FunctionType) else (None, 0)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=receiver), attr=name)):
                owner = self._owner()
                itself = next(iter(inspect.signature(self.function).parameters), "")
                if owner is None or receiver != itself:
                    return None, 0
                method = inspect.getattr_static(owner, name, None)
                return (method, 1) if isinstance(method, types.FunctionType) else (None, 0)
        return None, 0

    def _called_itself(self, nodes: list[ast.AST]) -> t.Type | None:
        """f(...): a function; one that decides returns a truth value."""
        asked = [n.test for n in nodes if isinstance(n, ast.If | ast.IfExp | ast.While)]
        asked += [test for n in nodes if isinstance(n, ast.comprehension) for test in n.ifs]
        asked = [test.operand if isinstance(test, ast.UnaryOp) else test for test in asked]
        found = [n for n in nodes if isinstance(n, ast.Call) and self.is_it(n.func)]
        if not found:
            return None
        return t.FunctionOf(t.BOOL if any(call in asked for call in found) else t.INT)

    def _sums(self, nodes: list[ast.AST]) -> t.Type | None:
        """Added to something: the weakest sign of a number."""
        for node in nodes:
            match node:
                case ast.BinOp(left=left, right=right, op=ast.Add()) if self.is_it(left) or self.is_it(right):
                    return t.INT
                case ast.AugAssign(target=target, op=ast.Add(), value=value):
                    if self.is_it(target) or self.is_it(value):
                        return t.INT
        return None

    def _by_name(self, nodes: list[ast.AST]) -> t.Type | None:
        """What everybody means by the name, when the use leaves it open."""
        used = any(isinstance(n, ast.Name) and n.id == self.name for n in nodes)
        words = self.name.strip("_").lower().split("_")
        return _NAMES.get(words[-1]) if used and self.depth == 0 else None

    def _truth(self, nodes: list[ast.AST]) -> t.Type | None:
        for node in nodes:
            match node:
                case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if self.is_it(test):
                    return t.BOOL
                case ast.UnaryOp(op=ast.Not(), operand=operand) if self.is_it(operand):
                    return t.BOOL
        return None


@functools.lru_cache(1024)
def _parameter_at(function: types.FunctionType, position: int, depth: int) -> t.Type | None:
    parameters = list(inspect.signature(function).parameters.values())
    if position >= len(parameters) or depth > _MAX_DEPTH:
        return None
    name = parameters[position].name
    hint = hints.resolved_hints(function).get(name)
    kind = hints.from_hint(hint) if hint is not None else None
    return kind if kind is not None else infer_parameter(function, name, depth)
