"""Learning rate schedules, as graph: give the global step, get the rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.dtypes import FLOATING, float32, int32
from ..core.graph import Tensor, get_default_graph
from ..core.typing import TensorLike
from ..primitives.casting.cast import cast
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.elementwise.arithmetic import add, multiply
from ..primitives.elementwise.division import divide
from ..primitives.elementwise.exponential import exp, log
from ..primitives.elementwise.maximum import maximum, minimum
from ..primitives.elementwise.powers import pow as raised
from ..primitives.elementwise.powers import sqrt
from ..primitives.elementwise.rounding import ceil, floor
from ..primitives.elementwise.trigonometric import cos
from ..primitives.indexing.gather import gather
from ..primitives.logic.comparison import greater
from ..primitives.random.stateful import random_normal
from ..primitives.reduction.reduce import reduce_sum
from ..primitives.variables.variable import Variable


def exponential_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * decay_rate ^ (global_step / decay_steps); with `staircase` the quotient is rounded down.

    Shapes: scalars. Dtypes: the rate any float, the step any number.

    Raises:
        ValueError: `global_step` is None.

    >>> import pullback as pb
    >>> pb.Session().run(pb.train.exponential_decay(1.0, 20, 10, 0.5))
    np.float32(0.25)
    """
    with _scope(name or "ExponentialDecay", learning_rate, global_step) as scope:
        rate, step, period = _numbers("exponential_decay", learning_rate, global_step, decay_steps)
        steps = floor(step / period) if staircase else step / period
        return multiply(rate, raised(_like(decay_rate, rate), steps), name=scope)


def natural_exp_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * exp(-decay_rate * global_step / decay_steps); with `staircase` the quotient is rounded down.

    Shapes: scalars. Dtypes: the rate any float, the step any number.

    Raises:
        ValueError: `global_step` is None.

    >>> import pullback as pb
    >>> pb.Session().run(pb.train.natural_exp_decay(1.0, 0, 10, 0.5))
    np.float32(1.0)
    """
    with _scope(name or "ExponentialDecay", learning_rate, global_step) as scope:
        rate, step, period = _numbers("natural_exp_decay", learning_rate, global_step, decay_steps)
        steps = floor(step / period) if staircase else step / period
        return multiply(rate, exp(-(_like(decay_rate, rate) * steps)), name=scope)


def inverse_time_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate / (1 + decay_rate * global_step / decay_steps); with `staircase` the quotient is rounded down.

    Shapes: scalars. Dtypes: the rate any float, the step any number.

    Raises:
        ValueError: `global_step` is None.

    >>> import pullback as pb
    >>> pb.Session().run(pb.train.inverse_time_decay(1.0, 20, 10, 0.5))
    np.float32(0.5)
    """
    with _scope(name or "InverseTimeDecay", learning_rate, global_step) as scope:
        rate, step, period = _numbers("inverse_time_decay", learning_rate, global_step, decay_steps)
        steps = floor(step / period) if staircase else step / period
        return divide(rate, 1.0 + _like(decay_rate, rate) * steps, name=scope)


def polynomial_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    end_learning_rate: TensorLike = 0.0001,
    power: TensorLike = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """(learning_rate - end) * (1 - step / decay_steps) ^ power + end, where step stops at `decay_steps`.

    With `cycle`, `decay_steps` is replaced by its first multiple that the step has not passed.

    Shapes: scalars. Dtypes: the rate any float, the step any number.

    Raises:
        ValueError: `global_step` is None.

    >>> import pullback as pb
    >>> pb.Session().run(pb.train.polynomial_decay(1.0, 5, 10, 0.0))
    np.float32(0.5)
    """
    with _scope(name or "PolynomialDecay", learning_rate, global_step) as scope:
        rate, step, total = _numbers("polynomial_decay", learning_rate, global_step, decay_steps)
        end, exponent = _like(end_learning_rate, rate), _like(power, rate)
        if cycle:
            total = total * maximum(ceil(step / total), _like(1.0, rate))
        # Compiled, step / total can come out above 1 where the two are equal.
        passed = minimum(step / total, _like(1.0, rate))
        return add((rate - end) * raised(1.0 - passed, exponent), end, name=scope)


def cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    alpha: TensorLike = 0.0,
    name: str | None = None,
) -> Tensor:
    """learning_rate * ((1 - alpha) * (1 + cos(pi step / decay_steps)) / 2 + alpha), where step stops at `decay_steps`.

    Shapes: scalars. Dtypes: the rate any float, the step any number.

    Raises:
        ValueError: `global_step` is None.

    Source: I. Loshchilov, F. Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR 2017.

    >>> import pullback as pb
    >>> pb.Session().run(pb.train.cosine_decay(1.0, 10, 10, alpha=0.25))
    np.float32(0.25)
    """
    with _scope(name or "CosineDecay", learning_rate, global_step):
        rate, step, total = _numbers("cosine_decay", learning_rate, global_step, decay_steps)
        low = _like(alpha, rate)
        wave = 0.5 * (1.0 + cos(minimum(step, total) / total * math.pi))
        return rate * ((1.0 - low) * wave + low)


def cosine_decay_restarts(
    learning_rate: TensorLike,
    global_step: TensorLike,
    first_decay_steps: TensorLike,
    t_mul: float = 2.0,
    m_mul: float = 1.0,
    alpha: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """`cosine_decay` again and again: each time over `t_mul` as many steps, from `m_mul` as high.

    Shapes: scalars. Dtypes: the rate any float, the step any number.

    Raises:
        ValueError: `global_step` is None.

    Source: I. Loshchilov, F. Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR 2017.

    >>> import pullback as pb
    >>> rates = [pb.train.cosine_decay_restarts(1.0, step, 10, m_mul=0.5) for step in (0, 5, 10, 20)]
    >>> [round(float(rate), 3) for rate in pb.Session().run(rates)]
    [1.0, 0.5, 0.5, 0.25]
    """
    with _scope(name or "SGDRDecay", learning_rate, global_step) as scope:
        rate, step, first = _numbers("cosine_decay_restarts", learning_rate, global_step, first_decay_steps)
        done = step / first
        growth, low = _like(t_mul, rate), _like(alpha, rate)
        if t_mul == 1.0:
            restarts = floor(done)
            fraction = done - restarts
        else:
            restarts = floor(log(1.0 - done * (1.0 - growth)) / log(growth))
            power = raised(growth, restarts)
            fraction = (done - (1.0 - power) / (1.0 - growth)) / power
        wave = 0.5 * raised(_like(m_mul, rate), restarts) * (1.0 + cos(fraction * math.pi))
        return multiply(rate, (1.0 - low) * wave + low, name=scope)


def linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    num_periods: TensorLike = 0.5,
    alpha: TensorLike = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Tensor:
    """learning_rate * ((alpha + 1 - t) * (1 + cos(2 pi num_periods t)) / 2 + beta), t = min(step / decay_steps, 1).

    Shapes: scalars. Dtypes: the rate any float, the step any number.

    Raises:
        ValueError: `global_step` is None.

    Source: I. Bello, B. Zoph, V. Vasudevan, Q. Le, "Neural optimizer search with reinforcement learning", 2017.

    >>> import pullback as pb
    >>> pb.Session().run(pb.train.linear_cosine_decay(1.0, 5, 10, beta=0.25))
    np.float32(0.5)
    """
    with _scope(name or "LinearCosineDecay", learning_rate, global_step) as scope:
        rate, step, total = _numbers("linear_cosine_decay", learning_rate, global_step, decay_steps)
        done = minimum(step, total) / total
        wave = 0.5 * (1.0 + cos(done * _like(num_periods, rate) * (2.0 * math.pi)))
        return multiply(rate, (_like(alpha, rate) + 1.0 - done) * wave + _like(beta, rate), name=scope)


def noisy_linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    initial_variance: TensorLike = 1.0,
    variance_decay: TensorLike = 0.55,
    num_periods: TensorLike = 0.5,
    alpha: TensorLike = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Tensor:
    """As `linear_cosine_decay`, with noise added to the linear part: `alpha + 1 - t + noise`.

    The noise is drawn anew in each run: normal, with the variance `initial_variance / (1 + step) ** variance_decay`.

    Shapes: scalars. Dtypes: the rate any float, the step any number.

    Raises:
        ValueError: `global_step` is None.

    >>> import pullback as pb
    >>> rate = pb.train.noisy_linear_cosine_decay(1.0, 10, 10, initial_variance=0.0)
    >>> pb.Session().run(rate)
    np.float32(0.001)
    """
    with _scope(name or "NoisyLinearCosineDecay", learning_rate, global_step) as scope:
        rate, step, total = _numbers("noisy_linear_cosine_decay", learning_rate, global_step, decay_steps)
        step = minimum(step, total)
        variance = _like(initial_variance, rate) / raised(1.0 + step, _like(variance_decay, rate))
        noise = sqrt(variance) * random_normal([], dtype=rate.dtype)
        wave = 0.5 * (1.0 + cos(step / total * _like(num_periods, rate) * (2.0 * math.pi)))
        noisy = _like(alpha, rate) + 1.0 - step / total + noise
        return multiply(rate, noisy * wave + _like(beta, rate), name=scope)


def piecewise_constant(
    x: TensorLike, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Tensor:
    """values[0] up to x = boundaries[0] inclusive, then values[1] up to boundaries[1], ..., then the last of `values`.

    Shapes: scalars; there is one more of `values` than of `boundaries`. Dtypes: `x` any number; `boundaries` adopt its.

    Raises:
        ValueError: another number of values.

    >>> import pullback as pb
    >>> pb.Session().run(pb.train.piecewise_constant(11, [10, 20], [1.0, 0.5, 0.1]))
    np.float32(0.5)
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    with _scope(name or "PiecewiseConstant", x, *values):
        step = convert_to_tensor(x)
        rates = convert_to_tensor(list(values))
        if not boundaries:
            return gather(rates, 0)
        limits = convert_to_tensor(list(boundaries), dtype_hint=step.dtype)
        if limits.dtype != step.dtype:
            limits = cast(limits, step.dtype)
        return gather(rates, reduce_sum(cast(greater(step, limits), int32)))


def _scope(name: str, *values: Any) -> Any:
    """A name scope on the graph of the first tensor or variable among `values`, or the default one."""
    graphs = [v.graph for v in values if isinstance(v, Tensor | Variable)]
    return (graphs[0] if graphs else get_default_graph()).within(name)


def _numbers(function: str, learning_rate: Any, global_step: Any, decay_steps: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The rate, the step and the number of steps, all of the dtype of the rate."""
    if global_step is None:
        raise ValueError(f"global_step is required for {function}.")
    rate = convert_to_tensor(learning_rate, dtype_hint=float32, name="learning_rate")
    if rate.dtype not in FLOATING:
        raise TypeError(f"{function}: the learning rate must be a float, not {rate}")
    return rate, _like(global_step, rate), _like(decay_steps, rate)


def _like(value: Any, rate: Tensor) -> Tensor:
    """`value` in the dtype of `rate`."""
    if isinstance(value, Tensor | Variable):
        return cast(value, rate.dtype)
    return convert_to_tensor(value, rate.dtype, graph=rate.graph)
