"""A trail: the choices that make one execution, named so that they mean the same elsewhere.

A trail lists *segments*: which strand runs, and the operation before which it is interrupted, named by what it does,
to which object, in which function, for the how-manieth time. Operations that are not interrupted are not listed, so a
trail survives another Python version and edits elsewhere in the program. It is written as one short string
(`tr1:tests/test_bank.py::test_two_deposits:eJx...`) or as JSON.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict, dataclass, field
from typing import Any

from treadle.core.errors import UsageError

_MARK = "tr1"


@dataclass(frozen=True, slots=True)
class Stop:
    """The operation before which a strand is interrupted."""

    operation: str
    object: str
    function: str
    occurrence: int = 1

    def __str__(self) -> str:
        nth = "" if self.occurrence == 1 else f" (time {self.occurrence})"
        return f"{self.operation} {self.object} in {self.function}{nth}".replace("  ", " ")


@dataclass(frozen=True, slots=True)
class Segment:
    """A strand runs until it is interrupted, or, without a stop, until it cannot go on."""

    strand: str
    stop: Stop | None = None


@dataclass(slots=True)
class Trail:
    """One execution of one test: what to run, under which settings, and the choices."""

    target: str
    segments: list[Segment]
    settings: dict[str, Any] = field(default_factory=dict)
    finding: dict[str, str] = field(default_factory=dict)  # what it showed: kind and message

    def to_json(self) -> dict[str, Any]:
        return {
            "treadle": _MARK,
            "target": self.target,
            "settings": self.settings,
            "finding": self.finding,
            "segments": [
                {"strand": part.strand, **({"until": asdict(part.stop)} if part.stop else {})} for part in self.segments
            ],
        }

    def __str__(self) -> str:
        stops = [
            [part.strand, part.stop.operation, part.stop.object, part.stop.function, part.stop.occurrence]
            if part.stop
            else part.strand
            for part in self.segments
        ]
        content: list[Any] = [stops, self.finding.get("kind", ""), self.finding.get("message", "")[:80]]
        if self.settings:
            content.append(self.settings)
        packed = zlib.compress(json.dumps(content, separators=(",", ":")).encode(), 9)
        return f"{_MARK}:{self.target}:{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"

    @classmethod
    def parse(cls, text: str) -> Trail:
        """From the short string or from JSON."""
        text = text.strip()
        try:
            return cls._from_json(json.loads(text)) if text.startswith("{") else cls._from_string(text)
        except (ValueError, KeyError, TypeError, IndexError, zlib.error) as error:
            raise UsageError(
                f"this is not a trail that Treadle wrote ({text[:40]}{'...' if len(text) > 40 else ''}); "
                "copy the whole string behind 'replay:', or give the JSON file"
            ) from error

    @classmethod
    def _from_string(cls, text: str) -> Trail:
        mark, rest = text.split(":", 1)
        if mark != _MARK:
            raise ValueError(mark)
        target, packed = rest.rsplit(":", 1)
        content = json.loads(zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))))
        segments = [
            Segment(part) if isinstance(part, str) else Segment(part[0], Stop(part[1], part[2], part[3], part[4]))
            for part in content[0]
        ]
        settings = content[3] if len(content) > 3 else {}
        return cls(target, segments, settings, {"kind": content[1], "message": content[2]})

    @classmethod
    def _from_json(cls, content: dict[str, Any]) -> Trail:
        if content["treadle"] != _MARK:
            raise ValueError(content["treadle"])
        segments = [
            Segment(part["strand"], Stop(**part["until"]) if "until" in part else None) for part in content["segments"]
        ]
        return cls(content["target"], segments, content["settings"], content["finding"])
