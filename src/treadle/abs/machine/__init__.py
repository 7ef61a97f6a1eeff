"""Executing concurrent objects: one machine for known and unknown data."""
