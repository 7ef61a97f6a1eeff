"""What an ABS text declares, with every name resolved: data types, functions, interfaces, classes, the main block."""

from __future__ import annotations

from dataclasses import dataclass, field

from treadle.abs.language import syntax as S
from treadle.abs.language.errors import AbsPlace
from treadle.abs.language.types import AnyType, Type


@dataclass(eq=False, slots=True)
class Constructor:
    name: str
    data: Data
    index: int
    params: list[AnyType]
    fields: list[str | None]

    def __repr__(self) -> str:
        return self.name


@dataclass(eq=False, slots=True)
class Data:
    name: str  # with its module
    type_params: list[str]
    constructors: list[Constructor] = field(default_factory=list)
    synonym: AnyType | None = None

    @property
    def type(self) -> Type:
        return Type(self.name, tuple(Type(p, (), "parameter") for p in self.type_params), "data", self)


@dataclass(eq=False, slots=True)
class AbsFunction:
    name: str
    module: str
    decl: S.FunctionDecl | None
    type_params: list[str]
    functions: list[str]
    params: list[tuple[str, AnyType]]
    result: AnyType
    selector: tuple[str, Data] | None = None  # the function that reads a named constructor argument

    @property
    def builtin(self) -> bool:
        return self.selector is None and (self.decl is None or self.decl.body is None)


@dataclass(eq=False, slots=True)
class AbsMethod:
    """A method as its callers see it (decl is None in an interface) or as its class defines it."""

    name: str
    params: list[tuple[str, AnyType]]
    result: AnyType
    at: AbsPlace
    body: list[S.Statement] | None = None


@dataclass(eq=False, slots=True)
class Interface:
    name: str
    at: AbsPlace
    module: str = ""
    extends: list[Interface] = field(default_factory=list)
    own: dict[str, AbsMethod] = field(default_factory=dict)

    def supertypes(self) -> list[Interface | Class]:
        found: list[Interface | Class] = [self]
        for parent in self.extends:
            found += [p for p in parent.supertypes() if p not in found]
        return found

    def methods(self) -> dict[str, AbsMethod]:
        merged: dict[str, AbsMethod] = {}
        for parent in self.extends:
            merged.update(parent.methods())
        return {**merged, **self.own}

    @property
    def type(self) -> Type:
        return Type(self.name, (), "object", self)


@dataclass(eq=False, slots=True)
class Class:
    name: str
    module: str
    at: AbsPlace
    implements: list[Interface] = field(default_factory=list)
    params: int = 0  # the first fields are the class parameters
    fields: list[tuple[str, AnyType]] = field(default_factory=list)
    initial: list[S.Exp | None] = field(default_factory=list)  # one per field, None for parameters and bare fields
    init: list[S.Statement] | None = None
    recover: list[S.StatementBranch] = field(default_factory=list)  # for exceptions that leave a method
    annotations: dict[str, S.Exp] = field(default_factory=dict)
    final: set[str] = field(default_factory=set)  # fields that are assigned once
    own: dict[str, AbsMethod] = field(default_factory=dict)

    def supertypes(self) -> list[Interface | Class]:
        found: list[Interface | Class] = [self]
        for parent in self.implements:
            found += [p for p in parent.supertypes() if p not in found]
        return found

    def methods(self) -> dict[str, AbsMethod]:
        return self.own

    def field_names(self) -> list[str]:
        return [name for name, _ in self.fields]

    @property
    def type(self) -> Type:
        return Type(self.module + "." + self.name, (), "object", self)

    def __repr__(self) -> str:
        return self.name


@dataclass(eq=False, slots=True)
class Program:
    """A whole checked model: what the machine runs."""

    name: str
    classes: list[Class] = field(default_factory=list)
    functions: list[AbsFunction] = field(default_factory=list)
    data: list[Data] = field(default_factory=list)  # the standard library's first
    main: list[S.Statement] | None = None
    main_module: str = ""

    def class_named(self, name: str) -> Class | None:
        found = [c for c in self.classes if name in (c.name, c.module + "." + c.name)]
        return found[0] if found else None
