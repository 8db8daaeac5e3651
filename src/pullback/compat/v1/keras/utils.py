"""One-hot encoding of arrays, serialization of objects: `tf.keras.utils`."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .named import CustomObjectScope as CustomObjectScope
from .named import custom_object_scope as custom_object_scope
from .named import deserialize_keras_object as deserialize_keras_object
from .named import get_custom_objects as get_custom_objects
from .named import serialize_keras_object as serialize_keras_object

Array = np.ndarray[Any, Any]


def to_categorical(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> Array:
    """An array with a 1 in each row at the place that `y` names, [..., num_classes]; a last length of 1 goes.

    >>> from pullback.compat.v1.keras.utils import to_categorical
    >>> to_categorical([0, 2]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    places = np.asarray(y, dtype=np.int64)
    if places.ndim > 1 and places.shape[-1] == 1:
        places = places[..., 0]
    return np.eye(num_classes or int(places.max()) + 1, dtype=dtype)[places]


np_utils = sys.modules[__name__]
"""Where these were before."""
