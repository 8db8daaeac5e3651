"""Model analysis of TensorFlow 1, `tf.profiler`: how many parameters a graph has, and how many operations on floats.

Counted are the operations of a graph, those in its branches and loops once each, where static shapes are known: two for
each product of a matrix product or a convolution, one for each element of sums and the like, and none for what
TensorFlow has no count for, as `exp` or `relu`.

>>> import pullback.compat.v1 as tf
>>> with tf.Graph().as_default() as graph:
...     y = tf.matmul(tf.zeros([3, 4]), tf.get_variable("w", initializer=tf.ones([4, 5])))
>>> options = tf.profiler.ProfileOptionBuilder.float_operation()
>>> tf.profiler.profile(graph, options=options).total_float_ops
node name | # float_ops
_TFProfRoot (--/120 flops)
  MatMul (120/120 flops)
120
>>> options = tf.profiler.ProfileOptionBuilder.trainable_variables_parameter()
>>> tf.profiler.profile(graph, options=options).total_parameters
node name | # parameters
_TFProfRoot (--/20 params)
  w (4x5, 20/20 params)
20
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pullback as pb

from .float_operations import float_operations

Options = Mapping[str, Any]
_ROOT = "_TFProfRoot"
_COLUMNS = {"params": ("parameters", "params"), "float_ops": ("float_ops", "flops")}
"""What may be selected: the field of a node, and its unit."""


@dataclass
class GraphNode:
    """An operation, or a scope, and what is below it; totals count what is below too."""

    name: str
    op_types: list[str] = field(default_factory=list)
    shape: pb.TensorShape | None = None
    """Of a variable."""
    parameters: int = 0
    float_ops: int = 0
    total_parameters: int = 0
    total_float_ops: int = 0
    children: list[GraphNode] = field(default_factory=list)


class ProfileOptionBuilder:
    """Makes the options of `profile`, a dictionary.

    >>> builder = ProfileOptionBuilder(ProfileOptionBuilder.float_operation())
    >>> options = builder.with_max_depth(1).with_empty_output().build()
    >>> options["max_depth"], options["select"], options["output"]
    (1, ['float_ops'], 'none')
    """

    def __init__(self, options: Options | None = None) -> None:
        self._options = dict(options or _options("name", ["float_ops"]))

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """The parameters of trainable variables."""
        return _options("name", ["params"], account_type_regexes=["_trainable_variables"])

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """The operations on floats, of all that have some."""
        return _options("float_ops", ["float_ops"], min_float_ops=1)

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Shows nothing deeper."""
        return self._with(max_depth=max_depth)

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Shows only what has so many parameters."""
        return self._with(min_params=min_params)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Shows only what has so many operations on floats."""
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> ProfileOptionBuilder:
        """Counts only operations of these types; `_trainable_variables` is one."""
        return self._with(account_type_regexes=list(account_type_regexes))

    def with_node_names(
        self,
        start_name_regexes: Sequence[str] | None = None,
        show_name_regexes: Sequence[str] | None = None,
        hide_name_regexes: Sequence[str] | None = None,
        trim_name_regexes: Sequence[str] | None = None,
    ) -> ProfileOptionBuilder:
        """Shows only what has such names: begins at, shows, hides with all below, and ends behind them."""
        given = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._with(**{name: list(value) for name, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Whether totals count only what is shown."""
        return self._with(account_displayed_op_only=is_true)

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """By what nodes are ordered: "name", "params" or "float_ops"."""
        return self._with(order_by=attribute)

    def select(self, attributes: Sequence[str]) -> ProfileOptionBuilder:
        """What is shown of each: "params", "float_ops"."""
        return self._with(select=list(attributes))

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Writes nothing."""
        return self._with(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Writes to standard output, as from the beginning."""
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Writes to a file."""
        return self._with(output=f"file:outfile={outfile}")

    def build(self) -> dict[str, Any]:
        """The options."""
        return dict(self._options)

    def _with(self, **options: Any) -> ProfileOptionBuilder:
        self._options.update(options)
        return self


def profile(
    graph: pb.Graph | None = None,
    run_meta: object = None,
    op_log: object = None,
    cmd: str = "scope",
    options: Options | None = None,
) -> GraphNode:
    """The tree of what was counted, and, unless the options say otherwise, its text on standard output.

    With `cmd="op"` nodes are types of operations, side by side; else scopes. What was measured in a run is not in it.

    Raises:
        ValueError: another `cmd`.
    """
    del run_meta, op_log
    if cmd not in ("scope", "graph", "code", "op"):
        raise ValueError(f"profile: cmd must be 'scope', 'graph', 'code' or 'op', not {cmd!r}")
    chosen = ProfileOptionBuilder().build() | dict(options or {})
    counted = [node for node in _counted(graph or pb.get_default_graph()) if _is_accounted(node, chosen)]
    made = _by_types(counted) if cmd == "op" else _in_scopes(counted)
    root = _shown(made, chosen, 0) or GraphNode(_ROOT)
    lines = [f"node name | {', '.join(f'# {_COLUMNS[s][0]}' for s in chosen['select'] if s in _COLUMNS)}"]
    lines += _lines(root, [s for s in chosen["select"] if s in _COLUMNS], 0)
    _write("\n".join(lines), chosen["output"])
    return root


class Profiler:
    """Counts one graph by different options."""

    def __init__(self, graph: pb.Graph | None = None, op_log: object = None) -> None:
        del op_log
        self._graph = graph or pb.get_default_graph()

    def profile_operations(self, options: Options) -> GraphNode:
        """Types of operations, side by side."""
        return profile(self._graph, cmd="op", options=options)

    def profile_name_scope(self, options: Options) -> GraphNode:
        """Operations by their scopes."""
        return profile(self._graph, options=options)

    profile_graph = profile_python = profile_name_scope


def _options(order_by: str, select: list[str], **others: Any) -> dict[str, Any]:
    least = dict.fromkeys(["min_bytes", "min_micros", "min_params", "min_float_ops", "min_occurrence"], 0)
    return {
        "max_depth": 10000,
        **least,
        "order_by": order_by,
        "account_type_regexes": [".*"],
        "start_name_regexes": [".*"],
        "trim_name_regexes": [],
        "show_name_regexes": [".*"],
        "hide_name_regexes": [],
        "account_displayed_op_only": True,
        "select": select,
        "step": -1,
        "output": "stdout",
        **others,
    }


def _counted(graph: pb.Graph) -> Iterator[GraphNode]:
    """The variables of a graph, and the operations in which floats are counted."""
    trainable = {v.handle.op for v in graph.get_collection(pb.GraphKeys.TRAINABLE_VARIABLES)}
    for v in graph.get_collection(pb.GraphKeys.GLOBAL_VARIABLES):
        kinds = [v.handle.op.type, *(["_trainable_variables"] if v.handle.op in trainable else [])]
        yield GraphNode(v.op.name, kinds, v.shape, parameters=v.shape.num_elements() or 0)
    pending = [("", op) for op in graph.get_operations()]
    for prefix, op in pending:
        count = float_operations(op)
        if count:
            yield GraphNode(prefix + op.name, [op.type], float_ops=count)
        inner = [x for function in op.primitive.functions for x in function.operations]
        pending += [(f"{prefix}{op.name}/", x) for x in inner]


def _is_accounted(node: GraphNode, options: Options) -> bool:
    return any(re.fullmatch(regex, kind) for regex in options["account_type_regexes"] for kind in node.op_types)


def _in_scopes(nodes: Sequence[GraphNode]) -> GraphNode:
    root = GraphNode(_ROOT)
    known = {"": root}
    for node in nodes:
        parts = node.name.split("/")
        for depth in range(1, len(parts) + 1):
            name, around = "/".join(parts[:depth]), "/".join(parts[: depth - 1])
            if name not in known:
                known[name] = GraphNode(name)
                known[around].children.append(known[name])
        there = known[node.name]
        there.op_types, there.shape = [*there.op_types, *node.op_types], node.shape or there.shape
        there.parameters += node.parameters
        there.float_ops += node.float_ops
    return root


def _by_types(nodes: Sequence[GraphNode]) -> GraphNode:
    found: dict[str, GraphNode] = {}
    for node in nodes:
        made = found.setdefault(node.op_types[0], GraphNode(node.op_types[0], node.op_types[:1]))
        made.parameters += node.parameters
        made.float_ops += node.float_ops
    return GraphNode(_ROOT, children=list(found.values()))


def _shown(node: GraphNode, options: Options, depth: int, *, started: bool = False) -> GraphNode | None:
    """The part of the tree that the options ask for, with totals; None where nothing is left."""
    name = node.name
    if depth and _matches(name, options["hide_name_regexes"]):
        return None
    started = started or (depth > 0 and _matches(name, options["start_name_regexes"]))
    ends = depth > 0 and _matches(name, options["trim_name_regexes"])
    inner = [_shown(child, options, depth + 1, started=started) for child in ([] if ends else node.children)]
    below = [child for child in inner if child is not None]
    own = node.parameters >= options["min_params"] and node.float_ops >= options["min_float_ops"]
    here = started and own and bool(node.op_types) and _matches(name, options["show_name_regexes"])
    if depth and not (here or below):
        return None
    counts = here or not options["account_displayed_op_only"]
    made = GraphNode(name, node.op_types, node.shape)
    made.parameters, made.float_ops = (node.parameters, node.float_ops) if counts else (0, 0)
    made.total_parameters = made.parameters + sum(child.total_parameters for child in below)
    made.total_float_ops = made.float_ops + sum(child.total_float_ops for child in below)
    made.children = (
        sorted(below, key=lambda child: _order(child, options["order_by"])) if depth < options["max_depth"] else []
    )
    return made


def _matches(name: str, regexes: Sequence[str]) -> bool:
    return any(re.fullmatch(regex, name) for regex in regexes)


def _order(node: GraphNode, by: str) -> Any:
    total = {"params": node.total_parameters, "float_ops": node.total_float_ops}.get(by)
    return node.name if total is None else -total


def _lines(node: GraphNode, select: Sequence[str], depth: int) -> list[str]:
    texts = [] if node.shape is None or "params" not in select else ["x".join(map(str, node.shape.as_list()))]
    for selected in select:
        counted, unit = _COLUMNS[selected]
        own = getattr(node, counted) or "--"
        texts.append(f"{own}/{getattr(node, f'total_{counted}')} {unit}")
    line = f"{'  ' * depth}{node.name} ({', '.join(texts)})"
    return [line, *[text for child in node.children for text in _lines(child, select, depth + 1)]]


def _write(text: str, output: str) -> None:
    kind, _, outfile = output.partition(":outfile=")
    if kind == "stdout":
        print(text)
    elif kind == "file":
        Path(outfile).write_text(text + "\n", encoding="utf-8")
