"""Judging an execution: one file per oracle."""
