"""HTML view of two graphs side by side, before and after a rewriting, with what was rewritten linked to both."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Protocol

from ..core.graph import Operation
from ..core.printing import operation_text
from .page import Page


class Change(Protocol):
    """Operations that gave way to others."""

    @property
    def rule(self) -> str:
        """Why."""

    @property
    def before(self) -> Sequence[Operation]:
        """What was there."""

    @property
    def after(self) -> Sequence[Operation]:
        """What is there now."""

    @property
    def place(self) -> str:
        """The user's line."""


def comparison(title: str, before: Sequence[Operation], after: Sequence[Operation], changes: Sequence[Change]) -> Page:
    """A page of all `changes`, and of the operations `before` and `after` that they link."""
    numbers = {op: i for i, op in enumerate(dict.fromkeys([*before, *after]))}
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    rows = "\n".join(_row(change, numbers) for change in changes)
    gone = {op for change in changes for op in change.before}
    new = {op for change in changes for op in change.after}
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
<ol>
{rows}
</ol>
<h2>Before</h2>
{_listed(before, numbers, gone, "before")}
<h2>After</h2>
{_listed(after, numbers, new, "after")}
</main>
</body>
</html>
""")


def _row(change: Change, numbers: dict[Operation, int]) -> str:
    sides = (change.before, "before"), (change.after, "after")
    before, after = (", ".join(_link(op, numbers, side) for op in ops) for ops, side in sides)
    place = f' <span class="quiet">{escape(change.place)}</span>' if change.place else ""
    return f"<li>{escape(change.rule)}: {before} &rarr; {after or 'what was there'}{place}</li>"


def _link(op: Operation, numbers: dict[Operation, int], side: str) -> str:
    name = f"<code>{escape(op.name)}</code>"
    return f"<a href='#{side}-{numbers[op]}'>{name}</a>" if op in numbers else name


def _listed(operations: Sequence[Operation], numbers: dict[Operation, int], marked: set[Operation], side: str) -> str:
    kinds = ["backward" if op in marked else "forward" for op in operations]
    lines = "\n".join(
        f'<li id="{side}-{numbers[op]}" class="{kind}"><code>{escape(operation_text(op))}</code></li>'
        for op, kind in zip(operations, kinds, strict=True)
    )
    return f"<ol>\n{lines}\n</ol>"
