"""The cases as an ABSUnit test module: one suite, one test method per case.

ABS has no way to put an object into a state from outside, so the module adds setters and getters with a delta, as test
generators for ABS do. The order of tasks stands in a comment: the ABS scheduler decides it when the suite is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treadle.abs.explore.cases import ActorCase
from treadle.abs.language.model import Class, Program
from treadle.abs.language.types import settled
from treadle.doors.actor.models import AbsModel, GeneratedCases


def absunit_file(made: GeneratedCases, model: Path) -> str:
    """The text of the module."""
    program = AbsModel.load(model).program
    class_name, _, method = made.target.rpartition(":")[2].rpartition(".")
    cls = program.class_named(class_name)
    assert cls is not None
    suite = f"{cls.name}{method[:1].upper()}{method[1:]}Suite"
    used = sorted({obj.cls for case in made.cases for obj in (*case.initial.values(), *case.final.values())})
    classes = [c for c in (program.class_named(name) for name in used) if c is not None]
    out = [f"// Tests of {cls.name}.{method} in {model.name}, written by Treadle.", f"module {cls.module}Test;", ""]
    out += ["import * from AbsUnit;", f"import * from {cls.module};", "", "[Suite]", f"interface {suite} {{"]
    out += [f"  [Test] Unit test{n}();" for n in range(1, len(made.cases) + 1)]
    out += ["}", "", "[SuiteImpl]", f"class {suite}Impl implements {suite} {{"]
    out += ["  ABSAssert check;", "  { check = new ABSAssertImpl(); }"]
    for number, case in enumerate(made.cases, 1):
        out += _test(number, case, method, program)
    out += ["}", "", *_delta(classes, cls.module)]
    return "\n".join(out) + "\n"


def _test(number: int, case: ActorCase, method: str, program: Program) -> list[str]:
    out = ["", f"  // when {' and '.join(case.condition) or 'any input'}", f"  // order: {' '.join(case.order)}"]
    out.append(f"  Unit test{number}() {{")
    for name, obj in case.initial.items():
        cls = program.class_named(obj.cls)
        assert cls is not None
        given = ", ".join(_default(obj.fields[f]) for f, _ in cls.fields[: cls.params])
        out.append(f"    {obj.cls} {name} = new {obj.cls}({given});")
    for name, obj in case.initial.items():
        out += [f"    await {name}!{_setter(f)}({_value(v)});" for f, v in obj.fields.items()]
    receiver = next(iter(case.initial))
    call = f"{receiver}!{method}({', '.join(_value(v) for v in case.arguments.values())})"
    if case.outcome in ("deadlock", "waiting"):
        out += [f"    {call};", f"    // expected: {case.outcome} ({'; '.join(case.waiting)})"]
    else:
        result = "" if case.result is None else f"check.assertTrue(result == {_value(case.result)});"
        out.append(f"    {_result_type(program, case, method)}await {call};" if result else f"    await {call};")
        out += [f"    {result}"] if result else []
    for name, obj in case.final.items():
        if name in case.initial:
            out += [
                f"    {_type(program, obj.cls, f)} {name}_{f} = await {name}!{_getter(f)}();\n"
                f"    check.assertTrue({name}_{f} == {_value(v)});"
                for f, v in obj.fields.items()
                if not (isinstance(v, str) and v.startswith("r") and v[1:].isdigit())
            ]
    out.append("  }")
    return out


def _result_type(program: Program, case: ActorCase, method: str) -> str:
    cls = program.class_named(next(iter(case.initial.values())).cls)
    assert cls is not None
    return f"{settled(cls.own[method].result)} result = "


def _type(program: Program, class_name: str, field: str) -> str:
    cls = program.class_named(class_name)
    assert cls is not None
    return str(settled(dict(cls.fields)[field]))


def _setter(field: str) -> str:
    return f"set{field[:1].upper()}{field[1:]}ForTest"


def _getter(field: str) -> str:
    return f"get{field[:1].upper()}{field[1:]}ForTest"


def _value(value: Any) -> str:
    if value is None:
        return "null"
    return str(value) if not isinstance(value, bool) else ("True" if value else "False")


def _default(value: Any) -> str:
    """Objects may refer to each other in a circle: references are set afterwards."""
    is_object = isinstance(value, str) and value[:1] == "s" and value[1:].isdigit()
    return "null" if is_object else _value(value)


def _delta(classes: list[Class], module: str) -> list[str]:
    out = ["delta AccessForTest;", f"uses {module};"]
    for cls in classes:
        out.append(f"modifies class {module}.{cls.name} {{")
        for field, type_ in cls.fields:
            kind = settled(type_)
            out.append(f"  adds Unit {_setter(field)}({kind} value) {{ this.{field} = value; }}")
            out.append(f"  adds {kind} {_getter(field)}() {{ return this.{field}; }}")
        out.append("}")
    return out
