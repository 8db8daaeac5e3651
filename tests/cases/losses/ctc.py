"""Rows: connectionist temporal classification, beside the sum over every alignment."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import pullback as pb

from ..case import Case, cubed, distinct, normal

LABELS = np.array([[1, 1, 2], [1, 2, 3], [3, 0, 0], [0, 0, 0]])
LENGTHS = np.array([3, 2, 1, 0])
STEPS = np.array([5, 4, 3, 4])
NONE = np.zeros(0, np.int32)
WALL = np.where((np.arange(5)[:, None, None] % 3 == 1) & (np.arange(4) == 1), -np.inf, np.zeros((5, 4, 4)))


def enumerated(
    logits: Any, labels: Any = LABELS, lengths: Any = LENGTHS, steps: Any = STEPS, blank: int = 0
) -> np.ndarray[Any, Any]:
    """The losses by going through all alignments."""
    losses = []
    for b, (n, m) in enumerate(zip(steps, lengths, strict=True)):
        powers = np.exp(logits[:n, b])
        p = powers / powers.sum(1, keepdims=True)
        total = 0.0
        for path in itertools.product(range(logits.shape[2]), repeat=int(n)):
            merged = [c for c, _ in itertools.groupby(path) if c != blank]
            if merged == list(labels[b, :m]):
                total += np.prod(p[np.arange(n), list(path)])
        with np.errstate(divide="ignore"):
            losses.append(-np.log(total))
    return np.array(losses)


def _loss(x: Any) -> Any:
    return pb.nn.ctc_loss(LABELS, x, LENGTHS, STEPS)


def _batch_major(x: Any) -> Any:
    return pb.nn.ctc_loss(LABELS - 1, pb.transpose(x, [1, 0, 2]), LENGTHS, STEPS, False, blank_index=-1)


def _sparse(x: Any) -> Any:
    labels = pb.sparse.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 1, 2], [4, 3])
    return pb.nn.ctc_loss(labels, x, None, STEPS, blank_index=0)


def _hard(x: Any) -> Any:
    """Alignments that are impossible, beside one that is not."""
    loss = pb.nn.ctc_loss([[1, 1], [1, 2], [1, 2]], x, [2, 2, 2], [2, 1, 2])
    return pb.where(pb.math.is_inf(loss), pb.zeros_like(loss), loss)


def _impossible_class(x: Any) -> Any:
    """Where a class has no probability at all."""
    return pb.nn.ctc_loss(LABELS, x + pb.cast(pb.constant(WALL), x.dtype), LENGTHS, STEPS)


CASES = [
    Case("ctc_loss", _loss, [normal(5, 4, 4)], enumerated, third_order=True),
    Case("ctc_loss_powers", cubed(_loss), [0.3 * normal(5, 4, 4)], third_order=True, slow=True),
    Case(
        "ctc_loss_batch_major",
        _batch_major,
        [normal(5, 4, 4)],
        lambda x: enumerated(x, LABELS - 1, blank=3),
    ),
    Case(
        "ctc_loss_sparse",
        _sparse,
        [normal(5, 4, 4)],
        lambda x: enumerated(x, np.array([[1, 1], [0, 0], [2, 0], [0, 0]]), [2, 0, 1, 0]),
    ),
    Case("ctc_loss_hard", _hard, [normal(3, 3, 3)]),
    Case(
        "ctc_loss_impossible_class",
        _impossible_class,
        [normal(5, 4, 4)],
        lambda x: enumerated(x + WALL),
    ),
    Case("ctc_loss_no_steps", lambda x: pb.nn.ctc_loss([[1]], x, [0], [0]), [normal(0, 1, 3)], lambda x: np.zeros(1)),
    Case("ctc_loss_no_sequences", lambda x: pb.nn.ctc_loss(np.zeros((0, 2), int), x, NONE, NONE), [normal(3, 0, 3)]),
    Case(
        "ctc_loss_no_labels",
        lambda x: pb.nn.ctc_loss(np.zeros((2, 0), np.int32), x, [0, 0], [3, 1]),
        [normal(3, 2, 3)],
        lambda x: enumerated(x, np.zeros((2, 0), int), [0, 0], [3, 1]),
    ),
    Case(
        "ctc_greedy_decoder",
        lambda x: pb.nn.ctc_greedy_decoder(x, STEPS)[1],
        [distinct(5, 4, 4)],
        lambda x: -np.sum(x.max(2).T * (np.arange(5) < STEPS[:, None]), 1, keepdims=True),
        not_erased_rank="masks need known ranks",
    ),
    Case(
        "ctc_unique_labels",
        lambda: list(pb.nn.ctc_unique_labels([[5, 3, 5, 7], [1, 1, 1, 2]])),
        [],
        lambda: [np.array([[5, 3, 7, 0], [1, 2, 0, 0]]), np.array([[0, 1, 0, 2], [0, 0, 0, 1]])],
    ),
    Case(
        "ctc_greedy_sums",
        lambda x: pb.nn.ctc_greedy_decoder(x, [3, 2], blank_index=2)[1],
        [normal(3, 2, 3)],
        not_erased_rank="masks need known ranks",
    ),
]
