"""Real Python under control: threads as strands, rewritten code, modelled primitives."""
