"""Mistakes with threads. In each file `test_buggy...` fails under some schedule and `test_fixed...` under none."""
