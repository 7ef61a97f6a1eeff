"""One class on several processors: every process runs the same campaign and explores its own share of the tests.

A test belongs to the process that its text falls to. All processes generate the same sequences as far as their time
allows, so a process may know a test that the one it belongs to has not come to: what was left to others and done by
nobody is counted, and the whole is then not a pass.
"""

from __future__ import annotations

import multiprocessing
import pickle
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from treadle.classes.result import ClassResult, Options, passed
from treadle.classes.subject import Subject
from treadle.core.errors import TreadleError, UsageError
from treadle.core.result import Verdict
from treadle.doors.class_.campaign import run_class

_ADDED = ("interleavings_tried", "pairs", "requirements", "requirements_covered", "exhausted_pairs")
_ALSO_ADDED = ("longer_tests", "longer_exhausted", "tests_assembled")
_LARGEST = ("traces", "sequences", "methods", "seconds")


def run_in_processes(subject: Subject, options: Options, workers: int) -> ClassResult:
    """A campaign over one class by so many processes."""
    if "fork" not in multiprocessing.get_all_start_methods():
        raise UsageError("--workers above 1 for one class needs a system with fork; leave it out")
    fork = multiprocessing.get_context("fork")
    alarm = fork.Value("d", 0.0)  # when the first fault was found, by any of them
    running: list[tuple[Any, Connection]] = []
    for number in range(workers):
        here, there = fork.Pipe(duplex=False)
        share = replace(options, share=(number, workers), alarm=alarm)
        process = fork.Process(target=_work, args=(subject, share, there))
        process.start()
        there.close()
        running.append((process, here))
    return _merged(subject, [_answer(process, pipe) for process, pipe in running], options.calls)


def _work(subject: Subject, options: Options, pipe: Connection) -> None:
    answer: ClassResult | TreadleError
    try:
        answer = run_class(subject, options)
        answer.subject = None  # classes and functions stay where they are
    except TreadleError as error:
        answer = error
    pipe.send_bytes(pickle.dumps(answer))
    pipe.close()


def _answer(process: Any, pipe: Connection) -> ClassResult | TreadleError:
    while True:
        try:
            answer: ClassResult | TreadleError = pickle.loads(pipe.recv_bytes())
            break
        except KeyboardInterrupt:
            continue  # the process was told, too, and answers with what it has
        except EOFError:
            raise UsageError("a process of --workers ended without an answer; run it with one") from None
    process.join()
    return answer


def _merged(subject: Subject, answers: list[ClassResult | TreadleError], calls: int) -> ClassResult:
    errors = [answer for answer in answers if isinstance(answer, TreadleError)]
    if errors:
        raise errors[0]
    parts = [answer for answer in answers if isinstance(answer, ClassResult)]
    merged = ClassResult(subject.target, Verdict.CUT, subject=subject)
    for name in (*_ADDED, *_ALSO_ADDED):
        setattr(merged, name, sum(getattr(part, name) for part in parts))
    for name in _LARGEST:
        setattr(merged, name, max(getattr(part, name) for part in parts))
    merged.switches = parts[0].switches
    merged.interrupted = any(part.interrupted for part in parts)
    merged.notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    known: set[Any] = set()
    for fault in sorted((fault for part in parts for fault in part.faults), key=lambda one: one.found_after):
        if not {fault.key, frozenset(fault.methods)} & known:
            known |= {fault.key, frozenset(fault.methods)}
            merged.faults.append(fault)
    for warning in (warning for part in parts for warning in part.warnings):
        if not any(other.methods == warning.methods for other in merged.warnings):
            merged.warnings.append(warning)
    merged.first_fault = min((part.first_fault for part in parts if part.first_fault is not None), default=None)
    done = {test for part in parts for test in part.done}
    lost = {test for part in parts for test in part.left_to_others} - done
    _judge(merged, parts, len(lost), calls)
    return merged


def _judge(merged: ClassResult, parts: list[ClassResult], lost: int, calls: int) -> None:
    """The whole passes when every part does and nothing was left to a process that did not come to it."""
    worst = next((part for part in parts if part.verdict is Verdict.CUT), None)
    if merged.faults:
        merged.verdict = Verdict.FAILED
        merged.reason = f"{len(merged.faults)} fault(s), each with a schedule that was run again"
    elif worst is not None:
        merged.reason = worst.reason
    elif lost:
        merged.reason = f"{lost} tests were left to a process that did not come to them: not a pass"
    elif not merged.pairs:
        merged.verdict, merged.reason = Verdict.NOTHING_TO_EXPLORE, parts[0].reason
    else:
        merged.verdict = Verdict.PASSED_WITHIN_BOUNDS
        merged.reason = passed(merged, calls)
