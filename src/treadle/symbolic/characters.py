"""Character classes over ASCII: what isdigit, isspace and their like ask, and what a readable value is made of.

Each class is written as the inside of a regular expression's brackets; `translate` reads the same text for z3.
"""

from __future__ import annotations

import re

CLASSES = {
    "digit": "0-9",
    "alpha": "A-Za-z",
    "alnum": "0-9A-Za-z",
    "upper": "A-Z",
    "lower": "a-z",
    "space": "\t-\r\x1c- ",
    "ascii": "\t\n -~",
    "visible": "!-~",
    "printable": " -~",
    "not upper": "\t\n -@[-~",
    "not lower": "\t\n -`{-~",
}
MATCHERS = {name: re.compile(f"[{inside}]+") for name, inside in CLASSES.items()}
