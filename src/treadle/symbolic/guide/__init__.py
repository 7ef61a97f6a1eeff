"""Guided generation: only the paths that a selection criterion asks for."""
