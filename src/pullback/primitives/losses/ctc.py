"""Connectionist temporal classification: the loss of labels that are not aligned, and the best path.

Source: Graves, Fernández, Gomez and Schmidhuber, Connectionist Temporal Classification, 2006.
"""

from __future__ import annotations

from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, bfloat16, float16, float32, int32, int64
from ...core.dtypes import bool as bool_
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..activations.softmax import log_softmax
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..creation.fill import ones_like
from ..creation.sequence_mask import sequence_mask
from ..cumulative.cumsum import cumsum
from ..elementwise.masking import mask
from ..indexing.gather import boolean_mask, gather
from ..indexing.index_arithmetic import counted_from_front
from ..indexing.scatter_nd import gather_nd
from ..indexing.where import where
from ..logic.comparison import not_equal
from ..logic.logical import logical_and, logical_not
from ..reduction.argmax import argmax
from ..reduction.logsumexp import reduce_logsumexp
from ..reduction.reduce import reduce_max, reduce_sum, take_numbers
from ..segment.sums import unsorted_segment_sum
from ..shape.pad import pad
from ..shape.size import shape
from ..shape.squeeze import expand_dims
from ..shape.stacking import concat, stack
from ..shape.transpose import transpose
from ..sorting.sort import argsort
from ..sparse.sparse_tensor import SparseTensor, to_dense
from .ctc_alignments import CtcAlignments, CtcStates


@in_graph_of_inputs
def ctc_loss(
    labels: TensorLike | SparseTensor,
    logits: TensorLike,
    label_length: TensorLike | None,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: object = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """For each sequence `-log(the probability of its labels)`, summed over all alignments of them with the steps.

    An alignment gives each step a class, of probability `softmax(logits)`; equal neighbours are taken together, then
    the blanks are left out. `labels` beyond `label_length`, and `logits` beyond `logit_length`, are not read: their
    derivative is 0. Labels that no alignment gives have the loss inf, with derivatives 0. No labels have that of blanks
    at all steps, and no steps and no labels the loss 0.

    Labels may be a SparseTensor; then `blank_index` must be given and `label_length` is not used. A negative
    `blank_index` counts from the end; None is 0. `unique` is taken for TensorFlow's sake and changes nothing.

    Shapes: `labels` [batch, most labels], `logits` [steps, batch, classes], or [batch, steps, classes] without
    `logits_time_major`, the lengths [batch]; the result [batch]. Dtypes: any float; 16-bit floats are computed in
    float32; integers for the rest.

    Derivative: dlogits[t, b, c] = dy[b] * (softmax(logits)[t, b, c] - the probability, given the labels, of c at t).

    Raises:
        ValueError: shapes do not fit; `blank_index` is out of range, or not given for sparse labels. TypeError: the
        logits are no floats.

    Source: Graves, Fernández, Gomez and Schmidhuber, Connectionist Temporal Classification, 2006.

    >>> import pullback as pb
    >>> logits = pb.zeros([2, 1, 2])
    >>> loss = pb.nn.ctc_loss([[1]], logits, [1], [2])
    >>> pb.Session().run(pb.exp(-loss)).tolist()
    [0.75]
    """
    del unique
    x = convert_to_tensor(logits)
    if x.dtype not in FLOATING or x.shape.rank not in (3, None):
        wrong = ValueError if x.dtype in FLOATING else TypeError
        raise wrong(f"ctc_loss: logits must be floats of rank 3, not {x.type}")
    with x.graph.within(name or "ctc_loss"):
        blank = _blank_of("ctc_loss", blank_index, x, 0)
        steps = convert_to_tensor(logit_length)
        if isinstance(labels, SparseTensor):
            if blank_index is None:
                raise ValueError("ctc_loss: with sparse labels blank_index must be given; -1 is the last class")
            batch = shape(steps)[0]
            rows = labels.indices[:, 0]
            labels, label_length = to_dense(labels), unsorted_segment_sum(ones_like(rows), rows, batch)
        elif label_length is None:
            raise ValueError("ctc_loss: label_length must be given, unless labels is a SparseTensor")
        inputs = [convert_to_tensor(labels), convert_to_tensor(label_length), steps]
        states, skips, ends = CtcStates(blank).operation(*inputs, name="states").outputs
        emissions = _emissions(x, states, steps, logits_time_major)
        sums, _ = CtcAlignments().operation(emissions, skips, name="alignments").outputs
        loss = -reduce_logsumexp(gather_nd(sums, ends), axis=1)
        return loss if loss.dtype == x.dtype else cast(loss, x.dtype)


def _emissions(logits: Tensor, states: Tensor, steps: Tensor, time_major: bool) -> Tensor:
    """The logarithms of the probabilities of the states [T, B, S]; those of no use are uniform."""
    inside = sequence_mask(steps, shape(logits)[0 if time_major else 1])
    known = mask(expand_dims(transpose(inside) if time_major else inside, 2), logits)
    wide = cast(known, float32) if known.dtype in (float16, bfloat16) else known
    by_class = transpose(log_softmax(wide), [1, 2, 0] if time_major else [0, 2, 1])
    return transpose(gather(by_class, counted_from_front(states, by_class, 1), axis=1, batch_dims=1), [2, 0, 1])


def _blank_of(what: str, blank_index: int | None, logits: Tensor, default: int) -> int:
    blank = default if blank_index is None else int(blank_index)
    classes = logits.shape.size(-1) if logits.shape.sizes else None
    if classes is None:
        return blank
    if not -classes <= blank < classes:
        raise ValueError(f"{what}: blank_index {blank} is not among the {classes} classes of {logits.type}")
    return int(blank % classes)


@in_graph_of_inputs
def collapse_repeated(labels: TensorLike, seq_length: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Rows of labels in which equal neighbours are one, zeros behind, and their new lengths.

    Shapes: `labels` [batch, most labels], `seq_length` [batch]; the results [batch, most that are left] and [batch].
    Dtypes: any integers; the results have them.

    Derivative: none.

    >>> import pullback as pb
    >>> labels, lengths = pb.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 0, 0]], [5, 3])
    >>> [x.tolist() for x in pb.Session(engine="numpy").run([labels, lengths])]
    [[[1, 2, 1], [3, 0, 0]], [3, 1]]
    """
    x = convert_to_tensor(labels)
    with x.graph.within(name or "collapse_repeated_labels"):
        y, lengths = without_repeats(x, convert_to_tensor(seq_length))
        return y[:, : reduce_max(lengths)], lengths


def without_repeats(labels: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """As `collapse_repeated`, with labels of the same shape as before."""
    new = not_equal(labels[:, 1:], labels[:, :-1])
    inside = sequence_mask(lengths, shape(labels)[1])
    kept = logical_and(inside, concat([ones_like(labels[:, :1], bool_), new], 1))
    count = reduce_sum(cast(kept, lengths.dtype), 1)
    order = argsort(cast(logical_not(kept), int32), axis=1, stable=True)
    return mask(sequence_mask(count, shape(labels)[1]), gather(labels, order, axis=1, batch_dims=1)), count


def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The different labels of each row in the order of their first places, zeros behind, and where each label is there.

    Shapes: `labels` [batch, most labels]; so are both results. Dtypes: any integer; the results are int64 and int32.

    Raises:
        ValueError: `labels` are not of rank 2. TypeError: they are no integers.

    >>> import pullback as pb
    >>> y, places = pb.nn.ctc_unique_labels([[5, 3, 5, 7]])
    >>> [x.tolist() for x in pb.Session().run([y, places])]
    [[[5, 3, 7, 0]], [[0, 1, 0, 2]]]
    """
    y, places = CtcUniqueLabels().operation(convert_to_tensor(labels), name=name).outputs
    return y, places


class CtcUniqueLabels(Primitive):
    def infer(self, labels: TensorType) -> tuple[TensorType, ...]:
        if labels.dtype not in INTEGER:
            raise TypeError(f"ctc_unique_labels: labels must be integers, not {labels}")
        if labels.shape.rank not in (2, None):
            raise ValueError(f"ctc_unique_labels: labels must be of rank 2, not {labels}")
        return TensorType(int64, labels.shape), TensorType(int32, labels.shape)

    def kernel(self, xp: Any, labels: Any) -> Any:
        if 0 in labels.shape:
            return labels.astype(int64), labels.astype(int32)
        numbers = xp.arange(labels.shape[1], dtype=int32)
        first = xp.argmax(labels[:, :, None] == labels[:, None, :], axis=2).astype(int32)
        is_first = first == numbers
        rank = xp.cumsum(is_first, axis=1, dtype=int32) - 1
        chosen = xp.logical_and(is_first[:, None, :], rank[:, None, :] == numbers[:, None])
        unique = xp.sum(xp.where(chosen, labels[:, None, :], 0), axis=2, dtype=int64)
        return unique, xp.take_along_axis(rank, first, axis=1).astype(int32)

    gradient = no_gradient


@in_graph_of_inputs
def ctc_greedy_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    merge_repeated: bool = True,
    blank_index: int | None = None,
    name: str | None = None,
) -> tuple[list[SparseTensor], Tensor]:
    """A list of one SparseTensor: the classes of the best path without blanks; and minus the sums of its logits.

    With `merge_repeated` equal neighbours are taken together. The blank is the last class unless given. The number of
    labels is decided by a run: on XLA the inputs of the first result must be known when it compiles.

    Shapes: `inputs` [steps, batch, classes], `sequence_length` [batch]; sums [batch, 1]. Dtypes: floats, integers.

    Derivative: dinputs of the sums = -dy at the largest of each step.

    >>> import pullback as pb
    >>> logits = [[[1.0, 2.0, 0.0]], [[1.0, 2.0, 0.0]], [[0.0, 0.0, 5.0]], [[3.0, 2.0, 0.0]]]
    >>> (labels,), cost = pb.nn.ctc_greedy_decoder(logits, [4])
    >>> [x.tolist() for x in pb.Session().run([labels.values, cost])]
    [[1, 0], [[-12.0]]]
    """
    x = convert_to_tensor(inputs)
    if x.dtype not in FLOATING or x.shape.rank not in (3, None):
        wrong = ValueError if x.dtype in FLOATING else TypeError
        raise wrong(f"ctc_greedy_decoder: inputs must be floats of rank 3, not {x.type}")
    with x.graph.within(name or "ctc_greedy_decoder"):
        blank = _blank_of("ctc_greedy_decoder", blank_index, x, -1)
        steps = take_numbers(sequence_length, "ctc_greedy_decoder: sequence_length", INTEGER)
        inside = sequence_mask(steps, shape(x)[0])
        cost = -reduce_sum(mask(inside, transpose(reduce_max(x, 2))), 1, keepdims=True)
        path = transpose(argmax(x, 2))
        kept = logical_and(inside, not_equal(path, blank if blank >= 0 else shape(x, path.dtype)[-1] + blank))
        if merge_repeated:
            before = pad(path, [[0, 0], [1, 0]], constant_values=-1)[:, :-1]
            kept = logical_and(kept, not_equal(path, before))
        return [_labels_kept(path, kept)], cost


def _labels_kept(path: Tensor, kept: Tensor) -> SparseTensor:
    """The numbers of `path` [batch, steps] where `kept`, moved to the front of their rows."""
    places = cumsum(cast(kept, int64), 1, exclusive=True)
    rows = where(kept)[:, 0]
    counts = reduce_sum(cast(kept, int64), 1)
    size = stack([shape(path, int64)[0], reduce_max(pad(counts, [[1, 0]]))])
    return SparseTensor(stack([rows, boolean_mask(places, kept)], 1), boolean_mask(path, kept), size)
