"""ONNX import of tree ensembles (ai.onnx.ml): all trees step by step at once, from the roots to the leaves.

What a tree gives is constant between its thresholds: derivatives by its inputs are zero, as those of rounding are, and
not taken by differences, whose size would be a choice of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.dtypes import FLOATING, float32, int64
from ...core.limits import reading
from ...core.operation import Tensor
from ...primitives.creation.constant import constant
from ...primitives.indexing.gather import gather
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import equal, greater, greater_equal, is_nan, less, less_equal, not_equal
from ...primitives.logic.logical import logical_or
from ...primitives.reduction.reduce import reduce_any, reduce_max, reduce_mean, reduce_min, reduce_sum
from ...primitives.shape.broadcast import broadcast_to
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import stack
from ..reading import Node, reader
from .dtypes import cast
from .lengths import length
from .scores import ML, classified, kind_of_transform, labels_of, of_two, transformed

Array = np.ndarray[Any, Any]
_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
_COMPARED = (less_equal, less, greater_equal, greater, equal, not_equal)
_LEAF = -1
_MEMBER = len(_MODES)
"""The mode of nodes that ask whether the value is in a set."""
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


class Trees(NamedTuple):
    """The nodes of all trees one behind the other; a leaf follows itself."""

    features: Array
    thresholds: Array
    modes: Array
    yes: Array
    no: Array
    missing: Array
    """Whether NaN goes where `yes` does."""
    roots: Array
    weights: Array
    """For each node, and each target, what a leaf gives."""
    members: Array
    """For each node the elements of its set, then NaN."""


@reader("TreeEnsembleRegressor", domain=ML)
def tree_ensemble_regressor(node: Node, x: Tensor) -> Tensor:
    trees = _of_lists(node, "target", node.attribute("n_targets", 1))
    found = _aggregated(node, trees, x, node.attribute("aggregate_function", "SUM"))
    return transformed(kind_of_transform(node), found)


@reader("TreeEnsembleClassifier", domain=ML)
def tree_ensemble_classifier(node: Node, x: Tensor) -> Any:
    """The class of the largest score, and the scores."""
    labels, kind = labels_of(node, "classlabels_int64s"), kind_of_transform(node)
    count = labels.shape.size(0)
    if count == 2 and len(set(node.attribute("class_ids"))) == 1:
        return _of_one_score(node, x, labels, kind)
    found = _aggregated(node, _of_lists(node, "class", count), x, "SUM")
    return classified(labels, found), transformed(kind, found)


def _of_one_score(node: Node, x: Tensor, labels: Tensor, kind: str) -> tuple[Tensor, Tensor]:
    """The second of two classes where the score is positive, or, where none is negative, at least a half."""
    if len(_floats(node, "base_values")) > 1:
        node.refuse("two base values for one score are not read")
    trees = _of_lists(node, "class", max(node.attribute("class_ids")) + 1)
    score = _aggregated(node, trees, x, "SUM")[:, -1]
    chances = bool((trees.weights >= 0).all())
    label = gather(labels, cast(score > (0.5 if chances else 0.0), int64))
    return label, of_two(node, kind, score, 1.0 - score if chances else -score)


@reader("TreeEnsemble", domain=ML)
def tree_ensemble(node: Node, x: Tensor) -> Tensor:
    """Of opset 5: nodes and leaves are numbered apart."""
    modes = np.asarray(node.attribute("nodes_modes")).astype(np.int64)
    if (modes > _MEMBER).any():
        node.reject(f"a mode of nodes is at most {_MEMBER}")
    count, ids = len(modes), np.asarray(node.attribute("leaf_targetids"), np.int64)
    leaves = len(ids)

    def following(side: str) -> Array:
        to = np.asarray(node.attribute(f"nodes_{side}nodeids"), np.int64)
        is_leaf = np.asarray(node.attribute(f"nodes_{side}leafs"), np.int64) > 0
        return np.concatenate([np.where(is_leaf, to + count, to), np.arange(count, count + leaves)])

    def padded(values: Any, dtype: Any, fill: Any) -> Array:
        return np.concatenate([np.asarray(values).astype(dtype), np.full(leaves, fill, dtype)])

    weights = np.zeros((count + leaves, node.attribute("n_targets", 1)))
    weights[np.arange(count, count + leaves), ids] = np.asarray(node.attribute("leaf_weights"))
    missing = node.attribute("nodes_missing_value_tracks_true", ()) or (0,) * count
    trees = Trees(
        padded(node.attribute("nodes_featureids"), np.int64, 0),
        padded(node.attribute("nodes_splits"), np.float64, 0.0),
        padded(modes, np.int64, _LEAF),
        following("true"),
        following("false"),
        padded(missing, bool, False),
        np.asarray(node.attribute("tree_roots"), np.int64),
        weights,
        np.pad(_members(node, modes), ((0, leaves), (0, 0)), constant_values=np.nan),
    )
    found = _aggregated(node, trees, x, _AGGREGATES[node.attribute("aggregate_function", 1)])
    number = node.attribute("post_transform", 0)
    if not 0 <= number < len(_TRANSFORMS):
        node.reject(f"post_transform is at most {len(_TRANSFORMS) - 1}")
    return transformed(_TRANSFORMS[number], found)


def _members(node: Node, modes: Array) -> Array:
    """For each node the elements of its set, then NaN; the node has them one behind the other, NaN after each set."""
    flat = np.asarray(node.attribute("membership_values", ()), np.float64)
    ends = np.flatnonzero(np.isnan(flat))
    sets = [part[~np.isnan(part)] for part in np.split(flat, ends + 1)][: len(ends)]
    asking = np.flatnonzero(modes == _MEMBER)
    if len(sets) != len(asking):
        node.reject(f"it has {len(sets)} sets for {len(asking)} nodes that ask for one")
    table = np.full((len(modes), max([len(part) for part in sets], default=0)), np.nan)
    for row, part in zip(asking, sets, strict=True):
        table[row, : len(part)] = part
    return table


def _of_lists(node: Node, what: str, targets: int) -> Trees:
    """The trees of the operators whose nodes and weights are lists with the numbers of tree and node."""
    owners, own = _integers(node, "nodes_treeids"), _integers(node, "nodes_nodeids")
    place = {pair: i for i, pair in enumerate(zip(owners.tolist(), own.tolist(), strict=True))}
    words = node.attribute("nodes_modes")
    modes = np.array([_MODES.index(word) if word != "LEAF" else _LEAF for word in words], np.int64)
    is_leaf, numbers = modes == _LEAF, np.arange(len(modes))

    def following(name: str) -> Array:
        to = zip(owners.tolist(), _integers(node, name).tolist(), is_leaf.tolist(), numbers.tolist(), strict=True)
        return np.array([i if leaf else place[tree, other] for tree, other, leaf, i in to], np.int64)

    weights = np.zeros((len(modes), targets))
    columns = [_integers(node, f"{what}_{key}").tolist() for key in ("treeids", "nodeids", "ids")]
    for tree, number, target, weight in zip(*columns, _floats(node, f"{what}_weights"), strict=True):
        weights[place[tree, number], target] += weight
    missing = node.attribute("nodes_missing_value_tracks_true", ()) or (0,) * len(modes)
    first: Mapping[int, int] = {tree: int(np.argmax(owners == tree)) for tree in dict.fromkeys(owners.tolist())}
    return Trees(
        _integers(node, "nodes_featureids"),
        np.asarray(_floats(node, "nodes_values"), np.float64),
        modes,
        following("nodes_truenodeids"),
        following("nodes_falsenodeids"),
        np.asarray(missing, bool),
        np.array(list(first.values()), np.int64),
        weights,
        np.zeros((len(modes), 0)),
    )


def _integers(node: Node, name: str) -> Array:
    return np.asarray(node.attribute(name), np.int64)


def _floats(node: Node, name: str) -> Sequence[float]:
    found: Sequence[float] = node.attribute(name, ()) or node.attribute(f"{name}_as_tensor", ())
    return found


def _depth(node: Node, trees: Trees) -> int:
    """The most steps from a root to a leaf."""
    at, depth = trees.roots, 0
    while (trees.modes[at] != _LEAF).any():
        reading().takes_nodes()
        inner = np.unique(at[trees.modes[at] != _LEAF])
        at, depth = np.concatenate([trees.yes[inner], trees.no[inner]]), depth + 1
        if depth > len(trees.modes):
            node.reject("its nodes follow each other in a circle")
    return depth


def _aggregated(node: Node, trees: Trees, x: Tensor, how: str) -> Tensor:
    """For each row of `x` what the leaves that it comes to give together."""
    x = x if x.dtype in FLOATING else cast(x, float32)
    at: Tensor = broadcast_to(constant(trees.roots), _shape_of(length(x, 0), len(trees.roots)))
    for _ in range(_depth(node, trees)):
        at = _following(trees, x, at)
    given = gather(constant(trees.weights, x.dtype), at)
    combine: Any = {"SUM": reduce_sum, "AVERAGE": reduce_mean, "MIN": reduce_min, "MAX": reduce_max}.get(how)
    if combine is None or (how in ("MIN", "MAX") and trees.weights.shape[1] > 1):
        node.refuse(f"the aggregate function {how!r} of {trees.weights.shape[1]} targets is not read")
    found: Tensor = combine(given, 1)
    base = _floats(node, "base_values")
    return found + constant(np.asarray(base), x.dtype) if len(base) else found


def _shape_of(rows: Any, columns: int) -> Any:
    """A shape of two lengths, the first of which only a run may know."""
    return [rows, columns] if isinstance(rows, int) else stack([cast(rows, int64), constant(columns, int64)])


def _following(trees: Trees, x: Tensor, at: Tensor) -> Tensor:
    """The nodes after those that the rows of `x` are at, in each tree."""
    value = gather(x, gather(constant(trees.features), at), axis=1, batch_dims=1)
    threshold = gather(constant(trees.thresholds, x.dtype), at)
    modes = sorted(set(trees.modes.tolist()) - {_LEAF})
    holds: Any = None
    for mode in modes:
        if mode == _MEMBER:
            members = gather(constant(trees.members, x.dtype), at)
            this = reduce_any(equal(expand_dims(value, -1), members), -1)
        else:
            this = _COMPARED[mode](value, threshold)
        holds = this if holds is None else where(equal(gather(constant(trees.modes), at), mode), this, holds)
    if trees.missing.any():
        holds = logical_or(holds, is_nan(value) & gather(constant(trees.missing), at))
    return where(holds, gather(constant(trees.yes), at), gather(constant(trees.no), at))
