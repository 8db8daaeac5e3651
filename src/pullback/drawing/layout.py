"""Layered graph layout: lanes side by side, in each lane rows, in each row an order.

Layers, orders and coordinates after Sugiyama, Tagawa and Toda (1981): longest paths, barycentres of neighbours,
and places as near to the neighbours' as the widths allow (isotonic regression). Besides that, gradients stand in the
rows of what they are the gradients of, so that the backward lane mirrors the forward one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import fsum

GAP_X, GAP_Y, GAP_LANES, SWEEPS = 26.0, 38.0, 110.0, 8
LEAST_LANE = 256.0
"""The width of a lane with few boxes: that of the words above it."""
THREAD = 6.0
"""The width kept free for an arrow that passes a row."""

Point = tuple[float, float]
Edge = tuple[int, int]


@dataclass(frozen=True)
class Layout:
    """Centres of the boxes, the points each edge goes through, and left and right ends of the lanes."""

    centres: list[Point]
    routes: dict[Edge, list[Point]]
    lanes: list[Point]
    height: float


@dataclass
class _Lane:
    """The rows of one lane: numbers of boxes, and of threads (the arrows that pass), with their neighbours."""

    rows: dict[int, list[int]] = field(default_factory=dict)
    links: dict[int, list[int]] = field(default_factory=dict)


def layout(
    sizes: Sequence[Point], lane_of: Sequence[int], edges: Sequence[Edge], anchors: Sequence[int | None]
) -> Layout:
    """Places for boxes that are numbered in a topological order; `anchors` are the boxes they should stand beside."""
    edges = [edge for edge in edges if edge[0] != edge[1]]
    bands = _bands(lane_of, edges, anchors)
    rows = _rows(lane_of, edges, bands)
    row_of = list(rows)
    widths = [width for width, _ in sizes]
    lanes = [_Lane() for _ in range(max(lane_of) + 1)]
    for box, (row, lane) in enumerate(zip(rows, lane_of, strict=True)):
        lanes[lane].rows.setdefault(row, []).append(box)
    threads = _thread(edges, lane_of, row_of, widths, lanes)
    ys, height = _heights(sizes, rows)
    xs, ends = _widths(lanes, widths)
    centres = [(xs[box], ys[rows[box]]) for box in range(len(sizes))]
    routes = {
        edge: [centres[edge[0]], *((xs[t], ys[row_of[t]]) for t in threads.get(edge, ())), centres[edge[1]]]
        for edge in edges
    }
    return Layout(centres, routes, ends, height)


def _bands(lane_of: Sequence[int], edges: Sequence[Edge], anchors: Sequence[int | None]) -> list[int]:
    """The band of each box: in the forward lane the longest path to it, beside its anchor elsewhere.

    What has one input at most stands just above its first user: constants, and reading of variables.
    """
    before: list[list[int]] = [[] for _ in lane_of]
    after: list[list[int]] = [[] for _ in lane_of]
    for a, b in edges:
        if a < b:
            before[b].append(a)
            after[a].append(b)
    bands = [0] * len(lane_of)
    for lane in range(max(lane_of) + 1):
        boxes = [box for box, its_lane in enumerate(lane_of) if its_lane == lane]
        for box in boxes:
            anchor = anchors[box]
            if lane == 0:
                bands[box] = max((bands[a] + 1 for a in before[box]), default=0)
            elif anchor is not None:
                bands[box] = bands[anchor]
        for box in reversed(boxes):
            users = [bands[b] for b in after[box] if lane_of[b] == lane]
            if lane == 0 and users and len(before[box]) < 2:
                bands[box] = min(users) - 1
            elif lane and anchors[box] is None:
                bands[box] = max(users) if users else min((bands[a] for a in before[box]), default=0)
    lowest = min(bands)
    return [band - lowest for band in bands]


def _rows(lane_of: Sequence[int], edges: Sequence[Edge], bands: Sequence[int]) -> list[int]:
    """The row of each box: a band has as many rows as its longest chain; the gradients of a band rise in it."""
    depth = [0] * len(bands)
    for a, b in sorted(edges, key=lambda edge: edge[1]):
        if a < b and bands[a] == bands[b] and lane_of[a] == lane_of[b]:
            depth[b] = max(depth[b], depth[a] + 1)
    count = [1] * (max(bands) + 1)
    for band, d in zip(bands, depth, strict=True):
        count[band] = max(count[band], d + 1)
    start = [sum(count[:band]) for band in range(len(count))]
    rows = []
    for lane, band, d in zip(lane_of, bands, depth, strict=True):
        rising = start[band] + count[band] - 1 - d
        rows.append(start[band] + (count[band] - 1) // 2 if lane == 0 else rising if lane % 2 else start[band] + d)
    return rows


def _thread(
    edges: Sequence[Edge], lane_of: Sequence[int], row_of: list[int], widths: list[float], lanes: list[_Lane]
) -> dict[Edge, list[int]]:
    """Adds a thread to every row that an edge within a lane passes; the threads of each edge, in its direction."""
    threads: dict[Edge, list[int]] = {}
    for a, b in edges:
        if lane_of[a] != lane_of[b]:
            continue
        lane = lanes[lane_of[a]]
        step = 1 if row_of[b] > row_of[a] else -1
        chain = [a]
        for row in range(row_of[a] + step, row_of[b], step):
            chain.append(len(row_of))
            row_of.append(row)
            widths.append(THREAD)
            lane.rows.setdefault(row, []).append(chain[-1])
        threads[a, b] = chain[1:]
        for upper, lower in pairwise([*chain, b]):
            lane.links.setdefault(upper, []).append(lower)
            lane.links.setdefault(lower, []).append(upper)
    return threads


def _heights(sizes: Sequence[Point], rows: Sequence[int]) -> tuple[list[float], float]:
    """The middle of each row, and the height of all."""
    tallest = [0.0] * (max(rows) + 1)
    for (_, height), row in zip(sizes, rows, strict=True):
        tallest[row] = max(tallest[row], height)
    ys, top = [], 0.0
    for height in tallest:
        ys.append(top + height / 2)
        top += height + GAP_Y
    return ys, top - GAP_Y


def _widths(lanes: Sequence[_Lane], widths: Sequence[float]) -> tuple[list[float], list[Point]]:
    """The middle of each box and thread, and the ends of each lane."""
    xs = [0.0] * len(widths)
    ends: list[Point] = []
    right = -GAP_LANES
    for lane in lanes:
        _order(lane)
        _place(lane, widths, xs)
        members = [box for row in lane.rows.values() for box in row]
        left = min((xs[box] - widths[box] / 2 for box in members), default=0.0)
        reach = max((xs[box] + widths[box] / 2 for box in members), default=0.0) - left
        width = max(reach, LEAST_LANE)
        shift = right + GAP_LANES - left + (width - reach) / 2
        for box in members:
            xs[box] += shift
        ends.append((right + GAP_LANES, right + GAP_LANES + width))
        right = ends[-1][1]
    return xs, ends


def _order(lane: _Lane) -> None:
    """Sort each row by the mean place of its neighbours in the row that was sorted before."""
    place = {box: float(i) for row in lane.rows.values() for i, box in enumerate(row)}
    numbers = sorted(lane.rows)
    row_of = {box: number for number, row in lane.rows.items() for box in row}
    for sweep in range(SWEEPS):
        downward = sweep % 2 == 0
        for number in numbers if downward else reversed(numbers):
            row = lane.rows[number]
            wanted = {}
            for box in row:
                near = [place[n] for n in lane.links.get(box, ()) if (row_of[n] < number) == downward]
                wanted[box] = fsum(near) / len(near) if near else place[box]
            row.sort(key=wanted.__getitem__)
            place.update({box: float(i) for i, box in enumerate(row)})


def _place(lane: _Lane, widths: Sequence[float], xs: list[float]) -> None:
    """Give each box of a lane its place: as near to the mean of its neighbours as the widths in its row allow.

    Boxes weigh more the more neighbours they have: chains become straight, and constants make way.
    """
    weight = {box: (len(lane.links.get(box, ())) - 1.0) ** 2 + 0.01 for row in lane.rows.values() for box in row}
    for sweep in range(6 * SWEEPS):
        for number in sorted(lane.rows, reverse=sweep % 2 == 1):
            row = lane.rows[number]
            wanted = []
            for box in row:
                near = lane.links.get(box, ())
                total = fsum(weight[n] for n in near)
                wanted.append(fsum(xs[n] * weight[n] for n in near) / total if near else xs[box])
            places = _apart(wanted, [weight[box] for box in row], [widths[box] for box in row])
            xs_in_row = dict(zip(row, places, strict=True))
            for box, x in xs_in_row.items():
                xs[box] = x


def _apart(wanted: Sequence[float], weights: Sequence[float], widths: Sequence[float]) -> list[float]:
    """The places nearest to `wanted` (weighted squares) that keep order and widths: pool adjacent violators."""
    offsets = [0.0]
    for a, b in pairwise(widths):
        offsets.append(offsets[-1] + (a + b) / 2 + GAP_X)
    pools: list[tuple[float, float, int]] = []
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, mass, size = want - offset, weight, 1
        while pools and pools[-1][0] >= mean:
            other, more, count = pools.pop()
            mean = (mean * mass + other * more) / (mass + more)
            mass, size = mass + more, size + count
        pools.append((mean, mass, size))
    bases = [mean for mean, _, size in pools for _ in range(size)]
    return [base + offset for base, offset in zip(bases, offsets, strict=True)]
