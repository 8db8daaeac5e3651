"""Candidate samplers by unigram counts, given or learned; all classes; hits by accident."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import float32, int32, int64
from ...core.operation import Tensor
from ...core.typing import TensorLike
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import constant, convert_to_tensor
from ...primitives.creation.fill import fill, ones, ones_like
from ...primitives.creation.ranges import range_
from ...primitives.cumulative.cumsum import cumsum
from ...primitives.elementwise.exponential import expm1, log
from ...primitives.indexing.gather import gather
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import equal
from ...primitives.random.stateful import random_uniform
from ...primitives.reduction.reduce import reduce_sum
from ...primitives.shape.reshape import reshape
from ...primitives.shape.size import shape
from ...primitives.sorting.searchsorted import searchsorted
from ...primitives.sorting.sort import top_k
from ...primitives.variables.assign import scatter_add
from ...primitives.variables.variable import Variable
from .candidate_sampling import Sample


def fixed_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> Sample:
    """Classes drawn with probabilities proportional to `unigrams ** distortion`; see `log_uniform_candidate_sampler`.

    The counts are those of `unigrams`, or the last column of the lines of `vocab_file`. The first `num_reserved_ids`
    classes have none and are never drawn. Of `num_shards` samplers, number `shard` draws each so many-th class only.

    Shapes: as there. Dtypes: as there.

    Raises:
        ValueError: not one of `vocab_file` and `unigrams` is given, or another number of counts than of classes.

    >>> import pullback as pb
    >>> sample, _, _ = pb.random.fixed_unigram_candidate_sampler([[1]], 1, 2, True, 3, unigrams=[0.0, 1.0, 5.0])
    >>> sorted(pb.Session().run(sample).tolist())
    [1, 2]
    """
    del num_true
    if bool(vocab_file) == bool(len(unigrams)):
        raise ValueError("fixed_unigram_candidate_sampler: give vocab_file or unigrams, and not both")
    given = _counts_of(vocab_file) if vocab_file else list(unigrams)
    if len(given) + num_reserved_ids != range_max:
        raise ValueError(
            f"fixed_unigram_candidate_sampler: {len(given)} counts and {num_reserved_ids} reserved classes are not "
            f"range_max={range_max}"
        )
    shares = np.array([0.0] * num_reserved_ids + given, np.float32) ** np.float32(distortion)
    shares[:num_reserved_ids] = 0.0
    shares[np.arange(range_max) % num_shards != shard] = 0.0
    if unique and num_sampled > np.count_nonzero(shares):
        raise ValueError(f"fixed_unigram_candidate_sampler: {num_sampled} different classes cannot be drawn")
    true = cast(convert_to_tensor(true_classes), int64)
    with true.graph.within(name or "fixed_unigram_candidate_sampler"):
        return _drawn(true, num_sampled, unique, constant(shares / shares.sum()), seed)


def learned_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Sample:
    """Classes drawn as often as they were true in the runs so far, and once more; see `log_uniform_candidate_sampler`.

    What was seen is kept in a variable of the graph, `unigrams`, which must be initialised.

    Shapes: as there. Dtypes: as there.

    Raises:
        ValueError: more different classes are asked for than there are.

    >>> import pullback as pb
    >>> sample, _, _ = pb.random.learned_unigram_candidate_sampler([[1]], 1, 3, True, 3)
    >>> session = pb.Session()
    >>> session.run(pb.global_variables_initializer())
    >>> sorted(session.run(sample).tolist())
    [0, 1, 2]
    """
    del num_true
    if unique and num_sampled > range_max:
        raise ValueError(f"learned_unigram_candidate_sampler: {num_sampled} different classes cannot be drawn")
    true = cast(convert_to_tensor(true_classes), int64)
    with true.graph.within(name or "learned_unigram_candidate_sampler"):
        seen = Variable(ones([range_max]), trainable=False, name="unigrams")
        before = seen.read_value()
        flat = reshape(true, [-1])
        after = scatter_add(seen, flat, ones_like(flat, dtype=float32))
        with true.graph.control_dependencies([after.op]):
            return _drawn(true, num_sampled, unique, before / reduce_sum(before), seed)


def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Sample:
    """All `num_sampled` classes, each expected once: to see what a loss would be without sampling.

    Shapes: as for `log_uniform_candidate_sampler`. Dtypes: as there.

    >>> import pullback as pb
    >>> pb.Session().run(pb.random.all_candidate_sampler([[1]], 1, 3, True)[0])
    array([0, 1, 2])
    """
    del num_true, unique, seed
    true = cast(convert_to_tensor(true_classes), int64)
    with true.graph.within(name or "all_candidate_sampler"):
        return Sample(range_(num_sampled, dtype=int64), ones_like(true, dtype=float32), ones([num_sampled]))


class AccidentalHits(NamedTuple):
    """The rows of true classes, their places in the sample, and what to add to their logits."""

    indices: Tensor
    ids: Tensor
    weights: Tensor


@in_graph_of_inputs
def compute_accidental_hits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> AccidentalHits:
    """Where sampled classes are true ones: the rows, the places in the sample, and the lowest float for each.

    Shapes: `true_classes` [n, num_true], `sampled_candidates` [k]; the results [hits], which only a run knows, so that
    XLA cannot compile it. Dtypes: classes are integers; the results int32, int64 and float32.

    >>> import pullback as pb
    >>> rows, places, _ = pb.nn.compute_accidental_hits([[3, 4], [7, 3]], [7, 1, 3], 2)
    >>> pb.Session(engine="numpy").run([rows, places])
    [array([0, 1, 1], dtype=int32), array([2, 0, 2])]
    """
    del seed
    true = cast(convert_to_tensor(true_classes), int64)
    with true.graph.within(name or "compute_accidental_hits"):
        met = equal(reshape(true, [-1, num_true])[:, :, None], cast(convert_to_tensor(sampled_candidates), int64))
        found = where(met)
        lowest = fill(shape(found)[:1], float(np.finfo(np.float32).min))
        by_row = found[:, 0]
        return AccidentalHits(cast(by_row, int32), found[:, 2], lowest)


def _drawn(true: Tensor, count: int, unique: bool, shares: Tensor, seed: int | None) -> Sample:
    """A sample by `shares` of the classes, which add up to 1: a race where its classes are all different."""
    if unique:
        times = -log(1.0 - random_uniform(shape(shares), seed=seed)) / shares
        first, places = top_k(-times, count)
        until = -first[count - 1]
        sample = cast(places, int64)
        return Sample(sample, -expm1(-until * gather(shares, true)), -expm1(-until * gather(shares, sample)))
    total = cumsum(shares)
    sample = searchsorted(total, random_uniform([count], seed=seed) * total[-1], "right", int64)
    return Sample(sample, count * gather(shares, true), count * gather(shares, sample))


def _counts_of(vocab_file: str) -> list[float]:
    with open(vocab_file, newline="", encoding="utf-8") as lines:
        return [float(row[-1]) for row in csv.reader(lines) if row]
