"""A pytest plugin that writes down which path each call of a function takes.

Loaded in a fresh process by `doors.unit.missing`, for somebody's own tests and for generated ones; it imports nothing
of Treadle. TREADLE_RECORD names a JSON file: the functions to watch, the files whose lines make up a path, and where
the result goes. A path is what happens in those files during the call: lines, the way each condition goes, where
something is raised, what is called. Only a digest of it is kept, so two runs of one interpreter can be compared.

Beside the path, the shape of the arguments is kept (which of them are the same object), because lines cannot tell
two aliasings apart, and for coverage the arcs between lines.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import json
import os
import sys
import threading
from types import CodeType, FrameType
from typing import Any

import pytest

# Objects looked at when the shape of the arguments is taken; a large structure is cut off there.
_MOST_OBJECTS = 200
# Nested calls of the watched functions that are recorded at once.
_MOST_NESTED = 8

_CALL, _LINE, _OP, _RAISE, _RETURN, _BRANCH = range(6)


class RecordedCall:
    """One call that is going on."""

    __slots__ = ("digest", "shape", "target", "ways")

    def __init__(self, target: str, shape: str) -> None:
        self.target = target
        self.shape = shape
        # conditions of the function itself, and where each went on: instructions
        self.ways: set[tuple[int, int]] = set()
        self.digest = hashlib.blake2b(digest_size=12)

    def add(self, *event: Any) -> None:
        self.digest.update(repr(event).encode())


class Recorder:
    def __init__(self, wanted: dict[str, Any]) -> None:
        # (file, first line) -> target
        self.targets = {(file, line): target for target, file, line in wanted["targets"]}
        self.files = set(wanted["files"])
        self.out: str = wanted["out"]
        # a path is what happens in the function itself, whatever its callees do
        self.local: bool = wanted.get("local", False)
        # target -> test -> ways that its conditions went
        self.ways: dict[str, dict[str, set[tuple[int, int]]]] = {}
        self.calls: dict[str, dict[tuple[str, str, str], None]] = {}
        self.arcs: dict[str, set[tuple[int, int]]] = {}
        self.test = ""
        self._local = threading.local()
        self._waiting: dict[FrameType, RecordedCall] = {}  # generators between two values

    # --- what both ways of watching share ------------------------------------------------------------------

    @property
    def active(self) -> list[RecordedCall]:
        found: list[RecordedCall] | None = getattr(self._local, "active", None)
        if found is None:
            found = self._local.active = []
        return found

    def begin(self, frame: FrameType) -> bool:
        code = frame.f_code
        target = self.targets.get((code.co_filename, code.co_firstlineno))
        if target is None or len(self.active) >= _MOST_NESTED:
            return False
        record = self._waiting.pop(frame, None) or RecordedCall(target, shape_of(frame))
        self.active.append(record)
        return True

    def event(self, code: CodeType, *event: Any) -> None:
        whose = self.targets.get((code.co_filename, code.co_firstlineno)) if self.local else None
        for record in self.active:
            if not self.local or record.target == whose:
                record.add(*event)

    def way(self, code: CodeType, condition: int, to: int) -> None:
        """A condition went on at this instruction."""
        whose = self.targets.get((code.co_filename, code.co_firstlineno))
        for record in self.active:
            if record.target == whose:
                record.ways.add((condition, to))

    def end(self, frame: FrameType, suspended: bool) -> None:
        if not self.active:
            return
        record = self.active.pop()
        if suspended:
            self._waiting[frame] = record
        else:
            self.keep(record)

    def keep(self, record: RecordedCall) -> None:
        found = self.calls.setdefault(record.target, {})
        found[self.test, record.digest.hexdigest(), record.shape] = None
        self.ways.setdefault(record.target, {}).setdefault(self.test, set()).update(record.ways)

    def arc(self, code: CodeType, before: int, after: int) -> None:
        self.arcs.setdefault(code.co_filename, set()).add((before, after))

    def write(self) -> None:
        for record in self._waiting.values():
            self.keep(record)
        self._waiting.clear()
        data = {
            "calls": {target: [list(call) for call in calls] for target, calls in self.calls.items()},
            "arcs": {file: sorted(arcs) for file, arcs in self.arcs.items()},
            "ways": {target: {test: sorted(w) for test, w in tests.items()} for target, tests in self.ways.items()},
        }
        write(self.out, data)


def write(path: str, data: Any) -> None:
    """Without a place for it, such as on a full disk, the process ends: `doors.unit.missing` knows the code."""
    try:
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(data, stream)
    except OSError as error:
        os.write(2, f"\n{error.strerror}\n".encode())
        os._exit(74)  # EXIT_CANNOT_WRITE


def shape_of(frame: FrameType) -> str:
    """Which arguments, and things they hold, are one object: paths of names, grouped."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    todo = [(name, frame.f_locals.get(name)) for name in code.co_varnames[:count]]
    names: dict[int, list[str]] = {}
    kept: list[Any] = []
    while todo and len(kept) < _MOST_OBJECTS:
        name, value = todo.pop(0)
        if value is None or isinstance(value, int | float | str | bytes | complex | type):
            continue
        seen = id(value) in names
        names.setdefault(id(value), []).append(name)
        kept.append(value)
        if seen:
            continue
        if isinstance(value, list | tuple):
            todo += [(f"{name}[{i}]", item) for i, item in enumerate(value)]
        elif isinstance(value, dict):
            todo += [(f"{name}[{i}]", item) for i, item in enumerate(value.values())]
        else:
            todo += [(f"{name}.{field}", item) for field, item in sorted(getattr(value, "__dict__", {}).items())]
    return ";".join("=".join(group) for group in names.values() if len(group) > 1)


# --- CPython 3.11: a trace function ------------------------------------------------------------------------


class Tracing:
    """sys.settrace, with every instruction: conditions within a line are told apart by it."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def start(self) -> None:
        threading.settrace(self._global)
        sys.settrace(self._global)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def _global(self, frame: FrameType, event: str, arg: Any) -> Any:
        recorder = self.recorder
        code = frame.f_code
        if code.co_filename not in recorder.files:
            return None
        own = recorder.begin(frame)
        if not recorder.active:
            return None
        recorder.event(code, _CALL, code.co_name, code.co_firstlineno)
        frame.f_trace_opcodes = True
        return _Local(recorder, own, code).event


class _Local:
    """One frame of a recorded call."""

    __slots__ = ("before", "conditions", "last", "own", "recorder")

    def __init__(self, recorder: Recorder, own: bool, code: CodeType) -> None:
        self.recorder = recorder
        self.own = own
        self.before = -code.co_firstlineno
        self.conditions = _conditions(code) if own else frozenset()
        self.last = -1

    def event(self, frame: FrameType, event: str, arg: Any) -> Any:
        recorder = self.recorder
        if event == "opcode":
            recorder.event(frame.f_code, _OP, frame.f_lasti)
            if self.last in self.conditions:
                recorder.way(frame.f_code, self.last, frame.f_lasti)
            self.last = frame.f_lasti
        elif event == "line":
            recorder.arc(frame.f_code, self.before, frame.f_lineno)
            self.before = frame.f_lineno
        elif event == "exception":
            recorder.event(frame.f_code, _RAISE, arg[0].__name__)
        elif event == "return":
            code = frame.f_code
            recorder.arc(code, self.before, -code.co_firstlineno)
            recorder.event(code, _RETURN)
            if self.own:
                recorder.end(frame, _yields(frame))
        return self.event


@functools.cache
def _conditions(code: CodeType) -> frozenset[int]:
    """The instructions that go on in one of two places, depending on a value."""
    return frozenset(i.offset for i in dis.get_instructions(code) if "_IF_" in i.opname or i.opname == "FOR_ITER")


def _yields(frame: FrameType) -> bool:
    return frame.f_lasti >= 0 and dis.opname[frame.f_code.co_code[frame.f_lasti]] == "YIELD_VALUE"


# --- CPython 3.12 and later: sys.monitoring ----------------------------------------------------------------


class Monitoring:
    """Only the code of the files costs anything: other code switches its events off when it is first met."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.m: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self.tool: int = next(n for n in (4, 3, 5, 2, 1) if self.m.get_tool(n) is None)
        self._before: dict[FrameType, int] = {}

    def start(self) -> None:
        m, e = self.m, self.m.events
        m.use_tool_id(self.tool, "treadle")
        branches = [getattr(e, n) for n in ("BRANCH_LEFT", "BRANCH_RIGHT") if hasattr(e, n)] or [e.BRANCH]
        inside = {e.LINE: self._line, **dict.fromkeys(branches, self._branch)}
        self._inside = 0
        for kind, callback in inside.items():
            m.register_callback(self.tool, kind, callback)
            self._inside |= kind
        everywhere = {
            e.PY_START: self._start,
            e.PY_RESUME: self._start,
            e.PY_THROW: self._throw,
            e.PY_RETURN: self._return,
            e.PY_YIELD: self._yield,
            e.PY_UNWIND: self._unwind,
            e.RAISE: self._raise,
        }
        mask = 0
        for kind, callback in everywhere.items():
            m.register_callback(self.tool, kind, callback)
            mask |= kind
        m.set_events(self.tool, mask)

    def stop(self) -> None:
        self.m.set_events(self.tool, 0)
        self.m.free_tool_id(self.tool)

    def _mine(self, code: CodeType) -> bool:
        return code.co_filename in self.recorder.files

    def _start(self, code: CodeType, offset: int) -> Any:
        if not self._mine(code):
            return self.m.DISABLE
        self.m.set_local_events(self.tool, code, self._inside)
        self._entered(code)
        return None

    def _entered(self, code: CodeType) -> None:
        frame = sys._getframe(2)
        self.recorder.begin(frame)
        if self.recorder.active:
            self.recorder.event(code, _CALL, code.co_name, code.co_firstlineno)
            self._before[frame] = -code.co_firstlineno

    def _throw(self, code: CodeType, offset: int, error: BaseException) -> None:
        if self._mine(code):
            self._entered(code)

    def _line(self, code: CodeType, line: int) -> None:
        if self.recorder.active:
            frame = sys._getframe(1)
            self.recorder.event(code, _LINE, line)
            self.recorder.arc(code, self._before.get(frame, line), line)
            self._before[frame] = line

    def _branch(self, code: CodeType, offset: int, to: int) -> None:
        if self.recorder.active:
            self.recorder.event(code, _BRANCH, offset, to)
            self.recorder.way(code, offset, to)

    def _raise(self, code: CodeType, offset: int, error: BaseException) -> None:
        if self.recorder.active and self._mine(code):
            self.recorder.event(code, _RAISE, offset, type(error).__name__)

    def _left(self, code: CodeType, suspended: bool) -> None:
        recorder = self.recorder
        if not recorder.active:
            return
        frame = sys._getframe(2)
        before = self._before.pop(frame, None)
        if before is not None:
            recorder.arc(code, before, -code.co_firstlineno)
        recorder.event(code, _RETURN)
        if (code.co_filename, code.co_firstlineno) in recorder.targets:
            recorder.end(frame, suspended)

    def _return(self, code: CodeType, offset: int, value: Any) -> Any:
        if not self._mine(code):
            return self.m.DISABLE
        self._left(code, False)
        return None

    def _yield(self, code: CodeType, offset: int, value: Any) -> Any:
        if not self._mine(code):
            return self.m.DISABLE
        self._left(code, True)
        return None

    def _unwind(self, code: CodeType, offset: int, error: BaseException) -> None:
        if self._mine(code):
            self._left(code, False)


# --- the plugin --------------------------------------------------------------------------------------------

_state: dict[str, Any] = {}


def pytest_configure(config: pytest.Config) -> None:
    with open(os.environ["TREADLE_RECORD"], encoding="utf-8") as stream:
        recorder = Recorder(json.load(stream))
    watcher = Monitoring(recorder) if hasattr(sys, "monitoring") else Tracing(recorder)
    _state.update(recorder=recorder, watcher=watcher, failed=[], ran=0)
    watcher.start()


def pytest_runtest_logstart(nodeid: str) -> None:
    _state["recorder"].test = nodeid.partition("::")[2]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Somebody's test, or another plugin, may have taken the trace function away."""
    watcher = _state["watcher"]
    if isinstance(watcher, Tracing) and sys.gettrace() is None:
        watcher.start()
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.failed:
        _state["ran"] += report.when == "call"
    if report.failed and report.nodeid not in _state["failed"]:
        _state["failed"].append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    _state["watcher"].stop()
    recorder: Recorder = _state["recorder"]
    recorder.write()
    write(f"{recorder.out}.tests", {"ran": _state["ran"], "failed": _state["failed"]})
