"""The cases as an ABSUnit test module for the ABS tools: one suite, one test method per case.

ABS has no way to put an object into a state from outside, so a delta adds setters and getters to the classes, behind an
interface of their own, and a product applies it. The order of tasks stands in a comment: the ABS scheduler decides it
when the suite is run. Results are looked at when nothing can run any more: `await duration(1, 1)` waits for that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treadle.abs.explore.cases import ActorCase
from treadle.abs.language.model import Class, Program
from treadle.abs.language.names import STDLIB
from treadle.abs.language.types import AnyType, Type, settled
from treadle.doors.actor.generated import GeneratedCases
from treadle.doors.actor.loaded import AbsModel


def absunit_file(made: GeneratedCases, model: Path) -> str:
    """The text of the module."""
    program = AbsModel.load(model).program
    class_name, _, method = made.target.rpartition(":")[2].rpartition(".")
    cls = program.class_named(class_name)
    assert cls is not None
    suite = f"{cls.name}{method[:1].upper()}{method[1:]}Suite"
    used = sorted({obj.cls for case in made.cases for obj in (*case.initial.values(), *case.final.values())})
    classes = [c for c in (program.class_named(name) for name in [*used, cls.name]) if c is not None]
    classes = list(dict.fromkeys(classes))
    out = [f"// Tests of {cls.name}.{method} in {model.name}, written by Treadle for the ABS tools.", ""]
    out += [f"module {cls.module}Test;", "export *;", "import * from AbsUnit;", f"import * from {cls.module};", ""]
    out += ["[Fixture]", f"interface {suite} {{"]
    out += [f"  [Test] Unit test{n}();" for n in range(1, len(made.cases) + 1)]
    out += ["}", "", "[Suite]", f"class {suite}Impl implements {suite} {{"]
    out += ["  ABSAssert check;", "  { check = new local ABSAssertImpl(); }"]
    for number, case in enumerate(made.cases, 1):
        out += _test(number, case, method, program)
    out += ["}", "", *_delta(classes, cls), "", *_product()]
    return "\n".join(out) + "\n"


def _test(number: int, case: ActorCase, method: str, program: Program) -> list[str]:
    out = ["", f"  // when {' and '.join(case.condition) or 'any input'}", f"  // order: {' '.join(case.order)}"]
    out.append(f"  Unit test{number}() {{")
    for name, obj in case.initial.items():
        cls = _class(program, obj.cls)
        given = ", ".join(_default(obj.fields[f]) for f, _ in cls.fields[: cls.params])
        kind = f"local {obj.cls}" if obj.group else obj.cls
        out.append(f"    {_access(cls)} {name} = new {kind}({given});")
    for name, obj in case.initial.items():
        out += [f"    await {name}!{_setter(f)}({_value(v)});" for f, v in obj.fields.items()]
    receiver = next(iter(case.initial))
    cls = _class(program, case.initial[receiver].cls)
    call = f"{receiver}!{method}({', '.join(_value(v) for v in case.arguments.values())})"
    out += [f"    {receiver}!{i['method']}({', '.join(map(_value, i['arguments'].values()))});" for i in case.queue]
    if case.result is not None and not _is_new_object(case.result):
        out.append(f"    {_type(cls.own[method].result)} result = await {call};")
        out.append(f"    check.assertTrue(result == {_value(case.result)});")
    else:
        out.append(f"    {call};")
    out.append("    await duration(1, 1);  // until nothing can run any more")
    if case.outcome != "completed":
        out.append(f"    // expected: {case.outcome} ({'; '.join(case.waiting or case.failures)})")
    if case.outcome != "deadlock":  # the actors of a deadlock answer nobody
        out += _look(case, program)
    out.append("  }")
    return out


def _look(case: ActorCase, program: Program) -> list[str]:
    out = []
    for name, obj in case.final.items():
        if name not in case.initial:
            continue
        types = dict(_class(program, obj.cls).fields)
        for field, value in obj.fields.items():
            if not _is_new_object(value):
                out.append(f"    {_type(types[field])} {name}_{field} = await {name}!{_getter(field)}();")
                out.append(f"    check.assertTrue({name}_{field} == {_value(value)});")
    return out


def _class(program: Program, name: str) -> Class:
    found = program.class_named(name)
    assert found is not None
    return found


def _access(cls: Class) -> str:
    """The interface through which tests reach into a class."""
    return f"{cls.name}ForTest"


def _type(type_: AnyType) -> str:
    """A type as it is written; where an older model uses a class as a type, its interface for tests stands."""
    known = settled(type_)
    if isinstance(known, Type) and known.kind == "object" and isinstance(known.decl, Class):
        return _access(known.decl)
    if isinstance(known, Type) and known.args:
        return f"{known.name.rpartition('.')[2]}<{', '.join(_type(a) for a in known.args)}>"
    return str(known)


def _is_new_object(value: Any) -> bool:
    """Objects made by the run have no name in the test."""
    return isinstance(value, str) and value[:1] == "r" and value[1:].isdigit()


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


def _delta(classes: list[Class], tested: Class) -> list[str]:
    out = ["delta AccessForTest;", f"uses {tested.module};", "adds export *;"]  # many models export nothing
    for cls in classes:
        mine = [i.name for i in cls.implements if i.at.source.name != f"<{STDLIB.rpartition('.')[2]}.abs>"]
        out.append(f"adds interface {_access(cls)}{' extends ' + ', '.join(mine) if mine else ''} {{")
        known = {name for interface in cls.implements for name in interface.methods()}
        if cls is tested:  # what tests call, and the interfaces do not promise
            out += [f"  {_signature(name, cls)};" for name in cls.own if name not in known]
        for field, type_ in cls.fields:
            out.append(f"  Unit {_setter(field)}({_type(type_)} value);")
            out.append(f"  {_type(type_)} {_getter(field)}();")
        out.append("}")
    for cls in classes:
        out.append(f"modifies class {cls.module}.{cls.name} adds {_access(cls)} {{")
        for field, type_ in cls.fields:
            out.append(f"  adds Unit {_setter(field)}({_type(type_)} value) {{ this.{field} = value; }}")
            out.append(f"  adds {_type(type_)} {_getter(field)}() {{ return this.{field}; }}")
        out.append("}")
    return out


def _signature(name: str, cls: Class) -> str:
    method = cls.own[name]
    return f"{_type(method.result)} {name}({', '.join(f'{_type(t)} {n}' for n, t in method.params)})"


def _product() -> list[str]:
    return [
        "productline TestLine;",
        "features ForTest;",
        "delta AccessForTest when ForTest;",
        "",
        "product Tested(ForTest);",
    ]
