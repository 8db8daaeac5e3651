"""Complex arrays whose lengths only the run knows are moved, added up and multiplied in ONNX, by parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

X = np.array([1 + 2j, 3 - 1j, 0.5], np.complex64)
MADE: dict[str, Callable[[pb.Tensor, pb.Tensor], Any]] = {
    "zeros_like": lambda x, n: pb.zeros_like(x) + x,
    "ones": lambda x, n: pb.ones(n, pb.complex64) * x,
    "ones_like": lambda x, n: pb.ones_like(pb.math.real(x), dtype=pb.complex64) * x,
    "fill": lambda x, n: pb.fill(n, x[0]),
    "eye": lambda x, n: pb.eye(n[0], dtype=pb.complex64) * x,
    "one_hot": lambda x, n: pb.one_hot([0, 1], n[0], dtype=pb.complex64) * x,
    "broadcast_to": lambda x, n: pb.broadcast_to(x[:1], n),
    "pad": lambda x, n: pb.pad(x, [[1, 2]]),
    "tile": lambda x, n: pb.tile(x, n),
    "reshape": lambda x, n: pb.reshape(x, [1, -1]),
    "transpose": lambda x, n: pb.transpose(pb.stack([x, 2 * x])),
    "split": lambda x, n: pb.concat(pb.split(pb.stack([x, 3 * x]), 2), 1),
    "gather": lambda x, n: pb.gather(x, [2, 0, 0]),
    "gather_nd": lambda x, n: pb.gather_nd(x, [[1], [1]]),
    "reverse": lambda x, n: pb.reverse(x, [0]),
    "roll": lambda x, n: pb.roll(x, 1, 0),
    "slice": lambda x, n: x[1:][::-1],
    "scatter_nd": lambda x, n: pb.scatter_nd([[0]], x[:1], n),
    "tensor_scatter_nd_update": lambda x, n: pb.tensor_scatter_nd_update(x, [[1]], x[:1]),
    "segment_sum": lambda x, n: pb.math.segment_sum(x, [0, 0, 1]),
    "unsorted_segment_sum": lambda x, n: pb.math.unsorted_segment_sum(x, [0, 0, 1], n[0]),
    "reduce_sum": lambda x, n: pb.reduce_sum(x * x),
    "reduce_mean": lambda x, n: pb.reduce_mean(pb.stack([x, x * x]), 0),
    "cumsum": lambda x, n: pb.cumsum(x, exclusive=True),
    "matmul": lambda x, n: pb.matmul(x[None] * x[:, None], x[:, None], adjoint_a=True),
    "tensordot": lambda x, n: pb.tensordot(x, x * x, 1),
    "einsum": lambda x, n: pb.einsum("i,j->ij", x, x),
    "where": lambda x, n: pb.where(pb.math.real(x) > 0.7, x, -x),
}


@pytest.mark.parametrize("name", MADE)
def test_values_and_derivatives_are_those_of_numpy(name: str) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.complex64, [None])
        y = MADE[name](x, pb.shape(x))
        (dx,) = pb.gradients(pb.reduce_sum(pb.math.real(y * (y + 1j))), x)
        with pb.densify_policy("allow"):
            fetches = [y, pb.convert_to_tensor(dx)]
        found = [pb.Session(engine=engine).run(fetches, {x: X}) for engine in ("onnxruntime", "numpy")]
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_what_is_no_sum_of_its_parts_is_refused() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.complex64, [None])
        for y in (pb.reduce_prod(x), pb.pad(x, [[1, 0]], constant_values=1)):
            with pytest.raises(pb.errors.UnimplementedError, match="these operations cannot be written"):
                pb.onnx.export({"y": pb.math.real(y)})


@pytest.mark.parametrize("pad_end", [False, True])
@pytest.mark.parametrize("count", [0, 3, 4, 11, 100])
def test_signals_of_any_length_are_cut_into_frames_and_put_together(count: int, pad_end: bool) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [None])
        frames = pb.signal.frame(x, 4, 3, pad_end=pad_end, pad_value=2)
        spectrum = pb.signal.stft(x, 4, 2, pad_end=pad_end)
        whole = [pb.signal.overlap_and_add(frames, 3), pb.signal.inverse_stft(spectrum, 4, 2)]
        parts = [frames, *whole, pb.math.real(spectrum), pb.math.imag(spectrum)]
        fetches = [*parts, pb.gradients(sum(pb.reduce_sum(y * y) for y in parts), x)[0]]
        feeds = {x: np.sin(np.arange(count, dtype=np.float32))}
        found = [pb.Session(engine=engine).run(fetches, feeds) for engine in ("onnxruntime", "numpy")]
        for a, b in zip(*found, strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
