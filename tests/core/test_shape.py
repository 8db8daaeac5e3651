"""Static shapes and dtypes."""

from __future__ import annotations

import operator

import ml_dtypes
import numpy as np
import pytest

import pullback as pb
from pullback.core.shape import TensorShape, broadcast_axes, broadcast_static_shape
from pullback.core.types import tensor_type


def test_surface_is_tensorflows() -> None:
    s = pb.TensorShape([None, 3])
    assert (s.rank, s.ndims, s.dims, s.as_list(), len(s)) == (2, 2, (None, 3), [None, 3], 2)
    assert list(s) == [None, 3]
    assert s[1] == 3
    assert s[:1] == [None]
    assert s.num_elements() is None
    assert not s.is_fully_defined()
    assert s + pb.TensorShape([4]) == [None, 3, 4]
    assert operator.add([4], s) == [4, None, 3]
    assert (pb.TensorShape([2]) == 2, pb.TensorShape([2]) != 2, pb.TensorShape([]) == 3) == (True, False, False)
    assert (str(s), repr(s)) == ("(None, 3)", "TensorShape([None, 3])")


def test_unknown_rank() -> None:
    s = pb.TensorShape(None)
    assert s.rank is None
    assert s[0] is None
    assert not s
    assert (str(s), repr(s)) == ("<unknown>", "TensorShape(None)")
    with pytest.raises(ValueError, match="Cannot take the length of shape with unknown rank"):
        len(s)
    with pytest.raises(ValueError, match="not defined on an unknown TensorShape"):
        s.as_list()


def test_merging_knows_what_either_knows() -> None:
    s = pb.TensorShape([None, 3])
    assert s.merge_with([2, None]) == [2, 3]
    assert s.merge_with(None) is s
    assert pb.TensorShape(None).merge_with(s) is s
    with pytest.raises(ValueError, match=r"Shapes \(None, 3\) and \(2, 4\) are not compatible"):
        s.merge_with([2, 4])
    with pytest.raises(ValueError, match="are incompatible"):
        s.assert_is_compatible_with([1])


def test_what_two_shapes_have_in_common() -> None:
    s = pb.TensorShape([2, 3])
    assert s.most_specific_compatible_shape([2, 4]) == [2, None]
    assert s.most_specific_compatible_shape([2]).rank is None


def test_lengths_are_checked() -> None:
    with pytest.raises(ValueError, match="a dimension of a TensorShape cannot be negative: -1; use None"):
        pb.TensorShape([-1])
    with pytest.raises(TypeError, match=r"a dimension of a TensorShape is an integer, a name or None, not 1\.5"):
        pb.TensorShape([1.5])


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        ([2, 3], [3], [2, 3]),
        ([2, 1], [1, 3], [2, 3]),
        ([None, 3], [3], [None, 3]),
        ([None], [3], [3]),
        ([None], [1], [None]),
        ([None], [None], [None]),
        ([0], [1], [0]),
        ([], [4], [4]),
    ],
)
def test_broadcasting(a: list[int], b: list[int], result: list[int]) -> None:
    assert broadcast_static_shape(pb.TensorShape(a), pb.TensorShape(b)) == result
    assert broadcast_static_shape(pb.TensorShape(b), pb.TensorShape(a)) == result


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(ValueError, match="do not broadcast together"):
        broadcast_static_shape(pb.TensorShape([2]), pb.TensorShape([3]))


def test_axes_that_broadcasting_repeats() -> None:
    assert broadcast_axes((3, 1), (2, 3, 4)) == (0, 2)
    assert broadcast_axes((1,), (1,)) == ()


def test_types_print_as_dtype_and_lengths() -> None:
    assert str(tensor_type("float32", [3, None])) == "float32[3,?]"
    assert str(tensor_type("bfloat16", None)) == "bfloat16[...]"
    assert str(tensor_type("int8", [])) == "int8[]"
    assert str(tensor_type("resource", [])) == "resource"


def test_dtypes_are_numpys() -> None:
    assert pb.float32 == np.float32
    assert pb.bfloat16 == ml_dtypes.bfloat16
    assert pb.as_dtype(float) == pb.float32
    assert pb.as_dtype(int) == pb.int32
    assert pb.as_dtype("resource") is pb.resource
    for wrong in ("text", None, dict, "float31"):
        with pytest.raises(TypeError, match="is not a dtype of pullback; use one of bfloat16, bool, complex128"):
            pb.as_dtype(wrong)


def test_a_shape_takes_arrays_whose_known_lengths_are_its_own() -> None:
    shape = TensorShape([None, 3])
    assert [shape.takes(sizes) for sizes in [(2, 3), (0, 3), (2, 4), (3,), ()]] == [True, True, False, False, False]
    assert TensorShape(None).takes((2, 3))
    assert not TensorShape([2]).takes((3,))
