"""Stateless random numbers: functions of a seed, equal for equal seeds and shapes in every run and session."""

from __future__ import annotations

from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, as_dtype, float32, int64
from ...core.graph import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.types import TensorType
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ..base.axes import static_integer
from ..creation.constant import convert_to_tensor
from ..shape.reshape import shape_to_use
from . import threefry
from .stateful import (
    DRAWN_INTEGERS,
    Dims,
    affine,
    difference,
    drawn,
    drawn_type,
    inferred_shape,
    integer_bounds,
    multinomial_type,
    shape_inputs,
)


def _check_algorithm(function: str, alg: Any) -> None:
    if alg not in ("auto_select", "threefry"):
        raise ValueError(f"{function}: alg must be 'auto_select' or 'threefry', not {alg!r}")


@in_graph_of_inputs
def stateless_uniform(
    shape: ShapeLike,
    seed: TensorLike,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """The numbers of `seed`, uniform in [minval, maxval); derivatives go to the bounds.

    `alg` must be "auto_select" or "threefry", which is the same.

    Shapes: `shape`, integers or an integer vector; `seed` [2]; the bounds of floats broadcast to `shape`, those of
    integers are scalars. Dtypes: `dtype`: any float (`maxval` is 1 unless given), int32 or int64 (give `maxval`); the
    seed int32 or int64.

    Derivative: dminval = sum(dy * (1 - u)), dmaxval = sum(dy * u), for the numbers u in [0, 1) drawn.

    Raises:
        ValueError: integers without `maxval`, a seed that is no pair. TypeError: another dtype.

    >>> import pullback as pb
    >>> x = pb.random.stateless_uniform([2, 3], seed=[1, 2])
    >>> (pb.Session().run(x) == pb.Session().run(x)).all()
    np.True_
    """
    _check_algorithm("stateless_uniform", alg)
    wanted = drawn_type("random.stateless_uniform", dtype, FLOATING | DRAWN_INTEGERS)
    key = convert_to_tensor(seed)
    with key.graph.within(name or "stateless_random_uniform") as scope:
        dims, lengths = shape_inputs(shape)
        if wanted in INTEGER:
            bounds = integer_bounds("random.stateless_uniform", minval, maxval, wanted)
            return drawn(key.graph, StatelessRandomUniformInt(dims, wanted), (key, *bounds, *lengths), scope)
        scale = difference(1 if maxval is None else maxval, minval, wanted)
        return affine(key.graph, StatelessRandomUniform(dims, wanted), (key, *lengths), scale, minval, scope)


@in_graph_of_inputs
def stateless_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """The numbers of `seed`, normal with `mean` and `stddev`, to which derivatives go.

    `alg` must be "auto_select" or "threefry", which is the same.

    Shapes: `shape`, integers or an integer vector, to which `mean` and `stddev` broadcast; `seed` [2].
    Dtypes: any float; the seed int32 or int64.

    Derivative: dmean = sum(dy), dstddev = sum(dy * (y - mean) / stddev).

    Raises:
        ValueError: a seed that is no pair. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.random.stateless_normal([2], seed=[1, 2])).dtype
    dtype('float32')
    """
    _check_algorithm("stateless_normal", alg)
    return _located("stateless_normal", StatelessRandomNormal, shape, seed, mean, stddev, dtype, name)


@in_graph_of_inputs
def stateless_truncated_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """The numbers of `seed`, normal given that they are within two `stddev` of `mean`.

    `alg` must be "auto_select" or "threefry", which is the same.

    Shapes: `shape`, integers or an integer vector, to which `mean` and `stddev` broadcast; `seed` [2].
    Dtypes: any float; the seed int32 or int64.

    Derivative: dmean = sum(dy), dstddev = sum(dy * (y - mean) / stddev).

    Raises:
        ValueError: a seed that is no pair. TypeError: another dtype.

    >>> import pullback as pb
    >>> bool(abs(pb.Session().run(pb.random.stateless_truncated_normal([99], seed=[1, 2]))).max() <= 2)
    True
    """
    _check_algorithm("stateless_truncated_normal", alg)
    return _located("stateless_truncated_normal", StatelessTruncatedNormal, shape, seed, mean, stddev, dtype, name)


def _located(
    what: str, cls: Any, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any, name: str | None
) -> Tensor:
    wanted = drawn_type(f"random.{what}", dtype, FLOATING)
    key = convert_to_tensor(seed)
    with key.graph.within(name or what) as scope:
        dims, lengths = shape_inputs(shape)
        return affine(key.graph, cls(dims, wanted), (key, *lengths), stddev, mean, scope)


@in_graph_of_inputs
def stateless_categorical(
    logits: TensorLike, num_samples: int, seed: TensorLike, dtype: DTypeLike = int64, name: str | None = None
) -> Tensor:
    """Numbers of classes, each with the probability softmax(logits): those of `seed`.

    Shapes: `logits` [b, k], `seed` [2]; the result [b, num_samples]. Dtypes: `logits` any float.

    Raises:
        ValueError: `logits` is no matrix, or the seed no pair.

    >>> import pullback as pb
    >>> pb.Session().run(pb.random.stateless_categorical([[0.0, 99.0]], 3, seed=[1, 2]))
    array([[1, 1, 1]])
    """
    count = static_integer(num_samples, "stateless_categorical: num_samples")
    return StatelessMultinomial(count, as_dtype(dtype))(
        convert_to_tensor(logits), convert_to_tensor(seed), name=name or "stateless_categorical"
    )


class AbstractStatelessDraw(Primitive):
    """The numbers of a seed. Inputs: the seed and, where the static shape does not say all, the vector of lengths."""

    shape_inputs = (1,)

    shape: Dims
    dtype: Any

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        check_seed(self.type, types[0])
        return (TensorType(self.dtype, inferred_shape(self.shape, types[self.shape_inputs[0] :])),)

    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        """The numbers that two random words for each element make."""
        raise NotImplementedError(f"{type(self).__name__} defines no sample()")

    def kernel(self, xp: Any, *arrays: Any) -> Any:
        shape = shape_to_use(self.shape, *arrays[self.shape_inputs[0] :] or (None,))
        return self.sample(xp, words_of(xp, arrays[0], shape), *arrays)

    gradient = no_gradient


class StatelessRandomUniform(AbstractStatelessDraw):
    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        return threefry.uniform(xp, pair, self.dtype)


class StatelessRandomNormal(AbstractStatelessDraw):
    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        return threefry.normal(xp, pair, self.dtype)


class StatelessTruncatedNormal(AbstractStatelessDraw):
    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        return threefry.truncated_normal(xp, pair, self.dtype)


class StatelessRandomUniformInt(AbstractStatelessDraw):
    shape_inputs = (3,)

    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        return threefry.integers(xp, pair, arrays[1], arrays[2], self.dtype)


class StatelessMultinomial(Primitive):
    num_samples: int
    dtype: Any

    def infer(self, logits: TensorType, seed: TensorType) -> tuple[TensorType, ...]:
        check_seed(self.type, seed)
        return (multinomial_type("random.stateless_categorical", logits, self.num_samples, self.dtype),)

    def kernel(self, xp: Any, logits: Any, seed: Any) -> Any:
        shape = (logits.shape[0], self.num_samples, logits.shape[1])
        return threefry.categories(xp, words_of(xp, seed, shape), logits, self.dtype)

    gradient = no_gradient


def words_of(xp: Any, seed: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Two random words for each element of a shape."""
    return threefry.words(xp, threefry.derived_key(xp, seed), 0, shape)


def check_seed(function: str, seed: TensorType) -> None:
    """ValueError unless the type is that of a seed: two integers."""
    if seed.dtype not in INTEGER or not seed.shape.is_compatible_with([2]):
        raise ValueError(f"{function}: the seed must be two integers, int32[2] or int64[2], not {seed}")
