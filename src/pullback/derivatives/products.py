"""Jacobian- and Hessian-vector products: the price of a few gradients, without the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autodiff.arguments import as_list, check_element
from ..autodiff.cotangent import dense
from ..autodiff.linear_maps import pushed
from ..autodiff.reverse import gradients
from ..core.dtypes import COMPLEX, TokenType
from ..core.graph import AbstractTensorLike, Tensor, get_default_graph
from ..core.slices import IndexedSlices
from ..core.types import TensorType
from ..core.typing import TensorLike
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.creation.fill import zeros_like
from ..primitives.variables.operations import variable_type, variable_zeros
from ..primitives.variables.variable import Variable


def jvp(ys: TensorLike, xs: TensorLike, vs: Any, name: str = "jvp") -> list[Tensor]:
    """The forward derivative: for each of `ys` the sum over xs of dy/dx · v, of y's shape and dtype.

    Shapes, dtypes: each of `vs` is like its x. A y that depends on no x gives zeros.

    It is built as the derivative of `gradients` by their cotangents, in which they are linear (Townsend, "A new trick
    for calculating Jacobian vector products", 2017): forward mode costs two reverse passes to build, of which only
    what the result needs is ever run.

    Raises:
        ValueError: another number of `vs` than of `xs`.

    >>> import pullback as pb
    >>> x = pb.constant([1.0, 2.0])
    >>> pb.Session().run(pb.jvp(pb.sin(x), x, [[1.0, 0.0]]))
    [array([0.5403023, 0.       ], dtype=float32)]
    """
    targets = [convert_to_tensor(y) for y in as_list(ys, "ys")]
    sources, tangents = as_sources(xs), as_list(vs, "vs")
    check_lengths(sources, tangents, "vs")
    graph = targets[0].graph.acting
    with graph.transaction(), graph.name_scope(name):
        return pushed(targets, sources, tangents)


def hessian_vector_product(
    ys: TensorLike, xs: TensorLike, v: TensorLike, name: str = "hessian_vector_product"
) -> list[Tensor]:
    """For each of `xs` the product of the Hessian of the sum of `ys` with the vectors `v`, one like each x.

    All blocks take part: entry i is the sum over j of d²y/dx_i dx_j · v_j (Pearlmutter, "Fast exact multiplication by
    the Hessian", 1994). It costs about four evaluations of ys.

    Raises:
        ValueError: another number of `v` than of `xs`.

    >>> import pullback as pb
    >>> x = pb.constant([1.0, 2.0])
    >>> pb.Session().run(pb.hessian_vector_product(pb.reduce_sum(x * x * x), x, [[1.0, 1.0]]))
    [array([ 6., 12.], dtype=float32)]
    """
    sources, vectors = as_sources(xs), as_list(v, "v")
    if len(sources) != len(vectors):
        raise ValueError(f"xs and v must have the same length. Passed {len(sources)} xs and {len(vectors)} v.")
    graph = graph_of_all([*as_list(ys, "ys"), *sources])
    with graph.transaction(), graph.name_scope(name):
        first = gradients(ys, sources)
        pairs = [(dense(dx), vector) for dx, vector in zip(first, vectors, strict=True) if dx is not None]
        if not pairs:
            return [zeros_of(x) for x in sources]
        ys_, vs_ = [dx for dx, _ in pairs], [vector for _, vector in pairs]
        return [dense(d) for d in gradients(ys_, sources, grad_ys=vs_, unconnected_gradients="zero")]


def gauss_newton_vector_product(
    loss: TensorLike, outputs: TensorLike, xs: TensorLike, v: TensorLike, name: str = "gauss_newton_vector_product"
) -> list[Tensor]:
    """For each of `xs` the product of the generalised Gauss-Newton matrix JᵀHJ with the vectors `v`, one like each x.

    J is the Jacobian of `outputs` by `xs`, H the Hessian of `loss` by `outputs` (Schraudolph, "Fast curvature
    matrix-vector products", 2002): positive semidefinite where the loss is convex in the outputs.

    >>> import pullback as pb
    >>> w = pb.constant([1.0, 2.0])
    >>> z = pb.sin(w)
    >>> loss = 0.5 * pb.reduce_sum(z * z)
    >>> pb.Session().run(pb.gauss_newton_vector_product(loss, z, w, [[1.0, 0.0]]))
    [array([0.29192656, 0.        ], dtype=float32)]
    """
    zs, sources = as_list(outputs, "outputs"), as_sources(xs)
    graph = graph_of_all([*zs, *sources])
    with graph.transaction(), graph.name_scope(name):
        curved = hessian_vector_product(loss, zs, jvp(zs, sources, v))
        return [dense(d) for d in gradients(zs, sources, grad_ys=curved, unconnected_gradients="zero")]


def as_sources(xs: Any) -> list[Any]:
    """`xs` as a list of what can be differentiated by; numbers become constants.

    Raises:
        TypeError: one of them is None, a name or an operation, or a list of tensors, of which a new one would be made.
    """
    values = as_list(xs, "xs")
    for i, x in enumerate(values):
        check_element(x, f"xs[{i}]")
        if isinstance(x, list | tuple) and _holds_tensors(x):
            raise TypeError(
                f"gradients: xs[{i}] is a {type(x).__name__} of tensors, and no y depends on what would be made of "
                "them; pass the tensors themselves"
            )
    return [x if isinstance(x, Tensor | Variable | IndexedSlices) else convert_to_tensor(x) for x in values]


def _holds_tensors(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(map(_holds_tensors, x))
    return isinstance(x, Tensor | AbstractTensorLike)


def check_lengths(xs: Sequence[Any], vs: Sequence[Any], what: str, function: str = "jvp") -> None:
    """ValueError unless there is one of `vs` for each of `xs`."""
    if len(xs) != len(vs):
        raise ValueError(f"{function}: {len(vs)} {what} for {len(xs)} xs; pass one like each x")


def graph_of_all(values: Sequence[Any]) -> Any:
    """The graph in which operations on `values` are made: the default one where there are only numbers."""
    first = next((v for v in values if isinstance(v, Tensor | Variable | IndexedSlices)), None)
    return get_default_graph().acting if first is None else first.graph.acting


def is_complex(y: Tensor, x: Any) -> bool:
    """Whether rows of the Jacobian, which are conjugates, are not what columns are."""
    return y.dtype in COMPLEX or value_type(x).dtype in COMPLEX


def value_type(x: Any) -> TensorType:
    """The type of the value of a tensor, variable or handle."""
    source = source_tensor(x)
    return variable_type(source) if isinstance(source.dtype, TokenType) else source.type


def source_tensor(x: Any) -> Tensor:
    """The tensor by which a derivative is taken: for a variable its handle, so that all of its reads count."""
    return x.handle if isinstance(x, Variable) else x


def zeros_of(x: Any) -> Tensor:
    """Zeros like the value of a tensor, variable or handle."""
    source = source_tensor(x)
    return variable_zeros(source) if isinstance(source.dtype, TokenType) else zeros_like(source)
