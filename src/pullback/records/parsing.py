"""Parsing of serialized examples: tensors of texts become tensors of what the examples have, as features describe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..control_flow.py_function import numpy_function
from ..control_flow.signature import TensorSpec
from ..core.dtypes import string
from ..core.errors import InvalidArgumentError
from ..core.operation import Tensor
from ..core.shape import TensorShape
from ..core.typing import TensorLike
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.debugging.inspection import get_static_value
from ..primitives.sparse.sparse_tensor import SparseTensor
from .features import (
    Array,
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    check_dtype,
)
from .messages import messages

Feature = FixedLenFeature | FixedLenSequenceFeature | VarLenFeature | SparseFeature
Features = Mapping[str, Feature]
Parsed = dict[str, Tensor | SparseTensor]
_SHOWN = 60


def parse_example(
    serialized: TensorLike, features: Features, name: str | None = None, example_names: TensorLike | None = None
) -> Parsed:
    """What a batch of examples has, by name: tensors and SparseTensors, whose first axis counts examples.

    Shapes: `serialized` [n]; the results [n, ...] as `features` say. Dtypes: string; of the results float32, int64 or
    string.

    Raises:
        TypeError: a feature of another dtype. ValueError: no features, or a `serialized` that is no vector.
        InvalidArgumentError: from a run, for what is no example, or lacks what `features` ask for.

    >>> import pullback.compat.v1 as tf
    >>> lists = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))}
    >>> text = tf.train.Example(features=tf.train.Features(feature=lists)).SerializeToString()
    >>> parsed = tf.parse_example([text, text], {"x": tf.FixedLenFeature([2], tf.float32)})
    >>> tf.Session().run(parsed["x"]).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    del example_names
    texts, batch = _texts("parse_example", serialized, 1)
    features = _checked("parse_example", features)
    outputs = {key: feature.specs(batch) for key, feature in features.items()}

    def parse(array: Array) -> list[Array]:
        examples = [_message("Example", data).features.feature for data in array]
        return [a for key in outputs for a in features[key].arrays(key, examples, True)]

    return _called(parse, texts, features, outputs, name or "ParseExample")


def parse_single_example(
    serialized: TensorLike, features: Features, name: str | None = None, example_names: TensorLike | None = None
) -> Parsed:
    """What one example has, by name: see `parse_example`, without the first axis.

    Raises:
        TypeError, ValueError, InvalidArgumentError: see `parse_example`.

    >>> import pullback.compat.v1 as tf
    >>> lists = {"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[7, 8]))}
    >>> text = tf.train.Example(features=tf.train.Features(feature=lists)).SerializeToString()
    >>> parsed = tf.parse_single_example(text, {"n": tf.VarLenFeature(tf.int64)})
    >>> tf.Session().run(parsed["n"].values)
    array([7, 8])
    """
    del example_names
    text, batch = _texts("parse_single_example", serialized, 0)
    features = _checked("parse_single_example", features)
    outputs = {key: feature.specs(batch) for key, feature in features.items()}

    def parse(array: Array) -> list[Array]:
        examples = [_message("Example", array.item()).features.feature]
        return [a for key in outputs for a in features[key].arrays(key, examples, False)]

    return _called(parse, text, features, outputs, name or "ParseSingleExample")


def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    example_name: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Parsed, Parsed]:
    """What the context of an example of sequences has by name, and what its sequences have, a row for each step.

    Raises:
        TypeError, InvalidArgumentError: see `parse_example`. ValueError: as there, or for a sequence whose rows are
        neither a `FixedLenSequenceFeature` nor a `VarLenFeature`.

    >>> import pullback.compat.v1 as tf
    >>> step = tf.train.Feature(int64_list=tf.train.Int64List(value=[5]))
    >>> lists = tf.train.FeatureLists(feature_list={"word": tf.train.FeatureList(feature=[step, step])})
    >>> text = tf.train.SequenceExample(feature_lists=lists).SerializeToString()
    >>> features = {"word": tf.FixedLenSequenceFeature([], tf.int64)}
    >>> _, sequences = tf.parse_single_sequence_example(text, sequence_features=features)
    >>> tf.Session().run(sequences["word"])
    array([5, 5])
    """
    del example_name
    what = "parse_single_sequence_example"
    text, batch = _texts(what, serialized, 0)
    context, sequences = dict(context_features or {}), _sequences(what, sequence_features or {})
    if context or not sequences:
        context = dict(_checked(what, context))
    outputs = {("context", key): feature.specs(batch) for key, feature in context.items()}
    for key, feature in sequences.items():
        outputs["sequence", key] = feature.specs(TensorShape([None]) if isinstance(feature, VarLenFeature) else batch)

    def parse(array: Array) -> list[Array]:
        example = _message("SequenceExample", array.item())
        alone = [a for key, f in context.items() for a in f.arrays(key, [example.context.feature], False)]
        lists = example.feature_lists.feature_list
        return alone + [a for key, f in sequences.items() for a in f.sequence_arrays(key, lists)]

    both = {("context", key): f for key, f in context.items()} | {("sequence", key): f for key, f in sequences.items()}
    found = _called(parse, text, both, outputs, name or "ParseSingleSequenceExample")
    return {k: found["context", k] for k in context}, {k: found["sequence", k] for k in sequences}


def _sequences(what: str, features: Features) -> dict[str, FixedLenSequenceFeature | VarLenFeature]:
    """The descriptions of sequences; ValueError for one that describes none."""
    found = {}
    for key, feature in features.items():
        if not isinstance(feature, FixedLenSequenceFeature | VarLenFeature):
            raise ValueError(f"{what}: '{key}' must be a FixedLenSequenceFeature or a VarLenFeature, not {feature}")
        check_dtype(key, feature.dtype)
        found[key] = feature
    return found


def _checked(what: str, features: Features) -> Features:
    """The features of examples, whose defaults are arrays.

    Raises:
        ValueError: there are none, or one is none. TypeError: one is of another dtype.
    """
    if not features:
        raise ValueError(f"Missing: features was {features}; {what} needs a description of each")
    for key, feature in features.items():
        if not isinstance(feature, Feature):
            raise ValueError(f"{what}: '{key}' must be a FixedLenFeature or one of its like, not {feature!r}")
        if isinstance(feature, FixedLenSequenceFeature) and not feature.allow_missing:
            raise ValueError(f"Unsupported: FixedLenSequenceFeature requires allow_missing to be True. (key: {key})")
        check_dtype(key, feature.dtype)
    return {key: _with_array(key, feature) for key, feature in features.items()}


def _with_array(key: str, feature: Feature) -> Feature:
    """A feature whose default is no tensor."""
    if isinstance(feature, VarLenFeature | SparseFeature) or not isinstance(feature.default_value, Tensor):
        return feature
    value = get_static_value(feature.default_value)
    if value is None:
        raise ValueError(f"the default {feature.default_value} of feature '{key}' must be a constant")
    return feature._replace(default_value=value)


def _texts(what: str, serialized: TensorLike, rank: int) -> tuple[Tensor, TensorShape]:
    """The texts, and their shape."""
    texts = convert_to_tensor(serialized)
    if texts.dtype != string or texts.shape.rank not in (None, rank):
        wanted = "a vector of texts" if rank else "one text"
        raise ValueError(f"{what}: serialized must be {wanted}, not {texts}")
    return texts, texts.shape.merge_with(TensorShape([None] * rank))


def _message(kind: str, data: Any) -> Any:
    """The message that a text holds.

    Raises:
        InvalidArgumentError: it holds none.
    """
    from google.protobuf.message import DecodeError

    try:
        return getattr(messages(), kind).FromString(data)
    except DecodeError:
        shown = repr(data[:_SHOWN]) + ("..." if len(data) > _SHOWN else "")
        raise InvalidArgumentError(f"Could not parse {kind} input, value: {shown}") from None


def _called(
    parse: Callable[[Array], list[Array]],
    texts: Tensor,
    features: Mapping[Any, Feature],
    outputs: Mapping[Any, Sequence[TensorSpec]],
    name: str,
) -> dict[Any, Tensor | SparseTensor]:
    """The tensors of the arrays that `parse` gives, by key; three arrays are a SparseTensor."""
    specs = [spec for part in outputs.values() for spec in part]

    def call(array: Array) -> Any:
        arrays = parse(array)
        return arrays[0] if len(arrays) == 1 else arrays

    tensors = iter(numpy_function(call, [texts], specs, stateful=False, name=name))
    return {key: _value(features[key], tensors) for key in outputs}


def _value(feature: Feature, tensors: Any) -> Tensor | SparseTensor:
    if isinstance(feature, VarLenFeature | SparseFeature):
        return SparseTensor(next(tensors), next(tensors), next(tensors))
    value: Tensor = next(tensors)
    return value
