"""Sampled softmax and noise-contrastive estimation: losses over so many classes that only a sample is looked at.

A sample without repetition is a race: class k arrives after an exponentially distributed time of rate p(k), and the
first to arrive are taken. They are distributed as draws that go on until so many different classes are found, and
1 - exp(-t p(k)), t the time of the last, takes the place of the expected number of k among them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INTEGER, int64
from ...core.operation import Tensor
from ...core.typing import TensorLike
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.creation.fill import ones_like, zeros_like
from ...primitives.elementwise.exponential import exp, expm1, log
from ...primitives.elementwise.maximum import minimum
from ...primitives.elementwise.rounding import floor
from ...primitives.identity.identity import stop_gradient
from ...primitives.indexing.gather import embedding_lookup, gather
from ...primitives.indexing.where import where
from ...primitives.linalg.matmul import matmul
from ...primitives.logic.comparison import equal
from ...primitives.losses.cross_entropy import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from ...primitives.random.stateful import random_uniform
from ...primitives.reduction.reduce import reduce_any, reduce_sum
from ...primitives.shape.reshape import reshape
from ...primitives.shape.size import shape
from ...primitives.shape.squeeze import ExpandDims
from ...primitives.shape.stacking import concat, split
from ...primitives.sorting.sort import top_k


class Sample(NamedTuple):
    """Classes that were drawn, and how often true ones and these are expected among as many."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


Drawn = tuple[TensorLike, TensorLike, TensorLike]
"""The same, as a caller may give it."""


def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Sample:
    """Classes drawn with probabilities `log((k + 2) / (k + 1)) / log(range_max + 1)`: those of words by rank.

    Returns them, and how often each of `true_classes`, and each of them, is expected in such a sample.

    Shapes: `true_classes` [n, num_true]; the results [num_sampled], [n, num_true] and [num_sampled]. Dtypes: the
    classes are int64, the expectations float32.

    Raises:
        ValueError: more different classes are asked for than there are, or a number is not positive.

    >>> import pullback as pb
    >>> sample, _, _ = pb.random.log_uniform_candidate_sampler([[0]], 1, 5, True, 5)
    >>> sorted(pb.Session().run(sample).tolist())
    [0, 1, 2, 3, 4]
    """
    k = np.arange(max(range_max, 1))
    chances = np.log((k + 2) / (k + 1)) / np.log(range_max + 1)
    what = "log_uniform_candidate_sampler"
    scale = float(np.log(range_max + 1))
    numbers = (num_true, num_sampled, range_max)
    return _sampled(what, true_classes, numbers, unique, chances, lambda u: exp(u * scale) - 1, seed, name)


def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Sample:
    """Classes drawn with the same probability each; see `log_uniform_candidate_sampler`.

    Shapes: as there. Dtypes: as there.

    Raises:
        ValueError: more different classes are asked for than there are, or a number is not positive.

    >>> import pullback as pb
    >>> _, expected, _ = pb.random.uniform_candidate_sampler([[0]], 1, 5, False, 10)
    >>> pb.Session().run(expected)
    array([[0.5]], dtype=float32)
    """
    chances = np.full(max(range_max, 1), 1 / max(range_max, 1))
    what = "uniform_candidate_sampler"
    numbers = (num_true, num_sampled, range_max)
    return _sampled(what, true_classes, numbers, unique, chances, lambda u: u * range_max, seed, name)


def _sampled(
    what: str,
    true_classes: Any,
    numbers: tuple[int, int, int],
    unique: bool,
    chances: np.ndarray[Any, Any],
    place: Callable[[Tensor], Tensor],
    seed: int | None,
    name: str | None,
) -> Sample:
    """`place` takes a uniform number to a class and a fraction."""
    _, count, classes = numbers
    if min(numbers) < 1 or (unique and count > classes):
        raise ValueError(f"{what}: {count} {'different ' if unique else ''}classes of {classes} cannot be drawn")
    true = cast(convert_to_tensor(true_classes), int64)
    with true.graph.within(name or what):
        if unique:
            times = -log(1 - random_uniform([classes], seed=seed)) / chances.astype(np.float32)
            first, sample = top_k(-times, count)
            until = -first[count - 1]

            def expected(k: Tensor) -> Tensor:
                return -expm1(-until * gather(chances.astype(np.float32), k))

        else:
            sample = minimum(floor(place(random_uniform([count], seed=seed))), float(classes - 1))

            def expected(k: Tensor) -> Tensor:
                return gather((chances * count).astype(np.float32), k)

        sample = cast(sample, int64)
        return Sample(sample, expected(true), expected(sample))


@in_graph_of_inputs
def sampled_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Drawn | None = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str | None = "sampled_softmax_loss",
) -> Tensor:
    """The softmax cross entropy of a linear layer over many classes, with a sample of them in place of all.

    `sampled_values` is what a sampler returns, `log_uniform_candidate_sampler` unless given; with
    `remove_accidental_hits` sampled classes that are the true one of a row do not count there. For training: its mean
    over samples is not the full loss.

    Shapes: `weights` [num_classes, d]; `biases` [num_classes]; `labels` [n, num_true]; `inputs` [n, d]; the result [n].
    Dtypes: any float, the same for weights, biases and inputs; labels are integers. The derivative by `weights` is
    IndexedSlices.

    Derivative: that of the softmax cross entropy of the logits inputs @ weights + biases of the true and the drawn
    classes.

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes differ.

    Source: Jean, Cho, Memisevic, Bengio, On Using Very Large Target Vocabulary for Neural Machine Translation, 2014.

    >>> import pullback as pb
    >>> loss = pb.nn.sampled_softmax_loss(pb.zeros([9, 4]), pb.zeros([9]), [[1], [2]], pb.zeros([2, 4]), 3, 9)
    >>> loss.shape
    TensorShape([2])
    """
    x = convert_to_tensor(inputs)
    with x.graph.within(name):
        sample = sampled_values or _sample(labels, num_true, num_sampled, num_classes, seed)
        logits, chances = _sampled_logits(weights, biases, labels, x, num_true, sample, remove_accidental_hits)
        return softmax_cross_entropy_with_logits(labels=stop_gradient(chances), logits=logits)


@in_graph_of_inputs
def nce_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Drawn | None = None,
    remove_accidental_hits: bool = False,
    name: str | None = "nce_loss",
) -> Tensor:
    """The noise-contrastive loss of a linear layer over many classes: true classes told from a sample of others.

    Shapes: as for `sampled_softmax_loss`. Dtypes: as there.

    Derivative: that of the sigmoid cross entropy of the logits inputs @ weights + biases of the true and the drawn
    classes.

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes differ.

    Source: Gutmann and Hyvärinen, Noise-contrastive Estimation, 2010.

    >>> import pullback as pb
    >>> loss = pb.nn.nce_loss(pb.zeros([9, 4]), pb.zeros([9]), [[1], [2]], pb.zeros([2, 4]), 3, 9)
    >>> loss.shape
    TensorShape([2])
    """
    x = convert_to_tensor(inputs)
    with x.graph.within(name):
        sample = sampled_values or _sample(labels, num_true, num_sampled, num_classes, None)
        logits, chances = _sampled_logits(weights, biases, labels, x, num_true, sample, remove_accidental_hits)
        return reduce_sum(sigmoid_cross_entropy_with_logits(labels=stop_gradient(chances), logits=logits), 1)


def _sample(labels: Any, num_true: int, num_sampled: int, num_classes: int, seed: int | None) -> Sample:
    return log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)


def _sampled_logits(
    weights: Any, biases: Any, labels: Any, x: Tensor, num_true: int, sample: Drawn, remove: bool
) -> tuple[Tensor, Tensor]:
    """The logits of the true classes, then of the sampled ones, less the logarithms of what is expected of them; and
    what the former should be."""
    true = convert_to_tensor(labels)
    if true.dtype not in INTEGER:
        raise TypeError(f"sampled loss: labels must be integers, not {true}")
    true = cast(true, int64)
    classes, true_expected, expected = [stop_gradient(convert_to_tensor(v)) for v in sample]
    flat = reshape(true, [-1])
    ids = concat([flat, cast(classes, int64)], 0)
    lengths = [shape(flat)[0], shape(classes)[0]]
    true_rows, rows = split(embedding_lookup(weights, ids), lengths)
    true_biases, row_biases = split(embedding_lookup(biases, ids), lengths)
    width = convert_to_tensor(shape(x)[1])
    parts = reshape(true_rows, [-1, num_true, width])
    true_logits = reduce_sum(ExpandDims((1,))(x) * parts, 2) + reshape(true_biases, [-1, num_true])
    logits = matmul(x, rows, transpose_b=True) + row_biases
    if remove:
        hits = reduce_any(equal(ExpandDims((2,))(true), cast(classes, int64)), 1)
        logits = where(hits, convert_to_tensor(np.finfo(np.float32).min, x.dtype), logits)
    true_logits = true_logits - log(cast(true_expected, x.dtype))
    logits = logits - log(cast(expected, x.dtype))
    chances = concat([ones_like(true_logits) / num_true, zeros_like(logits)], 1)
    return concat([true_logits, logits], 1), chances
