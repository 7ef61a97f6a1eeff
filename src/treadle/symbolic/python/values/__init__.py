"""The values of a running Python program, and their methods."""
