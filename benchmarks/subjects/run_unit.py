"""Explores one target (or every function of a module) as the request on the command line says; prints what it cost."""

import json
import os
import sys
import time

sys.path.insert(0, os.getcwd())

from treadle.units.explore import Session  # noqa: E402
from treadle.units.options import UnitOptions
from treadle.units.target import resolve  # noqa: E402
from treadle.core.errors import UsageError  # noqa: E402

request = json.loads(sys.argv[1])
options = {"k": 2, "seconds": 600, "paths": 1_000_000, **request["options"]}
if "points" in options:
    options["points"] = tuple(options["points"])
if "subject" in request["target"]:
    options |= {"seconds": 20, "paths": 500}
targets = resolve(request["target"])
paths = cases = 0
# a first, tiny exploration pays for imports and z3's start
warm = {key: value for key, value in options.items() if key not in ("select", "points")}
Session(targets[0], UnitOptions(**{**warm, "paths": 1})).explore()
start = time.process_time()
for target in targets:
    try:
        found = Session(target, UnitOptions(**options)).explore()
    except UsageError:
        continue
    paths += found.paths
    cases += len(found.cases)
print(json.dumps({"paths": paths, "cases": cases, "seconds": round(time.process_time() - start, 3)}))
