"""HTML view of a graph: every operation a line, with a search, forward and backward linked both ways."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from ..core.graph import Graph, Operation
from ..core.printing import operation_text
from .parts import FORWARD, diagram
from .svg import draw

_MOST_DRAWN = 300


@dataclass(frozen=True)
class Page:
    """An HTML page that needs no other file."""

    html: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to `path`."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        return self.html


def page(graph: Graph, title: str = "graph", depth: int | None = None) -> Page:
    """A page of all operations of `graph`, searched as one types; an operation names its gradients, and they it.

    A picture stands above them where the graph is small enough for one; `depth` gathers name scopes as `draw` does.

    >>> import pullback as pb
    >>> from pullback.drawing.page import page
    >>> x = pb.placeholder(pb.float32, [3], name="x")
    >>> dx, = pb.gradients(pb.tanh(x, name="y"), x)
    >>> "of <a href='#op-1'>y</a>" in page(x.graph).html
    True
    """
    operations = graph.operations
    backward: dict[Operation, list[Operation]] = {}
    for op in operations:
        if op.original_op is not None:
            backward.setdefault(op.original_op, []).append(op)
    kinds = {op: box.kind for box in diagram(graph, None).boxes for op in box.operations} if operations else {}
    forward = sum(kind == FORWARD for kind in kinds.values())
    folder = files(__package__)
    style, script = (folder.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    lines = "\n".join(_line(op, kinds[op], backward) for op in operations)
    return Page(f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
<p class="quiet"><b class="forward">{forward}</b> operations forward,
<b class="backward">{len(operations) - forward}</b>
of their derivatives</p>
{_picture(graph, depth)}
<input id="search" type="search" placeholder="search names, types, shapes" aria-label="search" autofocus>
<p class="quiet" id="count"></p>
<ol id="operations">
{lines}
</ol>
</main>
<script>
{script}</script>
</body>
</html>
""")


def _picture(graph: Graph, depth: int | None) -> str:
    """The picture, or nothing where it would be too large to read."""
    if not graph.operations or (depth is None and len(graph.operations) > _MOST_DRAWN):
        return ""
    return f'<div class="card">{draw(graph, depth).svg}</div>'


def _line(op: Operation, kind: str, backward: Mapping[Operation, Sequence[Operation]]) -> str:
    links = ""
    if op.original_op is not None:
        links += f" <span>of {_link(op.original_op)}</span>"
    if op in backward:
        links += f" <span>gradients: {', '.join(map(_link, backward[op]))}</span>"
    return f'<li id="op-{op.index}" class="{kind}"><code>{escape(operation_text(op))}</code>{links}</li>'


def _link(op: Operation) -> str:
    return f"<a href='#op-{op.index}'>{escape(op.name)}</a>"
