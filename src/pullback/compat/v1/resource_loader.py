"""Files beside a program, as TensorFlow 1 finds them: `tf.resource_loader`."""

from __future__ import annotations

import sys
from os import PathLike, fspath
from pathlib import Path


def get_data_files_path() -> str:
    """The folder of the module that asks."""
    return str(Path(sys._getframe(1).f_code.co_filename).parent)


def get_path_to_datafile(path: str | PathLike[str]) -> str:
    """The file `path` below the folder of the module that asks."""
    return str(Path(sys._getframe(1).f_code.co_filename).parent / path)


def load_resource(path: str | PathLike[str]) -> bytes:
    """The contents of the file `path` below the folder of the module that asks."""
    return (Path(sys._getframe(1).f_code.co_filename).parent / path).read_bytes()


def readahead_file_path(path: str | PathLike[str], readahead: str = "128M") -> str:
    """`path` itself."""
    del readahead
    return fspath(path)
