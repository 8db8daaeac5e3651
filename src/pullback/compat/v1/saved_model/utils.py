"""Tensor descriptions (`TensorInfo`) in SavedModels: `tf.saved_model.utils`."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ....graphdef.messages import messages
from ....graphdef.saving import describe


def build_tensor_info(tensor: Any) -> Any:
    """The TensorInfo of a tensor: its name, dtype and shape.

    >>> import pullback.compat.v1 as tf
    >>> info = tf.saved_model.utils.build_tensor_info(tf.placeholder(tf.float32, [None, 3], name="x"))
    >>> info.name, [d.size for d in info.tensor_shape.dim]
    ('x:0', [-1, 3])
    """
    info = messages().MetaGraphDef().signature_def["_"].inputs["_"]
    describe(info, pb.convert_to_tensor(tensor))
    return info


def get_tensor_from_tensor_info(
    tensor_info: Any, graph: pb.Graph | None = None, import_scope: str | None = None
) -> pb.Tensor:
    """The tensor of a graph, the default one for None, that a TensorInfo names, below `import_scope`.

    Raises:
        KeyError: there is no such tensor.

    >>> import pullback.compat.v1 as tf
    >>> info = tf.saved_model.utils.build_tensor_info(tf.constant(1.0, name="one"))
    >>> tf.saved_model.utils.get_tensor_from_tensor_info(info)
    <Tensor 'one:0' float32[]>
    """
    name = f"{import_scope}/{tensor_info.name}" if import_scope else tensor_info.name
    return (graph or pb.get_default_graph()).get_tensor_by_name(name)
