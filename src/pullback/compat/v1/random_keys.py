"""Seeds made of seeds: `tf.random.split` and `fold_in`, for stateless random numbers."""

from __future__ import annotations

import pullback as pb

from ...core.contexts import in_graph_of_inputs
from ...core.typing import TensorLike


@in_graph_of_inputs
def stateless_split(seed: TensorLike, num: int = 2, alg: str = "auto_select") -> pb.Tensor:
    """`num` seeds made of `seed`, a pair of integers: [num, 2] of its dtype, other ones for each other seed.

    >>> import pullback.compat.v1 as tf
    >>> tf.random.split([1, 2], 3).shape.as_list()
    [3, 2]
    """
    pair = pb.convert_to_tensor(seed)
    return _drawn(pair, [num, 2], alg)


@in_graph_of_inputs
def stateless_fold_in(seed: TensorLike, data: TensorLike, alg: str = "auto_select") -> pb.Tensor:
    """The seed made of `seed`, a pair of integers, and the number `data`, as of a step or a replica.

    >>> import pullback.compat.v1 as tf
    >>> tf.random.fold_in([1, 2], 7).shape.as_list()
    [2]
    """
    pair = pb.convert_to_tensor(seed)
    return pb.stack([_drawn(pair, [], alg), pb.cast(data, pair.dtype)])


def _drawn(seed: pb.Tensor, shape: list[int], alg: str) -> pb.Tensor:
    most = seed.dtype.itemsize * 8 - 1
    return pb.random.stateless_uniform(shape, seed, -(1 << most), (1 << most) - 1, seed.dtype, alg=alg)
