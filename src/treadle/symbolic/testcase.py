"""A unit test case: what goes in, what comes out, and why: the path that it stands for.

Values are plain Python values, tuples, and `CaseObject`s for objects with identity: two places that hold the same node
number hold the same object, before and after the call. Nothing here depends on how the case was found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from treadle.symbolic.path import Choices


@dataclass(slots=True, eq=False)
class CaseObject:
    """An object: 'list', 'dict', 'set', 'frozenset', 'instance', or 'function'.

    A function holds what its calls return (before) and with what it was called (after, as keys of `entries`).
    """

    number: int
    kind: str
    cls: type | None = None
    items: list[Any] = field(default_factory=list)
    entries: list[tuple[Any, Any]] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    # existed before the call
    is_input: bool = False
    # the calls that make it as users would (`units.ways`), where some were found
    way: Any = None


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of which only the type can be asserted."""

    type_name: str


@dataclass(frozen=True, slots=True)
class Built:
    """A value that its constructor makes, a lock say: a test can make one, and has nothing to compare it with."""

    module: str
    name: str

    def __repr__(self) -> str:
        return f"{self.module}.{self.name}()"


@dataclass(frozen=True, slots=True)
class Patched:
    """What stands for something of the world, and the (module or module:class, name)s where a test puts it."""

    value: Any
    places: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class CallOutcome:
    """How the call ended: a value, or an exception with its message (None: not predictable)."""

    value: Any = None
    raises: type | None = None
    message: str | None = None
    # the call gave an iterator: the test takes all its values
    drained: bool = False


# The condition of a function that declares to raise no exception at all.
RAISES_NOTHING = "raises nothing"


@dataclass(frozen=True, slots=True)
class BrokenContract:
    """A condition of a contract that the code breaks."""

    kind: str  # 'precondition' (of something that is called), 'postcondition', 'invariant', 'exceptions'
    of: str  # the function whose contract it is
    own: bool  # of the function under test itself
    condition: str
    file: str
    line: int
    returned: Any = None
    has_returned: bool = False
    # the exception that was not declared, or that the condition itself raised
    raised: str = ""
    # the input whose invariant it is, when it is not the object of the call
    where: str = ""


@dataclass(frozen=True, slots=True)
class SymbolicResult:
    """What a path returns, as an expression over the inputs."""

    text: str
    fixed: bool = False  # the same for all inputs
    made: bool = False  # an object that the call has made


@dataclass(slots=True)
class TestCase:
    """One path of one target."""

    __test__ = False  # not a test of pytest's

    target: str
    arguments: dict[str, Any]
    outcome: CallOutcome
    # the objects that existed before the call, as they are after it; by node number
    after: dict[int, CaseObject]
    conditions: list[str]
    # of the path, without forced ones; and how many alternatives came before each, forced ones included
    choices: Choices
    order: tuple[int, ...] = ()
    sampled: bool = False
    # (where the name lives, name) of module- or class-level state that the path changes
    touches: list[tuple[str, str]] = field(default_factory=list)
    lines: tuple[int, ...] = ()
    # (file, line) in the order in which the path passes them, calls that a summary answers left out
    walk: tuple[tuple[str, int], ...] = ()
    has_floats: bool = False
    # may depend on what changes from run to run, such as the order of a set
    fragile: bool = False
    # what it returns, before values were chosen; None when it raises
    symbolic: SymbolicResult | None = None
    # the finding that the case shows
    violation: BrokenContract | None = None
    # conditions of contracts that could not be decided on this path
    undecided: list[tuple[BrokenContract, str]] = field(default_factory=list)
    # the choices of the code itself, when more were made to decide its contracts
    body: Choices | None = None

    # fields of its objects are set, and no calls were found that make them; None: nobody has looked for some yet
    by_hand: bool | None = None
    # the case as it was before calls were found for its objects
    otherwise: TestCase | None = None

    # goals of the selection that the path meets, as bits
    meets: int = 0

    # cases of stubs that the prediction rests on
    stubs: tuple[str, ...] = ()

    # where the path leaves aliasing open: (how many of its choices came before, which possibility this case is)
    aliasing: tuple[tuple[int, int], ...] = ()

    # what the test puts in the place of the clock, chance, the environment: name -> stand-in
    world: dict[str, Patched] = field(default_factory=dict)

    # the choices with names, and those of the aliasing behind them: what `treadle replay` runs again
    trail: Choices = ()
    # the choices with forced ones: along these no solver is needed, as long as nothing changes
    made: Choices = ()

    @property
    def condition(self) -> str:
        return " and ".join(self.conditions) or "always"
