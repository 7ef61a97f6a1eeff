"""The machine that records a summary: the machine for Python, which also keeps what the summary depends on."""

from __future__ import annotations

import builtins
from typing import Any

from treadle.symbolic.ir.machine import Frame, Raised
from treadle.symbolic.python.machine.python_machine import PythonMachine
from treadle.symbolic.python.summaries.signatures import SummaryOptions
from treadle.symbolic.python.summaries.store import fingerprint
from treadle.symbolic.python.types.fields import field_type
from treadle.symbolic.python.values.values import PyValue
from treadle.symbolic.summary.recording import NotSummarised, RecordingHeap, RecordingPath
from treadle.symbolic.summary.tree import Summary, SummaryLeaf


def _of_builtin(message: PyValue) -> bool:
    """'NoneType' object has no attribute ...: true of every such value."""
    name = message.split("'")[1] if isinstance(message, str) and message.startswith("'") else ""
    return name == "NoneType" or hasattr(builtins, name)


class RecordingVM(PythonMachine):
    def __init__(
        self, path: RecordingPath, heap: RecordingHeap, summaries: SummaryOptions, run_plainly: set[int]
    ) -> None:
        super().__init__(path, heap, summaries.k, allow_effects=summaries.allow_effects)
        self.field_type = field_type
        self.summaries = summaries
        self.stubs = summaries.stubs
        self.run_plainly = run_plainly
        self.codes: set[tuple[str, int, str]] = set()
        # module:name -> what it held
        self.globals_read: dict[str, str] = {}
        self.deepest = 0

    def run(self, frame: Frame, error: PyValue = None) -> PyValue:
        self.codes.add((frame.code.file, frame.code.line, frame.code.name))
        self.deepest = max(self.deepest, len(self.frames) + 1)
        return super().run(frame, error)

    def read_global(self, names: dict[str, PyValue], name: str) -> Any:
        if name in names:
            self.globals_read[f"{names.get('__name__', '')}:{name}"] = fingerprint(names[name])
        return super().read_global(names, name)

    def error(self, cls: type[BaseException], *args: PyValue) -> Raised:
        if cls is AttributeError and not (args and _of_builtin(args[0])):
            # an object of the caller may have more attributes than its class says
            raise NotSummarised("an attribute that is not there")
        return super().error(cls, *args)

    def composed(self, summary: Summary, leaf: SummaryLeaf) -> None:
        self.codes |= summary.codes
        self.globals_read |= summary.globals_read
        self.deepest = max(self.deepest, len(self.frames) + leaf.depth)
