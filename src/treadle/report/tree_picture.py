"""The symbolic execution tree as a picture: a line per node (SVG) or a graph (DOT); cut and pruned nodes are marked.

Steps that follow each other without a choice are one node, and what a step decided about the unknown inputs stands at
the edge that leads to it.
"""

from __future__ import annotations

from html import escape

from treadle.abs.explore.tree import TreeNode

_ROW, _INDENT = 18, 22
_COLOUR = {
    "state": "#3b6fb5",
    "test": "#2b7a3d",
    "deadlock": "#b00020",
    "loop": "#c26a00",
    "task": "#c26a00",
    "actor": "#c26a00",
    "pruned": "#9aa7b5",
    "refused": "#c26a00",
}
MEANING = {
    "state": "",
    "test": "test",
    "deadlock": "deadlock",
    "loop": "cut: loop (L)",
    "task": "cut: task switches (T)",
    "actor": "cut: actors (O)",
    "pruned": "pruned: another order covers it",
    "refused": "unsupported: not executed",
}


def collapsed(node: TreeNode) -> TreeNode:
    """The node together with the steps behind it, as long as there is one way to go on and nothing is decided."""
    labels = [node.label]
    while node.status == "state" and len(node.children) == 1 and not node.children[0].constraints:
        following = node.children[0]
        if following.status not in ("state", "test", "deadlock"):
            break
        node = TreeNode(node.label, node.constraints, following.status, following.children)
        labels.append(following.label)
    return TreeNode(" \N{RIGHTWARDS ARROW} ".join(labels), node.constraints, node.status, node.children)


def _lines(tree: TreeNode) -> list[tuple[TreeNode, int, int]]:
    """Each node with its depth and its parent's line."""
    found: list[tuple[TreeNode, int, int]] = []
    todo: list[tuple[TreeNode, int, int]] = [(tree, 0, -1)]
    while todo:
        node, depth, parent = todo.pop()
        node = collapsed(node)
        found.append((node, depth, parent))
        here = len(found) - 1
        todo += [(child, depth + 1, here) for child in reversed(node.children)]
    return found


def _letters(node: TreeNode) -> int:
    return len(node.label) + len(", ".join(node.constraints)) + len(MEANING[node.status])


def svg(tree: TreeNode) -> str:
    """The tree as an indented list with lines, as an SVG document."""
    lines = _lines(tree)
    # a letter is about 7 wide
    width = max(60 + _INDENT * depth + 7 * _letters(node) for node, depth, _ in lines)
    height = _ROW * (len(lines) + 1)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        "<style>text{font:12px sans-serif;fill:#222} .mark{font-size:11px} .why{font-style:italic;fill:#666}",
        "path{stroke:#b8c2cc;fill:none}</style>",
    ]
    for number, (node, depth, parent) in enumerate(lines):
        x, y = 12 + depth * _INDENT, _ROW * (number + 1)
        if parent >= 0:
            up_x, up_y = x - _INDENT, _ROW * (parent + 1)
            out.append(f'<path d="M{up_x},{up_y + 4} V{y - 4} H{x - 5}"/>')
        colour = _COLOUR[node.status]
        dashed = ' stroke-dasharray="2 2" fill="none"' if node.status == "pruned" else f' fill="{colour}"'
        out.append(f'<circle cx="{x}" cy="{y - 4}" r="4" stroke="{colour}"{dashed}/>')
        meaning = MEANING[node.status]
        mark = f' <tspan class="mark" fill="{colour}">{escape(meaning)}</tspan>' if meaning else ""
        why = f'<tspan class="why">{escape(", ".join(node.constraints))}</tspan> ' if node.constraints else ""
        out.append(f'<text x="{x + 9}" y="{y}">{why}{escape(node.label)}{mark}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def dot(tree: TreeNode) -> str:
    """The tree in Graphviz' language."""
    out = ["digraph tree {", '  node [shape=box, style=rounded, fontname="sans-serif", fontsize=10];']
    for number, (node, _, parent) in enumerate(_lines(tree)):
        meaning = MEANING[node.status]
        text = node.label + (f"\\n{meaning}" if meaning else "")
        style = ', style="rounded,dashed"' if node.status == "pruned" else ""
        label = text.replace('"', "'")
        out.append(f'  n{number} [label="{label}", color="{_COLOUR[node.status]}"{style}];')
        if parent >= 0:
            why = "\\n".join(node.constraints).replace('"', "'")
            out.append(
                f'  n{parent} -> n{number} [label="{why}", fontsize=9];' if why else f"  n{parent} -> n{number};"
            )
    out.append("}")
    return "\n".join(out) + "\n"
