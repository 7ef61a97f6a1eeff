"""Every trail of the bundled examples, a hundred times in fresh processes, on every interpreter there is.

The trails come from the first interpreter; each process replays all of them, with its own seed for hashing. Anything
but 100 out of 100 is a bug of ours.
"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from benchmarks.environments import NotInstalled, environment, interpreter, with_treadle
from benchmarks.rows import Rows

TIMES = 100
WORKERS = 2

# Finds the failure of each example, or replays the trails it is given; prints [[example, trail or "FAILED"], ...].
SCRIPT = """
import importlib, json, pathlib, sys
import treadle

folder = pathlib.Path(treadle.__file__).parent / "examples" / "threads"
trails = json.load(sys.stdin)
for name in list(trails) or sorted(path.stem for path in folder.glob("[a-z]*.py")):
    module = importlib.import_module(f"treadle.examples.threads.{name}")
    (test,) = [value for key, value in vars(module).items() if key.startswith("test_buggy")]
    if name in trails:
        trails[name] = treadle.replay(trails[name], test).verdict.value
    else:
        trails[name] = treadle.check(test).findings[0].replay
print(json.dumps(trails))
"""


def run(python: str, trails: dict[str, str], seed: int) -> dict[str, str]:
    """The trails of all examples, or what each trail shows, from a fresh process."""
    done = subprocess.run(
        [python, "-c", SCRIPT],
        input=json.dumps(trails),
        capture_output=True,
        text=True,
        env={**with_treadle(), "PYTHONHASHSEED": str(seed)},
        check=False,
    )
    if done.returncode:
        return {name: (done.stderr.strip().splitlines() or ["fails"])[-1] for name in trails}
    answer: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main(quick: bool) -> None:
    times = 5 if quick else TIMES
    rows = Rows("replays", ["example", "interpreter", "replayed", "times", "otherwise"])
    pythons: dict[str, str] = {}
    for version in ("3.11", "3.12", "3.13"):
        try:
            pythons[version] = environment(interpreter(version))
        except NotInstalled as missing:
            print(f"Python {version}: skipped, {missing}", file=sys.stderr)
    trails = run(next(iter(pythons.values())), {}, 0)
    with ThreadPoolExecutor(WORKERS) as pool:
        for version, python in pythons.items():
            answers = list(pool.map(partial(run, python, trails), range(times)))
            for name in trails:
                shown = [answer[name] for answer in answers]
                other = sorted({one for one in shown if one != "FAILED"})
                rows.add(
                    example=name,
                    interpreter=version,
                    replayed=shown.count("FAILED"),
                    times=times,
                    otherwise="; ".join(other),
                )
    rows.table()


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
