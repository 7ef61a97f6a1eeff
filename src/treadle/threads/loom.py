"""The loom: everything that is needed to run one test again and again, each time from a clean state, as told.

While a loom is set up, the selected modules run rewritten code and the threading, queue and time modules are models.
`run(strategy)` makes one execution: the test is called in the main strand, with virtual time at its start, the random
module seeded, and module globals as they were before the first execution.
"""

from __future__ import annotations

import gc
import inspect
import random
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType, TracebackType
from typing import Any

from treadle.core.errors import Unsupported, UsageError
from treadle.core.result import Finding, Step
from treadle.core.transition import Constants
from treadle.search.strategy import Strategy
from treadle.threads import files, known, outcome, shapes
from treadle.threads.carriers import os_thread
from treadle.threads.execution import Execution
from treadle.threads.greenlets import Pool
from treadle.threads.hooks import HOOKS, reach
from treadle.threads.hooks.checked import with_checks
from treadle.threads.instrument import live
from treadle.threads.instrument.restore import Snapshot
from treadle.threads.instrument.selection import ModuleSelection
from treadle.threads.instrument.swap import REWRITTEN, instrumented
from treadle.threads.log_settings import LogSettings
from treadle.threads.names import names_of_globals
from treadle.threads.patches import patched
from treadle.threads.primitives import chance
from treadle.threads.real_waits import thread_beside
from treadle.threads.settings import Settings, put_back
from treadle.threads.strands import MAIN_IDENT, Strand
from treadle.threads.unasked import globals_of
from treadle.threads.virtual_time import CLOCKS, TICK
from treadle.threads.watchdog import PATIENCE, OutOfTime, ReallyBlocked, Watch, noticing_ctrl_c, watching
from treadle.threads.without_gil import Note

# Operations in one execution before it is given up, unless fair executions are seen to need more (or the test's author
# says how many): no longer than it takes to see that nothing gets anywhere.
MOST_STEPS = 20_000
# Executions between two runs of the garbage collector, which is off during executions: finalisers that run at any
# moment would make them differ.
_COLLECT_EVERY = 2_000


class Loom:
    """Runs executions of one test. Use as a context manager."""

    def __init__(
        self,
        test: Callable[[], Any],
        *,
        source: Any = None,
        instrument: Iterable[str] = (),
        timeouts: str = "idle",
        clock: str = "still",
        seed: int = 0,
        most_steps: int = MOST_STEPS,
        patience: float = PATIENCE,
        skip_private: bool = False,
        shared: Iterable[str] | None = None,
        gil: int = 0,
    ) -> None:
        if timeouts not in ("idle", "any"):
            raise UsageError(f"timeouts must be 'idle' or 'any', not {timeouts!r}")
        if clock not in CLOCKS:
            raise UsageError(f"clock must be 'still' or 'ticking', not {clock!r}")
        self.test = test
        self.source = test if source is None else source
        self.selection = ModuleSelection.for_test(self.source, tuple(instrument))
        self.gil = gil  # strands switch only where one of these versions looks at its eval breaker; 0: everywhere
        self.constants = Constants() if gil else None
        self.looks_are_points = 0  # of these versions, for executions that check a pass
        self.hooks = with_checks(HOOKS) if gil else HOOKS
        self.timeouts = timeouts
        self.clock = clock
        self.seed = seed
        self.most_steps = most_steps
        self.watch = Watch(patience)
        self.indexes: dict[str, int] = {"main": 0}
        # Names of the objects that several strands touch, found out as executions show them (skip_private) or known
        # from the search that recorded a trail (shared): the others are no points. None: every access is a point.
        self.shared: set[str] | None = set(shared) if shared is not None else set() if skip_private else None
        self.executions = 0
        self.atomic: set[str] = set()
        self.incomplete = ""  # why the end of a search is no proof, where the executions themselves show it
        self.classes_unknown = False  # did executions show that nobody knows which of them are of one class?
        self.bounds: dict[str, int] = {}  # what limits the executions, beyond the strategy's own bounds
        self.assumed: set[str] = set()
        self.in_steps: set[Note] = set()  # calls that are several steps without a GIL
        self.hash_orders: set[tuple[str, int]] = set()  # where executions used an order that hashes decide
        self.deadlines: set[tuple[str, int]] = set()  # where executions slept or waited with a time limit
        self.rebound: set[str] = set()  # names that executions bind anew, where it is not known what is shared
        self.beside = ""  # a thread of the program that is not controlled
        self._renewed: dict[str, object] = {}  # keeps alive what took the place of objects of modules
        self.coasts = True  # may executions be let go on unseen? Not when strands wait in loops
        self.values = False  # do executions record what each strand reads and writes?
        self._full_collections = 0  # when the loom was opened
        self._stack = ExitStack()

    def __enter__(self) -> Loom:
        if inspect.isgeneratorfunction(self.source):
            raise Unsupported(
                "the test is a generator function: nothing of it runs when it is called; take out 'yield'"
            )
        stack = self._stack
        try:
            modules = self._instrument(stack)
            self.beside = thread_beside()
            if self.beside:
                self.assumed.add(f"what the thread '{self.beside}' does, which was started before")
            self.rewritten = len(REWRITTEN)
            shapes.forget()
            reach.forget()
            self.global_names, self._keep = names_of_globals(modules)
            state = random.getstate()
            stack.callback(random.setstate, state)
            self._control(stack)
            self.main_thread = threading.main_thread()
            stack.enter_context(_number_of_main(modules))
            self.log_settings = LogSettings()
            # with the models in place: they may be in modules that are rewritten
            self.snapshot = Snapshot(modules, self.log_settings)
            self.modules = len(sys.modules)
            self.settings = Settings()
            chance.DRAWN.seed = None
            files.forget()
            self.pool = Pool()
            stack.callback(self.pool.close)
            if gc.isenabled():
                gc.disable()
                stack.callback(gc.enable)
            self._full_collections = gc.get_stats()[2]["collections"]
            stack.enter_context(watching(self.watch))
            stack.enter_context(noticing_ctrl_c(self.watch))
        except BaseException:
            stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
        shapes.forget()

    def _imported(self, run: Execution) -> None:
        """The execution imported modules that are rewritten: they stay imported, so it does not count."""
        self.rewritten = len(REWRITTEN)
        modules = [sys.modules[name] for name in REWRITTEN if name in sys.modules]
        self.snapshot.add(modules)
        self.global_names, self._keep = names_of_globals(modules)
        shapes.forget()
        reach.forget()
        run.revealed = True

    def _more_modules(self, run: Execution) -> None:
        """The execution imported modules."""
        self.modules = len(sys.modules)
        self.log_settings.reset()

    def _rename(self, old: object, new: object) -> None:
        """The state of a module was put back by a new object: it has the name of the one whose place it takes."""
        named = self.global_names.pop(id(old), None)
        if named is not None:
            self.global_names[id(new)] = named
            self._renewed[named.name] = new

    def _instrument(self, stack: ExitStack) -> list[ModuleType]:
        """Rewrite the selected modules; returns those whose globals are put back after each execution."""
        stack.enter_context(instrumented(self.source, self.selection, self.hooks, marked=bool(self.gil)))
        return [sys.modules[name] for name in REWRITTEN if name in sys.modules]

    def _control(self, stack: ExitStack) -> None:
        """Put the models in place."""
        stack.enter_context(patched())

    def _execution(self) -> Callable[..., Execution]:
        """What makes an execution."""
        return Execution

    def judge(self, run: Execution) -> list[Finding]:
        """What went wrong in an execution of this loom, most important first."""
        return outcome.judge(run)

    def _blocked(self, run: Execution, blocked: ReallyBlocked) -> None:
        """Code blocked for real, or computed for very long, whether the program swallowed the exception or not."""
        raise blocked

    @property
    def interrupts(self) -> bool:
        """Can a strand be interrupted where no operation is known? There a pass checks itself."""
        return True

    def possible(self, run: Execution) -> bool:
        """Can the program really do this?"""
        return True

    def leftovers(self, run: Execution) -> list[Finding]:
        """What an execution left behind: warnings."""
        return outcome.leftovers(run)

    def run(self, strategy: Strategy, detail: bool = False) -> Execution:
        """One execution, chosen by the strategy (which has begun it). Raises what is not the program's own.

        With `detail` each operation is a step of its own, whatever the model of switches.
        """
        steps: list[Step] | None = [] if detail else None
        run = self._execution()(
            self.pool,
            strategy,
            strategy.plan,
            strategy.trace,
            strategy.guards,
            self.indexes,
            self.most_steps,
            self.timeouts == "any",
            steps,
            self.shared,
            0 if detail else self.gil,
            self.constants,
        )
        run.values = self.values
        run.clock.tick = TICK if self.clock == "ticking" else 0.0
        run.looks_are_points = self.looks_are_points
        if self.coasts and self.watch.looks and not self.gil and not detail:
            run.coast_after = strategy.coast_after
        run.beside = self.beside
        run.know_rebound(self.shared if self.shared is not None else self.rebound)
        return self._perform(run, self.test)

    def run_on(self, strategy: Strategy, follow: Callable[[Execution], bool]) -> Execution:
        """The same; of a strategy that draws, several executions may be run at once. `follow` is told of each that has
        ended well, and says whether it has been counted and the next one begun; the last one is returned."""
        return self.run(strategy)

    def _begin(self, run: Execution) -> None:
        run.names.update(self.global_names)
        if chance.DRAWN.seed != self.seed:
            chance.fresh(self.seed)
        self.watch.begin(run)
        self.executions += 1

    def _put_back(self) -> None:
        """What an execution has changed is as it was."""
        for old, new in self.snapshot.restore():
            self._rename(old, new)
        put_back()
        if self.executions % _COLLECT_EVERY == 0:
            live.collect(1)  # what executions have left is young, and what was there before is much

    def _perform(self, run: Execution, main: Callable[[], Any]) -> Execution:
        """Run an execution that was made, and put back what it has changed."""
        raised: list[tuple[Strand, BaseException]] = []
        self._begin(run)
        try:
            run.run(main, self.main_thread)
        finally:
            self.watch.end()
            if not run.ended_well:
                raised = [(strand, strand.exception) for strand in run.strands if strand.exception is not None]
                for strand, error in raised:
                    strand.failure_text = outcome.message_of(error)
            if run.atomic:
                self.atomic |= run.atomic
            self.assumed |= run.assumed
            self.in_steps |= run.in_steps
            self.deadlines |= run.deadlines
            self.hash_orders |= run.hash_orders
            if not self.incomplete:
                self.incomplete = files.unsteady()
            self.coasts &= not run.woken
            if len(sys.modules) != self.modules:
                self._more_modules(run)
            if len(REWRITTEN) != self.rewritten:
                self._imported(run)
            self._put_back()
            if known.SETTINGS in run.rebound:
                self.settings.restore()
            if self.executions == 1 and gc.get_stats()[2]["collections"] > self._full_collections:
                live.freeze()  # it will collect in every execution, and is to look at what it made in that one
                self._stack.callback(live.thaw)
            if run.atomic:  # modules that are not put back may know objects of this execution by weak references
                gc.collect(0)
        if self.watch.interrupted:  # the strand in which it came has ended: what the others made of that is no result
            raise KeyboardInterrupt
        if run.failure is not None:
            raise run.failure
        if self.watch.raised is not None:
            self._blocked(run, self.watch.raised)
        left = None if run.ended_well else files.left()
        if left is not None and self.judge(run):
            raise left
        for _, error in raised:
            if isinstance(error, (ReallyBlocked, OutOfTime, Unsupported)):
                raise error
        return run


@contextmanager
def _number_of_main(modules: Iterable[ModuleType]) -> Iterator[None]:
    """A module that keeps the number of the thread that imported it (`MAIN = get_ident()`) keeps that of main."""
    number = os_thread()
    found = [
        (variables, name)
        for variables in map(globals_of, modules)
        for name, value in list(variables.items())
        if type(value) is int and value == number
    ]
    for variables, name in found:
        variables[name] = MAIN_IDENT
    try:
        yield
    finally:
        for variables, name in found:
            if variables.get(name) == MAIN_IDENT:
                variables[name] = number
