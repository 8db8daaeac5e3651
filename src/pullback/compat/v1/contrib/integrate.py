"""Ordinary differential equations of `tf.contrib.integrate`: Dormand and Prince's method, and Runge-Kutta's on a grid.

>>> import pullback.compat.v1 as tf
>>> rate = tf.constant(-1.0)
>>> y = tf.contrib.integrate.odeint(lambda y, t: rate * y, 1.0, [0.0, 1.0, 2.0])
>>> dy, = tf.gradients(y[-1], rate)
>>> tf.Session().run([y, dy])
[array([1.        , 0.36787..., 0.13533...], dtype=float32), np.float32(0.27067...)]
>>> z = tf.contrib.integrate.odeint_fixed(lambda y, t: -y, 1.0, [0.0, 1.0, 2.0], dt=0.1)
>>> tf.Session().run(z)
array([1.        , 0.36787..., 0.13533...], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.dtypes import COMPLEX, FLOATING
from ....core.typing import TensorLike

Slope = Callable[[Any, Any], Any]
_NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
"""The last one is the solution of the fifth order, whose slope begins the next step."""
_FOURTH = (1951 / 21600, 0.0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300, 1 / 60)
_ERROR = tuple(low - high for low, high in zip(_FOURTH, (*_STAGES[-1], 0.0), strict=True))
_MIDDLE = (
    6025192743 / 30085553152 / 2,
    0.0,
    51252292925 / 65400821598 / 2,
    -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2,
    -1776094331 / 19743644256 / 2,
    11237099 / 235043384 / 2,
)


class State(NamedTuple):
    """Where an integration is: the value and the slope after its last step, from `before` to `now`."""

    y: Any
    slope: Any
    before: Any
    now: Any
    step: Any
    """The size of the next step."""
    polynomial: Any
    """The coefficients [5, ...] of the value over the last step, from the highest power down."""
    count: Any
    """How many steps were taken since the last point."""
    sound: Any
    """Whether there was nothing that cannot be integrated."""


class Options(NamedTuple):
    """How steps are chosen."""

    first_step: Any = 1.0
    safety: Any = 0.9
    ifactor: Any = 10.0
    dfactor: Any = 0.2
    max_num_steps: Any = 1000


@in_graph_of_inputs
def odeint(
    func: Slope,
    y0: TensorLike,
    t: TensorLike,
    rtol: TensorLike = 1e-6,
    atol: TensorLike = 1e-12,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    full_output: bool = False,
    name: str | None = None,
) -> Any:
    """The values y(t), where dy/dt = func(y, t) and y(t[0]) = `y0`; steps are as large as the tolerances let them be.

    Shapes: `y0` any, `t` [n], ascending; the result [n, ...]. Dtypes: `y0` float or complex, `t` float, float64 if it
    is no tensor. With `full_output` also a dictionary of the points, the ratios of error and tolerance, and the number
    of calls of `func`. `options`: `first_step`, `safety`, `ifactor`, `dfactor`, `max_num_steps`, between two points.

    Derivative: that of the steps that were taken, whose sizes count as constants; TensorFlow differentiates these too,
    which is within the tolerance.

    Source: J. Dormand, P. Prince, "A family of embedded Runge-Kutta formulae", 1980; L. Shampine, "Some practical
    Runge-Kutta formulas", 1986, for what is between the steps.

    Raises:
        ValueError: another method than "dopri5", or `options` without one. TypeError: a dtype is none of these.
        InvalidArgumentError: from a run, if `t` does not ascend, or a point is not reached.
    """
    if method not in (None, "dopri5"):
        raise ValueError(f"invalid method: {method!r}; there is 'dopri5'")
    if options is not None and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with pb.name_scope(name or "odeint"):
        y, times = _checked("odeint", y0, t)
        chosen = Options(**options or {})
        tolerances = [pb.convert_to_tensor(x, pb.abs(y).dtype) for x in (rtol, atol)]
        history = [pb.TensorArray(x.dtype, 0, True, element_shape=[]) for x in (times, tolerances[0]) if full_output]
        values, history = _through(func, y, times, tolerances, chosen, history)
        if not full_output:
            return values
        points, ratios = [array.stack() for array in history]
        calls = 6 * pb.size(points) + 1
        return values, {"num_func_evals": calls, "integrate_points": points, "error_ratio": ratios}


def _through(
    func: Slope, y: Any, times: Any, tolerances: Sequence[Any], options: Options, history: list[Any]
) -> tuple[Any, list[Any]]:
    """The values at all times, and the history of the steps."""
    ascending = pb.Assert(pb.reduce_all(times[1:] > times[:-1]), ["`t` must be monotonic increasing"])
    with pb.control_dependencies([ascending]):
        times = pb.identity(times)
    first = pb.cast(pb.convert_to_tensor(options.first_step), times.dtype)
    begin = State(y, func(y, times[0]), times[0], times[0], first, pb.stack([y] * 5), 0, True)
    count = pb.size(times)

    def to_next(i: Any, state: State, found: Any, history: list[Any]) -> Any:
        def wanted(state: State, history: list[Any]) -> Any:
            del history
            return (times[i] > state.now) & state.sound

        def further(state: State, history: list[Any]) -> Any:
            return _step(func, state, tolerances, options, history)

        state, history = pb.while_loop(wanted, further, (state._replace(count=0), history), name="integrate_loop")
        return i + 1, state, found.write(i, _between(state, times[i])), history

    values = pb.TensorArray(y.dtype, count, element_shape=y.shape).write(0, y)
    _, state, values, history = pb.while_loop(
        lambda i, *_: i < count, to_next, (1, begin, values, history), name="interpolate_loop"
    )
    complaint = [
        "odeint: a point was not reached: there are non-finite values in state `y`, an underflow in dt, or "
        "max_num_steps is exceeded; state, time, dt, steps:",
        state.y,
        state.now,
        state.step,
        state.count,
    ]
    with pb.control_dependencies([pb.Assert(state.sound, complaint)]):
        whole = pb.identity(values.stack())
    whole.set_shape(times.shape.concatenate(y.shape))
    return whole, history


def _step(
    func: Slope, state: State, tolerances: Sequence[Any], options: Options, history: list[Any]
) -> tuple[State, list[Any]]:
    """One step, or one that is found to be too large."""
    y, start, dt = state.y, state.now, state.step
    h = pb.cast(dt, y.dtype)
    slopes, ahead = [state.slope], y
    for node, weights in zip(_NODES, _STAGES, strict=True):
        ahead = y + _weighted(h, weights, slopes)
        slopes.append(func(ahead, start + node * dt))
    relative, absolute = tolerances
    allowed = absolute + relative * pb.maximum(pb.abs(y), pb.abs(ahead))
    error = pb.abs(_weighted(h, _ERROR, slopes))
    ratio = pb.stop_gradient(pb.sqrt(pb.reduce_mean(pb.square(error / allowed))))
    accepted = ratio <= 1.0
    middle = y + _weighted(h, _MIDDLE, slopes)
    fitted = _fitted(y, ahead, middle, h * slopes[0], h * slopes[-1])
    next_ = State(
        pb.where(accepted, ahead, y),
        pb.where(accepted, slopes[-1], state.slope),
        start,
        pb.where(accepted, start + dt, start),
        _size(dt, ratio, options),
        pb.where(accepted, fitted, state.polynomial),
        state.count + 1,
        (start + dt > start) & (state.count < options.max_num_steps) & pb.reduce_all(pb.math.is_finite(pb.abs(y))),
    )
    return next_, [a.write(a.size(), x) for a, x in zip(history, (start + dt, ratio), strict=False)]


def _size(dt: Any, ratio: Any, options: Options) -> Any:
    """The size of the next step, from the ratio of error and tolerance: the error is of the fifth power."""
    safety, grow, shrink = [
        pb.cast(pb.convert_to_tensor(x), dt.dtype) for x in (options.safety, options.ifactor, options.dfactor)
    ]
    divisor = pb.pow(pb.cast(ratio, dt.dtype), pb.constant(0.2, dt.dtype)) / safety
    return dt / pb.maximum(1.0 / grow, pb.minimum(divisor, 1.0 / shrink))


def _weighted(h: Any, weights: Sequence[float], slopes: Sequence[Any]) -> Any:
    """`h` times the sum of the slopes that have a weight."""
    return pb.add_n([(h * w) * k for w, k in zip(weights, slopes, strict=True) if w])


def _fitted(first: Any, last: Any, middle: Any, left: Any, right: Any) -> Any:
    """The polynomial over [0, 1] of these values at 0, 1 and 1/2, and of these slopes at 0 and 1."""
    return pb.stack(
        [
            -2.0 * left + 2.0 * right - 8.0 * first - 8.0 * last + 16.0 * middle,
            5.0 * left - 3.0 * right + 18.0 * first + 14.0 * last - 32.0 * middle,
            -4.0 * left + right - 11.0 * first - 5.0 * last + 16.0 * middle,
            left,
            first,
        ]
    )


def _between(state: State, t: Any) -> Any:
    """The value at a time within the last step."""
    x = pb.cast((t - state.before) / (state.now - state.before), state.y.dtype)
    y = state.polynomial[0]
    for power in range(1, 5):
        y = y * x + state.polynomial[power]
    return y


@in_graph_of_inputs
def odeint_fixed(
    func: Slope, y0: TensorLike, t: TensorLike, dt: Any = None, method: str = "rk4", name: str | None = None
) -> pb.Tensor:
    """The values y(t), where dy/dt = func(y, t) and y(t[0]) = `y0`, in steps of `dt` at most, alike between points.

    `dt` is a number, or one for each of the n - 1 intervals; None stands for a step from point to point. Shapes and
    dtypes are as for `odeint`.

    Derivative: that of the steps.

    Source: C. Runge, 1895, and W. Kutta, 1901: "rk4"; "midpoint" is of the second order.

    Raises:
        ValueError: another method, or a shape is none of these. TypeError: a dtype is none of these.
    """
    if method not in ("rk4", "midpoint"):
        raise ValueError(f"method not supported: {method}; there are 'rk4' and 'midpoint'")
    advance = _rk4 if method == "rk4" else _midpoint
    with pb.name_scope(name or "odeint_fixed"):
        y, times = _checked("odeint_fixed", y0, t)
        widths = times[1:] - times[:-1]
        counts = pb.ones_like(widths, pb.int32)
        if dt is not None:
            wished = pb.cast(pb.convert_to_tensor(dt), times.dtype)
            if wished.shape.rank not in (0, 1):
                raise ValueError(f"odeint_fixed: dt must be a scalar, or a vector with one for each interval: {wished}")
            counts = pb.cast(pb.math.ceil(widths / wished), pb.int32)

        def over(y: Any, interval: Any) -> Any:
            start, width, count = interval
            h = width / pb.cast(count, width.dtype)
            if dt is None:
                return y + advance(func, y, start, h)
            _, _, end = pb.while_loop(
                lambda i, s, y: i < count,
                lambda i, s, y: (i + 1, s + h, y + advance(func, y, s, h)),
                (0, start, y),
                name="step_loop",
            )
            return end

        found = pb.scan(over, (times[:-1], widths, counts), y)
        return pb.concat([pb.expand_dims(y, 0), found], 0)


def _rk4(func: Slope, y: Any, t: Any, dt: Any) -> Any:
    h, half = pb.cast(dt, y.dtype), t + dt / 2.0
    k1 = func(y, t)
    k2 = func(y + h * k1 / 2.0, half)
    k3 = func(y + h * k2 / 2.0, half)
    k4 = func(y + h * k3, t + dt)
    return (k1 + 2.0 * k2 + 2.0 * k3 + k4) * (h / 6.0)


def _midpoint(func: Slope, y: Any, t: Any, dt: Any) -> Any:
    h = pb.cast(dt, y.dtype)
    return h * func(y + func(y, t) * h / 2.0, t + dt / 2.0)


def _checked(what: str, y0: Any, t: Any) -> tuple[pb.Tensor, pb.Tensor]:
    """The first value and the times as tensors."""
    y = pb.convert_to_tensor(y0)
    if y.dtype not in FLOATING | COMPLEX:
        raise TypeError(f"{what}: `y0` must have a floating point or complex floating point dtype: {y}")
    times = t if isinstance(t, pb.Tensor | pb.Variable) else np.asarray(t, np.float64)
    times = pb.convert_to_tensor(times)
    if times.dtype not in FLOATING:
        raise TypeError(f"{what}: `t` must have a floating point dtype: {times}")
    if times.shape.rank not in (1, None):
        raise ValueError(f"{what}: `t` must be a vector of times: {times}")
    return y, times
