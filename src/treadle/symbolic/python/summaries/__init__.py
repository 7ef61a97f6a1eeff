"""Summaries of Python functions: made on first need, composed at calls, kept between runs."""
