"""Global step: one integer variable that counts the steps of training."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import INTEGER, int64
from ..core.graph import Graph, Tensor, get_default_graph
from ..layers.variables.initializers import Zeros
from ..layers.variables.scope import get_variable
from ..primitives.variables.collections import GraphKeys
from ..primitives.variables.variable import Variable, variables_of


def get_or_create_global_step(graph: Graph | None = None) -> Variable:
    """The global step of `graph`, or of the default one; it is made, int64 and 0, where there is none.

    >>> import pullback as pb
    >>> pb.train.get_or_create_global_step()
    <Variable 'global_step:0' int64[]>
    """
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def get_global_step(graph: Graph | None = None) -> Variable | None:
    """The global step of `graph`, or of the default one; None where there is none.

    Raises:
        TypeError: the collection `GLOBAL_STEP` holds what is no integer scalar.

    >>> import pullback as pb
    >>> pb.train.get_global_step() is None
    True
    """
    graph = get_default_graph() if graph is None else graph
    steps = variables_of(graph, GraphKeys.GLOBAL_STEP)
    if not steps:
        return None
    assert_global_step(steps[0])
    return steps[0]


def assert_global_step(global_step_tensor: Tensor | Variable) -> None:
    """Nothing, where `global_step_tensor`, a tensor or a variable, can count steps.

    Raises:
        TypeError: it is no integer scalar.

    >>> import pullback as pb
    >>> pb.train.assert_global_step(pb.constant(1.5))
    Traceback (most recent call last):
    TypeError: the global step must be an integer scalar, not <Tensor 'Const:0' float32[]>
    """
    if global_step_tensor.dtype not in INTEGER or not global_step_tensor.shape.is_compatible_with([]):
        raise TypeError(f"the global step must be an integer scalar, not {global_step_tensor!r}")


def create_global_step(graph: Graph | None = None) -> Variable:
    """A new global step of `graph`, or of the default one, a variable of the variable scope that is open.

    Raises:
        ValueError: there is one already.

    >>> import pullback as pb
    >>> step = pb.train.create_global_step()
    >>> pb.train.get_global_step() == step
    True
    """
    graph = get_default_graph() if graph is None else graph
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.within(None):
        return get_variable(
            "global_step",
            [],
            int64,
            Zeros(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def global_step(sess: Any, global_step_tensor: Tensor | Variable) -> int:
    """The value of the global step in the session `sess`, as an integer.

    >>> import pullback as pb
    >>> step = pb.train.create_global_step()
    >>> session = pb.Session()
    >>> session.run(step.initializer)
    >>> pb.train.global_step(session, step)
    0
    """
    return int(sess.run(global_step_tensor))
