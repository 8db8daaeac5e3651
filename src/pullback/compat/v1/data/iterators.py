"""Iterators (`tf.data.Iterator`): what hands the elements of a dataset to the runs of a session, one each run.

A session has places of its own in the datasets that it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Iterator as PythonIterator
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary, ref

import numpy as np

import pullback as pb

from ....control_flow.host_call import host_call
from ....core.types import tensor_type
from .dataset import Dataset, Element
from .functions import Pass
from .sparse import as_sparse
from .structure import Array, classes_in, declared, leaves, packed, shapes_in, types_in

_numbers = count()
_known: WeakValueDictionary[str, Iterator] = WeakValueDictionary()
"""Iterators by the text of their handles."""


class Iterator:
    """A place in a dataset for each session.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.placeholder(tf.float32, [None])
    >>> iterator = tf.data.Dataset.from_tensor_slices(x).make_initializable_iterator()
    >>> y = iterator.get_next() * 2.0
    >>> with tf.Session() as sess:
    ...     sess.run(iterator.initializer, {x: [1.0, 2.0]})
    ...     print(sess.run(y), sess.run(y))
    2.0 4.0
    """

    def __init__(self, spec: Any, dataset: Dataset | None = None, one_shot: bool = False) -> None:
        self.element_spec = spec
        self._dataset = dataset
        self._one_shot = one_shot
        self._places: WeakKeyDictionary[Any, PythonIterator[Element]] = WeakKeyDictionary()
        self._handle = f"iterator {next(_numbers)}"
        _known[self._handle] = self

    @staticmethod
    def from_structure(
        output_types: Any, output_shapes: Any = None, shared_name: str | None = None, output_classes: Any = None
    ) -> Iterator:
        """An iterator for all datasets of these types, which `make_initializer` puts at the beginning of one."""
        del shared_name
        return Iterator(declared(output_types, output_shapes, output_classes))

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> FeedableIterator:
        """The iterator whose handle a run is fed with."""
        spec = declared(output_types, output_shapes, output_classes)
        return FeedableIterator(pb.convert_to_tensor(string_handle), spec)

    @property
    def output_types(self) -> Any:
        """The dtypes of an element."""
        return types_in(self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The static shapes of an element."""
        return shapes_in(self.element_spec)

    @property
    def output_classes(self) -> Any:
        """The classes of what `get_next` gives."""
        return classes_in(self.element_spec)

    @property
    def initializer(self) -> pb.Operation:
        """The operation that puts it at the beginning of its dataset.

        Raises:
            ValueError: it has none of its own.
        """
        if self._dataset is None or self._one_shot:
            raise ValueError("Iterator.initializer: this iterator has none; use make_initializer(dataset)")
        return self.make_initializer(self._dataset)

    def make_initializer(self, dataset: Dataset, name: str | None = None) -> pb.Operation:
        """The operation that puts it at the beginning of `dataset`."""

        def initialize(session: Any, *values: Array) -> Sequence[Array]:
            self._begin(session, dataset, values)
            return ()

        return host_call(initialize, dataset.inputs, (), name or "MakeIterator")

    def get_next(self, name: str | None = None) -> Any:
        """The next element, in tensors: each run that needs them goes on by one.

        Raises:
            OutOfRangeError: from a run, at the end of the dataset.
            FailedPreconditionError: from a run, before the initializer has run.
        """
        inputs = self._dataset.inputs if self._one_shot and self._dataset is not None else ()
        return elements_of(self.element_spec, self.next_of, inputs, name)

    def string_handle(self, name: str | None = None) -> pb.Tensor:
        """What to feed, by the value of this tensor, where `from_string_handle` was given a placeholder."""

        def handle(session: Any) -> Sequence[Array]:
            del session
            return [np.array(self._handle.encode(), object)]

        return host_call(handle, (), [tensor_type(pb.string, [])], name or "IteratorToStringHandle").outputs[0]

    def next_of(self, session: Any, *values: Array) -> Element:
        """The leaves of the next element for `session`."""
        if session not in self._places and self._one_shot and self._dataset is not None:
            self._begin(session, self._dataset, values)
        place = self._places.get(session)
        if place is None:
            raise pb.errors.FailedPreconditionError(
                "get_next: the iterator has no place yet; run its initializer first"
            )
        return next(place)

    def _begin(self, session: Any, dataset: Dataset, values: Sequence[Array]) -> None:
        given = Pass(ref(session), dict(zip(dataset.inputs, values, strict=True)))
        self._places[session] = iter(dataset.elements(given))


class FeedableIterator:
    """The iterator whose handle is the value of a tensor."""

    def __init__(self, handle: pb.Tensor, spec: Any) -> None:
        self.element_spec = spec
        self._handle = handle

    def get_next(self, name: str | None = None) -> Any:
        """The next element of the iterator whose handle is fed, in tensors.

        Raises:
            InvalidArgumentError: from a run, if no iterator has that handle.
        """

        def next_of(session: Any, handle: Array) -> Element:
            given = handle[()]
            text = given.decode() if isinstance(given, bytes) else str(given)
            if text not in _known:
                raise pb.errors.InvalidArgumentError(
                    f"get_next: no iterator has the handle {text!r}; feed what string_handle() gives"
                )
            return _known[text].next_of(session)

        return elements_of(self.element_spec, next_of, [self._handle], name)


def elements_of(spec: Any, call: Callable[..., Element], inputs: Sequence[pb.Tensor], name: str | None) -> Any:
    """The tensors, also sparse ones, of an element that `call` gives."""
    return as_sparse(packed(spec, host_call(call, inputs, leaves(spec), name or "IteratorGetNext").outputs))


def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """An iterator that needs no initializer."""
    return Iterator(dataset.element_spec, dataset, one_shot=True)


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Iterator:
    """An iterator that its `initializer` puts at the beginning of `dataset`."""
    del shared_name
    return Iterator(dataset.element_spec, dataset)
