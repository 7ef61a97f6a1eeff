"""The options of `treadle unit`: how far to look, for which inputs, which tests, and where they go.

One dataclass for the command line, for `treadle.unit` and for a stored suite or trail. What decides which paths there
are (`paths_depend_on`) is kept with a suite and in a trail; budgets and files are not.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from treadle.core.errors import UsageError
from treadle.search.cluster import Workforce, processes_of
from treadle.symbolic.heap.objects import Heap, LazyHeap
from treadle.symbolic.heap.solver import SolverHeap
from treadle.units.select import ALL_PATHS, check

STYLES = ("pytest", "unittest")
STATES = ("built", "any")
HEAPS: dict[str, Callable[..., Heap]] = {"solver": SolverHeap, "lazy": LazyHeap}


@dataclass(slots=True, kw_only=True)
class UnitOptions:
    """The defaults are those of the command line."""

    # --- how far to look
    k: int = 2
    # of each function; of the whole command if `whole`
    seconds: float = 20.0
    whole: bool = False
    paths: int = 500
    # a number of processes, or 'auto'; the tests do not depend on it
    workers: int | str = 1
    # the address of a Dask scheduler whose workers explore instead, and whether the project is sent there
    cluster: str | None = None
    ship: bool = False
    # where paths end beside that: 'depth-N', or 'module:function'
    terminate: str = ""
    # add what the bounds of the last run cut
    more: bool = False

    # --- inputs
    types: dict[str, str] = field(default_factory=dict)
    none: bool = True
    alias: bool = True
    domain: tuple[int, int] = (-10, 10)
    # conditions on the inputs, as Python expressions over the parameters
    pre: tuple[str, ...] = ()
    # preconditions are assumed and promises are checked; else contracts are code like any other
    contracts: bool = True
    # objects are made by calls where a way is found ('built'), or have their fields set to whatever a path asks ('any')
    states: str = "built"
    # aliasing of the inputs that is known not to occur, and whether some of that follows from the code
    assume: tuple[str, ...] = ()
    infer_assumptions: bool = False

    # --- which tests: one of `select.CRITERIA`, and the program points of 'points'
    select: str = ALL_PATHS
    points: tuple[str, ...] = ()
    # of all paths, a file that would be long keeps the tests that show a new branch or outcome
    brief: bool = False
    # only paths that the project's own tests do not take; `tests`, or the folder tests
    missing: bool = False
    tests: str | os.PathLike[str] | None = None

    # --- how to get there
    # how aliasing is decided: 'solver' carries it along, 'lazy' branches at every first dereference
    heap: str = "solver"
    # compose summaries of the functions that are called; and use those of earlier runs, and keep these for later
    summaries: bool = True
    keep_summaries: bool = False
    # files that say what code does that cannot be followed
    stubs: tuple[str, ...] = ()
    allow_effects: bool = False
    # really call the function with picked values, for what cannot be followed
    probe: bool = True
    # such calls may have values that the hints exclude
    defensive: bool = False

    # --- output
    output: str | os.PathLike[str] | None = None
    append: bool = False
    force: bool = False
    # of the file: 'pytest' or 'unittest'
    style: str = "pytest"
    # beside each test the string that `treadle replay` takes
    trails: bool = False
    write_file: bool = True

    def __post_init__(self) -> None:
        self.domain = (int(self.domain[0]), int(self.domain[1]))
        self.pre, self.assume, self.stubs = tuple(self.pre), tuple(self.assume), tuple(map(os.fspath, self.stubs))
        self.points = tuple(map(str, self.points))
        if self.points and self.select == ALL_PATHS:
            self.select = "points"

    @property
    def processes(self) -> int:
        return processes_of(self.workers)

    @property
    def workforce(self) -> Workforce:
        return Workforce.asked(self.processes, self.cluster, self.ship)

    @property
    def is_brief(self) -> bool:
        return self.brief and self.select == ALL_PATHS and not (self.more or self.missing or self.terminate)

    def check(self) -> None:
        """Raises UsageError for what cannot be meant."""
        if self.k < 0:
            raise UsageError(f"-k {self.k}: a loop cannot run fewer than 0 times")
        if self.domain[0] > self.domain[1]:
            raise UsageError(f"--domain {self.domain[0]}..{self.domain[1]} is empty")
        if self.paths < 1:
            raise UsageError("--paths must be at least 1")
        if self.seconds <= 0:
            raise UsageError("--seconds must be positive")
        if self.heap not in HEAPS:
            raise UsageError(f"--heap {self.heap}: write solver or lazy")
        if self.states not in STATES:
            raise UsageError(f"--states {self.states}: write {' or '.join(STATES)}")
        check(self.select, self.points)
        processes_of(self.workers)
        if self.missing and self.more:
            raise UsageError(
                "--missing asks what your tests leave out, --more what the last run left out; "
                "run them one after the other"
            )
        if self.terminate and (self.select != ALL_PATHS or self.missing or self.more):
            raise UsageError("--terminate ends paths of the whole tree: leave out --select, --missing and --more")
        if self.defensive and not self.probe:
            raise UsageError("--defensive says which values are tried, --no-probe that none are; pass one of them")
        if self.style not in STYLES:
            raise UsageError(f"--style {self.style}: write {' or '.join(STYLES)}")
        if self.style != "pytest" and (self.append or self.more):
            raise UsageError("--style unittest writes a whole file: leave out --append and --more")
        if self.tests is not None and not self.missing:
            raise UsageError("--tests names the tests that --missing looks at; pass --missing as well")

    def paths_depend_on(self) -> dict[str, Any]:
        """The options that decide which paths there are, as JSON holds them; `k` bounds them and is told apart."""
        found = {name: getattr(self, name) for name in _DECIDING}
        found["types"] = [f"{name}={kind}" for name, kind in self.types.items()]
        found["stubs"] = [os.path.relpath(file) for file in self.stubs]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    def to_settings(self) -> dict[str, Any]:
        """What a trail keeps of them: those that differ from the defaults."""
        usual, mine = UnitOptions().paths_depend_on(), self.paths_depend_on()
        return {"k": self.k, **{name: value for name, value in mine.items() if value != usual[name]}}

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> UnitOptions:
        """Raises UsageError when these are not the settings of a unit trail."""
        options = cls(write_file=False)
        usual = {"k": options.k, **options.paths_depend_on()}
        for name, value in settings.items():
            if name not in usual or type(value) is not type(usual[name]):
                raise UsageError(f"the trail has a setting that treadle unit does not know: {name} = {value!r}")
        found: dict[str, Any] = dict(settings)
        found["types"] = dict(str(one).partition("=")[::2] for one in settings.get("types", ()))
        made = dataclasses.replace(options, **found)
        made.check()
        return made


_DECIDING = (
    *("types", "none", "alias", "domain", "pre", "contracts", "assume", "infer_assumptions"),
    *("select", "points", "heap", "stubs", "allow_effects", "terminate"),
)
