"""Stacks of a length that only a run knows: kernels that ask for lengths are traced for one, in a loop over all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.operation import Tensor

ort = pytest.importorskip("onnxruntime")
STACKS: dict[str, tuple[Callable[[Tensor], Tensor], list[int]]] = {
    "bilinear": (lambda x: pb.image.resize(x, [4, 5]), [2, 3, 2]),
    "bicubic": (lambda x: pb.image.resize(x, [3, 2], pb.image.ResizeMethod.BICUBIC), [4, 3, 1]),
    "cosines": (lambda x: pb.signal.dct(x), [5]),
    "frames": (lambda x: pb.signal.frame(x, 3, 2), [7]),
    "inverse": (lambda x: pb.linalg.inv(x + 4.0 * pb.eye(3)), [3, 3]),
    "singular values": (lambda x: pb.linalg.svd(x, compute_uv=False), [3, 2]),
}


@pytest.mark.parametrize("name", STACKS)
def test_values_and_gradients_are_those_of_numpy(name: str) -> None:
    function, shape = STACKS[name]
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [None, *shape])
        y = function(x)
        (dx,) = pb.gradients(pb.reduce_sum(pb.square(y)), [x])
        model = pb.onnx.export({"y": y, "dx": dx}, {"x": x})
        session, plain = ort.InferenceSession(model.SerializeToString()), pb.Session(engine="numpy")
        for count in (1, 3):
            feed: Any = np.random.default_rng(count).standard_normal([count, *shape]).astype(np.float32)
            for found, expected in zip(
                session.run(["y", "dx"], {"x": feed}), plain.run([y, dx], {x: feed}), strict=True
            ):
                np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


def test_complex_stacks_are_pairs() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.complex64, [None, 2, 2])
        y = pb.linalg.inv(x)
        session = ort.InferenceSession(pb.onnx.export({"y": y}, {"x": x}).SerializeToString())
        feed = (np.array([[[2, 1j], [0, 1]], [[1, 0], [3, 1 - 1j]]])).astype(np.complex64)
        (found,) = session.run(None, {"x": np.stack([feed.real, feed.imag], -1)})
        np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], np.linalg.inv(feed), rtol=1e-5, atol=1e-6)


def test_what_depends_on_the_place_is_not_taken_one_by_one() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [None, 3], name="x")
        y = pb.linalg.band_part(x, 0, -1, name="y")
        with pytest.raises(pb.errors.UnimplementedError, match="MatrixBandPart"):
            pb.onnx.export({"y": y}, {"x": x})
