"""The ABS front end: text to a checked model (`load`), with errors at a line and column."""
