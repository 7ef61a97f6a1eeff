"""The unit door: tests that cover every path of a function, up to a loop bound."""
