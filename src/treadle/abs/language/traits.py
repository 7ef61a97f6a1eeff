"""Traits: the methods that classes take from them are written into the classes before anything is declared.

`adds` brings methods that are not there, `modifies` replaces ones that are, `removes` drops them. `original(...)` in a
method that replaces another one calls the one before it, which the class keeps under a name of its own.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields, is_dataclass
from typing import Any

from treadle.abs.language import syntax as S
from treadle.abs.language.errors import AbsError, AbsPlace

# What is put behind the name of a method that was replaced and is still called.
ORIGINAL = "_original"


def write_traits_into_classes(modules: list[S.Module]) -> None:
    """Fill every class with the methods of the traits it uses; the traits themselves are gone afterwards."""
    traits = {d.name: d for m in modules for d in m.declarations if isinstance(d, S.TraitDecl)}
    for module in modules:
        own = traits | {d.name: d for d in module.declarations if isinstance(d, S.TraitDecl)}
        for decl in module.declarations:
            if isinstance(decl, S.ClassDecl):
                for used in decl.uses:
                    decl.methods += _Methods(own).of(used, ()).values()
        module.declarations = [d for d in module.declarations if not isinstance(d, S.TraitDecl)]


class _Methods:
    """What trait expressions stand for."""

    def __init__(self, traits: dict[str, S.TraitDecl]) -> None:
        self.traits = traits

    def of(self, exp: S.TraitExp, inside: tuple[str, ...]) -> dict[str, S.MethodDecl]:
        methods = self._given(exp.first, inside)
        for operation in exp.operations:
            if operation.kind == "removes":
                for name in operation.removed:
                    self._present(name, methods, operation.at, "removed")
                    del methods[name]
                continue
            for name, method in self._given(operation.given, inside).items():
                if operation.kind == "modifies":
                    self._replace(name, method, methods, operation.at)
                elif name in methods:
                    raise AbsError(f"method '{name}' is there already; 'modifies' replaces it", operation.at)
                else:
                    methods[name] = method
        return methods

    def _given(self, given: S.TraitMethods, inside: tuple[str, ...]) -> dict[str, S.MethodDecl]:
        if given.name is None:
            return {method.name: deepcopy(method) for method in given.methods}
        if given.name not in self.traits:
            raise AbsError(f"there is no trait '{given.name}'", given.at)
        if given.name in inside:
            raise AbsError(f"trait {given.name} is made of itself", given.at)
        return self.of(self.traits[given.name].meaning, (*inside, given.name))

    @staticmethod
    def _present(name: str, methods: dict[str, S.MethodDecl], at: AbsPlace, what: str) -> None:
        if name not in methods:
            raise AbsError(f"there is no method '{name}' that could be {what}", at)

    def _replace(self, name: str, method: S.MethodDecl, methods: dict[str, S.MethodDecl], at: AbsPlace) -> None:
        self._present(name, methods, at, "replaced")
        before = methods[name]
        kept = name + ORIGINAL
        while kept in methods:
            kept += ORIGINAL
        methods[name] = method
        if _calls_instead(method, kept):
            before.name = kept
            methods[kept] = before


def _calls_instead(node: Any, method: str) -> bool:
    """Turn every `original(...)` below into a call of the method; whether there was one."""
    found = False
    parts: list[tuple[Any, Any]] = list(enumerate(node)) if isinstance(node, list) else []
    if is_dataclass(node):
        parts = [(f.name, getattr(node, f.name)) for f in fields(node)]
    for place, part in parts:
        if isinstance(part, S.FunctionCall) and part.name == "original":
            call = S.SyncCall(S.This(at=part.at), method, part.args, at=part.at)
            if isinstance(node, list):
                node[place] = call
            else:
                setattr(node, place, call)
            _calls_instead(call.args, method)
            found = True
        elif isinstance(part, S.SyntaxNode | list):
            found |= _calls_instead(part, method)
    return found
