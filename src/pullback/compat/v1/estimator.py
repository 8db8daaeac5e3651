"""Estimators (`tf.estimator`): names that functions of models use; estimators themselves are refused.

What an estimator does (input functions, checkpoints, summaries, evaluation) `tf.data` and
`tf.train.MonitoredTrainingSession` do with a graph that the program builds itself.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from .train import CheckpointSaverHook as CheckpointSaverHook
from .train import FeedFnHook as FeedFnHook
from .train import FinalOpsHook as FinalOpsHook
from .train import LoggingTensorHook as LoggingTensorHook
from .train import NanTensorHook as NanTensorHook
from .train import SessionRunArgs as SessionRunArgs
from .train import SessionRunContext as SessionRunContext
from .train import SessionRunHook as SessionRunHook
from .train import SessionRunValues as SessionRunValues
from .train import StepCounterHook as StepCounterHook
from .train import StopAtStepHook as StopAtStepHook
from .train import SummarySaverHook as SummarySaverHook


class ModeKeys:
    """What a model function is called for."""

    TRAIN: ClassVar[str] = "train"
    EVAL: ClassVar[str] = "eval"
    PREDICT: ClassVar[str] = "infer"


class EstimatorSpec(NamedTuple):
    """What a model function returns: `loss` and `train_op` are run by a session as any others."""

    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metric_ops: Any = None
    export_outputs: Any = None
    training_chief_hooks: Any = None
    training_hooks: Any = None
    scaffold: Any = None
    evaluation_hooks: Any = None
    prediction_hooks: Any = None


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'tensorflow.estimator' has no attribute '{name}': call the model function yourself, with the tensors "
        "of tf.data, and run its train_op in tf.train.MonitoredTrainingSession"
    )
