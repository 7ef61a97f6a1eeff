"""Executions at message granularity: an actor handles a message in one step, and which message is next is the choice.

Every message on its way is a strand of its own, a *courier*, whose single operation is to hand the message over to an
actor that waits for one. So the searches choose among messages as they choose among threads, and only deliveries to
one mailbox conflict. Decides what is a point at this granularity:

- deliveries and receives, and every wait for something (a reply, an event, a thread, time);
- whether an actor is alive, and who is registered: what one actor can learn of another without a message.

Everything else a strand does is part of its step: memory, locks that are free, signals. What waits is put in order
after what it waited for (`enablers`), which is how the reduction learns of signals that are no points.

Delivery decides which messages may overtake others:

- `promised`: messages of one sender to one receiver keep their order, and nothing else is promised between actors. A
  message does not overtake any that was sent before it, in the causal order, if it stops an actor, or is sent by code
  that is no actor (a test that joins threads and then asks sees what they sent);
- `causal`: no message overtakes one that was sent before it, in the causal order;
- `mailbox`: besides, one order of all puts explains what every mailbox holds, as it is where sending is putting into a
  queue of the same process. Each receive settles some of that order (`puts`): what is received first was put first.
  Where `holding`, a message that would contradict it waits; elsewhere (a search whose reduction takes deliveries to
  different actors to be independent) the execution goes on as `impossible`, and does not count. Actors that are
  processes of their own have no such order, and are delivered to as `promised`.

An execution goes on after the test is over until every message is delivered, so that none is left out by chance.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Protocol

from treadle.core.operation import ACQUIRE, GET, LOOK, PUT, RELEASE, SIGNAL, TRY, WAIT, YIELD
from treadle.core.result import Step
from treadle.messages.journal import Actor, HandlerFailure, Handling, Journal, Message, behaviour
from treadle.messages.receive import ENTRY, stable_hash
from treadle.threads.detail import stack_of
from treadle.threads.execution import Execution
from treadle.threads.primitives.inside import here
from treadle.threads.strands import Strand, SyncObject

_POINTS = frozenset({WAIT, GET})
_BLOCKS_IF_TAKEN = frozenset({ACQUIRE, PUT})
_SIGNALS = frozenset({SIGNAL, PUT, RELEASE, TRY})
# Steps without a message after which a program is taken to go round in circles (somebody sleeps again and again).
_MOST_IDLE = 5_000
# Steps after the end of the test, while actors of daemon threads empty their mailboxes.
_MOST_AFTER = 2_000


class Mailbox(SyncObject):
    """Where an actor takes its messages from, in the place of its queue. Holds one message: the one just delivered."""

    __slots__ = ("actor", "channels", "closed", "delivered", "puts", "reader", "sent", "undelivered")
    label = "Mailbox"

    def __init__(self, actor: Actor | None = None) -> None:
        self.actor = actor
        self.reader: Strand | None = None  # the strand that takes messages out
        self.delivered: deque[Message] = deque()
        self.channels: dict[str, deque[Message]] = {}  # sending strand -> its messages on their way
        self.sent: dict[str, list[Message]] = {}  # sending strand -> all its messages
        self.undelivered = 0  # mask of the numbers of messages on their way
        self.puts = 0  # mask of the messages that were received, and put before those
        self.closed: Callable[[], bool] | None = None  # has the actor stopped?

    def ready(self, kind: int, strand: Strand) -> bool:
        if kind == GET:
            return bool(self.delivered)
        if not self._waits_for_a_message():
            return False
        message: Message = strand.message  # type: ignore[attr-defined]
        channel = self.channels[message.channel]
        if not channel or channel[0] is not message or self.held_back(message, strand.execution):
            return False
        orders = strand.execution.orders  # type: ignore[attr-defined]
        return not orders or not any(order.holds(message) for order in orders)

    def _waits_for_a_message(self) -> bool:
        if self.reader is None or self.reader.guard is not self or self.delivered:
            return False
        return self.closed is None or not self.closed()

    def held_back(self, message: Message, run: Any) -> bool:
        before = message.known | message.puts if run.holding else message.known
        return message.in_turn and bool(before & self.undelivered)

    def guards(self) -> int:
        return (1 << GET if self.delivered else 0) | (1 << PUT if self._waits_for_a_message() else 0)

    def describe(self) -> str:
        waiting = [message.label for channel in self.channels.values() for message in channel]
        return f"holds {', '.join(waiting)}" if waiting else "empty"

    # ------------------------------------------------------------------ what actor libraries call

    def put(self, item: Any, *_: Any, **__: Any) -> None:
        strand = here()
        assert isinstance(strand, MessageStrand), "a mailbox of an execution that is over"
        strand.execution.send(strand, self, item)

    def get(self, *_: Any, **__: Any) -> Any:
        strand = here()
        assert isinstance(strand, MessageStrand), "a mailbox of an execution that is over"
        run = strand.execution
        run.end_handling(strand)
        if self.closed is not None and self.closed():
            return run.drop(self).body
        self.reader = strand
        strand.point(GET, self)
        message = self.delivered.popleft()
        run.begin_handling(strand, message)
        return message.body

    def empty(self) -> bool:
        return not self.undelivered and not self.delivered

    def qsize(self) -> int:
        return self.undelivered.bit_count() + len(self.delivered)

    def arrived(self, run: MessageExecution) -> None:
        """A message was delivered. A thread that waits for one notices by itself."""

    def senders(self) -> list[list[Message]]:
        """All messages so far, by sender."""
        return list(self.sent.values())

    def taken(self, message: Message) -> None:
        self.undelivered &= ~(1 << message.number)
        self.channels[message.channel].remove(message)


class Courier(Strand):
    """A message on its way. Has no code of its own: choosing it delivers the message."""

    def __init__(self, run: MessageExecution, index: int, name: str, message: Message, mailbox: Mailbox) -> None:
        super().__init__(run, index, name, None, None, True)
        self.message = message
        self.mailbox = mailbox
        self.guard = self.touched = mailbox
        self.waits = PUT
        self.pending = (PUT, mailbox.treadle_name, None)
        self.greenlet = SimpleNamespace(gr_frame=None)  # type: ignore[assignment]
        if self.detail:
            stack = stack_of(sys._getframe(2))
            file, line, function = stack[0] if stack else ("", 0, "")
            what = f"{message.label} to {message.to.label}"
            self.step = Step(name, "delivers", what, file, line, function, "", stack)


class MessageStrand(Strand):
    """A thread of the program, in steps of one message each."""

    execution: MessageExecution
    known = 0  # mask of the messages whose sending happened before now
    puts = 0  # the same, with what the receives of other actors say of the order of puts
    handling: Handling
    voice = ""  # who sends, where several do in one strand: the tasks of an event loop
    retired = False  # its actor system was shut down: it may be left running
    before: tuple[object, ...] = ()  # the behaviour of the actor when the handling began

    def point(self, kind: int, obj: SyncObject, timeout: float | None = None, end: str | None = None) -> bool:
        run = self.execution
        if run.ending:
            return super().point(kind, obj, timeout)
        if kind in _POINTS:
            happened = super().point(kind, obj, timeout)
            if happened:
                run.learn(self, obj)
            return happened
        if obj in run.visible and not (kind == LOOK and run.visible[obj] is self):
            return super().point(kind, obj, timeout)
        if kind in _BLOCKS_IF_TAKEN and not obj.ready(kind, self):
            happened = super().point(kind, obj, timeout)
            if happened:
                run.came_after(obj)
            return happened
        if kind in _SIGNALS:
            run.signal(self, obj)
        return True

    def access(self, kind: int, name: Any, key: Any) -> None:
        if kind == YIELD or self.execution.ending:
            super().access(kind, name, key)

    def touch(self, kind: int, name: str, key: str | None) -> None:
        """A point at something that several strands can see and that no primitive models: the registry of actors."""
        if not self.execution.ending:
            self.pending = (kind, name, key)
            self.execution.advance(self)

    def failed(self) -> None:
        """A quiet attempt that got nothing changes nothing, and is not in the trace."""


def message_strand() -> MessageStrand | None:
    """The strand that runs, if it is one of an execution in steps of messages."""
    strand = here()
    return strand if isinstance(strand, MessageStrand) else None


class OrderInForce(Protocol):
    """An order that somebody asked for: holds back messages until others were received."""

    given_up: bool

    def holds(self, message: Message) -> bool: ...

    def sent(self, message: Message) -> None: ...

    def received(self, message: Message) -> None: ...


class Signals:
    """What was signalled on one object so far: by which steps, in which handlings, knowing of which messages."""

    __slots__ = ("handlings", "known", "puts", "steps")

    def __init__(self) -> None:
        self.known = self.puts = 0
        self.steps: list[int] = []
        self.handlings: dict[int, Handling] = {}


class MessageExecution(Execution):
    """One execution in steps of messages. `journal` has all of them."""

    # set by the loom for every execution
    delivery: str = "promised"
    holding: bool = False
    behaviours: tuple[str, ...] = ()

    def set_up(self) -> None:
        self.journal = Journal()
        self.follows: dict[int, list[int]] = {}  # courier -> couriers that must have delivered before it
        self.enablers: dict[int, list[int]] = {}  # step -> steps that made it possible, beyond what operations say
        self.signals: dict[SyncObject, Signals] = {}
        self.visible: dict[SyncObject, Strand | None] = {}  # whether an actor is alive -> the actor's own strand
        self.people: list[Strand] = []  # the strands that are not couriers
        self.couriers: list[Courier] = []  # in the order of sending
        self.last_step: dict[int, int] = {}
        self.last_message = 0  # the step of the last delivery
        self.running_foreground = 1  # one more than there are, so that the end of the test alone does not end it
        self.over_at = -1  # the step at which the last strand ended that is no daemon
        self.sent: dict[str, int] = {}  # receiver and sender -> messages so far
        self.orders: list[OrderInForce] = []  # what `treadle.order` asked for
        self.at_end: list[tuple[MessageStrand, SyncObject | None]] = []  # the strands that were stuck, and on what
        self.knowers: list[Any] = []  # whoever has `puts`, besides messages on their way
        self.stuck_in: Handling | None = None  # what the strand was at that was found not to move
        self.impossible = False  # no order of puts explains what the mailboxes held

    # ------------------------------------------------------------------ strands

    def tells_ends_apart(self, queue: str) -> bool:
        return False  # a step handles a message: what it does to a queue has no event of its own

    def _new(self, index: int, name: str, thread: Any, run: Callable[[], Any], daemon: bool) -> Strand:
        return MessageStrand(self, index, name, thread, run, daemon)

    def _strand(self, name: str, thread: Any, run: Callable[[], Any], daemon: bool) -> Strand:
        strand = super()._strand(name, thread, run, daemon)
        assert isinstance(strand, MessageStrand)
        self.alone = False
        maker = here()
        if isinstance(maker, MessageStrand):
            strand.known, strand.puts = maker.known, maker.puts
            strand.handling = self._own_handling(name, thread, maker.handling)
        else:
            strand.handling = self.journal.entry
        self.people.append(strand)
        self.knowers.append(strand)
        return strand

    def _own_handling(self, name: str, thread: Any, maker: Handling) -> Handling:
        """Until it receives its first message, a new strand acts as a sender of its own, made by another."""
        label = getattr(thread, "name", "") or name
        actor = Actor(stable_thread(name), "thread", str(label), outside=True)
        handling = Handling(actor, stable_thread(name), credit=maker.credit or maker)
        handling.awaits.update(maker.awaits)
        handling.frontier.update(maker.frontier)
        return handling

    def _choose(self) -> Strand | None:
        while True:
            chosen = super()._choose()
            if chosen is not None and self.step - self.last_message > _MOST_IDLE:
                chosen, self.stop_reason = None, "limit"
            if self._is_over() and (chosen is None or self.step - self.over_at > _MOST_AFTER):
                self.stop_reason = "" if self.stop_reason == "stuck" else self.stop_reason
                return None
            if chosen is None:
                if self.stop_reason == "stuck" and self._give_up_orders():
                    continue
                if self.stop_reason in ("stuck", "limit"):
                    self.at_end = [(s, s.guard) for s in self.people if not s.finished and isinstance(s, MessageStrand)]
                return None
            self.last_step[chosen.index] = self.step - 1
            if not isinstance(chosen, Courier):
                return chosen
            self._deliver(chosen)

    def does_not_move(self) -> None:
        strand = here()
        self.stuck_in = strand.handling if isinstance(strand, MessageStrand) else None

    def _is_over(self) -> bool:
        """Has every strand ended that is no daemon?"""
        if self.running_foreground > 1:
            return False
        if self.over_at < 0:
            self.over_at = self.step
        return True

    def _earliest(self) -> Strand | None:
        """Whose time runs out first. Not before orders are given up that hold messages back; and after the end of the
        test, time stands still."""
        if self._is_over():
            return None
        if self.orders and self._give_up_orders():
            chosen = self.picker.pick(self)
            if chosen is not None:
                return chosen  # type: ignore[return-value]  # it chooses among our own strands
        return super()._earliest()

    @property
    def troubled(self) -> bool:
        """Is there anything that the oracles should look at?"""
        journal = self.journal
        return super().troubled or bool(journal.failures) or any(message.dropped for message in journal.messages)

    def _give_up_orders(self) -> bool:
        """Nobody can go on: is that because of an order that was asked for? Then it is given up."""
        waiting = [courier.message for courier in self.couriers if not courier.finished]
        holding = [order for order in self.orders if any(order.holds(message) for message in waiting)]
        for order in holding:
            order.given_up = True
        if holding:
            self.stop_reason = ""
        return bool(holding)

    def _end_all(self) -> None:
        for courier in self.couriers:
            courier.finished = True
        super()._end_all()

    # ------------------------------------------------------------------ messages

    def send(
        self, strand: MessageStrand, mailbox: Mailbox, body: Any, *, label: str = "", stops: bool = False
    ) -> Message:
        """A strand sends a message: from now on a courier carries it."""
        assert mailbox.actor is not None
        message = self.journal.send(body, mailbox.actor, strand.handling, strand.known, label)
        message.stops = stops
        message.channel = strand.voice or strand.treadle_name
        near = self.delivery != "promised" and not (self.delivery == "mailbox" and mailbox.actor.apart)
        message.in_turn = stops or near or message.sender.outside
        if not mailbox.sent:
            self.knowers.append(mailbox)
        channel = mailbox.channels.setdefault(message.channel, deque())
        sent = mailbox.sent.setdefault(message.channel, [])
        first = sent[-1:]
        if message.in_turn:
            # of each sender the last one whose sending happened before: those before that keep their order anyway
            known = (
                next((m for m in reversed(all_) if strand.known >> m.number & 1), None) for all_ in mailbox.senders()
            )
            ahead = [other for other in known if other is not None and other not in first]
            first = [*first, *ahead]
        message.behind = tuple(other.hash for other in first)
        sent.append(message)
        channel.append(message)
        mailbox.undelivered |= 1 << message.number
        message.puts = strand.puts | mailbox.puts
        strand.puts |= message.puts | 1 << message.number
        strand.known |= 1 << message.number
        for order in self.orders:
            order.sent(message)
        self._make_courier(message, mailbox, [self.couriers[other.number] for other in first])
        return message

    def _make_courier(self, message: Message, mailbox: Mailbox, first: list[Courier]) -> None:
        pair = f"{message.to.label}<{message.sender.label}"
        count = self.sent[pair] = self.sent.get(pair, 0) + 1
        name = f"{pair}:{count}"
        index = self.indexes.get(name)
        if index is None:
            index = self.indexes[name] = len(self.indexes)
        courier = Courier(self, index, name, message, mailbox)
        self.live.append(courier)
        self.by_index[index] = courier
        self.spawned[index] = self.step - 1
        self.couriers.append(courier)
        if first:
            self.follows[index] = [other.index for other in first]

    def _deliver(self, courier: Courier) -> None:
        mailbox, message = courier.mailbox, courier.message
        self.live.remove(courier)
        self.last_message = self.step
        courier.finished = True
        mailbox.taken(message)
        mailbox.delivered.append(message)
        if self.delivery == "mailbox" and not message.to.apart:
            self._put_first(message, mailbox)
        reader = mailbox.reader
        if reader is not None and reader.index in self.last_step:
            self.enablers.setdefault(self.step - 1, []).append(self.last_step[reader.index])
        mailbox.arrived(self)
        if self.detail is not None and courier.step is not None:
            self.detail.append(courier.step)

    def _put_first(self, message: Message, mailbox: Mailbox) -> None:
        """What was received was put before all that the mailbox still holds, and before all that it will hold."""
        settled = message.puts | 1 << message.number
        mailbox.puts |= settled
        waiting = mailbox.undelivered
        if message.puts & waiting:
            self.impossible = True
        if waiting:
            couriers = (courier.message for courier in self.live if isinstance(courier, Courier))
            for knower in (*self.knowers, *couriers):
                if knower.puts & waiting or (isinstance(knower, Message) and waiting >> knower.number & 1):
                    knower.puts |= settled

    def drop(self, mailbox: Mailbox) -> Message:
        """An actor that has stopped empties its mailbox: the message that was sent first."""
        if mailbox.delivered:
            message = mailbox.delivered.popleft()
        else:
            channels = [channel[0] for channel in mailbox.channels.values() if channel]
            message = min(channels, key=lambda one: one.number)
            mailbox.taken(message)
        message.dropped = True
        return message

    def begin_handling(self, strand: MessageStrand, message: Message) -> None:
        strand.handling = self.journal.receive(message)
        for order in self.orders:
            order.received(message)
        strand.known |= message.known | 1 << message.number
        strand.puts |= message.puts | 1 << message.number
        strand.before = behaviour(message.to.instance, self.behaviours)

    def end_handling(self, strand: MessageStrand) -> None:
        """The actor asks for its next message: did it change its handlers?"""
        handling = strand.handling
        if handling.message is not None and not handling.cmh:
            handling.cmh = behaviour(handling.actor.instance, self.behaviours) != strand.before

    def fail(self, strand: MessageStrand, actor: Actor, error: BaseException, handled: bool) -> HandlerFailure:
        failure = HandlerFailure(actor, error, strand.handling.message, handled)
        self.journal.failures.append(failure)
        return failure

    # ------------------------------------------------------------------ signals that are no points

    def signal(self, strand: MessageStrand, obj: SyncObject) -> None:
        """A strand changes something that another may wait for."""
        signals = self.signal_step(obj)
        signals.known |= strand.known
        signals.puts |= strand.puts
        signals.handlings[strand.handling.hash] = strand.handling

    def signal_step(self, obj: SyncObject) -> Signals:
        """The step that is being taken makes it possible to go on for whoever waits for this object."""
        signals = self.signals.get(obj)
        if signals is None:
            signals = self.signals[obj] = Signals()
            self.knowers.append(signals)
        signals.steps.append(self.step - 1)
        return signals

    def learn(self, strand: MessageStrand, obj: SyncObject) -> None:
        """A strand goes on because of what others did to this object."""
        self.came_after(obj)
        if isinstance(obj, MessageStrand):
            strand.known |= obj.known
            strand.puts |= obj.puts
            strand.handling.wait_for(obj.handling)
        signals = self.signals.get(obj)
        if signals is not None:
            strand.known |= signals.known
            strand.puts |= signals.puts
            for handling in signals.handlings.values():
                strand.handling.wait_for(handling)

    def came_after(self, obj: SyncObject) -> None:
        signals = self.signals.get(obj)
        if signals is not None:
            self.enablers.setdefault(self.step - 1, []).extend(signals.steps)


def stable_thread(name: str) -> int:
    """The hash of a thread that is no actor: an artificial actor, known by its name (section VI-A)."""
    return ENTRY if name == "main" else stable_hash("thread", name)


def handlers_changed() -> None:
    """Tell Treadle that the actor which is handling a message now handles the next ones differently.

    Needed only where that cannot be seen: an assignment of `on_receive` or of an attribute given with --behaviour can.
    Outside an execution it does nothing.
    """
    strand = here()
    if isinstance(strand, MessageStrand):
        strand.handling.cmh = True
