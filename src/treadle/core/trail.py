"""A trail: the choices that make one execution, for every door: a schedule, a path, an order of tasks, a sequence of
calls.

    Trail(target, choices, door="explore", settings={...}, shared={...}, kind="deadlock", message="nobody can go on")

Contract:
- `choices` are those of `treadle.core.choice`, in the order in which they are made; forced ones are left out by
  themselves. Running the target of a trail again along its choices, under its settings, gives the same execution; what
  was offered at each is found out again, and inputs follow from the path by solving canonically.
- `door` says who runs it again: `treadle.doors.replay` has one replayer for each.
- `shared` are the names of objects that strands share, where the search skipped points on the others: operations are
  counted the same way again. None: every access was a point.
- `kind` and `message` say what the execution showed.
- one codec: `str(trail)` is `tr2:TARGET:PACKED`, `trail.to_json()` the same for files; `Trail.parse` reads both and
  what version 1 wrote (`tr1:`). Whatever else it is given is a `UsageError` of one sentence, never another error.
"""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from typing import Any, Final, TypeVar

from treadle.core.choice import KINDS, Choice, Drawn, Stop, StrandRuns, TaskChosen
from treadle.core.errors import UsageError
from treadle.core.settings import KEYS

_MARK: Final = "tr2"
_FIRST_MARK: Final = "tr1"

# A trail is a few hundred bytes, a finding with all its operations a few million: what is larger was not written here,
# and is not unpacked.
_MOST_BYTES: Final = 32 << 20

# Of the message in the string form: enough to recognise a failure.
_MESSAGE: Final = 80

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Trail:
    """One execution: what to run, by which door, under which settings, and the choices."""

    target: str
    choices: tuple[Choice, ...]
    door: str = "explore"
    settings: dict[str, Any] = field(default_factory=dict)
    shared: frozenset[str] | None = None
    kind: str = ""
    message: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", tuple(choice for choice in self.choices if not choice.forced))
        object.__setattr__(self, "message", _printable(self.message))

    def only(self, *kinds: type[T]) -> tuple[T, ...]:
        """The choices, which must all be of these kinds."""
        for choice in self.choices:
            if not isinstance(choice, kinds):
                raise UsageError(
                    f"the trail of {self.target} holds a choice that '{self.door}' does not make ({choice})"
                )
        return self.choices  # type: ignore[return-value]

    # ------------------------------------------------------------------ writing

    def to_json(self) -> dict[str, Any]:
        written: dict[str, Any] = {
            "treadle": _MARK,
            "door": self.door,
            "target": self.target,
            "settings": self.settings,
            "finding": {"kind": self.kind, "message": self.message},
            "choices": [{"choice": _WORD[type(choice)], **_named(choice)} for choice in self.choices],
        }
        if self.shared is not None:
            written["shared"] = sorted(self.shared)
        return written

    def __str__(self) -> str:
        content: list[Any] = [
            [[_LETTER[type(choice)], *_in_order(choice)] for choice in self.choices],
            self.door,
            self.kind,
            self.message[:_MESSAGE],
            self.settings,
            None if self.shared is None else sorted(self.shared),
        ]
        packed = zlib.compress(json.dumps(content, separators=(",", ":")).encode(), 9)
        return f"{_MARK}:{self.target}:{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"

    # ------------------------------------------------------------------ reading

    @classmethod
    def parse(cls, text: str) -> Trail:
        """From the string or from JSON."""
        text = text.strip()
        try:
            return _from_object(_loads(text)) if text.startswith("{") else _from_string(text)
        except (ValueError, RecursionError, zlib.error) as error:
            why = str(error) if isinstance(error, _NotATrail) else "it is damaged"
            shown = " ".join(_printable(text[:40]).split()) + ("..." if len(text) > 40 else "")
            raise UsageError(
                f"this is not a trail that Treadle wrote ({shown}): {why}; "
                "copy the whole string behind 'replay:', or give the JSON file"
            ) from error


class _NotATrail(ValueError):
    """What is wrong with it, for a person."""


def _from_string(text: str) -> Trail:
    mark, _, rest = text.partition(":")
    target, colon, packed = rest.rpartition(":")
    _require(mark in (_MARK, _FIRST_MARK), f"it does not begin with '{_MARK}:'")
    _require(bool(colon), "it breaks off")
    content = _array(_loads(_unpacked("".join(packed.split()))))
    if mark == _FIRST_MARK:
        _require(3 <= len(content) <= 4, "it has too few or too many parts")
        segments, kind, message, settings = [*content, {}][:4]
        return _first_version(target, segments, kind, message, settings)
    _require(len(content) == 6, "it has too few or too many parts")
    choices, door, kind, message, settings, shared = content
    made = [_choice_in_order(_array(choice)) for choice in _array(choices)]
    return _checked(target, made, door, settings, shared, kind, message)


def _from_object(content: Any) -> Trail:
    found = _mapping(content)
    finding = _mapping(found.get("finding"))
    kind, message, settings = finding.get("kind", ""), finding.get("message", ""), found.get("settings")
    if found.get("treadle") == _FIRST_MARK:
        return _first_version(found.get("target"), found.get("segments"), kind, message, settings)
    _require(found.get("treadle") == _MARK, "it has another version, or none")
    made = [_choice_by_name(_mapping(choice)) for choice in _array(found.get("choices"))]
    return _checked(found.get("target"), made, found.get("door"), settings, found.get("shared"), kind, message)


def _first_version(target: Any, segments: Any, kind: Any, message: Any, settings: Any) -> Trail:
    """Version 1 had schedules alone; those of ABS models were their tasks."""
    runs: list[StrandRuns] = []
    for part in _array(segments):
        if isinstance(part, dict):
            until = _made(Stop, part["until"]) if "until" in part else None
            runs.append(StrandRuns(_text(part.get("strand")), until))
        elif isinstance(part, str):
            runs.append(StrandRuns(_text(part)))
        else:
            strand, *stop = _array(part) or [None]
            runs.append(StrandRuns(_text(strand), _made(Stop, stop)))
    choices: list[Choice] = [*runs]
    door = "explore"
    if _text(target).endswith(".abs"):
        door, choices = "actor", [TaskChosen.parse(run.strand) for run in runs]
    return _checked(target, choices, door, settings, None, kind, message)


def _checked(
    target: Any, choices: Iterable[Choice], door: Any, settings: Any, shared: Any, kind: Any, message: Any
) -> Trail:
    _require(len(_text(target).splitlines()) == 1, "it names no target")
    _require(_text(door).isidentifier(), "it names no door")
    names = None if shared is None else frozenset(_text(name) for name in _array(shared))
    return Trail(target, tuple(choices), _text(door), _settings(settings), names, _text(kind), _text(message))


def _settings(found: Any) -> dict[str, Any]:
    """Settings as a project has them; those of another door hold plain values."""
    settings = _mapping(found)
    for key, value in settings.items():
        values = value if isinstance(value, list) else [_text(key), value]
        _require(all(isinstance(one, str | int | float | None) for one in values), f"its setting '{key}' is not plain")
        if key in KEYS:
            types, wanted = KEYS[key]
            fits = isinstance(value, types) and isinstance(value, bool) == (bool in types)
            fits &= not isinstance(value, list) or all(isinstance(one, str) for one in value)
            _require(fits, f"its setting '{key}' must be {wanted}")
    return settings


# ---------------------------------------------------------------------- bytes, text, JSON


def _unpacked(packed: str) -> str:
    """What was compressed, if it is complete and no larger than a trail may be."""
    reader = zlib.decompressobj()
    padded = packed.encode("ascii") + b"=" * (-len(packed) % 4)
    content = reader.decompress(base64.b64decode(padded, b"-_", validate=True), _MOST_BYTES)
    _require(not reader.unconsumed_tail, "it is too large")
    _require(reader.eof and not reader.unused_data, "it breaks off, or has something behind it")
    return content.decode()


def _loads(text: str) -> Any:
    _require(len(text) <= _MOST_BYTES, "it is too large")
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise _NotATrail(f"it holds {name}")


def _require(holds: bool, why: str) -> None:
    if not holds:
        raise _NotATrail(why)


def _text(found: Any) -> str:
    _require(isinstance(found, str) and found == _printable(found), "something that must be text is not")
    return str(found)


def _printable(text: str) -> str:
    """Text that can be written anywhere: half characters are spelt out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _array(found: Any) -> list[Any]:
    _require(isinstance(found, list), "something that must be a list is not")
    return list(found)


def _mapping(found: Any) -> dict[str, Any]:
    _require(isinstance(found, dict), "something that must be an object is not")
    return dict(found)


# ---------------------------------------------------------------------- choices


def _whole(found: Any) -> int:
    _require(isinstance(found, int) and not isinstance(found, bool), "something that must be a whole number is not")
    return int(found)


def _truth(found: Any) -> bool:
    _require(isinstance(found, bool), "something that must be true or false is not")
    return bool(found)


def _drawn(found: Any) -> Drawn:
    """A value that was drawn: what JSON has no word for is an object of one entry."""
    if isinstance(found, list):
        return tuple(_drawn(one) for one in found)
    if isinstance(found, dict):
        _require(len(found) == 1, "a value is damaged")
        [(kind, text)] = found.items()
        _require(kind in _SPELT, f"a value is of the unknown kind '{_printable(kind)}'")
        return _SPELT[kind](_text(text))
    return found  # type: ignore[no-any-return]  # JSON has nothing else but numbers, text, truth values and null


def _fraction(text: str) -> Fraction:
    _require(re.fullmatch(r"-?[0-9]+(/0*[1-9][0-9]*)?", text) is not None, "a value is no fraction")
    return Fraction(text)


# what JSON has no word for, or no room: numbers are read by others, too
_SPELT: Final[Mapping[str, Callable[[str], Drawn]]] = {
    "fraction": _fraction,
    "bytes": bytes.fromhex,
    "float": float,
    "int": lambda text: int(text, 16),
}
_LARGE: Final = 1 << 64


def _write_drawn(value: object) -> Any:
    if isinstance(value, tuple):
        return [_write_drawn(one) for one in value]
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, int) and abs(value) > _LARGE:
        return {"int": f"{value:x}"}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Stop):
        return _named(value)
    raise TypeError(f"a trail cannot hold {value!r}")


# how the fields of a choice are read, by their declared type
_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "str": _text,
    "int": _whole,
    "bool": _truth,
    "int | None": lambda found: None if found is None else _whole(found),
    "tuple[int, ...]": lambda found: tuple(_whole(one) for one in _array(found)),
    "Stop | None": lambda found: None if found is None else _made(Stop, found),
    "Drawn": _drawn,
}

_WRITTEN: Final[tuple[type[Any], ...]] = (Stop, *(kind for _, _, kind in KINDS))
_FIELDS: Final[dict[type[Any], dict[str, tuple[Callable[[Any], Any], Any]]]] = {
    kind: {f.name: (_READERS[str(f.type)], f.default) for f in fields(kind) if f.name != "offered"} for kind in _WRITTEN
}
_LETTER: Final = {kind: letter for letter, _, kind in KINDS}
_WORD: Final = {kind: word for _, word, kind in KINDS}
_BY_LETTER: Final = {letter: kind for letter, _, kind in KINDS}
_BY_WORD: Final = {word: kind for _, word, kind in KINDS}


def _named(part: Choice | Stop) -> dict[str, Any]:
    """The fields by name, without those that have their default."""
    values = {name: (getattr(part, name), default) for name, (_, default) in _FIELDS[type(part)].items()}
    return {name: _write_drawn(value) for name, (value, default) in values.items() if value != default}


def _in_order(part: Choice | Stop) -> list[Any]:
    """The fields in order, up to the last that has not its default."""
    values = [(getattr(part, name), default) for name, (_, default) in _FIELDS[type(part)].items()]
    while values and values[-1][0] == values[-1][1]:
        values.pop()
    return [_in_order(value) if isinstance(value, Stop) else _write_drawn(value) for value, _ in values]


def _made(kind: type[T], found: Any) -> T:
    """From the fields by name, or in order; what is left out has its default."""
    known = _FIELDS[kind]
    if isinstance(found, list):
        _require(len(found) <= len(known), "a choice has too many fields")
        found = dict(zip(known, found, strict=False))
    given = _mapping(found)
    needed = {name for name, (_, default) in known.items() if default is MISSING}
    _require(needed <= given.keys() <= known.keys(), "the fields of a choice are not those it has")
    return kind(**{name: known[name][0](value) for name, value in given.items()})


def _choice_in_order(found: list[Any]) -> Choice:
    _require(bool(found) and isinstance(found[0], str) and found[0] in _BY_LETTER, "it holds a choice of unknown kind")
    return _made(_BY_LETTER[found[0]], found[1:])


def _choice_by_name(found: dict[str, Any]) -> Choice:
    word = found.pop("choice", None)
    _require(isinstance(word, str) and word in _BY_WORD, "it holds a choice of unknown kind")
    return _made(_BY_WORD[str(word)], found)
