"""One class on several processors: every process runs the same campaign and explores its own share of the tests.

A test belongs to the process that its text falls to. All processes generate the same sequences as far as their time
allows, so a process may know a test that the one it belongs to has not come to: what was left to others and done by
nobody is counted, and the whole is then not a pass.
"""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from treadle.classes.descriptors import examine_use
from treadle.classes.races import grouped, reason_of
from treadle.classes.result import ClassResult, Options, add_matrix, passed
from treadle.classes.subject import Subject, find_class, import_module
from treadle.core.errors import TreadleError, UsageError
from treadle.core.result import Verdict
from treadle.doors.class_.replay import factory
from treadle.doors.class_.without_effects import run_class
from treadle.search.cluster import Workforce, pool_of
from treadle.search.workers import Died, Tell, answers

_ADDED = ("interleavings_tried", "pairs", "requirements", "requirements_covered", "exhausted_pairs")
_ALSO_ADDED = ("longer_tests", "longer_exhausted", "tests_assembled")
_LARGEST = ("traces", "sequences", "methods", "seconds")


Answer = ClassResult | TreadleError | Died


class ShareServer:
    """A worker: campaigns over one class, each for a share of its tests."""

    def __init__(self, setup: tuple[str, bool], tell: Tell) -> None:
        target, guarded = setup
        find = find_class if ":" in target else import_module
        self._subject = examine_use(target, find(target, guarded))

    def run(self, number: int, options: Options) -> Answer:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a campaign that is stopped tells what it has found
        try:
            if options.setup_import:
                options.setup = factory(str(options.setup_folder or ""), options.setup_import, options.setup_call)
            answer = run_class(self._subject, options)
            answer.subject = None  # classes and functions stay where they are
            return answer
        except TreadleError as error:
            return error
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def run_in_processes(subject: Subject, options: Options, workers: Workforce) -> ClassResult:
    """A campaign over one class by so many processes."""
    same_order = {"PYTHONHASHSEED": "0"}  # all generate the same sequences
    setup = (subject.target, not options.allow_effects)
    with (
        tempfile.TemporaryDirectory(prefix="treadle-") as folder,
        pool_of(workers, ShareServer, setup, f"class {subject.target}", same_order) as pool,
    ):
        alarm = Path(folder) / "a fault was found"
        plain = replace(options, setup=None, alarm=alarm)  # what is sent is data
        shares = [replace(plain, share=(number, pool.size)) for number in range(pool.size)]
        found = dict(answers(pool, shares, wait_after_interrupt=True))
    return _merged(subject, [found[number] for number in range(len(shares))], options.calls)


def _merged(subject: Subject, found: Sequence[Answer], calls: int) -> ClassResult:
    errors = [answer for answer in found if isinstance(answer, TreadleError)]
    if errors:
        raise errors[0]
    parts = [answer for answer in found if isinstance(answer, ClassResult)]
    died = [answer.how for answer in found if isinstance(answer, Died)]
    if not parts:
        raise UsageError(f"every worker process died ({'; '.join(dict.fromkeys(died))}); run it without --workers")
    merged = ClassResult(subject.target, Verdict.CUT, subject=subject)
    for name in (*_ADDED, *_ALSO_ADDED):
        setattr(merged, name, sum(getattr(part, name) for part in parts))
    for name in _LARGEST:
        setattr(merged, name, max(getattr(part, name) for part in parts))
    for part in parts:
        add_matrix(merged, part)
    merged.not_called = {
        name: why for name, why in parts[0].not_called.items() if all(name in part.not_called for part in parts)
    }
    merged.idle = parts[0].idle & merged.not_called.keys()
    merged.switches = parts[0].switches
    merged.interrupted = any(part.interrupted for part in parts)
    merged.notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    for name in ("faults", "warnings"):
        shown = sorted((one for part in parts for one in getattr(part, name)), key=lambda one: one.found_after)
        setattr(merged, name, list({one.message: one for one in reversed(shown)}.values())[::-1])
    merged.first_fault = min((part.first_fault for part in parts if part.first_fault is not None), default=None)
    done = {test for part in parts for test in part.done}
    lost = {test for part in parts for test in part.left_to_others} - done
    _judge(merged, parts, len(lost), len(died), calls)
    return merged


def _judge(merged: ClassResult, parts: list[ClassResult], lost: int, died: int, calls: int) -> None:
    """The whole passes when every part does and nothing was left to a process that did not come to it."""
    worst = next((part for part in parts if part.verdict is Verdict.CUT), None)
    if merged.faults:
        merged.verdict = Verdict.FAILED
        merged.reason = reason_of(len(grouped(merged.faults)))
    elif died:
        merged.reason = (
            f"{died} of {died + len(parts)} worker processes died, with their share of the tests: not a pass"
        )
    elif worst is not None:
        merged.reason, merged.untried = worst.reason, worst.untried
    elif lost:
        merged.reason = f"{lost} tests were left to a process that did not come to them: not a pass"
    elif not merged.pairs:
        merged.verdict, merged.reason = Verdict.NOTHING_TO_EXPLORE, parts[0].reason
    else:
        merged.verdict = Verdict.PASSED_WITHIN_BOUNDS
        merged.reason = passed(merged, calls)
