"""IndexedSlices by themselves."""

import pullback as pb


def test_slices_of_a_list_of_lengths_become_dense() -> None:
    slices = pb.IndexedSlices(pb.constant([[1.0]]), pb.constant([1]), [3, 1])  # type: ignore[arg-type]
    assert slices.shape.as_list() == [3, 1]
    assert pb.Session(engine="numpy").run(pb.convert_to_tensor(slices)).tolist() == [[0.0], [1.0], [0.0]]
