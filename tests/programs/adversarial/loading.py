"""How often the modules beside it were loaded."""

TIMES = {"numbers": 0}
