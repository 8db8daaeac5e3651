"""Training steps of `tf.contrib.layers` and `tf.contrib.training`: gradients that are clipped, scaled, made noisy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pullback as pb

from ..clipping import clip_by_global_norm, clip_by_norm

OPTIMIZER_CLS_NAMES: Mapping[str, Callable[..., pb.train.Optimizer]] = {
    "Adagrad": pb.train.AdagradOptimizer,
    "Adam": pb.train.AdamOptimizer,
    "Ftrl": pb.train.FtrlOptimizer,
    "Momentum": lambda learning_rate: pb.train.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": pb.train.RMSPropOptimizer,
    "SGD": pb.train.GradientDescentOptimizer,
}
"""What `optimize_loss` calls an optimizer."""

Pairs = list[tuple[Any, pb.Variable]]


def optimize_loss(
    loss: pb.Tensor,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Callable[..., Any] | None = None,
    update_ops: Sequence[Any] | None = None,
    variables: Sequence[pb.Variable] | None = None,
    name: str | None = None,
    summaries: object = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> pb.Tensor:
    """The loss, whose computation in a run makes a step of training.

    `optimizer` is a name ("Adam", "SGD", "Momentum", "RMSProp", "Adagrad", "Ftrl"), a class, an optimizer, or a
    function of the learning rate. `clip_gradients` is a global norm, or a function of the pairs of gradients and
    variables. `summaries` changes nothing.

    Raises:
        ValueError: there is no optimizer of that name; there are no gradients.

    >>> import pullback.compat.v1 as tf
    >>> v = tf.Variable(3.0)
    >>> step = tf.contrib.layers.optimize_loss(v * v, tf.train.get_or_create_global_step(), 0.5, "SGD")
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     [session.run(step), session.run(v)]
    [np.float32(9.0), np.float32(0.0)]
    """
    del summaries
    step = pb.train.get_global_step() if global_step is None else global_step
    with pb.variable_scope(name, "OptimizeLoss", [loss, step]):
        updates = pb.get_collection(pb.GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
        with loss.graph.control_dependencies(updates):
            loss = pb.identity(loss)
        rate = learning_rate
        if learning_rate_decay_fn is not None:
            rate = learning_rate_decay_fn(learning_rate, step)
        made = _optimizer_of(optimizer, rate)
        pairs = made.compute_gradients(
            loss,
            pb.trainable_variables() if variables is None else list(variables),
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gradient_noise_scale is not None:
            pairs = [(g if g is None else _noisy(g, gradient_noise_scale), v) for g, v in pairs]
        if gradient_multipliers is not None:
            pairs = multiply_gradients(pairs, gradient_multipliers)
        if callable(clip_gradients):
            pairs = clip_gradients(pairs)
        elif clip_gradients is not None:
            pairs = _clipped_together(pairs, clip_gradients)
        apply = made.apply_gradients(pairs, global_step=step if increment_global_step else None, name="train")
        with loss.graph.control_dependencies([apply]):
            return pb.identity(loss)


def create_train_op(
    total_loss: pb.Tensor,
    optimizer: pb.train.Optimizer,
    global_step: Any = (),
    update_ops: Sequence[Any] | None = None,
    variables_to_train: Sequence[pb.Variable] | None = None,
    transform_grads_fn: Callable[..., Any] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: Any = None,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
    clip_gradient_norm: float = 0,
    gradient_multipliers: Mapping[Any, Any] | None = None,
) -> pb.Tensor:
    """The loss, whose computation in a run makes a step of training, and counts the global step unless that is None."""
    del summarize_gradients, gate_gradients, aggregation_method, check_numerics
    step = pb.train.get_or_create_global_step() if global_step == () else global_step
    updates = pb.get_collection(pb.GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
    with total_loss.graph.control_dependencies(updates):
        loss = pb.identity(total_loss)
    pairs = optimizer.compute_gradients(
        loss,
        pb.trainable_variables() if variables_to_train is None else list(variables_to_train),
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if gradient_multipliers:
        pairs = multiply_gradients(pairs, gradient_multipliers)
    if clip_gradient_norm > 0:
        pairs = clip_gradient_norms(pairs, clip_gradient_norm)
    if transform_grads_fn is not None:
        pairs = transform_grads_fn(pairs)
    apply = optimizer.apply_gradients(pairs, global_step=step)
    with loss.graph.control_dependencies([apply]):
        return pb.identity(loss, name="train_op")


def clip_gradient_norms(gradients_to_variables: Pairs, max_norm: float) -> Pairs:
    """The pairs, each gradient of which is at most `max_norm` long."""
    return [(None if g is None else clip_by_norm(g, max_norm), v) for g, v in gradients_to_variables]


def multiply_gradients(grads_and_vars: Pairs, gradient_multipliers: Mapping[Any, Any]) -> Pairs:
    """The pairs, where the gradients of variables, or of names of variables, that have a factor are multiplied by it.

    Raises:
        ValueError: the variable has no gradient.
    """
    found = []
    for g, v in grads_and_vars:
        factor = gradient_multipliers.get(v, gradient_multipliers.get(v.op.name))
        if factor is None:
            found.append((g, v))
            continue
        if g is None:
            raise ValueError(f"multiply_gradients: {v.name} has no gradient to multiply")
        found.append((_times(g, pb.convert_to_tensor(factor, g.dtype)), v))
    return found


def _optimizer_of(optimizer: Any, rate: Any) -> pb.train.Optimizer:
    if isinstance(optimizer, pb.train.Optimizer):
        return optimizer
    if isinstance(optimizer, str):
        if optimizer not in OPTIMIZER_CLS_NAMES:
            names = ", ".join(OPTIMIZER_CLS_NAMES)
            raise ValueError(f"optimize_loss: optimizer must be one of {names}, and not {optimizer!r}")
        optimizer = OPTIMIZER_CLS_NAMES[optimizer]
    made: pb.train.Optimizer = optimizer(rate) if isinstance(optimizer, type) or rate is not None else optimizer()
    return made


def _clipped_together(pairs: Pairs, norm: Any) -> Pairs:
    clipped, _ = clip_by_global_norm([g for g, _ in pairs], norm)
    return [(g, v) for g, (_, v) in zip(clipped, pairs, strict=True)]


def _noisy(g: Any, scale: float) -> Any:
    dense = pb.convert_to_tensor(g)
    return dense + pb.truncated_normal(pb.shape(dense), dtype=dense.dtype) * scale


def _times(g: Any, factor: pb.Tensor) -> Any:
    if isinstance(g, pb.IndexedSlices):
        return pb.IndexedSlices(g.values * factor, g.indices, g.dense_shape)
    return g * factor
