"""What a terminal can show: how wide it is, which characters it knows, and which it must not be sent.

Decides nothing about words. Keeps: text of the program under test never moves the cursor, colours the screen or names
a window, and no character that a stream cannot encode ends the command.
"""

from __future__ import annotations

import codecs
import functools
import os
import sys

# The width of what is not a terminal: a file, a pipe, a build log.
_ELSEWHERE = 100

# Control characters as pictures of themselves, one for one, so that columns stay where they are. Lines and tabs stay.
_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"}
_PICTURES |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)

# What stands for a character where only ASCII can be shown.
_ASCII = {"…": "...", "→": "->", "←": "<-", "─": "-", "│": "|", "·": "-", "–": "-", "×": "x", "≤": "<=", "≥": ">="}
_ASCII |= {chr(0x2400 + code): "^" + chr(code + 64) for code in range(32)} | {"\u2421": "^?", "\ufffd": "?"}

PLAIN = "treadle-plain"


@functools.cache
def columns() -> int:
    """How wide the terminal is that we were started in.

    Asked before anything else and kept: while tests run, pytest puts files in the terminal's place.
    """
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    for stream in (sys.__stdout__, sys.__stderr__, sys.__stdin__):
        try:
            wide = os.get_terminal_size(stream.fileno()).columns if stream is not None else 0
        except (OSError, ValueError):
            wide = 0
        if wide:
            return wide
    return _ELSEWHERE


def harmless(text: str) -> str:
    """Text of the program under test, with its control characters shown instead of obeyed."""
    return text.translate(_PICTURES)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """What is written for characters that a stream cannot encode."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_ASCII.get(one) or one.encode("ascii", "backslashreplace").decode() for one in lost), error.end


codecs.register_error(PLAIN, _plain)


def begin() -> None:
    """What a command does first: see how wide the terminal is, and write in ASCII whatever it cannot encode."""
    columns.cache_clear()
    columns()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=PLAIN)
