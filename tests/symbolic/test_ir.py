"""The IR prints so that a person can follow it."""

from treadle.symbolic.ir import steps as ir


def test_a_graph_prints_its_reachable_blocks() -> None:
    function = ir.CompiledFunction("f", "f.py", 1, [ir.IrParameter("n"), ir.IrParameter("rest", "rest")])
    head, body, done, dead = (function.block() for _ in range(4))
    head.loop = 2
    head.steps.append(ir.OpStep(2, "%1", ">", ("n", ir.Const(0))))
    head.end = ir.BranchStep(2, "%1", body.number, done.number)
    body.steps.append(ir.OpStep(3, "n", "-", ("n", ir.Const(1))))
    body.end = ir.JumpStep(3, head.number)
    done.end = ir.ReturnStep(4, "n")
    dead.end = ir.StopStep(5, "never")
    assert ir.show(function) == (
        "function f(n, *rest)    f.py:1\n"
        "b0:  loop at line 2\n"
        "       2  %1 = n > 0\n"
        "       2  if %1 goto b1 else b2\n"
        "b1:\n"
        "       3  n = n - 1\n"
        "       3  goto b0\n"
        "b2:\n"
        "       4  return n"
    )
