"""A small package to hunt in: a class that loses updates, one that does not, a module with state, one with side effects."""
