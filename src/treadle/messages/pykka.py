"""Pykka under control: unmodified `pykka.ThreadingActor` programs in steps of one message each.

Decides what is replaced while a message-level campaign runs: the inbox of a ThreadingActor is a `Mailbox`, a future is
waited for at one point, the registry and whether an actor is alive are points of their own, actor URNs are the same in
every execution, and the registry is empty again after each of them. Everything else is Pykka's own code, in any
version from 4.0 on.
"""

from __future__ import annotations

import functools
import itertools
import logging
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pykka
import pykka._actor
import pykka._ref
import pykka._registry
import pykka._threading
import pykka.messages

from treadle.core.operation import LOOK, SIGNAL, WAIT
from treadle.messages.execution import Mailbox, message_strand
from treadle.messages.journal import Handling, label_of
from treadle.messages.receive import stable_hash
from treadle.threads.primitives.inside import at_end, here
from treadle.threads.strands import Strand, SyncObject

_REGISTRY = "ActorRegistry"


class Reply(SyncObject):
    """What a future will hold. A strand that waits for it goes on when it is set."""

    __slots__ = ("asked", "done")
    label = "Future"

    def __init__(self) -> None:
        self.done = False
        self.asked: Mailbox | None = None  # who is to set it, when it is the reply to an ask

    def ready(self, kind: int, strand: Strand) -> bool:
        return self.done

    def guards(self) -> int:
        return 1 << WAIT if self.done else 0

    @property
    def owner(self) -> Strand | None:
        return None if self.asked is None else self.asked.reader

    def describe(self) -> str:
        if self.asked is None or self.asked.actor is None:
            return "not set"
        return f"not set by {self.asked.actor.label}"


# ---------------------------------------------------------------------- inbox and messages


class Inbox(Mailbox):
    """The inbox of a Pykka actor."""

    __slots__ = ()

    def put(self, item: Any, *_: Any, **__: Any) -> None:
        strand = message_strand()
        assert strand is not None, "an actor of an execution that is over"
        label, stops = describe(item.message)
        strand.execution.send(strand, self, item, label=label, stops=stops)
        if item.reply_to is not None:
            _reply(item.reply_to).asked = self


def describe(message: Any) -> tuple[str, bool]:
    """What a person calls a message of Pykka, and whether it stops the actor."""
    if isinstance(message, pykka.messages._ActorStop):
        return "stop", True
    if isinstance(message, pykka.messages.ProxyCall):
        return ".".join(message.attr_path), False
    if isinstance(message, pykka.messages.ProxyGetAttr):
        return f"get {'.'.join(message.attr_path)}", False
    if isinstance(message, pykka.messages.ProxySetAttr):
        return f"set {'.'.join(message.attr_path)}", False
    return label_of(message), False


def _create_inbox(original: Callable[[], Any]) -> Any:
    return staticmethod(lambda: original() if message_strand() is None else Inbox())


def _init(original: Callable[..., None]) -> Callable[..., None]:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        strand = message_strand()
        inbox = self.actor_inbox
        if strand is None or not isinstance(inbox, Inbox):
            return
        run = strand.execution
        inbox.actor = run.journal.create(type(self).__qualname__.rpartition(".")[2], strand.handling, self)
        inbox.treadle_name = f"{inbox.actor.label}"
        inbox.closed = lambda: bool(self.actor_stopped._flag)
        alive = self.actor_stopped._cond
        alive.treadle_name = f"{inbox.actor.label} alive"
        run.visible[alive] = None

    return __init__


def _loop(original: Callable[..., None]) -> Callable[..., None]:
    def _actor_loop(self: Any) -> None:
        strand = message_strand()
        if strand is not None and isinstance(self.actor_inbox, Inbox):
            actor = self.actor_inbox.actor
            assert actor is not None
            actor.daemon = strand.daemon
            before = strand.handling
            strand.handling = Handling(actor, stable_hash("start", actor.hash), credit=before.credit)
            strand.handling.awaits.update(before.awaits)
            strand.handling.frontier.update(before.frontier)
            self.actor_inbox.reader = strand
            strand.execution.visible[self.actor_stopped._cond] = strand
        original(self)

    return _actor_loop


def _handle_failure(original: Callable[..., None]) -> Callable[..., None]:
    def _handle_failure(self: Any, kind: Any, error: Any, traceback: Any) -> None:
        strand = message_strand()
        actor = getattr(self.actor_inbox, "actor", None)
        if strand is not None and actor is not None and error is not None:
            own = type(self).on_failure is not pykka._actor.Actor.on_failure
            strand.execution.fail(strand, actor, error, own)
        original(self, kind, error, traceback)

    return _handle_failure


# ---------------------------------------------------------------------- futures


def _reply(future: Any) -> Reply:
    reply: Reply | None = vars(future).get("_treadle")
    if reply is None:
        reply = future._treadle = Reply()
    return reply


def _get(original: Callable[..., Any]) -> Callable[..., Any]:
    def get(self: Any, *, timeout: float | None = None) -> Any:
        strand = message_strand()
        if strand is None or self._get_hook is not None:
            return original(self, timeout=timeout)
        if not strand.point(WAIT, _reply(self), timeout):
            raise pykka.Timeout(f"{timeout} seconds")
        return original(self, timeout=timeout)

    return get


def _set(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def set_(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        strand = message_strand()
        if strand is not None:
            reply = _reply(self)
            strand.point(SIGNAL, reply)
            reply.done = True

    return set_


# ---------------------------------------------------------------------- the registry


def _reading(original: Any) -> Any:
    @functools.wraps(original.__func__)
    def read(cls: Any, *args: Any, **kwargs: Any) -> Any:
        strand = message_strand()
        if strand is not None:
            strand.touch(LOOK, _REGISTRY, None)
        return original.__func__(cls, *args, **kwargs)

    return classmethod(read)


def _changing(original: Any) -> Any:
    @functools.wraps(original.__func__)
    def change(cls: Any, actor_ref: Any) -> Any:
        strand = message_strand()
        if strand is not None:
            refs = cls._actor_refs
            if not getattr(strand.execution, "registry_kept", False):
                strand.execution.registry_kept = True  # type: ignore[attr-defined]
                before = list(refs)
                at_end(lambda: refs.__setitem__(slice(None), before))
            actor = getattr(actor_ref.actor_inbox, "actor", None)
            strand.touch(SIGNAL, _REGISTRY, actor.label if actor is not None else None)
        return original.__func__(cls, actor_ref)

    return classmethod(change)


@contextmanager
def noting_actors(names: dict[int, str]) -> Iterator[None]:
    """Note which strands are actors, by number, in executions that look at every access."""
    actor = pykka._actor.Actor
    original = actor._actor_loop

    def _actor_loop(self: Any) -> None:
        strand = here()
        if strand is not None:
            names[strand.index] = f"{type(self).__name__} ({strand.treadle_name})"
        original(self)

    actor._actor_loop = _actor_loop
    try:
        yield
    finally:
        actor._actor_loop = original


@contextmanager
def registry_kept() -> Iterator[None]:
    """Every execution that looks at accesses ends with the actors registered that were there before it."""
    registry = pykka._registry.ActorRegistry
    original = vars(registry)["register"]

    def register(cls: Any, actor_ref: Any) -> None:
        if here() is not None:
            before = list(cls._actor_refs)
            at_end(lambda: cls._actor_refs.__setitem__(slice(None), before))
        original.__func__(cls, actor_ref)

    registry.register = classmethod(register)
    try:
        yield
    finally:
        registry.register = original


# ---------------------------------------------------------------------- in place for a campaign


class _Uuid(SimpleNamespace):
    """The uuid module for Pykka: the same URNs in every execution."""

    @staticmethod
    def uuid4() -> uuid.UUID:
        strand = message_strand()
        if strand is None:
            return uuid.uuid4()
        return uuid.UUID(int=stable_hash("urn", strand.fresh("urn")) << 64 | 4 << 76 | 2 << 62, version=4)


@contextmanager
def controlled() -> Iterator[None]:
    """Pykka runs in steps of messages inside the `with` block."""
    actor, threading_actor = pykka._actor.Actor, pykka._threading.ThreadingActor
    future, registry = pykka._threading.ThreadingFuture, pykka._registry.ActorRegistry
    replaced: list[tuple[Any, str, Any]] = [
        (actor, "__init__", _init(actor.__init__)),
        (actor, "_actor_loop", _loop(actor._actor_loop)),
        (actor, "_handle_failure", _handle_failure(actor._handle_failure)),
        (threading_actor, "_create_actor_inbox", _create_inbox(threading_actor._create_actor_inbox)),
        (future, "get", _get(future.get)),
        (future, "set", _set(future.set)),
        (future, "set_exception", _set(future.set_exception)),
        (pykka._actor, "uuid", _Uuid()),
        *(
            (registry, name, _reading(vars(registry)[name]))
            for name in ("get_all", "get_by_class", "get_by_class_name", "get_by_urn")
        ),
        *((registry, name, _changing(vars(registry)[name])) for name in ("register", "unregister")),
    ]
    if hasattr(pykka._threading, "_actor_thread_counter"):
        replaced.append((pykka._threading, "_actor_thread_counter", itertools.count()))
    before = [(place, name, vars(place)[name]) for place, name, _ in replaced]
    quiet = logging.NullHandler()  # otherwise logging prints every exception of every execution
    logging.getLogger("pykka").addHandler(quiet)
    try:
        for place, name, value in replaced:
            setattr(place, name, value)
        yield
    finally:
        for place, name, value in before:
            setattr(place, name, value)
        logging.getLogger("pykka").removeHandler(quiet)
