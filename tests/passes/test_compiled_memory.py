"""Memory of compiled programs: what XLA takes is what the cost model says, for a class of operations and of nets."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.graph import Tensor
from pullback.passes.costs import compiled_scratch
from pullback.passes.run_lengths import Lengths
from pullback.primitives.convolution.formulations import depthwise_chunks

jax = pytest.importorskip("jax")

of_xla_0_10 = pytest.mark.skipif(
    jax.__version_info__ >= (0, 11), reason="newer XLA keeps one more copy of what a derivative by filters is given"
)
Layer = Callable[[Tensor], tuple[Tensor, list[Tensor]]]
KNOWN = Lengths()
CONVOLUTIONS = [
    # Batch, pixels, channels, results' channels, window, strides.
    *product([4, 32], [16], [3, 32], [32], [3, 5], [1, 2]),
    *product([4, 32], [32], [16], [16], [3], [1, 2]),
    (16, 32, 64, 3, 3, 1),
    (64, 16, 64, 8, 5, 1),
    (16, 32, 1, 8, 3, 1),
    (8, 32, 7, 32, 3, 1),
    (4, 32, 128, 64, 3, 1),
    (8, 8, 32, 32, 1, 2),
]
DEPTHWISE = [
    *product([2, 16], [32], [16], [1, 3, 5], [1, 2]),
    (16, 16, 32, 3, 1),
    (32, 32, 32, 7, 1),
    (16, 32, 16, 9, 2),
]


def weights(*shape: int) -> Tensor:
    random = np.random.default_rng(len(shape))
    return pb.Variable((random.normal(size=shape) / np.prod(shape[:-1]) ** 0.5).astype(np.float32))


def taken(fetches: Any, x: Sequence[Tensor]) -> int:
    """The bytes that XLA takes beside what is fed."""
    session = pb.Session(engine="xla")
    session.run(pb.global_variables_initializer())
    found = session.compiled_memory(fetches, {y: np.ones(y.shape.known, y.dtype) for y in x})
    return found["temporary"] + found["outputs"]


def check(y: Tensor, x: Tensor, f: Tensor, wanted: str) -> None:
    """That a convolution, or a derivative, takes what is said, with all that it reads and makes."""
    dy = pb.placeholder(pb.float32, y.shape.known)
    found = y if wanted == "result" else pb.gradients(y, x if wanted == "image" else f, dy)[0]
    feeds = {"result": [x, f], "image": [f, dy], "filters": [x, dy]}[wanted]
    beside = sum([KNOWN.bytes(z) for z in feeds])
    expected = compiled_scratch(found.op, KNOWN) + KNOWN.bytes(found)
    assert taken(found, feeds) + beside == pytest.approx(expected + beside, rel=0.1)


@pytest.mark.parametrize("wanted", ["result", "image", pytest.param("filters", marks=of_xla_0_10)])
@pytest.mark.parametrize("sizes", CONVOLUTIONS, ids=repr)
def test_a_convolution_takes_what_its_formulation_does(sizes: Sequence[int], wanted: str) -> None:
    batch, pixels, depth, count, window, stride = sizes
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [batch, pixels, pixels, depth])
        f = pb.placeholder(pb.float32, [window, window, depth, count])
        check(pb.nn.conv2d(x, f, stride, "SAME"), x, f, wanted)


@pytest.mark.parametrize("wanted", ["result", "image", "filters"])
@pytest.mark.parametrize("sizes", DEPTHWISE, ids=repr)
def test_a_depthwise_convolution_takes_what_its_formulation_does(sizes: Sequence[int], wanted: str) -> None:
    batch, pixels, depth, window, stride = sizes
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [batch, pixels, pixels, depth])
        f = pb.placeholder(pb.float32, [window, window, depth, 1])
        check(pb.nn.depthwise_conv2d(x, f, [1, stride, stride, 1], "SAME"), x, f, wanted)


def dense(window: int, count: int, stride: int = 1, activation: Any = pb.nn.relu) -> Layer:
    def layer(x: Tensor) -> tuple[Tensor, list[Tensor]]:
        f = weights(window, window, x.shape.known[-1], count)
        return activation(pb.nn.conv2d(x, f, stride, "SAME")), [f]

    return layer


def depthwise(window: int, stride: int = 1) -> Layer:
    def layer(x: Tensor) -> tuple[Tensor, list[Tensor]]:
        f = weights(window, window, x.shape.known[-1], 1)
        return pb.nn.relu(pb.nn.depthwise_conv2d(x, f, [1, stride, stride, 1], "SAME")), [f]

    return layer


def biased(x: Tensor) -> tuple[Tensor, list[Tensor]]:
    b = weights(x.shape.known[-1])
    return pb.nn.relu(x + b), [b]


def pooled(x: Tensor) -> tuple[Tensor, list[Tensor]]:
    return pb.nn.max_pool2d(x, 2, 2, "SAME"), []


NETS: dict[str, tuple[Sequence[int], list[Layer]]] = {
    "16 channels": ([16, 32, 32, 16], [dense(3, 16)] * 6),
    "16 channels, 64 images": ([64, 32, 32, 16], [dense(3, 16)] * 4),
    "32 channels": ([32, 32, 32, 32], [dense(3, 32)] * 5),
    "8 images": ([8, 32, 32, 32], [dense(3, 32)] * 6),
    "wide": ([4, 32, 32, 64], [dense(5, 64)] * 5),
    "strides": ([32, 64, 64, 3], [dense(5, 32, 2), dense(3, 64, 2), dense(3, 64), dense(3, 128, 2)]),
    "tanh": ([32, 16, 16, 64], [dense(3, 64, activation=pb.tanh)] * 5),
    "pools": ([32, 32, 32, 3], [dense(3, 32, activation=pb.identity), biased, pooled, dense(3, 64), pooled]),
    "one channel": ([64, 28, 28, 1], [dense(5, 8), pooled, dense(3, 16), pooled, dense(3, 16)]),
    "to three": ([8, 64, 64, 32], [dense(3, 32), dense(3, 32), dense(3, 3)]),
    "pointwise": ([32, 16, 16, 64], [dense(1, 64)] * 6),
    "depthwise, 3": ([32, 32, 32, 32], [depthwise(3), dense(1, 32)] * 4),
    "depthwise, 5": ([32, 32, 32, 32], [depthwise(5)] * 3),
    "depthwise, 7": ([16, 32, 32, 32], [depthwise(7)] * 3),
    "depthwise, 9": ([8, 32, 32, 32], [depthwise(9)] * 4),
    "depthwise, strides": ([32, 32, 32, 32], [depthwise(3, 2), dense(1, 64), depthwise(3, 2), dense(1, 64)]),
}


def built(name: str) -> tuple[Tensor, list[Any]]:
    shape, layers = NETS[name]
    y = x = pb.placeholder(pb.float32, list(shape))
    parameters: list[Tensor] = []
    for layer in layers:
        y, more = layer(y)
        parameters += more
    loss = pb.reduce_mean(y * y)
    return x, [loss, *pb.gradients(loss, parameters)]


@of_xla_0_10
@pytest.mark.parametrize("name", NETS)
def test_a_net_takes_the_predicted_memory(name: str) -> None:
    with pb.Graph().as_default():
        x, fetches = built(name)
        peak = pb.rematerialize(fetches, "1TB").report.compiled_peak
        assert taken(fetches, [x]) == pytest.approx(peak, rel=0.1)


FIRST = """
import numpy as np
import pullback as pb
x, f = pb.placeholder(pb.float32, [32, 32, 32, 32]), pb.constant(np.full([3, 3, 32, 1], 0.1, np.float32))
y = x
for _ in range(3):
    y = pb.nn.relu(pb.nn.depthwise_conv2d(y, f, [1, 1, 1, 1], "SAME"))
df = pb.gradients(pb.reduce_mean(y * y), f)
image = np.ones(x.shape.known, np.float32)
print(len({pb.Session(engine="xla").compiled_memory(df, {x: image})["temporary"] for _ in range(2)}))
"""


def test_the_first_program_of_a_process_takes_what_others_do() -> None:
    assert subprocess.run([sys.executable, "-c", FIRST], capture_output=True, check=True).stdout == b"1\n"


@of_xla_0_10
@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("8 images", 0.2),
        ("pools", 0.3),
        ("one channel", 0.3),
        ("to three", 0.3),
        ("depthwise, 3", 0.5),
        ("depthwise, 3", 0.2),
        pytest.param("depthwise, 5", 0.7, marks=pytest.mark.slow),
        ("depthwise, 5", 0.3),
        pytest.param("depthwise, 9", 0.3, marks=pytest.mark.slow),
        pytest.param("16 channels", 0.7, marks=pytest.mark.slow),
        ("16 channels", 0.5),
        ("32 channels", 0.2),
        ("strides", 0.3),
        pytest.param("tanh", 0.3, marks=pytest.mark.slow),
    ],
)
def test_a_net_within_a_budget_takes_the_predicted_memory(name: str, share: float) -> None:
    with pb.Graph().as_default():
        x, fetches = built(name)
        plain = pb.rematerialize(fetches, "1TB").report.plain_peak
        found, report = pb.rematerialize(fetches, round(plain * share))
        assert report.microbatches > 1 or report.recomputed
        assert taken(found, [x]) == pytest.approx(report.compiled_peak, rel=0.1)


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "relu6": pb.nn.relu6,
    "gelu": pb.nn.gelu,
    "gelu by tanh": partial(pb.nn.gelu, approximate=True),
    "silu": pb.nn.silu,
    "log_softmax": pb.nn.log_softmax,
    "sigmoid": pb.sigmoid,
    "elu": pb.nn.elu,
    "softplus": pb.math.softplus,
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_of_an_activation_what_its_derivative_reads_is_kept(name: str) -> None:
    with pb.Graph().as_default():
        y = x = pb.placeholder(pb.float32, [512, 64])
        parameters = [weights(64, 64) for _ in range(8)]
        for w in parameters:
            y = ACTIVATIONS[name](y @ w)
        loss = pb.reduce_mean(y * y)
        fetches = [loss, *pb.gradients(loss, parameters)]
        report = pb.rematerialize(fetches, "1TB").report
        assert taken(fetches, [x]) == pytest.approx(report.compiled_peak, rel=0.1)
        found, report = pb.rematerialize(fetches, round(report.plain_peak * 0.75))
        assert taken(found, [x]) < 1.1 * report.compiled_peak


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_products_of_halves_are_made_in_float32(dtype: str) -> None:
    with pb.Graph().as_default():
        y = x = pb.placeholder(dtype, [512, 64])
        parameters = [pb.placeholder(dtype, [64, 64]) for _ in range(8)]
        for w in parameters:
            y = pb.nn.relu(y @ w)
        loss = pb.reduce_mean(y * y)
        fetches = [loss, *pb.gradients(loss, parameters)]
        report = pb.rematerialize(fetches, "1TB").report
        assert taken(fetches, [x, *parameters]) == pytest.approx(report.compiled_peak, rel=0.1)


def attention(x: Tensor, parameters: list[Tensor]) -> Tensor:
    rows, width = x.shape.known

    def heads(w: Tensor) -> Tensor:
        return pb.transpose(pb.reshape(x @ w, [-1, 64, 4, width // 4]), [0, 2, 1, 3])

    q, k, v = map(heads, parameters)
    mixed = pb.nn.softmax(pb.matmul(q, k, transpose_b=True)) @ v
    return x + pb.reshape(pb.transpose(mixed, [0, 2, 1, 3]), [rows, width])


def attending() -> tuple[Tensor, list[Any]]:
    y = x = pb.placeholder(pb.float32, [1024, 128])
    parameters = [weights(128, 128) for _ in range(15)]
    for i in range(0, 15, 3):
        y = attention(y, parameters[i : i + 3])
    loss = pb.reduce_mean(y * y)
    return x, [loss, *pb.gradients(loss, parameters)]


@pytest.mark.parametrize("share", [0.6, 0.5])
def test_what_is_transposed_is_kept_once(share: float) -> None:
    with pb.Graph().as_default():
        x, fetches = attending()
        plain = pb.rematerialize(fetches, "1TB").report.plain_peak
        found, report = pb.rematerialize(fetches, round(plain * share))
        assert report.recomputed
        assert taken(found, [x]) == pytest.approx(report.compiled_peak, rel=0.1)


def test_what_computes_again_is_exported_for_others() -> None:
    with pb.Graph().as_default():
        y = x = pb.placeholder(pb.float32, [64, 32])
        for _ in range(6):
            y = pb.transpose(pb.tanh(pb.transpose(y) @ y @ pb.ones([32, 64])))
        fetches = [pb.reduce_sum(y), *pb.gradients(pb.reduce_sum(y), x)]
        plain = pb.rematerialize(fetches, "1TB").report.plain_peak
        found, report = pb.rematerialize(fetches, round(plain * 0.7))
        assert report.recomputed
        assert "LayoutConstraint" not in pb.xla.to_stablehlo(found, [x], platform="cpu").mlir_module()


@pytest.mark.parametrize(("batch", "size", "chunks"), [(16, 1 << 18, 8), (7, 1 << 18, 7), (2, 1 << 14, 1), (0, 0, 1)])
def test_a_batch_is_cut_into_equal_parts_that_are_large_enough(batch: int, size: int, chunks: int) -> None:
    assert depthwise_chunks(batch, size) == chunks
