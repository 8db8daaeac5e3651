"""Checkpoint readers: what a checkpoint has, by name, and the arrays as they are asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core.dtypes import DType
from ..core.errors import NotFoundError
from ..core.types import TensorType
from .places import is_there, place_to_restore, read
from .sharded import SavedSource
from .state_file import latest_checkpoint


@dataclass(frozen=True)
class CheckpointReader:
    """The arrays of a checkpoint by name; those of TensorFlow's are read, and checked, one by one when asked for.

    >>> import tempfile
    >>> import pullback as pb
    >>> v = pb.Variable([1.0, 2.0], name="v")
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pb.train.Saver().save(session, folder + "/model")
    ...     reader = pb.train.load_checkpoint(path)
    >>> reader.get_variable_to_shape_map(), reader.has_tensor("w"), reader.get_tensor("v")
    ({'v': [2]}, False, array([1., 2.], dtype=float32))
    """

    path: Path
    arrays: Mapping[str, SavedSource]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shape of each variable."""
        return {name: list(t.shape.known) for name, t in self._types()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtype of each variable."""
        return {name: t.dtype for name, t in self._types()}

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is an array of that name."""
        return tensor_str in self.arrays

    def get_tensor(self, tensor_str: str) -> np.ndarray[Any, Any]:
        """The array of that name; texts are `bytes`.

        Raises:
            NotFoundError: there is none. DataLossError: the file is torn or was changed.
        """
        saved = self.arrays.get(tensor_str.removesuffix(":0"))
        if saved is None:
            raise NotFoundError(f"{self.path} has no variable '{tensor_str}'")
        return saved.source.whole()

    def debug_string(self) -> bytes:
        """A line for each variable: its name, dtype and shape."""
        return "".join(f"{name} {t}\n" for name, t in self._types()).encode()

    def _types(self) -> list[tuple[str, TensorType]]:
        return [(name, saved.source.type) for name, saved in self.arrays.items() if saved.kind == "variable"]


def load_checkpoint(ckpt_dir_or_file: str | os.PathLike[str]) -> CheckpointReader:
    """A reader of a checkpoint, or of the latest one of a folder: one of pullback, or one of TensorFlow.

    TensorFlow's are recognised by what is there: of version 2 the path is what stands before `.index`, of version 1 it
    is the file, or what stands before `-00000-of-00002`. That needs `pip install 'pullback[tensorflow]'`.

    Raises:
        NotFoundError: there is none. DataLossError: the file is torn, was changed, or is no checkpoint.
        ResourceExhaustedError: it is beyond a limit of `pb.config.Limits`.

    >>> import pullback as pb
    >>> pb.train.load_checkpoint("/nowhere/model-7")
    Traceback (most recent call last):
        ...
    pullback.core.errors.NoCheckpointError: there is no checkpoint at /nowhere/model-7.npz
    """
    path = place_to_restore(ckpt_dir_or_file)
    if os.path.isdir(ckpt_dir_or_file) and not is_there(path):
        latest = latest_checkpoint(ckpt_dir_or_file)
        if latest is None:
            raise NotFoundError(f"there is no checkpoint in the folder {os.fspath(ckpt_dir_or_file)}")
        path = place_to_restore(latest)
    return CheckpointReader(path, read(path))


def list_variables(ckpt_dir_or_file: str | os.PathLike[str]) -> list[tuple[str, list[int]]]:
    """The names and shapes of the variables in a checkpoint, or in the latest one of a folder, by name.

    Raises:
        NotFoundError, DataLossError, ResourceExhaustedError: see `load_checkpoint`.

    >>> import tempfile
    >>> import pullback as pb
    >>> v = pb.Variable([1.0, 2.0], name="v")
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pb.train.Saver().save(session, folder + "/model", global_step=7)
    ...     pb.train.list_variables(folder)
    [('v', [2])]
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: str | os.PathLike[str], name: str) -> np.ndarray[Any, Any]:
    """The array of the variable `name` in a checkpoint, or in the latest one of a folder.

    Raises:
        NotFoundError: there is none. DataLossError, ResourceExhaustedError: see `load_checkpoint`.

    >>> import tempfile
    >>> import pullback as pb
    >>> v = pb.Variable([1.0, 2.0], name="v")
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pb.train.Saver().save(session, folder + "/model", global_step=7)
    ...     pb.train.load_variable(path, "v")
    array([1., 2.], dtype=float32)
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)
