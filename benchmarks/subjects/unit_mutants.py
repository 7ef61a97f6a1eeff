"""Runs one suite against the module and its mutants; prints one JSON line. Run in the environment of the peers.

    python unit_mutants.py test_file.py EVERY

The module under test is `subject` in the current folder. A mutant is one change by one operator of cosmic-ray. For
a mutant the test functions are called directly in a forked child, so a mutant costs milliseconds, not a start of pytest.
"""

import contextlib
import io
import json
import os
import random
import signal
import sys

import coverage
import pytest
import wild_mutants  # beside this file

FILE, EVERY = sys.argv[1], int(sys.argv[2])
SECONDS = 10


class Names:
    """Which tests there are and which fail."""

    def __init__(self, shuffle):
        self.shuffle, self.ran, self.failed = shuffle, [], []

    def pytest_collection_modifyitems(self, items):
        if self.shuffle:
            random.Random(7).shuffle(items)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed:
            self.ran.append(report.nodeid)
        if report.failed:
            self.failed.append(report.nodeid)


def in_child(action):
    """The JSON value of action(), computed in a child; None if it died or did not finish."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(SECONDS * 6)
        try:
            os.write(write, json.dumps(action()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    return json.loads(data) if data else None


def suite(extra, shuffle=False):
    names = Names(shuffle)
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header", "-c", os.devnull, "--rootdir", "."]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        pytest.main([*options, *extra], plugins=[names])
    return names


def holding():
    """Tests of the file, and those that pass on the original in a shuffled order."""
    names = suite([FILE], shuffle=True)
    ran = list(dict.fromkeys(names.ran))
    return ran, [n for n in ran if n not in names.failed]


def branches(good):
    tracer = coverage.Coverage(data_file=None, branch=True, include=["subject.py"], config_file=False)
    tracer.start()
    suite(good)
    tracer.stop()
    with contextlib.redirect_stdout(io.StringIO()):
        tracer.json_report(outfile="coverage.json")
    with open("coverage.json") as stream:
        totals = json.load(stream)["totals"]
    return round(100 * totals["covered_branches"] / max(1, totals["num_branches"]), 1)


def mutants():
    """Every (operator, occurrence) of cosmic-ray on the module, as source."""
    with open("subject.py") as stream:
        return wild_mutants.mutants(stream.read())


def calls(function, name, good):
    """The calls that one test function stands for: one per parameter set, xfail turned round."""
    marks = getattr(function, "pytestmark", [])
    expected = any(m.name == "xfail" for m in marks)
    sets = next((m.args for m in marks if m.name == "parametrize"), None)
    if sets is None:
        if f"{FILE}::{name}" in good:
            yield {}, expected
        return
    names = [n.strip() for n in sets[0].split(",")] if isinstance(sets[0], str) else list(sets[0])
    for parameters in sets[1]:
        if f"{FILE}::{name}[{parameters.id}]" in good:
            yield dict(zip(names, parameters.values, strict=True)), expected


def fails(space, good):
    """Whether any good test fails, run without pytest's own machinery: the test functions are called directly."""
    for name, function in list(space.items()):
        if not name.startswith("test_") or not callable(function):
            continue
        for arguments, expected in calls(function, name, good):
            with pytest.MonkeyPatch.context() as patch:
                if "monkeypatch" in function.__code__.co_varnames[: function.__code__.co_argcount]:
                    arguments = {**arguments, "monkeypatch": patch}
                try:
                    function(**arguments)
                    raised = False
                except BaseException:
                    raised = True
            if raised != expected:
                return True
    return False


def killed(mutated, good, test_code):
    def run():
        signal.alarm(SECONDS)
        import types

        module = types.ModuleType("subject")
        module.__file__ = os.path.abspath("subject.py")
        sys.modules["subject"] = module
        try:
            exec(compile(mutated, module.__file__, "exec"), module.__dict__)
            space = {"__name__": "suite", "__file__": FILE}
            exec(test_code, space)
        except BaseException:
            return True
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return fails(space, good)

    return in_child(run) is not False


def main():
    sys.path.insert(0, os.getcwd())
    ran, good = in_child(holding) or ([], [])
    result = {"tests": len(ran), "passing": len(good), "branches": 0.0, "killed": 0, "mutants": 0}
    if good:
        result["branches"] = in_child(lambda: branches(good)) or 0.0
        chosen = mutants()[::EVERY]
        result["mutants"] = len(chosen)
        with open(FILE) as stream:
            test_code = compile(stream.read(), FILE, "exec")
        with open("subject.py") as stream:
            original = stream.read()
        names = set(good)
        if killed(original, names, test_code):
            raise SystemExit("the tests do not hold on the original when called directly")
        result["killed"] = sum(killed(m, names, test_code) for m in chosen)
    print(json.dumps(result))


main()
