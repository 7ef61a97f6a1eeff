"""Rewrites the methods that `dataclasses` generates, which have no source to be read.

Their text is known up to the names of the fields, and those stand in the code. So a candidate is written, compiled
and compared with what is there: only when the bytecode is the same has the source been found. `__init__` is left as
it is, since nobody else can see the object yet. (attrs needs nothing of this: its sources are in linecache.)
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType

from treadle.threads.instrument.cache import CodeCache
from treadle.threads.instrument.chunks import compile_chunk, remember

_ORDER = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
# The names in a method that are no fields.
_COMPARING = frozenset({"__class__", "NotImplemented"})
_OTHER_NAMES = {"__hash__": frozenset({"hash"}), "__repr__": frozenset({"__class__", "__qualname__"})}

_known: dict[tuple[int, bool], tuple[CodeType, CodeType | None]] = {}


def rewritten_dataclass_method(code: CodeType, marked: bool = False) -> CodeType | None:
    """The rewritten form of a method that `dataclasses` made; None if `code` is something else."""
    known = _known.get((id(code), marked))
    if known is None:
        known = _known[id(code), marked] = code, _find(code, CodeCache(None, marked))
    return known[1]


def _find(code: CodeType, cache: CodeCache) -> CodeType | None:
    if code.co_filename != "<string>" or code.co_freevars:
        return None
    no_fields = _OTHER_NAMES.get(code.co_name, _COMPARING)
    fields = [name for name in code.co_names if name not in no_fields]
    for candidate in _candidates(code.co_name, fields):
        text = f"def __create_fn__():\n {candidate}\n return {code.co_name}\n"
        for plain, rewritten in compile_chunk(text.encode(), code.co_filename, None, cache).pairs():
            if _substance(plain) == _substance(code):
                found = rewritten.replace(co_firstlineno=code.co_firstlineno, co_qualname=code.co_qualname)
                remember(found, code)
                return found
    return None


def _substance(code: CodeType) -> tuple[object, ...]:
    """Everything that decides what code does, without where it stood."""
    return code.co_name, code.co_code, code.co_consts, code.co_names, code.co_varnames, code.co_flags


def _candidates(method: str, fields: list[str]) -> Iterator[str]:
    """The sources that the dataclasses of the supported Python versions write for `method`."""
    mine, others = _tuple("self", fields), _tuple("other", fields)
    if method == "__eq__":
        each = " and ".join(f"self.{field}==other.{field}" for field in fields) or "True"
        yield (
            "def __eq__(self, other):\n  if self is other:\n   return True\n"
            f"  if other.__class__ is self.__class__:\n   return {each}\n  return NotImplemented"
        )
    if method == "__eq__" or method in _ORDER:
        yield (
            f"def {method}(self, other):\n  if other.__class__ is self.__class__:\n"
            f"   return {mine}{_ORDER.get(method, '==')}{others}\n  return NotImplemented"
        )
    if method == "__hash__":
        yield f"def __hash__(self):\n  return hash({mine})"
    if method == "__repr__":
        shown = ", ".join(f"{field}={{self.{field}!r}}" for field in fields)
        yield f'def __repr__(self):\n  return self.__class__.__qualname__ + f"({shown})"'
        yield f'def __repr__(self):\n  return f"{{self.__class__.__qualname__}}({shown})"'


def _tuple(owner: str, fields: list[str]) -> str:
    return "(" + "".join(f"{owner}.{field}," for field in fields) + ")" if fields else "()"
