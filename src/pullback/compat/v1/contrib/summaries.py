"""Summaries of variables and activations: `tf.contrib.layers.summarize_tensor` and its like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from ..summary import histogram, scalar


def summarize_tensor(tensor: TensorLike, tag: str | None = None) -> Any:
    """A summary of a tensor: a scalar, or a histogram."""
    x = pb.convert_to_tensor(tensor)
    name = tag or x.op.name
    return scalar(name, x) if x.shape.rank == 0 else histogram(name, x)


def summarize_activation(op: TensorLike) -> Any:
    """A histogram of an activation."""
    x = pb.convert_to_tensor(op)
    return histogram(f"{x.op.name}/activation", x)


def summarize_tensors(tensors: Sequence[Any], summarizer: Callable[..., Any] = summarize_tensor) -> list[Any]:
    """A summary of each."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: str, name_filter: str | None = None, summarizer: Callable[..., Any] = summarize_tensor
) -> list[Any]:
    """A summary of each element of a collection whose name fits."""
    return summarize_tensors(pb.get_collection(collection, name_filter), summarizer)


def summarize_variables(name_filter: str | None = None, summarizer: Callable[..., Any] = summarize_tensor) -> list[Any]:
    """A summary of each variable of the model."""
    return summarize_collection(pb.GraphKeys.MODEL_VARIABLES, name_filter, summarizer)


def summarize_weights(name_filter: str | None = None, summarizer: Callable[..., Any] = summarize_tensor) -> list[Any]:
    """A summary of each of the collection `WEIGHTS`."""
    return summarize_collection(pb.GraphKeys.WEIGHTS, name_filter, summarizer)


def summarize_biases(name_filter: str | None = None, summarizer: Callable[..., Any] = summarize_tensor) -> list[Any]:
    """A summary of each of the collection `BIASES`."""
    return summarize_collection(pb.GraphKeys.BIASES, name_filter, summarizer)


def summarize_activations(
    name_filter: str | None = None, summarizer: Callable[..., Any] = summarize_activation
) -> list[Any]:
    """A summary of each of the collection `ACTIVATIONS`."""
    return summarize_collection(pb.GraphKeys.ACTIVATIONS, name_filter, summarizer)
