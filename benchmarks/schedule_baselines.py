"""What `treadle schedule` is compared with: random delays in virtual and in real time, random choice, PCT.

Random delays are those of the Bita paper, section VI-A: every message is delayed by a uniform time up to d before it is
delivered, and later messages of the same sender to the same receiver wait for it. In virtual time the order of messages
does not depend on d, and the clock says how long the execution would take in real time.
"""

from __future__ import annotations

import random
import threading
import time
from typing import Any

from treadle.messages.follow import FollowSchedule
from treadle.search.strategy import Strategy


class _OverMessages(FollowSchedule):
    """Strands that need no message go first, as in every execution of the schedule door; then `choose`."""

    def pick(self, run: Any) -> Any:
        person = self._person(run)
        if person is not None:
            return person
        for courier in run.couriers[self._seen :]:
            self.sent(run, courier)
        self._seen = len(run.couriers)
        ready = [courier for courier in run.couriers if not courier.finished and run.can_go(courier)]
        return self.choose(run, ready) if ready else None

    def sent(self, run: Any, courier: Any) -> None:
        """A message is on its way."""

    def choose(self, run: Any, ready: list[Any]) -> Any:
        raise NotImplementedError


class RandomDelays(_OverMessages):
    """Uniform delays up to `most` seconds, in virtual time."""

    name = "random delays"

    def __init__(self, seed: int, most: float) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.most = most
        self.due: dict[int, float] = {}
        self.last: dict[tuple[str, int], float] = {}

    def sent(self, run: Any, courier: Any) -> None:
        message = courier.message
        pair = (message.channel, message.to.hash)
        due = max(run.clock.now + self.random.uniform(0, self.most), self.last.get(pair, 0.0))
        self.due[courier.index] = self.last[pair] = due

    def choose(self, run: Any, ready: list[Any]) -> Any:
        chosen = min(ready, key=lambda courier: self.due[courier.index])
        run.clock.now = max(run.clock.now, self.due[chosen.index])
        return chosen


class RandomChoice(_OverMessages):
    """Every message that can be delivered is equally likely."""

    name = "random"

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = random.Random(seed)

    def choose(self, run: Any, ready: list[Any]) -> Any:
        return self.random.choice(ready)


class Pct(_OverMessages):
    """Priorities for senders, changed at d - 1 random deliveries (Burckhardt et al. 2010, over messages)."""

    name = "pct"

    def __init__(self, seed: int, depth: int = 3, length: int = 200) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.priority: dict[tuple[str, int], float] = {}
        self.changes = {self.random.randrange(length): -float(n + 1) for n in range(depth - 1)}
        self.steps = 0

    def choose(self, run: Any, ready: list[Any]) -> Any:
        def priority(courier: Any) -> float:
            chain = (courier.message.channel, courier.message.to.hash)
            return self.priority.setdefault(chain, self.random.random())

        chosen = max(ready, key=priority)
        lowered = self.changes.get(self.steps)
        self.steps += 1
        if lowered is not None:
            self.priority[chosen.message.channel, chosen.message.to.hash] = lowered
        return chosen


def strategy(name: str, seed: int) -> Strategy:
    if name == "pct":
        return Pct(seed)
    if name == "random":
        return RandomChoice(seed)
    return RandomDelays(seed, 0.1)


# ---------------------------------------------------------------------- real threads, real delays


class RealDelays:
    """Pykka as it is, on real threads, with every message delayed by a real time. Use as a context manager."""

    def __init__(self, seed: int, most: float) -> None:
        self.random = random.Random(seed)
        self.most = most
        self.lock = threading.Lock()
        self.last: dict[tuple[int, int], float] = {}
        self.failures: list[BaseException] = []

    def __enter__(self) -> RealDelays:
        import pykka._actor
        import pykka._threading

        self.place = pykka._threading.ThreadingActor
        self.create = self.place._create_actor_inbox
        self.actor = pykka._actor.Actor
        self.handle = self.actor._handle_failure
        delays = self

        def create() -> Any:
            return _DelayedQueue(delays, delays.create())

        def handle(actor: Any, kind: Any, error: Any, traceback: Any) -> None:
            if error is not None:
                delays.failures.append(error)
            delays.handle(actor, kind, error, traceback)

        self.place._create_actor_inbox = staticmethod(create)
        self.actor._handle_failure = handle
        return self

    def __exit__(self, *error: object) -> None:
        self.place._create_actor_inbox = staticmethod(self.create)
        self.actor._handle_failure = self.handle

    def delay(self, receiver: int) -> float:
        """How long a message of this thread to this receiver is on its way."""
        now = time.monotonic()
        pair = (threading.get_ident(), receiver)
        with self.lock:
            due = max(now + self.random.uniform(0, self.most), self.last.get(pair, 0.0) + 1e-4)
            self.last[pair] = due
        return due - now


class _DelayedQueue:
    """An inbox whose messages take their time. What stops an actor is not delayed."""

    def __init__(self, delays: RealDelays, queue: Any) -> None:
        self.delays, self.queue = delays, queue

    def put(self, envelope: Any) -> None:
        if type(envelope.message).__name__ == "_ActorStop":
            self.queue.put(envelope)
            return
        timer = threading.Timer(self.delays.delay(id(self)), self.queue.put, (envelope,))
        timer.daemon = True
        timer.start()

    def get(self) -> Any:
        return self.queue.get()

    def empty(self) -> bool:
        return bool(self.queue.empty())


def run_really(test: Any, seed: int, most: float, patience: float) -> tuple[bool, float]:
    """One real execution: did it fail, and how long did it take? What hangs has failed."""
    import pykka

    started = time.perf_counter()
    outcome: list[BaseException | None] = []

    def body() -> None:
        try:
            test()
            outcome.append(None)
        except BaseException as error:
            outcome.append(error)

    with RealDelays(seed, most) as delays:
        thread = threading.Thread(target=body, daemon=True)
        thread.start()
        while thread.is_alive() and not delays.failures and time.perf_counter() - started < patience:
            thread.join(0.01)
        seconds = time.perf_counter() - started
        failed = bool(delays.failures) or not outcome or outcome[0] is not None
        for ref in pykka.ActorRegistry.get_all():
            ref.stop(block=False)
    return failed, seconds
