"""Public signatures say what they take: `Any` stands only where nothing narrower is true."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import pullback as pb

PARAMETERS = {
    "structures of tensors, nested as the caller likes": """
        args branch_fns elems examples fetches flat_sequence fn_output_signature init_targets initial_state
        initial_state_bw initial_state_fw initializer inputs keep kwargs loop_vars nest1 nest2 outputs pred_fn_pairs
        primals seq shape_invariants state structure vs x0""",
    "arrays of an engine, and its array namespace": "arrays xp",
    "types, cotangents and options that a subclass names": "_ dys types",
    "tensors while a graph is built, arrays while an engine runs": "dense_shape indices values",
    "what stands in a layer above": "mesh optimize sess session",
    "handed on to what the user wrote, or to another class": "default options",
    "a message or a file of another library": """
        event session_log graph_def graph_or_graph_def meta_graph_or_file proto saver_def""",
    "tensors, dense or ragged, and nested lists of numbers": """
        data flat_values indices input_tensor lengths mask new_values params pylist row_splits values""",
    "anything that may turn out to be of the kind asked for": "obj",
    "a sparse matrix of SciPy, or an array": "pattern",
}
RETURNS = {
    "what the function of the caller returns, or a structure like the one given": """
        ConcreteFunction.__call__ ConcreteFunction.call_with ConcreteFunction.packed
        Function.__call__ GradientTape.gradient GradientTape.jacobian MultiRNNCell.zero_state
        RNNCell.get_initial_state RNNCell.zero_state Transformed.__call__ argmin
        batch_jacobian case cond custom_gradient fixed_point foldl foldr function grad grad_pass_through hessian hvp
        jacobian jvp map_fn map_structure mixed_precision numpy_function pack_sequence_as py_function recompute_grad
        root scan switch_case value_and_grad vectorized_map while_loop""",
    "values of a run": """
        Session.run Session.partial_run SparseMatrix.eval SparseMatrix.to_csr Tensor.eval Variable.eval
        compute_gradient_v1 Objective.hess Residuals.jac""",
    "one thing or another, by an argument": """
        Graph.as_graph_element Variable.assign Variable.assign_add Variable.assign_sub add eigh_tridiagonal svd
        Node.make""",
    "a tensor, dense or ragged": """
        RaggedTensor.merge_dims RaggedTensor.row_lengths boolean_mask concat constant gather map_flat_values
        reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum stack""",
    "a number, or None where its caller knows that it may be": "TensorShape.size",
    "attributes of every kind": "Node.attribute Operation.get_attr",
    "what a subclass says": "Primitive.gradient Primitive.kernel",
    "a message of another library": """
        Graph.as_graph_def Saver.as_saver_def Saver.export_meta_graph Saver.to_proto export export_meta_graph graph_def
        load_into
    """,
}
NOT_YET = ("Writer",)
"""Classes for those who extend pullback, whose methods take names, arrays and recorded values alike."""


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The functions of all public namespaces, and the public methods of their classes, each once."""
    seen: set[int] = set()
    modules: list[ModuleType] = [pb]
    for module in modules:
        for name in getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")]):
            value = getattr(module, name)
            if not getattr(value, "__module__", getattr(value, "__name__", "")).startswith("pullback"):
                continue
            if isinstance(value, ModuleType) and value not in modules and not value.__name__.endswith("compat"):
                modules.append(value)
            members = vars(value).items() if inspect.isclass(value) else [("", value)]
            for member, function in members:
                function = getattr(function, "__func__", function)
                shown = not member.startswith("_") or member in ("__init__", "__call__")
                if inspect.isfunction(function) and shown and id(function) not in seen:
                    seen.add(id(function))
                    yield (f"{name}.{member}" if member else name), function


FUNCTIONS = [(name, f) for name, f in public_functions() if not name.startswith(NOT_YET)]


def is_any(annotation: object) -> bool:
    return annotation in (Any, "Any", "Any | None")


def test_parameters_are_any_only_where_nothing_narrower_is_true() -> None:
    found = {
        p.name
        for _, function in FUNCTIONS
        for p in inspect.signature(function).parameters.values()
        if is_any(p.annotation)
    }
    assert found == {name for names in PARAMETERS.values() for name in names.split()}


def test_results_are_any_only_where_nothing_narrower_is_true() -> None:
    found = {
        name if "." in name else function.__qualname__
        for name, function in FUNCTIONS
        if is_any(inspect.signature(function).return_annotation)
    }
    assert found == {name for names in RETURNS.values() for name in names.split()}


@pytest.mark.parametrize("name", ["TensorLike", "ShapeLike", "DTypeLike", "AxisLike"])
def test_the_names_of_signatures_are_public(name: str) -> None:
    assert name in vars(pb.typing)
    assert getattr(pb.typing, name) is not None
