"""The machine for Python: what each IR step means, on values known and unknown, and which room answers for what."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from collections.abc import Callable
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import ListObj
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.ir.machine import Frame, Raised
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.contracts import contracts
from treadle.symbolic.python.machine import attributes, calls, classes, concrete, equality, iteration, operators
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import mappings, open_lists, sequences, str_methods
from treadle.symbolic.python.values.kinds import exemplar, number_kind
from treadle.symbolic.python.values.values import BoundMethod, FunctionValue, PyValue, SliceValue, SuperValue


class PythonMachine(VM):
    """One path of one Python program, with every operation answered."""

    operator = operators.apply
    binary = operators.binary
    compare = operators.compare
    equal = equality.equal
    same_or_equal = equality.same_or_equal
    truth = equality.truth
    contains = equality.contains
    attribute = attributes.get
    set_attribute = attributes.set_
    item = sequences.get_item
    iterate = iteration.iterate
    spread = iteration.spread
    each = iteration.each
    call_with = calls.call
    run_function = calls.run
    call_real = concrete.call_real
    lift = concrete.lift
    new_set = mappings.new_set
    looked_at = contracts.looked_at
    field_assigned = contracts.assigned

    def actions(self) -> dict[type, Callable[[Frame, Any], None]]:
        return {
            ir.LoadGlobalStep: self._load_global,
            ir.StoreGlobalStep: self._store_global,
            ir.LoadOuterStep: self._load_outer,
            ir.StoreOuterStep: self._store_outer,
            ir.OpStep: self._op,
            ir.GetFieldStep: self._get_field,
            ir.SetFieldStep: self._set_field,
            ir.DelFieldStep: self._del_field,
            ir.GetItemStep: self._get_item,
            ir.SetItemStep: self._set_item,
            ir.DelItemStep: self._del_item,
            ir.CallStep: self._call,
            ir.NewStep: self._new,
            ir.ClosureStep: self._closure,
            ir.IterateStep: self._iterate,
            ir.UnpackStep: self._unpack,
        }

    # --- names -----------------------------------------------------------------------------------------------

    def _load_global(self, frame: Frame, step: ir.LoadGlobalStep) -> None:
        frame.env[step.dst] = self.read_global(frame.function.globals, step.name)

    def _store_global(self, frame: Frame, step: ir.StoreGlobalStep) -> None:
        names = frame.function.globals
        self.assigned[(id(names), step.name)] = self.operand(frame, step.value)
        if (names, step.name) not in self.touched:
            self.touched.append((names, step.name))

    def _load_outer(self, frame: Frame, step: ir.LoadOuterStep) -> None:
        env = frame.env.outer
        while env is not None:
            if step.name in env:
                frame.env[step.dst] = env[step.name]
                return
            env = env.outer
        name = step.name.partition(".")[0]
        message = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        raise self.error(NameError, message)

    def _store_outer(self, frame: Frame, step: ir.StoreOuterStep) -> None:
        value = self.operand(frame, step.value)
        env = frame.env.outer
        while env is not None:
            if step.name in env or env.outer is None:
                env[step.name] = value
                return
            env = env.outer

    # --- steps -----------------------------------------------------------------------------------------------

    def _op(self, frame: Frame, step: ir.OpStep) -> None:
        args = [self.operand(frame, a) for a in step.args]
        frame.env[step.dst] = operators.apply(self, step.op, args)

    def _get_field(self, frame: Frame, step: ir.GetFieldStep) -> None:
        frame.env[step.dst] = attributes.get(self, self.operand(frame, step.obj), step.name)

    def _set_field(self, frame: Frame, step: ir.SetFieldStep) -> None:
        attributes.set_(self, self.operand(frame, step.obj), step.name, self.operand(frame, step.value))

    def _del_field(self, frame: Frame, step: ir.DelFieldStep) -> None:
        attributes.delete(self, self.operand(frame, step.obj), step.name)

    def _get_item(self, frame: Frame, step: ir.GetItemStep) -> None:
        frame.env[step.dst] = sequences.get_item(self, self.operand(frame, step.obj), self.operand(frame, step.index))

    def _set_item(self, frame: Frame, step: ir.SetItemStep) -> None:
        obj, index = self.operand(frame, step.obj), self.operand(frame, step.index)
        sequences.set_item(self, obj, index, self.operand(frame, step.value))

    def _del_item(self, frame: Frame, step: ir.DelItemStep) -> None:
        sequences.delete_item(self, self.operand(frame, step.obj), self.operand(frame, step.index))

    def _call(self, frame: Frame, step: ir.CallStep) -> None:
        function = self.operand(frame, step.function)
        args: list[PyValue] = []
        for a in step.args:
            if isinstance(a, tuple):
                args.extend(self._starred(function if len(step.args) == 1 else None, self.operand(frame, a[1])))
            else:
                args.append(self.operand(frame, a))
        named: dict[str, PyValue] = {}
        for key, operand in step.named:
            value = self.operand(frame, operand)
            if key is None:
                value = self.force(value)
                if value is None or isinstance(value, Expr | ListObj | tuple) or number_kind(value):
                    raise self._not_spread(function, "**", "a mapping", value)
                for k, v in mappings.entries(self, value):
                    if not isinstance(k, str):
                        raise CannotFollow("unknown keyword argument names")
                    named[k] = v
            else:
                named[key] = value
        frame.env[step.dst] = calls.call(self, function, args, named)

    def _starred(self, function: PyValue, value: PyValue) -> list[PyValue]:
        """f(*value)"""
        value = self.force(value)
        if value is None or number_kind(value):
            if function is None:
                kind = classes.python_type(self, value).__name__
                raise self.error(TypeError, f"Value after * must be an iterable, not {kind}")
            raise self._not_spread(function, "*", "an iterable", value)
        return self.spread(value)

    def _not_spread(self, function: PyValue, stars: str, wanted: str, value: PyValue) -> Raised:
        """The TypeError of f(*value) or f(**value) for a value that cannot be spread."""
        kind = classes.python_type(self, value).__name__
        function = self.force(function)
        while isinstance(function, BoundMethod):
            function = function.function
        host = function.host if isinstance(function, FunctionValue) else function
        if not hasattr(host, "__qualname__"):
            raise CannotFollow(f"an argument after {stars} that is not {wanted}")
        module = getattr(host, "__module__", None)
        shown = host.__qualname__ if module in (None, "builtins") else f"{module}.{host.__qualname__}"
        return self.error(TypeError, f"{shown}() argument after {stars} must be {wanted}, not {kind}")

    def _closure(self, frame: Frame, step: ir.ClosureStep) -> None:
        defaults = tuple(self.operand(frame, d) for d in step.defaults)
        named = {name: self.operand(frame, d) for name, d in step.named_defaults}
        function = frame.function
        frame.env[step.dst] = FunctionValue(step.function, function.globals, frame.env, defaults, named, function.owner)

    def _new(self, frame: Frame, step: ir.NewStep) -> None:
        frame.env[step.dst] = self._made(frame, step)

    def _made(self, frame: Frame, step: ir.NewStep) -> PyValue:
        kind = step.kind
        if kind in ("list", "tuple", "set"):
            items: list[PyValue] = []
            for a in step.args:
                if isinstance(a, tuple):
                    value = self.operand(frame, a[1])
                    items.extend(self.spread(value) if kind == "set" else self._starred(None, value))
                else:
                    items.append(self.operand(frame, a))
            if kind == "tuple":
                return tuple(items)
            return self.new_list(items) if kind == "list" else self.new_set(items)
        if kind == "dict":
            made = self.new_dict([])
            for key, value in step.args:
                if key == "**":
                    for k, v in mappings.entries(self, self.force(self.operand(frame, value))):
                        mappings.store(self, made, k, v)
                else:
                    mappings.store(self, made, self.operand(frame, key), self.operand(frame, value))
            return made
        if kind == "slice":
            return SliceValue(*(self.operand(frame, a) for a in step.args))
        if kind == "text":
            return self._text(frame, step.args)
        if kind == "super":
            return self._super(frame)
        if kind == "module":
            name, whole = (a.value for a in step.args)
            module = self._import(name)
            return module if whole else sys.modules[name.partition(".")[0]]
        if kind == "import":
            return self._import_from(frame, *(a.value for a in step.args))
        raise CannotFollow(f"new {kind}")

    def _text(self, frame: Frame, parts: tuple[Any, ...]) -> PyValue:
        out: list[Any] = []
        for part in parts:
            if isinstance(part, tuple):
                value, conversion, spec = (self.operand(frame, p) for p in part)
                out.append(str_methods.formatted(self, value, conversion, spec))
            else:
                out.append(self.operand(frame, part))
        return x.concat(*out)

    def _super(self, frame: Frame) -> SuperValue:
        owner = frame.function.owner
        if owner is None:
            raise CannotFollow("super() outside a method")
        first = frame.code.parameters[0].name
        return SuperValue(owner, frame.env[first])

    def _import(self, name: str) -> types.ModuleType:
        try:
            return importlib.import_module(name)
        except ImportError as error:
            raise self.host_error(error) from None

    def _import_from(self, frame: Frame, where: str, name: str) -> PyValue:
        if where.startswith("."):
            where = importlib.util.resolve_name(where, frame.function.globals.get("__package__") or "")
        module = self._import(where)
        if hasattr(module, name):
            return self.read_global(vars(module), name)
        try:
            return importlib.import_module(f"{where}.{name}")
        except ImportError:
            message = f"cannot import name '{name}' from '{where}' ({getattr(module, '__file__', 'unknown location')})"
            raise self.error(ImportError, message) from None

    # --- iteration -------------------------------------------------------------------------------------------

    def _iterate(self, frame: Frame, step: ir.IterateStep) -> None:
        frame.env[step.dst] = self.iterate(self.operand(frame, step.value))

    def _unpack(self, frame: Frame, step: ir.UnpackStep) -> None:
        values = self._unpacked(self.operand(frame, step.value), len(step.targets), step.star)
        frame.env.update(zip(step.targets, values, strict=True))

    def _unpacked(self, value: PyValue, wanted: int, star: int | None) -> list[PyValue]:
        value = self.force(value)
        if isinstance(value, ListObj) and value.items is None and star is None:
            size = value.size()
            if not self.decide(x.ge(size, wanted)):
                open_lists.close(self, value)
            elif self.decide(x.gt(size, wanted)):
                raise self.error(ValueError, f"too many values to unpack (expected {wanted})")
            else:
                return [sequences.get_item(self, value, i) for i in range(wanted)]
        if isinstance(value, Expr | int | float | None) and not (isinstance(value, Expr) and value.sort is x.STR):
            shown = exemplar(self, value)

            def fail() -> None:
                _, _ = shown

            raise self.mimic(fail)
        values = self.spread(value)
        got = len(values)
        if star is None:
            if got > wanted:
                raise self.error(ValueError, f"too many values to unpack (expected {wanted})")
            if got < wanted:
                raise self.error(ValueError, f"not enough values to unpack (expected {wanted}, got {got})")
            return values
        least = wanted - 1
        if got < least:
            message = f"not enough values to unpack (expected at least {least}, got {got})"
            raise self.error(ValueError, message)
        after = least - star
        middle = self.new_list(values[star : got - after])
        return [*values[:star], middle, *values[got - after :]]
