"""Executing with unknown inputs: expressions, solver chain, IR, heap, machine."""
