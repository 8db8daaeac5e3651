"""`tf.keras.preprocessing`: sequences of different lengths as one array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.compat.v1.keras.preprocessing.sequence import pad_sequences


@pytest.mark.parametrize(
    ("sequences", "options", "expected"),
    [
        ([[1, 2, 3], [4], []], {}, [[1, 2, 3], [0, 0, 4], [0, 0, 0]]),
        ([[1, 2, 3], [4], []], {"maxlen": 2}, [[2, 3], [0, 4], [0, 0]]),
        ([[1, 2, 3], [4]], {"maxlen": 2, "truncating": "post", "padding": "post"}, [[1, 2], [4, 0]]),
        ([[1.5], [2, 3]], {"dtype": "float32", "value": -1.0}, [[-1.0, 1.5], [2.0, 3.0]]),
        ([[[1, 2]], [[3, 4], [5, 6]]], {}, [[[0, 0], [1, 2]], [[3, 4], [5, 6]]]),
        ([["a"], ["b", "c"]], {"dtype": object, "value": "p"}, [["p", "a"], ["b", "c"]]),
        ([[], []], {}, [[], []]),
        ([np.arange(3), np.arange(2)], {"maxlen": 4, "value": 9}, [[9, 0, 1, 2], [9, 9, 0, 1]]),
    ],
)
def test_sequences_are_filled_up_and_cut(sequences: Any, options: dict[str, Any], expected: Any) -> None:
    found = pad_sequences(sequences, **options)
    assert found.tolist() == expected
    assert found.dtype == options.get("dtype", "int32")


@pytest.mark.parametrize(
    ("sequences", "options", "message"),
    [
        ([1, 2], {}, r"^pad_sequences: each of `sequences` must have a length, not 1$"),
        ([[1]], {"padding": "x"}, r"^pad_sequences: padding='x' and truncating='pre' must be 'pre' or 'post'$"),
        ([[[1, 2]], [[3], [4]]], {}, r"^pad_sequences: elements of one sequence have shape \(1,\), not \(2,\)$"),
        ([["a"]], {"value": "p"}, r"^pad_sequences: int32 cannot hold 'p'; pass dtype=object$"),
    ],
)
def test_what_is_no_sequence_is_refused(sequences: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pad_sequences(sequences, **options)


def test_programs_import_it_where_it_was() -> None:
    pb.compat.install()
    try:
        from tensorflow.keras.preprocessing import sequence
        from tensorflow.python.keras.preprocessing.sequence import pad_sequences as inner

        assert sequence.pad_sequences is inner is pad_sequences
    finally:
        pb.compat.uninstall()
