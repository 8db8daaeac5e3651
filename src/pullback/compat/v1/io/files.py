"""Files in graphs of TensorFlow 1: read whole, written, looked for by pattern, when the graph runs.

>>> import os, tempfile
>>> import pullback.compat.v1 as tf
>>> with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
...     name = os.path.join(folder, "text")
...     session.run(tf.write_file(name, "ab"))
...     found = tf.train.match_filenames_once(os.path.join(folder, "*"))
...     session.run(tf.local_variables_initializer())
...     [path.decode() == name for path in session.run(found)]
[True]
"""

from __future__ import annotations

import os
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import TensorLike
from ....primitives.creation.constant import as_array
from ....records.files import read_whole

Array = np.ndarray[Any, Any]


def read_file(filename: TensorLike, name: str | None = None) -> pb.Tensor:
    """The bytes of a file.

    Raises:
        InvalidArgumentError: from a run, if there is no such file.

    >>> import tempfile
    >>> import pullback.compat.v1 as tf
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     tf.Session().run([tf.write_file(file.name, "text"), tf.read_file(file.name)])
    [None, b'text']
    """

    def read(path: Array) -> Array:
        return as_array(read_whole(path.item()), pb.string)

    found: pb.Tensor = pb.numpy_function(read, [filename], pb.TensorSpec([], pb.string), name=name or "ReadFile")
    return found


@in_graph_of_inputs
def write_file(filename: TensorLike, contents: TensorLike, name: str | None = None) -> pb.Operation:
    """An operation that writes a file, and the folders around it."""

    def write(path: Array, data: Array) -> None:
        place = Path(os.fsdecode(path.item()))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data.item())

    made: pb.Operation = pb.numpy_function(write, [filename, contents], [], name=name or "WriteFile")
    return made


def matching_files(pattern: TensorLike, name: str | None = None) -> pb.Tensor:
    """The names of the files that match a pattern, or one of several, in order.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.matching_files("/nowhere/*")).tolist()
    []
    """

    def match(patterns: Array) -> Array:
        return as_array(sorted({path for text in patterns.flat for path in glob(text)}), pb.string)

    found: pb.Tensor = pb.numpy_function(
        match, [pb.convert_to_tensor(pattern)], pb.TensorSpec([None], pb.string), name=name or "MatchingFiles"
    )
    return found


def match_filenames_once(pattern: TensorLike, name: str | None = None) -> pb.Tensor:
    """As `matching_files`; TensorFlow keeps the names in a local variable, and here they are looked for each time."""
    return matching_files(pattern, name or "matching_filenames")
