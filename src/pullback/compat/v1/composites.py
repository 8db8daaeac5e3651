"""Functions of version 1 on sparse and ragged tensors: on their values, where every element of them counts alone.

>>> import pullback.compat.v1 as tf
>>> x = tf.ragged.constant([[1.0, -2.0], [3.0]])
>>> tf.Session().run(tf.reduce_sum(tf.nn.relu(tf.square(x) - 2.0), axis=1))
array([2., 7.], dtype=float32)
>>> y = tf.SparseTensor([[0, 1]], [-2.0], [2, 3])
>>> tf.Session().run([tf.abs(y).values, tf.shape(y), tf.size(y)])
[array([2.], dtype=float32), array([2, 3], dtype=int32), np.int32(6)]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from inspect import isfunction
from typing import Any

import numpy as np

import pullback as pb

from ... import ragged, special
from ...core import nest
from ...core.traits import ELEMENTWISE
from ...primitives.ragged import arrangement, padded, partitions, parts, reductions
from ...primitives.ragged.broadcasting import paired
from ...primitives.ragged.operations import with_same_rows
from .arguments import older

_OF_TEXTS = (
    *("as_string", "join", "length", "lower", "regex_full_match", "regex_replace", "strip", "substr"),
    *("to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong", "to_number", "upper"),
)
"""What `tf.strings` makes of each text by itself."""


def _of_values(dense: Callable[..., Any]) -> Callable[..., Any]:
    """`dense` of the values of ragged tensors, for what makes a row of each value by itself."""
    return lambda *args, **kwargs: ragged.map_flat_values(dense, *args, **kwargs)


def _rows_resized(resize: Callable[..., Any]) -> Callable[..., Any]:
    """`resize` of each image of a ragged tensor, of images of different sizes."""
    return lambda images, *args, **kwargs: pb.map_fn(lambda image: resize(image.to_tensor(), *args, **kwargs), images)


def _asserted(dense: Callable[..., Any]) -> Callable[..., Any]:
    """`dense`, an assertion on two tensors, of the values of ragged ones."""

    def check(x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        a, b = paired(x, y)
        ragged = [z for z in (a, b) if isinstance(z, pb.RaggedTensor)]
        values = iter([z.flat_values for z in with_same_rows(ragged)])
        flat = [next(values) if isinstance(z, pb.RaggedTensor) else z for z in (a, b)]
        return dense(*flat, *args, **kwargs)

    return check


def _where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Of a vector of conditions rows of `x` and `y`."""
    if isinstance(condition, pb.RaggedTensor) or x is None:
        return arrangement.where(condition, x, y, name)
    return parts.rows_where(condition, x, y)


def _reduce_join(
    inputs: pb.RaggedTensor, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Any:
    from .strings import unsorted_segment_join

    def dense(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return pb.strings.reduce_join(x, axis, keepdims, separator, name)

    def segments(data: Any, numbers: Any, count: Any) -> Any:
        return unsorted_segment_join(data, numbers, count, separator)

    return reductions.reduced(dense, segments, inputs, axis, keepdims)


_OF_RAGGED: dict[str, Callable[..., Any]] = {
    **{n: getattr(ragged, n) for n in dir(ragged) if n.startswith("reduce_")},
    **{n: _of_values(getattr(pb.strings, n)) for n in _OF_TEXTS},
    "bincount": lambda arr, *args, **kwargs: pb.math.bincount(arr.flat_values, *args, **kwargs),
    **{n: partitions.segmented(getattr(pb.math, n)) for n in dir(pb.math) if n.startswith("unsorted_segment_")},
    "batch_gather": parts.batch_gather,
    "bitcast": _of_values(pb.bitcast),
    "bytes_split": _of_values(pb.strings.bytes_split),
    "boolean_mask": ragged.boolean_mask,
    "concat": ragged.concat,
    "cumsum": padded.cumsum,
    "dynamic_partition": parts.dynamic_partition,
    "expand_dims": arrangement.expand_dims,
    "gather": parts.any_gather,
    "gather_nd": arrangement.gather_nd,
    "matmul": padded.matmul,
    "one_hot": _of_values(pb.one_hot),
    "rank": lambda input, name=None: pb.constant(input.shape.rank, name=name or "Rank"),
    "reduce_join": _reduce_join,
    "reduce_std": reductions.reduce_std,
    "reduce_variance": reductions.reduce_variance,
    "reshape": lambda tensor, shape, name=None: pb.reshape(tensor.flat_values, shape, name),
    "reverse": arrangement.reverse,
    "size": lambda input, name=None, out_type=pb.int32: pb.size(input.flat_values, out_type, name),
    "split": parts.split,
    "squeeze": parts.squeeze,
    "stack": ragged.stack,
    "tile": arrangement.tile,
    "where": _where,
}
"""What ragged tensors have of their own."""
_RENAMED = ("reduce_", "expand_dims", "squeeze")
"""What begins so has other parameters in version 1."""
_BY_VALUES = frozenset(
    (
        *("adjust_brightness", "adjust_gamma", "check_numerics", "complex", "convert_image_dtype"),
        *("decode_base64", "decode_compressed", "encode_base64", "log_softmax", "random_brightness", "saturate_cast"),
        *("stateless_random_brightness", *dir(special)),
    )
)
"""What is computed of the flat values, whatever rows they are in."""
_ASSERTIONS = frozenset(
    f"assert_{n}" for n in ("equal", "greater", "greater_equal", "less", "less_equal", "near", "none_equal")
)
"""Assertions on two tensors."""
CHECKS = _ASSERTIONS | {"assert_type", "check_numerics"}
"""Functions of `tf.debugging` on ragged tensors."""
_OF_SPARSE: dict[str, Callable[..., pb.Tensor]] = {
    "rank": lambda input, name=None: pb.size(input.dense_shape, name=name),
    "shape": lambda input, name=None, out_type=pb.int32: pb.cast(input.dense_shape, out_type, name=name),
    "size": lambda input, name=None, out_type=pb.int32: pb.cast(pb.reduce_prod(input.dense_shape), out_type, name=name),
}
"""What is computed from the dense shape."""


@cache
def on_composites_too(name: str, dense: Any, parameters: str | None) -> Any:
    """`dense`, or, given sparse or ragged tensors, what is of that name for them, or else `dense` of their values.

    The latter where each element of the result depends on one of the values and, of sparse ones, is 0 where that is.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.ragged.constant([[1, 2], [3]])
    >>> tf.Session().run(tf.reduce_sum(tf.concat([x, [[4]]], axis=0), axis=1))
    array([3, 3, 4], dtype=int32)
    """
    if not isfunction(dense) or name == "convert_to_tensor" or not _takes_tensors(dense):
        return dense
    of_ragged = _of_ragged(name, dense, parameters)

    def as_tensors(x: Any) -> Any:
        return pb.SparseTensor(*x) if isinstance(x, pb.SparseTensorValue) and name in _OF_SPARSE else x

    @wraps(dense)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return dense(*args, **kwargs)
        except TypeError:
            args, kwargs = tuple(map(as_tensors, args)), {n: as_tensors(x) for n, x in kwargs.items()}
            given = [x for x in nest.flatten([args, kwargs]) if isinstance(x, pb.RaggedTensor | pb.SparseTensor)]
            if not given:
                raise
            special = of_ragged if isinstance(given[0], pb.RaggedTensor) else _OF_SPARSE.get(name)
            if special is not None:
                return special(*args, **kwargs)
            found = _by_elements(dense, given, args, kwargs)
            if found is None:
                raise
            return found

    return call


def _of_ragged(name: str, dense: Any, parameters: str | None) -> Any:
    """What is of that name for ragged tensors, or None."""
    if name in _ASSERTIONS:
        return _asserted(dense)
    if name == "assert_type":
        return lambda tensor, *args, **kwargs: dense(tensor.flat_values, *args, **kwargs)
    if name in ("resize", "resize_images"):
        return _rows_resized(dense)
    if name in _BY_VALUES:
        return _of_values(dense)
    if name not in _OF_RAGGED:
        return None
    return older(_OF_RAGGED[name], parameters if name.startswith(_RENAMED) else None)


def of_composites_too(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, on sparse and ragged tensors too."""
    return on_composites_too(function.__name__, function, None)  # type: ignore[no-any-return]


def _takes_tensors(function: Callable[..., Any]) -> bool:
    first = next((str(kind) for name, kind in function.__annotations__.items() if name != "return"), "")
    return "Tensor" in first or "Sequence" in first


def _by_elements(dense: Callable[..., Any], given: list[Any], args: Any, kwargs: Any) -> Any:
    """`dense` of the values of the composites; None where their elements do not count alone."""
    shared = nest.flatten([args, kwargs])
    refused = False

    def checked(*values: Any, **options: Any) -> Any:
        nonlocal refused
        flat = [
            x for x in nest.flatten([values, options]) if isinstance(x, pb.Tensor) and all(x is not y for y in shared)
        ]
        start = len(flat[0].graph.operations)
        try:
            y = dense(*values, **options)
        except (TypeError, ValueError):
            y = None
        refused = not (isinstance(y, pb.Tensor) and _is_elementwise(start, flat, y))
        return flat[0] if refused else y

    first = given[0]
    if isinstance(first, pb.SparseTensor):
        if len(given) > 1 or not _keeps_zero(dense, first, args, kwargs):
            return None
        positional, named = _with(first, first.values, args, kwargs)
        mapped = first.with_values(checked(*positional, **named))
    else:
        mapped = ragged.map_flat_values(checked, *_broadcast(args), **kwargs)
    return None if refused else mapped


def _broadcast(args: Any) -> Any:
    """`args`, of which the first two are operands with common rows where they are such."""
    first, second, *rest = args if len(args) > 1 else (*args, None)
    if not all(isinstance(x, pb.RaggedTensor | pb.Tensor | np.ndarray) for x in (first, second)):
        return args
    return (*paired(first, second), *rest)


def _with(x: pb.SparseTensor, value: Any, args: Any, kwargs: Any) -> Any:
    return nest.map_structure(lambda y: value if y is x else y, [list(args), kwargs])


def _is_elementwise(start: int, values: list[pb.Tensor], y: pb.Tensor) -> bool:
    """Whether operations from `start` on make `y` of `values` by elements, beside scalars; or it is a constant."""
    made = {id(x) for x in values}
    for op in y.graph.operations[start:]:
        rest = [x for x in op.inputs if id(x) not in made]
        if len(rest) < len(op.inputs):
            if ELEMENTWISE not in op.primitive.traits or any(x.shape.rank != 0 for x in rest):
                return False
            made.update(map(id, op.outputs))
    return id(y) in made or (not y.op.inputs and y.shape == values[0].shape)


def _keeps_zero(dense: Callable[..., Any], x: pb.SparseTensor, args: Any, kwargs: Any) -> bool:
    """Whether `dense` of 0 is 0, which is tried."""
    with pb.Graph().as_default():
        try:
            positional, named = _with(x, pb.zeros([1], x.dtype), args, kwargs)
            return not pb.Session(engine="numpy").run(dense(*positional, **named)).any()
        except (TypeError, ValueError):
            return False
