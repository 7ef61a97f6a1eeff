"""A cluster of Dask on this machine: two workers, one thread each."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# In a process of its own: in this one, threads and event loops are models while a test is explored.
LOCAL_CLUSTER = """
import distributed
if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        print(cluster.scheduler_address, *(worker.pid for worker in cluster.workers.values()), flush=True)
        input()
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[list[str]]:
    """The address of a scheduler, and the processes of its two workers."""
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    script = tmp_path / "local_cluster.py"
    script.write_text(LOCAL_CLUSTER)
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as local:
        assert local.stdout is not None
        yield local.stdout.readline().split()
        local.communicate("\n")
