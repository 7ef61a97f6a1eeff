"""The command line: main.py holds the group, one file per command."""
