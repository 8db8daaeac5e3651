"""Activation functions: rectifiers and the others that stand between the layers of a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import intervals
from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING
from ...core.intervals import ORIGIN, Interval
from ...core.operation import Tensor
from ...core.primitive import ZERO
from ...core.traits import ELEMENTWISE, ZEROS, linear, zero_wins
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, in_float32, unary
from ..creation.constant import convert_to_tensor
from ..elementwise.arithmetic import REAL
from ..elementwise.masking import chosen, kept
from ..elementwise.sign import absolute, sign
from ..shape.stacking import concat
from .sigmoid import sigmoid

_SELU_ALPHA = 1.6732632423543772
_SELU_SCALE = 1.0507009873554805


def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """`max(x, 0)`, element by element.

    Shapes: any. Dtypes: any integer or float. The derivative at 0 is 0.

    Derivative: dx = dy where x > 0, else 0.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.relu([-1.0, 2.0]))
    array([0., 2.], dtype=float32)
    """
    return unary(Relu(), features, name)


class Relu(AbstractElementwise):
    dtypes = REAL

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.maximum(x, x.dtype.type(0))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: ReluGrad()(dy, y),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.maximum(xs[0], ORIGIN)


class ReluGrad(AbstractElementwise):
    """`dy` where `y` is above 0, elsewhere 0."""

    traits = (ELEMENTWISE, linear(0), ZEROS, zero_wins(0))
    dtypes = REAL

    def kernel(self, xp: Any, dy: Any, y: Any) -> Any:
        return kept(xp, y > 0, dy)

    def partials(self, dy: Tensor, dx: Tensor, seed: Tensor, y: Tensor) -> Sequence[Entry]:
        del dx, seed
        return lambda: ReluGrad()(dy, y), ZERO


def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """`min(max(x, 0), 6)`, element by element.

    Shapes: any. Dtypes: any integer or float. The derivative at 0 and at 6 is 0.

    Source: A. Krizhevsky, Convolutional deep belief networks on CIFAR-10, 2010.

    Derivative: dx = dy where 0 < x < 6, else 0.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.relu6([-1.0, 2.0, 7.0]))
    array([0., 2., 6.], dtype=float32)
    """
    return unary(Relu6(), features, name)


class Relu6(AbstractElementwise):
    dtypes = REAL

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.minimum(xp.maximum(x, x.dtype.type(0)), x.dtype.type(6))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: Relu6Grad()(dy, y),)

    def bounds(self, *xs: Interval) -> Interval:
        return Interval(0.0, 6.0, xs[0].nan)


class Relu6Grad(AbstractElementwise):
    """`dy` where `y` is between 0 and 6, elsewhere 0."""

    traits = (ELEMENTWISE, linear(0), ZEROS, zero_wins(0))
    dtypes = REAL

    def kernel(self, xp: Any, dy: Any, y: Any) -> Any:
        return kept(xp, xp.logical_and(y > 0, y < 6), dy)

    def partials(self, dy: Tensor, dx: Tensor, seed: Tensor, y: Tensor) -> Sequence[Entry]:
        del dx, seed
        return lambda: Relu6Grad()(dy, y), ZERO


def leaky_relu(features: TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """`x` where it is above 0, elsewhere `alpha * x`.

    Shapes: any. Dtypes: any float. The derivative at 0 is `alpha`.

    Source: A. Maas, A. Hannun, A. Ng, Rectifier nonlinearities improve neural network acoustic models, 2013.

    Derivative: dx = dy where x > 0, else alpha * dy.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.leaky_relu([-1.0, 2.0]))
    array([-0.2,  2. ], dtype=float32)
    """
    return unary(LeakyRelu(float(alpha)), features, name)


class LeakyRelu(AbstractElementwise):
    function = "leaky_relu"
    dtypes = FLOATING

    alpha: float = 0.2

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return chosen(xp, x > 0, x, xp.multiply(x, self.alpha))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: LeakyReluGrad(self.alpha)(dy, x),)


class LeakyReluGrad(AbstractElementwise):
    """`dy` where `x` is above 0, elsewhere `alpha * dy`."""

    traits = (ELEMENTWISE, linear(0), zero_wins(0))
    dtypes = FLOATING

    alpha: float = 0.2

    @in_float32
    def kernel(self, xp: Any, dy: Any, x: Any) -> Any:
        return chosen(xp, x > 0, dy, xp.multiply(dy, self.alpha))

    def partials(self, dy: Tensor, dx: Tensor, seed: Tensor, x: Tensor) -> Sequence[Entry]:
        del dx, seed
        return lambda: LeakyReluGrad(self.alpha)(dy, x), ZERO


def elu(features: TensorLike, name: str | None = None) -> Tensor:
    """`x` where it is above 0, elsewhere `exp(x) - 1`.

    Shapes: any. Dtypes: any float.

    Source: D. Clevert, T. Unterthiner, S. Hochreiter, arXiv:1511.07289.

    Derivative: dx = dy where x > 0, else dy * (y + 1).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.elu([-1.0, 2.0]))
    array([-0.6321...,  2.        ], dtype=float32)
    """
    return unary(Elu(), features, name)


class Elu(AbstractElementwise):
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return chosen(xp, x > 0, x, xp.expm1(xp.minimum(x, 0)))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: EluGrad()(dy, y),)


class EluGrad(AbstractElementwise):
    """`dy` where `y` is not below 0, elsewhere `dy * (y + 1)`."""

    traits = (ELEMENTWISE, linear(0))
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, dy: Any, y: Any) -> Any:
        return xp.multiply(dy, xp.minimum(y, 0) + 1)

    def partials(self, dy: Tensor, dx: Tensor, seed: Tensor, y: Tensor) -> Sequence[Entry]:
        del dx
        return lambda: EluGrad()(dy, y), lambda: NegativePart()(dy * seed, y)


class NegativePart(AbstractElementwise):
    """`dy` where `y` is below 0, elsewhere 0."""

    traits = (ELEMENTWISE, ZEROS)
    dtypes = FLOATING

    def kernel(self, xp: Any, dy: Any, y: Any) -> Any:
        return kept(xp, y < 0, dy)

    def partials(self, dy: Tensor, dx: Tensor, seed: Tensor, y: Tensor) -> Sequence[Entry]:
        del dx, seed
        return lambda: NegativePart()(dy, y), ZERO


def selu(features: TensorLike, name: str | None = None) -> Tensor:
    """`scale * x` where it is above 0, elsewhere `scale * alpha * (exp(x) - 1)`.

    Shapes: any. Dtypes: any float. `scale` is 1.0507..., `alpha` is 1.6732....

    Source: G. Klambauer et al., Self-normalizing neural networks, arXiv:1706.02515.

    Derivative: dx = scale * dy where x > 0, else dy * (y + scale * alpha).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.selu([-1.0, 2.0]))
    array([-1.1113...,  2.1014... ], dtype=float32)
    """
    return unary(Selu(), features, name)


class Selu(AbstractElementwise):
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        below = xp.multiply(xp.expm1(xp.minimum(x, 0)), _SELU_ALPHA * _SELU_SCALE)
        return chosen(xp, x > 0, xp.multiply(x, _SELU_SCALE), below)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: SeluGrad()(dy, y),)


class SeluGrad(AbstractElementwise):
    """`dy * scale` where `y` is not below 0, elsewhere, and at NaN, `dy * (y + scale * alpha)`."""

    traits = (ELEMENTWISE, linear(0), zero_wins(0))
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, dy: Any, y: Any) -> Any:
        return xp.multiply(dy, chosen(xp, y >= 0, xp.asarray(_SELU_SCALE, y.dtype), y + _SELU_ALPHA * _SELU_SCALE))

    def partials(self, dy: Tensor, dx: Tensor, seed: Tensor, y: Tensor) -> Sequence[Entry]:
        del dx
        return lambda: SeluGrad()(dy, y), lambda: NegativePart()(dy * seed, y)


def softsign(features: TensorLike, name: str | None = None) -> Tensor:
    """`x / (1 + abs(x))`, element by element.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy / (1 + |x|)^2.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.softsign([-1.0, 3.0]))
    array([-0.5 ,  0.75], dtype=float32)
    """
    return unary(Softsign(), features, name)


class Softsign(AbstractElementwise):
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, features: Any) -> Any:
        return xp.divide(features, xp.add(xp.abs(features), 1))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: SoftsignGrad()(dy, x),)


class SoftsignGrad(AbstractElementwise):
    """`dy / (1 + abs(x))^2`."""

    traits = (ELEMENTWISE, linear(0))
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, dy: Any, x: Any) -> Any:
        return xp.divide(dy, xp.square(xp.add(xp.abs(x), 1)))

    def partials(self, dy: Tensor, dx: Tensor, seed: Tensor, x: Tensor) -> Sequence[Entry]:
        del seed
        return lambda: SoftsignGrad()(dy, x), lambda: dy * dx * sign(x) * -2 / (absolute(x) + 1)


@in_graph_of_inputs
def silu(features: TensorLike, beta: TensorLike = 1.0) -> Tensor:
    """`x * sigmoid(beta * x)`, element by element.

    Shapes: any; `beta` broadcasts to that of `features`. Dtypes: any float.

    Source: P. Ramachandran, B. Zoph, Q. Le, arXiv:1710.05941.

    Derivative: dx = dy * (s + beta * y * (1 - s)), dbeta = sum(dy * x^2 * s * (1 - s)), with s = sigmoid(beta * x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.silu([-1.0, 2.0]))
    array([-0.2689...,  1.7615...], dtype=float32)
    """
    x = convert_to_tensor(features)
    if type(beta) in (int, float) and beta == 1:
        return unary(Silu(), x)
    return x * sigmoid(x * beta)


swish = silu


class Silu(AbstractElementwise):
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.divide(x, xp.add(xp.exp(xp.negative(x)), 1))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: SiluGrad()(x, dy),)


class SiluGrad(AbstractElementwise):
    """`dy * s * (1 + x * (1 - s))` for the sigmoid `s` of `x`."""

    traits = (ELEMENTWISE, linear(1))
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, x: Any, dy: Any) -> Any:
        s = xp.reciprocal(xp.add(xp.exp(xp.negative(x)), 1))
        return s * (1 + x * (1 - s)) * dy

    def partials(self, dy: Tensor, dx: Tensor, x: Tensor, seed: Tensor) -> Sequence[Entry]:
        """By `x` the derivative is `s * (1 - s) * (2 + x * (1 - 2 * s))`; `1 - s` is the sigmoid of `-x`."""
        del dx

        def by_x() -> Tensor:
            s = sigmoid(x)
            return s * sigmoid(-x) * (dy * seed) * (x * (1 - s * 2) + 2)

        return by_x, lambda: SiluGrad()(x, dy)


def crelu(features: TensorLike, axis: int = -1, name: str | None = None) -> Tensor:
    """`relu(x)` and `relu(-x)`, one after the other along `axis`, which becomes twice as long.

    Shapes: any but []. Dtypes: any signed number but a complex one.

    Source: W. Shang et al., arXiv:1603.05201.

    Derivative: dx = dy_1 where x > 0, -dy_2 where x < 0, for the two halves of dy.

    Raises:
        TypeError: another dtype. ValueError: there is no such axis.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.crelu([-1.0, 2.0]))
    array([0., 2., 1., 0.], dtype=float32)
    """
    x = convert_to_tensor(features)
    with x.graph.within(name or "CRelu") as scope:
        return unary(Relu(), concat([x, -x], axis), scope)
