"""Sparsity patterns are exact: an entry stands wherever the Jacobian differs from zero somewhere, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.derivatives.pattern import jacobian_pattern

N = 24
NUMBERS = np.arange(1.0, 1.0 + N)
nn = pb.nn


def _filters(*shape: int) -> Any:
    return pb.constant(np.random.default_rng(1).normal(size=shape))


def _images(x: Any, *shape: int) -> Any:
    return pb.reshape(x, shape)


ROWS: dict[str, Callable[[Any], Any]] = {
    "bias": lambda x: nn.bias_add(_images(x, 2, 3, 4), x[:4]),
    "bias, channels first": lambda x: nn.bias_add(_images(x, 2, 3, 4), x[:3], data_format="NCHW"),
    "softmax": lambda x: nn.softmax(_images(x, 4, 6)),
    "softmax along another axis": lambda x: nn.softmax(_images(x, 2, 3, 4), axis=1),
    "log softmax": lambda x: nn.log_softmax(_images(x, 4, 6)),
    "cumulative sums": lambda x: pb.cumsum(_images(x, 4, 6), axis=1),
    "cumulative sums, exclusive": lambda x: pb.cumsum(_images(x, 4, 6), axis=0, exclusive=True),
    "cumulative sums from the end": lambda x: pb.cumsum(_images(x, 4, 6), axis=1, reverse=True),
    "cumulative products": lambda x: pb.math.cumprod(_images(x, 4, 6), axis=1),
    "cumulative logsumexp": lambda x: pb.math.cumulative_logsumexp(_images(x, 4, 6), axis=1),
    "products of stacks": lambda x: pb.matmul(_images(x, 2, 3, 4), _images(x, 2, 4, 3)),
    "products of transposed stacks": lambda x: pb.matmul(
        _images(x, 2, 3, 4), _images(x, 2, 3, 4), transpose_a=True, name="p"
    ),
    "a stack times one matrix": lambda x: pb.matmul(_images(x, 4, 2, 3), _filters(3, 2)),
    "einsum of two": lambda x: pb.einsum("bij,bkj->bik", _images(x, 2, 3, 4), _images(x, 2, 3, 4)),
    "einsum of a diagonal": lambda x: pb.einsum("bii->bi", pb.reshape(x[:18], [2, 3, 3])),
    "einsum that sums a diagonal": lambda x: pb.einsum("bii->b", pb.reshape(x[:18], [2, 3, 3])),
    "einsum with a diagonal": lambda x: pb.einsum(
        "bii,ij->bj", pb.reshape(x[:18], [2, 3, 3]), pb.reshape(x[-6:], [3, 2])
    ),
    "einsum of two to a diagonal": lambda x: pb.einsum("i,j->iij", x[:3], x[3:7]),
    "einsum to a diagonal": lambda x: pb.einsum("bi->bii", _images(x, 8, 3)),
    "einsum with dots": lambda x: pb.einsum("...ij,jk->...ik", _images(x, 2, 3, 4), _filters(4, 2)),
    "outer products": lambda x: pb.einsum("i,j->ij", x[:4], x[4:7]),
    "conv1d": lambda x: nn.conv1d(_images(x, 2, 6, 2), _filters(3, 2, 2), 1, "SAME"),
    "conv1d by filters": lambda x: nn.conv1d(_filters(1, 7, 4), _images(x, 3, 4, 2), 1, "SAME"),
    "conv1d, channels first": lambda x: nn.conv1d(_images(x, 2, 2, 6), _filters(3, 2, 2), 2, "SAME", "NCW"),
    "conv1d in groups": lambda x: nn.conv1d(_images(x, 1, 6, 4), _filters(2, 2, 4), 1, "VALID"),
    "conv1d in groups by filters": lambda x: nn.conv1d(_filters(1, 5, 4), _images(x, 3, 2, 4), 1, "VALID"),
    "conv1d with holes": lambda x: nn.conv1d(_images(x, 1, 12, 2), _filters(3, 2, 2), 1, "SAME", dilations=2),
    "conv2d": lambda x: nn.conv2d(_images(x, 1, 4, 6, 1), _filters(2, 3, 1, 2), [1, 2, 1, 1], "SAME"),
    "conv3d": lambda x: nn.conv3d(_images(x, 1, 3, 4, 2, 1), _filters(2, 2, 2, 1, 1), [1] * 5, "VALID"),
    "depthwise": lambda x: nn.depthwise_conv2d(_images(x, 1, 3, 4, 2), _filters(2, 2, 2, 2), [1] * 4, "SAME"),
    "depthwise by filters": lambda x: nn.depthwise_conv2d(
        _filters(1, 4, 4, 3), _images(x, 2, 2, 3, 2), [1] * 4, "VALID"
    ),
    "transposed": lambda x: nn.conv2d_transpose(_images(x, 1, 3, 4, 2), _filters(2, 2, 1, 2), [1, 6, 8, 1], 2),
    "transposed by filters": lambda x: nn.conv1d_transpose(_filters(1, 4, 4), _images(x, 3, 2, 4), [1, 8, 2], 2),
    "largest of windows": lambda x: nn.max_pool2d(_images(x, 1, 4, 6, 1), 2, 2, "VALID"),
    "largest of windows that overlap": lambda x: nn.max_pool1d(_images(x, 1, 12, 2), 3, 2, "SAME"),
    "largest of windows with their places": lambda x: nn.max_pool_with_argmax(_images(x, 1, 4, 6, 1), 2, 2, "VALID")[0],
    "largest of the largest of windows": lambda x: nn.max_pool1d(
        nn.max_pool1d(_images(x * x, 1, 12, 2), 2, 2, "SAME"), 3, 3, "VALID"
    ),
    "largest of windows, times other elements": lambda x: (
        nn.max_pool1d(_images(x, 1, 24, 1), 4, 4, "SAME") * x[9:15, None]
    ),
    "means of windows": lambda x: nn.avg_pool2d(_images(x, 1, 4, 3, 2), 2, 1, "SAME"),
    "means of windows, channels first": lambda x: nn.avg_pool1d(_images(x, 1, 2, 12), 3, 2, "SAME", "NCW"),
    "gathered along an axis": lambda x: pb.gather(_images(x, 2, 3, 4), [2, 0, 2], axis=2),
    "gathered in batches": lambda x: pb.gather(_images(x, 2, 12), [[1, 3], [0, 11]], batch_dims=1),
    "taken along": lambda x: (
        pb.experimental.numpy.take_along_axis(_images(x, 4, 6), np.array([[1], [0], [5], [5]]), 1)
        if hasattr(pb, "experimental")
        else x
    ),
    "scattered": lambda x: pb.scatter_nd([[1], [3], [1]], pb.reshape(x[:6], [3, 2]), [5, 2]),
    "updated": lambda x: pb.tensor_scatter_nd_update(x, [[1], [3]], x[4:6] * x[:2]),
    "sums of segments": lambda x: pb.math.segment_sum(_images(x, 6, 4), [0, 0, 1, 3, 3, 3]),
    "largest along an axis": lambda x: pb.reduce_max(_images(x, 6, 4), axis=1),
    "products along axes": lambda x: pb.reduce_prod(_images(x, 2, 3, 4), axis=[0, 2], keepdims=True),
    "norms": lambda x: pb.norm(_images(x, 6, 4), axis=1),
    "logsumexp": lambda x: pb.reduce_logsumexp(_images(x, 6, 4), axis=0),
    "means": lambda x: pb.reduce_mean(_images(x, 6, 4), axis=1, keepdims=True),
    "moments": lambda x: nn.moments(_images(x, 6, 4), [1])[1],
    "cross entropy": lambda x: nn.softmax_cross_entropy_with_logits(_filters(4, 6), _images(x, 4, 6)),
    "sparse cross entropy": lambda x: nn.sparse_softmax_cross_entropy_with_logits([1, 0, 3, 2], _images(x, 4, 6)),
    "a shift with something put in": lambda x: pb.math.cumprod(_images(x, 4, 6), axis=1, exclusive=True),
    "inverses of a stack": lambda x: pb.linalg.inv(_images(x, 6, 2, 2) + 9.0 * np.eye(2)),
    "systems of a stack": lambda x: pb.linalg.solve(_images(x, 6, 2, 2) + 9.0 * np.eye(2), _filters(6, 2, 1)),
    "determinants of a stack": lambda x: pb.linalg.det(_images(x, 6, 2, 2)),
    "cumulative logsumexp, exclusive": lambda x: pb.math.cumulative_logsumexp(_images(x, 4, 6), axis=1, exclusive=True),
    "largest of segments": lambda x: pb.math.segment_max(_images(x, 12, 2), np.repeat([0, 1, 3], 4)),
    "products of segments": lambda x: pb.math.segment_prod(_images(x, 12, 2), np.repeat([0, 1, 3], 4)),
    "largest of what is scattered": lambda x: pb.tensor_scatter_nd_max(x[:12], [[1], [3], [1]], x[12:15]),
    "products of what is scattered": lambda x: (
        pb.tensor_scatter_nd_mul(x[:12], [[1], [3], [4]], x[12:15]) if hasattr(pb, "tensor_scatter_nd_mul") else x
    ),
    "resized": lambda x: pb.image.resize(_images(x, 1, 4, 6, 1), [6, 3]),
    "resized by areas": lambda x: pb.image.resize(_images(x, 1, 4, 6, 1), [2, 4], "area"),
    "normalised by neighbours": lambda x: nn.local_response_normalization(_images(x, 1, 2, 2, 6), 1),
    "products with a matrix that has zeros": lambda x: pb.matmul(_images(x, 4, 6), np.tri(6)),
    "cross products": lambda x: pb.linalg.cross(_images(x, 2, 4, 3)[0], _images(x, 2, 4, 3)[1]),
    "diagonals set": lambda x: pb.linalg.set_diag(pb.reshape(x[:18], [2, 3, 3]), pb.reshape(x[18:], [2, 3])),
    "tridiagonal products": lambda x: pb.linalg.tridiagonal_matmul(
        _filters(3, 8), _images(x, 8, 3), diagonals_format="compact"
    ),
    "triangular systems": lambda x: pb.linalg.triangular_solve(np.tri(6) + np.eye(6), _images(x, 6, 4)),
    "dilation": lambda x: nn.dilation2d(_images(x, 1, 4, 6, 1), 0.1 * _filters(2, 2, 1), 1, "VALID"),
    "mapped": lambda x: pb.map_fn(lambda row: pb.sin(row) * row[0], _images(x, 6, 4)),
    "mapped with what is around": lambda x: pb.map_fn(lambda row: row * x[:2], _images(x, 12, 2)),
    "vectorized": lambda x: pb.vectorized_map(lambda row: pb.cumsum(row) * x[0], _images(x, 6, 4)),
    "scanned": lambda x: pb.scan(lambda s, row: s * pb.sin(row), _images(x, 6, 4)),
    "folded": lambda x: pb.foldl(lambda s, row: s * pb.sin(row), _images(x, 6, 4)),
    "a loop that counts": lambda x: pb.while_loop(
        lambda i, s: i < 3, lambda i, s: (i + 1, s * pb.gather(x, i)), [0, x[5:9]]
    )[1],
    "called": lambda x: pb.function(lambda a, b: a * b[::-1])(x[:6], x[6:12]),
    "a branch": lambda x: pb.cond(x[0] > 0.0, lambda: x[:4] * x[4:8], lambda: pb.sin(x[8:12])),
    "a branch that is always taken": lambda x: pb.cond(
        pb.constant(5) > 4, lambda: x[:4] * x[4:8], lambda: pb.cumsum(x)[:4]
    ),
    "one branch of several": lambda x: pb.switch_case(
        pb.constant(7), [lambda: pb.cumsum(x), lambda: pb.exp(x), lambda: pb.sin(x)]
    ),
    "branches of one condition": lambda x: (
        pb.cond(x[0] > 0.0, lambda: x[:4] * x[4:8], lambda: x[8:12])
        + pb.cond(x[1] > 0.0, lambda: pb.sin(x[:4]), lambda: x[4:8] * x[12:16])
    ),
    "chosen by what is known": lambda x: pb.where(np.arange(N) % 3 == 0, x * x[0], pb.sin(x)),
    "crops": lambda x: pb.image.crop_and_resize(
        _images(x, 2, 4, 3, 1), [[0.0, 0.0, 0.5, 0.5], [0.1, 0.1, 0.9, 1.2]], [0, 1], [2, 2]
    ),
    "crops of nearest pixels": lambda x: pb.image.crop_and_resize(
        _images(x, 1, 4, 3, 2), [[0.0, 0.0, 0.5, 0.5]], [0], [2, 2], method="nearest"
    ),
    "flat dilation": lambda x: nn.dilation2d(_images(x, 1, 4, 6, 1), np.zeros([2, 2, 1]), 1, "VALID"),
    "repeated": lambda x: pb.repeat(x, 2) * pb.tile(x, [2]),
}
INEXACT_HESSIANS = {
    "products of segments": "where a segment ends is a value",
    "largest of what is scattered": "which element is the largest is a value",
    "dilation": "which element gives the largest sum is a value",
    "flat dilation": "which element is the largest is a value",
}


def _entries(y: Any, x: Any) -> Any:
    """The entries that are not zero at one of some random points: sixteen after the last that showed one."""
    full = pb.jacobian(y, x)
    session = pb.Session(engine="numpy")
    random = np.random.default_rng(0)
    found, vain = np.zeros([int(np.prod(y.shape.known)), N], bool), 0
    while vain < 16:
        there = np.abs(session.run(full, {x: random.normal(size=N)}).reshape(found.shape)) > 1e-13
        vain = 0 if (there & ~found).any() else vain + 1
        found |= there
    return found


def test_the_slope_of_eigenvalues_has_a_pattern() -> None:
    x = pb.placeholder(pb.float64, [N])
    (slope,) = pb.gradients(pb.reduce_sum(pb.sin(pb.linalg.eigvalsh(_images(x, 6, 2, 2)))), x)
    assert not (_entries(slope, x) & ~jacobian_pattern(slope, x).toarray()).any()
    assert jacobian_pattern(slope, x).nnz <= 6 * 16


@pytest.mark.parametrize("name", ROWS)
def test_the_pattern_of_a_jacobian_is_exact(name: str) -> None:
    x = pb.placeholder(pb.float64, [N])
    y = ROWS[name](x)
    np.testing.assert_array_equal(jacobian_pattern(y, x, {x: NUMBERS}).toarray(), _entries(y, x))


@pytest.mark.parametrize("name", INEXACT_HESSIANS)
def test_no_entry_of_a_hessian_is_missing(name: str) -> None:
    x = pb.placeholder(pb.float64, [N])
    (slope,) = pb.gradients(pb.reduce_sum(pb.sin(ROWS[name](x))), x)
    found = jacobian_pattern(pb.convert_to_tensor(slope), x, {x: NUMBERS}).toarray()
    assert not (_entries(slope, x) & ~found).any()


@pytest.mark.parametrize("name", [name for name in ROWS if name not in INEXACT_HESSIANS])
def test_the_pattern_of_a_hessian_is_exact(name: str) -> None:
    x = pb.placeholder(pb.float64, [N])
    (slope,) = pb.gradients(pb.reduce_sum(pb.sin(ROWS[name](x))), x)
    np.testing.assert_array_equal(
        jacobian_pattern(pb.convert_to_tensor(slope), x, {x: NUMBERS}).toarray(), _entries(slope, x)
    )
