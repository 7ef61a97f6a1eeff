"""Property tests draw the same examples in every run, so that a failure is news about the change under test.

`make fuzz` draws new ones, over and over; what it finds becomes a test of its own.
"""

from __future__ import annotations

import ast
import gc
import signal
import sys
from typing import Any

from hypothesis import HealthCheck, settings

# a busy machine is no failure
_ALWAYS = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}

settings.register_profile("same", derandomize=True, **_ALWAYS)  # type: ignore[arg-type]  # a dict of mixed values
settings.register_profile("new", derandomize=False, **_ALWAYS)  # type: ignore[arg-type]  # the same
settings.load_profile("same")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as shells have it for what they start in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

if sys.version_info < (3, 12):
    # pytest parses, too, when it rewrites assertions and shows failures: see treadle.core.parsing
    _parse = ast.parse

    def _parsed(*args: Any, **kwargs: Any) -> Any:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return _parse(*args, **kwargs)
        finally:
            if was_enabled:
                gc.enable()

    ast.parse = _parsed
