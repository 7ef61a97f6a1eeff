"""Fields that own what they hold: the text of a project proves that nobody else ever has it.

    class Queue:
        def __init__(self) -> None:
            self._items: list[int] = []

If every assignment to a field of this name, anywhere in the project, gives it None or something made on the spot, by a
method, to its own object; and if nothing that reads the field hands on what it holds; then the object in the field is
held by nothing else. So two fields never share it, no two objects do, and it is no argument of a function. `self` may
be such an object: a method is called on what a field holds.

Decided by names, for all fields of one name together, and on the safe side: a use that is not known to be harmless (a
local variable, a return, an argument) gives the object away, and so does reflection.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence

from treadle.symbolic.python.compile import source

_CONTAINERS = {"list", "dict", "set"}
# Built-in functions that look at what they are given, or copy it.
_LOOKS = {
    *("len", "bool", "sum", "min", "max", "any", "all", "sorted", "list", "tuple", "set", "dict", "frozenset", "str"),
    *("repr", "enumerate", "zip", "reversed", "isinstance", "print"),
}
_LOOKS_AT_OBJECTS = {"isinstance", "bool", "len", "str", "repr"}
# Methods that get the other operand: with one of them in the project, an operator may give an object away.
_OPERATORS = {
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__"),
    *("__radd__", "__rsub__", "__rmul__", "__ror__", "__rand__", "__rxor__"),
}
_REFLECTION = {"setattr", "delattr", "vars", "exec", "eval", "globals", "attrgetter", "methodcaller", "copy", "replace"}
_REFLECTIVE_ATTRIBUTES = {"__dict__", "__setattr__", "__setstate__", "__reduce__", "__new__", "__getattribute__"}
_REFLECTIVE_METHODS = {"__getattr__", "__copy__", "__init_subclass__", "__instancecheck__"}
_PLAIN_DECORATORS = {"property", "setter", "staticmethod", "classmethod", "abstractmethod", "override", "final"}


class Owning:
    """The text of a project, and what it says about fields."""

    def __init__(self, files: Iterable[str]) -> None:
        self._trees = [source.tree_of(file) for file in sorted(set(files))]
        self._nodes = [(node, parents) for tree, parents in self._trees for node in ast.walk(tree)]
        bound = Counter(name for node, parents in self._nodes for name in _binds(node, parents))
        self._classes = {n.name: n for n, _ in self._nodes if isinstance(n, ast.ClassDef) and bound[n.name] == 1}
        self._looks = {name for name in _LOOKS if not bound[name]}
        self._containers = {name for name in _CONTAINERS if not bound[name]}
        self._methods = {m.name for c, _ in self._nodes if isinstance(c, ast.ClassDef) for m in _methods(c)}
        self.reflects = any(_reflects(node, parents) for node, parents in self._nodes)

    def owns(self, field: str, classes: Sequence[str], *, containers: bool) -> bool:
        """Whether fields of this name own what they hold: objects of these classes, or lists, dicts and sets."""
        if self.reflects or not all(map(self._keeps_to_itself, classes)):
            return False
        operators = not self._methods.isdisjoint(_OPERATORS)
        uses = _Uses(field, containers and not classes, self._methods, self._looks, operators)
        assigned = False
        for node, parents in self._nodes:
            if isinstance(node, ast.Attribute) and node.attr == field:
                if isinstance(node.ctx, ast.Store):
                    assigned = True
                    if not self._fresh(node, parents, uses):
                        return False
                elif isinstance(node.ctx, ast.Del) or not uses.harmless(node, parents):
                    return False
            elif _names_otherwise(node, parents, field):
                return False
        return assigned

    def _fresh(self, place: ast.Attribute, parents: dict[ast.AST, ast.AST], uses: _Uses) -> bool:
        """Whether a method assigns to a field of its own object something that nobody else has."""
        statement = parents[place]
        if isinstance(statement, ast.AugAssign):
            return uses.only_containers
        if isinstance(statement, ast.Assign):
            sole = len(statement.targets) == 1 and statement.targets[0] is place
        else:
            sole = isinstance(statement, ast.AnnAssign) and statement.target is place
        if not sole or not isinstance(place.value, ast.Name) or place.value.id != _self_of(place, parents):
            return False
        assert isinstance(statement, ast.Assign | ast.AnnAssign)
        return statement.value is None or self._made(statement.value)

    def _made(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Constant):
            return value.value is None
        if isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp):
            return True
        if isinstance(value, ast.BinOp):
            return isinstance(value.op, ast.Mult) and any(isinstance(v, ast.List) for v in (value.left, value.right))
        if isinstance(value, ast.IfExp):
            return self._made(value.body) and self._made(value.orelse)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            return value.func.id in self._containers or value.func.id in self._classes
        return False

    def _keeps_to_itself(self, name: str) -> bool:
        """Whether no method of a class, or of those above it, gives away the object that it is called on."""
        definition = self._classes.get(name)
        if definition is None or definition.decorator_list or definition.keywords:
            return False
        for base in definition.bases:
            if not isinstance(base, ast.Name) or not (base.id == "object" or self._keeps_to_itself(base.id)):
                return False
        return all(map(self._method_keeps, _methods(definition)))

    def _method_keeps(self, method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        decorators = {d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", "") for d in method.decorator_list}
        if decorators - _PLAIN_DECORATORS:
            return False
        if "staticmethod" in decorators or "classmethod" in decorators:
            return True
        arguments = [*method.args.posonlyargs, *method.args.args]
        if not arguments:
            return False
        me = arguments[0].arg
        parents = {child: node for node in ast.walk(method) for child in ast.iter_child_nodes(node)}
        for node in ast.walk(method):
            if not isinstance(node, ast.Name) or node.id != me:
                continue
            around = parents.get(node)
            if not isinstance(around, ast.Attribute) or not isinstance(node.ctx, ast.Load):
                return False
            if around.attr in self._methods and not _is_called(around, parents) and "property" not in decorators:
                return False  # a bound method holds its object
        return True


class _Uses:
    """Ways to read a field that do not hand on what it holds."""

    def __init__(self, field: str, only_containers: bool, methods: set[str], looks: set[str], operators: bool) -> None:
        self.field = field
        self.only_containers = only_containers
        self._methods = methods
        self._looks = looks
        self._operators = operators  # comparing with ==, adding to, ... may run code of the project

    def harmless(self, node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
        around = parents[node]
        match around:
            case ast.Attribute():
                called = _is_called(around, parents)
                named = around.attr.startswith("__")
                return not named and (called or not (self.only_containers or around.attr in self._methods))
            case ast.Subscript():
                return around.value is node
            case ast.For() | ast.comprehension():
                return around.iter is node
            case ast.Compare():
                same = all(isinstance(op, ast.Is | ast.IsNot) for op in around.ops)
                return same or not self._operators
            case ast.Call():
                name = around.func.id if isinstance(around.func, ast.Name) else ""
                return name in self._looks and (self.only_containers or name in _LOOKS_AT_OBJECTS)
            case ast.Starred():
                return self.only_containers
            case ast.BinOp():
                return self.only_containers and not self._operators
            case ast.FormattedValue() | ast.Expr():
                return True
        return _is_tested(node, parents)


def _methods(definition: ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [s for s in definition.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]


def _self_of(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str | None:
    """What the method around a place calls its object."""
    inside: ast.AST | None = node
    while inside is not None and not isinstance(inside, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        inside = parents.get(inside)
    if not isinstance(inside, ast.FunctionDef) or not isinstance(parents.get(inside), ast.ClassDef):
        return None
    arguments = [*inside.args.posonlyargs, *inside.args.args]
    rebound = {n.id for n in ast.walk(inside) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    decorated = any(getattr(d, "id", "") in ("staticmethod", "classmethod") for d in inside.decorator_list)
    return arguments[0].arg if arguments and not decorated and arguments[0].arg not in rebound else None


def _is_called(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    around = parents.get(node)
    return isinstance(around, ast.Call) and around.func is node


def _is_tested(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether only the truth of a value is asked for."""
    inner: ast.AST = node
    around = parents[inner]
    while isinstance(around, ast.BoolOp):
        inner, around = around, parents[around]
    if isinstance(around, ast.UnaryOp):
        return isinstance(around.op, ast.Not)
    if isinstance(around, ast.comprehension):
        return inner in around.ifs
    return isinstance(around, ast.If | ast.While | ast.IfExp | ast.Assert) and around.test is inner


def _binds(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> list[str]:
    """The names of classes and functions that a statement gives a meaning to."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        inside = isinstance(parents.get(node), ast.ClassDef)
        return [] if inside and not isinstance(node, ast.ClassDef) else [node.name]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    if isinstance(node, ast.alias) and node.asname is not None and node.asname != node.name:
        return [node.asname]
    return [node.arg] if isinstance(node, ast.arg) else []


def _reflects(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether the text reads or changes fields without naming them, or copies objects with what they hold."""
    if isinstance(node, ast.Name):
        return node.id in _REFLECTION and not isinstance(parents.get(node), ast.Attribute)
    if isinstance(node, ast.ImportFrom):
        return any(alias.name in _REFLECTION for alias in node.names)
    if isinstance(node, ast.Attribute):
        if node.attr in _REFLECTIVE_ATTRIBUTES:
            return True
        return node.attr in _REFLECTION and isinstance(node.value, ast.Name) and node.value.id in _MODULES
    if isinstance(node, ast.FunctionDef):
        return node.name in _REFLECTIVE_ATTRIBUTES | _REFLECTIVE_METHODS
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
        return len(node.args) < 2 or not isinstance(node.args[1], ast.Constant)
    return False


_MODULES = {"copy", "dataclasses", "operator", "builtins", "object", "inspect"}


def _names_otherwise(node: ast.AST, parents: dict[ast.AST, ast.AST], field: str) -> bool:
    """The field is a parameter of a generated constructor, an attribute of the class, a pattern, or a text."""
    if isinstance(node, ast.Constant):
        return node.value == field and not _in_slots(node, parents)
    if isinstance(node, ast.MatchClass):
        return field in node.kwd_attrs or bool(node.patterns)
    if isinstance(node, ast.Name) and node.id == field and isinstance(node.ctx, ast.Store):
        around = parents.get(node)
        if not isinstance(around, ast.AnnAssign | ast.Assign) or not isinstance(parents.get(around), ast.ClassDef):
            return False
        owner = parents[around]
        assert isinstance(owner, ast.ClassDef)
        constant = isinstance(around.value, ast.Constant) and around.value.value is None
        return bool(owner.decorator_list) or not (around.value is None or constant)
    return False


def _in_slots(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    around: ast.AST | None = parents.get(node)
    while isinstance(around, ast.Tuple | ast.List | ast.Set):
        around = parents.get(around)
    names = [t.id for t in around.targets if isinstance(t, ast.Name)] if isinstance(around, ast.Assign) else []
    return names == ["__slots__"]
