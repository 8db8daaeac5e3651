"""Recurrent network modules (`rnn`, `rnn_cell_impl`, `core_rnn_cell`): names that are nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from ...core import nest
from ...core.shape import as_shape
from ...core.typing import DTypeLike
from ...layers.rnn.cells import LSTMStateTuple, RNNCell, as_cell
from ...layers.rnn.recurrent import axes_exchanged, kept_unless, masked
from .contrib.rnn import best_effort_input_batch_size as _best_effort_input_batch_size

_BIAS_VARIABLE_NAME, _WEIGHTS_VARIABLE_NAME = "bias", "kernel"
_RNNCell, LayerRNNCell, _LSTMStateTuple = RNNCell, RNNCell, LSTMStateTuple

__all__ = [
    "_BIAS_VARIABLE_NAME",
    "_WEIGHTS_VARIABLE_NAME",
    "LayerRNNCell",
    "_LSTMStateTuple",
    "_Linear",
    "_RNNCell",
    "_best_effort_input_batch_size",
    "_concat",
    "_like_rnncell",
    "_linear",
    "_reverse_seq",
    "_rnn_step",
    "_transpose_batch_time",
    "_zero_state_tensors",
    "assert_like_rnncell",
]


def _zero_state_tensors(state_size: Any, batch_size: Any, dtype: DTypeLike) -> Any:
    """Zeros [batch_size, ...] for each length, or shape, of a structure."""
    return nest.map_structure(lambda size: pb.zeros(_concat(batch_size, size), dtype), state_size)


def _concat(prefix: Any, suffix: Any, static: bool = False) -> list[Any]:
    """The lengths of `prefix`, and then those of `suffix`: each a length or a shape."""
    del static
    return [*_lengths(prefix), *_lengths(suffix)]


def _lengths(size: Any) -> list[Any]:
    if isinstance(size, pb.Tensor):
        return [size] if size.shape.rank == 0 else pb.unstack(size)
    return as_shape(size).as_list() if isinstance(size, pb.TensorShape | list | tuple) else [size]


def _transpose_batch_time(x: Any) -> Any:
    """`x` with its first two axes in the other order; as it is where it has not two."""
    y = pb.convert_to_tensor(x)
    return y if y.shape.rank is not None and y.shape.rank < 2 else axes_exchanged(y)


def _like_rnncell(cell: Any) -> bool:
    """Whether something can be used as a cell."""
    try:
        as_cell("_like_rnncell", cell)
    except TypeError:
        return False
    return True


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """TypeError unless `cell` can be used as a cell."""
    if not _like_rnncell(cell):
        raise TypeError(f"The argument '{cell_name}' must be an RNNCell, not {cell!r}")


def _linear(
    args: Any, output_size: int, bias: bool, bias_initializer: Any = None, kernel_initializer: Any = None
) -> Any:
    """`[args...] @ kernel + bias`, with variables of the scope around.

    >>> from pullback.compat.v1 import rnn_names
    >>> import pullback.compat.v1 as tf
    >>> rnn_names._linear([tf.ones([2, 3]), tf.ones([2, 1])], 5, True).shape
    TensorShape([2, 5])
    """
    return _Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)


class _Linear:
    """`[args...] @ kernel + bias`: an object that keeps its variables."""

    def __init__(
        self,
        args: Any,
        output_size: int,
        build_bias: bool,
        bias_initializer: Any = None,
        kernel_initializer: Any = None,
    ) -> None:
        depth = sum(x.shape.size(-1) for x in _listed(args))
        self._kernel = pb.get_variable("kernel", [depth, output_size], initializer=kernel_initializer)
        self._bias: pb.Variable | None = None
        if build_bias:
            self._bias = pb.get_variable("bias", [output_size], initializer=bias_initializer or pb.zeros_initializer())

    def __call__(self, args: Any) -> Any:
        """The result for other arguments of the same lengths."""
        y: Any = pb.matmul(pb.concat(_listed(args), 1), self._kernel)
        return y if self._bias is None else y + self._bias


def _listed(args: Any) -> list[Any]:
    return [pb.convert_to_tensor(x) for x in (args if isinstance(args, list | tuple) else [args])]


def _reverse_seq(input_seq: Sequence[Any], lengths: Any) -> list[Any]:
    """A list of steps backward; of each sequence as many as it has."""
    if lengths is None:
        return list(input_seq)[::-1]
    return pb.unstack(pb.reverse_sequence(pb.stack(list(input_seq)), lengths, 0, 1))


def _rnn_step(
    time: Any,
    sequence_length: Any,
    min_sequence_length: Any,
    max_sequence_length: Any,
    zero_output: Any,
    state: Any,
    call_cell: Any,
    state_size: Any = None,
    skip_conditionals: bool = False,
) -> tuple[Any, Any]:
    """What `call_cell()` returns; for sequences that are not so long, zeros and the state as it was."""
    del min_sequence_length, max_sequence_length, zero_output, state_size, skip_conditionals
    output, after = call_cell()
    alive = pb.convert_to_tensor(sequence_length) > time
    return masked(alive, output), nest.map_structure(lambda new, old: kept_unless(alive, new, old), after, state)
