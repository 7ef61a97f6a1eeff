"""`treadle class`."""
