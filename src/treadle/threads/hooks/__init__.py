"""The hooks that rewritten code calls: each shared access becomes a point, then happens as Python would do it.

Outside an execution every hook does what plain Python does. Inside, the rules are those of `shapes` (what an
attribute is), `containers` (what a method touches) and `names` (what an object is called). One file per kind of access.
"""

from __future__ import annotations

from typing import Any

from treadle.threads.hooks import files as files  # fills a table, as the next one does
from treadle.threads.hooks import stand_ins as stand_ins
from treadle.threads.hooks.attributes import callee, delete, load, store
from treadle.threads.hooks.calls import function
from treadle.threads.hooks.items import del_item, inside, item, set_item
from treadle.threads.hooks.iteration import delegate, iterate, iterate_unpacking, match, merge, show, spread, star, use
from treadle.threads.hooks.keys import asked
from treadle.threads.hooks.operators import INPLACE, OPERATORS, use_both
from treadle.threads.hooks.variables import (
    called,
    cell_read,
    cell_write,
    constant,
    context,
    del_global,
    exposed,
    give,
    load_global,
    set_global,
    unbound,
    unseen,
)
from treadle.threads.spin import spin, spin_start
from treadle.threads.strands import STATE, AsRewritten


def call(called: Any, args: Any, kwargs: Any) -> Any:
    """`called(*args, **kwargs)` in code that is not rewritten, where others may have the list or the dictionary (None:
    there is none)."""
    return function(called)(*spread(args)) if kwargs is None else function(called)(*spread(args), **merge(kwargs))


STATE.seen = AsRewritten(function, call, load, callee, spread, iterate)

HOOKS: dict[str, Any] = {
    "_treadle_load": load,
    "_treadle_callee": callee,
    "_treadle_function": function,
    "_treadle_store": store,
    "_treadle_delete": delete,
    "_treadle_item": item,
    "_treadle_set_item": set_item,
    "_treadle_del_item": del_item,
    "_treadle_in": inside,
    "_treadle_use": use,
    "_treadle_iter": iterate,
    "_treadle_global": load_global,
    "_treadle_set_global": set_global,
    "_treadle_del_global": del_global,
    "_treadle_cell_read": cell_read,
    "_treadle_unbound": unbound,
    "_treadle_cell_write": cell_write,
    "_treadle_context": context,
    "_treadle_spin": spin,
    "_treadle_spin_start": spin_start,
    "_treadle_show": show,
    "_treadle_match": match,
    "_treadle_spread": spread,
    "_treadle_merge": merge,
    "_treadle_star": star,
    "_treadle_iter_unpack": iterate_unpacking,
    "_treadle_delegate": delegate,
    "_treadle_use_both": use_both,
    "_treadle_constant": constant,
    "_treadle_called": called,
    "_treadle_asked": asked,
    "_treadle_give": give,
    "_treadle_exposed": exposed,
    "_treadle_unseen": unseen,
    **{f"_treadle_{name}": hook for name, hook in OPERATORS.items()},
    **{f"_treadle_{name}": hook for name, hook in INPLACE.items()},
}
