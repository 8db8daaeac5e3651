"""TensorFlow's checkpoints, of version 2 (tensor bundles) and of version 1 (saved tensor slices), as ours are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..core.dtypes import string
from ..core.errors import DataLossError
from ..core.shape import TensorShape
from ..core.types import TensorType
from ..engines.shards import Index, Source
from .files import SavedArray
from .messages import parsed
from .sharded import SavedSource
from .tensor_bundle import TensorBundle, bundle_files, is_bundle, open_bundle, write_bundle
from .tensor_slices import TensorSlices, files_of_slices, open_slices

_STATE = "pullback.state/"
"""What the names of the states of operations begin with, beside those of variables."""
_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


def tensorflow_files(path: Path) -> list[Path]:
    """The files of a checkpoint that are there, first the one without which there is none."""
    return bundle_files(path) if is_bundle(path) else files_of_slices(path)


def read_tensorflow(path: Path) -> dict[str, SavedSource]:
    """The arrays of the checkpoint at `path`, which are read and checked when they are asked for.

    Raises:
        NotFoundError: there is none. DataLossError: it is torn or was changed.
        ResourceExhaustedError: it is beyond a limit of `pb.config.Limits`.
    """
    opened = open_slices(path) if files_of_slices(path) else open_bundle(path)
    return {
        name.removeprefix(_STATE): SavedSource(
            "state" if name.startswith(_STATE) else "variable", _source(opened, name)
        )
        for name in opened.types
    }


def write_tensorflow(path: Path, arrays: Mapping[str, SavedArray]) -> None:
    """Puts a checkpoint of version 2 of `arrays` at `path`."""
    write_bundle(path, {(_STATE if a.kind == "state" else "") + name: a.value for name, a in arrays.items()})


def names_of_objects(path: Path, saved: Mapping[str, SavedSource]) -> dict[str, str]:
    """The keys in a checkpoint of objects (`tf.train.Checkpoint`), ways through them, by the names of the variables."""
    if _GRAPH not in saved:
        return {}
    if saved[_GRAPH].source.type != TensorType(string, TensorShape([])):
        raise DataLossError(f"{path} is damaged: {_GRAPH} is {saved[_GRAPH].source.type}")
    from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

    graph = parsed(path, _GRAPH, TrackableObjectGraph, saved[_GRAPH].source.whole().item())
    attributes = [attribute for node in graph.nodes for attribute in node.attributes]
    return {a.full_name: a.checkpoint_key for a in attributes if a.checkpoint_key in saved}


def _source(opened: TensorBundle | TensorSlices, name: str) -> Source:
    def read(index: Index) -> np.ndarray[Any, Any]:
        whole: Any = opened.read(name)
        part: np.ndarray[Any, Any] = whole[(*index, ...)]
        return part

    return Source(opened.types[name], read)
