"""Heap assumptions that follow from the code: what only constructors link is acyclic, what a field owns is not shared.

An object whose links are all set by its own constructor, to what the constructor was given or makes itself, can only
point to objects that are older than it or belong to it alone; so no path of links comes back. This is inferred only
on request (--infer-assumptions), and only if nothing in the package (or beside the module) can do otherwise: no other
assignment to a field of that name, no setattr, no container of objects that could be added to, no constructor that
lets `self` out.

`unit_owned` decides which fields own what they hold. Then no two fields hold the same object, nor do a field and an
argument; and where all links are owned, nothing at all is shared, and there are no cycles.
"""

from __future__ import annotations

import ast
import dataclasses
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from treadle.symbolic import types as t
from treadle.symbolic.heap.assumptions import HeapAssumption
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.types import fields
from treadle.symbolic.python.types.heirs import known_subclasses
from treadle.units.owned import Owning
from treadle.units.target import UnitTarget


@dataclass(frozen=True, slots=True)
class Inferred:
    """An assumption, and why it holds; `says` is what follows from it for these inputs, in a person's words."""

    assumption: HeapAssumption
    reason: str
    says: str = ""

    def __str__(self) -> str:
        return f"{self.says or self.assumption}: {self.reason}"


class _No(Exception):
    """The structure may be cyclic."""


def inferred(target: UnitTarget, types: dict[str, t.Type]) -> list[Inferred]:
    """What the code says about the inputs."""
    inputs: dict[str, t.Type] = dict(types)
    if target.receiver == "self" and target.cls is not None:
        inputs = {"self": t.Instance(target.cls), **inputs}
    linked = _linked_by_constructors(target, inputs)
    return [*linked, *_owned(target, inputs, {one.assumption for one in linked})]


def _linked_by_constructors(target: UnitTarget, inputs: dict[str, t.Type]) -> list[Inferred]:
    """acyclic(x) for every input whose structure only constructors link."""
    found: list[Inferred] = []
    for name, kind in inputs.items():
        classes = [o.cls for o in t.options(kind) if isinstance(o, t.Instance)]
        if not classes:
            continue
        try:
            links = _structure(classes)
            if not _comes_back(links):
                continue  # no field leads back to its own class: there is nothing to assume
            _only_constructors(links, target)
        except (_No, source.NoSource):
            continue
        shown = ", ".join(f"{cls.__name__}.{field}" for cls, own in links.items() for field in own)
        verb = "is" if "," not in shown else "are"
        found.append(Inferred(HeapAssumption("acyclic", (name,)), f"{shown} {verb} assigned by constructors only"))
    return found


# --- fields that own what they hold -----------------------------------------------------------------------------


def _owned(target: UnitTarget, inputs: dict[str, t.Type], known: set[HeapAssumption]) -> list[Inferred]:
    held = _held_by_fields(inputs.values())
    try:
        owning = Owning({target.file, *_project_files(target), *_files_of(held)})
    except (source.NoSource, OSError):
        return []
    owned = [name for name in _names(held) if _is_owned(name, held, owning)]
    if not owned:
        return []
    whole = set(_names(held)) <= set(owned) and not any(map(_has_open_parts, _kinds(held)))
    assumption = HeapAssumption("owned", tuple(owned))
    shown = [f"{cls.__name__}.{field}" for cls, own in held.items() for field in own if field in owned]
    hold = "holds" if len(shown) == 1 else "hold"
    reason = f"what {' and '.join(shown)} {hold} is made to be put there, and never given away"
    says = list(_statements(inputs, held, owned, whole)) or [f"nothing else holds what {' and '.join(shown)} {hold}"]
    found = [Inferred(assumption, reason, text) for text in dict.fromkeys(says)]
    for name, kind in inputs.items():
        acyclic = HeapAssumption("acyclic", (name,))
        if whole and acyclic not in known and _may_come_back(kind, held):
            found.append(Inferred(acyclic, reason))
    return found


Held = dict[type, dict[str, t.Type]]


def _held_by_fields(kinds: Iterable[t.Type]) -> Held:
    """Class -> its fields that hold objects or containers, for every class that inputs lead to."""
    found: Held = {}
    todo = [c for kind in kinds for c in _instances(kind)]
    while todo:
        cls = todo.pop(0)
        if cls not in found:
            own = {n: k for n, k in fields.field_types(cls).items() if any(map(_is_reference, t.options(k)))}
            found[cls] = own
            todo.extend(c for kind in own.values() for c in _instances(kind))
    return found


def _is_reference(kind: t.Type) -> bool:
    return not isinstance(kind, t.Scalar | t.NoneType | t.OneOf | t.Samples)


def _instances(kind: t.Type) -> Iterator[type]:
    """Every class that an object in a value of this type may have."""
    for option in t.options(kind):
        if isinstance(option, t.Instance):
            yield from known_subclasses(option.cls)
        else:
            for part in _parts(option):
                yield from _instances(part)


def _parts(kind: t.Type) -> list[t.Type]:
    if isinstance(kind, t.DictOf):
        return [kind.key, kind.value]
    if isinstance(kind, t.ListOf | t.SetOf):
        return [kind.element]
    if isinstance(kind, t.TupleOf):
        return [*kind.elements, *([kind.rest] if kind.rest is not None else [])]
    return []


def _names(held: Held) -> list[str]:
    return list(dict.fromkeys(field for own in held.values() for field in own))


def _kinds(held: Held) -> list[t.Type]:
    return [kind for own in held.values() for kind in own.values()]


def _files_of(held: Held) -> set[str]:
    modules = [sys.modules.get(cls.__module__) for cls in held]
    return {file for m in modules if isinstance(file := getattr(m, "__file__", None), str)}


def _is_owned(field: str, held: Held, owning: Owning) -> bool:
    options = [o for own in held.values() if field in own for o in t.options(own[field]) if _is_reference(o)]
    if not all(isinstance(o, t.Instance | t.ListOf | t.SetOf | t.DictOf) for o in options):
        return False
    if any(dataclasses.is_dataclass(cls) or type(cls) is not type for cls, own in held.items() if field in own):
        return False
    classes = {c for o in options if isinstance(o, t.Instance) for c in known_subclasses(o.cls)}
    containers = any(not isinstance(o, t.Instance) for o in options)
    return owning.owns(field, sorted(c.__name__ for c in classes), containers=containers)


def _has_open_parts(kind: t.Type) -> bool:
    """A container holds objects of its own: who else has them is not known."""
    return any(_is_reference(part) for o in t.options(kind) for p in _parts(o) for part in t.options(p))


def _may_come_back(kind: t.Type, held: Held) -> bool:
    links = {cls: {n: set(_instances(k)) for n, k in own.items()} for cls, own in held.items()}
    return any(c in links for c in _instances(kind)) and _comes_back(links)


def _statements(inputs: dict[str, t.Type], held: Held, owned: list[str], whole: bool) -> Iterator[str]:
    """What follows for the places that the inputs lead to directly, where they could be the same otherwise."""
    places = [(name, field, k) for name, kind in inputs.items() for field, k in _fields_of(kind, held).items()]
    for number, (name, field, kind) in enumerate(places):
        for other, field_2, kind_2 in places[number + 1 :]:
            alike = inputs[name] == inputs[other]
            if name != other and field != field_2 and alike:
                continue  # said of each of them already
            if {field, field_2} & set(owned) and _overlap(kind, kind_2):
                # a method may be called on what a field of another argument owns: then that one reaches all of it
                word = "non_sharing" if whole and (name != "self" or other == "self") else "non_aliasing"
                unless = f" unless {name} is {other}" if field == field_2 else ""
                yield f"{word}({name}.{field}, {other}.{field_2}){unless}"
        for other, kind_2 in inputs.items():
            if field in owned and other not in ("self", name) and _overlap(kind, kind_2):
                yield f"non_aliasing({name}.{field}, {other})"


def _fields_of(kind: t.Type, held: Held) -> dict[str, t.Type]:
    found: dict[str, t.Type] = {}
    for option in t.options(kind):
        if isinstance(option, t.Instance):
            for cls in known_subclasses(option.cls):
                found.update(held.get(cls, {}))
    return found


def _overlap(a: t.Type, b: t.Type) -> bool:
    """Whether one object can be of both types."""
    for one in t.options(a):
        for two in t.options(b):
            if isinstance(one, t.Instance) and isinstance(two, t.Instance):
                if set(known_subclasses(one.cls)) & set(known_subclasses(two.cls)):
                    return True
            elif isinstance(one, t.ListOf | t.SetOf | t.DictOf) and one == two:
                return True
    return False


# --- the structure: classes and the fields that link them -------------------------------------------------------


def _structure(classes: Iterable[type]) -> dict[type, dict[str, set[type]]]:
    """Class -> its link fields -> the classes they lead to, for everything that can be reached."""
    found: dict[type, dict[str, set[type]]] = {}
    todo = [c for cls in classes for c in known_subclasses(cls)]
    while todo:
        cls = todo.pop(0)
        if cls in found:
            continue
        found[cls] = {}
        for name, kind in fields.field_types(cls).items():
            reached = set(_classes_in(kind))
            if reached:
                found[cls][name] = reached
                todo.extend(reached)
    return found


def _classes_in(kind: t.Type) -> Iterator[type]:
    for option in t.options(kind):
        if isinstance(option, t.Instance):
            yield from known_subclasses(option.cls)
        elif isinstance(option, t.TupleOf):
            for element in (*option.elements, *([option.rest] if option.rest is not None else [])):
                yield from _classes_in(element)
        elif isinstance(option, t.ListOf | t.SetOf | t.DictOf):
            inside = [option.key, option.value] if isinstance(option, t.DictOf) else [option.element]
            if any(True for part in inside for _ in _classes_in(part)):
                raise _No  # it can be added to, by anybody
        elif not isinstance(option, t.Scalar | t.NoneType | t.OneOf | t.Samples):
            raise _No


def _comes_back(links: dict[type, dict[str, set[type]]]) -> bool:
    def reached(start: type) -> set[type]:
        seen: set[type] = set()
        todo = [c for targets in links[start].values() for c in targets]
        while todo:
            cls = todo.pop()
            if cls not in seen:
                seen.add(cls)
                todo.extend(c for targets in links.get(cls, {}).values() for c in targets)
        return seen

    return any(cls in reached(cls) for cls in links)


# --- the code: who assigns the links ---------------------------------------------------------------------------

_FORBIDDEN = ("__new__", "__setattr__", "__setstate__", "__getattr__", "__getattribute__")


def _only_constructors(links: dict[type, dict[str, set[type]]], target: UnitTarget) -> None:
    names = {field for own in links.values() for field in own}
    constructors: set[ast.AST] = set()
    files: set[str] = {target.file}
    for cls in links:
        definition, file = _definition(cls)
        files.add(file)
        for statement in definition.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name in _FORBIDDEN:
                raise _No
            if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
                _check_constructor(statement, names)
                constructors.add(statement)
        if dataclasses.is_dataclass(cls) and any(
            isinstance(s, ast.FunctionDef) and s.name == "__post_init__" for s in definition.body
        ):
            raise _No
    for file in files | set(_project_files(target)):
        _check_module(source.tree_of(file)[0], names, constructors)


def _definition(cls: type) -> tuple[ast.ClassDef, str]:
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    if type(cls).__call__ is not type.__call__ or file is None:
        raise _No
    tree, _ = source.tree_of(file)
    body: list[ast.stmt] = tree.body
    found: ast.ClassDef | None = None
    for part in cls.__qualname__.split("."):
        found = next((s for s in body if isinstance(s, ast.ClassDef) and s.name == part), None)
        if found is None:
            raise _No
        body = found.body
    assert found is not None
    return found, file


def _check_constructor(init: ast.FunctionDef, names: set[str]) -> None:
    """Links get parameters, None, or objects made on the spot; nothing else learns of `self`."""
    arguments = [*init.args.posonlyargs, *init.args.args, *init.args.kwonlyargs]
    me, parameters = arguments[0].arg, {a.arg for a in arguments[1:]}
    for node in ast.walk(init):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in parameters | {me}:
            raise _No
    for node in ast.walk(init):
        pairs: list[tuple[ast.expr, ast.expr | None]] = []
        if isinstance(node, ast.Assign):
            pairs = [(one, node.value) for one in node.targets]
        elif isinstance(node, ast.AnnAssign | ast.AugAssign):
            pairs = [(node.target, node.value)]
        for place, value in pairs:
            for part in ast.walk(place):
                if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and part.attr in names:
                    own = part is place and isinstance(part.value, ast.Name) and part.value.id == me
                    if not own or value is None or not _harmless(value, me, parameters):
                        raise _No
    fine = {id(n.value) for n in ast.walk(init) if isinstance(n, ast.Attribute)}
    for node in ast.walk(init):
        if isinstance(node, ast.Name) and node.id == me and id(node) not in fine:
            raise _No  # self is given to somebody
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == me:
                raise _No  # a method of its own may do anything with it


def _harmless(value: ast.expr, me: str, parameters: set[str]) -> bool:
    if isinstance(value, ast.Constant):
        return True
    if isinstance(value, ast.Name):
        return value.id in parameters
    if isinstance(value, ast.IfExp):
        return _harmless(value.body, me, parameters) and _harmless(value.orelse, me, parameters)
    if isinstance(value, ast.BoolOp):
        return all(_harmless(v, me, parameters) for v in value.values)
    if isinstance(value, ast.Tuple):
        return all(_harmless(v, me, parameters) for v in value.elts)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id[:1].isupper():
        inside = [*value.args, *(k.value for k in value.keywords)]
        return all(_harmless(v, me, parameters) for v in inside)
    return False


def _check_module(tree: ast.Module, names: set[str], constructors: set[ast.AST]) -> None:
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if node in constructors:
            continue
        if isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Store | ast.Del) and node.attr in names:
                raise _No
            if node.attr in ("__dict__", "__setattr__", "__setstate__"):
                raise _No
        if isinstance(node, ast.Name) and node.id in ("setattr", "vars", "exec", "eval"):
            raise _No
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Attribute) and called.attr == "__init__" and not _is_super(called.value):
                raise _No
        todo.extend(ast.iter_child_nodes(node))


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _project_files(target: UnitTarget) -> list[str]:
    """Every file of the target's package; of a single module, the files beside it that mention it.

    Not its tests: those put objects together as no program would, Treadle's own above all.
    """
    name = target.module.__name__.partition(".")[0]
    folders = getattr(sys.modules.get(name), "__path__", None)
    if folders is not None:
        files = [file for folder in folders for file in sorted(Path(folder).rglob("*.py"))]
    else:
        beside = sorted(Path(target.file).resolve().parent.glob("*.py"))
        files = [file for file in beside if name in file.read_text("utf-8", "replace")]
    return [str(f) for f in files if not (f.name.startswith("test_") or f.stem.endswith(("_test", "conftest")))]
