"""Which functions a step of a Python program may call, and so which goals it may reach: by names, on the safe side.

The world is what the target's module imports, directly or not, and whatever else is loaded and refers to a part of the
world: a module that registers its functions with another is imported by nobody. The library and installed packages are
left out (unless the target is one of them). Within the world a function can be entered

- by a call that names it: a global name is looked up, an attribute stands for every function of that name;
- implicitly: dunder methods, properties, and the bodies of generators, by nearly any step;
- as a value, by any call that cannot be resolved: nested functions and lambdas, functions mentioned other than to be
  called, functions under a decorator; all functions, when somewhere an attribute is looked up by a computed name, or
  a module of the project is imported that is not loaded yet.

Code outside the world may call methods too, by whatever name. The search checks this knowledge against every call
that it sees (`guide.distrust`).
"""

from __future__ import annotations

import ast
import builtins
import functools
import os
import sys
import types
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from treadle.symbolic.ir import steps as ir
from treadle.symbolic.ir.flow import FlowGoals
from treadle.symbolic.python.compile import source

# Steps that run no code of the program besides themselves.
_QUIET = (
    ir.AssignStep,
    ir.DeleteStep,
    ir.LoadGlobalStep,
    ir.LoadOuterStep,
    ir.StoreOuterStep,
    ir.StoreGlobalStep,
    ir.ClosureStep,
    ir.BeginLoopStep,
    ir.CatchStep,
    ir.JumpStep,
    ir.BranchStep,  # the condition has been made a truth value by a step of its own
    ir.ReturnStep,
    ir.YieldStep,
    ir.StopStep,
)
# Decorators that hand on the function as it is, or wrapped so that only a call of its name gets there.
_TRANSPARENT = {"staticmethod", "classmethod", "abstractmethod", "override", "final", "overload", "cache", "lru_cache"}
_PROPERTY = {"property", "cached_property", "setter", "getter", "deleter"}
_PLAIN = _TRANSPARENT | _PROPERTY
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp)
# Names by which a program gets at attributes that its text does not name.
_DYNAMIC = {
    *("globals", "locals", "vars", "eval", "exec", "__dict__", "__getattribute__", "methodcaller", "attrgetter"),
    *("__globals__", "f_globals", "f_locals", "getmembers", "getmembers_static", "getattr_static", "get_objects"),
    *("import_module", "__import__", "resolve_name", "run_module", "run_path"),
}
_CONTRACTS = frozenset({"icontract", "deal"})
_BUILTIN_METHODS = {name for cls in (list, dict, set, frozenset, str, bytes, tuple, int, float) for name in dir(cls)}

Key = tuple[str, int]  # file and first line of a definition


@dataclass(slots=True)
class _Function:
    """What one definition calls, by name."""

    file: str
    first: int
    last: int
    name: str
    module: types.ModuleType
    is_method: bool
    is_value: bool  # somebody may hold it without naming it
    implicit: bool
    own: int = 0  # goals in its body
    globals_called: set[str] = field(default_factory=set)
    names_called: set[str] = field(default_factory=set)  # as attributes
    unresolved: bool = False
    reach: int = 0


class CallGraph:
    """The functions of a world, each with the goals that a call of it may reach."""

    def __init__(self, module: types.ModuleType, goals: FlowGoals, extra: Iterable[tuple[Key, int]] = ()) -> None:
        """`extra` adds goals to functions: those that are not lines."""
        self._functions: list[_Function] = []
        self._by_key: dict[Key, list[_Function]] = {}  # several lambdas may share a line
        self._by_name: dict[str, list[_Function]] = {}
        self._values: set[str] = set()  # names mentioned other than to be called
        self._escaping: list[_Function] = []
        self._all_escape = False
        self._promises = False  # somebody's contracts may be checked
        self._slots: dict[int, dict[str, ir.IrStep | None]] = {}
        self._files: set[str] = set()
        for loaded in world(module, {file for file, _ in goals.lines}, importing=True):
            self._read(loaded)
            imported = _imports(loaded)
            self._all_escape = self._all_escape or any(map(_is_to_be_loaded, imported))
            self._promises = self._promises or bool(_CONTRACTS & imported)
        for function in self._functions:
            for (file, line), mask in goals.lines.items():
                if function.file == file and function.first <= line <= function.last:
                    function.own |= mask
        for key, mask in extra:
            for function in self._by_key.get(key, ()):
                function.own |= mask
        # goals in code that is not in the world: anybody may call it
        self._anywhere = goals.every()
        for function in self._functions:
            self._anywhere &= ~function.own
        self._close()

    # --- reading the world -------------------------------------------------------------------------------

    def _read(self, module: types.ModuleType) -> None:
        file = module.__file__ or ""
        try:
            tree, parents = source.tree_of(file)
        except source.NoSource:
            return
        self._files.add(file)
        called: set[int] = set()
        defined: dict[ast.AST, _Function] = {}
        owners: dict[ast.AST, _Function | None] = {tree: None}
        # parents come before their children; operators and contexts are shared, and of no interest
        for node, parent in parents.items():
            inside = defined.get(parent)
            owner = inside if inside is not None and _in_body(parent, node) else owners.get(parent)
            owners[node] = owner
            if isinstance(node, _DEFINITIONS):
                defined[node] = self._define(node, file, module, parents)
            elif isinstance(node, ast.Call):
                called.add(id(node.func))
                self._note_call(node, owner)
            elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                name = node.id if isinstance(node, ast.Name) else node.attr
                self._all_escape = self._all_escape or name in _DYNAMIC
                if id(node) not in called:
                    self._values.add(name)
            elif owner is not None and isinstance(node, ast.Yield | ast.YieldFrom):
                owner.implicit = True  # its body is run when somebody asks for the next value
            elif owner is not None and isinstance(node, ast.ImportFrom):
                self._values.update(alias.name for alias in node.names)

    def _define(self, node: ast.AST, file: str, module: types.ModuleType, parents: dict[ast.AST, ast.AST]) -> _Function:
        lists: list[ast.expr] = getattr(node, "decorator_list", [])
        decorators = {_last_name(d) for d in lists}
        name: str = getattr(node, "name", "")
        line, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        outer = parents.get(node)
        while outer is not None and not isinstance(outer, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            outer = parents.get(outer)
        made = _Function(
            file,
            min([line, *(d.lineno for d in lists)]),
            last or line,
            name,
            module,
            is_method=isinstance(outer, ast.ClassDef),
            is_value=not name or not isinstance(outer, ast.ClassDef | None) or bool(decorators - _PLAIN),
            implicit=_is_special(name) or bool(decorators & _PROPERTY) or isinstance(node, ast.GeneratorExp),
        )
        self._functions.append(made)
        self._by_key.setdefault((file, made.first), []).append(made)
        self._by_name.setdefault(name, []).append(made)
        return made

    def _note_call(self, node: ast.Call, owner: _Function | None) -> None:
        function = node.func
        if isinstance(function, ast.Name) and function.id == "getattr":
            attribute = node.args[1] if len(node.args) > 1 else None
            if isinstance(attribute, ast.Constant):
                self._values.add(str(attribute.value))
            else:
                self._all_escape = True
        if owner is None:
            return
        if isinstance(function, ast.Name):
            owner.globals_called.add(function.id)
        elif isinstance(function, ast.Attribute):
            owner.names_called.add(function.attr)
        owner.unresolved = True

    # --- closing -----------------------------------------------------------------------------------------

    def _close(self) -> None:
        functions = self._functions
        self._escaping = [f for f in functions if self._all_escape or f.is_value or f.name in self._values]
        for function in functions:
            function.reach = function.own
        changed = True
        while changed:
            changed = False
            self._join()
            for function in functions:
                new = function.reach | self.implicit
                if function.unresolved:
                    new |= self.values
                for name in function.globals_called:
                    new |= self._global(vars(function.module), name)
                for name in function.names_called:
                    new |= self._named(name)
                if new != function.reach:
                    function.reach = new
                    changed = True
        self._join()

    def _join(self) -> None:
        every = self._functions
        self.implicit = self._anywhere | _joined(f for f in every if f.implicit)
        self.values = self.implicit | _joined(self._escaping)
        self.foreign = self.values | _joined(f for f in every if f.is_method)

    @property
    def afterwards(self) -> int:
        """Goals that may be met when the target has returned: in a generator that is drained, in a postcondition."""
        return self.foreign if self._promises else self.implicit

    def _global(self, names: dict[str, object], name: str) -> int:
        """What a call of a global name may reach."""
        missing = object()
        value = names.get(name, missing)
        if value is missing:
            if name == "print" or not hasattr(builtins, name):
                return self.foreign
            return self.values
        return self._value(value)

    def _value(self, value: object) -> int:
        while isinstance(value, functools._lru_cache_wrapper):
            value = value.__wrapped__
        if isinstance(value, types.FunctionType):
            found = self._by_key.get((source.file_of(value.__code__), value.__code__.co_firstlineno))
            return _joined(found) | self.values if found else self.foreign
        if isinstance(value, type) and all(map(self._is_own, value.__mro__)):
            return self.values
        return self.foreign

    def _is_own(self, cls: type) -> bool:
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        return file in self._files or cls.__module__ in ("builtins", "abc", "typing", "enum")

    def _named(self, name: str) -> int:
        """What a call of an attribute of that name may reach."""
        known = self._by_name.get(name)
        if known:
            return self.values | _joined(known)
        return self.values if name in _BUILTIN_METHODS else self.foreign

    # --- questions ---------------------------------------------------------------------------------------

    def reach(self, function: Any, step: ir.IrStep) -> int:
        """Goals that a step of a running function may reach in the functions that it calls."""
        if isinstance(step, _QUIET):
            return 0
        code: ir.CompiledFunction = function.code
        if code.file not in self._files:
            return self.foreign
        if not isinstance(step, ir.CallStep):
            return self.implicit
        return self._called(function, code, step.function)

    def _called(self, function: Any, code: ir.CompiledFunction, operand: ir.Operand) -> int:
        if isinstance(operand, ir.Const):
            return self._value(operand.value)
        made = self._made(code).get(operand)
        if isinstance(made, ir.LoadGlobalStep):
            return self._global(function.globals, made.name)
        if isinstance(made, ir.GetFieldStep):
            owner = self._made(code).get(made.obj) if isinstance(made.obj, str) else None
            if isinstance(owner, ir.LoadGlobalStep):
                module = function.globals.get(owner.name)
                if isinstance(module, types.ModuleType) and hasattr(module, made.name):
                    return self._value(getattr(module, made.name))
            return self._named(made.name)
        return self.values

    def _made(self, code: ir.CompiledFunction) -> dict[str, ir.IrStep | None]:
        """Slot -> the only step that gives it a value; temporaries have no other."""
        found = self._slots.get(id(code))
        if found is None:
            found = self._slots[id(code)] = {}
            for block in code.blocks:
                for step in block.steps:
                    slot = getattr(step, "dst", None)
                    if isinstance(slot, str):
                        found[slot] = None if slot in found or not slot.startswith("%") else step
        return found


def _joined(functions: Iterable[_Function]) -> int:
    found = 0
    for function in functions:
        found |= function.reach
    return found


def _last_name(node: ast.AST) -> str:
    while isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_special(name: str) -> bool:
    """Whether the language calls it: __add__, and _missing_ of an enumeration."""
    return name.startswith("_") and name.endswith("_")


def _in_body(function: ast.AST, child: ast.AST) -> bool:
    """Whether code belongs to a definition; its defaults and decorators belong to what is around it."""
    if isinstance(function, ast.GeneratorExp):
        return True
    body = getattr(function, "body", None)
    return child is body or (isinstance(body, list) and any(child is statement for statement in body))


def world(
    start: types.ModuleType, files: set[str] | frozenset[str] = frozenset(), *, importing: bool = False
) -> list[types.ModuleType]:
    """The modules that the start imports, directly or not, and those of the files.

    `importing`: and those that import one of them.
    """
    top = start.__name__.partition(".")[0]
    found: dict[str, types.ModuleType] = {}
    loaded = [m for m in list(sys.modules.values()) if isinstance(getattr(m, "__name__", None), str)]
    todo = [start, *(m for m in loaded if getattr(m, "__file__", None) in files)]
    others = [m for m in loaded if _is_own(m, top, files)]
    while todo:
        module = todo.pop()
        name = module.__name__
        if name not in found and _is_own(module, top, files):
            found[name] = module
            wanted = {name.rpartition(".")[0], *_imports(module)}
            todo.extend(m for n in sorted(wanted) if isinstance(m := sys.modules.get(n), types.ModuleType))
        if importing and not todo:
            todo = [m for m in others if m.__name__ not in found and not found.keys().isdisjoint(_imports(m))]
    return list(found.values())


def _is_own(module: types.ModuleType, top: str, files: set[str] | frozenset[str]) -> bool:
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not file.endswith(".py"):
        return False
    if file in files or module.__name__.partition(".")[0] == top:
        return True
    if module.__name__.partition(".")[0] == "treadle":
        return False
    return not _is_library(file)


def _is_to_be_loaded(name: str) -> bool:
    """Whether this is a module of the project that some call will load: what is in it cannot be known yet."""
    if name in sys.modules:
        return False
    parts = os.path.join(*name.split("."))
    folders = [f for f in sys.path if not _is_library(os.path.join(f, ""))]
    return any(os.path.isfile(os.path.join(f, parts + end)) for f in folders for end in (".py", "/__init__.py"))


def _is_library(file: str) -> bool:
    library = os.path.dirname(os.__file__)
    return file.startswith(library) or bool({"site-packages", "dist-packages"} & set(file.split(os.sep)))


@functools.lru_cache(maxsize=1024)
def _imports(module: types.ModuleType) -> frozenset[str]:
    """The names of modules that a module mentions in import statements, wherever they stand."""
    try:
        tree, _ = source.tree_of(module.__file__ or "")
    except source.NoSource:
        return frozenset()
    package = getattr(module, "__package__", "") or ""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                found.update(".".join(parts[: i + 1]) for i in range(len(parts)))
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                kept = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*kept, *([base] if base else [])])
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return frozenset(found - {""})
