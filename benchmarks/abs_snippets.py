"""How many of the ABS tools' own semantic tests agree with us: `python -m benchmarks.abs_snippets CHECKOUT`.

CHECKOUT is one of `abstools/abstools`; it is only read. Its tests hand a program, or the name of a file, to a driver,
which asks whether the variable `testresult` of the main block is true in the end, or whether the run fails. Here every
order of tasks is run: in each the variable must be true and nothing may fail, or each must fail.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from treadle.abs.language.errors import AbsError
from treadle.core.errors import UsageError
from treadle.doors.actor.generated import generate

_CALL = re.compile(r"assertEval(True|Fails)(?:WithTestfiles)?\(\s*(?=[\"nA-Z])")
_PART = re.compile(r'\s*\+?\s*(?:"""(.*?)"""|"((?:[^"\\]|\\.)*)"|([A-Z][A-Z0-9_]{2,}))', re.DOTALL)
_CONSTANT = re.compile(r"String\s+([A-Z][A-Z0-9_]{2,})\s*=")
_FILE = re.compile(r'new File\(\s*"([^"]+)"')
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'"}
# What was used up says nothing about agreement; the tests of the tools are all far below.
_STATES, _SECONDS = 20_000, 60.0


def snippets(checkout: Path) -> Iterator[tuple[str, bool, str]]:
    """The place of each program, whether it is to end well, and its text."""
    tests = checkout / "frontend" / "src" / "test"
    shared = next(tests.rglob("SemanticTests.java")).read_text(encoding="utf-8")
    for file in sorted((tests / "java" / "org" / "abs_models" / "backend").rglob("*.java")):
        if file.stem.endswith(("Driver", "SemanticTests")):
            continue
        source = re.sub(r"^[ \t]*(//|\*).*$", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        constants: dict[str, str] = {}
        for named in _CONSTANT.finditer(shared + source):
            constants[named[1]] = "".join(_strings(shared + source, named.end(), constants))
        for call in _CALL.finditer(source):
            place = f"{file.stem}:{source.count(chr(10), 0, call.start()) + 1}"
            file_named = _FILE.match(source, call.end())
            if file_named is not None:
                yield place, call[1] == "True", (tests / "resources" / file_named[1]).read_text(encoding="utf-8")
            elif "}" in (text := "".join(_strings(source, call.end(), constants))):
                yield place, call[1] == "True", f"module BackendTest; {text}"


def _strings(source: str, at: int, constants: dict[str, str]) -> Iterator[str]:
    while (part := _PART.match(source, at)) is not None:
        yield constants.get(part[3] or "", "") or re.sub(
            r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), part[1] or part[2] or ""
        )
        at = part.end()


def outcome(text: str, ends_well: bool, folder: Path) -> str:
    """What we say to a program: it agrees, it does not, or why it is refused."""
    end = text.rindex("}")
    judged = f"{text[:end]} assert testresult; }}{text[end + 1 :]}" if ends_well else text
    model = folder / "snippet.abs"
    model.write_text(judged, encoding="utf-8")
    try:
        made = generate(str(model), states=_STATES, seconds=_SECONDS, keep=50)
    except (AbsError, UsageError) as error:
        return f"refused: {error}"
    well = [case.outcome == "completed" and not case.failures for case in made.cases]
    if not well:
        return "cut: no run came to its end within the bounds"
    return "agrees" if all(one == ends_well for one in well) else f"disagrees: {made.tests} tests, {well[:5]}"


def tell(checkout: Path) -> None:
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for place, ends_well, text in snippets(checkout):
            said = outcome(text, ends_well, Path(folder))
            counts[said.partition(":")[0]] += 1
            if said != "agrees":
                print(f"{place}: {said}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()), f"of {counts.total()}")


if __name__ == "__main__":
    tell(Path(sys.argv[1]))
