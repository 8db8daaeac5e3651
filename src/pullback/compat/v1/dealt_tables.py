"""Embedding tables in parts: rows that were dealt out in turn ("mod"), or stand one behind the other ("div")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import pullback as pb

from ...primitives.variables.partitions import VariablePart, part_lengths


def tables_of(function: str, params: Any, strategy: str) -> list[Any]:
    """The tables that `params` is, one or several."""
    if strategy not in ("mod", "div"):
        raise ValueError(f"{function}: partition_strategy must be 'mod' or 'div', not {strategy!r}")
    arrays = pb.Tensor | pb.Variable | VariablePart | np.ndarray
    several = isinstance(params, list) or (isinstance(params, tuple) and isinstance(next(iter(params), None), arrays))
    tables = params if several and params else [params]
    return [x if isinstance(x, pb.Variable) or not several else pb.convert_to_tensor(x) for x in tables]


def of_dtype(table: Any, dtype: Any) -> Any:
    """A table of arrays in the dtype of the weights; ValueError for a tensor that has another."""
    if not isinstance(table, pb.Tensor | pb.Variable):
        return pb.convert_to_tensor(table, dtype)
    if table.dtype != dtype:
        raise ValueError(f"safe_embedding_lookup_sparse: {table} has another dtype than the weights, {dtype}; cast one")
    return table


def places_of(tables: Sequence[Any], ids: Any) -> pb.Tensor:
    """Where the rows `ids`, dealt out to the tables in turn, are when these stand one behind the other."""
    numbers = pb.convert_to_tensor(ids)
    lengths: Any = _row_counts(tables[0]) if len(tables) == 1 else [pb.shape(table)[0] for table in tables]
    starts = pb.cumsum(pb.cast(pb.stack(lengths), numbers.dtype), exclusive=True)
    count = pb.convert_to_tensor(len(lengths), numbers.dtype)
    return pb.gather(starts, numbers % count) + numbers // count


def _row_counts(table: Any) -> list[int]:
    """How many rows the parts of a partitioned variable have; nothing of a table in one part."""
    partitions = table.partitions if isinstance(table, pb.Variable) else None
    if partitions is None or partitions[0] == 1:
        return []
    return part_lengths(table.shape.as_list()[0], partitions[0])


def is_dealt_out(tables: Sequence[Any], strategy: str) -> bool:
    """Whether rows were dealt out in turn to several tables, or to the parts of one."""
    return strategy == "mod" and (len(tables) > 1 or bool(_row_counts(tables[0])))


def in_turn(function: str, weights: Any, strategy: str, rows: int) -> Any:
    """The tables of weights as one, whose rows are in order."""
    tables = tables_of(function, weights, strategy)
    if not is_dealt_out(tables, strategy):
        return weights
    whole = tables[0] if len(tables) == 1 else pb.concat(tables, 0)
    return pb.gather(whole, places_of(tables, np.arange(rows)))
