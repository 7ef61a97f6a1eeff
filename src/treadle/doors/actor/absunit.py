"""The cases as an ABSUnit test module for the ABS tools: one suite, one test method per case.

ABS has no way to put an object into a state from outside, so a delta adds setters and getters to the classes, behind an
interface of their own, and a product applies it. The order of tasks stands in a comment: the ABS scheduler decides it
when the suite is run. Results are looked at when nothing can run any more: `await duration(1, 1)` waits for that.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from treadle.abs.explore.cases import ActorCase, ObjectState
from treadle.abs.language.model import Class, Interface, Program
from treadle.abs.language.names import STDLIB
from treadle.abs.language.traits import ORIGINAL
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
    out += [f"module {cls.module}Test;", "export *;", "import * from AbsUnit;"]
    out += [*(f"import * from {module};" for module in _modules(program, cls)), ""]
    out += ["[Fixture]", f"interface {suite} {{"]
    out += [f"  [Test] Unit test{n}();" for n in range(1, len(made.cases) + 1)]
    out += ["}", "", "[Suite]", f"class {suite}Impl implements {suite} {{"]
    out += ["  ABSAssert check;", "  { check = new local ABSAssertImpl(); }"]
    for number, case in enumerate(made.cases, 1):
        out += _test(number, case, method, program)
    out.append("}")
    deltas = _by_module(classes)
    for name, members in deltas.items():
        out += ["", *_delta(name, members, cls)]
    out += ["", *_product(list(deltas))]
    return "\n".join(out) + "\n"


def _modules(program: Program, tested: Class) -> list[str]:
    """Where the types of the model may be: a test module sees no more than it imports."""
    types = [t for c in program.classes for _, t in c.fields]
    types += [t for c in program.classes for m in c.own.values() for t in (m.result, *(t for _, t in m.params))]
    found = {c.module for c in program.classes} | {_module(t) for used in types for t in _parts(used)}
    found |= {i.module for c in program.classes for i in c.implements}
    own = sorted(name for name in found if name and not name.startswith("ABS."))
    return [tested.module, *(name for name in own if name != tested.module)]


def _parts(type_: AnyType) -> list[Type]:
    """A type and those of which it is made."""
    known = settled(type_)
    return [known, *(part for a in known.args for part in _parts(a))] if isinstance(known, Type) else []


def _module(type_: Type) -> str:
    if isinstance(type_.decl, Interface | Class):
        return type_.decl.module
    return type_.name.rpartition(".")[0]


def _by_module(classes: list[Class]) -> dict[str, list[Class]]:
    """The classes that each delta changes: what a delta adds is in one module, where its classes can see it."""
    modules = list(dict.fromkeys(cls.module for cls in reversed(classes)))  # that of the class under test first
    names = ["AccessForTest", *(f"AccessForTest{number}" for number in range(2, len(modules) + 1))]
    return {name: [c for c in classes if c.module == module] for name, module in zip(names, modules, strict=True)}


def _test(number: int, case: ActorCase, method: str, program: Program) -> list[str]:
    out = ["", f"  // when {' and '.join(case.condition) or 'any input'}", f"  // order: {' '.join(case.order)}"]
    out.append(f"  Unit test{number}() {{")
    out += _made(case, program)
    for name, obj in case.initial.items():
        cls = _class(program, obj.cls)
        for field, type_ in _writable(cls).items():
            if field not in cls.final:
                out.append(f"    await {name}!{_setter(field)}({_value(obj.fields[field], type_)});")
            elif field not in cls.field_names()[: cls.params]:
                out.append(f"    // {name}.{field} is final: here it was {_value(obj.fields[field], type_)}")
    receiver = next(iter(case.initial))
    cls = _class(program, case.initial[receiver].cls)
    call = f"{receiver}!{_call(cls, method, case.arguments)}"
    out += [f"    {receiver}!{_call(cls, item['method'], item['arguments'])};" for item in case.queue]
    result = cls.own[method].result
    if case.result is not None and not _has_new_object(case.result) and _has_text(result):
        out.append(f"    {_type(result)} result = await {call};")
        out.append(f"    check.assertTrue(result == {_value(case.result, result)});")
    else:
        out.append(f"    {call};")
    out.append("    await duration(1, 1);  // until nothing can run any more")
    if case.outcome != "completed":
        out.append(f"    // expected: {case.outcome} ({'; '.join(case.waiting or case.failures)})")
    if case.outcome != "deadlock":  # the actors of a deadlock answer nobody
        out += _look(case, program)
    out.append("  }")
    return out


def _made(case: ActorCase, program: Program) -> list[str]:
    """The objects, each after those that its final parameters refer to; other references are set afterwards."""
    out: list[str] = []
    waiting, there = dict(case.initial), set[str]()
    while waiting:
        ready = [n for n, obj in waiting.items() if _final_references(obj, program) & waiting.keys() <= {n}]
        name = ready[0] if ready else next(iter(waiting))  # they refer to each other in a circle
        obj, cls = waiting[name], _class(program, waiting[name].cls)
        given = []
        for field, type_ in cls.fields[: cls.params]:
            value = obj.fields[field]
            later = value in case.initial and not (field in cls.final and value in there)
            given.append("null" if later else _value(value, type_))
        out.append(f"    {_access(cls)} {name} = new {_where(obj, cls)}{obj.cls}({', '.join(given)});")
        there.add(name)
        del waiting[name]
    return out


def _where(obj: ObjectState, cls: Class) -> str:
    """In the group of the suite or one of its own; a class may say that its objects have to be in one of these."""
    local = "Plain" in cls.annotations or (obj.group and "COG" not in cls.annotations)
    return "local " if local else ""


def _final_references(obj: ObjectState, program: Program) -> set[str]:
    return {value for f in _class(program, obj.cls).final if isinstance(value := obj.fields[f], str)}


def _look(case: ActorCase, program: Program) -> list[str]:
    out = []
    for name, obj in case.final.items():
        if name not in case.initial:
            continue
        for field, type_ in _writable(_class(program, obj.cls)).items():
            value = obj.fields[field]
            if not _has_new_object(value):
                out.append(f"    {_type(type_)} {name}_{field} = await {name}!{_getter(field)}();")
                out.append(f"    check.assertTrue({name}_{field} == {_value(value, type_)});")
    return out


def _call(cls: Class, method: str, arguments: dict[str, Any]) -> str:
    types = dict(cls.own[method].params)
    return f"{method}({', '.join(_value(value, types[name]) for name, value in arguments.items())})"


def _names(type_: AnyType) -> set[str]:
    return {part.name.rpartition(".")[2] for part in _parts(type_)}


def _writable(cls: Class) -> dict[str, AnyType]:
    """The fields that a test can set and look at."""
    return {name: type_ for name, type_ in cls.fields if _has_text(type_)}


def _has_text(type_: AnyType) -> bool:
    """Whether values of a type can be written: futures cannot, not even `null`, nor can Floats beside whole numbers."""
    names = _names(type_)
    return "Fut" not in names and not ("Float" in names and names & {"Int", "Rat"})


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


def _has_new_object(value: Any) -> bool:
    """Objects made by the run have no name in the test."""
    return isinstance(value, str) and re.search(r"\br[0-9]+\b" + _OUTSIDE_TEXTS, value) is not None


def _setter(field: str) -> str:
    return f"set{field[:1].upper()}{field[1:]}ForTest"


def _getter(field: str) -> str:
    return f"get{field[:1].upper()}{field[1:]}ForTest"


def _value(value: Any, type_: AnyType) -> str:
    if value is None:
        return "null"
    text = str(value) if not isinstance(value, bool) else ("True" if value else "False")
    numbers = _names(type_) & {"Int", "Rat", "Float"}
    return _WHOLE.sub(r"\g<0>.0", text) if numbers == {"Float"} else text


# Behind it, an even number of quotation marks follow; those inside a text are written \".
_OUTSIDE_TEXTS = r'(?=(?:(?:\\.|[^"\\])*"(?:\\.|[^"\\])*")*(?:\\.|[^"\\])*$)'
# A whole number that is no part of a name, another number or a text: an unknown Float is one, and an Int is no Float.
_WHOLE = re.compile(r"(?<![\w.])\d+(?![\w.])" + _OUTSIDE_TEXTS)


def _delta(name: str, classes: list[Class], tested: Class) -> list[str]:
    out = [f"delta {name};", f"uses {classes[0].module};", "adds export *;"]  # many models export nothing
    for cls in classes:
        mine = [i.name for i in cls.implements if i.at.source.name != f"<{STDLIB.rpartition('.')[2]}.abs>"]
        out.append(f"adds interface {_access(cls)}{' extends ' + ', '.join(mine) if mine else ''} {{")
        known = {name for interface in cls.implements for name in interface.methods()}
        if cls is tested:  # what tests call, and the interfaces do not promise
            mine_alone = [name for name in cls.own if name not in known and not name.endswith(ORIGINAL)]
            out += [f"  {_signature(name, cls)};" for name in mine_alone]
        for field, type_ in _writable(cls).items():
            if field not in cls.final:
                out.append(f"  Unit {_setter(field)}({_type(type_)} value);")
            out.append(f"  {_type(type_)} {_getter(field)}();")
        out.append("}")
    for cls in classes:
        out.append(f"modifies class {cls.module}.{cls.name} adds {_access(cls)} {{")
        for field, type_ in _writable(cls).items():
            if field not in cls.final:
                out.append(f"  adds Unit {_setter(field)}({_type(type_)} value) {{ this.{field} = value; }}")
            out.append(f"  adds {_type(type_)} {_getter(field)}() {{ return this.{field}; }}")
        out.append("}")
    return out


def _signature(name: str, cls: Class) -> str:
    method = cls.own[name]
    return f"{_type(method.result)} {name}({', '.join(f'{_type(t)} {n}' for n, t in method.params)})"


def _product(deltas: list[str]) -> list[str]:
    applied = [f"delta {name} when ForTest;" for name in deltas]
    return ["productline TestLine;", "features ForTest;", *applied, "", "product Tested(ForTest);"]
