"""The symbolic engine: expressions, solver chain, IR, heap, machine."""
