"""Random numbers (uniform, normal, categorical), drawn anew in each run, or a function of a seed; and dropout.

An operation that draws anew keeps its own key and the number of its next draw in the session. With a seed, of the
operation or of the graph, every new session draws the same numbers; without one, each session has its own key. Both
engines draw the same numbers: see `threefry`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, DType, as_dtype, float32, int32, int64, uint32
from ...core.graph import Graph, Tensor, get_default_graph
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.types import TensorType, shape_to_infer
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ..base.axes import static_integer
from ..base.integer_keys import stable_order
from ..base.state import AbstractStateful, AbstractUpdates
from ..creation.constant import convert_to_tensor, is_python_number
from ..elementwise.arithmetic import Add, Mul, Sub
from ..indexing.gather import gather
from ..shape.reshape import shape_to_use, split_shape
from . import threefry

DRAWN_INTEGERS: frozenset[DType] = frozenset([int32, int64])
_LARGEST_WORD64 = 2**64 - 1
Dims = tuple[int | None, ...] | None
_DEFAULT_SEED = 87654321


def set_random_seed(seed: int | None) -> None:
    """Gives the default graph a seed: operations made from now on draw the same numbers in every session.

    Each operation then has a seed of its own, from the graph's seed and from the number of operations made before it.

    >>> import pullback as pb
    >>> pb.set_random_seed(7)
    >>> x = pb.random.uniform([])
    >>> pb.Session().run(x) == pb.Session().run(x)
    np.True_
    """
    get_default_graph().seed = seed


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The seed of the graph and that of the next operation; both None where neither has been set.

    >>> import pullback as pb
    >>> pb.random.get_seed(None)
    (None, None)
    >>> pb.random.set_seed(7)
    >>> pb.random.get_seed(2)
    (7, 2)
    """
    graph = get_default_graph()
    if graph.seed is not None:
        return int(graph.seed), _number_of_next(graph) if op_seed is None else int(op_seed)
    return (None, None) if op_seed is None else (_DEFAULT_SEED, int(op_seed))


def _number_of_next(graph: Graph) -> int:
    """A number for the next operation: its place in the graph and, in a body, the place of the body around it."""
    number, around = len(graph.operations), graph.outer
    while around is not None:
        number, around = (number + 65_599 * len(around.operations)) % 2**31, around.outer
    return number


@in_graph_of_inputs
def random_uniform(
    shape: ShapeLike,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers drawn anew in each run, uniform in [minval, maxval); derivatives go to the bounds.

    Shapes: `shape`, integers or an integer vector; the bounds of floats broadcast to it, those of integers are scalars.
    Dtypes: `dtype`: any float (`maxval` is 1 unless given), int32 or int64 (give `maxval`).

    Derivative: dminval = sum(dy * (1 - u)), dmaxval = sum(dy * u), for the numbers u in [0, 1) drawn.

    Raises:
        ValueError: integers without `maxval`. TypeError: another dtype.

    >>> import pullback as pb
    >>> x = pb.Session().run(pb.random.uniform([2, 3], maxval=10.0, seed=1))
    >>> x.shape, bool(((0 <= x) & (x < 10)).all())
    ((2, 3), True)
    """
    wanted = drawn_type("random.uniform", dtype, FLOATING | DRAWN_INTEGERS)
    graph = get_default_graph()
    with graph.within(name or "random_uniform") as scope:
        dims, lengths = shape_inputs(shape)
        seeds = get_seed(seed)
        if wanted in INTEGER:
            bounds = integer_bounds("random.uniform", minval, maxval, wanted)
            return drawn(graph, RandomUniformInt(dims, wanted, *seeds), (*bounds, *lengths), scope)
        high = 1 if maxval is None else maxval
        return affine(
            graph, RandomUniform(dims, wanted, *seeds), lengths, difference(high, minval, wanted), minval, scope
        )


@in_graph_of_inputs
def random_normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers drawn anew in each run, normal with `mean` and `stddev`, to which derivatives go.

    Shapes: `shape`, integers or an integer vector, to which `mean` and `stddev` broadcast. Dtypes: any float.

    Derivative: dmean = sum(dy), dstddev = sum(dy * (y - mean) / stddev).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.random.normal([2, 3], seed=1)).shape
    (2, 3)
    """
    return _located("random_normal", RandomStandardNormal, shape, mean, stddev, dtype, seed, name)


@in_graph_of_inputs
def truncated_normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers drawn anew in each run, normal given that they are within two `stddev` of `mean`.

    Shapes: `shape`, integers or an integer vector, to which `mean` and `stddev` broadcast. Dtypes: any float.

    Derivative: dmean = sum(dy), dstddev = sum(dy * (y - mean) / stddev).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> bool(abs(pb.Session().run(pb.random.truncated_normal([99]))).max() <= 2)
    True
    """
    return _located("truncated_normal", TruncatedNormal, shape, mean, stddev, dtype, seed, name)


def _located(
    what: str, cls: Any, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: int | None, name: str | None
) -> Tensor:
    wanted = drawn_type(f"random.{what.removeprefix('random_')}", dtype, FLOATING)
    graph = get_default_graph()
    with graph.within(name or what) as scope:
        dims, lengths = shape_inputs(shape)
        return affine(graph, cls(dims, wanted, *get_seed(seed)), lengths, stddev, mean, scope)


class AbstractDraw(AbstractStateful):
    """Numbers drawn anew in each run. The state is the key, two words, and the number of the next draw.

    The attributes `seed` and `seed2` are those of the graph and of the operation; None for a key of each session's own.
    """

    owns_state = True
    writes_state = True

    def drawn_shape(self, *arrays: Any) -> tuple[int, ...]:
        """The shape of the words to draw."""
        raise NotImplementedError(f"{type(self).__name__} defines no drawn_shape()")

    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        """The output, from two random words for each element of the shape drawn."""
        raise NotImplementedError(f"{type(self).__name__} defines no sample()")

    def kernel(self, xp: Any, state: Any, *arrays: Any) -> Any:
        pair = threefry.words(xp, (state[0], state[1]), state[2], self.drawn_shape(*arrays))
        return self.sample(xp, pair, *arrays)

    def update(self, xp: Any, ex: AbstractUpdates, state: Any, *arrays: Any) -> Any:
        del xp, arrays
        return ex.add(state, np.array([0, 0, 1], uint32))

    def initial_state(self) -> Any:
        attributes = self.attributes
        return first_state(attributes["seed"], attributes["seed2"])

    gradient = no_gradient


class AbstractShapedDraw(AbstractDraw):
    """Numbers of a shape, whose lengths an input gives where they are not all static; the others stand before it."""

    shape_inputs = length_inputs = (0,)

    shape: Dims
    """The lengths; None where an input gives them."""
    dtype: Any
    seed: int | None = None
    seed2: int | None = None

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(self.dtype, inferred_shape(self.shape, types[self.shape_inputs[0] :])),)

    def drawn_shape(self, *arrays: Any) -> tuple[int, ...]:
        return shape_to_use(self.shape, *arrays[self.shape_inputs[0] :] or (None,))


class RandomUniform(AbstractShapedDraw):
    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        return threefry.uniform(xp, pair, self.dtype)


class RandomStandardNormal(AbstractShapedDraw):
    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        return threefry.normal(xp, pair, self.dtype)


class TruncatedNormal(AbstractShapedDraw):
    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        return threefry.truncated_normal(xp, pair, self.dtype)


class RandomUniformInt(AbstractShapedDraw):
    shape_inputs = length_inputs = (2,)

    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        return threefry.integers(xp, pair, arrays[0], arrays[1], self.dtype)


def categorical(
    logits: TensorLike,
    num_samples: int,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers of classes drawn anew in each run, each with the probability softmax(logits).

    Shapes: `logits` [b, k]; the result [b, num_samples]. Dtypes: `logits` any float; the result int64, or `dtype`.

    Raises:
        ValueError: `logits` is no matrix.

    Source: E. J. Gumbel, "Statistical theory of extreme values", 1954: the largest of logits plus Gumbel noise.

    >>> import pullback as pb
    >>> pb.Session().run(pb.random.categorical([[0.0, 99.0]], 3))
    array([[1, 1, 1]])
    """
    x = convert_to_tensor(logits)
    primitive = Multinomial(
        static_integer(num_samples, "categorical: num_samples"),
        as_dtype(int64 if dtype is None else dtype),
        *get_seed(seed),
    )
    return drawn(x.graph, primitive, (x,), name or "categorical")


class Multinomial(AbstractDraw):
    num_samples: int
    dtype: Any
    seed: int | None = None
    seed2: int | None = None

    def infer(self, logits: TensorType) -> tuple[TensorType, ...]:
        return (multinomial_type("random.categorical", logits, self.num_samples, self.dtype),)

    def drawn_shape(self, *arrays: Any) -> tuple[int, ...]:
        rows, classes = arrays[0].shape
        return (rows, self.num_samples, classes)

    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        return threefry.categories(xp, pair, arrays[0], self.dtype)


def random_shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """The rows of `value` in an order drawn anew in each run; derivatives go to the rows.

    Shapes: [n, ...]. Dtypes: any.

    Derivative: dx = the rows of dy where they came from.

    >>> import pullback as pb
    >>> sorted(pb.Session().run(pb.random.shuffle([3, 1, 2])).tolist())
    [1, 2, 3]
    """
    x = convert_to_tensor(value)
    with x.graph.within(name or "random_shuffle") as scope:
        order = drawn(x.graph, RandomOrder(*get_seed(seed)), (x,), None)
        return gather(x, order, name=scope)


class RandomOrder(AbstractDraw):
    """The numbers of the rows of the input, in random order."""

    reads_values = False

    seed: int | None = None
    seed2: int | None = None

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.shape.rank == 0:
            raise ValueError(f"random.shuffle: {x} has no rows")
        return (TensorType(int32, TensorShape([x.shape.length(0)])),)

    def drawn_shape(self, *arrays: Any) -> tuple[int, ...]:
        return (arrays[0].shape[0],)

    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        return stable_order(xp, pair[0]).astype(int32)


def first_state(seed: int | None, seed2: int | None) -> np.ndarray[Any, Any]:
    """The key of two seeds, or one of the operating system's; and 0, the number of the first draw."""
    if seed is None or seed2 is None:
        return np.array([*entropy(), 0], uint32)
    words = np.array([seed & _LARGEST_WORD64, seed2 & _LARGEST_WORD64], np.uint64)
    with np.errstate(over="ignore"):
        return np.array([*threefry.derived_key(np, words), 0], uint32)


def entropy() -> np.ndarray[Any, Any]:
    """Two words of the operating system's."""
    return np.random.SeedSequence().generate_state(2, np.uint32)


def shape_inputs(shape: Any) -> tuple[Dims, tuple[Tensor, ...]]:
    """A shape as static lengths, and the vector, if need be, that has the others."""
    dims, lengths = split_shape(shape)
    return dims, () if lengths is None else (lengths,)


def inferred_shape(dims: Dims, lengths: Sequence[TensorType]) -> TensorShape:
    """The static shape from the static lengths, or from the type of the vector of lengths."""
    vector = lengths[0] if lengths else None
    if vector is not None and (vector.dtype not in INTEGER or vector.shape.rank not in (1, None)):
        raise ValueError(f"random: a shape is an integer vector, not {vector}")
    return shape_to_infer(dims, vector)


def multinomial_type(function: str, logits: TensorType, num_samples: int, dtype: DType) -> TensorType:
    """The type of `num_samples` numbers of classes for each row of `logits`."""
    if logits.dtype not in FLOATING or logits.shape.rank not in (2, None):
        raise ValueError(f"{function}: logits must be a matrix of floats, not {logits}")
    return TensorType(dtype, TensorShape([logits.shape.length(0), num_samples]))


def drawn_type(function: str, dtype: Any, allowed: frozenset[DType]) -> DType:
    """The dtype that `dtype` names; TypeError unless it is among those allowed."""
    wanted = as_dtype(dtype)
    if wanted not in allowed:
        raise TypeError(
            f"{function}: no numbers of dtype {wanted.name}; use {', '.join(sorted(d.name for d in allowed))}"
        )
    return wanted


def integer_bounds(function: str, minval: Any, maxval: Any, dtype: DType) -> tuple[Tensor, Tensor]:
    """The bounds as scalars of `dtype`; ValueError without an upper one."""
    if maxval is None:
        raise ValueError(f"{function}: Must specify maxval for integer dtype {dtype.name}")
    return convert_to_tensor(minval, dtype, name="min"), convert_to_tensor(maxval, dtype, name="max")


def difference(high: Any, low: Any, dtype: DType) -> Any:
    """`high - low`: a number where both are numbers, else a tensor."""
    if is_python_number(high) and is_python_number(low):
        return high - low
    if is_python_number(low) and low == 0:
        return high
    return Sub()(convert_to_tensor(high, dtype, name="max"), convert_to_tensor(low, dtype, name="min"), name="sub")


def affine(graph: Graph, primitive: Primitive, inputs: Sequence[Tensor], scale: Any, offset: Any, name: str) -> Tensor:
    """What `primitive` draws, times `scale`, plus `offset`; the last operation is named `name`, none is needless."""
    scaled = not (is_python_number(scale) and scale == 1)
    moved = not (is_python_number(offset) and offset == 0)
    x = drawn(graph, primitive, inputs, None if scaled or moved else name)
    if scaled:
        x = Mul()(x, convert_to_tensor(scale, x.dtype, name="scale"), name="mul" if moved else name)
    if moved:
        x = Add()(x, convert_to_tensor(offset, x.dtype, name="offset"), name=name)
    return x


def drawn(graph: Graph, primitive: Primitive, inputs: Sequence[Tensor], name: str | None) -> Tensor:
    """The output of a new operation of `graph`, which need not have inputs."""
    return graph.add(primitive, inputs, name).outputs[0]
