"""Backpropagation by hand: derivatives of convolutions, pools and activations that TensorFlow 1 has as functions.

>>> import pullback.compat.v1 as tf
>>> x, f, dy = tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), tf.ones([1, 2, 2, 1])
>>> strides, padding = [1, 1, 1, 1], "VALID"
>>> dx = tf.nn.conv2d_backprop_input([1, 3, 3, 1], f, dy, strides, padding)
>>> df = tf.nn.conv2d_backprop_filter(x, [2, 2, 1, 1], dy, strides, padding)
>>> tf.Session().run([dx[0, :, 1, 0], df[:, 0, 0, 0]])
[array([2., 4., 2.], dtype=float32), array([4., 4.], dtype=float32)]
>>> volumes, dv = tf.ones([1, 2, 2, 2, 1]), tf.ones([1, 2, 2, 2, 1])
>>> tf.nn.conv3d_backprop_filter(volumes, [1, 1, 1, 1, 1], dv, [1] * 5, "SAME").shape
TensorShape([1, 1, 1, 1, 1])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from ... import nn as today
from ...primitives.activations.rectifiers import EluGrad, LeakyReluGrad, Relu6Grad, ReluGrad, SeluGrad, SoftsignGrad
from ...primitives.activations.sigmoid import SigmoidGrad, SoftplusGrad
from ...primitives.elementwise.hyperbolic import TanhGrad
from ...primitives.elementwise.powers import ReciprocalGrad, RsqrtGrad, SqrtGrad


def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> pb.Tensor:
    """The derivative of `conv2d` by images of the shape `input_sizes`."""
    del use_cudnn_on_gpu
    filters = filter if filters is None else filters
    return today.conv2d_transpose(
        out_backprop, filters, input_sizes, strides, padding, data_format, list(dilations), name
    )


def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> pb.Tensor:
    """The derivative of `conv2d` of the images `input` by filters of the shape `filter_sizes`."""
    del use_cudnn_on_gpu
    return _pulled(
        lambda f: today.conv2d(input, f, strides, padding, data_format, list(dilations)),
        pb.zeros(filter_sizes, pb.convert_to_tensor(input).dtype),
        out_backprop,
        name,
    )


def conv3d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
) -> pb.Tensor:
    """The derivative of `conv3d` of the volumes `input` by filters of the shape `filter_sizes`."""
    return _pulled(
        lambda f: today.conv3d(input, f, strides, padding, data_format, list(dilations)),
        pb.zeros(filter_sizes, pb.convert_to_tensor(input).dtype),
        out_backprop,
        name,
    )


def max_pool_grad(
    orig_input: Any,
    orig_output: Any,
    grad: Any,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    name: str | None = None,
) -> pb.Tensor:
    """`grad` at the first largest element of each window of `orig_input`; `orig_output` is not looked at."""
    del orig_output
    pads: Any = padding if padding != "EXPLICIT" else list(zip(*[iter(explicit_paddings)] * 2, strict=True))
    return _pulled(lambda x: today.max_pool(x, ksize, strides, pads, data_format), orig_input, grad, name)


def max_pool_grad_v2(
    orig_input: Any,
    orig_output: Any,
    grad: Any,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    name: str | None = None,
) -> pb.Tensor:
    """`grad` at the first largest element of each window of `orig_input`; `orig_output` is not looked at."""
    return max_pool_grad(orig_input, orig_output, grad, ksize, strides, padding, (), data_format, name)


def avg_pool_grad(
    orig_input_shape: Any,
    grad: Any,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    name: str | None = None,
) -> pb.Tensor:
    """`grad` spread evenly over each window of an input of the shape `orig_input_shape`."""
    x = pb.zeros(orig_input_shape, pb.convert_to_tensor(grad).dtype)
    return _pulled(lambda x: today.avg_pool(x, ksize, strides, padding, data_format), x, grad, name)


def relu_grad(gradients: Any, features: Any, name: str | None = None) -> pb.Tensor:
    """The derivative of `relu`, of its input or of its result."""
    return ReluGrad()(*_both(gradients, features), name=name)


def relu6_grad(gradients: Any, features: Any, name: str | None = None) -> pb.Tensor:
    """The derivative of `relu6`, of its input or of its result."""
    return Relu6Grad()(*_both(gradients, features), name=name)


def leaky_relu_grad(gradients: Any, features: Any, alpha: float = 0.2, name: str | None = None) -> pb.Tensor:
    """The derivative of `leaky_relu`, of its input."""
    return LeakyReluGrad(alpha)(*_both(gradients, features), name=name)


def elu_grad(gradients: Any, outputs: Any, name: str | None = None) -> pb.Tensor:
    """The derivative of `elu`, of its result."""
    return EluGrad()(*_both(gradients, outputs), name=name)


def selu_grad(gradients: Any, outputs: Any, name: str | None = None) -> pb.Tensor:
    """The derivative of `selu`, of its result."""
    return SeluGrad()(*_both(gradients, outputs), name=name)


def softplus_grad(gradients: Any, features: Any, name: str | None = None) -> pb.Tensor:
    """The derivative of `softplus`, of its input."""
    return SoftplusGrad()(*_both(gradients, features), name=name)


def softsign_grad(gradients: Any, features: Any, name: str | None = None) -> pb.Tensor:
    """The derivative of `softsign`, of its input."""
    return SoftsignGrad()(*_both(gradients, features), name=name)


def sigmoid_grad(y: Any, dy: Any, name: str | None = None) -> pb.Tensor:
    """The derivative of `sigmoid`, of its result."""
    return SigmoidGrad()(*_both(y, dy), name=name)


def tanh_grad(y: Any, dy: Any, name: str | None = None) -> pb.Tensor:
    """The derivative of `tanh`, of its result."""
    return TanhGrad()(*_both(y, dy), name=name)


def sqrt_grad(y: Any, dy: Any, name: str | None = None) -> pb.Tensor:
    """The derivative of `sqrt`, of its result."""
    return SqrtGrad()(*_both(y, dy), name=name)


def rsqrt_grad(y: Any, dy: Any, name: str | None = None) -> pb.Tensor:
    """The derivative of `rsqrt`, of its result."""
    return RsqrtGrad()(*_both(y, dy), name=name)


def reciprocal_grad(y: Any, dy: Any, name: str | None = None) -> pb.Tensor:
    """The derivative of `reciprocal`, of its result."""
    return ReciprocalGrad()(*_both(y, dy), name=name)


def _both(a: Any, b: Any) -> tuple[pb.Tensor, pb.Tensor]:
    return pb.convert_to_tensor(a), pb.convert_to_tensor(b)


def _pulled(function: Callable[[pb.Tensor], pb.Tensor], x: Any, dy: Any, name: str | None) -> pb.Tensor:
    """The derivative of `function` by its operations' own rules, for one that overrides them may have called."""
    x = pb.convert_to_tensor(x)
    plain = x.graph.scope._replace(gradient_types={})
    with x.graph.entered(plain), x.graph.within(name or "backprop"):
        (dx,) = pb.gradients(function(x), x, grad_ys=dy)
    return pb.convert_to_tensor(dx)
