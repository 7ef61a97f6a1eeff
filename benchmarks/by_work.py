"""`treadle class` with its budget in seconds of processor time: `python benchmarks/by_work.py class TARGET`.

For a machine that is busy with other work. On an idle one, this and `treadle class` are the same. `--workers` are
processes that know nothing of it.
"""

import os
import sys
import time
from types import SimpleNamespace

from treadle.cli.main import main
from treadle.doors.class_ import alone, campaign, findings, without_effects

# Seconds by the clock beyond its budget that a campaign may take, before its process is ended.
_PATIENCE = 3_000.0

if __name__ == "__main__":
    work = SimpleNamespace(perf_counter=time.process_time, process_time=time.process_time)
    campaign.time = findings.time = without_effects.time = work  # type: ignore[assignment]
    alone._PATIENCE = _PATIENCE
    sys.path[0] = os.getcwd()  # as with -m treadle, and nothing of this folder
    main()
