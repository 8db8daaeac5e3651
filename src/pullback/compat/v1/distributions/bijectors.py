"""Bijectors: invertible functions with the logarithms of the determinants of their Jacobians.

>>> import pullback.compat.v1 as tf
>>> bijectors = tf.contrib.distributions.bijectors
>>> to_shares = bijectors.Chain([bijectors.Sigmoid(), bijectors.AffineScalar(shift=1.0, scale=2.0)])
>>> tf.Session().run([to_shares.forward([-0.5, 0.0]), to_shares.inverse([0.5])])
[array([0.5      , 0.7310586], dtype=float32), array([-0.5], dtype=float32)]
>>> bijectors.Chain([bijectors.Invert(bijectors.Softplus()), bijectors.Identity()]).name
'chain_of_invert_softplus_of_identity'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from ..linear_operators import (
    LinearOperator,
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular,
)


def named(y: pb.Tensor, name: str | None) -> pb.Tensor:
    """`y`, by a name where one is given."""
    return y if name is None else pb.identity(y, name=name)


class Bijector:
    """An invertible function of draws whose last axes, `forward_min_event_ndims` at least, are one event.

    One of your own defines `_forward`, `_inverse`, and `_forward_log_det_jacobian` or `_inverse_log_det_jacobian`.

    >>> import pullback.compat.v1 as tf
    >>> class Cube(tf.contrib.distributions.bijectors.Bijector):
    ...     def _forward(self, x):
    ...         return x**3
    ...     def _inverse(self, y):
    ...         return tf.sign(y) * tf.abs(y) ** (1 / 3)
    ...     def _forward_log_det_jacobian(self, x):
    ...         return tf.log(3.0 * x**2)
    >>> cube = Cube(forward_min_event_ndims=0)
    >>> tf.Session().run(cube.forward_log_det_jacobian([1.0, 1.0], event_ndims=1))
    np.float32(2.1972246)
    """

    def __init__(
        self,
        graph_parents: Sequence[Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: Any = None,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str | None = None,
    ) -> None:
        least = [n for n in (forward_min_event_ndims, inverse_min_event_ndims) if n is not None]
        if not least:
            raise ValueError(f"{type(self).__name__}: give forward_min_event_ndims= or inverse_min_event_ndims=")
        self.graph_parents, self.validate_args = list(graph_parents or ()), validate_args
        self.is_constant_jacobian, self.dtype = is_constant_jacobian, dtype
        self.forward_min_event_ndims, self.inverse_min_event_ndims = least[0], least[-1]
        self.name = name or type(self).__name__.lower()

    def _forward(self, x: pb.Tensor) -> pb.Tensor:
        raise self._absent("_forward")

    def _inverse(self, y: pb.Tensor) -> pb.Tensor:
        raise self._absent("_inverse")

    def _forward_log_det_jacobian(self, x: pb.Tensor) -> pb.Tensor:
        if type(self)._inverse_log_det_jacobian is Bijector._inverse_log_det_jacobian:
            raise self._absent("_forward_log_det_jacobian")
        return -self._inverse_log_det_jacobian(self._forward(x))

    def _inverse_log_det_jacobian(self, y: pb.Tensor) -> pb.Tensor:
        return -self._forward_log_det_jacobian(self._inverse(y))

    def _absent(self, method: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} defines no {method}; write it in the class")

    def forward(self, x: TensorLike, name: str = "forward") -> pb.Tensor:
        """The function of `x`."""
        return pb.identity(self._forward(self._tensor(x)), name=name)

    def inverse(self, y: TensorLike, name: str = "inverse") -> pb.Tensor:
        """What the function is `y` of."""
        return pb.identity(self._inverse(self._tensor(y)), name=name)

    def forward_log_det_jacobian(
        self, x: TensorLike, event_ndims: int, name: str = "forward_log_det_jacobian"
    ) -> pb.Tensor:
        """The logarithm of how much volumes grow at `x`, whose last `event_ndims` axes are one event.

        Raises:
            ValueError: the events have less axes than the function needs.
        """
        return named(
            self._of_events(self._forward_log_det_jacobian, x, event_ndims, self.forward_min_event_ndims), name
        )

    def inverse_log_det_jacobian(
        self, y: TensorLike, event_ndims: int, name: str = "inverse_log_det_jacobian"
    ) -> pb.Tensor:
        """The logarithm of how much volumes at `y` grow by the inverse.

        Raises:
            ValueError: the events have less axes than the function needs.
        """
        return named(
            self._of_events(self._inverse_log_det_jacobian, y, event_ndims, self.inverse_min_event_ndims), name
        )

    def _tensor(self, x: TensorLike) -> pb.Tensor:
        return pb.convert_to_tensor(x, dtype_hint=self.dtype or pb.float32)

    def _of_events(
        self, growth: Callable[[pb.Tensor], pb.Tensor], at: TensorLike, event_ndims: int, least: int
    ) -> pb.Tensor:
        """`growth` summed along those axes of an event that it has for itself; one that is constant is repeated."""
        if event_ndims < least:
            raise ValueError(f"{self.name}: events must have {least} axes or more, not {event_ndims}")
        point = self._tensor(at)
        found = growth(point)
        if event_ndims == least:
            return found
        if self.is_constant_jacobian:
            lengths = pb.shape(point)
            found = found + pb.zeros(lengths[-event_ndims : -least or None], found.dtype)
        return pb.reduce_sum(found, list(range(least - event_ndims, 0)))


class Identity(Bijector):
    """The function that changes nothing."""

    def __init__(self, validate_args: bool = False, name: str = "identity") -> None:
        super().__init__(None, True, validate_args, forward_min_event_ndims=0, name=name)

    def _forward(self, x: pb.Tensor) -> pb.Tensor:
        return x

    def _inverse(self, y: pb.Tensor) -> pb.Tensor:
        return y

    def _forward_log_det_jacobian(self, x: pb.Tensor) -> pb.Tensor:
        return pb.zeros([], x.dtype)


class Exp(Bijector):
    """The exponential of each element."""

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(None, False, validate_args, forward_min_event_ndims=0, name=name)

    def _forward(self, x: pb.Tensor) -> pb.Tensor:
        return pb.exp(x)

    def _inverse(self, y: pb.Tensor) -> pb.Tensor:
        return pb.log(y)

    def _forward_log_det_jacobian(self, x: pb.Tensor) -> pb.Tensor:
        return x


class Softplus(Bijector):
    """`log(1 + exp(x))` of each element; with a softness c it is `c log(1 + exp(x / c))`."""

    def __init__(
        self, hinge_softness: TensorLike | None = None, validate_args: bool = False, name: str = "softplus"
    ) -> None:
        super().__init__(None, False, validate_args, forward_min_event_ndims=0, name=name)
        self.hinge_softness = 1.0 if hinge_softness is None else pb.convert_to_tensor(hinge_softness)

    def _forward(self, x: pb.Tensor) -> pb.Tensor:
        return self.hinge_softness * pb.math.softplus(x / self.hinge_softness)

    def _inverse(self, y: pb.Tensor) -> pb.Tensor:
        return y + self.hinge_softness * self._log_slope(y)

    def _inverse_log_det_jacobian(self, y: pb.Tensor) -> pb.Tensor:
        return -self._log_slope(y)

    def _log_slope(self, y: pb.Tensor) -> pb.Tensor:
        """`log(sigmoid(x / c))` where the result is `y`."""
        return pb.log(-pb.expm1(-y / self.hinge_softness))


class Sigmoid(Bijector):
    """`1 / (1 + exp(-x))` of each element."""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        super().__init__(None, False, validate_args, forward_min_event_ndims=0, name=name)

    def _forward(self, x: pb.Tensor) -> pb.Tensor:
        return pb.math.sigmoid(x)

    def _inverse(self, y: pb.Tensor) -> pb.Tensor:
        return pb.log(y) - pb.log1p(-y)

    def _forward_log_det_jacobian(self, x: pb.Tensor) -> pb.Tensor:
        return pb.math.log_sigmoid(x) + pb.math.log_sigmoid(-x)

    def _inverse_log_det_jacobian(self, y: pb.Tensor) -> pb.Tensor:
        return -pb.log(y) - pb.log1p(-y)


class AffineScalar(Bijector):
    """`scale * x + shift` of each element."""

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "affine_scalar",
    ) -> None:
        self.shift = None if shift is None else pb.convert_to_tensor(shift)
        self.scale = None if scale is None else pb.convert_to_tensor(scale)
        given = [x for x in (self.shift, self.scale) if x is not None]
        super().__init__(given, True, validate_args, given[0].dtype if given else None, 0, name=name)

    def _forward(self, x: pb.Tensor) -> pb.Tensor:
        return _plus(x if self.scale is None else x * self.scale, self.shift)

    def _inverse(self, y: pb.Tensor) -> pb.Tensor:
        x = y if self.shift is None else y - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: pb.Tensor) -> pb.Tensor:
        return pb.zeros([], x.dtype) if self.scale is None else pb.log(abs(self.scale))


class Affine(Bijector):
    """`scale @ x + shift` of vectors, where the matrix is the sum of what is given of it; else the identity.

    These are `scale_identity_multiplier` times the identity, `scale_diag` [..., k] on the diagonal, the lower triangle
    of `scale_tril` [..., k, k], and V D V^T for `scale_perturb_factor` V [..., k, r] and `scale_perturb_diag` D.

    >>> import pullback.compat.v1 as tf
    >>> affine = tf.contrib.distributions.bijectors.Affine(shift=[1.0, 0.0], scale_diag=[2.0, 3.0])
    >>> tf.Session().run([affine.forward([1.0, 1.0]), affine.forward_log_det_jacobian([1.0, 1.0], event_ndims=1)])
    [array([3., 3.], dtype=float32), np.float32(1.7917595)]
    """

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_tril: TensorLike | None = None,
        scale_perturb_factor: TensorLike | None = None,
        scale_perturb_diag: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "affine",
    ) -> None:
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("Affine: scale_perturb_diag needs scale_perturb_factor=")
        given = [
            None if x is None else pb.convert_to_tensor(x)
            for x in (
                shift,
                scale_identity_multiplier,
                scale_diag,
                scale_tril,
                scale_perturb_factor,
                scale_perturb_diag,
            )
        ]
        parents = [x for x in given if x is not None]
        super().__init__(parents, True, validate_args, parents[0].dtype if parents else None, 1, name=name)
        self.shift = given[0]
        self.scale: LinearOperator | pb.Tensor = _matrix(self.dtype or pb.float32, *given[1:])

    def _forward(self, x: pb.Tensor) -> pb.Tensor:
        scale = self.scale
        return _plus(x * scale if isinstance(scale, pb.Tensor) else scale.matvec(x), self.shift)

    def _inverse(self, y: pb.Tensor) -> pb.Tensor:
        x = y if self.shift is None else y - self.shift
        return x / self.scale if isinstance(self.scale, pb.Tensor) else self.scale.solvevec(x)

    def _forward_log_det_jacobian(self, x: pb.Tensor) -> pb.Tensor:
        if isinstance(self.scale, pb.Tensor):
            return pb.log(abs(self.scale)) * pb.cast(pb.shape(x)[-1], x.dtype)
        return self.scale.log_abs_determinant()


def _matrix(
    dtype: Any,
    multiplier: pb.Tensor | None,
    diagonal: pb.Tensor | None,
    triangle: pb.Tensor | None,
    factor: pb.Tensor | None,
    weights: pb.Tensor | None,
) -> LinearOperator | pb.Tensor:
    """The sum of what is given of a matrix; a scalar where it is that times the identity, of any size."""
    parts = [x for x in (diagonal, triangle, factor) if x is not None]
    if multiplier is None and diagonal is None and triangle is None:
        multiplier = pb.ones([], dtype)
    if multiplier is not None and not parts:
        return multiplier
    rows = pb.zeros_like(parts[0] if diagonal is not None else parts[0][..., 0])
    rows = rows if diagonal is None else rows + diagonal
    rows = rows if multiplier is None else rows + multiplier[..., None]
    if triangle is None and factor is None:
        return LinearOperatorDiag(rows)
    dense = pb.linalg.diag(rows)
    dense = dense if triangle is None else dense + pb.linalg.band_part(triangle, -1, 0)
    if factor is None:
        return LinearOperatorLowerTriangular(dense)
    weighted = factor if weights is None else factor * weights[..., None, :]
    return LinearOperatorFullMatrix(dense + pb.matmul(weighted, factor, transpose_b=True))


def _plus(x: pb.Tensor, shift: pb.Tensor | None) -> pb.Tensor:
    return x if shift is None else x + shift


class Chain(Bijector):
    """The bijectors one after the other, the last first: `Chain([f, g])` is `f(g(x))`."""

    def __init__(
        self, bijectors: Sequence[Bijector] | None = None, validate_args: bool = False, name: str | None = None
    ) -> None:
        self.bijectors = list(bijectors or ())
        dtypes = [b.dtype for b in self.bijectors if b.dtype is not None]
        super().__init__(
            [x for b in self.bijectors for x in b.graph_parents],
            all(b.is_constant_jacobian for b in self.bijectors),
            validate_args,
            dtypes[0] if dtypes else None,
            max([0, *[b.forward_min_event_ndims for b in self.bijectors]]),
            max([0, *[b.inverse_min_event_ndims for b in self.bijectors]]),
            name or ("_of_".join(["chain", *[b.name for b in self.bijectors]]) if self.bijectors else "identity"),
        )

    def _forward(self, x: pb.Tensor) -> pb.Tensor:
        for b in reversed(self.bijectors):
            x = b.forward(x)
        return x

    def _inverse(self, y: pb.Tensor) -> pb.Tensor:
        for b in self.bijectors:
            y = b.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: pb.Tensor) -> pb.Tensor:
        total = pb.zeros([], x.dtype)
        for b in reversed(self.bijectors):
            total = total + b.forward_log_det_jacobian(x, self.forward_min_event_ndims)
            x = b.forward(x)
        return total

    def _inverse_log_det_jacobian(self, y: pb.Tensor) -> pb.Tensor:
        total = pb.zeros([], y.dtype)
        for b in self.bijectors:
            total = total + b.inverse_log_det_jacobian(y, self.inverse_min_event_ndims)
            y = b.inverse(y)
        return total


class Invert(Bijector):
    """The inverse of a bijector."""

    def __init__(self, bijector: Bijector, validate_args: bool = False, name: str | None = None) -> None:
        self.bijector = bijector
        super().__init__(
            bijector.graph_parents,
            bijector.is_constant_jacobian,
            validate_args,
            bijector.dtype,
            bijector.inverse_min_event_ndims,
            bijector.forward_min_event_ndims,
            name or f"invert_{bijector.name}",
        )

    def _forward(self, x: pb.Tensor) -> pb.Tensor:
        return self.bijector.inverse(x)

    def _inverse(self, y: pb.Tensor) -> pb.Tensor:
        return self.bijector.forward(y)

    def _forward_log_det_jacobian(self, x: pb.Tensor) -> pb.Tensor:
        return self.bijector.inverse_log_det_jacobian(x, self.forward_min_event_ndims)

    def _inverse_log_det_jacobian(self, y: pb.Tensor) -> pb.Tensor:
        return self.bijector.forward_log_det_jacobian(y, self.inverse_min_event_ndims)
