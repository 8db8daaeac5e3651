"""CTC prefix beam search: the likeliest sequences of labels, each over all of its alignments (Graves, 2012, ch. 7)."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from ...control_flow.py_function import numpy_function
from ...control_flow.signature import TensorSpec
from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, int32, int64
from ...core.operation import Tensor
from ...core.typing import TensorLike
from ...primitives.activations.softmax import log_softmax
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.indexing.gather import boolean_mask
from ...primitives.indexing.where import where
from ...primitives.reduction.reduce import reduce_max, reduce_sum, take_numbers
from ...primitives.shape.pad import pad
from ...primitives.shape.size import shape
from ...primitives.shape.stacking import stack
from ...primitives.sparse.sparse_tensor import SparseTensor

Labels = tuple[int, ...]


@in_graph_of_inputs
def ctc_beam_search_decoder(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """A SparseTensor of labels for each of the `top_paths` likeliest sequences, and the logarithms of their chances.

    Of all beginnings of a sequence the `beam_width` likeliest are kept at each step. The last class is the blank. It is
    computed on the host; the number of labels is decided by a run, so that XLA cannot make the SparseTensors.

    Shapes: `inputs` [steps, batch, classes], `sequence_length` [batch]; logarithms [batch, top_paths]. Dtypes: floats.

    Derivative: none.

    Raises:
        ValueError: `top_paths` is more than `beam_width`; inputs are not of rank 3. TypeError: they are no floats.

    >>> import pullback as pb
    >>> logits = [[[1.0, 2.0, 0.0]], [[1.0, 2.0, 0.0]], [[0.0, 0.0, 5.0]], [[3.0, 2.0, 0.0]]]
    >>> (labels,), logarithm = pb.nn.ctc_beam_search_decoder(logits, [4])
    >>> found, value = pb.Session(engine="numpy").run([labels.values, logarithm])
    >>> print(found, value.round(3))
    [1 0] [[-0.909]]
    """
    return searched(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


def searched(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int, top_paths: int, *, merge_repeated: bool
) -> tuple[list[SparseTensor], Tensor]:
    """As `ctc_beam_search_decoder`; with `merge_repeated` equal neighbours in what was found are taken together."""
    x = convert_to_tensor(inputs)
    if x.dtype not in FLOATING:
        raise TypeError(f"ctc_beam_search_decoder: inputs must be floats, not {x.type}")
    if x.shape.rank not in (3, None):
        raise ValueError(f"ctc_beam_search_decoder: inputs must be of rank 3, not {x.type}")
    if top_paths > beam_width:
        raise ValueError(f"ctc_beam_search_decoder: beam_width={beam_width} is too small for top_paths={top_paths}")
    steps, batch = (x.shape.size(0), x.shape.size(1)) if x.shape.rank else (None, None)
    search = partial(_searched, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated)
    kinds = [TensorSpec([top_paths, batch, steps], int64), TensorSpec([batch, top_paths], x.dtype)]
    lengths = take_numbers(sequence_length, "ctc_beam_search_decoder: sequence_length", INTEGER)
    given = [log_softmax(x), cast(lengths, int32)]
    paths, logarithms = numpy_function(search, given, kinds, stateful=False, name="CTCBeamSearchDecoder")
    return [_sparse(paths[k]) for k in range(top_paths)], logarithms


def _sparse(path: Any) -> SparseTensor:
    """Rows of labels, -1 behind them."""
    kept = path >= 0
    lengths = reduce_sum(cast(kept, int64), 1)
    size = stack([shape(path, int64)[0], reduce_max(pad(lengths, [[1, 0]]))])
    return SparseTensor(where(kept), boolean_mask(path, kept), size)


def _searched(
    logarithms: Any, lengths: Any, beam_width: int, top_paths: int, merge_repeated: bool
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The labels [path, batch, steps] of each sequence, -1 behind them, and the logarithms [batch, path]."""
    steps, batch, _ = logarithms.shape
    labels = np.full((top_paths, batch, steps), -1, np.int64)
    found = np.full((batch, top_paths), -np.inf, logarithms.dtype)
    for b, length in enumerate(lengths):
        beams = _beams(logarithms[:length, b].astype(np.float64), beam_width)
        for k, (path, value) in enumerate(beams[:top_paths]):
            shown = [label for label, _ in groupby(path)] if merge_repeated else path
            labels[k, b, : len(shown)] = shown
            found[b, k] = value
    return labels, found


def _beams(rows: Any, beam_width: int) -> list[tuple[Labels, float]]:
    """The likeliest sequences of labels, with their logarithms, the best first.

    Of each there are two: over the alignments that end in a blank, and over those that end in its last label.
    """
    blank = rows.shape[1] - 1
    paths: list[Labels] = [()]
    ended, going = np.zeros(1), np.full(1, -np.inf)
    for row in rows:
        total = np.logaddexp(ended, going)
        numbers = {path: i for i, path in enumerate(paths)}
        last = np.array([path[-1] if path else blank for path in paths])
        before = np.array([numbers.get(path[:-1], -1) if path else -1 for path in paths])
        longer = np.where(np.arange(blank) == last[:, None], ended[:, None], total[:, None]) + row[:blank]
        ended, going = total + row[blank], going + row[last]
        kept = before >= 0
        going[kept] = np.logaddexp(going[kept], longer[before[kept], last[kept]])
        longer[before[kept], last[kept]] = -np.inf
        ended = np.concatenate([ended, np.full(longer.size, -np.inf)])
        going = np.concatenate([going, longer.ravel()])
        values = np.logaddexp(ended, going)
        best = np.argsort(-values, kind="stable")[:beam_width]
        best = best[values[best] > -np.inf]
        pairs = [divmod(int(k) - len(paths), blank) for k in best]
        paths = [paths[k] if k < len(paths) else (*paths[i], j) for k, (i, j) in zip(best, pairs, strict=True)]
        ended, going = ended[best], going[best]
    return list(zip(paths, np.logaddexp(ended, going).tolist(), strict=True))
