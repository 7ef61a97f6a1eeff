"""Executing real Python under control."""
