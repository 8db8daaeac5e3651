"""Types of tensors: shapes that are computed."""

from __future__ import annotations

import pytest

import pullback as pb
from pullback.core.shape import TensorShape
from pullback.core.types import TensorType, shape_to_infer


def test_as_many_lengths_are_given_as_there_are_axes() -> None:
    with pytest.raises(ValueError, match="4 lengths are given for 2 axes"):
        shape_to_infer((None, None), TensorType(pb.int64, TensorShape([4])))
