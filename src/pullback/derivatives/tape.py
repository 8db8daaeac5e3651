"""Gradient tape: derivatives along the operations that were made while the tape recorded, and no others.

The tape keeps no list of operations. It notes between which places of its graph it recorded, and finds out when it is
asked what of that depends on what is watched; everything else is held constant in a call of `gradients`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NamedTuple

from ..autodiff.arguments import UnconnectedGradients, as_mode
from ..autodiff.reverse import gradients
from ..core import nest
from ..core.dtypes import TRAINABLE, resource
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.typing import TensorLike
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.creation.fill import zeros
from ..primitives.shape.size import shape
from ..primitives.shape.stacking import concat
from ..primitives.variables.operations import VarHandleOp, handle_primitive
from ..primitives.variables.variable import Variable
from .jacobian import batch_rows
from .jacobian_modes import reverse
from .products import as_sources, source_tensor, value_type, zeros_of


class _Span(NamedTuple):
    """A stretch of the operations of a graph; up to the last one where `stop` is None."""

    graph: Graph
    start: int
    stop: int | None = None


class _Watch(NamedTuple):
    """A tensor, or the handle of a variable, that is watched from a place of a graph on."""

    tensor: Tensor
    graph: Graph
    start: int


class GradientTape:
    """Derivatives of what is computed in a `with` block by what is watched there: TensorFlow's other way to ask.

    Operations count that are made while the tape records and depend on something watched before they are made; all
    others are constants. `pb.gradients` needs no tape, and differentiates along every operation.

    Args:
        persistent: whether it may be asked more than once.
        watch_accessed_variables: whether trainable variables are watched from their first read on.

    >>> import pullback as pb
    >>> x = pb.constant(3.0)
    >>> with pb.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> pb.Session().run(tape.gradient(y, x))
    np.float32(6.0)
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watches_variables = watch_accessed_variables
        self._is_recording = False
        self._is_used = False
        self.reset()

    def __enter__(self) -> GradientTape:
        """Begins, or goes on, to record.

        Raises:
            ValueError: it records already.
        """
        if self._is_recording:
            raise ValueError(
                "GradientTape: the tape is still recording; leave its `with` block before entering it again"
            )
        self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends to record."""
        if self._is_recording:
            self._end()

    def watch(self, tensor: TensorLike) -> None:
        """Let operations that are made from now on count where they depend on `tensor`, or on a structure of them.

        Raises:
            ValueError: something else than a tensor or a variable. RuntimeError: the tape has not been entered.

        >>> import pullback as pb
        >>> x = pb.constant(3.0)
        >>> with pb.GradientTape() as tape:
        ...     y = x * x
        ...     tape.watch(x)
        ...     z = x + y
        >>> pb.Session().run(tape.gradient(z, x))
        np.float32(1.0)
        """
        if not self._spans:
            raise RuntimeError("GradientTape.watch: the tape has not been entered; call it in the `with` block")
        graph = get_default_graph()
        for x in nest.flatten(tensor):
            if not isinstance(x, Tensor | Variable):
                raise ValueError(f"GradientTape.watch: {x!r} is neither a tensor nor a variable")
            self._watched.append(_Watch(source_tensor(x), graph, len(graph.operations)))

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """A block in which nothing is recorded.

        Raises:
            ValueError: the tape does not record.

        >>> import pullback as pb
        >>> x = pb.constant(3.0)
        >>> with pb.GradientTape() as tape:
        ...     tape.watch(x)
        ...     with tape.stop_recording():
        ...         y = x * x
        ...     z = x * y
        >>> pb.Session().run(tape.gradient(z, x))
        np.float32(9.0)
        """
        if not self._is_recording:
            raise ValueError("GradientTape.stop_recording: the tape is not recording")
        self._end()
        try:
            yield
        finally:
            self._begin()

    def reset(self) -> None:
        """Forgets everything: what was recorded, and what is watched.

        >>> import pullback as pb
        >>> x = pb.constant(3.0)
        >>> with pb.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        ...     tape.reset()
        >>> tape.gradient(y, x) is None
        True
        """
        self._spans: list[_Span] = []
        self._watched: list[_Watch] = []
        self._is_used = False
        if self._is_recording:
            self._begin()

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables that are watched, in the order in which they came to be.

        >>> import pullback as pb
        >>> v = pb.Variable(1.0)
        >>> with pb.GradientTape() as tape:
        ...     y = v * 2.0
        >>> tape.watched_variables() == (v,)
        True
        """
        graphs = dict.fromkeys(span.graph for span in self._spans)
        tracked = dict.fromkeys(x for graph in graphs for x in self._recording(graph).tracked)
        return tuple(Variable.from_handle(x) for x in tracked if isinstance(x.op.primitive, VarHandleOp))

    def gradient(
        self,
        target: TensorLike,
        sources: TensorLike,
        output_gradients: TensorLike | Sequence[TensorLike | None] | None = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """The derivatives of the sum of `target` by `sources`, in the structure of `sources`; see `pb.gradients`.

        None, or zeros, for what is not watched, and where nothing that was recorded leads to it.

        Args:
            target: a tensor, or a structure of them.
            sources: a tensor or a variable, or a structure of them.
            output_gradients: a cotangent for each target.
            unconnected_gradients: "none" or "zero".

        Raises:
            RuntimeError: a second time, unless the tape is persistent.
        """
        self._use()
        mode, targets, flat = as_mode(unconnected_gradients), nest.flatten(target), nest.flatten(sources)
        seeds = [None] * len(targets) if output_gradients is None else nest.flatten(output_gradients)

        def pull(ys: list[Any], xs: list[Any], stops: list[Tensor], chosen: list[bool]) -> list[Any]:
            given = [seed for seed, is_chosen in zip(seeds, chosen, strict=True) if is_chosen]
            return gradients(ys, xs, given, "gradient_tape", stop_gradients=stops)

        found = self._along_the_tape(targets, flat, pull)
        if mode is UnconnectedGradients.ZERO:
            found = [zeros_of(x) if dx is None else dx for x, dx in zip(as_sources(flat), found, strict=True)]
        return nest.pack_sequence_as(sources, found)

    def jacobian(
        self,
        target: TensorLike,
        sources: TensorLike,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivatives of every element of `target` by those of `sources`: shapes target.shape + source.shape.

        The arguments are those of `gradient`, the last two those of `pb.jacobian`.

        Raises:
            RuntimeError: a second time, unless the tape is persistent.

        >>> import pullback as pb
        >>> x = pb.constant([1.0, 2.0])
        >>> with pb.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> pb.Session().run(tape.jacobian(y, x)).tolist()
        [[2.0, 0.0], [0.0, 4.0]]
        """
        del parallel_iterations
        self._use()
        mode, y, flat = as_mode(unconnected_gradients), convert_to_tensor(target), nest.flatten(sources)
        at_once = None if experimental_use_pfor else 1
        found = self._along_the_tape([y], flat, lambda _, xs, stops, __: reverse(y, xs, at_once, stops))
        if mode is UnconnectedGradients.ZERO:
            found = [_zeros(y, x) if dx is None else dx for x, dx in zip(as_sources(flat), found, strict=True)]
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(
        self,
        target: TensorLike,
        source: TensorLike,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor | None:
        """For each example the derivatives of its target by its source: [b, y..., x...] for [b, y...] and [b, x...].

        Raises:
            RuntimeError: a second time, unless the tape is persistent. ValueError: the first lengths differ.

        >>> import pullback as pb
        >>> x = pb.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> with pb.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> pb.Session().run(tape.batch_jacobian(y, x)).tolist()
        [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
        """
        del parallel_iterations
        self._use()
        mode, y, x = as_mode(unconnected_gradients), convert_to_tensor(target), as_sources([source])[0]
        at_once = None if experimental_use_pfor else 1
        (found,) = self._along_the_tape([y], [x], lambda _, __, stops, ___: batch_rows(y, [x], at_once, stops))
        if found is None and mode is UnconnectedGradients.ZERO:
            return _zeros(y, zeros_of(x)[0])
        return found  # type: ignore[no-any-return]

    def _begin(self) -> None:
        graph = get_default_graph()
        self._spans.append(_Span(graph, len(graph.operations)))
        self._is_recording = True

    def _end(self) -> None:
        span = self._spans[-1]
        self._spans[-1] = span._replace(stop=len(span.graph.operations))
        self._is_recording = False

    def _use(self) -> None:
        """Ends to record where the tape is not persistent: it has been asked."""
        if self._is_used and not self._persistent:
            raise RuntimeError(
                "GradientTape: a tape that is not persistent gives derivatives once; "
                "make it with GradientTape(persistent=True)"
            )
        self._is_used = True
        if self._is_recording and not self._persistent:
            self._end()

    def _recording(self, graph: Graph) -> _Recording:
        return _Recording(self._spans, self._watched, self._watches_variables, graph)

    def _along_the_tape(self, ys: list[Any], xs: list[Any], pull: Callable[..., Sequence[Any]]) -> list[Any]:
        """What `pull` gives for the ys and xs that the tape knows, None for other xs; it is told which ys they are."""
        graph = next(
            (source_tensor(y).graph for y in [*ys, *xs] if isinstance(y, Tensor | Variable)), get_default_graph()
        ).acting
        recorded = self._recording(graph)
        chosen = [recorded.knows(y) for y in ys]
        known = [y for y, is_chosen in zip(ys, chosen, strict=True) if is_chosen]
        sources = [x for x in xs if recorded.knows(x)]
        found = iter(pull(known, sources, recorded.constants, chosen) if known and sources else [None] * len(sources))
        return [next(found) if recorded.knows(x) else None for x in xs]


class _Recording:
    """What a tape recorded in a graph and in those around it."""

    def __init__(
        self, spans: Sequence[_Span], watched: Sequence[_Watch], watches_variables: bool, graph: Graph
    ) -> None:
        self._spans, self._watched, self._watches_variables = spans, watched, watches_variables
        self._operations: set[Operation] = set()
        self._read: dict[Tensor, None] = {}
        self._stands_for: dict[Tensor, Tensor] = {}
        """For a parameter of a body, and for a tensor of known shape, what it is in the graph around, or was before."""
        self.tracked: dict[Tensor, None] = {}
        """What is watched, and what depends on it."""
        for level in reversed(list(graph.levels())):
            self._walk(level)

    @property
    def constants(self) -> list[Tensor]:
        """What was read and not recorded."""
        return [x for x in self._read if x.op not in self._operations]

    def knows(self, value: Any) -> bool:
        """Whether `value` is watched or depends on what is."""
        return isinstance(value, Tensor | Variable) and self._known_as(source_tensor(value)) in self.tracked

    def _known_as(self, x: Tensor) -> Tensor:
        return self._stands_for.get(x, x)

    def _walk(self, graph: Graph) -> None:
        for x, inner in [*graph.captures.items(), *graph.refined.items()]:
            self._stands_for[inner] = self._known_as(x)
        waiting = [watch for watch in self._watched if watch.graph is graph]
        for span in self._spans_of(graph):
            for number, op in enumerate(graph.operations[span.start : span.stop], span.start):
                while waiting and waiting[0].start <= number:
                    self._track([waiting.pop(0).tensor])
                self._take(op)
        self._track([watch.tensor for watch in waiting])

    def _spans_of(self, graph: Graph) -> list[_Span]:
        """The stretches that were recorded; a body that is built while the tape records around it counts as a whole."""
        own = [span for span in self._spans if span.graph is graph]
        last = self._spans[-1] if self._spans else None
        is_inside = last is not None and last.stop is None and graph.lies_in(last.graph)
        return own or ([_Span(graph, 0)] if is_inside else [])

    def _take(self, op: Operation) -> None:
        inputs = [self._known_as(x) for x in op.inputs]
        if self._watches_variables and op.outputs:
            self._track([x for x in inputs if _is_trainable_variable(x)])
        if any(x in self.tracked for x in inputs):
            self._operations.add(op)
            self._read.update(dict.fromkeys(inputs))
            self._track(op.outputs)

    def _track(self, tensors: Sequence[Tensor]) -> None:
        self.tracked.update(dict.fromkeys(self._known_as(x) for x in tensors if x.type.dtype in TRAINABLE))


def _is_trainable_variable(x: Tensor) -> bool:
    return x.type.dtype == resource and bool(handle_primitive(x).trainable)


def _zeros(y: Tensor, x: Any) -> Tensor:
    """Zeros of the shape y.shape + x.shape."""
    of_x = value_type(x)
    if y.shape.is_fully_defined() and of_x.shape.is_fully_defined():
        return zeros([*y.shape.known, *of_x.shape.known], of_x.dtype)
    return zeros(concat([shape(y), shape(convert_to_tensor(x))], 0), of_x.dtype)
