"""Hooks that do what plain Python does, and hooks that also write down what they saw."""

from __future__ import annotations

import operator
from typing import Any

from treadle.threads.instrument.expressions import COMPARISONS, OPERATORS
from treadle.threads.instrument.targets import INPLACE_OPERATORS


def _load(owner: Any, name: str) -> Any:
    return getattr(owner, name)


def _function(function: Any) -> Any:
    return function


def _store(value: Any, owner: Any, name: str) -> None:
    setattr(owner, name, value)


def _delete(owner: Any, name: str) -> None:
    delattr(owner, name)


def _item(owner: Any, key: Any) -> Any:
    return owner[key]


def _set_item(value: Any, owner: Any, key: Any) -> None:
    owner[key] = value


def _del_item(owner: Any, key: Any) -> None:
    del owner[key]


def _in(element: Any, container: Any) -> bool:
    return element in container


def _use(value: Any) -> Any:
    return value


_MISSING = object()


def _global(globals_: dict[str, Any], name: str) -> Any:
    value = globals_.get(name, _MISSING)
    if value is _MISSING:
        builtins_ = globals_["__builtins__"]
        value = (builtins_ if isinstance(builtins_, dict) else vars(builtins_)).get(name, _MISSING)
    if value is _MISSING:
        raise NameError(f"name {name!r} is not defined", name=name)
    return value


def _set_global(value: Any, globals_: dict[str, Any], name: str) -> None:
    globals_[name] = value


def _del_global(globals_: dict[str, Any], name: str) -> None:
    if name not in globals_:
        raise NameError(f"name {name!r} is not defined", name=name)
    del globals_[name]


def _announce(label: str) -> None:
    pass


def _spin(*_: Any) -> None:
    pass


def _second(_: Any, value: Any) -> Any:
    return value


def _first(value: Any, _: Any) -> Any:
    return value


def _nothing(*_: Any) -> None:
    pass


HOOKS: dict[str, Any] = {
    "_treadle_load": _load,
    "_treadle_callee": _load,
    "_treadle_function": _function,
    "_treadle_store": _store,
    "_treadle_delete": _delete,
    "_treadle_item": _item,
    "_treadle_set_item": _set_item,
    "_treadle_del_item": _del_item,
    "_treadle_in": _in,
    "_treadle_use": _use,
    "_treadle_iter": _use,
    "_treadle_global": _global,
    "_treadle_set_global": _set_global,
    "_treadle_del_global": _del_global,
    "_treadle_cell_read": _announce,
    "_treadle_cell_write": _announce,
    "_treadle_unbound": _nothing,
    "_treadle_context": _use,
    "_treadle_spin": _spin,
    "_treadle_spin_start": _spin,
    "_treadle_show": _use,
    "_treadle_match": _use,
    "_treadle_spread": _use,
    "_treadle_merge": _use,
    "_treadle_star": _use,
    "_treadle_iter_unpack": _use,
    "_treadle_delegate": _use,
    "_treadle_give": _use,
    "_treadle_use_both": _first,
    "_treadle_constant": _global,
    "_treadle_called": _spin,
    "_treadle_asked": _spin,
    "_treadle_unseen": _second,
    "_treadle_exposed": lambda *variables: variables,
    **{f"_treadle_{name}": getattr(operator, name) for name in (*OPERATORS.values(), *COMPARISONS.values())},
    **{f"_treadle_{name}": getattr(operator, name) for name in INPLACE_OPERATORS.values()},
}

EVERYWHERE = ("_treadle_asked", "_treadle_called", "_treadle_constant")


def recording(log: list[tuple[Any, ...]]) -> dict[str, Any]:
    """The same hooks; each call first adds (hook, the arguments that are strings) to `log`. The hooks that are in
    every function, and at every use of a module's variable, are left out."""

    def recorded(name: str, hook: Any) -> Any:
        short = name.removeprefix("_treadle_")

        def record(*args: Any) -> Any:
            log.append((short, *(arg for arg in args if isinstance(arg, str))))
            return hook(*args)

        return record

    return {name: hook if name in EVERYWHERE else recorded(name, hook) for name, hook in HOOKS.items()}
