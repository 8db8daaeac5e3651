"""Bundle adjustment: the Jacobian of where points are seen, by cameras and by points, observation by observation.

The model of ADBench (Šrajer et al. 2018), after Agarwal et al. (2010): a rotation by an axis times an angle, a focal
length, a principal point and two radial distortions. As many cameras, points and observations as its first and third.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..workload import Step, Workload

SIZES = {"": (49, 7_776, 31_843), "-large": (93, 61_203, 287_451)}
"""Cameras, points and observations, by what the workload is called."""

Array = np.ndarray[Any, Any]


class Data(NamedTuple):
    """Cameras are (rotation 3, centre 3, focal length, principal point 2, distortion 2), and who sees which point."""

    cameras: Array
    points: Array
    camera_of: Array
    point_of: Array
    seen: Array


def data(cameras_count: int, points_count: int, observations: int) -> Data:
    random = np.random.default_rng(0)
    cameras = 0.3 * random.standard_normal((cameras_count, 11))
    cameras[:, 6] = 1.0
    points = random.standard_normal((points_count, 3)) + np.array([0.0, 0.0, 5.0])
    camera_of, point_of = (
        random.integers(n, size=observations).astype(np.int32) for n in (cameras_count, points_count)
    )
    seen = random.standard_normal((observations, 2))
    return Data(cameras.astype(np.float32), points.astype(np.float32), camera_of, point_of, seen.astype(np.float32))


def projected(xp: Any, camera: Any, point: Any, total: Callable[[Any], Any], joined: Callable[[Any], Any]) -> Any:
    """Where cameras [n, 11] see points [n, 3]; `total` sums rows, as a column."""
    rotation, centre = camera[:, 0:3], camera[:, 3:6]
    angle = xp.sqrt(total(rotation * rotation))
    axis, moved = rotation / angle, point - centre
    cosine, sine = xp.cos(angle), xp.sin(angle)
    turned = moved * cosine + _cross(axis, moved, joined) * sine + axis * (total(axis * moved) * (1.0 - cosine))
    flat = turned[:, 0:2] / turned[:, 2:3]
    square = total(flat * flat)
    distortion = 1.0 + camera[:, 9:10] * square + camera[:, 10:11] * square * square
    return flat * distortion * camera[:, 6:7] + camera[:, 7:9]


def _cross(a: Any, b: Any, joined: Callable[[Any], Any]) -> Any:
    def part(i: int, j: int) -> Any:
        return a[:, i : i + 1] * b[:, j : j + 1] - a[:, j : j + 1] * b[:, i : i + 1]

    return joined([part(1, 2), part(2, 0), part(0, 1)])


def _checked(jacobians: Any) -> float:
    return float(np.abs(np.asarray(jacobians[0])[:100]).sum())


def with_pullback(data: Data) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        cameras, points = (pb.placeholder(pb.float32, x.shape) for x in (data.cameras, data.points))
        camera, point = pb.gather(cameras, data.camera_of), pb.gather(points, data.point_of)

        def total(x: Any) -> Any:
            return pb.reduce_sum(x, 1, keepdims=True)

        error = projected(pb, camera, point, total, lambda parts: pb.concat(parts, 1)) - data.seen
        jacobians = pb.batch_jacobian(error, [camera, point])
        run = pb.Session().make_callable(jacobians, [cameras, points])
    return lambda: _checked(run(data.cameras, data.points))


def with_jax(data: Data) -> Step:
    """Two derivatives of all observations at once; `vmap` of `jacrev` takes 2.9 times as long."""
    import jax
    import jax.numpy as jnp

    def total(x: Any) -> Any:
        return jnp.sum(x, 1, keepdims=True)

    def both(cameras: Any, points: Any) -> Any:
        camera, point = cameras[data.camera_of], points[data.point_of]
        error, pull = jax.vjp(
            lambda c, p: projected(jnp, c, p, total, lambda parts: jnp.concatenate(parts, 1)) - data.seen, camera, point
        )
        rows = [pull(jnp.zeros_like(error).at[:, i].set(1.0)) for i in range(2)]
        return [jnp.stack(parts, 1) for parts in zip(*rows, strict=True)]

    step = jax.jit(both)
    return lambda: _checked([np.asarray(x) for x in step(data.cameras, data.points)])


def with_torch(data: Data) -> Step:
    import torch

    camera_of, point_of = (torch.tensor(x, dtype=torch.long) for x in (data.camera_of, data.point_of))
    seen = torch.tensor(data.seen)

    def step() -> float:
        camera = torch.tensor(data.cameras)[camera_of].requires_grad_()
        point = torch.tensor(data.points)[point_of].requires_grad_()
        error = projected(torch, camera, point, lambda x: x.sum(1, keepdim=True), lambda x: torch.cat(x, 1)) - seen
        rows = [torch.autograd.grad(error[:, i].sum(), (camera, point), retain_graph=True) for i in range(2)]
        return _checked([torch.stack(parts, 1).numpy() for parts in zip(*rows, strict=True)])

    return step


WORKLOADS = [
    Workload(
        f"bundle{name}",
        f"Jacobian of a bundle adjustment: {sizes[0]} cameras, {sizes[1]:,} points, {sizes[2]:,} observations",
        partial(data, *sizes),
        {"pullback": with_pullback, "jax": with_jax, "torch": with_torch},
    )
    for name, sizes in SIZES.items()
]
