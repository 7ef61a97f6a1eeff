"""The ABS language: text to a checked model, the machine that runs it, and the exploration of its orders."""
