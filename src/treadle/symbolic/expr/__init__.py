"""Expressions over unknown values: nodes, their meaning, and how they are written."""
