"""References and futures that travel: no reduction loses what they make possible, and every run can be run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.abs.handing_programs import differing_reductions, handing_program, started
from tests.abs.small_programs import Compiled, final_states
from treadle.abs.explore.cases import CaseWriter
from treadle.abs.explore.replaying import follow_main, known_machine
from treadle.abs.explore.tree import TreeExplorer
from treadle.abs.machine.criteria import SOUND_REDUCTIONS, Bounds, OrderSelection
from treadle.abs.machine.machine import ActorMachine
from treadle.abs.machine.system import main_root
from treadle.core.result import Verdict
from treadle.doors.actor.models import explore_model

HANDED_OVER = """module M;
class X { Int n = 0; Unit b() { assert this.n == 0; } Unit hit() { this.n = 2; } }
class Y { X ref = null; Unit setRef(X r) { this.ref = r; } Unit m2() { if (this.ref != null) { this.ref!hit(); } } }
class Z { Unit m(Y y, X x) { y!setRef(x); } }
{ Y y = new Y(); Z z = new Z(); X x = new X(); z!m(y, x); y!m2(); x!b(); }
"""


@pytest.mark.parametrize("reduce", SOUND_REDUCTIONS)
def test_a_third_actor_hands_over_the_reference(tmp_path: Path, reduce: str) -> None:
    """Only z knows x and calls it by no chain; it tells y, whose call can then come before or after x!b()."""
    model = tmp_path / "m.abs"
    model.write_text(HANDED_OVER)
    result = explore_model(str(model), reduce=reduce)
    assert result.verdict is Verdict.FAILED


def test_the_printed_condition_misses_it_and_is_no_proof(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text(HANDED_OVER)
    assert explore_model(str(model), reduce="paper").verdict is Verdict.PASSED_WITHIN_BOUNDS


def test_a_future_handed_on_inside_a_group() -> None:
    """Whether `look` waits depends on whether `first` has ended: they cannot be exchanged."""
    compiled = Compiled.of("""module M;
    class C { Int a = 0; Int b = 0;
      Int first() { this.b = 1; return 1; }
      Unit look(Fut<Int> f) { this.a = this.a + 1; await f?; this.a = this.a * 10; }
      Unit third() { this.a = this.a + 2; } }
    { C c = new C(); Fut<Int> f = c!first(); c!look(f); c!third(); }""")
    truth = final_states(compiled, "none")
    assert truth
    for reduce in SOUND_REDUCTIONS[1:]:
        assert final_states(compiled, reduce) == truth, reduce


@pytest.mark.parametrize("look", ["WAIT", "W w = new W(f); w!bump();", "this!on(f);"])
def test_when_a_task_of_another_actor_ends_is_noticed(look: str) -> None:
    """Nobody can give x a task, and yet what y and w do depends on whether x has ended `first` when they await it."""
    wait = "this.a = this.a + 1; await f?; this.a = this.a * 10;"
    compiled = Compiled.of(f"""module M;
    class X {{ Int first() {{ return 1; }} Unit last() {{ skip; }} }}
    class W(Fut<Int> f) {{ Int a = 0; {{ {wait} }} Unit bump() {{ this.a = this.a + 2; }} }}
    class Y {{ Int a = 0; Unit on(Fut<Int> f) {{ {wait} }} Unit look(Fut<Int> f) {{ {look.replace("WAIT", wait)} }} }}
    {{ Y y = new Y(); X x = new X(); Fut<Int> f = x!first(); y!look(f); y!look(f); x!last(); }}""")
    truth = {objects for objects, *_ in final_states(compiled, "none") or ()}
    assert truth
    for reduce in SOUND_REDUCTIONS[1:]:
        assert {objects for objects, *_ in final_states(compiled, reduce) or ()} == truth, reduce


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 48, 12))
def test_random_programs(first: int) -> None:
    judged = 0
    for seed in range(first, first + 12):
        for number, compiled in enumerate(started(seed)):
            found = differing_reductions(compiled)
            assert not found, f"seed {seed}, main block {number}"
            judged += found is not None
    assert judged > 20  # of 60; the others have too many runs


@pytest.mark.slow
def test_every_run_can_be_run_again() -> None:
    """Also where initialisation blocks make objects and wait: names and numbers of tasks mean the same again."""
    compared = 0
    for seed in range(1000, 1040):
        compiled = Compiled.of(handing_program(seed))
        machine = ActorMachine(compiled.image, Bounds(None, None, None), OrderSelection(reduce="exact"), None)
        root = main_root(machine, compiled.program)
        explorer = TreeExplorer(machine, root.entry.key)
        explorer.on_state = lambda progress: progress.states <= 200
        for leaf in explorer.leaves(root.state):
            case = CaseWriter(machine, "values").case(root, leaf)
            again = follow_main(known_machine(compiled.image), compiled.program, case.order)
            assert again.same_as(case), f"seed {seed}: {case.order}"
            compared += 1
    assert compared > 100


def test_findings_behind_objects_made_by_initialisation_blocks(tmp_path: Path) -> None:
    model = tmp_path / "m.abs"
    model.write_text("""module M;
    class B { Int n = 0; Unit inc() { this.n = this.n + 1; } Unit check() { assert this.n == 1; } }
    class A { B b; { this.b = new B(); } Unit go() { this.b!inc(); this.b!check(); } }
    { A a = new A(); a!go(); }""")
    finding = explore_model(str(model)).findings[0]
    assert finding.replay
    assert finding.explanation.startswith("order of tasks: main.main r1.go r2.check r2.inc")


@pytest.mark.parametrize("peer", ["far", "this.mine"])
def test_a_synchronous_call_while_a_local_object_is_made(tmp_path: Path, peer: str) -> None:
    """The maker goes on when the block has ended, whoever it had to wait for."""
    model = tmp_path / "m.abs"
    model.write_text(f"""module M;
    class B {{ Int three() {{ return 3; }} }}
    class L(B peer) {{ Int v = 0; {{ this.v = peer.three(); }} Int val() {{ return this.v; }} }}
    class H {{ B mine; {{ this.mine = new local B(); }}
      Unit make(B far) {{ L l = new local L({peer}); Int r = l.val(); assert r == 3; }} }}
    {{ H h = new H(); B far = new B(); h!make(far); }}""")
    assert explore_model(str(model)).verdict is Verdict.PASSED_EXHAUSTIVE


def test_long_literals_and_sums(tmp_path: Path) -> None:
    numbers = ", ".join(map(str, range(2500)))
    model = tmp_path / "m.abs"
    model.write_text(f"""module M;
    class C {{ Int m(List<Int> l, String s) {{ assert length(l) + strlen(s) == 4000; return 0; }} }}
    {{ C c = new C(); c!m(list[{numbers}], {" + ".join(['"a"'] * 1500)}); }}""")
    assert not explore_model(str(model)).findings
