"""Ordinary differential equations of `tf.contrib.integrate`: solutions that are known, and steps by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf
from pullback.core.errors import InvalidArgumentError

integrate = tf.contrib.integrate
BOTH = pytest.mark.parametrize("engine", ["numpy", "xla"])


def run(fetches: Any, feeds: Any = None, engine: str = "numpy") -> Any:
    return tf.Session(engine=engine).run(fetches, feeds)


@BOTH
def test_a_system_and_its_derivatives(engine: str) -> None:
    times = np.linspace(0.0, 3.0, 7)
    omega = tf.constant(2.0, tf.float64)
    start = tf.constant([1.0, 0.0], tf.float64)
    y = integrate.odeint(lambda y, t: omega * tf.stack([y[1], -y[0]]), start, times)
    assert (y.dtype, y.shape.as_list()) == (tf.float64, [7, 2])
    slopes = tf.gradients(y[-1, 0], [omega, start])
    found, by_omega, by_start = run([y, *slopes], engine=engine)
    np.testing.assert_allclose(found, np.stack([np.cos(2 * times), -np.sin(2 * times)], 1), atol=3e-6)
    np.testing.assert_allclose(by_omega, -3.0 * np.sin(6.0), rtol=1e-4)
    np.testing.assert_allclose(by_start, [np.cos(6.0), np.sin(6.0)], rtol=1e-4)


@BOTH
def test_the_time_may_be_in_the_slope_and_the_value_complex(engine: str) -> None:
    y = integrate.odeint(
        lambda y, t: 1j * y + 0.0 * tf.cast(t, tf.complex128), tf.constant(1.0, tf.complex128), [0, 1, 2]
    )
    z = integrate.odeint(lambda y, t: 2.0 * tf.cast(t, tf.float32), 0.0, tf.constant([0.0, 1.0, 3.0]))
    found, squares = run([y, z], engine=engine)
    np.testing.assert_allclose(found, np.exp(1j * np.arange(3)), rtol=1e-5)
    np.testing.assert_allclose(squares, [0.0, 1.0, 9.0], atol=1e-5)


def test_steps_are_counted_and_shown() -> None:
    y, info = integrate.odeint(lambda y, t: -y, tf.constant(1.0, tf.float64), [0.0, 1.0], full_output=True)
    found, calls, points, ratios = run([y, info["num_func_evals"], info["integrate_points"], info["error_ratio"]])
    np.testing.assert_allclose(found, [1.0, np.exp(-1.0)], rtol=1e-6)
    assert calls == 6 * len(points) + 1
    assert points[0] == 1.0  # the first step, which is too large
    assert ratios[0] > 1.0
    size = 1.0 / min(ratios[0] ** 0.2 / 0.9, 5.0)
    assert points[1] == pytest.approx(size)
    assert ratios[-1] <= 1.0 <= points[-1]


def test_the_first_step_and_the_number_of_steps_may_be_given() -> None:
    options = {"first_step": 0.01, "max_num_steps": 3}
    y = integrate.odeint(lambda y, t: -y, 1.0, [0.0, 5.0], method="dopri5", options=options)
    with pytest.raises(InvalidArgumentError, match="odeint: a point was not reached"):
        run(y)
    wide = integrate.odeint(lambda y, t: y * y, 1.0, [0.0, 2.0])
    with pytest.raises(InvalidArgumentError, match="odeint: a point was not reached"):
        run(wide)
    with pytest.raises(InvalidArgumentError, match="`t` must be monotonic increasing"):
        run(integrate.odeint(lambda y, t: -y, 1.0, [1.0, 0.0]))


@BOTH
@pytest.mark.parametrize("method", ["rk4", "midpoint"])
def test_steps_on_a_grid(method: str, engine: str) -> None:
    def slope(y: Any, t: Any) -> Any:
        return y * t - 0.5

    def advance(y: float, t: float, h: float) -> float:
        k1 = slope(y, t)
        k2 = slope(y + h * k1 / 2, t + h / 2)
        k3 = slope(y + h * k2 / 2, t + h / 2)
        k4 = slope(y + h * k3, t + h)
        return y + (h * k2 if method == "midpoint" else h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))

    times = [0.0, 1.0, 1.5]
    start = tf.constant(2.0, tf.float64)
    plain = integrate.odeint_fixed(slope, start, times, method=method)
    fine = integrate.odeint_fixed(slope, start, times, dt=[0.4, 0.3], method=method)
    y = [2.0, advance(2.0, 0.0, 1.0)]
    z = 2.0
    for i in range(3):
        z = advance(z, i / 3, 1 / 3)
    found, finer, dy = run([plain, fine, tf.gradients(fine[-1], start)[0]], engine=engine)
    np.testing.assert_allclose(found, [*y, advance(y[1], 1.0, 0.5)])
    np.testing.assert_allclose(finer, [2.0, z, advance(advance(z, 1.0, 0.25), 1.25, 0.25)])
    assert dy == pytest.approx(np.exp(1.5**2 / 2), rel=0.05)


def test_what_cannot_be_is_refused() -> None:
    def slope(y: Any, t: Any) -> Any:
        return -y

    with pytest.raises(ValueError, match=r"^invalid method: 'euler'; there is 'dopri5'$"):
        integrate.odeint(slope, 1.0, [0.0, 1.0], method="euler")
    with pytest.raises(ValueError, match=r"^cannot supply `options` without specifying `method`$"):
        integrate.odeint(slope, 1.0, [0.0, 1.0], options={"safety": 0.8})
    with pytest.raises(ValueError, match=r"^method not supported: euler; there are 'rk4' and 'midpoint'$"):
        integrate.odeint_fixed(slope, 1.0, [0.0, 1.0], method="euler")
    with pytest.raises(TypeError, match=r"^odeint: `y0` must have a floating point or complex .* dtype: int32\[\]"):
        integrate.odeint(slope, 1, [0.0, 1.0])
    with pytest.raises(TypeError, match=r"^odeint: `t` must have a floating point dtype: int32\[2\]"):
        integrate.odeint(slope, 1.0, tf.constant([0, 1]))
    with pytest.raises(ValueError, match=r"^odeint_fixed: `t` must be a vector of times: float64\[\]"):
        integrate.odeint_fixed(slope, 1.0, 3.0)
    with pytest.raises(ValueError, match=r"^odeint_fixed: dt must be a scalar, or a vector"):
        integrate.odeint_fixed(slope, 1.0, [0.0, 1.0], [[0.1]])
