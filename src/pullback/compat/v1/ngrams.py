"""N-grams of texts in TensorFlow 1: neighbours along the last axis, joined, on the host.

>>> import pullback.compat.v1 as tf
>>> words = tf.ragged.constant([["to", "be", "or"], ["not"]])
>>> tf.Session().run(tf.strings.ngrams(words, 2)).to_list()
[[b'to be', b'be or'], []]
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

from ...primitives.creation.constant import as_array

Array = np.ndarray[Any, Any]
_TEXT = str | bytes


class _Wish(NamedTuple):
    widths: tuple[int, ...]
    separator: bytes
    left: bytes
    right: bytes
    padding: int | None
    """How many texts are put before and behind a row at most: None for one less than the width."""
    short: bool
    """Whether a row that is too short for all widths is joined as a whole."""

    def of(self, row: list[bytes]) -> list[bytes]:
        """The n-grams of a row, those of one width after the other."""
        found = []
        for width in self.widths:
            count = width - 1 if self.padding is None else min(self.padding, width - 1)
            padded = [self.left] * count + row + [self.right] * count
            found += [self.separator.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
        if self.short and not found and row:
            count = self.padding or 0
            return [self.separator.join([self.left] * count + row + [self.right] * count)]
        return found


def ngrams(
    data: Any,
    ngram_width: int | Iterable[int],
    separator: str = " ",
    pad_values: str | tuple[str, str] | None = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> pb.Tensor | pb.RaggedTensor:
    """Every `ngram_width` neighbours along the last axis of `data`, joined by `separator`; for each width, if several.

    Rows begin and end with `pad_values`, one for both ends or a pair, as often as makes each text the first and the
    last of an n-gram, `padding_width` times at most. With `preserve_short_sequences` a row that is too short is joined.

    Shapes: `data` [..., n], dense or ragged, at least a vector; in the result the last axis has another length.

    Raises:
        ValueError: `data` is a scalar, a width or `padding_width` is not positive, or there is nothing to pad with.
        TypeError: `pad_values` is neither a text nor a pair.
    """
    wish = _wish(ngram_width, separator, pad_values, padding_width, preserve_short_sequences)
    if isinstance(data, pb.RaggedTensor):
        if data.ragged_rank > 1:
            return data.with_values(
                ngrams(data.values, ngram_width, separator, pad_values, padding_width, preserve_short_sequences, name)
            )
        return _of_rows(wish, data, name)
    x = pb.convert_to_tensor(data, pb.string)
    if not x.shape.rank:
        raise ValueError(f"strings.ngrams: data must have a known rank of at least 1: {x}")

    def of_last_axis(texts: Array) -> Array:
        rows = [wish.of(row) for row in texts.reshape(-1, texts.shape[-1]).tolist()]
        length = len(rows[0]) if rows else 0
        return as_array([t for row in rows for t in row], pb.string).reshape(*texts.shape[:-1], length)

    spec = pb.TensorSpec(x.shape[:-1].concatenate([None]), pb.string)
    found: pb.Tensor = pb.numpy_function(of_last_axis, [x], spec, stateful=False, name=name or "StringNGrams")
    return found


def _of_rows(wish: _Wish, data: pb.RaggedTensor, name: str | None) -> pb.RaggedTensor:
    def joined(texts: Array, splits: Array) -> list[Array]:
        all_of = texts.tolist()
        rows = [wish.of(all_of[a:b]) for a, b in pairwise(splits)]
        lengths = np.array([len(row) for row in rows], np.int64)
        return [as_array([t for row in rows for t in row], pb.string), lengths]

    specs = [pb.TensorSpec([None], pb.string), pb.TensorSpec([data.shape.size(0)], pb.int64)]
    inputs = [data.values, data.row_splits]
    values, lengths = pb.numpy_function(joined, inputs, specs, stateful=False, name=name or "StringNGrams")
    return pb.RaggedTensor.from_row_lengths(values, lengths, validate=False)


def _wish(ngram_width: Any, separator: str, pad_values: Any, padding_width: int | None, short: bool) -> _Wish:
    widths = (ngram_width,) if isinstance(ngram_width, int) else tuple(ngram_width)
    if any(width < 1 for width in widths):
        raise ValueError(f"strings.ngrams: All ngram_widths must be greater than 0. Got {ngram_width}")
    if padding_width is not None and padding_width < 1:
        raise ValueError(f"strings.ngrams: padding_width must be greater than 0. Got {padding_width}")
    if padding_width is not None and pad_values is None:
        raise ValueError("strings.ngrams: pad_values must be provided if padding_width is set.")
    pair = (pad_values, pad_values) if isinstance(pad_values, _TEXT) else pad_values
    if pair is not None and (not isinstance(pair, list | tuple) or not all(isinstance(x, _TEXT) for x in pair)):
        raise TypeError(f"strings.ngrams: pad_values must be a string, tuple of strings, or None, not {pad_values!r}")
    left, right = [x.encode() if isinstance(x, str) else x for x in pair or ("", "")]
    return _Wish(widths, separator.encode(), left, right, 0 if pair is None else padding_width, short)
