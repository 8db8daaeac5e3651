"""Optimizers of `tf.contrib.opt`: SciPy's as TensorFlow 1 wraps them, decoupled weight decay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import pullback as pb

from ....core.slices import IndexedSlices
from ....core.typing import TensorLike
from ....optimizers.adam import AbstractAdam
from ....optimizers.adam import LazyAdamOptimizer as LazyAdamOptimizer
from ....optimizers.optimizer import Scalars, Slots
from ....optimizers.parts import Part


class ScipyOptimizerInterface:
    """Minimizes a loss by one of SciPy's methods, L-BFGS-B unless given.

    `equalities` and `inequalities` are tensors that are held at 0, or not below it (method "SLSQP"); `var_to_bounds`
    gives variables a lowest and a highest value. Other options go to `scipy.optimize.minimize`.

    >>> import pullback.compat.v1 as tf
    >>> v = tf.Variable([3.0, 4.0])
    >>> optimizer = tf.contrib.opt.ScipyOptimizerInterface(tf.reduce_sum((v - 1.0) ** 2), options={"maxiter": 20})
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     optimizer.minimize(session)
    ...     print(session.run(v).round(3))
    [1. 1.]
    """

    def __init__(
        self,
        loss: pb.Tensor,
        var_list: Sequence[pb.Variable] | None = None,
        equalities: Sequence[pb.Tensor] | None = None,
        inequalities: Sequence[pb.Tensor] | None = None,
        var_to_bounds: Mapping[pb.Variable, tuple[Any, Any]] | None = None,
        **optimizer_kwargs: Any,
    ) -> None:
        self._loss, self._constraints = loss, [("eq", y) for y in equalities or ()]
        self._constraints += [("ineq", y) for y in inequalities or ()]
        self._variables = pb.trainable_variables() if var_list is None else list(var_list)
        self._sizes = [int(np.prod(v.shape.known)) for v in self._variables]
        self.optimizer_kwargs = {"method": "SLSQP" if self._constraints else "L-BFGS-B", **optimizer_kwargs}
        self._bounds = None if var_to_bounds is None else self._bounds_of(var_to_bounds)
        self._gradients = [self._gradient(y) for y in [loss, *[y for _, y in self._constraints]]]
        self._fed = [pb.placeholder(v.dtype, v.shape) for v in self._variables]
        pairs = zip(self._variables, self._fed, strict=True)
        self._assign = pb.group(*[v.assign(x).op for v, x in pairs])

    def minimize(
        self,
        session: Any = None,
        feed_dict: Mapping[Any, Any] | None = None,
        fetches: Sequence[Any] | None = None,
        step_callback: Callable[..., Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Leave the variables at the minimum.

        `loss_callback` is called with the values of `fetches` at each evaluation of the loss, `step_callback` with the
        vector of all variables after each step.

        Raises:
            ImportError: SciPy is not installed. ValueError: there is no session.
        """
        from ....interop.scipy import least_point

        sess = session or pb.get_default_session()
        if sess is None:
            raise ValueError("ScipyOptimizerInterface.minimize: there is no default session; pass session=")
        wanted, feeds = list(fetches or ()), dict(feed_dict or {})

        def at(x: np.ndarray[Any, Any], what: Sequence[Any]) -> Any:
            self._set(sess, x)
            return sess.run(list(what), feeds, **run_kwargs)

        def loss_and_gradient(x: np.ndarray[Any, Any]) -> tuple[float, np.ndarray[Any, Any]]:
            loss, gradient, values = at(x, [self._loss, self._gradients[0], wanted])
            if loss_callback is not None:
                loss_callback(*values)
            return float(loss), np.asarray(gradient, np.float64)

        held = [
            {"type": kind, "fun": lambda x, y=y: at(x, [y])[0], "jac": lambda x, g=g: at(x, [g])[0].astype(np.float64)}
            for (kind, y), g in zip(self._constraints, self._gradients[1:], strict=True)
        ]
        start = np.concatenate([np.asarray(v, np.float64).ravel() for v in sess.run(self._variables)])
        options = {"bounds": self._bounds, "constraints": held or ()} | self.optimizer_kwargs
        x = least_point(loss_and_gradient, start, callback=step_callback, **options)
        self._set(sess, x)

    def _set(self, session: Any, x: np.ndarray[Any, Any]) -> None:
        parts = np.split(x, np.cumsum(self._sizes)[:-1])
        feeds = {fed: part.reshape(fed.shape.known) for fed, part in zip(self._fed, parts, strict=True)}
        session.run(self._assign, feeds)

    def _gradient(self, y: pb.Tensor) -> pb.Tensor:
        """The gradient by all variables, as one vector."""
        found = zip(pb.gradients(y, self._variables), self._variables, strict=True)
        return pb.concat(
            [pb.reshape(pb.zeros_like(v) if g is None else pb.convert_to_tensor(g), [-1]) for g, v in found], 0
        )

    def _bounds_of(self, given: Mapping[pb.Variable, tuple[Any, Any]]) -> list[tuple[float, float]]:
        bounds = []
        for v in self._variables:
            low, high = given.get(v, (-np.inf, np.inf))
            lows, highs = (np.broadcast_to(b, v.shape.known).ravel() for b in (low, high))
            bounds += list(zip(lows.tolist(), highs.tolist(), strict=True))
        return bounds


class NadamOptimizer(AbstractAdam):
    """Adam that steps along beta1 m + (1 - beta1) dy, where Adam steps along m, as Nesterov's momentum does.

    The parameters are those of `AdamOptimizer`. With a gradient of some rows, all moments fall, and those rows move.

    Source: T. Dozat, "Incorporating Nesterov momentum into Adam", 2016.

    >>> import pullback.compat.v1 as tf
    >>> v = tf.Variable([1.0, 10.0])
    >>> step = tf.contrib.opt.NadamOptimizer(0.1).minimize(tf.reduce_sum(v * v))
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     session.run(step)
    ...     session.run(v).round(4)
    array([0.81, 9.81], dtype=float32)
    """

    def change_rows(
        self, variable: pb.Variable, dy: IndexedSlices, slots: Slots, scalars: Scalars
    ) -> list[pb.Operation]:
        moved, rows = self._move_moments(dy, slots, scalars), Part(dy.values, dy.indices)
        ahead = self._ahead(rows.read(slots["m"]), dy.values, scalars)
        step = self._step(ahead, rows.read(slots["v"]), scalars)
        return [*moved, rows.subtract(variable, step)]

    def _ahead(self, m: pb.Tensor, dy: pb.Tensor, scalars: Scalars) -> pb.Tensor:
        return m * scalars["beta1"] + dy * scalars["rest1"]


class DecoupledWeightDecayExtension:
    """An optimizer that also takes the part `weight_decay` of each variable away from it, at each step.

    Source: I. Loshchilov and F. Hutter, "Decoupled weight decay regularization", 2019.
    """

    def __init__(self, optimizer: pb.train.Optimizer, weight_decay: TensorLike) -> None:
        self._optimizer, self._decay = optimizer, weight_decay
        self._only: Iterable[pb.Variable] | None = None

    def minimize(
        self, loss: pb.Tensor, global_step: Any = None, var_list: Any = None, decay_var_list: Any = None, **options: Any
    ) -> Any:
        """A step of training; `decay_var_list` are the variables that become smaller, all unless given."""
        names = ("name", "grad_loss")
        more = {k: options.pop(k) for k in names if k in options}
        pairs = self.compute_gradients(loss, var_list, **options)
        return self.apply_gradients(pairs, global_step, more.get("name"), decay_var_list)

    def compute_gradients(self, loss: pb.Tensor, var_list: Any = None, **options: Any) -> Any:
        """As the optimizer's."""
        return self._optimizer.compute_gradients(loss, var_list, **options)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None, decay_var_list: Any = None
    ) -> Any:
        """An operation that first makes the variables smaller, and then applies the gradients."""
        pairs = list(grads_and_vars)
        smaller = [v for g, v in pairs if g is not None] if decay_var_list is None else list(decay_var_list)
        decay = [v.assign_sub(pb.convert_to_tensor(self._decay, v.dtype) * v).op for v in smaller]
        with pairs[0][1].graph.control_dependencies(decay):
            return self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)


def AdamWOptimizer(
    weight_decay: TensorLike,
    learning_rate: Any = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    use_locking: bool = False,
    name: str = "AdamW",
) -> DecoupledWeightDecayExtension:
    """Adam with decoupled weight decay."""
    return DecoupledWeightDecayExtension(
        pb.train.AdamOptimizer(learning_rate, beta1, beta2, epsilon, use_locking, name), weight_decay
    )


def MomentumWOptimizer(
    weight_decay: TensorLike,
    learning_rate: Any,
    momentum: Any,
    use_locking: bool = False,
    name: str = "MomentumW",
    use_nesterov: bool = False,
) -> DecoupledWeightDecayExtension:
    """Momentum with decoupled weight decay."""
    return DecoupledWeightDecayExtension(
        pb.train.MomentumOptimizer(learning_rate, momentum, use_locking, name, use_nesterov), weight_decay
    )
