"""Expressions over unknown values: nodes, their meaning, and how they are written."""

# nodes are printed by it, whichever module is used first
from treadle.symbolic.expr import show as show
