"""Parsing source while a program under test has left garbage behind.

CPython 3.11 answers a parse during which another one runs, as a finaliser may do when the collector comes round, with
`SystemError: AST constructor recursion depth mismatch`. So the collector waits.
"""

from __future__ import annotations

import ast
import gc


def parsed(source: str | bytes, filename: str = "<unknown>") -> ast.Module:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source, filename)
    finally:
        if was_enabled:
            gc.enable()
