"""Checkpoint paths: one file (`.npz`) or a folder of shards (`.zarr`), found, read and removed alike."""

from __future__ import annotations

import os
from pathlib import Path

from ..engines.shards import source_of
from .files import read_checkpoint
from .sharded import MANIFEST, SavedSource, read_folder, remove_folder

FILE, FOLDER = ".npz", ".zarr"


def place_to_save(save_path: str | os.PathLike[str], step: int | str | None, sharded: bool) -> Path:
    """Where a checkpoint of that path and step is saved."""
    return Path(f"{_base(save_path)}{'' if step is None else f'-{step}'}{FOLDER if sharded else FILE}")


def place_to_restore(save_path: str | os.PathLike[str]) -> Path:
    """Where the checkpoint of that path is, with or without its suffix; the file where there are both, or none."""
    path = Path(save_path)
    folder = Path(_base(save_path) + FOLDER)
    if path.suffix == FOLDER or (path.suffix != FILE and is_there(folder) and not is_there(folder.with_suffix(FILE))):
        return folder
    return Path(_base(save_path) + FILE)


def read(path: Path) -> dict[str, SavedSource]:
    """The arrays of the checkpoint at `path`: those of a file are read, those of a folder where they are asked for.

    Raises:
        NotFoundError: there is none. DataLossError: it is torn, was changed, or is no checkpoint of pullback.
        ResourceExhaustedError: it is beyond a limit of `pb.config.Limits`.
    """
    if path.suffix == FOLDER:
        return read_folder(path)
    return {name: SavedSource(array.kind, source_of(array.value)) for name, array in read_checkpoint(path).items()}


def is_there(path: Path) -> bool:
    """Whether there is a checkpoint at `path`; a folder that was not written to its end is none."""
    return _head(path).is_file()


def time_of(path: Path) -> float:
    """When the checkpoint at `path` was written; 0 where there is none."""
    return _head(path).stat().st_mtime if is_there(path) else 0.0


def remove(path: Path) -> None:
    """Delete the checkpoint at `path`."""
    if path.suffix == FOLDER:
        remove_folder(path)
    else:
        path.unlink(missing_ok=True)


def _head(path: Path) -> Path:
    return path / MANIFEST if path.suffix == FOLDER else path


def _base(save_path: str | os.PathLike[str]) -> str:
    base = os.fspath(save_path)
    if not os.path.basename(base):
        raise ValueError(f"a checkpoint needs a file name, but the path is {base!r}")
    return base.removesuffix(FILE).removesuffix(FOLDER)
