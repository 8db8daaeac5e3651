"""SVG drawing of graphs: text, written with nothing but the standard library."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..core.graph import Operation, Tensor
from ..core.printing import operation_text, value_text
from ..core.traits import CONSTANT
from .layout import Layout, Point, layout
from .parts import AFTER, BACKWARD, FORWARD, Arrow, Box, Diagram, diagram

MOST_BOXES, MOST_CHIPS = 1500, 24
MARGIN, HEAD = 24.0, 74.0
BOX_WIDTH, PADDING = 262.0, 11.0
CHIP_HEIGHT, CHIP_GAP = 19.0, 5.0


AGAIN = ("", "", "second ", "third ", "higher ")
HEADINGS = {
    FORWARD: ("forward", "what the program computes"),
    BACKWARD: ("backward", "what gradients() added"),
    AFTER: ("after", "what uses the gradients"),
}


@dataclass(frozen=True)
class Picture:
    """An SVG picture: text, a file to be saved, or the output of a notebook's cell.

    >>> import pullback as pb
    >>> picture = pb.draw(pb.constant(1.0))
    >>> isinstance(picture, pb.Picture), picture.svg[:4]
    (True, '<svg')
    """

    svg: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to `path`."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg


def draw(fetches: Any, depth: int | None = None) -> Picture:
    """A picture of what `fetches` are computed from: forward operations on the left, their gradients on the right.

    Gradients stand beside what they are the gradients of and are read upward. Each operation's line of the text form
    shows under the pointer. What is fetched is drawn filled.

    Args:
        fetches: a graph (all of it), or tensors, operations, variables, and lists of them; None is left out.
        depth: None for a box an operation; a number for a box a name scope, scopes being cut to that many names.

    Raises:
        TypeError: something else is among `fetches`.
        ValueError: nothing is to be drawn, or far too much.

    >>> import pullback as pb
    >>> x = pb.placeholder("float32", [3], name="x")
    >>> picture = pb.draw(pb.gradients(pb.tanh(x), x))
    >>> picture.svg.count('class="operation backward')
    2
    """
    shown = diagram(fetches, depth)
    if not shown.boxes:
        raise ValueError("draw: the graph is empty")
    if len(shown.boxes) > MOST_BOXES:
        raise ValueError(
            f"draw: {len(shown.boxes)} boxes are too many for a picture ({MOST_BOXES} at most); "
            "pass depth= for a box a name scope, or fewer fetches"
        )
    sizes = [_size(box) for box in shown.boxes]
    edges = [(arrow.source, arrow.target) for arrow in shown.arrows]
    places = layout(sizes, [box.lane for box in shown.boxes], edges, shown.anchors)
    parts = [*_headings(shown, places), *_arrows(shown, places, sizes)]
    for box, centre, size in zip(shown.boxes, places.centres, sizes, strict=True):
        parts += _box(box, centre, size, shown.results)
    return Picture(_page(parts, places))


def _page(parts: Iterable[str], places: Layout) -> str:
    width = max(places.lanes[-1][1] + 2 * MARGIN, 560.0)
    height = places.height + HEAD + 2 * MARGIN + 22
    body = "\n".join(parts)
    style = files(__package__).joinpath("picture.css").read_text(encoding="utf-8")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="pullback" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="graph and gradients">\n'
        f'<style>\n{style}</style>\n<rect width="100%" height="100%" style="fill: var(--page)"/>\n'
        f'<g transform="translate({MARGIN:g} {MARGIN + HEAD:g})">\n{body}\n</g>\n'
        f'<text class="quiet" x="{MARGIN:g}" y="{height - MARGIN / 2:.1f}">dashed arrow: a value that a gradient '
        "reads · filled: what was asked for · point at a box for its operations</text>\n</svg>\n"
    )


def _headings(shown: Diagram, places: Layout) -> list[str]:
    parts = []
    again = 0
    for lane, (left, right) in enumerate(places.lanes):
        boxes = [box for box in shown.boxes if box.lane == lane]
        kinds = {box.kind for box in boxes}
        kind = AFTER if AFTER in kinds else BACKWARD if BACKWARD in kinds else FORWARD
        name, meaning = HEADINGS[kind]
        count = sum(len(box.operations) for box in boxes)
        if kind == BACKWARD:
            again += 1
        sign = "↑ " if kind == BACKWARD and lane == 1 else "" if lane else "↓ "
        order = AGAIN[min(again, 4)] if kind == BACKWARD else ""
        middle = (left + right) / 2
        parts += [
            f'<text class="lane {kind}" x="{middle:.1f}" y="{-HEAD + 24:g}" text-anchor="middle">'
            f"{sign}{order}{name}</text>",
            f'<text class="quiet" x="{middle:.1f}" y="{-HEAD + 43:g}" text-anchor="middle">'
            f"{count} operation{'s' * (count != 1)}: {meaning}</text>",
        ]
    return parts


# Boxes


def _text_width(text: str, letter: float = 6.7) -> float:
    return len(text) * letter


def _short(text: str, most: int) -> str:
    """`text`, its beginning left out where it is longer than `most` letters."""
    return text if len(text) <= most else "…" + text[1 - most :]


def _chip_label(op: Operation) -> str:
    """Sources by their value or name, the rest by what they do."""
    if op.inputs:
        return _short(op.type, 36)
    return _value(op) or _short(op.name.rpartition("/")[2], 36)


def _value(op: Operation) -> str:
    """Of a constant that is short enough its value, else nothing."""
    text = value_text(op.primitive.attributes.get("value", "")) if CONSTANT in op.primitive.traits else ""
    return text if len(text) <= 12 else ""


def _chips(box: Box) -> list[tuple[str, tuple[Operation, ...]]]:
    """What the chips of a box say and stand for; the last one stands for all that have no room."""
    ops = box.operations
    if len(ops) <= MOST_CHIPS:
        return [(_chip_label(op), (op,)) for op in ops]
    shown = [(_chip_label(op), (op,)) for op in ops[: MOST_CHIPS - 1]]
    return [*shown, (f"… {len(ops) - len(shown)} more", ops[len(shown) :])]


def _chip_lines(box: Box) -> list[list[tuple[str, tuple[Operation, ...], float]]]:
    """The chips in lines of the width of a box, each with its own width."""
    lines: list[list[tuple[str, tuple[Operation, ...], float]]] = [[]]
    used = 0.0
    for label, ops in _chips(box):
        width = _text_width(label, 6.3) + 14
        if lines[-1] and used + width > BOX_WIDTH - 2 * PADDING:
            lines.append([])
            used = 0.0
        lines[-1].append((label, ops, width))
        used += width + CHIP_GAP
    return lines


def _single_lines(box: Box) -> tuple[str, str, str]:
    """What it does (a source: its name); its name, or what it is the gradient of; its type."""
    op = box.operations[0]
    types = _type_text(op.outputs)
    if not op.inputs:
        return _value(op) or _short(op.name, 34), op.type, types
    of = op.name if op.original_op is None else f"of {op.original_op.name}"
    return op.type, _short(of, 34), types


def _type_text(tensors: Iterable[Tensor]) -> str:
    """The types, as many as there is room for."""
    text = ""
    for x in tensors:
        if text and len(text) + len(str(x.type)) > 30:
            return text + ", …"
        text += ", " * bool(text) + str(x.type)
    return text


def _size(box: Box) -> Point:
    if box.single:
        first, second, third = _single_lines(box)
        widths = (_text_width(first, 8.0), _text_width(second), _text_width(third, 6.7))
        return max(*widths, 60.0) + 2 * PADDING, 58.0 if third else 42.0
    return BOX_WIDTH, 50 + len(_chip_lines(box)) * (CHIP_HEIGHT + CHIP_GAP)


def _box(box: Box, centre: Point, size: Point, results: frozenset[Operation]) -> list[str]:
    left, top = centre[0] - size[0] / 2, centre[1] - size[1] / 2
    rect = f'<rect class="box" width="{size[0]:.1f}" height="{size[1]:.1f}" rx="8"/>'
    place = f'transform="translate({left:.1f} {top:.1f})"'
    if box.single:
        return [_single_box(box, size, rect, place, results)]
    count = len(box.operations)
    ops = "op" if count == 1 else "ops"
    parts = [
        f'<g class="scope {box.kind}" {place}>{rect}',
        f"<title>{escape(box.label)}: {count} operation{'s' * (count != 1)}</title>",
        f'<text class="label" x="{PADDING:g}" y="21">{escape(_short(box.label, 28))}</text>',
        f'<text class="quiet" x="{size[0] - PADDING:.1f}" y="21" text-anchor="end">{count} {ops}</text>',
    ]
    y = 31.0
    for line in _chip_lines(box):
        x = PADDING
        for label, stands_for, width in line:
            parts.append(_chip(label, stands_for, (x, y), width, box.kind, results))
            x += width + CHIP_GAP
        y += CHIP_HEIGHT + CHIP_GAP
    parts.append(f'<text class="type" x="{PADDING:g}" y="{y + 11:.1f}">{escape(_type_text(_leaving(box)))}</text></g>')
    return parts


def _single_box(box: Box, size: Point, rect: str, place: str, results: frozenset[Operation]) -> str:
    first, second, third = (escape(text) for text in _single_lines(box))
    op = box.operations[0]
    asked = " result" if op in results else ""
    middle = f'x="{size[0] / 2:.1f}" text-anchor="middle"'
    return (
        f'<g class="operation {box.kind}{asked}" data-name="{escape(op.name)}" {place}>{rect}'
        f"<title>{escape(operation_text(op))}</title>"
        f'<text class="label" {middle} y="19">{first}</text><text class="quiet" {middle} y="34">{second}</text>'
        f'<text class="type" {middle} y="49">{third}</text></g>'
    )


def _chip(
    label: str, ops: tuple[Operation, ...], at: Point, width: float, kind: str, results: frozenset[Operation]
) -> str:
    asked = " result" if any(op in results for op in ops) else ""
    source = " source" if all(not op.inputs for op in ops) else ""
    names = escape(" ".join(op.name for op in ops))
    text = escape("\n".join(operation_text(op) for op in ops))
    place = f'transform="translate({at[0]:.1f} {at[1]:.1f})"'
    return (
        f'<g class="operation {kind} chip{asked}{source}" data-name="{names}" {place}>'
        f'<title>{text}</title><rect width="{width:.1f}" height="{CHIP_HEIGHT:g}" rx="9.5"/>'
        f'<text x="{width / 2:.1f}" y="13.2">{escape(label)}</text></g>'
    )


def _leaving(box: Box) -> list[Tensor]:
    """The tensors of a box that no operation of it reads."""
    read = {x for op in box.operations for x in op.inputs}
    return [y for op in box.operations for y in op.outputs if y not in read]


# Arrows


def _arrows(shown: Diagram, places: Layout, sizes: list[Point]) -> list[str]:
    parts = []
    for arrow in shown.arrows:
        points = list(places.routes[arrow.source, arrow.target])
        source, target = shown.boxes[arrow.source], shown.boxes[arrow.target]
        across = source.lane != target.lane
        points[0] = _border(points[0], sizes[arrow.source], points[1], across)
        points[-1] = _border(points[-1], sizes[arrow.target], points[-2], across)
        parts.append(_arrow(arrow, source, target, points, across))
    return parts


def _border(centre: Point, size: Point, towards: Point, across: bool) -> Point:
    """Where an arrow meets a box: at its side where it crosses lanes, else at its top or bottom."""
    if across or towards[1] == centre[1]:
        return centre[0] + (size[0] / 2 if towards[0] > centre[0] else -size[0] / 2), centre[1]
    return centre[0], centre[1] + (size[1] / 2 if towards[1] > centre[1] else -size[1] / 2)


def _arrow(arrow: Arrow, source: Box, target: Box, points: list[Point], across: bool) -> str:
    sideways = across or points[0][1] == points[-1][1]
    (x1, y1), before = points[-1], points[-2]
    turn = (0 if x1 > before[0] else 180) if sideways else (90 if y1 > before[1] else -90)
    reads = " reads" if across and target.kind == BACKWARD else ""
    control = "" if arrow.tensors else " control"
    text = "\n".join(str(x) for x in arrow.tensors) or "control dependency"
    return (
        f'<g class="{target.kind}"><title>{escape(f"{source.label} → {target.label}")}\n{escape(text)}</title>'
        f'<path class="arrow{reads}{control}" d="{_curve(points, sideways)}"/>'
        f'<path class="head" transform="translate({x1:.1f} {y1:.1f}) rotate({turn})" d="M0 0L-8 -4L-8 4Z"/></g>'
    )


def _curve(points: list[Point], sideways: bool) -> str:
    """A smooth path: level or upright at its ends, and at each point between along the line between its neighbours."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = points[0], points[1], points[-2], points[-1]
    first = (1.5 * abs(x1 - x0), 0.0) if sideways else (0.0, 1.5 * (y1 - y0))
    last = (1.5 * abs(x3 - x2), 0.0) if sideways else (0.0, 1.5 * (y3 - y2))
    if sideways and x1 < x0:
        first, last = (-first[0], 0.0), (-last[0], 0.0)
    inner = [((c[0] - a[0]) / 2, (c[1] - a[1]) / 2) for a, c in zip(points, points[2:], strict=False)]
    slopes = [first, *inner, last]
    path = f"M{x0:.1f} {y0:.1f}"
    for (a, slope_a), (b, slope_b) in pairwise(zip(points, slopes, strict=True)):
        leaving = f"{a[0] + slope_a[0] / 3:.1f} {a[1] + slope_a[1] / 3:.1f}"
        reaching = f"{b[0] - slope_b[0] / 3:.1f} {b[1] - slope_b[1] / 3:.1f}"
        path += f"C{leaving} {reaching} {b[0]:.1f} {b[1]:.1f}"
    return path
