"""Sockets of ZeroMQ: who waits for a message lets the others run, and what is lost between threads is found."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import zmq

import treadle
from treadle.threads.primitives import zeromq


@contextmanager
def sockets(*kinds: int) -> Iterator[list[Any]]:
    context = zmq.Context()
    made = [context.socket(kind) for kind in kinds]
    try:
        yield made
    finally:
        for one in made:
            one.close(0)
        context.term()


def test_a_question_and_its_answer() -> None:
    def test() -> None:
        with sockets(zmq.PAIR, zmq.PAIR) as (server, client):
            server.bind("inproc://question")
            client.connect("inproc://question")
            thread = threading.Thread(target=lambda: server.send(server.recv() + b"!"))
            thread.start()
            client.send(b"hello")
            assert client.recv() == b"hello!"
            thread.join()

    result = treadle.check(test)
    assert result.verdict is treadle.Verdict.PASSED_WITHIN_BOUNDS  # what travels is taken as it comes
    assert "messages of zmq (real)" in result.reason


def test_an_update_that_is_lost_around_a_message_is_found() -> None:
    def test() -> None:
        count = [0]
        with sockets(zmq.PULL, zmq.PUSH, zmq.PUSH) as (sink, *sources):
            sink.bind("inproc://sink")

            def work(source: Any) -> None:
                source.connect("inproc://sink")
                before = count[0]
                source.send(b"1")
                count[0] = before + 1

            threads = [threading.Thread(target=work, args=(one,)) for one in sources]
            for thread in threads:
                thread.start()
            for thread in threads:
                sink.recv()
                thread.join()
        assert count == [2]

    finding = treadle.check(test).findings[0]
    assert "assert [1] == [2]" in finding.message


def test_who_polls_lets_the_others_run_and_time_passes_really() -> None:
    """A message comes to whoever has subscribed before, and a subscription takes its time."""

    def test() -> None:
        with sockets(zmq.PUB, zmq.SUB) as (publisher, subscriber):
            port = publisher.bind_to_random_port("tcp://127.0.0.1")
            subscriber.connect(f"tcp://127.0.0.1:{port}")
            subscriber.setsockopt(zmq.SUBSCRIBE, b"")
            time.sleep(0.3)
            got: list[bytes] = []

            def listen() -> None:
                poller = zmq.Poller()
                poller.register(subscriber, zmq.POLLIN)
                if poller.poll(10_000):
                    got.extend(subscriber.recv_multipart())

            thread = threading.Thread(target=listen)
            thread.start()
            publisher.send(b"news")
            thread.join()
            assert got == [b"news"]

    assert not treadle.check(test, executions=3).findings


def test_a_time_limit_of_a_socket_strikes_when_nothing_comes() -> None:
    def test() -> None:
        with sockets(zmq.PULL) as (sink,):
            sink.bind("inproc://nothing")
            sink.setsockopt(zmq.RCVTIMEO, 50)
            thread = threading.Thread(target=lambda: None)
            thread.start()
            with pytest.raises(zmq.Again):
                sink.recv()
            thread.join()

    assert not treadle.check(test, executions=3).findings


def test_afterwards_sockets_are_what_they_were() -> None:
    before = vars(zmq.Poller)["poll"], "recv" in vars(zmq.Socket)
    assert len(zeromq.patches()) == 3
    treadle.check(lambda: None)
    assert (vars(zmq.Poller)["poll"], "recv" in vars(zmq.Socket)) == before
