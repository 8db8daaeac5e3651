"""Signatures of SavedModels: `tf.saved_model.signature_def_utils`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pullback as pb

from ....graphdef import signature_constants as names
from ....graphdef.messages import messages
from .utils import build_tensor_info


def build_signature_def(
    inputs: Mapping[str, Any] | None = None, outputs: Mapping[str, Any] | None = None, method_name: str | None = None
) -> Any:
    """The SignatureDef of TensorInfos by name.

    >>> import pullback.compat.v1 as tf
    >>> info = tf.saved_model.utils.build_tensor_info(tf.constant(1.0, name="one"))
    >>> tf.saved_model.signature_def_utils.build_signature_def({}, {"y": info}, "predict").outputs["y"].name
    'one:0'
    """
    made = messages().MetaGraphDef().signature_def["_"]
    for infos, given in ((made.inputs, inputs or {}), (made.outputs, outputs or {})):
        for key, info in given.items():
            infos[key].CopyFrom(info)
    made.method_name = method_name or ""
    return made


def predict_signature_def(inputs: Mapping[str, pb.Tensor], outputs: Mapping[str, pb.Tensor]) -> Any:
    """The SignatureDef of a prediction, of tensors by name.

    Raises:
        ValueError: there are none on a side.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.placeholder(tf.float32, [], name="x")
    >>> tf.saved_model.signature_def_utils.predict_signature_def({"x": x}, {"y": tf.sin(x)}).method_name
    'tensorflow/serving/predict'
    """
    for side, tensors in (("inputs", inputs), ("outputs", outputs)):
        if not tensors:
            raise ValueError(f"predict_signature_def: there are no {side}; name one tensor at least")
    return _of(names.PREDICT_METHOD_NAME, inputs, outputs)


def regression_signature_def(examples: pb.Tensor, predictions: pb.Tensor) -> Any:
    """The SignatureDef of a regression: of texts with examples, and of float32 predictions."""
    return _of(names.REGRESS_METHOD_NAME, {names.REGRESS_INPUTS: examples}, {names.REGRESS_OUTPUTS: predictions})


def classification_signature_def(examples: pb.Tensor, classes: pb.Tensor | None, scores: pb.Tensor | None) -> Any:
    """The SignatureDef of a classification: of texts with examples, and of classes, scores, or both.

    Raises:
        ValueError: both are None.
    """
    given = {names.CLASSIFY_OUTPUT_CLASSES: classes, names.CLASSIFY_OUTPUT_SCORES: scores}
    outputs = {key: tensor for key, tensor in given.items() if tensor is not None}
    if not outputs:
        raise ValueError("classification_signature_def: classes and scores are None; give one of them")
    return _of(names.CLASSIFY_METHOD_NAME, {names.CLASSIFY_INPUTS: examples}, outputs)


def is_valid_signature(signature_def: Any) -> bool:
    """Whether a SignatureDef has a known method, and inputs and outputs."""
    methods = (names.CLASSIFY_METHOD_NAME, names.PREDICT_METHOD_NAME, names.REGRESS_METHOD_NAME)
    return bool(signature_def.method_name in methods and signature_def.inputs and signature_def.outputs)


def _of(method: str, inputs: Mapping[str, pb.Tensor], outputs: Mapping[str, pb.Tensor]) -> Any:
    first, second = ({key: build_tensor_info(x) for key, x in tensors.items()} for tensors in (inputs, outputs))
    return build_signature_def(first, second, method)
