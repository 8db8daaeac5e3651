"""Model of the demo: a convolutional classifier as a graph, its gradient, and Adam's step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import pullback as pb

CHANNELS = (32, 32, 64)


@dataclass(frozen=True, eq=False)
class Model:
    """The tensors and operations that the training runs."""

    graph: pb.Graph
    images: pb.Tensor
    labels: pb.Tensor
    learning_rate: pb.Tensor
    probabilities: pb.Tensor
    loss: pb.Tensor
    variables: list[pb.Variable]
    gradients: list[Any]
    train: pb.Operation
    step: pb.Variable
    initialize: pb.Operation
    saver: pb.train.Saver

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""
        return sum(math.prod(v.shape.known) for v in self.variables)


def build_model(seed: int) -> Model:
    """The graph: images to loss, the gradients of the loss, and the training step."""
    graph = pb.Graph()
    with graph.as_default():
        images = pb.placeholder(pb.float32, [None, 8, 8, 1], name="images")
        labels = pb.placeholder(pb.int32, [None], name="labels")
        learning_rate = pb.placeholder(pb.float32, [], name="learning_rate")
        layers = _Layers(graph, seed)
        x = layers.convolution("conv1", images, CHANNELS[0])
        x = layers.convolution("conv2", x, CHANNELS[1])
        with graph.within("pool1"):
            x = pb.nn.max_pool2d(x, 2, 2, "VALID")
        x = layers.convolution("conv3", x, CHANNELS[2])
        with graph.within("pool2"):
            x = pb.nn.max_pool2d(x, 2, 2, "VALID")
        logits = layers.dense("dense", x, 10)
        with graph.within("loss"):
            losses = pb.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = pb.reduce_mean(losses)
        probabilities = pb.nn.softmax(logits, name="probabilities")
        gradients = pb.gradients(loss, layers.variables)
        step = pb.Variable(0, trainable=False, dtype=pb.int64, name="step")
        optimizer = pb.train.AdamOptimizer(learning_rate)
        train = optimizer.apply_gradients(list(zip(gradients, layers.variables, strict=True)), global_step=step)
        initialize = pb.global_variables_initializer()
        saver = pb.train.Saver()
    return Model(
        graph,
        images,
        labels,
        learning_rate,
        probabilities,
        loss,
        layers.variables,
        gradients,
        train,
        step,
        initialize,
        saver,
    )


class _Layers:
    """Makes layers, each in a name scope of its own, and remembers their variables."""

    def __init__(self, graph: pb.Graph, seed: int) -> None:
        self.variables: list[pb.Variable] = []
        self._graph = graph
        self._random = np.random.default_rng(seed)

    def convolution(self, name: str, x: pb.Tensor, channels: int) -> pb.Tensor:
        """relu(x * kernel + bias), 3x3."""
        with self._graph.within(name):
            kernel = self._kernel([3, 3, *x.shape[-1:].known, channels])
            y = pb.nn.conv2d(x, kernel, strides=1, padding="SAME")
            return pb.nn.relu(pb.nn.bias_add(y, self._bias(channels)))

    def dense(self, name: str, x: pb.Tensor, units: int) -> pb.Tensor:
        """x @ kernel + bias, each image laid out as a vector."""
        with self._graph.within(name):
            size = math.prod(x.shape[1:].known)
            kernel = self._kernel([size, units])
            return pb.nn.bias_add(pb.matmul(pb.reshape(x, [-1, size]), kernel), self._bias(units))

    def _kernel(self, shape: list[int]) -> pb.Variable:
        """He and others (2015): normal numbers of variance 2 / inputs."""
        deviation = math.sqrt(2.0 / math.prod(shape[:-1]))
        return self._variable("kernel", self._random.normal(0.0, deviation, shape))

    def _bias(self, size: int) -> pb.Variable:
        return self._variable("bias", np.zeros(size))

    def _variable(self, name: str, value: np.ndarray[Any, Any]) -> pb.Variable:
        self.variables.append(pb.Variable(value.astype(np.float32), name=name))
        return self.variables[-1]
