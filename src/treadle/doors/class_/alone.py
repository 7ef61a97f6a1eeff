"""The process that calls a class: one that can be ended.

Whatever calls do to it, and however long they take, the command goes on. When the budget is long over, the process is
ended, and what it had found until then is kept.
"""

from __future__ import annotations

import multiprocessing
import pickle
import time
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection

from treadle.classes.result import ClassResult, Options
from treadle.classes.subject import Subject
from treadle.core.errors import TreadleError
from treadle.core.result import Verdict
from treadle.doors.class_.campaign import Progress
from treadle.doors.class_.without_effects import run_class

# Seconds after the budget for which the process may finish what it is at: making a fault small.
_PATIENCE = 60.0


def run_alone(subject: Subject, options: Options, progress: Progress | None = None) -> ClassResult:
    """A campaign in a process of its own, where the system has fork; ended when it does not come to an end."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return run_class(subject, options, progress)
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=_work, args=(subject, options, there, progress))
    process.start()
    there.close()
    ends = time.monotonic() + options.budget + _PATIENCE
    kept = ClassResult(subject.target, Verdict.CUT, seconds=options.budget)
    why = f"a call did not come back when the budget of {options.budget:g} s was over, and its process was ended"
    while True:
        try:
            if not here.poll(max(ends - time.monotonic(), 0.0)):
                process.kill()
                break
            answer: ClassResult | TreadleError = pickle.loads(here.recv_bytes())
        except KeyboardInterrupt:
            continue  # the process was told, too, and answers with what it has
        except EOFError:
            process.join()
            why = f"the process in which the class was called ended by itself (exit code {process.exitcode})"
            break
        if isinstance(answer, TreadleError):
            raise answer
        answer.subject = subject
        if answer.finished:
            process.join()
            return answer
        kept = answer
    kept.subject = subject
    kept.verdict = Verdict.FAILED if kept.faults else Verdict.CUT
    kept.reason = f"{why}: not a pass"
    return kept


def _work(subject: Subject, options: Options, pipe: Connection, progress: Progress | None = None) -> None:
    try:
        answer = run_class(subject, replace(options, keep=partial(_send, pipe)), progress)
        answer.finished = True
        _send(pipe, answer)
    except TreadleError as error:
        pipe.send_bytes(pickle.dumps(error))
    pipe.close()


def _send(pipe: Connection, result: ClassResult) -> None:
    """Classes and functions stay where they are."""
    pipe.send_bytes(pickle.dumps(replace(result, subject=None)))
