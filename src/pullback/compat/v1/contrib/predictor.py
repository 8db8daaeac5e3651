"""Predictors: SavedModels as functions of dictionaries of arrays: `tf.contrib.predictor`.

>>> import tempfile
>>> import pullback.compat.v1 as tf
>>> with tempfile.TemporaryDirectory() as folder:
...     with tf.Graph().as_default(), tf.Session() as session:
...         x = tf.placeholder(tf.float32, [None], name="x")
...         tf.saved_model.simple_save(session, folder + "/model", {"x": x}, {"y": 2.0 * x})
...     predict = tf.contrib.predictor.from_saved_model(folder + "/model")
...     predict({"x": [1.0, 2.0]})
{'y': array([2., 4.], dtype=float32)}
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fsdecode
from typing import Any

import pullback as pb

from ....graphdef import loader, signature_constants


class Predictor:
    """A function from arrays by name to arrays by name, of a graph and a session of its own."""

    def __init__(self, session: pb.Session, inputs: Mapping[str, pb.Tensor], outputs: Mapping[str, pb.Tensor]) -> None:
        self.session = session
        self.feed_tensors, self.fetch_tensors = dict(inputs), dict(outputs)

    @property
    def graph(self) -> pb.Graph:
        """The graph of the model."""
        return self.session.graph

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs for these inputs; those that are None are not fed.

        Raises:
            ValueError: an input has another name.
        """
        unexpected = set(input_dict) - set(self.feed_tensors)
        if unexpected:
            raise ValueError(
                f"Got unexpected keys in input_dict: {sorted(unexpected)}; expected: {sorted(self.feed_tensors)}"
            )
        feeds = {self.feed_tensors[key]: value for key, value in input_dict.items() if value is not None}
        found: dict[str, Any] = self.session.run(self.fetch_tensors, feeds)
        return found

    def __repr__(self) -> str:
        return f"Predictor with feed tensors {self.feed_tensors} and fetch_tensors {self.fetch_tensors}"


def from_saved_model(
    export_dir: str | PathLike[str],
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | None = None,
    graph: pb.Graph | None = None,
    config: Any = None,
) -> Predictor:
    """The predictor of the SavedModel in `export_dir`.

    A signature says what its inputs and outputs are, "serving_default" unless another is named or given; or
    `input_names` and `output_names` do, names of tensors by names of one's own. `tags` are separated by commas, "serve"
    if None.

    Raises:
        ValueError: two ways to say what the inputs are, or half of one; there is no such signature.
        NotFoundError: there is no SavedModel with these tags.
    """
    if signature_def_key is not None and signature_def is not None:
        raise ValueError("Only one of signature_def_key or signature_def may be specified.")
    if (input_names is None) != (output_names is None):
        raise ValueError("input_names and output_names must both be specified or both be unspecified.")
    if input_names is not None and (signature_def_key is not None or signature_def is not None):
        raise ValueError("You may not specify input_names and output_names if you specify a signature.")
    own = graph or pb.Graph()
    with own.as_default():
        session = pb.Session(graph=own, config=config)
        model = loader.load(session, (tags or "serve").split(","), fsdecode(export_dir))
    if input_names is None or output_names is None:
        signature = signature_def or _signature(model, signature_def_key)
        input_names = {key: info.name for key, info in signature.inputs.items()}
        output_names = {key: info.name for key, info in signature.outputs.items()}
    inputs, outputs = [
        {key: own.get_tensor_by_name(name) for key, name in names.items()} for names in (input_names, output_names)
    ]
    return Predictor(session, inputs, outputs)


def _signature(model: Any, asked: str | None) -> Any:
    """The signature of that key; ValueError where there is none."""
    key = asked or signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if key not in model.signature_def:
        raise ValueError(f'Got signature_def_key "{key}". Available signatures are {sorted(model.signature_def)}.')
    return model.signature_def[key]
