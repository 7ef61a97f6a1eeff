"""A report for the browser: one page that holds everything, works without a network, and runs nothing of the program.

Decides how a page is put together: a frame (`pages/frame.*`) with the parts of some doors, each shown by the script of
its kind. What a part holds is decided by the door. Keeps: text of the program never becomes markup.
"""

from __future__ import annotations

import json
import linecache
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from treadle.core.errors import UsageError
from treadle.core.files import write_whole
from treadle.core.verdict import Verdict
from treadle.report.explanation import short_names

Part = dict[str, Any]

_BEGIN_OF_DATA = '<script id="data" type="application/json">'

# kind of a part -> the scripts that show it
_SCRIPTS = {
    "explore": ("lanes", "sequence", "finding", "explore"),
    "class": ("lanes", "finding", "curve", "class"),
    "unit": ("tree", "heap", "unit"),
    "schedule": ("lanes", "sequence", "finding", "curve", "tree", "schedule"),
    "actor": ("curve", "tree", "sequence", "actor"),
}


def part(kind: str, target: str, verdict: Verdict | None, said: str, sentence: str, advice: str = "") -> Part:
    """What every part begins with; `said` is the verdict as the console prints it."""
    colour = "" if verdict is None else "good" if verdict.is_pass else "bad" if verdict is Verdict.FAILED else "warn"
    return {
        "kind": kind,
        "target": target,
        "verdict": said,
        "ended": "" if verdict is None else verdict.value,
        "colour": colour,
        "sentence": sentence,
        "advice": advice,
        "files": {},
    }


def add_sources(into: Part, names: Iterable[str]) -> None:
    """Put the text of source files into a part."""
    for name in dict.fromkeys(names):
        lines = linecache.getlines(name)
        if lines:
            into["files"][name] = [line.rstrip("\n") for line in lines]


def check_writable(path: Path, option: str) -> None:
    """A report that could not be written is told before the search, not after it."""
    if path.is_dir():
        raise UsageError(f"{option} {path} is a folder; name a file, such as {path / 'report.html'}")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {path}: there is no folder '{path.parent}'; make it first")
    try:
        existed = path.exists()
        with path.open("a"):
            pass
        if not existed:
            path.unlink()
    except OSError as error:
        raise UsageError(f"{option} {path} cannot be written: {error.strerror}") from error


def write(path: Path, parts: Sequence[Part]) -> None:
    """Write the report of some parts."""
    write_whole(path, render(parts))


def read(path: Path) -> list[Part]:
    """The parts of a page that was written, to go into another one."""
    _, _, rest = path.read_text(encoding="utf-8").partition(_BEGIN_OF_DATA)
    data = json.loads(rest.partition("</script>")[0])
    return [{**one, "files": data["files"]} for one in data["parts"]]


def render(parts: Sequence[Part], shown: str = "") -> str:
    """The page as text; `shown` is the title of one that stands for itself."""
    sources: dict[str, list[str]] = {}
    for one in parts:
        sources |= one["files"]
    data = {
        "title": shown,
        "parts": [{name: value for name, value in one.items() if name != "files"} for one in parts],
        "files": sources,
        "names": short_names(list(sources)),
    }
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    wanted = dict.fromkeys(name for one in parts for name in _SCRIPTS[one["kind"]])
    scripts = "\n".join(_page_file(f"{name}.js") for name in ("frame", *wanted, "begin"))
    page = _page_file("frame.html").replace("/*STYLE*/", _page_file("frame.css")).replace("/*SCRIPT*/", scripts)
    return page.replace("/*DATA*/", text)


def _page_file(name: str) -> str:
    return files("treadle.report").joinpath("pages", name).read_text(encoding="utf-8")
