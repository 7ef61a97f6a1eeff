"""Importing it writes a file."""

import pathlib

pathlib.Path("left_behind.txt").write_text("x")
