"""Hand tracking of ADBench (Šrajer et al. 2018): the Jacobian of distances to a mesh by the 26 numbers of a pose.

The mesh of 544 vertices hangs on 22 bones, which turn by Euler angles about the one before. A distance is that of a
point seen and the vertex that corresponds to it. The Jacobian is taken by columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..workload import Step, Workload

BONES, VERTICES, POSE = 22, 544, 26
SIZES = (800, 6400)
"""Points seen."""

Array = np.ndarray[Any, Any]


class Hand(NamedTuple):
    """A pose; angles of bones by its numbers; where bones begin; vertices and weights; points and their vertices."""

    pose: Array
    angles: Array
    offsets: Array
    vertices: Array
    weights: Array
    points: Array
    vertex_of: Array


def hand(count: int) -> Hand:
    random = np.random.default_rng(0)
    weights = random.random((BONES, VERTICES)) ** 8
    arrays = (
        0.2 * random.standard_normal(POSE),
        0.5 * random.standard_normal((POSE - 6, 3 * BONES)),
        random.standard_normal((BONES, 3)),
        random.standard_normal((3, VERTICES)),
        weights / weights.sum(0),
        random.standard_normal((3, count)),
    )
    vertex_of = random.integers(VERTICES, size=count).astype(np.int32)
    return Hand(*[x.astype(np.float32) for x in arrays], vertex_of)


def parents() -> Sequence[int]:
    """The bone that each hangs on: five chains of four on the second, which hangs on the first."""
    return [-1, 0, *[1 if i % 4 == 0 else i + 1 for i in range(BONES - 2)]]


class Functions(NamedTuple):
    """What the model is written with."""

    np: Any
    stack: Any
    take: Any


def distances(f: Functions, hand: Hand, pose: Any) -> Any:
    """The distances [3, points] of points and their vertices."""
    angles = f.np.reshape(f.np.matmul(f.np.reshape(pose[6:], [1, POSE - 6]), hand.angles), [BONES, 3])
    turns, places = _turned(f, angles), []
    absolute: list[Any] = []
    for i, parent in enumerate(parents()):
        own, offset = turns[i], hand.offsets[i][:, None]
        absolute.append(own if parent < 0 else f.np.matmul(absolute[parent], own))
        places.append(offset if parent < 0 else places[parent] + f.np.matmul(absolute[parent], offset))
    moved = f.np.einsum("bij,jv->biv", f.stack(absolute), hand.vertices) + f.stack(places)
    mesh = f.np.einsum("biv,bv->iv", moved, hand.weights)
    turned = f.np.matmul(_turned(f, f.np.reshape(pose[:3], [1, 3]))[0], mesh) + f.np.reshape(pose[3:6], [3, 1])
    return hand.points - f.take(turned, hand.vertex_of)


def _turned(f: Functions, angles: Any) -> Any:
    """The matrices [n, 3, 3] of Euler angles [n, 3]."""
    sine, cosine = f.np.sin(angles), f.np.cos(angles)
    sx, sy, sz = (sine[:, i] for i in range(3))
    cx, cy, cz = (cosine[:, i] for i in range(3))
    rows = [
        [cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz],
        [cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz],
        [-sy, sx * cy, cx * cy],
    ]
    flat = f.stack([x for row in rows for x in row])
    return f.np.reshape(f.np.transpose(flat, [1, 0]), [angles.shape[0], 3, 3])


def _checked(jacobian: Any) -> float:
    return float(np.abs(np.asarray(jacobian)).sum())


def with_pullback(data: Hand) -> Step:
    import pullback as pb

    f = Functions(pb, pb.stack, lambda x, at: pb.gather(x, at, axis=1))
    with pb.Graph().as_default():
        pose = pb.placeholder(pb.float32, [POSE])
        run = pb.Session().make_callable(pb.jacobian(distances(f, data, pose), pose, mode="forward"), [pose])
    return lambda: _checked(run(data.pose))


def with_jax(data: Hand) -> Step:
    import jax
    import jax.numpy as jnp

    f = Functions(jnp, jnp.stack, lambda x, at: x[:, at])
    step = jax.jit(jax.jacfwd(partial(distances, f, data)))
    return lambda: _checked(step(data.pose))


WORKLOADS = [
    Workload(
        f"adbench-hand-{count}",
        f"the Jacobian of {count:,} distances to a hand by its pose",
        partial(hand, count),
        {"pullback": with_pullback, "jax": with_jax},
    )
    for count in SIZES
]
