"""How a tree of choices is walked: one small file per strategy."""
