"""Explores one program with Treadle, again and again for some seconds; prints what a search took."""

import json
import sys
import time

import programs

import treadle
import treadle.search.dpor

setup, workers = programs.PROGRAMS[sys.argv[1]]
seconds = float(sys.argv[2])


def program():
    treadle.parallel(*workers, args=(setup(),))


def main():
    treadle.check(program, strategy="dpor", executions=5)  # imports, the code cache
    executions = 0
    inside = 0.0
    started, used = time.perf_counter(), time.process_time()
    while time.perf_counter() - started < seconds:
        result = treadle.check(program, strategy="dpor")
        executions += result.executions
        inside += result.seconds
    spent = time.perf_counter() - started
    answer = {
        "executions": result.executions,
        "rate": executions / spent,
        "cpu_rate": executions / (time.process_time() - used),
        "search_rate": executions / inside,
        "found": bool(result.findings),
        "complete": result.exhaustive or bool(result.findings),
        "compiled": not treadle.search.dpor.__file__.endswith(".py"),
    }
    print(json.dumps(answer))


main()
