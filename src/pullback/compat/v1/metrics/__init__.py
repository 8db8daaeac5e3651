"""Streaming metrics of TensorFlow 1: `tf.metrics`, each a value and an operation that takes one more batch into it.

What is counted is in local variables: initialise these to begin anew.

>>> import pullback.compat.v1 as tf
>>> given = tf.placeholder(tf.int32, [None])
>>> value, update_op = tf.metrics.accuracy([1, 0], given)
>>> session = tf.Session()
>>> session.run(tf.local_variables_initializer())
>>> [session.run(update_op, {given: guess}) for guess in ([1, 1], [1, 0])]
[np.float32(0.5), np.float32(0.75)]
>>> session.run(value)
np.float32(0.75)
"""

from .at_top import average_precision_at_k as average_precision_at_k
from .at_top import precision_at_k as precision_at_k
from .at_top import precision_at_top_k as precision_at_top_k
from .at_top import recall_at_k as recall_at_k
from .at_top import recall_at_top_k as recall_at_top_k
from .means import accuracy as accuracy
from .means import mean as mean
from .means import mean_absolute_error as mean_absolute_error
from .means import mean_cosine_distance as mean_cosine_distance
from .means import mean_iou as mean_iou
from .means import mean_per_class_accuracy as mean_per_class_accuracy
from .means import mean_relative_error as mean_relative_error
from .means import mean_squared_error as mean_squared_error
from .means import mean_tensor as mean_tensor
from .means import percentage_below as percentage_below
from .means import root_mean_squared_error as root_mean_squared_error
from .running import Metric as Metric
from .thresholds import auc as auc
from .thresholds import false_negatives_at_thresholds as false_negatives_at_thresholds
from .thresholds import false_positives_at_thresholds as false_positives_at_thresholds
from .thresholds import precision_at_thresholds as precision_at_thresholds
from .thresholds import recall_at_thresholds as recall_at_thresholds
from .thresholds import sensitivity_at_specificity as sensitivity_at_specificity
from .thresholds import specificity_at_sensitivity as specificity_at_sensitivity
from .thresholds import true_negatives_at_thresholds as true_negatives_at_thresholds
from .thresholds import true_positives_at_thresholds as true_positives_at_thresholds
from .truth import false_negatives as false_negatives
from .truth import false_positives as false_positives
from .truth import precision as precision
from .truth import recall as recall
from .truth import true_negatives as true_negatives
from .truth import true_positives as true_positives

sparse_average_precision_at_k = average_precision_at_k
sparse_precision_at_k = precision_at_k
