"""Warm starting: variables that begin with what another training left in a checkpoint, rows by vocabularies too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

from ....records.files import read_lines
from .checkpoints import PathLike, begin_with, initialize_from


class VocabInfo(NamedTuple):
    """Which rows of a variable stand for which words now, and which did before; -1 words are all of a file.

    `num_oov_buckets` rows follow those of the words. New words begin with what `backup_initializer` gives, zeros
    unless it is said. With `axis=1` the words are along the columns.

    >>> import pullback.compat.v1 as tf
    >>> tf.train.VocabInfo("new.txt", 3, 1, "old.txt").old_vocab_size
    -1
    """

    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int = -1
    backup_initializer: Any = None
    axis: int = 0


def warm_start(
    ckpt_to_initialize_from: PathLike,
    vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Let initializers give variables what a checkpoint has of their names, or of their names there.

    `vars_to_warm_start`: an expression that names of trainable variables begin with, expressions for all variables, or
    variables; with None only those of `var_name_to_vocab_info`.

    Raises:
        ValueError: it is none of these; the checkpoint has no such variable, or one of another shape; what is said of
            a variable is not used.

    >>> import tempfile
    >>> import pullback.compat.v1 as tf
    >>> v = tf.get_variable("v", initializer=1.0)
    >>> with tf.Session() as session, tempfile.TemporaryDirectory() as folder:
    ...     session.run(v.initializer)
    ...     path = tf.train.Saver([v]).save(session, folder + "/model")
    ...     w = tf.get_variable("w", initializer=5.0)
    ...     tf.train.warm_start(path, "w", var_name_to_prev_var_name={"w": "v"})
    ...     session.run(w.initializer)
    ...     session.run(w)
    np.float32(1.0)
    """
    words, before = dict(var_name_to_vocab_info or {}), dict(var_name_to_prev_var_name or {})
    reader = pb.train.NewCheckpointReader(ckpt_to_initialize_from)
    chosen = _chosen(vars_to_warm_start)
    names = {v.op.name for v in chosen}
    chosen += [v for v in pb.all_variables() if v.op.name in words and v.op.name not in names]
    for v in chosen:
        name = v.op.name
        there = before.pop(name, name)
        if name in words:
            _begin_with_words(v, reader, there, words.pop(name))
        else:
            initialize_from(v, reader, there)
    if words or before:
        raise ValueError(
            f"warm_start: nothing is said to begin with a checkpoint of {', '.join(sorted({*words, *before}))}; name "
            "them in vars_to_warm_start, or leave them out of the other arguments"
        )


def _chosen(wanted: Any) -> list[pb.Variable]:
    keys = pb.GraphKeys
    if wanted is None:
        return []
    if isinstance(wanted, str):
        return list(pb.get_collection(keys.TRAINABLE_VARIABLES, wanted))
    if not isinstance(wanted, list):
        raise ValueError(f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(wanted)}")
    if all(isinstance(x, str) for x in wanted):
        return [v for x in wanted for v in pb.get_collection(keys.GLOBAL_VARIABLES, x)]
    if all(isinstance(x, pb.Variable) for x in wanted):
        return list(wanted)
    kinds = sorted({type(x).__name__ for x in wanted})
    raise ValueError(
        f"If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are {kinds}"
    )


def _begin_with_words(v: pb.Variable, reader: pb.train.CheckpointReader, name: str, info: VocabInfo) -> None:
    """Rows of words that were there begin with what they had; the others with what the initializer gives."""
    new, old = _words(info.new_vocab, info.new_vocab_size), _words(info.old_vocab, info.old_vocab_size)
    places = {word: i for i, word in enumerate(old)}
    pairs = [(i, places[word]) for i, word in enumerate(new) if word in places]
    rows, found = np.array(pairs, np.int64).reshape(-1, 2).T
    if v.shape.as_list()[info.axis] != len(new) + info.num_oov_buckets:
        raise ValueError(
            f"warm_start: {v.op.name} has shape {v.shape}, and its vocabulary {len(new)} words and "
            f"{info.num_oov_buckets} buckets for others"
        )
    made = info.backup_initializer or pb.zeros_initializer()

    def joined(fresh: Any) -> Any:
        rest, kept = np.array(np.moveaxis(fresh, info.axis, 0)), np.moveaxis(reader.get_tensor(name), info.axis, 0)
        rest[rows] = kept[found]
        return np.moveaxis(rest, 0, info.axis)

    begin_with(v, joined, lambda: pb.convert_to_tensor(made(v.shape.as_list(), dtype=v.dtype)))


def _words(path: str, size: int) -> list[bytes]:
    lines = list(read_lines(path))
    return lines if size < 0 else lines[:size]
