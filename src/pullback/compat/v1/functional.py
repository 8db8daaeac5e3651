"""Functional control flow of TensorFlow 1 (`functional_ops`): branches, loops, calls and derivatives of `Defun`s."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from ...core import nest
from ...core.contexts import in_graph_of_inputs
from ...core.errors import InvalidArgumentError
from ...core.typing import TensorLike
from ...core.values import constant_value
from .defun import defined


@in_graph_of_inputs
def If(
    cond: TensorLike,
    inputs: Sequence[TensorLike],
    then_branch: Callable[..., Any],
    else_branch: Callable[..., Any],
    name: str | None = None,
) -> Any:
    """The list of what the first function gives for `inputs` where `cond` is true or not 0, else of the second's.

    >>> from pullback.compat.v1 import functional
    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(functional.If(tf.constant(2.0) > 1.0, [3.0], lambda x: 2.0 * x, lambda x: x))
    [np.float32(6.0)]
    """
    xs, pred = _tensors(inputs), pb.convert_to_tensor(cond)
    chosen = pred if pred.dtype == pb.bool else pb.not_equal(pred, pb.zeros_like(pred))
    with pb.name_scope(name or "If") as scope:
        results = pb.cond(chosen, lambda: _listed(then_branch(*xs)), lambda: _listed(else_branch(*xs)))
        return named(_listed(results), scope)


@in_graph_of_inputs
def While(
    input_: Sequence[TensorLike],
    cond: Callable[..., Any],
    body: Callable[..., Any],
    name: str | None = None,
    hostmem: object = None,
) -> list[Any]:
    """The list of values that `body` gives in the end, again and again, while `cond` of them is true.

    They keep the static shapes that they begin with.

    Raises:
        InvalidArgumentError: `cond` gives another number of values than one, or `body` than it is given.

    >>> from pullback.compat.v1 import functional
    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(functional.While([20.0, 0.0], lambda n, x: n > 0.0, lambda n, x: (n - 1.0, x + n)))
    [np.float32(0.0), np.float32(210.0)]
    """
    del hostmem

    def going(*xs: Any) -> Any:
        (answer,) = _counted(
            "While",
            "Expected a single scalar of cond, got {} tensors; let it return one truth value",
            _listed(cond(*xs)),
            1,
        )
        return answer

    def following(*xs: Any) -> list[Any]:
        text = f"While loop body returned {{}} arguments. Expected: {len(xs)}, as many as it is given"
        return _like(xs, _counted("While", text, _listed(body(*xs)), len(xs)))

    with pb.name_scope(name or "While") as scope:
        return named(_listed(pb.while_loop(going, following, _tensors(input_))), scope)


@in_graph_of_inputs
def For(
    start: TensorLike,
    limit: TensorLike,
    delta: TensorLike,
    inputs: Sequence[TensorLike],
    body: Callable[..., Any],
    name: str | None = None,
    hostmem: object = None,
    rewrite_with_while: object = None,
) -> list[Any]:
    """The list of values that `body(i, *values)` gives in the end, for i = start, start + delta, ... before `limit`.

    Raises:
        InvalidArgumentError: `start`, `limit` or `delta` are no scalars; no step leads to the limit; or `body` gives
            another number of values than it is given.

    >>> from pullback.compat.v1 import functional
    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(functional.For(100, 0, -1, [0], lambda i, x: x + i))
    [np.int32(5050)]
    """
    del hostmem
    begin, end, step = (pb.convert_to_tensor(x, pb.int32) for x in (start, limit, delta))
    for what, x in {"start": begin, "limit": end, "delta": step}.items():
        if x.shape.rank not in (0, None):
            raise InvalidArgumentError(f"For: {what} must be a scalar, not {x.type}")
    _check_steps(*[constant_value(x) for x in (begin, end, step)])
    ahead = pb.greater(step, 0)

    def going(i: pb.Tensor, *xs: pb.Tensor) -> pb.Tensor:
        del xs
        return pb.where(ahead, pb.less(i, end), pb.greater(i, end))

    def following(i: pb.Tensor, *xs: pb.Tensor) -> list[Any]:
        text = f"For loop body returned {{}} arguments. Expected: {len(xs)}, as many as it is given beside the number"
        return [i + step, *_like(xs, _counted("For", text, _listed(body(i, *xs)), len(xs)))]

    with pb.name_scope(name or ("While" if rewrite_with_while else "For")) as scope:
        last, *results = _listed(pb.while_loop(going, following, [begin, *_tensors(inputs)]))
        made = named(results or [last], scope)
        return made if results else []


@in_graph_of_inputs
def Gradient(inputs: Sequence[TensorLike], f: Any, name: str | None = None) -> list[Any]:
    """The derivatives of `f` by its arguments, the first of `inputs`, for the cotangents of its results, the others.

    >>> from pullback.compat.v1 import functional
    >>> from pullback.compat.v1.defun import Defun
    >>> import pullback.compat.v1 as tf
    >>> @Defun(tf.float32)
    ... def square(x):
    ...     return x * x
    >>> tf.Session().run(functional.Gradient([3.0, 1.0], square))
    [np.float32(6.0)]
    """
    return symbolic_gradient(inputs, [None] * f.argument_count, f, name)


@in_graph_of_inputs
def symbolic_gradient(input: Sequence[TensorLike], Tout: Sequence[Any], f: Any, name: str | None = None) -> list[Any]:
    """The derivatives of the function `f` by its arguments, as many as `Tout`; the rest of `input` are cotangents.

    Raises:
        TypeError: `f` is the name of no `Defun`.

    >>> from pullback.compat.v1 import functional
    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(functional.symbolic_gradient([3.0, 1.0], [tf.float32], lambda x: x * x))
    [np.float32(6.0)]
    """
    f = defined(f) if isinstance(f, str) else f
    if not callable(f):
        raise TypeError("symbolic_gradient: f must be a function, or the name of a Defun that is there still")
    with pb.name_scope(name or "SymbolicGradient"):
        xs, dys = [pb.identity(x) for x in input[: len(Tout)]], input[len(Tout) :]
        ys = _listed(f(*xs))
        return list(pb.gradients(ys, xs, list(dys), unconnected_gradients="zero"))


@in_graph_of_inputs
def partitioned_call(
    args: Sequence[TensorLike],
    f: Callable[..., Any],
    tout: object = None,
    executing_eagerly: object = None,
    config: object = None,
    executor_type: object = None,
) -> Any:
    """The list of what `f` gives for `args`, or its operation if it gives nothing; engines decide where it runs.

    >>> from pullback.compat.v1 import functional
    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(functional.partitioned_call([1.0, 2.0], lambda x, y: x + y))
    [np.float32(3.0)]
    """
    del tout, executing_eagerly, config, executor_type
    result = f(*_tensors(args))
    return result if isinstance(result, pb.Operation) else _listed(result)


@in_graph_of_inputs
def remote_call(
    args: Sequence[TensorLike], Tout: object, f: Callable[..., Any], target: str, name: str | None = None
) -> list[Any]:
    """The list of what `f` gives for `args` on the device `target`.

    >>> from pullback.compat.v1 import functional
    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(functional.remote_call([2, 3], [tf.int32], tf.multiply, "/cpu:0"))
    [np.int32(6)]
    """
    del Tout, name
    with pb.device(target):
        return _listed(f(*_tensors(args)))


def named(results: Sequence[pb.Tensor], scope: str) -> list[Any]:
    """The results, of one operation that has the name of the scope."""
    return list(pb.identity_n(results, name=scope)) if results else []


def _check_steps(start: Any, limit: Any, delta: Any) -> None:
    if start is None or limit is None or delta is None:
        return
    if delta == 0 or (limit - start) * delta < 0:
        raise InvalidArgumentError(
            f"For: Invalid start/limit/delta: {start}, {limit}, {delta}; no step of delta leads from start to limit"
        )


def _counted(what: str, text: str, results: list[Any], count: int) -> list[Any]:
    if len(results) != count:
        raise InvalidArgumentError(f"{what}: {text.format(len(results))}")
    return results


def _like(before: Sequence[pb.Tensor], after: Sequence[Any]) -> list[Any]:
    """Values of the static shapes that they had before, where a step leaves open what they are."""
    pairs = zip(before, map(pb.convert_to_tensor, after), strict=True)
    return [y if y.shape.is_fully_defined() else pb.ensure_shape(y, x.shape) for x, y in pairs]


def _tensors(inputs: Sequence[TensorLike]) -> list[Any]:
    return [pb.convert_to_tensor(x) for x in inputs]


def _listed(results: Any) -> list[Any]:
    return [] if results is None or isinstance(results, pb.Operation) else nest.flatten(results)
