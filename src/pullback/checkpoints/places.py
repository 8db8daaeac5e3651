"""Checkpoint paths: one file (`.npz`), a folder of shards (`.zarr`), TensorFlow's: found, read and removed alike."""

from __future__ import annotations

import os
from pathlib import Path

from ..engines.shards import source_of
from .files import read_checkpoint
from .sharded import MANIFEST, SavedSource, read_folder, remove_folder
from .tensorflow_files import read_tensorflow, tensorflow_files

FILE, FOLDER, TENSORFLOW = ".npz", ".zarr", ""
"""How paths end."""


def prefix_of(path: str | os.PathLike[str]) -> str:
    """What users call a checkpoint, as in TensorFlow: its path without the ending that says how it is kept."""
    text = os.fspath(path)
    if not os.path.basename(text):
        raise ValueError(f"a checkpoint needs a file name, but the path is {text!r}")
    return text.removesuffix(FILE).removesuffix(FOLDER)


def place_to_save(save_path: str | os.PathLike[str], step: int | str | None, ending: str) -> Path:
    """Where a checkpoint of that path and step is saved."""
    return Path(f"{prefix_of(save_path)}{'' if step is None else f'-{step}'}{ending}")


def place_to_restore(save_path: str | os.PathLike[str]) -> Path:
    """Where the checkpoint of that path is, with or without its ending; the file where there are several, or none."""
    path = Path(save_path)
    if path.suffix in (FILE, FOLDER):
        return path
    places = [Path(prefix_of(save_path) + ending) for ending in (FILE, FOLDER, TENSORFLOW)]
    return next((place for place in places if is_there(place)), places[0])


def read(path: Path) -> dict[str, SavedSource]:
    """The arrays of the checkpoint at `path`: those of our file are read, all others where they are asked for.

    Raises:
        NotFoundError: there is none. DataLossError: it is torn, was changed, or is no checkpoint.
        ResourceExhaustedError: it is beyond a limit of `pb.config.Limits`.
    """
    if path.suffix == FOLDER:
        return read_folder(path)
    if path.suffix != FILE:
        return read_tensorflow(path)
    return {name: SavedSource(array.kind, source_of(array.value)) for name, array in read_checkpoint(path).items()}


def is_there(path: Path) -> bool:
    """Whether there is a checkpoint at `path`; a folder that was not written to its end is none."""
    try:
        head = _head(path)
        return head is not None and head.is_file()
    except OSError:  # a name that is too long for a file
        return False


def time_of(path: Path) -> float:
    """When the checkpoint at `path` was written; 0 where there is none."""
    head = _head(path)
    return head.stat().st_mtime if head is not None and head.is_file() else 0.0


def remove(path: Path, meta_graph_suffix: str = "meta") -> None:
    """Delete the checkpoint at `path`, with the file of its graph."""
    Path(f"{prefix_of(path)}.{meta_graph_suffix}").unlink(missing_ok=True)
    if path.suffix == FOLDER:
        remove_folder(path)
        return
    for file in [path] if path.suffix == FILE else tensorflow_files(path):
        file.unlink(missing_ok=True)


def checkpoint_exists(checkpoint_prefix: str | os.PathLike[str]) -> bool:
    """Whether there is a checkpoint of the path `checkpoint_prefix`, with or without its ending, perhaps TensorFlow's.

    >>> import pullback as pb
    >>> pb.train.checkpoint_exists("/nowhere/model-7")
    False
    """
    return is_there(place_to_restore(checkpoint_prefix))


def _head(path: Path) -> Path | None:
    """The file without which there is no checkpoint."""
    if path.suffix == FOLDER:
        return path / MANIFEST
    return path if path.suffix == FILE else next(iter(tensorflow_files(path)), None)
