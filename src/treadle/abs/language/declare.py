"""Modules to a `Program`: every declaration gets its entity, every written type its meaning; bodies are left to check.

Order matters only here: first all names, then imports, then what types mean, so that declarations may be mutual.
"""

from __future__ import annotations

from treadle.abs.language import syntax as S
from treadle.abs.language.errors import AbsError
from treadle.abs.language.model import AbsFunction, AbsMethod, Class, Constructor, Data, Interface, Program
from treadle.abs.language.names import (
    PARTIAL,
    STDLIB,
    ModuleNames,
    did_you_mean,
    exported_names,
    resolve,
    resolve_imports,
)
from treadle.abs.language.traits import write_traits_into_classes
from treadle.abs.language.types import AnyType, Type, fits


class Declared:
    """A program with its names per module, ready for the checker."""

    def __init__(self, modules: list[S.Module], title: str) -> None:
        self.program = Program(title)
        self.names: dict[str, ModuleNames] = {}
        self.entities: dict[int, object] = {}  # id of a declaration -> its entity
        for module in modules:
            if module.name in self.names:
                raise AbsError(f"module {module.name} is declared twice", module.at)
            self.names[module.name] = ModuleNames(module.name)
        write_traits_into_classes(modules)
        library = next((m for m in modules if m.name == STDLIB), None)
        for module in modules:
            if library is not None and module is not library:
                _leave_out_repeated(module, library)
            self._introduce(module)
        self._imports(modules)
        for module in modules:
            self._synonyms(module)
        for module in modules:
            self._data_and_functions(module)
        for module in modules:
            self._interfaces(module)
        self._no_circles()
        self._objects()
        for module in modules:
            self._classes(module)
        for module in modules:
            if module.main is not None:
                self.program.main, self.program.main_module = module.main, module.name

    def _imports(self, modules: list[S.Module]) -> None:
        declared = {name: names.copy() for name, names in self.names.items()}
        exported = {m.name: ModuleNames(m.name) for m in modules}
        before: list[ModuleNames] = []
        for turn in range(len(modules) + 2):
            exported = {m.name: exported_names(m, declared[m.name], self.names[m.name], exported) for m in modules}
            known = [names.copy() for names in (*exported.values(), *self.names.values())]
            last = known == before or turn > len(modules)  # two modules that pass on each other's names never agree
            for module in modules:
                resolve_imports(module, self.names[module.name], self.names, exported, last)
            if last:
                return
            before = known

    def _introduce(self, module: S.Module) -> None:
        names = self.names[module.name]
        for decl in module.declarations:
            entity: Data | Interface | Class | Constructor | AbsFunction
            if isinstance(decl, S.DataDecl):
                entity = data = Data(f"{module.name}.{decl.name}", decl.type_params)
                for index, con in enumerate(decl.constructors):
                    made = Constructor(con.name, data, index, [], [name for _, name in con.params])
                    data.constructors.append(made)
                    names.add(con.name, made, con.at)
                    self._selectors(con, data, names)
                self.program.data.append(data)
            elif isinstance(decl, S.TypeDecl):
                entity = Data(f"{module.name}.{decl.name}", [])
            elif isinstance(decl, S.ExceptionDecl):
                root = self._exception_data()
                fields = [name for _, name in decl.constructor.params]
                entity = Constructor(decl.name, root, len(root.constructors), [], fields)
                root.constructors.append(entity)
                self._selectors(decl.constructor, root, names)
            elif isinstance(decl, S.FunctionDecl):
                unit = Type(f"{STDLIB}.Unit")
                entity = AbsFunction(decl.name, module.name, decl, decl.type_params, decl.functions, [], unit)
                self.program.functions.append(entity)
            elif isinstance(decl, S.InterfaceDecl):
                entity = Interface(decl.name, decl.at, module.name)
            else:
                assert isinstance(decl, S.ClassDecl)  # traits are gone
                entity = Class(decl.name, module.name, decl.at)
                entity.annotations = decl.annotations
                self.program.classes.append(entity)
            self.entities[id(decl)] = entity
            partial = isinstance(decl, S.FunctionDecl) and decl.functions
            names.add(decl.name + PARTIAL if partial else decl.name, entity, decl.at)

    def _exception_data(self) -> Data:
        found = self.names[STDLIB].types.get("Exception")
        assert isinstance(found, Data)
        return found

    def _selectors(self, con: S.ConstructorDecl, data: Data, names: ModuleNames) -> None:
        for _, field in con.params:
            if field is not None and field not in names.functions:
                unit = Type(f"{STDLIB}.Unit")
                function = AbsFunction(field, names.module, None, data.type_params, [], [], unit, (field, data))
                self.program.functions.append(function)
                names.add(field, function)

    def _synonyms(self, module: S.Module) -> None:
        names = self.names[module.name]
        pending = [d for d in module.declarations if isinstance(d, S.TypeDecl)]
        unresolved = {id(self.entities[id(d)]) for d in pending}
        for _ in range(len(pending) + 1):
            for decl in list(pending):
                if not self._mentions(decl.meaning, names, unresolved):
                    entity = self.entities[id(decl)]
                    assert isinstance(entity, Data)
                    entity.synonym = resolve(decl.meaning, names)
                    unresolved.discard(id(entity))
                    pending.remove(decl)
        if pending:
            raise AbsError(f"type '{pending[0].name}' is defined by itself", pending[0].at)

    def _mentions(self, use: S.TypeUse, names: ModuleNames, unresolved: set[int]) -> bool:
        return id(names.types.get(use.name)) in unresolved or any(
            self._mentions(a, names, unresolved) for a in use.args
        )

    def _data_and_functions(self, module: S.Module) -> None:
        names = self.names[module.name]
        for decl in module.declarations:
            entity = self.entities[id(decl)]
            if isinstance(decl, S.DataDecl) and isinstance(entity, Data):
                for con, made in zip(decl.constructors, entity.constructors, strict=False):  # exceptions join later
                    made.params = [resolve(use, names, decl.type_params) for use, _ in con.params]
            elif isinstance(decl, S.ExceptionDecl) and isinstance(entity, Constructor):
                entity.params = [resolve(use, names) for use, _ in decl.constructor.params]
            elif isinstance(decl, S.FunctionDecl) and isinstance(entity, AbsFunction):
                entity.params = [(p.name, resolve(p.type, names, decl.type_params)) for p in decl.params]
                entity.result = resolve(decl.result, names, decl.type_params)
        for function in self.program.functions:
            if function.selector is not None and function.module == module.name:
                field, data = function.selector
                function.params = [("value", data.type)]
                found = [
                    type_
                    for con in data.constructors
                    for name, type_ in zip(con.fields, con.params, strict=True)
                    if name == field
                ]
                function.result = found[0]

    def _interfaces(self, module: S.Module) -> None:
        names = self.names[module.name]
        for decl in module.declarations:
            entity = self.entities[id(decl)]
            if isinstance(decl, S.InterfaceDecl) and isinstance(entity, Interface):
                entity.extends = [self._interface(name, names, decl) for name in decl.extends]
                for sig in decl.signatures:
                    if sig.name in entity.own:
                        raise AbsError(f"method '{sig.name}' is declared twice", sig.at)
                    entity.own[sig.name] = _method(sig, names)

    def _no_circles(self) -> None:
        for entity in self.entities.values():
            if isinstance(entity, Interface):
                seen: list[Interface] = []
                todo = list(entity.extends)
                while todo:
                    parent = todo.pop()
                    if parent is entity:
                        raise AbsError(f"interface {entity.name} extends itself", entity.at)
                    if parent not in seen:
                        seen.append(parent)
                        todo += parent.extends

    def _objects(self) -> None:
        """Every interface and class is an Object of the standard library."""
        common = self.names[STDLIB].types.get("Object")
        if not isinstance(common, Interface):  # a model that brings a standard library of its own
            return
        for entity in self.entities.values():
            if isinstance(entity, Interface) and entity is not common and not entity.extends:
                entity.extends.append(common)
            elif isinstance(entity, Class):
                entity.implements.append(common)

    def _interface(self, name: str, names: ModuleNames, decl: S.InterfaceDecl | S.ClassDecl) -> Interface:
        found = names.types.get(name)
        if isinstance(found, Interface):
            return found
        what = "a class, not an interface" if name in names.classes else "no interface"
        known = [n for n, t in names.types.items() if isinstance(t, Interface)]
        raise AbsError(f"'{name}' is {what}{did_you_mean(name, known)}", decl.at)

    def _classes(self, module: S.Module) -> None:
        names = self.names[module.name]
        for decl in module.declarations:
            entity = self.entities[id(decl)]
            if not (isinstance(decl, S.ClassDecl) and isinstance(entity, Class)):
                continue
            entity.implements[:0] = [self._interface(name, names, decl) for name in decl.implements]
            entity.params = len(decl.params)
            entity.init = decl.init
            entity.recover = decl.recover
            items: list[S.Param | S.FieldDecl] = [*decl.params, *decl.fields]
            for item in items:
                if item.name in entity.field_names():
                    raise AbsError(f"field '{item.name}' is declared twice in class {decl.name}", item.at)
                entity.fields.append((item.name, resolve(item.type, names)))
                entity.final |= {item.name} if item.final else set()
                entity.initial.append(item.value if isinstance(item, S.FieldDecl) else None)
            for method in decl.methods:
                if method.name in entity.own:
                    raise AbsError(f"method '{method.name}' is defined twice in class {decl.name}", method.at)
                entity.own[method.name] = _method(method, names)
        for decl in module.declarations:
            entity = self.entities[id(decl)]
            if isinstance(entity, Class):
                _implements_all(entity)


def _leave_out_repeated(module: S.Module, library: S.Module) -> None:
    """Older models repeat types of the library, word for word: those are the library's."""
    known = {d.name: _shape(d) for d in library.declarations if isinstance(d, S.DataDecl)}
    module.declarations = [
        d for d in module.declarations if not (isinstance(d, S.DataDecl) and known.get(d.name) == _shape(d))
    ]


def _shape(decl: S.DataDecl) -> object:
    """A data type without the names of its parameters and fields."""
    numbers = {name: str(i) for i, name in enumerate(decl.type_params)}

    def shape(use: S.TypeUse) -> object:
        return numbers.get(use.name, use.name), [shape(a) for a in use.args]

    return len(numbers), [(con.name, [shape(use) for use, _ in con.params]) for con in decl.constructors]


def _method(decl: S.Signature | S.MethodDecl, names: ModuleNames) -> AbsMethod:
    params: list[tuple[str, AnyType]] = []
    for param in decl.params:
        if param.name in dict(params):
            raise AbsError(f"parameter '{param.name}' is declared twice", param.at)
        params.append((param.name, resolve(param.type, names)))
    body = decl.body if isinstance(decl, S.MethodDecl) else None
    return AbsMethod(decl.name, params, resolve(decl.result, names), decl.at, body)


def _implements_all(cls: Class) -> None:
    for interface in cls.implements:
        for name, wanted in interface.methods().items():
            given = cls.own.get(name)
            if given is None:
                raise AbsError(f"class {cls.name} does not implement '{name}' of {interface.name}", cls.at)
            if len(given.params) != len(wanted.params) or not all(
                fits(w, g) for (_, g), (_, w) in zip(given.params, wanted.params, strict=True)
            ):
                raise AbsError(f"'{name}' has other parameters than in interface {interface.name}", given.at)
            if not fits(given.result, wanted.result):
                here, there = _told_apart(given.result, wanted.result)
                raise AbsError(f"'{name}' returns {here}, interface {interface.name} says {there}", given.at)


def _told_apart(first: AnyType, second: AnyType) -> tuple[str, str]:
    """Two types in words, with their modules where they have the same name."""
    if str(first) != str(second) or not isinstance(first, Type) or not isinstance(second, Type):
        return str(first), str(second)
    return first.name, second.name
