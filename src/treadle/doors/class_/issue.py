"""A bug report for the people who maintain the class, ready to paste: `treadle class --issue FILE`.

Decides nothing: it tells what was found, with a program that needs nothing but `threading`, what every order of the
calls gives, what was seen instead, the schedule, and on which versions and builds.
"""

from __future__ import annotations

import platform
import re

from treadle.classes.races import told_together
from treadle.classes.result import ClassResult, Fault, Options
from treadle.core.packages import release_of
from treadle.doors.class_.test_source import PARALLEL_OR_WAIT, FaultTest, write_test

_ROUNDS = 10_000
# Seconds that a program may sleep in every round before somebody should know.
_LONG = 1.0
# Seconds after which a thread of such a program is taken to wait for ever.
_PATIENCE = 5
_NOT_NEEDED = ("import sys", "import threading", PARALLEL_OR_WAIT)

_PROGRAM = '''import sys
import threading
{needs}

sys.setswitchinterval(1e-6)  # threads switch as often as they can
{waits}

def parallel(*functions):
    """Run each function in a thread; their results, or the first exception."""
    results, errors, start = [{none}] * len(functions), [], threading.Barrier(len(functions))

    def run(number):
        start.wait()
        try:
            results[number] = functions[number]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,){daemon}) for number in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join({patience})
    if errors:
        raise errors[0]
    return results


{source}

for number in range({rounds}):
    try:
        {name}()
    except BaseException:
        print(f"failed in round {{number}}")
        raise
'''


def issue_of(result: ClassResult, options: Options) -> str:
    """The report on all faults of a class, one below the other."""
    return "\n---\n\n".join(_one(result, fault, options) for fault in result.faults)


def _one(result: ClassResult, fault: Fault, options: Options) -> str:
    test = fault.witness.test
    before = "; ".join([options.setup_call or test.root.source(), *(call.source() for call in test.alpha)])
    calls = [f"- thread {n}: `{'; '.join(c.source() for c in calls)}`" for n, calls in enumerate(test.threads, 1)]
    package = result.target.partition(".")[0].partition(":")[0]
    lines = [
        f"# {fault.kind} when two threads use `{result.target}`: {fault.message}",
        "",
        f"Two threads share one object (`sout = {before}`) and call:",
        "",
        *calls,
        "",
        "**Expected:** what the calls give one after the other, in one order or the other.",
        "",
        *_orders(fault),
        f"**Seen:** {fault.message}.",
        "",
        *([f"{fault.blame[0].upper()}{fault.blame[1:]}.", ""] if fault.blame else []),
        *_also(fault),
        "## Schedule",
        "",
        "Who goes on when, from top to bottom:",
        "",
        "```text",
        fault.explanation,
        "```",
        "",
        *_program(result, fault, options),
        "## Versions",
        "",
        f"- {package} {release_of(package)}".rstrip(),
        f"- {platform.python_implementation()} {platform.python_version()} on {platform.system()}",
        f"- can happen on: {fault.on}",
        *([f"- replay: `treadle replay '{fault.replay}'`"] if fault.replay else []),
        "",
    ]
    return "\n".join(lines)


def _orders(fault: Fault) -> list[str]:
    """What each order of the calls gives, as a person reads it."""
    test = fault.witness.test
    rows: dict[str, None] = {}
    for order in fault.witness.orders:
        if order.ending:
            continue
        said = [
            f"`{call.source()}` gives `{order.texts.get(('result', thread, place), '?')}`"
            for thread, calls in enumerate(test.threads)
            for place, call in enumerate(calls)
        ]
        said += [
            f"afterwards `{call.source()}` gives `{order.texts.get(('observed', number, 0), '?')}`"
            for number, call in enumerate(test.omega)
        ]
        said += [
            f"afterwards `{name}` is `{order.texts.get(('field', number, 0), '?')}`"
            for number, name in enumerate(test.fields)
        ]
        rows[f"- {', '.join(said)}"] = None
    return [*rows, ""] if rows else []


def _also(fault: Fault) -> list[str]:
    if not fault.effects:
        return []
    return [
        "The same race also shows as:",
        "",
        *(f"- {one.kind}: {said}" for one, said in told_together(fault.effects)),
        "",
    ]


def _program(result: ClassResult, fault: Fault, options: Options) -> list[str]:
    """The test with plain threads: it fails when the machine happens to choose such a schedule."""
    try:
        test = write_test(result, fault, options, set())
    except (KeyError, IndexError):
        return []
    said = [f"Which schedule the threads get is up to the machine: it may take many of the {_ROUNDS} rounds."]
    if any("treadle" in line for line in test.needs if line != PARALLEL_OR_WAIT):
        said.append("Two values have no source form: `pip install treadle` is needed to compare them.")
    if any(float(number) > _LONG for number in re.findall(r"time\.sleep\(([\d.]+)\)", test.source)):
        said.append("It waits for real between the calls: make the time limits of the object short first.")
    return ["## Program", "", " ".join(said), "", "```python", _source(test), "```", ""]


def _source(test: FaultTest) -> str:
    waits = "parallel_or_wait(" in test.source
    needs = "\n".join(dict.fromkeys(line for line in test.needs if line not in _NOT_NEEDED))
    source = re.sub(r"(treadle\.parallel|parallel_or_wait)\(", "parallel(", test.source).strip()
    return _PROGRAM.format(
        needs=needs,
        source=source,
        rounds=_ROUNDS,
        name=test.name,
        waits=f'WAITS = "a thread that has not ended after {_PATIENCE} s"\n' if waits else "",
        none="WAITS" if waits else "None",
        daemon=", daemon=True" if waits else "",
        patience=_PATIENCE if waits else "",
    ).strip()
