"""The doors: each only composes the rooms below it."""
