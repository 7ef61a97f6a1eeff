"""Sockets, pipes, selectors, other processes and locks on files: strands that wait for them let the others run."""

from __future__ import annotations

import contextvars
import fcntl
import multiprocessing.pool
import os
import queue
import select
import selectors
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import treadle
from treadle.core.errors import Unsupported
from treadle.core.operation import GET
from treadle.threads import real_waits
from treadle.threads.primitives import outside, selecting
from treadle.threads.strands import current


def explored(test: Callable[[], Any], **options: Any) -> treadle.Result:
    return treadle.check(test, **options)


def together(*functions: Callable[[], Any]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_pair_of_sockets_between_two_threads() -> None:
    def test() -> None:
        one, other = socket.socketpair()
        got: list[bytes] = []
        with one, other:
            together(lambda: got.append(other.recv(10)), lambda: one.sendall(b"x"))
        assert got == [b"x"]

    assert explored(test).verdict.is_pass


def test_which_of_two_messages_comes_first_is_explored() -> None:
    def test() -> None:
        one, other = socket.socketpair()
        with one, other:
            together(lambda: one.sendall(b"a"), lambda: one.sendall(b"b"))
            assert other.recv(1) == b"a"

    assert explored(test).failed


def test_which_of_two_threads_receives_first_is_explored() -> None:
    def test() -> None:
        one, other = socket.socketpair()
        got: dict[str, bytes] = {}
        with one, other:
            one.sendall(b"ab")
            together(lambda: got.update(a=other.recv(1)), lambda: got.update(b=other.recv(1)))
        assert got["a"] == b"a"

    result = explored(test)
    assert result.failed
    assert result.statistics["checked"] == 0  # by the search, not by the check of its pass


def test_a_server_at_the_loopback() -> None:
    def test() -> None:
        got: list[bytes] = []
        with socket.create_server(("127.0.0.1", 0)) as listening:

            def serve() -> None:
                connection, _ = listening.accept()
                with connection, connection.makefile("rb") as file:
                    got.append(file.readline())

            def call() -> None:
                with socket.create_connection(listening.getsockname(), timeout=5) as connection:
                    connection.sendall(b"hello\n")

            together(serve, call)
        assert got == [b"hello\n"]

    result = explored(test, executions=50)
    assert not result.findings
    assert result.executions


def test_nobody_sends_is_a_deadlock_at_once() -> None:
    def test() -> None:
        one, other = socket.socketpair()
        together(lambda: one.recv(1), lambda: other.recv(1))

    result = explored(test)
    assert [finding.kind for finding in result.findings] == ["deadlock"]


def test_the_timeout_of_a_socket_takes_no_time() -> None:
    def test() -> None:
        one, other = socket.socketpair()
        with one, other:
            one.settimeout(3600)

            def receive() -> None:
                with pytest.raises(TimeoutError):
                    one.recv(1)

            together(receive, lambda: time.sleep(1))

    assert not explored(test, executions=20).findings


def test_more_than_a_socket_holds_is_sent_while_another_thread_reads() -> None:
    size = 2_000_000

    def test() -> None:
        one, other = socket.socketpair()
        read: list[int] = [0]

        def receive() -> None:
            while part := other.recv(1 << 20):
                read[0] += len(part)

        def send() -> None:
            one.sendall(b"x" * size)
            one.close()

        together(receive, send)
        other.close()
        assert read == [size]

    assert not explored(test, executions=3).findings


def _selected(other: socket.socket) -> None:
    assert select.select([other], [], [], 5) == ([other], [], [])


def _polled(other: socket.socket) -> None:
    poll = select.poll()
    poll.register(other, select.POLLIN)
    assert poll.poll() == [(other.fileno(), select.POLLIN)]


def _epolled(other: socket.socket) -> None:
    with select.epoll() as epoll:
        epoll.register(other, eventmask=select.EPOLLIN)
        assert not epoll.closed
        assert epoll.poll(timeout=5, maxevents=1) == [(other.fileno(), select.EPOLLIN)]
    assert epoll.closed


def _by_selector(other: socket.socket) -> None:
    for kind in (selectors.DefaultSelector, selectors.PollSelector, selectors.SelectSelector):
        with kind() as selector:
            selector.register(other, selectors.EVENT_READ)
            assert [key.fileobj for key, _ in selector.select()] == [other]


@pytest.mark.parametrize("waits", [_selected, _polled, _epolled, _by_selector])
def test_waiting_for_several(waits: Callable[[socket.socket], None]) -> None:
    def test() -> None:
        one, other = socket.socketpair()
        with one, other:
            together(lambda: waits(other), lambda: one.send(b"x"))

    assert explored(test).verdict.is_pass


def test_a_loop_around_short_polls_gets_on_in_time() -> None:
    """What is less than a millisecond is one, as in the kernel: otherwise these would be a million rounds."""

    def test() -> None:
        done = threading.Event()
        began = time.monotonic()

        def poll() -> None:
            one, other = socket.socketpair()
            with one, other, select.epoll() as epoll:
                epoll.register(other, select.EPOLLIN)
                while time.monotonic() < began + 0.05:
                    assert epoll.poll(0.000_001) == []
            done.set()

        together(poll, done.wait)

    assert explored(test).verdict.is_pass


def test_sockets_that_an_execution_leaves_open_are_closed_behind_it() -> None:
    numbers = set()

    def test() -> None:
        left = socket.socketpair(), select.epoll()
        numbers.add((left[0][0].fileno(), left[1].fileno()))
        cycle: list[Any] = [left]
        cycle.append(cycle)
        together(lambda: left[0][0].send(b"x"), lambda: left[0][0].send(b"y"))

    assert explored(test).executions > 1
    assert len(numbers) == 1


def test_a_pipe() -> None:
    def test() -> None:
        reading, writing = os.pipe()
        got: list[bytes] = []
        together(lambda: got.append(os.read(reading, 10)), lambda: os.write(writing, b"x"))
        os.close(reading)
        os.close(writing)
        assert got == [b"x"]

    assert not explored(test, executions=20).findings


def test_a_timeout_for_another_process_is_real_time() -> None:
    def test() -> None:
        ended = [None, None]
        words = [sys.executable, "-I", "-S", "-c", "pass"]

        def run(place: int) -> None:
            ended[place] = subprocess.run(words, timeout=60, check=True).returncode  # type: ignore[call-overload]

        together(lambda: run(0), lambda: run(1))
        assert ended == [0, 0]

    result = explored(test, executions=2)
    assert not result.findings
    assert result.executions


def test_another_process_that_talks_with_a_second_thread() -> None:
    code = "print(input()[::-1])"

    def test() -> None:
        with subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin is not None
            ready = threading.Event()
            thread = threading.Thread(target=ready.set)
            thread.start()
            ready.wait()
            assert process.communicate("abc")[0] == "cba\n"
            thread.join()

    assert not explored(test, executions=2).findings


def test_what_never_comes_is_refused_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_waits, "PATIENCE", 0.2)

    def test() -> None:
        code = "input()"
        with subprocess.Popen([sys.executable, "-I", "-S", "-c", code], stdin=subprocess.PIPE) as process:
            try:
                together(lambda: time.sleep(0), lambda: process.wait())
            finally:
                process.kill()

    with pytest.raises(Unsupported, match=r"test_real_waits.py:\d+ in .*lambda> waits for the end of another process"):
        explored(test)


def test_no_timeout_strikes_because_the_machine_slept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lid was closed for an hour while another process worked: what plain code would take for a time-out."""
    real, slept = real_waits._real_monotonic, iter([0.0])
    monkeypatch.setattr(real_waits, "_real_monotonic", lambda: real() + next(slept, 3600.0))

    def test() -> None:
        said: list[bytes] = []

        def ask() -> None:
            code = "print(1)"
            said.append(subprocess.run([sys.executable, "-I", "-S", "-c", code], stdout=-1, timeout=60).stdout)

        together(ask, time.monotonic)
        assert said == [b"1\n"]

    assert not explored(test, executions=1).findings


def test_what_was_written_last_by_a_process_that_ended_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """It wrote after the last look at the pipe, and had ended when it was asked whether a process is left."""
    reader, end = os.pipe()
    writer = os.fdopen(end, "wb")
    monkeypatch.setattr(outside, "_others", writer.flush)  # which returns nothing: there is none

    def test() -> None:
        started, took = time.monotonic(), []

        def read() -> None:
            assert select.select([reader], [], [], 60)[0]
            os.read(reader, 1)
            took.append(time.monotonic() - started)

        writer.write(b"x")
        together(read, lambda: time.sleep(30))
        assert took[0] < 30

    with writer:
        assert not explored(test, executions=3).findings
    os.close(reader)


def test_an_execution_that_was_lost_while_something_real_was_not_ready_is_told() -> None:
    def test() -> None:
        sent: list[int] = []
        pipe = outside.guard_of(sent.__len__, "the pipe of a process")

        def send() -> None:
            strand = current()
            assert strand is not None
            outside.act(strand)
            sent.append(1)

        def receive() -> None:
            strand = current()
            assert strand is not None
            strand.point(GET, pipe)

        together(send, receive)

    result = explored(test)
    assert result.statistics["blocked"] > 0  # receiving first was tried, and could not be done
    assert result.verdict is treadle.Verdict.PASSED_WITHIN_BOUNDS
    assert "the pipe of a process (real)" in result.reason


def test_a_lock_on_a_file_lets_its_owner_run(tmp_path: Path) -> None:
    path = tmp_path / "lock"

    def test() -> None:
        counted = [0]

        def count() -> None:
            with open(path, "w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                counted[0] += 1
                fcntl.flock(file, fcntl.LOCK_UN)

        together(count, count)
        assert counted == [2]

    result = explored(test, executions=30)
    assert not result.findings
    assert result.executions


def test_a_pool_of_threads_of_multiprocessing() -> None:
    def test() -> None:
        with multiprocessing.pool.ThreadPool(2) as pool:
            assert pool.map(abs, [-1, 2]) == [1, 2]
            assert pool.apply(abs, (-3,)) == 3

    result = explored(test, executions=20)
    assert not result.findings
    assert result.executions == 20


@pytest.mark.slow
def test_what_two_workers_of_such_a_pool_lose() -> None:
    class Counter:
        n = 0

    def test() -> None:
        counter = Counter()

        def add(_: int) -> None:
            counter.n += 1

        with multiprocessing.pool.ThreadPool(2) as pool:
            pool.map(add, [1, 2], chunksize=1)
        assert counter.n == 2

    assert explored(test, strategy="random", executions=500).failed


def test_a_database_that_another_thread_has_locked(tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite"

    def test() -> None:
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("create table counted (n integer)")
            connection.execute("insert into counted values (0)")
            connection.commit()

        def add() -> None:
            with closing(sqlite3.connect(path, isolation_level=None)) as own:
                own.execute("begin immediate")
                ((n,),) = own.execute("select n from counted").fetchall()
                own.execute("update counted set n = ?", (n + 1,))
                own.execute("commit")

        together(add, add)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("select n from counted").fetchall() == [(2,)]

    result = explored(test, executions=20)
    assert not result.findings
    assert result.executions


def test_a_database_that_stays_locked_fails_as_it_does(tmp_path: Path) -> None:
    path = tmp_path / "data.sqlite"

    def test() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as one:
            one.execute("begin exclusive")

            def other() -> None:
                with closing(sqlite3.connect(path, timeout=3600)) as own:
                    own.execute("create table never (n integer)")

            thread = threading.Thread(target=other)
            thread.start()
            thread.join()

    result = explored(test, executions=10)
    assert [finding.kind for finding in result.findings] == ["exception"]
    assert "database is locked" in result.findings[0].message


def test_small_pieces_do_not_wait_in_the_kernel() -> None:
    """Nobody would wait for them: the reader is the only one who could go on."""

    def test() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:

            def serve() -> None:
                with listening.accept()[0] as sock:
                    for piece in (b"a", b"b", b"c"):
                        sock.sendall(piece)
                    sock.recv(1)

            thread = threading.Thread(target=serve)
            thread.start()
            with socket.create_connection(listening.getsockname()) as sock:
                assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                assert b"".join(sock.recv(1) for _ in range(3)) == b"abc"
            thread.join()

    assert not explored(test, executions=5).findings


@pytest.mark.parametrize("checked", [True, False])
def test_a_connection_to_a_database_belongs_to_the_thread_that_made_it(checked: bool) -> None:
    told: set[str] = set()

    def test() -> None:
        with closing(sqlite3.connect(":memory:", check_same_thread=checked)) as connection:
            rows = connection.execute("select 1")

            def probe() -> None:
                for use in (connection.commit, rows.fetchone, connection.cursor):
                    try:
                        use()
                    except sqlite3.ProgrammingError as error:
                        told.add(str(error).partition(".")[0])
                    else:
                        told.add("used")

            together(probe)

    result = explored(test, executions=3)
    assert not result.findings
    expected = "SQLite objects created in a thread can only be used in that same thread" if checked else "used"
    assert told == {expected}


def test_whoever_asks_for_any_port_gets_the_same_in_every_execution() -> None:
    ports: dict[str, int] = {}

    def test() -> None:
        with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
            name = f"{first.getsockname()[1]} {second.getsockname()[1]}"
            together(lambda: ports.update({name: 1}), lambda: ports.update({name: 2}))
            assert len(name.split()) == 2
            assert name.split()[0] != name.split()[1]

    assert explored(test).verdict.is_pass  # a port is part of the key: by chance, no two executions would be alike


def test_a_thread_from_before_that_may_still_act_is_no_failure() -> None:
    asked: queue.Queue[Any] = queue.Queue()

    def serve() -> None:
        while (answers := asked.get()) is not None:
            time.sleep(0.01)
            answers.put("done")

    server = threading.Thread(target=serve, name="the server")
    server.start()

    def test() -> None:
        answers: queue.Queue[str] = queue.Queue()
        together(lambda: asked.put(answers))
        assert answers.get(timeout=5) == "done"

    def only_sleeps() -> None:
        together(lambda: time.sleep(0.2), lambda: time.sleep(0.1))

    try:
        with pytest.raises(Unsupported, match="the thread 'the server' was started before the test"):
            explored(test)
        assert explored(only_sleeps).verdict is treadle.Verdict.PASSED_WITHIN_BOUNDS
    finally:
        asked.put(None)
        server.join()


@pytest.mark.parametrize(("seconds", "refused"), [(0.5, True), (30.0, False)])
def test_a_signal_by_real_time_that_would_come_before_a_sleep_ends(seconds: float, refused: bool) -> None:
    def test() -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            together(lambda: time.sleep(1), lambda: time.sleep(2))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        if refused:
            with pytest.raises(Unsupported, match="which comes in real time"):
                explored(test)
        else:
            assert not explored(test).findings
    finally:
        signal.signal(signal.SIGALRM, before)


def test_the_variables_of_a_context_come_in_one_order() -> None:
    def test() -> None:
        for number in range(8):
            contextvars.ContextVar[int](f"variable {number}").set(number)
        seen: list[str] = []

        def look() -> None:
            for variable in context:
                seen.append(variable.name)

        context = contextvars.copy_context()
        together(look, look)
        assert len(seen) == 2 * len(context)

    assert explored(test, executions=40).executions > 1


def test_what_select_is_given_is_asked_for_its_descriptor_once() -> None:
    class Channel:
        def __init__(self, behind: socket.socket) -> None:
            self.behind, self.lock, self.asked = behind, threading.Lock(), 0

        def fileno(self) -> int:
            with self.lock:
                self.asked += 1
            return self.behind.fileno()

    def test() -> None:
        one, other = socket.socketpair()
        channel = Channel(other)
        with one, other:
            together(lambda: select.select([channel], [], [], 1), lambda: one.send(b"x"))
            assert select.select([], [], [channel], 0) == ([], [], [])
        assert channel.asked == 2
        with pytest.raises(TypeError):
            select.select([object()], [], [], 0)  # type: ignore[type-var]

    assert explored(test).verdict.is_pass


@pytest.mark.parametrize("kind", [selecting.Poll, selecting.Epoll])
def test_outside_of_an_execution_a_poll_is_the_real_one(kind: type[selecting.Poll]) -> None:
    reader, writer = os.pipe()
    try:
        poll = kind()
        poll.register(reader, select.POLLIN)
        assert poll.poll(0) == []
        os.write(writer, b"x")
        assert [descriptor for descriptor, _ in poll.poll(1)] == [reader]
        poll.unregister(reader)
        assert poll.poll(0) == []
    finally:
        os.close(reader)
        os.close(writer)


def test_what_another_strand_closes_is_told_where_it_is_waited_for() -> None:
    """A selector that is asked whether it has something, by who chooses the next strand, fails nobody else."""

    def test() -> None:
        ours, theirs = socket.socketpair()
        chosen = selectors.DefaultSelector()
        chosen.register(ours, selectors.EVENT_READ)
        told = []

        def wait() -> None:
            try:
                chosen.select(0.5)
            except (ValueError, OSError, KeyError) as error:
                told.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        chosen.close()
        thread.join()
        ours.close()
        theirs.close()

    assert not explored(test, executions=50).failed


def test_who_asks_again_whether_a_process_is_ready_gives_it_its_time(tmp_path: Path) -> None:
    """As for a server in a process of its own, whose port is tried until it answers, for some seconds at most."""
    ready = tmp_path / "ready"
    work = f"import time; time.sleep(0.3); open({str(ready)!r}, 'w').close(); time.sleep(60)"

    def test() -> None:
        process = subprocess.Popen([sys.executable, "-c", work])
        count: list[int] = []
        together(lambda: count.append(1), lambda: count.append(2))
        deadline = time.monotonic() + 20
        while not ready.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.kill()
        process.wait()
        ready.unlink()

    result = explored(test, executions=2)
    assert not result.findings
    assert result.verdict is not treadle.Verdict.PASSED_EXHAUSTIVE
