"""The IR prints so that a person can follow it."""

from treadle.symbolic.ir import steps as ir


def test_a_graph_prints_its_reachable_blocks() -> None:
    function = ir.Function("f", "f.py", 1, [ir.Parameter("n"), ir.Parameter("rest", "rest")])
    head, body, done, dead = (function.block() for _ in range(4))
    head.loop = 2
    head.steps.append(ir.Op(2, "%1", ">", ("n", ir.Const(0))))
    head.end = ir.Branch(2, "%1", body.number, done.number)
    body.steps.append(ir.Op(3, "n", "-", ("n", ir.Const(1))))
    body.end = ir.Jump(3, head.number)
    done.end = ir.Return(4, "n")
    dead.end = ir.Stop(5, "never")
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


def test_steps_of_concurrent_objects_print() -> None:
    assert ir.show_step(ir.AsyncCall(1, "f", "a", "work", ("x",))) == "f = a!work(x)"
    assert ir.show_step(ir.Await(1, "f?")) == "await f?"
    assert ir.show_step(ir.Get(1, "v", "f")) == "v = f.get"
