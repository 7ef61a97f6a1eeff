"""Virtual time: sleeping costs nothing, clocks agree, and the time is the same in every execution."""

from __future__ import annotations

import datetime
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import treadle
from tests.threads_primitives.running import AtRandom, execute
from treadle.threads.adopt import adopt
from treadle.threads.primitives.clock import EPOCH
from treadle.threads.virtual_time import LATE


def test_a_year_passes_at_once() -> None:
    def main() -> None:
        before = time.monotonic(), time.time(), time.perf_counter()
        time.sleep(365 * 86_400)
        after = time.monotonic(), time.time(), time.perf_counter()
        assert {round(late - early) for early, late in zip(before, after, strict=True)} == {365 * 86_400}
        assert time.monotonic_ns() == round(time.monotonic() * 1e9)
        assert time.time_ns() == round(time.time() * 1e9)
        assert time.perf_counter_ns() == round(time.perf_counter() * 1e9)

    began = time.monotonic()
    execute(main)
    assert time.monotonic() - began < 86_400


def test_sleeps_and_timeouts_end_a_little_late() -> None:
    def main() -> None:
        began = time.monotonic()
        for _ in range(5):
            time.sleep(0.1)
            threading.Event().wait(0.1)
        assert 1.0 < time.monotonic() - began < 1.01

    execute(main)


def test_time_is_the_same_in_every_execution() -> None:
    told: list[float] = []

    def main() -> None:
        time.sleep(0.5)
        told.append(time.time())

    execute(main)
    execute(main)
    assert told[0] == told[1]


def test_sleepers_wake_in_order_of_time_whatever_the_schedule() -> None:
    def main() -> None:
        woken: list[float] = []

        def sleeper(seconds: float) -> None:
            time.sleep(seconds)
            woken.append(seconds)

        threads = [threading.Thread(target=sleeper, args=(seconds,)) for seconds in (3, 0.5, 2, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert woken == [0.5, 1, 2, 3]

    for seed in range(20):
        execute(main, AtRandom(seed))


def test_a_sleeper_may_wake_at_any_time_when_timeouts_may_fire_at_any_time() -> None:
    def main() -> None:
        woken: list[float] = []

        def sleeper(seconds: float) -> None:
            time.sleep(seconds)
            woken.append(seconds)

        threads = [threading.Thread(target=sleeper, args=(seconds,)) for seconds in (2, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        orders.add(tuple(woken))

    orders: set[tuple[float, ...]] = set()
    for seed in range(50):
        execute(main, AtRandom(seed), any_timeout=True)
    assert orders == {(1, 2), (2, 1)}


def test_sleep_refuses_what_cpython_refuses() -> None:
    def main() -> None:
        with pytest.raises(ValueError, match="sleep length must be non-negative"):
            time.sleep(-1)
        time.sleep(0)

    execute(main)
    main()


def test_a_timeout_waits_for_whoever_can_still_run() -> None:
    def main() -> None:
        lock = threading.Lock()
        lock.acquire()

        def holder() -> None:
            for _ in range(20):
                threading.Event().set()
            lock.release()

        threading.Thread(target=holder).start()
        assert lock.acquire(timeout=0.001)

    for seed in range(20):
        execute(main, AtRandom(seed))


def test_dates_follow_virtual_time() -> None:
    def main() -> None:
        early = adopt(datetime.datetime.now)(), time.gmtime().tm_yday, time.process_time(), time.strftime("%j")
        time.sleep(2 * 86_400)
        late = adopt(datetime.datetime.now)(), time.gmtime().tm_yday, time.process_time(), time.strftime("%j")
        assert (late[0] - early[0]).days == 2
        assert late[1] - early[1] == 2
        assert round(late[2] - early[2]) == 2 * 86_400
        assert int(late[3]) - int(early[3]) == 2
        utc = datetime.UTC
        assert adopt(datetime.datetime.now)(utc).timestamp() == pytest.approx(time.time(), abs=1e-6)
        assert adopt(datetime.date.today)() == late[0].date() == adopt(datetime.datetime.today)().date()
        assert time.localtime(0) == time.localtime(0.0)

    execute(main)
    assert abs(adopt(datetime.datetime.now)().timestamp() - time.time()) < 86_400
    assert time.gmtime().tm_year >= 2025


def test_code_that_is_not_rewritten_has_the_same_date() -> None:
    class Moment(datetime.datetime):
        pass

    def main() -> None:
        time.sleep(86_400)
        present = time.time()
        assert datetime.datetime.now(datetime.UTC).timestamp() == pytest.approx(present, abs=1e-5)
        assert datetime.datetime.now().timestamp() == pytest.approx(present, abs=1e-5)
        utc: object = datetime.datetime.utcnow()
        assert utc == datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
        assert type(Moment.now(tz=datetime.UTC)) is Moment
        assert Moment.now(datetime.UTC).timestamp() == pytest.approx(present, abs=1e-5)

    before = vars(datetime.datetime)["now"], vars(datetime.datetime)["utcnow"]
    execute(main)
    assert (vars(datetime.datetime)["now"], vars(datetime.datetime)["utcnow"]) == before
    assert abs(datetime.datetime.now(datetime.UTC).timestamp() - time.time()) < 86_400


def test_time_passes_before_or_behind_each_look_at_a_clock() -> None:
    seen: set[tuple[float, float]] = set()

    def main() -> None:
        thread = threading.Thread(target=treadle.pass_time, args=(5.0,))
        began = time.monotonic()
        thread.start()
        seen.add((time.monotonic() - began, time.time() - EPOCH))
        thread.join()

    result = treadle.check(main)
    assert result.verdict is treadle.Verdict.PASSED_EXHAUSTIVE, result.reason
    assert (seen, result.executions) == ({(0.0, 0.0), (0.0, 5.0), (5.0, 5.0)}, 3)


def test_a_program_may_import_what_sets_the_clocks_in_c(tmp_path: Path) -> None:
    """time-machine writes into the methods of `datetime` that it finds: where one was ours, the process died."""
    program = tmp_path / "travels.py"
    program.write_text("""
import datetime, threading, treadle

def main():
    import time_machine
    seen = []
    with time_machine.travel(0.0, tick=False):
        thread = threading.Thread(target=lambda: seen.append(datetime.datetime.now(datetime.UTC).year))
        thread.start()
        thread.join()
    assert seen == [1970], seen

result = treadle.check(main)
assert not result.findings, result
""")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_sleep_is_never_over_early_nor_to_the_point() -> None:
    slept = []

    def main() -> None:
        for _ in range(10):
            before = time.monotonic()
            time.sleep(0.1)
            slept.append(time.monotonic() - before)

    execute(main)
    assert slept == [pytest.approx(0.1 + LATE)] * 10
    assert sum(slept) > 1
