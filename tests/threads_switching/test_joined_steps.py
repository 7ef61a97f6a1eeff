"""Under a GIL, what lies between two looks at the eval breaker is one step."""

from __future__ import annotations

from tests.threads_primitives.running import execute
from treadle.core.operation import READ, WRITE, Operation, parts
from treadle.core.transition import Constants
from treadle.threads.execution import Execution
from treadle.threads.joined_steps import note_writes
from treadle.threads.strands import Strand, current
from treadle.threads.switching import ALL

READS: Operation = (READ, "box", "value")
WRITES: Operation = (WRITE, "box", "value")


def strand() -> Strand:
    running = current()
    assert running is not None
    return running


def read_and_write(look: bool) -> Execution:
    def main() -> None:
        me = strand()
        me.access(*READS)
        me.checks = ALL if look else 0
        me.access(*WRITES)

    return execute(main, gil=ALL)


def test_operations_without_a_look_between_them_are_one_step() -> None:
    assert next(parts(op) for _, op in read_and_write(look=False).trace) == (READS, WRITES)
    assert [parts(op) for _, op in read_and_write(look=True).trace][:2] == [(READS,), (WRITES,)]


def test_a_constant_that_is_written_beside_others_begins_the_search_again() -> None:
    constants = Constants()
    assert constants.only([READS])

    def main() -> None:
        strand().execution.spawn(None, lambda: strand().access(*READS))
        note_writes(strand().execution, WRITES)

    assert execute(main, gil=ALL, constants=constants).revealed
