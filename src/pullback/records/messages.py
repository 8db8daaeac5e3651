"""Protocol messages of examples: `feature.proto` and `example.proto` of TensorFlow, which tensorboard does not ship."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..core.protocol import described

_MESSAGES = {
    "BytesList": "1 value *bytes",
    "FloatList": "1 value *float",
    "Int64List": "1 value *int64",
    "Feature": (
        "1 bytes_list |.pullback.BytesList, 2 float_list |.pullback.FloatList, 3 int64_list |.pullback.Int64List"
    ),
    "Features": "1 feature >.pullback.Feature",
    "FeatureList": "1 feature *.pullback.Feature",
    "FeatureLists": "1 feature_list >.pullback.FeatureList",
    "Example": "1 features .pullback.Features",
    "SequenceExample": "1 context .pullback.Features, 2 feature_lists .pullback.FeatureLists",
}
NAMES = tuple(_MESSAGES)


@cache
def messages() -> Any:
    """The classes of the messages, by name.

    Raises:
        ImportError: the package protobuf is not installed.

    >>> made = messages()
    >>> floats = made.Feature(float_list=made.FloatList(value=[1.0]))
    >>> made.Example(features=made.Features(feature={"x": floats})).SerializeToString().hex()
    '0a0f0a0d0a0178120812060a040000803f'
    """
    try:
        return described("pullback/example.proto", "proto3", _MESSAGES)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"TensorFlow's examples need protobuf ({error}), which comes with pip install 'pullback[tensorflow]'"
        ) from error
