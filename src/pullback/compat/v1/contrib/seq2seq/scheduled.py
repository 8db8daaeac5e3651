"""Scheduled sampling: training inputs, some of which are replaced by what the decoder made (Bengio et al., 2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pullback as pb

from .....core.typing import TensorLike
from .....layers.rnn.recurrent import along
from .helpers import TrainingHelper, drawn, embedding_function, steps_of


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """A `TrainingHelper` that takes, with a probability, the embedding of a class drawn from the outputs as next input.

    Samples are the classes that were drawn, -1 where the inputs are those given.

    Raises:
        ValueError: `sampling_probability` is neither a scalar nor a vector.
    """

    def __init__(
        self,
        inputs: TensorLike,
        sequence_length: TensorLike,
        embedding: Any,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(inputs, sequence_length, time_major, name)
        self._embedding_fn = embedding_function(embedding)
        self._sampling_probability = _probability(type(self).__name__, sampling_probability)
        self._seed, self._scheduling_seed = seed, scheduling_seed

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        """Classes that are drawn, or -1."""
        noise = pb.random_uniform(
            [self._batch_size], dtype=self._sampling_probability.dtype, seed=self._scheduling_seed
        )
        return pb.where(self._sampling_probability > noise, drawn(outputs, self._seed), -1)

    def _following(self, inputs: pb.Tensor, time: Any, outputs: Any, sample_ids: Any) -> Any:
        made = self._embedding_fn(pb.maximum(sample_ids, 0))
        return pb.where(along(sample_ids > -1, made), made, inputs)


class ScheduledOutputTrainingHelper(TrainingHelper):
    """A `TrainingHelper` that takes, with a probability, the outputs, or what a function makes of them, as next input.

    Samples say where that was so. `auxiliary_inputs` stand behind the inputs, be they given or made.

    Raises:
        ValueError: `sampling_probability` is neither a scalar nor a vector.
    """

    def __init__(
        self,
        inputs: TensorLike,
        sequence_length: TensorLike,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
        auxiliary_inputs: TensorLike | None = None,
        name: str | None = None,
    ) -> None:
        given = pb.convert_to_tensor(inputs)
        self._auxiliary: pb.TensorArray | None = None
        if auxiliary_inputs is not None:
            more = pb.convert_to_tensor(auxiliary_inputs)
            given = pb.concat([given, more], -1)
            self._auxiliary = steps_of(more, time_major)
        super().__init__(given, sequence_length, time_major, name)
        self._sampling_probability = _probability(type(self).__name__, sampling_probability)
        self._seed, self._next_inputs_fn = seed, next_inputs_fn

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        """1 where the outputs are the next inputs, 0 elsewhere."""
        p = self._sampling_probability
        return pb.cast(pb.random_uniform([self._batch_size], dtype=p.dtype, seed=self._seed) < p, pb.int32)

    def _following(self, inputs: pb.Tensor, time: Any, outputs: Any, sample_ids: Any) -> Any:
        made = outputs if self._next_inputs_fn is None else self._next_inputs_fn(outputs)
        if self._auxiliary is not None:
            made = pb.concat([made, self._auxiliary.read(time + 1)], -1)
        return pb.where(along(pb.cast(sample_ids, pb.bool), made), made, inputs)


def _probability(what: str, value: Any) -> pb.Tensor:
    p = pb.convert_to_tensor(value)
    if p.shape.rank not in (0, 1):
        raise ValueError(f"{what}: sampling_probability must be a scalar or a vector, not {p.type}")
    return p
