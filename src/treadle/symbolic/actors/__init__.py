"""Executing concurrent objects: one machine for known and unknown data, its criteria, reductions and test cases."""
