"""Executing with unknown inputs: expressions, solver chain, heap, IR, and the machine for Python."""
