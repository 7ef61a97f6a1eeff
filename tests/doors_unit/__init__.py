"""`treadle unit`: paths, cases, written tests, the command."""
