"""Rows: calls of functions, custom gradients, recomputation, Python functions; in each other, in loops and branches."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ..case import Case, normal, positive


@pb.function
def _wave(x: Any, w: Any) -> Any:
    return pb.sin(x * w) + x


@pb.function
def _nested(x: Any, w: Any) -> Any:
    return _wave(_wave(x, w), w) * pb.reduce_sum(_wave(w, w))


@pb.function
def _several(x: Any, structure: Any) -> Any:
    return {"product": x * structure["a"], "rest": [pb.tanh(x), pb.cast(structure["n"], x.dtype) * x]}


@pb.function
def _rows(table: Any, indices: Any) -> Any:
    return pb.square(pb.gather(table, indices))


@pb.custom_gradient
def _log1p_exp(x: Any) -> Any:
    """Its derivative is written so that it does not overflow."""
    e = pb.exp(x)
    return pb.math.log1p(e), lambda dy: dy * (1.0 - 1.0 / (1.0 + e))


@pb.custom_gradient
def _two(x: Any, y: Any) -> Any:
    def grad_fn(da: Any, db: Any) -> Any:
        return da * y + db, da * x + db * pb.cos(y)

    return (x * y, x + pb.sin(y)), grad_fn


def _with_captures(x: Any, w: Any) -> Any:
    inner = w * 2.0
    f = pb.function(lambda a: pb.sin(a) * inner + w)
    return f(x) + f(2.0 * x)


def _in_a_loop(x: Any, w: Any) -> Any:
    """A call in a branch in a loop."""

    def body(i: Any, y: Any) -> Any:
        return i + 1, pb.cond(pb.equal(i % 2, 0), lambda: _wave(y, w), lambda: _log1p_exp(y))

    return pb.while_loop(lambda i, y: i < 3, body, (0, x))[1]


def _loop_in_a_call(x: Any) -> Any:
    @pb.function
    def f(a: Any) -> Any:
        return pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, _log1p_exp(y) * a), (0, a))[1]

    return f(x)


def _stateful(x: Any) -> Any:
    v = pb.Variable(pb.constant(2.0, x.dtype), name="v")

    @pb.function
    def f(a: Any) -> Any:
        new = v.assign_add(pb.constant(1.0, x.dtype))
        return a * a * new

    return f(x) + f(x)


def _recomputed(x: Any, w: Any) -> Any:
    layer = pb.recompute_grad(lambda a: pb.tanh(a * w))
    return layer(layer(x))


def _python(x: Any) -> Any:
    spec = pb.TensorSpec([2, 3], x.dtype)
    return pb.py_function(np.sin, [x], spec, gradient=lambda a, dy: dy * np.cos(a))


def _python_in_a_call(x: Any) -> Any:
    return pb.function(_python)(x) * 2.0


def _sorted(x: Any, stateful: bool) -> Any:
    return pb.numpy_function(np.sort, [x], pb.TensorSpec([2, 3], x.dtype), stateful=stateful)


X, W = normal(2, 3), positive(3)

CASES = [
    Case("call", lambda x, w: _wave(x, w), [X, W], expected=lambda x, w: np.sin(x * w) + x, third_order=True),
    Case("call-same-twice", lambda x: _wave(x, x), [X]),
    Case("call-no-elements", lambda x: _wave(x, x), [np.zeros([0, 3])]),
    Case("call-nested", lambda x, w: _nested(x, w), [X, W], third_order=True),
    Case(
        "call-structures",
        lambda x, a, n: (lambda r: [r["product"], *r["rest"]])(_several(x, {"a": a, "n": n})),
        [X, W, np.int32(3)],
    ),
    Case("call-slices", lambda table, i: _rows(table, i), [X, np.array([1, 0, 1])]),
    Case("call-captures", _with_captures, [X, W], third_order=True),
    Case("call-in-branch-in-loop", _in_a_loop, [X, W], third_order=True, slow=True),
    Case("loop-in-call", _loop_in_a_call, [positive(3)], third_order=True),
    Case("call-stateful", _stateful, [X], expected=lambda x: 7.0 * x * x),
    Case("custom-gradient", _log1p_exp, [X], expected=lambda x: np.log1p(np.exp(x)), third_order=True),
    Case("custom-gradient-two-results", lambda x, y: list(_two(x, y)), [X, normal(2, 3, seed=1)], third_order=True),
    Case("custom-gradient-one-result", lambda x, y: _two(x, y)[1], [X, normal(2, 3, seed=1)]),
    Case("custom-gradient-in-call", lambda x: pb.function(lambda a: _log1p_exp(a) * a)(x), [X], third_order=True),
    Case("recompute-grad", _recomputed, [X, W], third_order=True),
    Case(
        "py-function",
        _python,
        [X],
        expected=np.sin,
        not_second_order="its gradient is a Python function",
        not_onnx="a model cannot hold Python code",
    ),
    Case(
        "py-function-in-call",
        _python_in_a_call,
        [X],
        not_second_order="its gradient is a Python function",
        not_onnx="a model cannot hold Python code",
    ),
    Case(
        "numpy-function",
        lambda x: _sorted(x, True),
        [X],
        not_differentiable="Python code is not looked into",
        not_onnx="a model cannot hold Python code",
    ),
    Case(
        "numpy-function-stateless",
        lambda x: _sorted(x, False),
        [X],
        not_differentiable="not looked into",
        not_onnx="a model cannot hold Python code",
    ),
]
