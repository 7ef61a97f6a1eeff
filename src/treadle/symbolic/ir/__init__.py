"""The small language that Python compiles to, and the machine that runs it."""
