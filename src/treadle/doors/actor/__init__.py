"""The actor door: tests for a method of a concurrent object whose inputs, fields and partners are unknown."""
