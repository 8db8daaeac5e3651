"""SavedModel builder: `tf.saved_model.builder`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

import pullback as pb

from ....graphdef.saving import check_empty, meta_graph_of, values_of, write_model
from .constants import ASSETS_DIRECTORY, LEGACY_INIT_OP_KEY, MAIN_OP_KEY


class SavedModelBuilder:
    """Collects graphs with tags and signatures, and the values of variables, and writes them as a SavedModel.

    Raises:
        ValueError: there is something in the folder `export_dir`.

    >>> import tempfile
    >>> import pullback.compat.v1 as tf
    >>> x = tf.placeholder(tf.float32, [], name="x")
    >>> w = tf.get_variable("w", initializer=3.0)
    >>> offered = tf.saved_model.signature_def_utils.predict_signature_def({"x": x}, {"y": w * x})
    >>> session = tf.Session()
    >>> session.run(tf.global_variables_initializer())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     builder = tf.saved_model.builder.SavedModelBuilder(folder + "/model")
    ...     builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": offered})
    ...     _ = builder.save()
    ...     with tf.Session(graph=tf.Graph()) as other:
    ...         meta = tf.saved_model.loader.load(other, ["serve"], folder + "/model")
    ...         other.run(meta.signature_def["serving_default"].outputs["y"].name, {"x:0": 2.0})
    np.float32(6.0)
    """

    def __init__(self, export_dir: str | PathLike[str]) -> None:
        self._folder = Path(export_dir)
        check_empty(self._folder)
        self._metas: list[Any] = []
        self._assets: dict[str, Path] = {}
        self._values: dict[str, np.ndarray[Any, Any]] | None = None

    def add_meta_graph_and_variables(
        self,
        sess: pb.Session,
        tags: Sequence[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Any = None,
        legacy_init_op: pb.Operation | None = None,
        clear_devices: bool = False,
        main_op: pb.Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the graph of a session, the values of its variables, and files whose paths are constants of the graph.

        Raises:
            RuntimeError: values were added before. UnimplementedError: an operation has no pendant in TensorFlow.
            ValueError: an asset is no constant path. FailedPreconditionError: a variable has no value.
        """
        del strip_default_attrs, saver
        if self._values is not None:
            raise RuntimeError("SavedModelBuilder: variables were added before; further graphs go by add_meta_graph")
        with sess.graph.as_default():
            self._add(tags, signature_def_map, assets_collection, legacy_init_op, clear_devices, main_op)
        self._values = values_of(sess)

    def add_meta_graph(
        self,
        tags: Sequence[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Any = None,
        legacy_init_op: pb.Operation | None = None,
        clear_devices: bool = False,
        main_op: pb.Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the default graph, whose variables have the values that were added.

        Raises:
            RuntimeError: none were. UnimplementedError: an operation has no pendant in TensorFlow. ValueError: an asset
            is no constant path.
        """
        del strip_default_attrs, saver
        if self._values is None:
            raise RuntimeError("SavedModelBuilder: no variables were added; begin with add_meta_graph_and_variables")
        self._add(tags, signature_def_map, assets_collection, legacy_init_op, clear_devices, main_op)

    def save(self, as_text: bool = False) -> bytes:
        """Writes all; the path of the file with the graphs, as bytes.

        Raises:
            RuntimeError: there is no graph.
        """
        if self._values is None:
            raise RuntimeError("SavedModelBuilder: there is no graph; add one with add_meta_graph_and_variables")
        for name, path in self._assets.items():
            (self._folder / ASSETS_DIRECTORY).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, self._folder / ASSETS_DIRECTORY / name)
        return str(write_model(self._folder, self._metas, self._values, as_text)).encode()

    def _kept(self, asset: pb.Tensor) -> str:
        """The name that the file of an asset has in the folder of assets."""
        value = pb.get_static_value(asset)
        if value is None or np.size(value) != 1:
            raise ValueError(f"SavedModelBuilder: an asset is a constant with the path of a file, not {asset}")
        path = Path(os.fsdecode(np.ravel(value)[0]))
        known = self._assets.get(path.name, path)
        if known != path:
            raise ValueError(f"SavedModelBuilder: two assets are called '{path.name}': {known}, {path}")
        if not path.is_file():
            raise ValueError(f"SavedModelBuilder: there is no file {path}, which is to go with the model")
        self._assets[path.name] = path
        return path.name

    def _add(
        self,
        tags: Sequence[str],
        signatures: Mapping[str, Any] | None,
        assets: Any,
        legacy_init_op: pb.Operation | None,
        clear_devices: bool,
        main_op: pb.Operation | None,
    ) -> None:
        meta = meta_graph_of(pb.get_default_graph(), tags)
        for asset in assets or ():
            meta.asset_file_def.add(filename=self._kept(asset)).tensor_info.name = asset.name
        for name, signature in (signatures or {}).items():
            meta.signature_def[name].CopyFrom(signature)
        for node in meta.graph_def.node if clear_devices else ():
            node.ClearField("device")
        for key, op in ((MAIN_OP_KEY, main_op), (LEGACY_INIT_OP_KEY, legacy_init_op)):
            if op is not None:
                meta.collection_def[key].node_list.value.append(op.name)
        self._metas.append(meta)
