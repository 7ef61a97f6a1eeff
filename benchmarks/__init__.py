"""Benchmarks, run by `make bench` (python -m benchmarks). See docs/benchmarks.md for what was measured.

A benchmark is a module of this package with `main(quick: bool) -> None`. It prints its figures through
`benchmarks.rows`; the peers it compares with are installed by `benchmarks.environments`, never in our own environment.
"""
