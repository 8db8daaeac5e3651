"""Graph collections: named lists, of variables first of all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ...core.graph import get_default_graph


class GraphKeys:
    """The names of collections: those that the library uses, and TensorFlow's others.

    >>> import pullback as pb
    >>> v = pb.Variable(0.0)
    >>> pb.get_collection(pb.GraphKeys.TRAINABLE_VARIABLES)
    [<Variable 'Variable:0' float32[]>]
    """

    GLOBAL_VARIABLES: ClassVar[str] = "variables"
    TRAINABLE_VARIABLES: ClassVar[str] = "trainable_variables"
    LOCAL_VARIABLES: ClassVar[str] = "local_variables"
    LOSSES: ClassVar[str] = "losses"
    REGULARIZATION_LOSSES: ClassVar[str] = "regularization_losses"
    UPDATE_OPS: ClassVar[str] = "update_ops"
    TRAIN_OP: ClassVar[str] = "train_op"
    GLOBAL_STEP: ClassVar[str] = "global_step"
    ACTIVATIONS: ClassVar[str] = "activations"
    ASSET_FILEPATHS: ClassVar[str] = "asset_filepaths"
    BIASES: ClassVar[str] = "biases"
    CONCATENATED_VARIABLES: ClassVar[str] = "concatenated_variables"
    COND_CONTEXT: ClassVar[str] = "cond_context"
    EVAL_STEP: ClassVar[str] = "eval_step"
    INIT_OP: ClassVar[str] = "init_op"
    LOCAL_INIT_OP: ClassVar[str] = "local_init_op"
    LOCAL_RESOURCES: ClassVar[str] = "local_resources"
    METRIC_VARIABLES: ClassVar[str] = "metric_variables"
    MODEL_VARIABLES: ClassVar[str] = "model_variables"
    MOVING_AVERAGE_VARIABLES: ClassVar[str] = "moving_average_variables"
    QUEUE_RUNNERS: ClassVar[str] = "queue_runners"
    READY_FOR_LOCAL_INIT_OP: ClassVar[str] = "ready_for_local_init_op"
    READY_OP: ClassVar[str] = "ready_op"
    RESOURCES: ClassVar[str] = "resources"
    SAVEABLE_OBJECTS: ClassVar[str] = "saveable_objects"
    SAVERS: ClassVar[str] = "savers"
    SUMMARIES: ClassVar[str] = "summaries"
    SUMMARY_OP: ClassVar[str] = "summary_op"
    TABLE_INITIALIZERS: ClassVar[str] = "table_initializer"
    TRAINABLE_RESOURCE_VARIABLES: ClassVar[str] = "trainable_resource_variables"
    VARIABLES: ClassVar[str] = "variables"
    WEIGHTS: ClassVar[str] = "weights"
    WHILE_CONTEXT: ClassVar[str] = "while_context"


def add_to_collection(name: str, value: object) -> None:
    """Append `value` to the collection `name` of the default graph.

    >>> import pullback as pb
    >>> pb.add_to_collection("notes", "first")
    >>> pb.get_collection("notes")
    ['first']
    """
    get_default_graph().add_to_collection(name, value)


def get_collection(key: str, scope: str | None = None) -> list[Any]:
    """The values of the collection `key` of the default graph; with `scope`, those whose names it matches at the start.

    >>> import pullback as pb
    >>> v = pb.Variable(0.0, name="a/v")
    >>> pb.get_collection(pb.GraphKeys.GLOBAL_VARIABLES, "a/")
    [<Variable 'a/v:0' float32[]>]
    """
    return get_default_graph().get_collection(key, scope)


def add_to_collections(names: str | Iterable[str], value: object) -> None:
    """Append `value` to each of the collections `names` of the default graph.

    >>> import pullback as pb
    >>> pb.add_to_collections(["notes", "all"], "first")
    >>> pb.get_collection("all")
    ['first']
    """
    get_default_graph().add_to_collections(names, value)


def get_collection_ref(key: str) -> list[Any]:
    """The collection `key` of the default graph itself: what is appended to the list is in the collection.

    >>> import pullback as pb
    >>> pb.get_collection_ref("notes").append("first")
    >>> pb.get_collection("notes")
    ['first']
    """
    return get_default_graph().get_collection_ref(key)
