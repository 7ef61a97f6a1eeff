"""Models of CPython's threads, locks, queues, futures and clock.

One file per family, one scheduling point per operation.
"""
