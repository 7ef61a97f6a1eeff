"""The promises of a contract as assertions of a test: the condition itself, over the test's own variables.

What a condition needs and a test cannot name (a variable of an enclosing function, a default that has no source) is
left to the call: it goes through the contract library, which checks the condition anyway; a comment says so.
"""

from __future__ import annotations

import ast
import builtins
import copy
import importlib
import inspect
import os
import types
from dataclasses import dataclass, field
from typing import Any

from treadle.core.parsing import mangle
from treadle.symbolic.python.compile.source import class_around, returned_expression
from treadle.symbolic.python.contracts import conditions
from treadle.symbolic.python.contracts.conditions import Condition
from treadle.symbolic.testcase import CaseObject, TestCase
from treadle.units.contracts import Contracts, free_names
from treadle.units.imports import Imports, NotWritable
from treadle.units.target import UnitTarget
from treadle.units.value_source import leaf


@dataclass(slots=True)
class Promised:
    """Lines for a test: before the call, and after it."""

    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    # the assertions speak of the result
    needs_result: bool = False


class Promises:
    """The postconditions and invariants of one target, ready to be written."""

    def __init__(self, target: UnitTarget, imports: Imports) -> None:
        self.target = target
        self.imports = imports
        self.conditions = Contracts(target).promises()

    def of(self, arguments: dict[str, str], case: TestCase) -> Promised:
        """For a call whose arguments have these sources."""
        promised = Promised()
        wanted = [(condition, arguments) for condition in self.conditions]
        wanted += [(condition, {"self": arguments[name]}) for name, condition in _changed(case)]
        for condition, known in wanted:
            try:
                line = self._assertion(condition, known, promised)
            except NotWritable:
                line = f"# the call itself checks the {condition.kind} `{condition.text}`"
                if condition.file:
                    line += f" ({os.path.basename(condition.file)}:{condition.line})"
            if line not in promised.after:
                promised.after.append(line)
        return promised

    def speaks_of(self, arguments: dict[str, str]) -> list[str]:
        """The arguments that a condition names and the test does not: they read better with their names."""
        asked = [one.attributes() if one.calling == "short" else one.names() for one in self.conditions]
        return [name for name, said in arguments.items() if name in set().union(*asked) and not said.isidentifier()]

    def _assertion(self, condition: Condition, arguments: dict[str, str], promised: Promised) -> str:
        known = self._known(arguments)
        if condition.kind == "invariant" and self.target.receiver == "new" and "self" not in arguments:
            known["self"] = "result"
        old: dict[str, str] = {}
        lines: list[str] = []
        if "OLD" in condition.names():
            for snapshot in self._snapshots():
                name = f"old_{snapshot.name}"
                body = (
                    returned_expression(snapshot.capture) if isinstance(snapshot.capture, types.FunctionType) else None
                )
                if body is None:
                    raise NotWritable("a snapshot that is more than an expression")
                lines.append(f"{name} = {self._rewritten(body, snapshot.capture, known, {})}")
                old[snapshot.name] = name
        source = self._source(condition, {**known, "result": "result"}, old)
        promised.before += [line for line in lines if line not in promised.before]
        promised.needs_result |= "result" in {n.id for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Name)}
        return f"assert {source}  # {condition.kind}"

    def _known(self, arguments: dict[str, str]) -> dict[str, str]:
        """Parameter -> its source in the test; defaults where the call leaves it out."""
        known = dict(arguments)
        for parameter in self.target.parameters():
            if parameter.name not in known and parameter.default is not parameter.empty:
                try:
                    known[parameter.name] = leaf(parameter.default, self.imports)
                except NotWritable:
                    continue
        return known

    def _snapshots(self) -> list[Any]:
        for wrapper in conditions.layers(self.target.decorated):
            if conditions.layer(wrapper) == "checker":
                return list(wrapper.__postcondition_snapshots__)
        return []

    def _source(self, condition: Condition, known: dict[str, str], old: dict[str, str]) -> str:
        test = condition.test
        if not isinstance(test, types.FunctionType):
            raise NotWritable("a condition that is no Python function")
        values = self._by_parameter(condition, known)
        node = condition.expression
        if node is not None and (test.__name__ == "<lambda>" or "OLD" in values):
            return self._rewritten(node, test, values, old, condition.calling == "short")
        if condition.calling == "short" or "OLD" in values or condition.may_complain:
            raise NotWritable("a function that wants all arguments at once")
        inside = ", ".join(values[name] for name in inspect.signature(test).parameters if name in values)
        return f"{self.imports.of(test)}({inside})"

    def _by_parameter(self, condition: Condition, known: dict[str, str]) -> dict[str, str]:
        """The condition's own parameters -> what they are in the test."""
        if condition.calling == "short":
            return known
        names = condition.names()
        if condition.calling == "named":
            return {n: known.get(n, "OLD") for n in names if n in known or n == "OLD"}
        if condition.kind == "invariant":
            return {names[0]: known["self"]} if names else {}
        if condition.origin == "deal.post":
            return {names[0]: "result"} if names else {}
        own = list(inspect.signature(self.target.function).parameters)
        found: dict[str, str] = {}
        for i, name in enumerate(names):
            wanted = own[i] if i < len(own) and name != "result" else name
            if wanted not in known:
                raise NotWritable(f"'{wanted}' has no source in the test")
            found[name] = known[wanted]
        return found

    def _rewritten(
        self,
        node: ast.expr,
        function: types.FunctionType,
        values: dict[str, str],
        old: dict[str, str],
        short: bool = False,
    ) -> str:
        free = free_names(node)
        replaced: dict[str, str] = {} if short else {n: v for n, v in values.items() if n in free and n != "OLD"}
        for name in free - set(replaced) - {"_", "OLD"}:
            replaced[name] = self._outside(name, function)
        rewriter = _Rewriter(replaced, values if short else {}, old, class_around(function))
        return ast.unparse(rewriter.visit(copy.deepcopy(node)))

    def _outside(self, name: str, function: types.FunctionType) -> str:
        """A name that the condition takes from its module."""
        if name in function.__code__.co_freevars or name in function.__code__.co_varnames:
            raise NotWritable(f"'{name}' is a variable of an enclosing function")
        if name not in function.__globals__:
            if hasattr(builtins, name):
                return name
            raise NotWritable(f"nobody knows '{name}'")
        value = function.__globals__[name]
        if isinstance(value, types.ModuleType):
            return self.imports.module(value.__name__)
        module = function.__globals__.get("__name__", "")
        if getattr(importlib.import_module(module), name, None) is not value:
            raise NotWritable(f"'{name}' is not what its module says")
        return self.imports.local_name(module, name)


def _changed(case: TestCase) -> list[tuple[str, Condition]]:
    """Arguments beside the object of the call that it has changed, with the invariants of their classes."""
    found: list[tuple[str, Condition]] = []
    for name, value in case.arguments.items():
        if name == "self" or not isinstance(value, CaseObject) or value.cls is None or value.kind != "instance":
            continue
        after = case.after.get(value.number)
        if after is not None and after.fields != value.fields:
            found += [(name, condition) for condition in conditions.invariants(value.cls)]
    broken = case.violation
    if broken is not None:
        found = [(n, c) for n, c in found if not (n == broken.where and c.text == broken.condition)]
    return found


class _Rewriter(ast.NodeTransformer):
    """Parameters become the test's variables, OLD.x becomes old_x, and _.x becomes x."""

    def __init__(
        self, names: dict[str, str], by_attribute: dict[str, str], old: dict[str, str], owner: str | None
    ) -> None:
        self.names = names
        self.by_attribute = by_attribute
        self.old = old
        self.owner = owner

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.names:
            return ast.parse(self.names[node.id], mode="eval").body
        if node.id in ("_", "OLD"):
            raise NotWritable(f"'{node.id}' as a whole")
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == "OLD":
            if node.attr not in self.old:
                raise NotWritable(f"no snapshot '{node.attr}'")
            return ast.Name(self.old[node.attr], ast.Load())
        if isinstance(node.value, ast.Name) and node.value.id == "_" and "_" not in self.names:
            if node.attr not in self.by_attribute:
                raise NotWritable(f"'{node.attr}' has no source in the test")
            return ast.parse(self.by_attribute[node.attr], mode="eval").body
        visited = self.generic_visit(node)
        assert isinstance(visited, ast.Attribute)
        visited.attr = mangle(visited.attr, self.owner)
        return visited
