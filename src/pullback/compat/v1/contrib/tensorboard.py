"""Embedding projector: the file that tells TensorBoard which variables to show as points, and with which labels."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes `config`, a `projector.ProjectorConfig`, as `projector_config.pbtxt` into the folder of a summary writer.

    >>> import tempfile, pullback.compat.v1 as tf
    >>> projector = tf.contrib.tensorboard.plugins.projector
    >>> config = projector.ProjectorConfig()
    >>> config.embeddings.add().tensor_name = "words:0"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     projector.visualize_embeddings(tf.summary.FileWriter(folder), config)
    ...     print((Path(folder) / "projector_config.pbtxt").read_text())
    embeddings {
      tensor_name: "words:0"
    }
    <BLANKLINE>
    """
    from google.protobuf import text_format

    folder = summary_writer.get_logdir() if hasattr(summary_writer, "get_logdir") else summary_writer
    Path(folder, "projector_config.pbtxt").write_text(text_format.MessageToString(config), encoding="utf-8")


class _Projector(SimpleNamespace):
    """The module `projector`, whose messages are those of the package tensorboard."""

    def __getattr__(self, name: str) -> Any:
        from tensorboard.plugins.projector import projector_config_pb2

        return getattr(projector_config_pb2, name)


plugins = SimpleNamespace(projector=_Projector(visualize_embeddings=visualize_embeddings))
