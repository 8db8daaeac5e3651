"""IndexedSlices by themselves."""

import pytest

import pullback as pb


def test_slices_of_a_list_of_lengths_become_dense() -> None:
    slices = pb.IndexedSlices(pb.constant([[1.0]]), pb.constant([1]), [3, 1])
    assert slices.shape.as_list() == [3, 1]
    assert pb.Session(engine="numpy").run(pb.convert_to_tensor(slices)).tolist() == [[0.0], [1.0], [0.0]]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("lengths", [(3, 1), [3, 1], pb.TensorShape([3, 1])])
def test_a_dense_shape_of_numbers_goes_on_to_what_is_made_of_the_slices(engine: str, lengths: tuple[int, int]) -> None:
    slices = pb.IndexedSlices(pb.constant([[2.0]]), pb.constant([1]), lengths)
    assert slices.dense_shape == lengths
    x = pb.ones([3, 1])
    made = [
        pb.IndexedSlices(slices.values, slices.indices, slices.dense_shape),
        -slices,
        pb.identity(slices),
        pb.clip_by_norm(slices, 5.0),
        pb.cond(pb.constant(True), lambda: slices, lambda: -slices),
        pb.gradients(pb.identity(x), x, grad_ys=slices)[0],
    ]
    assert [list(rows.shape) for rows in made] == [[3, 1]] * len(made)
    dense = pb.Session(engine=engine).run([pb.convert_to_tensor(rows) for rows in made])
    assert [x[1, 0] for x in dense] == [2.0, -2.0, 2.0, 2.0, 2.0, 2.0]
    assert pb.Session(engine=engine).run(slices).dense_shape is None
