"""GraphDef import of activations: rectifiers, sigmoid, softplus, softmax, biases, and TensorFlow's derivatives."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.activations.bias import BiasAdd
from ...primitives.activations.rectifiers import LeakyRelu, LeakyReluGrad
from ...primitives.activations.softmax import log_softmax, softmax
from ...primitives.reduction.reduce import reduce_sum
from ..nodes import Node, calling, making, reader, same

reader("Relu", "Relu6", "Elu", "Selu", "Softsign", "Softplus", "Sigmoid")(same)
reader("ReluGrad", "Relu6Grad", "EluGrad", "SeluGrad", "SoftsignGrad", "SoftplusGrad", "SigmoidGrad")(same)
reader("LeakyRelu")(making(LeakyRelu, alpha=0.2))
reader("LeakyReluGrad")(making(LeakyReluGrad, alpha=0.2))
reader("Softmax")(calling(softmax, 1))
reader("LogSoftmax")(calling(log_softmax, 1))


@reader("BiasAdd", "BiasAddV1")
def bias_add(node: Node, x: Tensor, bias: Tensor) -> Any:
    return node.make(BiasAdd(node.text("data_format", "NHWC").startswith("NC")), x, bias)


@reader("BiasAddGrad")
def bias_add_grad(node: Node, dy: Tensor) -> Any:
    if dy.shape.rank is None:
        node.refuse("the rank of its input must be known")
    channels = 1 if node.text("data_format", "NHWC").startswith("NC") else dy.shape.rank - 1
    return reduce_sum(dy, [i for i in range(dy.shape.rank) if i != channels], name=node.exactly)
