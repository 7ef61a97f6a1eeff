"""A page over all cases of a method: inputs, order and outcome of each, with its picture behind the number."""

from __future__ import annotations

from html import escape

from treadle.doors.actor.generated import GeneratedCases
from treadle.doors.actor.table import told_afterwards, told_inputs

_STYLE = """body{font:14px sans-serif;margin:2em} table{border-collapse:collapse}
td,th{border:1px solid #ccc;padding:.3em .6em;text-align:left;vertical-align:top;white-space:pre-line}
.deadlock,.failed{background:#fbe9e7}"""


def index_page(made: GeneratedCases, pictures: list[str]) -> str:
    """The page; `pictures` are the files of the cases, in their order."""
    rows = []
    for number, (case, picture) in enumerate(zip(made.cases, pictures, strict=True), 1):
        cells = [told_inputs(case), " ".join(case.order), told_afterwards(case), case.outcome]
        texts = "".join(f"<td>{escape(text)}</td>" for text in cells)
        rows.append(f'<tr class="{case.outcome}"><td><a href="{escape(picture)}">{number}</a></td>{texts}</tr>')
    heads = "".join(f"<th>{name}</th>" for name in ("#", "inputs", "order of tasks", "afterwards", "outcome"))
    title = escape(f"{made.target}: {len(made.cases)} of {made.tests} tests")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
        f"</head>\n<body><h1>{title}</h1>\n<table><tr>{heads}</tr>\n{chr(10).join(rows)}\n</table></body></html>\n"
    )
