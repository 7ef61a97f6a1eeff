"""Thespian under control: an actor system inside the execution, in steps of one message each.

Decides what `ActorSystem(...)` is while a message-level campaign runs: whatever system base the program asks for, it
gets this one. Every actor is a strand with a mailbox, the program outside is the sender and receiver `External`, and
wakeups come in virtual time. What Thespian documents is kept: messages between a pair of actors stay in order, an
exception makes a message be tried once more and then returned to its sender as a PoisonMessage, ActorExitRequest is
received and then ends the actor and its children, the parent hears ChildActorExited, messages to the dead are
discarded or go to the handler of dead letters.
"""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from thespian import actors
from thespian.system.timing import timePeriodSeconds
from thespian.system.utilis import actualActorClass, withPossibleInitArgs

from treadle.core.operation import GET
from treadle.messages.execution import Mailbox, MessageExecution, MessageStrand, message_strand
from treadle.messages.journal import Handling, Message, label_of
from treadle.messages.receive import stable_hash
from treadle.threads.primitives.inside import at_end

# How often a message that raises is tried before it is poison, as in Thespian's multi-process bases.
_ATTEMPTS = 2


def _me() -> MessageStrand:
    strand = message_strand()
    assert strand is not None, "an actor system of an execution that is over"
    return strand


class ThespianActor:
    """An actor of the system: what Thespian's actors call `_myRef`."""

    def __init__(self, base: SystemBase, address: Any, parent: ThespianActor | None) -> None:
        self.base = base
        self.address = address
        self.parent = parent
        self.instance: Any = None
        self.children: list[ThespianActor] = []
        self.created = 0
        self.globalName: str | None = None
        self.mailbox = Mailbox()

    # what an actor asks of its system
    def createActor(self, actor_class: Any, requirements: Any, global_name: Any, source_hash: Any = None) -> Any:
        return self.base.new_actor(actor_class, requirements, global_name, self)

    def actor_send(self, to: Any, message: Any) -> None:
        self.base.send(self, to, message)

    def wakeupAfter(self, period: Any, payload: Any) -> None:
        self.base.wake(self, period, payload)

    def handleDeadLetters(self, address: Any, enable: bool) -> None:
        self.base._handleDeadLetters(address, enable)

    def updateCapability(self, name: str, value: Any) -> None:
        self.base.updateCapability(name, value)

    def actorSystemShutdown(self) -> None:
        self.base.shutdown()

    def _ignored(self, *arguments: Any) -> None:
        """Conventions of several systems, and loading sources, have no meaning inside one execution."""

    notifyOnSystemRegistrationChanges = registerSourceAuthority = notifyOnSourceAvailability = _ignored
    preRegisterRemoteSystem = deRegisterRemoteSystem = _ignored


class SystemBase:
    """The system base of one execution."""

    def __init__(self, run: MessageExecution, system: Any) -> None:
        self.run = run
        self.capabilities: dict[str, Any] = dict(system.capabilities)
        self.capabilities.setdefault("Thespian ActorSystem Name", "treadle")
        self.refs: dict[str, ThespianActor] = {}
        self.globals: dict[str, ThespianActor] = {}
        self.dead_letters: ThespianActor | None = None
        self.primaries = 0
        self.clones = 0
        self.external = self._outside("External")

    def _outside(self, name: str) -> ThespianActor:
        """Who messages from outside the actor system come from, and replies go to."""
        ref = ThespianActor(self, actors.ActorAddress(f"System:{name}"), None)
        ref.mailbox.actor = self.run.journal.create(name, _me().handling, apart=True)
        ref.mailbox.actor.outside = True
        ref.mailbox.treadle_name = ref.mailbox.actor.label
        ref.instance = ref
        self.refs[ref.address.actorAddressString] = ref
        return ref

    # ------------------------------------------------------------------ what ActorSystem calls

    def newPrimaryActor(self, actor_class: Any, requirements: Any, global_name: Any, source_hash: Any) -> Any:
        return self.new_actor(actor_class, requirements, global_name, None)

    def tell(self, to: Any, message: Any) -> None:
        self._from_outside(self.external, to, message)

    def ask(self, to: Any, message: Any, timeout: Any) -> Any:
        self._from_outside(self.external, to, message)
        return self.listen(timeout)

    def listen(self, timeout: Any) -> Any:
        return self._hear(self.external, timeout)

    def shutdown(self) -> None:
        """All actors end at once; what they have not received is lost."""
        for ref in self.refs.values():
            reader = ref.mailbox.reader
            if isinstance(reader, MessageStrand) and reader is not _me():
                reader.retired = True
            self._drop_mail(ref, quietly=True)
            ref.instance = None

    def external_clone(self) -> Private:
        self.clones += 1
        return Private(self, self._outside(f"External.{self.clones}"))

    def updateCapability(self, name: str, value: Any) -> None:
        if value is None:
            self.capabilities.pop(name, None)
        else:
            self.capabilities[name] = value

    def _handleDeadLetters(self, address: Any, enable: bool) -> None:
        ref = self.refs.get(address.actorAddressString)
        if enable:
            self.dead_letters = ref
        elif self.dead_letters is ref:
            self.dead_letters = None

    # ------------------------------------------------------------------ actors

    def new_actor(self, actor_class: Any, requirements: Any, global_name: Any, parent: ThespianActor | None) -> Any:
        if global_name and global_name in self.globals:
            return self.globals[global_name].address
        strand = _me()
        if parent is None:
            address = actors.ActorAddress(f"/A~{self.primaries}")
            self.primaries += 1
        else:
            address = actors.ActorAddress(f"{parent.address.actorAddressString}~{parent.created}")
            parent.created += 1
        ref = ThespianActor(self, address, parent)
        instance = self._instance(actor_class, requirements, top=parent is None)
        self.refs[address.actorAddressString] = ref
        if parent is not None:
            parent.children.append(ref)
        if instance is None:
            ref.mailbox.actor = self.run.journal.create(str(actor_class), strand.handling, apart=True)
            if parent is not None:
                self.send(ref, parent.address, actors.ChildActorExited(address))
            return address
        ref.instance = instance
        instance._myRef = ref
        ref.globalName = global_name
        if global_name:
            self.globals[global_name] = ref
        ref.mailbox.actor = self.run.journal.create(type(instance).__name__, strand.handling, instance, apart=True)
        ref.mailbox.treadle_name = ref.mailbox.actor.label
        ref.mailbox.closed = lambda: ref.instance is None
        self.run.spawn(None, lambda: self._live(ref), ref.mailbox.actor.label, True)
        return address

    def _instance(self, actor_class: Any, requirements: Any, top: bool) -> Any:
        try:
            actor_class = actualActorClass(actor_class)
            check = getattr(actor_class, "actorSystemCapabilityCheck", None)
            if check is not None and not check(self.capabilities, requirements or {}):
                if top:
                    raise actors.NoCompatibleSystemForActor(actor_class, "no compatible ActorSystem could be found")
                return None
            given = withPossibleInitArgs(capabilities=self.capabilities, requirements=requirements)
            return given.create(actor_class)
        except Exception:
            if top:
                raise
            return None

    def _live(self, ref: ThespianActor) -> None:
        """The life of an actor: one message after the other."""
        strand = _me()
        actor = ref.mailbox.actor
        assert actor is not None
        actor.daemon = True
        before = strand.handling
        strand.handling = Handling(actor, stable_hash("start", actor.hash), credit=before.credit)
        ref.mailbox.reader = strand
        while ref.instance is not None:
            sender, message = ref.mailbox.get()
            if self._receive(strand, ref, sender, message) and isinstance(message, actors.ActorExitRequest):
                self._end(ref, message)
        self.run.end_handling(strand)

    def _receive(self, strand: MessageStrand, ref: ThespianActor, sender: ThespianActor, message: Any) -> bool:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                ref.instance.receiveMessage(message, sender.address)
                return True
            except Exception as error:
                if attempt < _ATTEMPTS:
                    continue
                if isinstance(message, actors.ActorExitRequest):
                    return True  # it ends all the same
                assert ref.mailbox.actor is not None
                handles = hasattr(type(sender.instance), "receiveMsg_PoisonMessage")
                failure = self.run.fail(strand, ref.mailbox.actor, error, handles)
                if not isinstance(message, actors.PoisonMessage):
                    poison = actors.PoisonMessage(message, traceback.format_exc())
                    failure.told = self.send(ref, sender.address, poison)
        return False

    def _end(self, ref: ThespianActor, request: Any) -> None:
        """An actor that was asked to exit is gone, and its children with it."""
        ref.instance = None
        if ref.globalName and self.globals.get(ref.globalName) is ref:
            del self.globals[ref.globalName]
        if self.dead_letters is ref:
            self.dead_letters = None
        if getattr(request, "isRecursive", True):
            for child in list(ref.children):
                if child.instance is not None:
                    self.send(ref, child.address, actors.ActorExitRequest())
        if ref.parent is not None:
            self.send(ref, ref.parent.address, actors.ChildActorExited(ref.address))
            if ref in ref.parent.children:
                ref.parent.children.remove(ref)
        self._drop_mail(ref)

    # ------------------------------------------------------------------ messages

    def send(self, sender: ThespianActor, to: Any, message: Any) -> Message | None:
        """A message from the actor that is running, in the name of `sender`."""
        strand = _me()
        target = self.refs.get(to.actorAddressString)
        if target is None or target.instance is None:
            target = self._dead(to, message)
            if target is None:
                return None
            message = actors.DeadEnvelope(to, message)
        label, stops = describe(message)
        return self.run.send(strand, target.mailbox, (sender, message), label=label, stops=stops)

    def _dead(self, to: Any, message: Any) -> ThespianActor | None:
        """Where a message to an actor that is gone goes."""
        target = self.dead_letters
        if target is None or target.instance is None or isinstance(message, actors.ActorSystemMessage):
            return None
        return target

    def _drop_mail(self, ref: ThespianActor, quietly: bool = False) -> None:
        while not ref.mailbox.empty():
            dropped = self.run.drop(ref.mailbox)
            if quietly:
                dropped.dropped = False
                continue
            sender, message = dropped.body
            if self.dead_letters is not None:
                dropped.dropped = self.send(sender, ref.address, message) is None

    def wake(self, ref: ThespianActor, period: Any, payload: Any) -> None:
        """Send a WakeupMessage when the time has come."""
        seconds = max(0.0, float(timePeriodSeconds(period)))
        message = actors.WakeupMessage(period, payload)

        def sleep_and_send() -> None:
            strand = _me()
            actor = ref.mailbox.actor
            assert actor is not None
            strand.handling.actor = actor
            time.sleep(seconds)
            if ref.instance is not None:
                self.send(ref, ref.address, message)

        self.run.spawn(None, sleep_and_send, "wakeup", True)

    def _from_outside(self, external: ThespianActor, to: Any, message: Any) -> None:
        strand = _me()
        strand.handling.actor = external.mailbox.actor or strand.handling.actor
        self.send(external, to, message)

    def _hear(self, external: ThespianActor, timeout: Any) -> Any:
        """Wait for a message to the outside."""
        strand = _me()
        external.mailbox.reader = strand
        seconds = None if timeout is None else max(0.0, float(timePeriodSeconds(timeout)))
        self.run.end_handling(strand)
        if not strand.point(GET, external.mailbox, seconds):
            return None
        message = external.mailbox.delivered.popleft()
        earlier = strand.handling
        self.run.begin_handling(strand, message)
        for hash_ in earlier.awaits:  # what the program outside waited for before still holds
            strand.handling.awaits[hash_] = strand.handling.frontier[hash_] = None
        return message.body[1]


class Private:
    """The system as another thread outside sees it: `with ActorSystem().private() as system`."""

    def __init__(self, base: SystemBase, external: ThespianActor) -> None:
        self.base = base
        self.external = external

    def tell(self, to: Any, message: Any) -> None:
        self.base._from_outside(self.external, to, message)

    def ask(self, to: Any, message: Any, timeout: Any) -> Any:
        self.tell(to, message)
        return self.listen(timeout)

    def listen(self, timeout: Any) -> Any:
        return self.base._hear(self.external, timeout)

    def newPrimaryActor(self, *arguments: Any) -> Any:
        return self.base.newPrimaryActor(*arguments)

    def exit_context(self) -> None:
        self.base._drop_mail(self.external, quietly=True)
        self.external.instance = None


def describe(message: Any) -> tuple[str, bool]:
    """What a person calls a message, and whether it ends the actor."""
    if isinstance(message, actors.PoisonMessage):
        return f"poison {label_of(message.poisonMessage)}", False
    return label_of(message), isinstance(message, actors.ActorExitRequest)


# ---------------------------------------------------------------------- in place for a campaign


def _startup(original: Callable[..., Any]) -> Callable[..., Any]:
    def _startupActorSys(self: Any, current: Any, wanted: Any, capabilities: Any, log_defs: Any) -> Any:
        strand = message_strand()
        if strand is None:
            return original(self, current, wanted, capabilities, log_defs)
        self.systemAddress = actors.ActorAddress("/ActorSys")
        self.capabilities = capabilities or {}
        if isinstance(current, SystemBase) and current.run is strand.execution:
            self._systemBase = current
        else:
            self._systemBase = SystemBase(strand.execution, self)
            at_end(lambda: _forget(type(self)))
        return self._systemBase

    return _startupActorSys


def _forget(system: Any) -> None:
    """The singleton of an execution does not outlive it."""
    if isinstance(vars(system).get("systemBase"), SystemBase):
        del system.systemBase


@contextmanager
def controlled() -> Iterator[None]:
    """Thespian runs in steps of messages inside the `with` block."""
    before = actors.ActorSystem._startupActorSys
    singleton = vars(actors.ActorSystem).get("systemBase")
    if singleton is not None:
        del actors.ActorSystem.systemBase
    quiet = logging.NullHandler()
    logging.getLogger("Thespian").addHandler(quiet)
    actors.ActorSystem._startupActorSys = _startup(before)
    try:
        yield
    finally:
        actors.ActorSystem._startupActorSys = before
        if singleton is not None:
            actors.ActorSystem.systemBase = singleton
        logging.getLogger("Thespian").removeHandler(quiet)
