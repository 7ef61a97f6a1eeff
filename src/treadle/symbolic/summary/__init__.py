"""Summaries: what a function can find out about its inputs, and what it does about it."""
