"""A campaign over a class, begun again without what turns out to change the world."""

from __future__ import annotations

import time
from dataclasses import replace

from treadle.classes.result import ClassResult, Options
from treadle.classes.stage import EffectOfMethod
from treadle.classes.subject import Subject
from treadle.core.errors import Unsupported
from treadle.doors.class_.campaign import ClassCampaign, Progress

# Calls of one method that are left out, before the method is.
_MOST_CALLS = 3


def run_class(subject: Subject, options: Options, progress: Progress | None = None) -> ClassResult:
    """One campaign over one class; it starts again without a call, or a method, that turns out to change the world."""
    ends = time.perf_counter() + options.budget
    while True:
        try:
            result = ClassCampaign(subject, options, progress).run()
        except EffectOfMethod as refused:
            if not refused.method:
                raise Unsupported(f"the constructor of {subject.target} would {refused.what}; see --setup") from None
            why = f"it would {refused.what}; pass --allow-effects to let it"
            left = max(ends - time.perf_counter(), 1.0)
            calls = {**options.refused_calls, refused.call: (refused.method, refused.what)}
            of_method = [method for method, _ in calls.values() if method == refused.method]
            if refused.call not in options.refused_calls and len(of_method) <= _MOST_CALLS:
                options = replace(options, refused_calls=calls, budget=left)
                continue
            kept = tuple(name for name in options.methods if name != refused.method)
            options = replace(options, refused={**options.refused, refused.method: why}, methods=kept, budget=left)
            continue
        return result
