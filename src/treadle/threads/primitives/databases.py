"""sqlite3: a connection that finds its database locked waits as a strand, and not in C where nobody else can run.

Inside an execution connections are made without sqlite's own busy wait. A statement that comes upon a lock is tried
again when another strand has done something to a database, until its timeout is over in virtual time; then it fails
as it would have. All databases are one location with everything else that is outside.

sqlite asks for the thread of the operating system, which the strands share: whether a connection is used by the strand
that made it is asked here. And its connections have a lock each, which a thread holds while sqlite calls a function of
the program: the others wait for their turn. In CPython they may wait for it with the interpreter lock in their hands,
which is a deadlock: a pass in which one waited says so.

What is committed is not forced onto the disk: a test with some hundred commits would wait seconds for that in every
execution. Who asks for that setting finds it as it was.
"""

from __future__ import annotations

import functools
import importlib
import re
import sys
from collections.abc import Callable
from typing import Any

from treadle.core.operation import ACQUIRE, GET, READ, WRITE
from treadle.threads.hooks.points import touch
from treadle.threads.primitives.buffers import TurnInside
from treadle.threads.primitives.inside import here
from treadle.threads.primitives.outside import act, guard_of, look
from treadle.threads.strands import Strand

_PARAMETERS = ("database", "timeout", "detect_types", "isolation_level", "check_same_thread", "factory")
_USUAL_TIMEOUT = 5.0
_BUSY_TIMEOUT = re.compile(r"\s*pragma\s+busy_timeout\s*[=(]\s*(\d+)", re.IGNORECASE)
_SYNCHRONOUS = re.compile("synchronous", re.IGNORECASE)
_STATEMENTS = ("execute", "executemany", "executescript")
_FETCHES = ("fetchone", "fetchmany", "fetchall", "__next__")
# What statements leave in the cursor and in the connection that did them.
_LEFT_IN_CURSORS = ("lastrowid", "rowcount", "description")
_LEFT_IN_CONNECTIONS = ("total_changes", "in_transaction")
# What is given a function that sqlite calls, and at which place.
_CALL_BACK = {"create_function": 2, "create_collation": 1, "set_trace_callback": 0, "set_authorizer": 0}
_CALL_BACK["set_progress_handler"] = 0
_BUSY = (5, 6)  # SQLITE_BUSY, SQLITE_LOCKED


class _Done:
    """How often strands did something to a database."""

    times = 0


def _done_since(before: int) -> bool:
    return _Done.times != before


# In `treadle_hurries` of a connection is what undoes it; or this, when it stays as it is.
_AS_IT_IS = "as it is"


def _patiently(owner: Any, call: Callable[[], Any], statement: str = "") -> Any:
    """Call what may find the database locked, as long as the timeout of its connection says."""
    _check_thread(owner)
    strand = here()
    if strand is None:
        return call()
    clock = strand.execution.clock
    end = clock.now + owner.treadle_timeout
    while True:
        act(strand)
        _await_turn(owner, strand)
        if statement:
            _hurry(owner, statement)
        try:
            found = call()
        except sys.modules["sqlite3"].OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _BUSY or clock.now >= end:
                raise
            guard = guard_of(functools.partial(_done_since, _Done.times), "a lock of sqlite", (-1,))
            if not strand.point(GET, guard, end - clock.now):
                raise
        else:
            _Done.times += 1
            return found


def _await_turn(owner: Any, strand: Strand) -> None:
    while owner.treadle_turn.inside not in (None, strand):
        strand.execution.assumed.add("a function that sqlite calls, while another thread waits for its connection")
        strand.point(ACQUIRE, owner.treadle_turn)


def _calling_back(name: str, place: int, real: Any) -> Any:
    """`connection.create_function(name, number, function)`: who runs the function has the lock of the connection."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.treadle_hurries = self.treadle_hurries or _AS_IT_IS  # they may be told of our statements
        if len(args) > place and args[place] is not None:
            args = (*args[:place], functools.partial(_in_turn, self.treadle_turn, args[place]), *args[place + 1 :])
        return real(self, *args, **kwargs)

    method.__name__ = name
    return method


def _in_turn(turn: TurnInside, callback: Callable[..., Any], *args: Any) -> Any:
    before, turn.inside = turn.inside, here()
    try:
        return callback(*args)
    finally:
        turn.inside = before


def _check_thread(owner: Any) -> None:
    strand = here()
    if strand is not None and owner.treadle_thread not in (None, strand.ident):
        raise sys.modules["sqlite3"].ProgrammingError(
            "SQLite objects created in a thread can only be used in that same thread. The object was created in thread "
            f"id {owner.treadle_thread} and this is thread id {strand.ident}."
        )


def _fetching(real: Any) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        _check_thread(self.connection)
        strand = here()
        if strand is not None:
            touch(strand, WRITE, self, None)  # it moves on
            _await_turn(self.connection, strand)
        return real(self, *args, **kwargs)

    return method


def _cursor_method(name: str, real: Any) -> Any:
    def method(self: Any, statement: str, *args: Any) -> Any:
        asked = _BUSY_TIMEOUT.match(statement) if name == "execute" else None
        if asked is not None and here() is not None:
            self.connection.treadle_timeout = int(asked[1]) / 1000
            statement = "PRAGMA busy_timeout"
        if name == "executemany":
            args = tuple(list(rows) if hasattr(rows, "__next__") else rows for rows in args)
        return _patiently(self.connection, lambda: real(self, statement, *args), statement)

    return method


def _hurry(connection: Any, statement: str) -> None:
    """Do not wait for the disk, unless the program has a say in that."""
    library = sys.modules["sqlite3"]
    if _SYNCHRONOUS.search(statement):
        if connection.treadle_hurries not in ("", _AS_IT_IS):
            library.Cursor(connection).execute(connection.treadle_hurries)
        connection.treadle_hurries = _AS_IT_IS
    elif not connection.treadle_hurries and not library.Connection.in_transaction.__get__(connection):
        cursor = library.Cursor(connection)  # a plain one, which no strand waits for
        try:
            before = cursor.execute("PRAGMA synchronous").fetchone()[0]
            cursor.execute("PRAGMA synchronous=OFF")
        except library.Error:
            return  # it is locked, or no database: the program will be told by its own statement
        connection.treadle_hurries = f"PRAGMA synchronous={before}"


def _connection_method(real: Any) -> Any:
    def method(self: Any) -> Any:
        return _patiently(self, lambda: real(self))

    return method


def _looked_at(real: Any) -> Any:
    """An attribute that every statement may change."""

    def get(self: Any) -> Any:
        strand = here()
        if strand is not None:
            look(strand)
        return real.__get__(self)

    return property(get)


def _by_cursor(name: str) -> Any:
    """In C it would make a cursor without asking `cursor`."""

    def method(self: Any, statement: str, *args: Any) -> Any:
        return getattr(self.cursor(), name)(statement, *args)

    return method


def _exit(self: Any, kind: Any, error: Any, trace: Any) -> bool:
    """In C it would commit without asking `commit`."""
    if kind is not None:
        self.rollback()
        return False
    try:
        self.commit()
    except BaseException:
        self.rollback()
        raise
    return False


@functools.cache
def _patient_cursor(kind: Any) -> Any:
    members = {name: _cursor_method(name, getattr(kind, name)) for name in _STATEMENTS}
    members |= {name: _fetching(getattr(kind, name)) for name in _FETCHES}
    members |= {name: _looked_at(getattr(kind, name)) for name in _LEFT_IN_CURSORS}
    members["__module__"] = kind.__module__
    return type(kind.__name__, (kind,), members)


@functools.cache
def _patient_connection(kind: Any) -> Any:
    cursors = sys.modules["sqlite3"].Cursor

    def cursor(self: Any, factory: Any = cursors) -> Any:
        _check_thread(self)
        strand = here()
        if strand is not None:
            touch(strand, READ, self, "row_factory")  # which the cursor keeps
        return kind.cursor(self, _patient_cursor(factory) if isinstance(factory, type) else factory)

    members: dict[str, Any] = {"cursor": cursor, "treadle_timeout": _USUAL_TIMEOUT, "treadle_thread": None}
    members["treadle_hurries"] = ""
    members["__module__"] = kind.__module__  # its attributes are seen as those of any other library
    members |= {name: _connection_method(getattr(kind, name)) for name in ("commit", "rollback", "close")}
    members |= {name: _calling_back(name, place, getattr(kind, name)) for name, place in _CALL_BACK.items()}
    members |= {name: _by_cursor(name) for name in _STATEMENTS}
    members |= {name: _looked_at(getattr(kind, name)) for name in _LEFT_IN_CONNECTIONS}
    if kind.__exit__ is sys.modules["sqlite3"].Connection.__exit__:
        members["__exit__"] = _exit
    return type(kind.__name__, (kind,), members)


def _connect(real: Any) -> Any:
    def connect(*args: Any, **kwargs: Any) -> Any:
        strand = here()
        if strand is None:
            return real(*args, **kwargs)
        given = dict(zip(_PARAMETERS, args, strict=False)) | kwargs
        rest = args[len(_PARAMETERS) :]
        timeout = given.get("timeout", _USUAL_TIMEOUT)
        kind = given.get("factory", sys.modules["sqlite3"].Connection)
        if rest or not isinstance(kind, type):
            return real(*args, **kwargs)
        ours = {"timeout": 0.0, "factory": _patient_connection(kind), "check_same_thread": False}
        made = real(**given | ours)
        made.treadle_turn = TurnInside()
        made.treadle_timeout = float(timeout)
        made.treadle_thread = strand.ident if given.get("check_same_thread", True) else None
        return made

    return connect


def patches() -> list[tuple[Any, dict[str, Any]]]:
    """As it stands now, imported so that a test which does so itself finds the model in its first execution, too."""
    try:
        importlib.import_module("sqlite3")
    except ImportError:  # an interpreter without it
        return []
    modules = [sys.modules.get(name) for name in ("sqlite3", "sqlite3.dbapi2")]
    return [(module, {"connect": _connect(vars(module)["connect"])}) for module in modules if module is not None]
