"""Inputs for `--check`: arrays that the user gave, and random ones of lengths with which the model runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..core.dtypes import FLOATING, as_dtype
from ..core.errors import InvalidArgumentError
from ..core.limits import reading
from ..core.operation import Tensor
from ..core.shape import TensorShape
from ..core.traits import CONSTANT
from ..core.types import TensorType
from ..onnx.model import OnnxGraph

OPEN_LENGTHS = ((2, 2), (2, 8), (1, 32), (1, 64), (1, 256), (1, 1024))
"""For axes that a model leaves open: the length of first axes, and that of others; tried in this order."""
Array = np.ndarray[Any, Any]


def given_feeds(
    texts: Mapping[str, str], inputs: Mapping[str, Tensor], random: np.random.Generator
) -> dict[str, Array]:
    """Arrays for the inputs that `texts` names: from a file NAME.npy, or random ones of a shape such as 1,3,224,224.

    Raises:
        InvalidArgumentError: there is no such input; the text is neither; the input has another dtype or shape.
    """
    feeds = {}
    for name, text in texts.items():
        if name not in inputs:
            raise InvalidArgumentError(f"--feed: there is no input '{name}'; there are {', '.join(inputs)}")
        x = inputs[name]
        if text.endswith(".npy"):
            feeds[name] = _in_file(Path(text))
        else:
            feeds[name] = _random(random, x, _shape(name, text))
        found = feeds[name]
        if found.dtype != x.dtype or not x.shape.is_compatible_with(found.shape):
            kind = TensorType(as_dtype(found.dtype), TensorShape(found.shape))
            raise InvalidArgumentError(f"--feed: the input '{name}' is {x.type}; {text} is {kind}")
    return feeds


def _in_file(path: Path) -> Array:
    try:
        found = np.load(path, allow_pickle=False)
    except (EOFError, ValueError) as error:
        raise InvalidArgumentError(f"--feed: {path} is no file of an array: {error}") from error
    if not isinstance(found, np.ndarray):
        raise InvalidArgumentError(f"--feed: {path} is no file of an array, but an archive of some")
    return found


def _shape(name: str, text: str) -> list[int]:
    lengths = text.split(",") if text else []
    if not all(n.strip().isdecimal() for n in lengths):
        raise InvalidArgumentError(f"--feed: {name}={text} is neither a shape such as 1,3,224,224 nor a file FILE.npy")
    return [int(n) for n in lengths]


def tried_feeds(
    graph: OnnxGraph, inputs: Mapping[str, Tensor], given: Mapping[str, Array], random: np.random.Generator
) -> Iterator[tuple[dict[str, int], dict[str, Array]]]:
    """Feeds for all inputs, with the lengths that open axes were given in them, one set for each of `OPEN_LENGTHS`.

    Axes that have a name have one length wherever they are. Where nothing is open there is one set.

    Raises:
        InvalidArgumentError: the rank of an input is not known.
    """
    named = {
        dim: length
        for name, array in given.items()
        for dim, length in zip(graph.dims.get(name, ()), array.shape, strict=False)
        if isinstance(dim, str)
    }
    for first, rest in OPEN_LENGTHS:
        feeds, lengths = dict(given), dict(named)
        for name, x in inputs.items():
            if name not in given:
                feeds[name] = _filled(random, graph, name, x, first, rest, lengths)
        opened = {key: n for key, n in lengths.items() if key not in named}
        yield opened, feeds
        if not opened:
            return


def _filled(
    random: np.random.Generator, graph: OnnxGraph, name: str, x: Tensor, first: int, rest: int, lengths: dict[str, int]
) -> Array:
    if CONSTANT in x.op.primitive.traits:
        value: Array = x.op.get_attr("value")
        return value
    if x.shape.rank is None:
        raise InvalidArgumentError(f"--check: the rank of the input '{name}' is not known; say --feed {name}=SHAPE")
    shape = []
    dims = graph.dims.get(name, ())
    for axis, n in enumerate(x.shape.as_list()):
        dim = dims[axis] if axis < len(dims) and isinstance(dims[axis], str) else f"{name}[{axis}]"
        shape.append(n if n is not None else lengths.setdefault(str(dim), rest if axis else first))
    return _random(random, x, shape)


def _random(random: np.random.Generator, x: Tensor, shape: list[int]) -> Array:
    dtype = np.dtype(x.dtype.name)
    reading().takes_bytes(math.prod(shape) * np.dtype(np.float64).itemsize)
    if x.dtype in FLOATING:
        return np.asarray(random.standard_normal(shape)).astype(dtype)
    return np.asarray(random.integers(0, 2, shape)).astype(dtype)
