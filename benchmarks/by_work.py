"""`treadle class` with its budget in seconds of processor time: `python benchmarks/by_work.py class TARGET`.

For a machine that is busy with other work. On an idle one, this and `treadle class` are the same. `--workers` are
processes that know nothing of it.
"""

import os
import sys
import time
from types import SimpleNamespace

from treadle.cli.main import main
from treadle.doors.class_ import alone, campaign, findings

# How much longer than its budget a campaign may take by the clock, before its process is ended.
_BUSY = 20.0

if __name__ == "__main__":
    work = SimpleNamespace(perf_counter=time.process_time, process_time=time.process_time)
    campaign.time = findings.time = work  # type: ignore[assignment]
    alone.time = SimpleNamespace(monotonic=lambda: time.monotonic() / _BUSY)  # type: ignore[assignment]
    sys.path[0] = os.getcwd()  # as with -m treadle, and nothing of this folder
    main()
