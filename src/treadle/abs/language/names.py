"""What a name means in a module: declarations, imports and exports, and the nearest name when there is none.

Four kinds of names live side by side: types, classes, constructors, functions. Each may be written with its module in
front. A class may have the name of an interface or data type; where it has not, it counts as a type too: the older
dialect uses a class where the newer one wants an interface.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from treadle.abs.language import syntax as S
from treadle.abs.language.errors import AbsError, AbsPlace, unsupported
from treadle.abs.language.model import AbsFunction, Class, Constructor, Data, Interface
from treadle.abs.language.types import EXCEPTION, AnyType, Type
from treadle.core.words import hint

STDLIB = "ABS.StdLib"
# Partial functions have names of their own: `map(f)(list)` and `map(pairs)` are two functions.
PARTIAL = "()"
# modules of the ABS distribution whose meaning is outside what is executed here
OTHER_MODULES = {
    "ABS.DC": "deployment on components (ABS.DC)",
    "ABS.Meta": "the meta level (ABS.Meta)",
    "ABS.SmartDeployer": "deployment (ABS.SmartDeployer)",
}

Entity = Data | Interface | Class | Constructor | AbsFunction


@dataclass(slots=True)
class ModuleNames:
    """The names of one module: own and imported, each under its short and its full spelling."""

    module: str
    types: dict[str, Data | Interface] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    constructors: dict[str, Constructor] = field(default_factory=dict)
    functions: dict[str, AbsFunction] = field(default_factory=dict)

    def add(self, name: str, entity: Entity, place: AbsPlace | None = None) -> None:
        table = self._table(entity)
        if place is not None and name in table and table[name] is not entity:
            raise AbsError(f"'{name}' is declared twice in module {self.module}", place)
        table[name] = entity
        table[f"{self.module}.{name}"] = entity

    def _table(self, entity: Entity) -> dict[str, Any]:
        if isinstance(entity, Constructor):
            return self.constructors
        if isinstance(entity, Class):
            return self.classes
        return self.functions if isinstance(entity, AbsFunction) else self.types

    def type_named(self, name: str) -> Data | Interface | Class | None:
        return self.types.get(name) or self.classes.get(name)

    def tables(self) -> list[dict[str, Any]]:
        return [self.types, self.classes, self.constructors, self.functions]

    def copy(self) -> ModuleNames:
        return ModuleNames(self.module, *(dict(table) for table in self.tables()))

    def bring(self, origin: ModuleNames, wanted: Iterable[str] | None, place: AbsPlace | None) -> None:
        """Import names of another module (None: all that it has).

        What is declared here stays. Of two modules that bring the same name the later one counts, as in the older
        tools; the library comes last.
        """
        names = None if wanted is None else set(wanted)
        for mine, theirs in zip(self.tables(), origin.tables(), strict=True):
            for name, entity in theirs.items():
                if "." in name or (names is not None and name.removesuffix(PARTIAL) not in names):
                    continue
                if name not in mine or (f"{self.module}.{name}" not in mine and origin.module != STDLIB):
                    mine[name] = entity
                mine[f"{origin.module}.{name}"] = entity
        for name in names or ():
            if place is not None and not any(name in t or name + PARTIAL in t for t in origin.tables()):
                known = [n for table in origin.tables() for n in table if "." not in n]
                raise AbsError(f"module {origin.module} has no '{name}'{did_you_mean(name, known)}", place)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    return hint(name, known, alike=0.5)  # names are short here


def resolve_imports(
    module: S.Module, own: ModuleNames, all_names: dict[str, ModuleNames], exported: dict[str, ModuleNames], last: bool
) -> None:
    """Make the imports of a module visible in its names; the standard library always is.

    Modules pass on what they import, so this is done until nothing is new; what is missing then is an error.
    """
    for item in module.imports:
        if item.origin is not None:
            origin = _module(item.origin, item.at, all_names)
            visible = exported[origin.module]
            wanted = None if item.names is None else [n.rpartition(".")[2] for n in item.names]
            own.bring(visible, wanted, item.at if last else None)
        else:
            for name in item.names or ():
                module_name, _, short = name.rpartition(".")
                origin = _module(module_name, item.at, all_names)
                own.bring(exported[origin.module], [short], item.at if last else None)
    if module.name != STDLIB and STDLIB in exported:
        own.bring(exported[STDLIB], None, None)


def _module(name: str, place: AbsPlace, known: dict[str, ModuleNames]) -> ModuleNames:
    if name in known:
        return known[name]
    if name in OTHER_MODULES:
        raise unsupported(OTHER_MODULES[name], place)
    hint = did_you_mean(name, known) or "; put its .abs file beside the model, or name its folder in ABS_PATH"
    raise AbsError(f"there is no module '{name}'{hint}", place)


def exported_names(
    module: S.Module, declared: ModuleNames, own: ModuleNames, exported: dict[str, ModuleNames]
) -> ModuleNames:
    """What other modules may import: what is declared here, and what is passed on from another module."""
    out = ModuleNames(module.name)
    for item in module.exports:
        if item.origin is not None:
            if item.origin in exported:
                out.bring(exported[item.origin], item.names, None)
        else:
            out.bring(declared if item.names is None else own, item.names, None)
    return out


# ---- types as written


def resolve(use: S.TypeUse, names: ModuleNames, parameters: Iterable[str] = ()) -> AnyType:
    """The type a written type stands for."""
    if use.name in parameters:
        return Type(use.name, (), "parameter")
    found = names.type_named(use.name)
    if found is None:
        if use.name in names.constructors and names.constructors[use.name].data.name == EXCEPTION.name:
            return EXCEPTION
        if use.name == "DC":
            raise unsupported("a deployment component (type 'DC')", use.at)
        raise AbsError(f"there is no type '{use.name}'{did_you_mean(use.name, [*names.types, *names.classes])}", use.at)
    args = tuple(resolve(a, names, parameters) for a in use.args)
    if isinstance(found, Data):
        if len(args) != len(found.type_params):
            raise AbsError(f"type '{use.name}' takes {len(found.type_params)} type arguments, not {len(args)}", use.at)
        if found.synonym is not None:
            return found.synonym
        return Type(found.name, args, "data", found)
    if args:
        raise AbsError(f"'{use.name}' takes no type arguments", use.at)
    return found.type
