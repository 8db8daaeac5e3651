"""Bessel functions of real arguments, in float64: arrays only.

Power series near 0 (NIST Digital Library of Mathematical Functions, 10.8, 10.25, 10.31), recurrences (10.6, 10.29), and
far out Chebyshev series of the smooth factors (10.17, 10.40), summed by Clenshaw's rule: C. Clenshaw, "A note on the
summation of Chebyshev series", 1955. The coefficients were computed with 40 digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

_EULER = 0.57721566490153286061
_TERMS = 32
"""Terms of the power series: enough for numbers up to 5, or 20 where none are negative, together with `_MORE`."""
_MORE = 60
_FAR = 5.0
"""Where the Chebyshev series of J and Y begin; those of K begin at 2."""

_K0 = (
    1.2201515410329777, -0.031448101311964501, 0.0015698838857300534, -0.00012849549581627803,
    1.3949813718876499e-5, -1.8317555227191195e-6, 2.7668136394450151e-7, -4.6604898976879477e-8,
    8.5740340174142261e-9, -1.6975345093890615e-9, 3.5773972814003284e-10, -7.957489244477397e-11,
    1.8559491149549266e-11, -4.5145978833745192e-12, 1.1403405882073442e-12, -2.9800969231481784e-13,
    8.0328907750683744e-14, -2.2275133267462964e-14, 6.340076476276646e-15, -1.8485933779209072e-15,
    5.5120559994043334e-16, -1.6782311257549006e-16, 5.2103917776435541e-17, -1.6475805939842633e-17,
)  # fmt: skip
_K1 = (
    1.3603130952422213, 0.10392373657681724, -0.0028578168596227794, 0.00019521551847135163,
    -1.936197974166083e-5, 2.4064849478372171e-6, -3.5019606030878125e-7, 5.7410841254500493e-8,
    -1.0345762465678097e-8, 2.0150497551970346e-9, -4.1903547593419256e-10, 9.2183151876053141e-11,
    -2.129967838427791e-11, 5.1396396734823435e-12, -1.2891739609498229e-12, 3.3484196660522431e-13,
    -8.9767051820101461e-14, 2.4771544242195987e-14, -7.0198370892147689e-15, 2.0387031662398609e-15,
    -6.0570472706430178e-16, 1.8380935752430454e-16, -5.6894628491936484e-17, 1.7940510478863573e-17,
)  # fmt: skip
_P0 = (
    0.99865233987769545, -0.00132937162125028, 1.761305551290559e-5, -6.3193671187330682e-7,
    3.9488255870938078e-8, -3.5409678948019085e-9, 4.1032463668723861e-10, -5.7657476626552228e-11,
    9.423105578391986e-12, -1.7401405706283885e-12, 3.5557750052411781e-13, -7.9146415013381161e-14,
    1.8959456362961826e-14, -4.8414830191756972e-15, 1.3078555195901338e-15, -3.7140508214131538e-16,
    1.103023177871277e-16, -3.4109362104981142e-17, 1.0942187869810236e-17,
)  # fmt: skip
_Q0 = (
    -0.12364702582167493, 0.0013190194049922607, -3.2187991212661753e-5, 1.6237093205642788e-6,
    -1.2743289742032806e-7, 1.3513032763134409e-8, -1.7850759051197051e-9, 2.7908571347903604e-10,
    -4.9889080276528326e-11, 9.9507136678066448e-12, -2.1751206043008832e-12, 5.1401271624276055e-13,
    -1.2993242656059177e-13, 3.4837635776889784e-14, -9.8400575725437304e-15, 2.9115274918592e-15,
    -8.9821511713033442e-16, 2.8777689065579246e-16, -9.5429050117313428e-17, 3.2658161943648366e-17,
    -1.150518178532616e-17,
)  # fmt: skip
_P1 = (
    1.00226762068534, 0.0022437352958079985, -2.3071018862548287e-5, 7.6391817325339051e-7,
    -4.5896852323434006e-8, 4.0205154784190012e-9, -4.5867739771709724e-10, 6.3731589628592467e-11,
    -1.0327344567640412e-11, 1.8943274995111032e-12, -3.8497033878241052e-13, 8.5299145257790443e-14,
    -2.0354469786572299e-14, 5.1804217389005492e-15, -1.3953502148258494e-15, 3.9523601713314259e-16,
    -1.171117080126803e-16, 3.6140785647381087e-17, -1.1572356053251518e-17,
)  # fmt: skip
_Q1 = (
    0.37308734621468638, -0.0018705189681051477, 4.0056994520460303e-5, -1.914402839085632e-6,
    1.458816510742199e-7, -1.5183398644673165e-8, 1.9799222605895167e-9, -3.0659814494376963e-10,
    5.4402335920597531e-11, -1.0786652192538468e-11, 2.3463528317588938e-12, -5.5220468565418258e-13,
    1.3909728481393829e-13, -3.7181516752164615e-14, 1.0474063117829167e-14, -3.0917842029179122e-15,
    9.518051831081499e-16, -3.0436450667050519e-16, 1.0075487579997493e-16, -3.4426306619813245e-17,
    1.2110503970221687e-17,
)  # fmt: skip


def chebyshev(xp: Any, coefficients: Sequence[float], z: Any) -> Any:
    later = last = xp.zeros_like(z)
    for c in coefficients[:0:-1]:
        later, last = 2 * z * later - last + c, later
    return z * later - last + coefficients[0]


def power_series(xp: Any, coefficients: Sequence[float], z: Any) -> Any:
    total = xp.full_like(z, coefficients[-1])
    for c in coefficients[-2::-1]:
        total = total * z + c
    return total


def _harmonic(k: int) -> float:
    return math.fsum(1 / j for j in range(1, k + 1))


def _first_kind(order: int, terms: int) -> list[float]:
    return [1 / (math.factorial(k) * math.factorial(k + order)) for k in range(terms)]


def _second_kind(order: int) -> list[float]:
    """The series beside the logarithm: harmonic numbers, the mean of two for order 1, without Euler's constant."""
    mean = [(_harmonic(k) + _harmonic(k + order)) / 2 for k in range(_TERMS)]
    return [m * c for m, c in zip(mean, _first_kind(order, _TERMS), strict=True)]


def _far_pair(xp: Any, order: int, x: Any) -> tuple[Any, Any]:
    """J and Y for x >= 5, from the sines and cosines of x itself."""
    z = 2 * xp.square(_FAR / x) - 1
    p, q = chebyshev(xp, _P0 if order == 0 else _P1, z), chebyshev(xp, _Q0 if order == 0 else _Q1, z) / x
    sine, cosine = xp.sin(x), xp.cos(x)
    a, b = (sine + cosine, sine - cosine) if order == 0 else (sine - cosine, -(sine + cosine))
    scale = xp.sqrt(1 / (math.pi * x))
    return scale * (p * a - q * b), scale * (p * b + q * a)


def bessel_j(xp: Any, order: int, x: Any) -> Any:
    size = xp.abs(x)
    near = xp.minimum(size, _FAR)
    series = xp.power(near / 2, order) * power_series(xp, _first_kind(order, _TERMS), -xp.square(near / 2))
    value = xp.where(size <= _FAR, series, _far_pair(xp, order, xp.maximum(size, _FAR))[0])
    return xp.where(x < 0, -value, value) if order % 2 else value


def bessel_y(xp: Any, order: int, x: Any) -> Any:
    near = xp.clip(x, 0, _FAR)
    z = -xp.square(near / 2)
    logarithm = xp.log(near) + (_EULER - math.log(2))
    sums = power_series(xp, _first_kind(order, _TERMS), z) * logarithm - power_series(xp, _second_kind(order), z)
    series = 2 / math.pi * (sums if order == 0 else near / 2 * sums - 1 / near)
    value = xp.where(x <= _FAR, series, _far_pair(xp, order, xp.maximum(x, _FAR))[1])
    return xp.where(x < 0, xp.nan, xp.where(x == 0, -xp.inf, value))


def bessel_k(xp: Any, order: int, scaled: bool, x: Any) -> Any:
    near = xp.clip(x, 0, 2)
    z = xp.square(near / 2)
    logarithm = xp.log(near) + (_EULER - math.log(2))
    sums = power_series(xp, _first_kind(order, _TERMS), z) * logarithm - power_series(xp, _second_kind(order), z)
    series = -sums if order == 0 else near / 2 * sums + 1 / near
    far = xp.maximum(x, 2)
    smooth = chebyshev(xp, _K0 if order == 0 else _K1, 4 / far - 1) / xp.sqrt(far)
    if scaled:
        value = xp.where(x <= 2, series * xp.exp(near), smooth)
    else:
        value = xp.where(x <= 2, series, smooth * xp.exp(-far))
    return xp.where(x < 0, xp.nan, xp.where(x == 0, xp.inf, value))


def jv(xp: Any, order: int, x: Any) -> Any:
    """J of a known order: the power series up to the order, and upward recurrence, which is stable beyond."""
    size = xp.abs(x)
    edge = max(_FAR, order)
    near = xp.minimum(size, edge)
    series = xp.power(near / 2, order) * power_series(xp, _first_kind(order, _MORE), -xp.square(near / 2))
    far = xp.maximum(size, edge)
    before, value = bessel_j(xp, 0, far), bessel_j(xp, 1, far)
    for n in range(1, order):
        before, value = value, 2 * n / far * value - before
    value = xp.where(size <= edge, series, value)
    return xp.where(x < 0, -value, value) if order % 2 else value


def ive(xp: Any, functions: Any, order: int, x: Any) -> Any:
    """I of a known order times exp(-|x|): the power series up to 20, or more for high orders, then the recurrence."""
    size = xp.abs(x)
    edge = float(max(20, order * order))
    near = xp.minimum(size, edge)
    terms = _MORE + int(edge)
    series = xp.power(near / 2, order) * power_series(xp, _first_kind(order, terms), xp.square(near / 2))
    far = xp.maximum(size, edge)
    before, value = functions.i0e(far), functions.i1e(far)
    for n in range(1, order):
        before, value = value, before - 2 * n / far * value
    value = xp.where(size <= edge, series * xp.exp(-near), value)
    return xp.where(x < 0, -value, value) if order % 2 else value


def iv(xp: Any, functions: Any, order: int, x: Any) -> Any:
    """I of a known order."""
    value: Any = ive(xp, functions, order, x) * xp.exp(xp.abs(x))
    return value
