"""Metrics of Keras inside graphs: `tf.keras.metrics`, functions that give one number an example, and running means.

>>> import pullback.compat.v1 as tf
>>> metrics = tf.keras.metrics
>>> hits = metrics.categorical_accuracy([[0, 1], [1, 0]], [[0.1, 0.9], [0.2, 0.8]])
>>> mean = metrics.Mean()
>>> update = mean.update_state([1.0, 3.0])
>>> with tf.Session() as session:
...     session.run(tf.variables_initializer(mean.variables))
...     _ = session.run([update, update])
...     session.run([hits, mean.result()])
[array([1., 0.], dtype=float32), np.float32(2.0)]
>>> precision = metrics.Precision(thresholds=[0.3, 0.5])
>>> update = precision.update_state([1, 1, 0], [0.9, 0.4, 0.6])
>>> with tf.Session() as session:
...     session.run(tf.variables_initializer(precision.variables))
...     session.run(update)
...     session.run(precision.result())
array([0.6666667, 0.5      ], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import Metric as Metric
from .confusion import FalseNegatives as FalseNegatives
from .confusion import FalsePositives as FalsePositives
from .confusion import MeanIoU as MeanIoU
from .confusion import Precision as Precision
from .confusion import Recall as Recall
from .confusion import TrueNegatives as TrueNegatives
from .confusion import TruePositives as TruePositives
from .curves import AUC as AUC
from .curves import PrecisionAtRecall as PrecisionAtRecall
from .curves import RecallAtPrecision as RecallAtPrecision
from .curves import SensitivityAtSpecificity as SensitivityAtSpecificity
from .curves import SpecificityAtSensitivity as SpecificityAtSensitivity
from .functions import MAE as MAE
from .functions import MAPE as MAPE
from .functions import MSE as MSE
from .functions import MSLE as MSLE
from .functions import accuracy as accuracy
from .functions import binary_accuracy as binary_accuracy
from .functions import binary_crossentropy as binary_crossentropy
from .functions import categorical_accuracy as categorical_accuracy
from .functions import categorical_crossentropy as categorical_crossentropy
from .functions import categorical_hinge as categorical_hinge
from .functions import cosine_proximity as cosine_proximity
from .functions import cosine_similarity as cosine_similarity
from .functions import hinge as hinge
from .functions import kullback_leibler_divergence as kullback_leibler_divergence
from .functions import logcosh as logcosh
from .functions import mae as mae
from .functions import mape as mape
from .functions import mean_absolute_error as mean_absolute_error
from .functions import mean_absolute_percentage_error as mean_absolute_percentage_error
from .functions import mean_squared_error as mean_squared_error
from .functions import mean_squared_logarithmic_error as mean_squared_logarithmic_error
from .functions import mse as mse
from .functions import msle as msle
from .functions import poisson as poisson
from .functions import sparse_categorical_accuracy as sparse_categorical_accuracy
from .functions import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from .functions import sparse_top_k_categorical_accuracy as sparse_top_k_categorical_accuracy
from .functions import squared_hinge as squared_hinge
from .functions import top_k_categorical_accuracy as top_k_categorical_accuracy
from .means import Accuracy as Accuracy
from .means import BinaryAccuracy as BinaryAccuracy
from .means import BinaryCrossentropy as BinaryCrossentropy
from .means import CategoricalAccuracy as CategoricalAccuracy
from .means import CategoricalCrossentropy as CategoricalCrossentropy
from .means import CategoricalHinge as CategoricalHinge
from .means import CosineSimilarity as CosineSimilarity
from .means import Hinge as Hinge
from .means import KLDivergence as KLDivergence
from .means import LogCoshError as LogCoshError
from .means import Mean as Mean
from .means import MeanAbsoluteError as MeanAbsoluteError
from .means import MeanAbsolutePercentageError as MeanAbsolutePercentageError
from .means import MeanMetricWrapper as MeanMetricWrapper
from .means import MeanRelativeError as MeanRelativeError
from .means import MeanSquaredError as MeanSquaredError
from .means import MeanSquaredLogarithmicError as MeanSquaredLogarithmicError
from .means import MeanTensor as MeanTensor
from .means import Poisson as Poisson
from .means import RootMeanSquaredError as RootMeanSquaredError
from .means import SparseCategoricalAccuracy as SparseCategoricalAccuracy
from .means import SparseCategoricalCrossentropy as SparseCategoricalCrossentropy
from .means import SparseTopKCategoricalAccuracy as SparseTopKCategoricalAccuracy
from .means import SquaredHinge as SquaredHinge
from .means import Sum as Sum
from .means import TopKCategoricalAccuracy as TopKCategoricalAccuracy


def serialize(metric: Any) -> Any:
    """The class and the arguments that make such a metric; the name of a function."""
    if isinstance(metric, Metric):
        return {"class_name": type(metric).__name__, "config": metric.get_config()}
    return metric.__name__


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The metric, or the function, that `serialize` told of.

    Raises:
        ValueError: there is none of the name.
    """
    name = config["class_name"] if isinstance(config, Mapping) else config
    found = (custom_objects or {}).get(name) or globals().get(name)
    if not callable(found) or name.startswith("_") or found in (serialize, deserialize, get):
        raise ValueError(f"Unknown metric function: {name}. Pass it in custom_objects, or itself")
    if isinstance(config, Mapping):
        return found.from_config(config["config"])
    return found() if isinstance(found, type) else found


def get(identifier: Any) -> Any:
    """The metric, or the function, of a name or of what `serialize` told of; one itself.

    Raises:
        ValueError: it is none of these, or unknown.
    """
    if isinstance(identifier, str | Mapping):
        return deserialize(identifier)
    if callable(identifier) or isinstance(identifier, Metric):
        return identifier
    raise ValueError(f"Could not interpret metric function identifier: {identifier}")
