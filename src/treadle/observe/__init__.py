"""How real objects are built and called: from signatures, hints and docstrings."""
