"""Stepping through a schedule in a debugger: stops before steps of a replay, at the lines of the program.

Decides where it stops; the schedule itself is fixed. The prompt is pdb's, with the words below, or that of the kind of
pdb which PYTHONBREAKPOINT names (IPython's). Any other debugger is called some frames below the step, with `step`,
`strand` and `shared` at hand.
"""

from __future__ import annotations

import importlib
import os
import pdb
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from treadle.core.errors import UsageError
from treadle.core.packages import is_library
from treadle.core.result import Step
from treadle.search.strategy import ExecutionSeen, StrandSeen
from treadle.threads.carriers import getcurrent
from treadle.threads.detail import is_own
from treadle.threads.strands import STATE, Strand

_WORDS = """the schedule is fixed; these words say how far to go:
  s, step          to the next step of the schedule, of whichever strand
  n, next          to the next step of this strand
  c, continue      to the next access that clashes, then to the end
  strand [NAME]    look at another strand where it stands; without a name, list them
  shared           the shared values at this moment
  q, quit          end the replay
everything else is pdb's: w, u, d, l, p EXPRESSION, ..."""


class ReplayEnded(BaseException):
    """The person has seen enough."""


class ScheduleDebugger(pdb.Pdb):
    """The prompt at one step."""

    def __init__(self, conflict: Sequence[int]) -> None:
        super().__init__(stdin=sys.stdin, stdout=sys.stdout, nosigint=True, readrc=False)
        self.use_rawinput = sys.stdin.isatty()
        self.prompt = "(treadle) "
        self.conflict = conflict
        self.until: str | int | None = None  # None: the next step; a strand: its next step; a number: that step
        self.execution: ExecutionSeen | None = None
        self.step: Step | None = None
        self.elsewhere = False  # is it another debugger that stops?
        self.due: StrandSeen | None = None  # it stops when this one is on the stack

    def before_step(self, run: ExecutionSeen, strand: StrandSeen) -> None:
        """Stop here, if this is as far as was asked for."""
        number, step = len(run.detail or []), strand.step
        if step is None or not self._reached(number, strand.treadle_name):
            return
        self.execution, self.step = run, step
        mark = "  <- clashes" if number in self.conflict else ""
        self.message(f"step {number + 1}: {step.strand} {step.operation} {step.object}{mark}")
        if self.elsewhere and isinstance(strand, Strand):
            self.due = strand
            return
        self._stop(strand)
        if self.until == "":
            raise ReplayEnded

    def on_its_stack(self, strand: StrandSeen) -> None:
        """The strand that makes the step runs now: another debugger finds its frames below its own."""
        if strand is self.due:
            self.due = None
            self._stop(strand)

    def _stop(self, strand: StrandSeen) -> None:
        frame = _frame(strand)
        watched, STATE.strand = STATE.strand, None  # what a debugger does is no step of the schedule
        try:
            if self.elsewhere and self.execution is not None and self.step is not None:
                self._in_other_debugger(self.step, strand.treadle_name, values(self.execution.detail or []))
            elif frame is not None:
                self.interaction(frame, None)
        finally:
            STATE.strand = watched

    def _reached(self, number: int, strand: str) -> bool:
        if isinstance(self.until, str):
            return strand == self.until
        return self.until is None or number == self.until

    def _in_other_debugger(self, step: Step, strand: str, shared: dict[str, str]) -> None:
        """The step is about to be made: your code is further up the stack."""
        sys.__breakpointhook__()  # the other one refuses what code under test asks for

    # ------------------------------------------------------------------ what pdb asks

    def get_stack(self, f: FrameType | None, t: Any) -> tuple[list[tuple[FrameType, int]], int]:
        """Frames of the program alone, the innermost last."""
        found: list[tuple[FrameType, int]] = []
        while f is not None:
            if not is_own(f.f_code.co_filename) and not is_library(f.f_code.co_filename):
                found.insert(0, (f, f.f_lineno))
            f = f.f_back
        return found, len(found) - 1

    def do_step(self, arg: str) -> bool:
        """s(tep): to the next step of the schedule, of whichever strand."""
        self.until = None
        return True

    def do_next(self, arg: str) -> bool:
        """n(ext): to the next step of this strand."""
        self.until = self.step.strand if self.step is not None else None
        return True

    def do_continue(self, arg: str) -> bool:
        """c(ont(inue)): to the next access that clashes, then to the end."""
        here = len(self.execution.detail or []) if self.execution is not None else 0
        self.until = next((number for number in self.conflict if number > here), -1)
        return True

    def do_quit(self, arg: str) -> bool:
        """q(uit): end the replay."""
        self.until = ""
        return True

    def do_strand(self, arg: str) -> None:
        """strand [NAME]: look at another strand where it stands; without a name, list them."""
        strands = {one.treadle_name: one for one in self.execution.live} if self.execution is not None else {}
        if arg not in strands:
            for name, one in strands.items():
                step = one.step
                told = f"{step.operation} {step.object}  {step.file}:{step.line}" if step is not None else ""
                self.message(f"{name}: {told}")
            return
        frame = _frame(strands[arg])
        if frame is None:
            self.error(f"{arg} has no frame of the program")
            return
        self.stack, self.curindex = self.get_stack(frame, None)
        self.curframe = self.stack[self.curindex][0]
        self.curframe_locals = self.curframe.f_locals
        self.print_stack_entry(self.stack[self.curindex])

    def do_shared(self, arg: str) -> None:
        """shared: the shared values at this moment."""
        found = values(self.execution.detail or [] if self.execution is not None else [])
        for name, value in found.items():
            self.message(f"{name} = {value}")
        if not found:
            self.message("nothing shared was read or written yet")

    def do_help(self, arg: str) -> bool | None:
        """h(elp): the words of this prompt."""
        if arg:
            return super().do_help(arg)
        self.message(_WORDS)
        return None

    do_s, do_n, do_c, do_cont, do_q, do_exit, do_h = (
        *(do_step, do_next, do_continue, do_continue),
        *(do_quit, do_quit, do_help),
    )
    do_EOF = do_quit


def make_debugger(conflict: Sequence[int]) -> ScheduleDebugger:
    """The debugger that PYTHONBREAKPOINT asks for: pdb, a kind of it, or one that is called at each step."""
    asked = os.environ.get("PYTHONBREAKPOINT", "")
    module = asked.rpartition(".")[0]
    if asked in ("", "0", "pdb.set_trace") or not module:
        return ScheduleDebugger(conflict)
    if module == "debugpy" and sys.version_info < (3, 12):
        raise UsageError(
            "debugpy follows strands from Python 3.12 on; replay it there, or with pdb or IPython's debugger"
        )
    try:
        found = vars(importlib.import_module(module)).values()
    except ImportError as problem:
        raise UsageError(f"PYTHONBREAKPOINT names {asked}, which cannot be imported: {problem}") from None
    kinds = [one for one in found if isinstance(one, type) and issubclass(one, pdb.Pdb) and one is not pdb.Pdb]
    if kinds:
        kind = next((one for one in kinds if one.__name__ == "Pdb"), kinds[0])  # others may read keys in threads
        made: ScheduleDebugger = type("ScheduleDebugger", (ScheduleDebugger, kind), {})(conflict)
        return made
    made = ScheduleDebugger(conflict)
    made.elsewhere = True
    return made


def values(steps: Sequence[Step]) -> dict[str, str]:
    """Object -> the value that was last read or written."""
    return {step.object: step.value for step in steps if step.value}


def _frame(strand: StrandSeen) -> FrameType | None:
    """The innermost frame of the program in a strand, running or not."""
    carrier: Any = getattr(strand, "greenlet", None)
    frame: FrameType | None = sys._getframe() if carrier is getcurrent() else getattr(carrier, "gr_frame", None)
    while frame is not None and (is_own(frame.f_code.co_filename) or is_library(frame.f_code.co_filename)):
        frame = frame.f_back
    return frame
