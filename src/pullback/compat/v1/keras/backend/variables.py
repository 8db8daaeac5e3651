"""Variables, random numbers and runs under the names of `tf.keras.backend`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from .....core.typing import DTypeLike, ShapeLike, TensorLike
from ...sparse import placeholder as sparse_placeholder
from ...variable import Variable
from .state import floatx, get_session, learning_phase


def variable(
    value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, constraint: Any = None
) -> pb.Variable:
    """A variable of that first value."""
    return Variable(value, dtype=dtype or floatx(), name=name, constraint=constraint)


def constant(
    value: TensorLike, dtype: DTypeLike | None = None, shape: ShapeLike | None = None, name: str = "Const"
) -> pb.Tensor:
    """A constant."""
    return pb.constant(value, dtype or floatx(), shape, name)


def placeholder(
    shape: ShapeLike | None = None,
    ndim: int | None = None,
    dtype: DTypeLike | None = None,
    sparse: bool = False,
    name: str | None = None,
) -> Any:
    """What a run is fed with; of a shape, or of a number of axes."""
    lengths = [None] * ndim if shape is None and ndim else shape
    kind = dtype or floatx()
    return sparse_placeholder(kind, lengths, name) if sparse else pb.placeholder(kind, lengths, name)


def _filled(make: Callable[..., pb.Tensor], doc: str) -> Callable[..., Any]:
    def filled(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
        value = make(shape, dtype or floatx())
        return variable(value, dtype, name) if value.shape.is_fully_defined() else value

    filled.__doc__ = doc
    return filled


def _filled_like(make: Callable[..., pb.Tensor], doc: str) -> Callable[..., pb.Tensor]:
    def filled(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> pb.Tensor:
        return make(x, dtype, name)

    filled.__doc__ = doc
    return filled


zeros = _filled(pb.zeros, "A variable of zeros; a tensor where the shape is not known.")
ones = _filled(pb.ones, "A variable of ones; a tensor where the shape is not known.")
zeros_like = _filled_like(pb.zeros_like, "Zeros in the shape of `x`.")
ones_like = _filled_like(pb.ones_like, "Ones in the shape of `x`.")


def eye(size: int, dtype: DTypeLike | None = None, name: str | None = None) -> pb.Variable:
    """A variable with ones on the diagonal."""
    return variable(pb.eye(size, dtype=dtype or floatx()), dtype, name)


def update(x: pb.Variable, new_x: TensorLike) -> Any:
    """Assign."""
    return x.assign(new_x)


def update_add(x: pb.Variable, increment: TensorLike) -> Any:
    """Add to a variable."""
    return x.assign_add(increment)


def update_sub(x: pb.Variable, decrement: TensorLike) -> Any:
    """Subtract from a variable."""
    return x.assign_sub(decrement)


def moving_average_update(x: pb.Variable, value: TensorLike, momentum: float) -> Any:
    """Let a variable follow values: it keeps `momentum` of what it is."""
    return x.assign_sub((x - value) * (1.0 - momentum))


def gradients(loss: TensorLike, variables: Any) -> list[Any]:
    """The derivatives of a loss."""
    return pb.gradients(loss, variables)


def stop_gradient(variables: Any) -> Any:
    """Tensors that are constant to derivatives."""
    several = isinstance(variables, list | tuple)
    return [pb.stop_gradient(x) for x in variables] if several else pb.stop_gradient(variables)


def random_normal(
    shape: ShapeLike, mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> pb.Tensor:
    """Normal numbers."""
    return pb.random.normal(shape, mean, stddev, dtype or floatx(), seed)


def truncated_normal(
    shape: ShapeLike, mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> pb.Tensor:
    """Normal numbers within two standard deviations."""
    return pb.random.truncated_normal(shape, mean, stddev, dtype or floatx(), seed)


def random_uniform(
    shape: ShapeLike, minval: float = 0.0, maxval: float = 1.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> pb.Tensor:
    """Numbers between two."""
    return pb.random.uniform(shape, minval, maxval, dtype or floatx(), seed)


def random_binomial(
    shape: ShapeLike, p: float = 0.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> pb.Tensor:
    """1 with the probability `p`, else 0."""
    kind = dtype or floatx()
    drawn = pb.random.uniform(shape, dtype=kind, seed=seed)
    return pb.cast(drawn <= pb.cast(p, kind), kind)


def random_normal_variable(
    shape: Any,
    mean: float,
    scale: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> pb.Variable:
    """A variable of normal numbers."""
    return variable(random_normal(shape, mean, scale, dtype, seed), dtype, name)


def random_uniform_variable(
    shape: Any,
    low: float,
    high: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> pb.Variable:
    """A variable of numbers between two."""
    return variable(random_uniform(shape, low, high, dtype, seed), dtype, name)


def is_placeholder(x: Any) -> bool:
    """Whether a run is fed with `x`."""
    return isinstance(x, pb.Tensor) and x.op.type == "Placeholder"


def print_tensor(x: Any, message: str = "", summarize: int = 3) -> pb.Tensor:
    """`x`, which a run prints behind `message`."""
    tensor = pb.convert_to_tensor(x)
    with pb.control_dependencies([pb.print(message, tensor, summarize=summarize)]):
        return pb.identity(tensor)


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x`, or what it returns, in training, else `alt`; a tensor `training` decides in a run."""
    phase = learning_phase() if training is None else training
    return switch(phase, x, alt) if isinstance(phase, pb.Tensor) else _made(x if phase else alt)


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`alt`, or what it returns, in training, else `x`."""
    return in_train_phase(alt, x, training)


def switch(condition: TensorLike, then_expression: Any, else_expression: Any) -> Any:
    """One of two tensors, or what one of two functions returns; element by element where the condition has axes."""
    chosen = pb.cast(pb.convert_to_tensor(condition), pb.bool)
    if chosen.shape.rank == 0:
        return pb.cond(chosen, lambda: _made(then_expression), lambda: _made(else_expression))
    one, other = pb.convert_to_tensor(_made(then_expression)), pb.convert_to_tensor(_made(else_expression))
    for _ in range((one.shape.rank or 0) - (chosen.shape.rank or 0)):
        chosen = pb.expand_dims(chosen, -1)
    return pb.where(chosen, one, other)


def function(inputs: Sequence[Any], outputs: Any, updates: Any = None, name: str | None = None) -> Callable[..., Any]:
    """A function from values of `inputs` to those of `outputs`, which runs them in `get_session`.

    >>> import pullback as pb
    >>> from pullback.compat.v1.keras import backend
    >>> x = backend.placeholder([2])
    >>> backend.function([x], [x * 2.0])([[1.0, 2.0]])
    [array([2., 4.], dtype=float32)]
    """
    del name
    changes = [pb.assign(*u) if isinstance(u, tuple) else u for u in updates or []]
    after = pb.group(*changes)

    def call(values: Sequence[Any]) -> Any:
        return get_session().run([outputs, after], dict(zip(inputs, values, strict=True)))[0]

    return call


def _made(x: Any) -> Any:
    return x() if callable(x) else x
