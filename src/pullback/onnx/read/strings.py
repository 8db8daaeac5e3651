"""ONNX import of operators on strings: concatenation, splitting, normalization, patterns, n-grams."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ...core.dtypes import DType, float32, int64, string
from ...core.limits import reading
from ...core.operation import Tensor
from ...primitives.creation.constant import constant
from ...primitives.elementwise.maximum import maximum
from ...primitives.indexing.gather import boolean_mask
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import equal
from ...primitives.logic.logical import logical_and, logical_not
from ...primitives.ragged.conversions import to_tensor
from ...primitives.reduction.reduce import reduce_any, reduce_sum
from ...primitives.shape.broadcast import broadcast_to
from ...primitives.shape.reshape import reshape
from ...primitives.shape.size import shape
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import concat
from ...primitives.shape.static_shapes import broadcast_dynamic_shape
from ...primitives.strings.conversion import as_string, to_number
from ...primitives.strings.parts import join, lower, upper
from ...primitives.strings.patterns import regex_full_match
from ...primitives.strings.splitting import StringSplitV2, ragged_parts
from ..reading import Node, reader
from .dtypes import cast
from .lengths import length, rank_of
from .operands import vector

_NODES_OF_A_STEP = 100
"""What counts for elements so many others apart, for each element of an n-gram."""

Array = np.ndarray[Any, Any]


def converted_string(node: Node, x: Tensor, dtype: DType) -> Tensor:
    """Texts of integers and truth values, and the numbers in texts."""
    if x.dtype == dtype:
        return x
    if dtype == string:
        if x.dtype.kind not in "iub":
            node.refuse(f"texts of {x.dtype.name} are not made: how many digits they have is not defined")
        return as_string(cast(x, int64))
    numbers: Tensor = to_number(x, int64 if dtype.kind in "iu" else float32 if dtype.itemsize < 8 else dtype)
    return cast(numbers, dtype)


@reader("StringConcat")
def string_concat(node: Node, x: Tensor, y: Tensor) -> Tensor:
    del node
    dims = broadcast_dynamic_shape(shape(x, int64), shape(y, int64))
    found: Tensor = join([broadcast_to(x, dims), broadcast_to(y, dims)])
    return found


@reader("StringSplit")
def string_split(node: Node, x: Tensor) -> Any:
    """The parts of each text [..., parts], empty where there are fewer; and how many there are."""
    delimiter, most = node.attribute("delimiter", ""), node.attribute("maxsplit", -1)
    found: Any = ragged_parts(StringSplitV2(delimiter, most), reshape(x, [-1]), None)
    counts, parts = found.row_lengths(), to_tensor(found, "")
    whole = concat([shape(x, int64), shape(parts, int64)[1:]], 0)
    return reshape(parts, whole), reshape(cast(counts, int64), shape(x, int64))


@reader("StringNormalizer")
def string_normalizer(node: Node, x: Tensor) -> Tensor:
    """The words that are no stop words, in upper or lower case; one that is empty where none is left."""
    case, sensitive = node.attribute("case_change_action", "NONE"), bool(node.attribute("is_case_sensitive", 0))
    stops = node.attribute("stopwords", ())
    words = reshape(x, [-1])
    if stops:
        own, known = (words, stops) if sensitive else (lower(words, "utf-8"), [stop.lower() for stop in stops])
        kept = logical_not(reduce_any(equal(expand_dims(own, 1), constant(list(known), string)), 1))
        none = logical_not(reduce_any(kept, 0, True))
        words = boolean_mask(concat([words, constant([""], string)], 0), concat([kept, none], 0))
    if case in ("LOWER", "UPPER"):
        words = lower(words, "utf-8") if case == "LOWER" else upper(words, "utf-8")
    return words if rank_of(node, x) == 1 else expand_dims(words, 0)


@reader("RegexFullMatch")
def regex_full_match_(node: Node, x: Tensor) -> Tensor:
    found: Tensor = regex_full_match(x, node.attribute("pattern"))
    return found


@reader("TfIdfVectorizer")
def tf_idf_vectorizer(node: Node, x: Tensor) -> Tensor:
    """How often each n-gram of a pool is in the rows of `x`, its elements up to so many others apart; or weights."""
    if rank_of(node, x) not in (1, 2):
        node.reject(f"it takes vectors and matrices, not {x}")
    rows = expand_dims(x, 0) if rank_of(node, x) == 1 else x
    pools = _pools(node, x)
    places = np.concatenate([place for place, _ in pools.values()] or [np.zeros(0, np.int64)])
    columns = np.asarray(node.attribute("ngram_indexes"), np.int64)
    counts = [_counted(node, rows, n, grams) for n, (_, grams) in pools.items()]
    width = int(columns.max(initial=-1)) + 1
    reading().takes_bytes(4 * len(places) * width)
    where_to = np.zeros((len(places), width), np.float32)
    where_to[np.arange(len(places)), columns[places]] = 1.0
    total = concat(counts, 1) if counts else cast(rows[:, :0], float32)
    mode, weights = node.attribute("mode"), node.attribute("weights", ())
    factors = constant(np.asarray(weights, np.float32)[places] if weights else np.ones(len(places), np.float32))
    if mode == "IDF":
        total = where(total > 0.0, constant(np.float32(1.0)), total)
    if mode != "TF":
        total = total * factors
    found = reduce_sum(expand_dims(total, 2) * constant(where_to), 1)
    return found[0] if rank_of(node, x) == 1 else found


def _pools(node: Node, x: Tensor) -> dict[int, tuple[Array, Array]]:
    """The n-grams by their lengths: where each is among all, and its elements [n-grams, n]."""
    key = "pool_strings" if x.dtype == string else "pool_int64s"
    pool = node.attribute(key)
    elements = np.array([s.encode() for s in pool], object) if x.dtype == string else np.asarray(pool, np.int64)
    starts = [*node.attribute("ngram_counts"), len(elements)]
    least, most = node.attribute("min_gram_length"), node.attribute("max_gram_length")
    found: dict[int, tuple[Array, Array]] = {}
    before = 0
    for n, (start, end) in enumerate(pairwise(starts), 1):
        count, rest = divmod(end - start, n)
        if rest or count < 0:
            node.reject(f"its pool has {end - start} elements for {n}-grams")
        if count and least <= n <= most:
            found[n] = np.arange(before, before + count), elements[start:end].reshape(count, n)
        before += count
    return found


def _counted(node: Node, rows: Tensor, n: int, grams: Array) -> Tensor:
    """How often each n-gram is in each row."""
    total: Any = None
    steps = 1 + (node.attribute("max_skip_count") if n > 1 else 0)
    reading().expects_nodes(_NODES_OF_A_STEP * n * steps)
    for step in range(1, 1 + steps):
        holds: Any = None
        for k in range(n):
            end = maximum(_as_tensor(length(rows, 1)) - (n - 1 - k) * step, 0)
            here = equal(expand_dims(rows[:, k * step : end], 2), constant(grams[:, k], rows.dtype))
            holds = here if holds is None else logical_and(holds, here)
        count = reduce_sum(cast(holds, float32), 1)
        total = count if total is None else total + count
    return total  # type: ignore[no-any-return]


def _as_tensor(n: Any) -> Tensor:
    return vector([n])[0]
