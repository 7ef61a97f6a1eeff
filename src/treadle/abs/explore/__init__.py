"""The tree of an ABS program: criteria where it ends, reductions, and the test cases at its leaves."""
