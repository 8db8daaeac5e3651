"""Sampling helpers of decoders: where the inputs of the next step come from, and when a sequence is finished."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pullback as pb

from .....core.shape import as_shape
from .....core.typing import ShapeLike, TensorLike
from .....layers.rnn.recurrent import axes_exchanged


class Helper:
    """What a `BasicDecoder` asks for samples and inputs; programs derive their own."""

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        raise NotImplementedError(f"{type(self).__name__} defines no batch_size; its subclass must")

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of the sample of a sequence."""
        raise NotImplementedError(f"{type(self).__name__} defines no sample_ids_shape; its subclass must")

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        raise NotImplementedError(f"{type(self).__name__} defines no sample_ids_dtype; its subclass must")

    def known_steps(self) -> pb.Tensor | None:
        """The number of steps, where it is known before the first."""
        return None

    def initialize(self, name: str | None = None) -> Any:
        """Which sequences are finished before the first step, and its inputs."""
        raise NotImplementedError(f"{type(self).__name__} defines no initialize(); its subclass must")

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """The samples of the outputs of a step."""
        raise NotImplementedError(f"{type(self).__name__} defines no sample(); its subclass must")

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """Which sequences are finished, and the inputs and the state of the next step."""
        raise NotImplementedError(f"{type(self).__name__} defines no next_inputs(); its subclass must")


class CustomHelper(Helper):
    """A helper of three functions: `initialize_fn()`, `sample_fn(time, outputs, state)`, `next_inputs_fn(...)`."""

    def __init__(
        self,
        initialize_fn: Callable[[], Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: ShapeLike | None = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._initialize_fn, self._sample_fn, self._next_inputs_fn = initialize_fn, sample_fn, next_inputs_fn
        self._sample_ids_shape, self._sample_ids_dtype = as_shape(sample_ids_shape or []), sample_ids_dtype or pb.int32
        self._batch_size: pb.Tensor | None = None

    @property
    def batch_size(self) -> Any:
        """The number of sequences; ValueError before `initialize`."""
        if self._batch_size is None:
            raise ValueError("CustomHelper: batch_size is known after initialize()")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> pb.TensorShape:
        """The shape of the sample of a sequence."""
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> Any:
        """What `initialize_fn` returns."""
        finished, inputs = self._initialize_fn()
        self._batch_size = pb.size(finished)
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """What `sample_fn` returns."""
        return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """What `next_inputs_fn` returns."""
        return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class _IdsHelper(Helper):
    """A helper whose samples are numbers of classes."""

    @property
    def sample_ids_shape(self) -> pb.TensorShape:
        """That of a scalar."""
        return pb.TensorShape.SCALAR

    @property
    def sample_ids_dtype(self) -> Any:
        """int32."""
        return pb.int32


class TrainingHelper(_IdsHelper):
    """A helper that reads `inputs` [batch, time, ...] step by step; samples are the largest outputs.

    Raises:
        ValueError: `sequence_length` is no vector. InvalidArgumentError: in a run, it is longer than the inputs; where
            XLA does not know that before, what is read there is NaN.
    """

    def __init__(
        self, inputs: TensorLike, sequence_length: TensorLike, time_major: bool = False, name: str | None = None
    ) -> None:
        self._inputs, self._sequence_length = (
            pb.convert_to_tensor(inputs),
            pb.convert_to_tensor(sequence_length, pb.int32),
        )
        if self._sequence_length.shape.rank != 1:
            raise ValueError(f"TrainingHelper: sequence_length must be a vector, not {self._sequence_length.type}")
        self._steps = steps_of(self._inputs, time_major, name or "TrainingHelper")
        self._batch_size = pb.size(self._sequence_length)

    @property
    def inputs(self) -> pb.Tensor:
        """The inputs as they were given."""
        return self._inputs

    @property
    def sequence_length(self) -> pb.Tensor:
        """The lengths."""
        return self._sequence_length

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._batch_size

    def known_steps(self) -> pb.Tensor | None:
        """The greatest length, unless a class of one's own says what is next."""
        own = type(self).next_inputs is not TrainingHelper.next_inputs
        return None if own else pb.reduce_max(self._sequence_length)

    def initialize(self, name: str | None = None) -> Any:
        """Which sequences are empty, and the first inputs."""
        return self._sequence_length <= 0, self._steps.read(0)

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        """The numbers of the largest outputs."""
        return pb.argmax(outputs, -1, pb.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any = None, name: str | None = None) -> Any:
        """Which sequences end here, the inputs of the next step, and the state."""
        inputs = self._following(self._steps.read(time + 1), time, outputs, sample_ids)
        return time + 1 >= self._sequence_length, inputs, state

    def _following(self, inputs: pb.Tensor, time: Any, outputs: Any, sample_ids: Any) -> Any:
        """What is taken in place of the inputs that were given."""
        return inputs


class GreedyEmbeddingHelper(_IdsHelper):
    """A helper that takes the class of the largest output, and its embedding as the next input.

    `embedding` is a table, or a function of numbers. A sequence ends with `end_token`.

    Raises:
        ValueError: `start_tokens` is no vector, `end_token` no scalar.
    """

    def __init__(self, embedding: Any, start_tokens: TensorLike, end_token: TensorLike) -> None:
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens, self._end_token = tokens(type(self).__name__, start_tokens, end_token)
        self._batch_size = pb.size(self._start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._batch_size

    def initialize(self, name: str | None = None) -> Any:
        """No sequence is finished; the inputs are those of the start tokens."""
        return pb.fill([self._batch_size], False), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """The numbers of the largest outputs."""
        return pb.argmax(outputs, -1, pb.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """Which sequences end here, the embeddings of the samples, and the state."""
        return pb.equal(sample_ids, self._end_token), self._embedding_fn(sample_ids), state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """A `GreedyEmbeddingHelper` that draws classes, with the softmax of the outputs over a temperature."""

    def __init__(
        self,
        embedding: Any,
        start_tokens: TensorLike,
        end_token: TensorLike,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Numbers of classes, drawn."""
        t = self._softmax_temperature
        return drawn(outputs if t is None else outputs / t, self._seed)


class InferenceHelper(Helper):
    """A helper whose samples are made by a function, and are the next inputs, or are made to inputs by another."""

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: ShapeLike,
        sample_dtype: Any,
        start_inputs: TensorLike,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self._sample_shape, self._sample_dtype = as_shape(sample_shape), sample_dtype
        self._start_inputs = pb.convert_to_tensor(start_inputs)
        self._batch_size = pb.shape(self._start_inputs)[0]

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> pb.TensorShape:
        """The shape of the sample of a sequence."""
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> Any:
        """No sequence is finished; the inputs are those given."""
        return pb.fill([self._batch_size], False), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """What `sample_fn` makes of the outputs."""
        return self._sample_fn(outputs)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """Which sequences end here, the inputs of the next step, and the state."""
        made = self._next_inputs_fn
        return self._end_fn(sample_ids), (sample_ids if made is None else made(sample_ids)), state


def steps_of(inputs: pb.Tensor, time_major: bool, name: str | None = None) -> pb.TensorArray:
    """The inputs of each step, and zeros for the step that is not made."""
    rows = inputs if time_major else axes_exchanged(inputs)
    more = pb.concat([rows, pb.zeros_like(rows[:1])], 0, name=name)
    return pb.TensorArray(rows.dtype, element_shape=rows.shape[1:]).unstack(more)


def embedding_function(embedding: Any) -> Callable[[Any], Any]:
    """A function of numbers: `embedding`, or the rows of a table."""
    return embedding if callable(embedding) else lambda ids: pb.nn.embedding_lookup(embedding, ids)


def tokens(what: str, start_tokens: Any, end_token: Any) -> tuple[pb.Tensor, pb.Tensor]:
    """The tokens that sequences begin with, and the one that ends them."""
    start, end = pb.convert_to_tensor(start_tokens, pb.int32), pb.convert_to_tensor(end_token, pb.int32)
    if start.shape.rank != 1 or end.shape.rank != 0:
        raise ValueError(f"{what}: start_tokens must be a vector and end_token a scalar, not {start.type}, {end.type}")
    return start, end


def drawn(logits: Any, seed: int | None) -> pb.Tensor:
    """A class for each row of `logits` [batch, classes]."""
    return pb.squeeze(pb.random.categorical(logits, 1, pb.int32, seed), [1])
