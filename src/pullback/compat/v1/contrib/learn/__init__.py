"""Vocabularies of texts, and names of modes: what of `tf.contrib.learn` programs use without its estimators."""

from typing import Any

from . import datasets as datasets
from . import preprocessing as preprocessing


class ModeKeys:
    """What a model function is called for."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'tensorflow.contrib.learn' has no attribute '{name}': call the model function yourself, and run its "
        "train_op in a session"
    )
