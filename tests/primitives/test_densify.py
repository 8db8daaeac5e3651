"""Making slices dense: the two historical warnings, the policy, and where nobody is asked."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pullback as pb


def slices(dense_shape: object) -> pb.IndexedSlices:
    values, indices = pb.constant([[1.0], [2.0]], name="rows"), pb.constant([1, 1])
    (dx,) = pb.gradients(pb.gather(pb.placeholder(pb.float32, dense_shape, name="table"), indices) * values, values)
    del dx
    shape = pb.TensorShape(dense_shape)
    return pb.IndexedSlices(values, indices, pb.constant([3, 1]), shape)


def test_slices_of_unknown_shape_warn() -> None:
    with pytest.warns(UserWarning, match="unknown shape") as caught:
        pb.convert_to_tensor(slices([None, 1]))
    assert str(caught[0].message).startswith(
        "Converting sparse IndexedSlices to a dense Tensor of unknown shape. "
        "This may consume a large amount of memory. The slices are 'rows:0', made at "
    )


def test_slices_of_a_large_array_warn() -> None:
    rows = pb.IndexedSlices(
        pb.constant([[1.0]], name="rows"), pb.constant([0]), pb.constant([10**8, 1]), pb.TensorShape([10**8, 1])
    )
    with pytest.warns(UserWarning, match="elements") as caught:
        pb.convert_to_tensor(rows)
    assert str(caught[0].message).startswith(
        "Converting sparse IndexedSlices to a dense Tensor with 100000000 elements. "
        "This may consume a large amount of memory. The slices are 'rows:0', made at "
    )


def test_slices_of_a_small_array_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dense = pb.convert_to_tensor(slices([3, 1]))
    with pb.Session(engine="numpy") as session:
        np.testing.assert_array_equal(session.run(dense), [[0], [3], [0]])


def test_the_policy_allow_is_silent() -> None:
    with warnings.catch_warnings(), pb.densify_policy("allow"):
        warnings.simplefilter("error")
        pb.convert_to_tensor(slices([None, 1]))


def test_the_policy_error_refuses_and_names_the_place() -> None:
    with pb.densify_policy("error"), pytest.raises(ValueError, match="rows") as caught:
        pb.convert_to_tensor(slices([3, 1]))
    assert str(caught.value).startswith(
        "converting IndexedSlices 'rows:0' to a dense Tensor is refused by densify_policy(\"error\"); it was made at "
    )


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="none of") as caught, pb.densify_policy("no"):  # type: ignore[arg-type]
        pass
    assert str(caught.value) == "densify_policy: 'no' is none of 'warn', 'allow', 'error'"


def test_slices_without_a_shape_cannot_be_dense() -> None:
    rows = pb.IndexedSlices(pb.constant([[1.0]], name="rows"), pb.constant([0], name="ids"))
    with pytest.raises(ValueError, match="dense_shape") as caught:
        pb.convert_to_tensor(rows)
    assert str(caught.value) == (
        "Tensor conversion requested for IndexedSlices for argument `value` without dense_shape: "
        "IndexedSlices(indices=int32[1] 'ids:0', values=float32[1,1] 'rows:0'); "
        "pass dense_shape= where the slices are made"
    )


@pytest.mark.parametrize("between", [lambda x: pb.reshape(x, [-1, 2]), lambda x: pb.gather(x, [0, 1])])
def test_reshape_and_gather_take_slices_without_a_word(between: object) -> None:
    x = pb.placeholder(pb.float32, [None, 2])
    with warnings.catch_warnings(), pb.densify_policy("error"):
        warnings.simplefilter("error")
        pb.gradients(pb.gather(between(x), [0, 0]), x)  # type: ignore[operator]


def test_identity_and_concat_and_tile_hand_slices_on() -> None:
    x = pb.placeholder(pb.float32, [4, 2])
    for y in (pb.identity(x), pb.concat([x, x], 0), pb.concat([x, x], 1), pb.tile(x, [2, 3])):
        (dx,) = pb.gradients(pb.gather(y, [0, 3]), x)
        assert isinstance(dx, pb.IndexedSlices)
