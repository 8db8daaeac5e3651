"""Sparse Jacobians and Hessians: the pattern found on the graph, its columns coloured, one product a colour."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..autodiff.choices import Rule, choosing
from ..autodiff.cotangent import dense
from ..autodiff.registry import as_rules
from ..autodiff.reverse import gradients
from ..core.dtypes import resource
from ..core.graph import Tensor
from ..core.typing import TensorLike
from ..engines.default_session import get_default_session
from ..engines.fetches import register_session_run_conversion_functions
from ..engines.session import Session
from ..primitives.casting.cast import cast
from ..primitives.creation.constant import constant, convert_to_tensor
from ..primitives.creation.ranges import range_
from ..primitives.indexing.gather import gather
from ..primitives.logic.comparison import equal
from ..primitives.shape.reshape import reshape, reshape_like
from .colouring import Colours, colour_columns, colour_symmetric
from .pattern import jacobian_pattern
from .products import as_sources, is_complex, jvp, source_tensor, value_type, zeros_of
from .rows import map_rows


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A matrix whose entries are computed by a graph, at known places. Fetched, it is a scipy.sparse.csr_array.

    `values` [n] are the entries at (`rows[i]`, `columns[i]`), in the order of a CSR matrix; `colours` is the number of
    products with a vector that computing them takes.
    """

    values: Tensor
    rows: np.ndarray[Any, Any]
    columns: np.ndarray[Any, Any]
    shape: tuple[int, int]
    colours: int

    def to_csr(self, values: TensorLike) -> Any:
        """The scipy.sparse.csr_array for what a run gave for `values`."""
        return sp.csr_array((np.asarray(values), self.columns, self._pointers), shape=self.shape, copy=True)

    @cached_property
    def _pointers(self) -> np.ndarray[Any, Any]:
        """Where the entries of each row begin, and where the last ones end."""
        counts = np.bincount(self.rows, minlength=self.shape[0])
        return np.concatenate([[0], np.cumsum(counts)]).astype(self.columns.dtype)

    def eval(self, feed_dict: Mapping[Any, Any] | None = None, session: Session | None = None) -> Any:
        """The scipy.sparse.csr_array, by `session`, the default one, or a new one, for which little is compiled."""
        chosen = session or get_default_session() or Session(graph=self.values.graph, compile_effort="fast")
        return self.to_csr(chosen.run(self.values, feed_dict))


register_session_run_conversion_functions(
    SparseMatrix, lambda matrix: ([matrix.values], lambda arrays: matrix.to_csr(arrays[0]))
)


def sparse_jacobian(
    y: TensorLike,
    x: TensorLike,
    feed_dict: Mapping[Any, Any] | None = None,
    *,
    pattern: Any = None,
    rules: Mapping[Any, Rule | None] | None = None,
    name: str = "sparse_jacobian",
) -> SparseMatrix:
    """The Jacobian of `y` by `x`, both taken as vectors, with the entries only that may differ from zero.

    `x` is a tensor or a variable. `rules` are those of `gradients`.

    `pattern`, anything that scipy.sparse.csr_array takes, saves looking for it on the graph; it must be true wherever
    the Jacobian can differ from zero. What is found is found here, not in each run, and holds for whatever floats are
    fed, drawn or held by variables: where these decide which elements are taken, as in `sort`, it may be any along that
    axis. Integers, truth values and shapes that are fed, or held by variables, must stay; `feed_dict` is needed where
    shapes or positions depend on what is fed. Forward products are used where the columns need fewer colours than the
    rows, and all is real. The entries have x's dtype, and are those of `gradients`: of complex numbers conjugated.

    Raises:
        ValueError: `pattern` has another shape.

    >>> import numpy as np, pullback as pb
    >>> x = pb.constant([1.0, 2.0, 3.0])
    >>> matrix = pb.sparse_jacobian(x[1:] * x[:-1], x)
    >>> matrix.colours
    2
    >>> matrix.eval().toarray().tolist()
    [[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]]
    """
    y, (x,) = convert_to_tensor(y), as_sources([x])
    graph = y.graph.acting
    with graph.transaction(), graph.name_scope(name), choosing(as_rules(rules, graph), None):
        return _jacobian(y, x, _pattern(y, x, feed_dict, pattern))


def _jacobian(y: Tensor, x: Any, places: Any) -> SparseMatrix:
    """By columns where these have fewer colours; rows of complex numbers are conjugates, which columns are not."""
    by_column, by_row = colour_columns(places), colour_columns(places.T)
    if _count(by_column) < _count(by_row) and not is_complex(y, x):
        like = _value(x)
        products = _products(like, by_column, lambda v: cast(jvp(y, x, [v])[0], like.dtype))
        return _picked(places, products, by_column, places.indices, _rows_of(places))
    products = _products(y, by_row, lambda u: _pulled(y, x, u))
    return _picked(places, products, by_row, _rows_of(places), places.indices)


def sparse_hessian(
    y: TensorLike,
    x: TensorLike,
    feed_dict: Mapping[Any, Any] | None = None,
    *,
    pattern: Any = None,
    rules: Mapping[Any, Rule | None] | None = None,
    name: str = "sparse_hessian",
) -> SparseMatrix:
    """The Hessian of the sum of `y` by `x`, taken as a vector, with the entries only that may differ from zero.

    The arguments are those of `sparse_jacobian`. Entries are read off products with the Hessian, one a colour of a star
    colouring; by complex numbers, where it is not symmetric, they are those of the Jacobian of the gradient.

    >>> import pullback as pb
    >>> x = pb.constant([1.0, 2.0, 3.0])
    >>> pb.sparse_hessian(pb.reduce_sum(x[1:] * x[:-1]), x).eval().toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    y, (x,) = convert_to_tensor(y), as_sources([x])
    graph = y.graph.acting
    with graph.transaction(), graph.name_scope(name), choosing(as_rules(rules, graph), None):
        (dx,) = gradients(y, x, unconnected_gradients="zero")
        slope = dense(dx)
        places = _pattern(slope, x, feed_dict, pattern)
        if is_complex(slope, x):
            return _jacobian(slope, x, places)
        places = _symmetric(places)
        colours, by_column = colour_symmetric(places)
        products = _products(_value(x), colours, lambda v: _pulled(slope, x, v))
        rows, columns = _rows_of(places), places.indices
        if by_column:
            return _picked(places, products, colours, columns, rows)
        alone = _stands_alone(places, colours)
        return _picked(places, products, colours, np.where(alone, columns, rows), np.where(alone, rows, columns))


def _pattern(y: Tensor, x: Any, feed_dict: Any, pattern: Any) -> Any:
    looked_for = pattern is None
    found = jacobian_pattern(y, source_tensor(x), feed_dict) if looked_for else sp.csr_array(pattern, dtype=bool)
    shape = y.shape.num_elements(), value_type(x).shape.num_elements()
    if any(n is not None and n != m for n, m in zip(shape, found.shape, strict=True)):
        raise ValueError(f"sparse_jacobian: the pattern is {found.shape}, but {y} by {x} is {shape}")
    found.sum_duplicates()
    found.sort_indices()
    return found


def _symmetric(places: Any) -> Any:
    """Where `places` or their transpose is true."""
    turned = places.T.tocsr()
    if np.array_equal(places.indptr, turned.indptr) and np.array_equal(places.indices, turned.indices):
        return places
    both = places + turned
    both.sort_indices()
    return both


def _rows_of(places: Any) -> np.ndarray[Any, Any]:
    return np.repeat(np.arange(places.shape[0], dtype=np.int32), np.diff(places.indptr))


def _count(colours: Colours) -> int:
    return int(colours.max(initial=-1)) + 1


def _stands_alone(places: Any, colours: Colours) -> np.ndarray[Any, Any]:
    """For each entry (i, j) whether j is the only column of its colour in row i."""
    keys = _rows_of(places).astype(np.int64) * _count(colours) + colours[places.indices]
    alone: np.ndarray[Any, Any] = np.bincount(keys)[keys] == 1
    return alone


def _value(x: Any) -> Tensor:
    """Something of the type of the value of `x`."""
    return x if isinstance(x, Tensor) and x.dtype != resource else zeros_of(x)


def _pulled(y: Tensor, x: Any, u: Tensor) -> Tensor:
    (dx,) = gradients(y, x, grad_ys=u)
    return zeros_of(x) if dx is None else dense(dx)


def _products(like: Tensor, colours: Colours, multiply: Callable[[Tensor], Tensor]) -> Tensor:
    """One row a colour: `multiply` applied to the sum of the unit vectors of that colour, shaped as `like`."""
    numbers = constant(colours)

    def product(number: Tensor) -> list[Tensor]:
        unit = cast(equal(numbers, number), like.dtype)
        shaped = reshape(unit, like.shape.known) if like.shape.is_fully_defined() else reshape_like(unit, like)
        return [reshape(multiply(shaped), [-1])]

    (rows,) = map_rows(product, range_(_count(colours)), None)
    return rows


def _picked(places: Any, products: Tensor, colours: Colours, coloured: Any, other: Any) -> SparseMatrix:
    """The matrix whose entry k is at (colour of `coloured[k]`, `other[k]`) of `products`."""
    width = products.shape.size(1)
    if width is None:
        width = places.shape[0] if len(colours) == places.shape[1] else places.shape[1]
    flat = reshape(products, [-1])
    positions = colours[coloured].astype(np.int64) * width + other
    dtype = np.int32 if positions.max(initial=0) < 2**31 else np.int64
    values = gather(flat, constant(positions.astype(dtype)))
    return SparseMatrix(values, _rows_of(places), places.indices, places.shape, _count(colours))
