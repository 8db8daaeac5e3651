"""Datasets regrouped by what their elements are: windows, buckets of a length, several datasets in turn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any
from weakref import ref

import numpy as np

import pullback as pb

from ....core.types import tensor_type
from . import batches
from .cardinality import changed
from .dataset import Dataset, Element, value_of
from .functions import ElementFunction, Pass
from .iterators import elements_of
from .structure import as_leaves, as_tensors, leaves, packed, types_of
from .windows import DatasetSpec, window_of, windows

Transformation = Callable[[Dataset], Dataset]


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Dataset],
    window_size: int | None = None,
    window_size_func: Callable[[Any], Any] | None = None,
) -> Transformation:
    """The elements of the datasets that `reduce_func(key, window)` makes of `window_size` elements of one key.

    `window_size_func` says the number for a key, as an integer. What is left at the end are smaller windows.

    >>> import pullback.compat.v1 as tf
    >>> windows = tf.data.experimental.group_by_window(lambda i: i % 2, lambda key, window: window.batch(2), 2)
    >>> following = tf.data.Dataset.range(5).apply(windows).make_one_shot_iterator().get_next()
    >>> with tf.Session() as session:
    ...     [session.run(following).tolist() for _ in range(3)]
    [[0, 2], [1, 3], [4]]
    """

    def apply(dataset: Dataset) -> Dataset:
        key_of = ElementFunction("group_by_window", key_func, dataset.element_spec, pb.convert_to_tensor)
        window = Dataset(dataset.element_spec, [], lambda p: p.memory[id(window)])
        made: list[Dataset] = []

        def inputs_of(found: Dataset) -> Any:
            made.append(found)
            return found.inputs

        reduce = ElementFunction(
            "group_by_window", lambda k: reduce_func(k, window), tensor_type(pb.int64, []), inputs_of
        )

        def elements(p: Pass) -> Iterator[Element]:
            size_of = window_size_func or (lambda key: window_size)
            for key, group in grouped(dataset.elements(p), lambda x: int(key_of(x, p)[0]), size_of):
                given = dict(zip(made[0].inputs, reduce([np.array(key)], p), strict=True))
                yield from made[0].elements(p.within(given, {id(window): group}))

        return Dataset(made[0].element_spec, [*dataset.inputs, *key_of.inputs, *reduce.inputs], elements)

    return apply


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """Batches of elements of about the same length: below the first boundary, from there to the second, and so on.

    Raises:
        ValueError: there is not one batch size more than there are boundaries.
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError(
            f"bucket_by_sequence_length: {len(bucket_boundaries)} boundaries need {len(bucket_boundaries) + 1} batch "
            f"sizes, not {len(bucket_batch_sizes)}"
        )

    def apply(dataset: Dataset) -> Dataset:
        kinds = leaves(dataset.element_spec)
        length_of = ElementFunction(
            "bucket_by_sequence_length", element_length_func, dataset.element_spec, pb.convert_to_tensor
        )
        shapes = batches.padded_shapes(dataset.element_spec, padded_shapes)
        fills = [None] * len(kinds) if padding_values is None else leaves(padding_values)
        fills = fills * len(kinds) if len(fills) == 1 else fills

        def batch(key: int, group: list[Element]) -> Element:
            if no_padding:
                return next(batches.batched(group, len(group), False, dataset.element_spec))
            wanted = shapes
            if pad_to_bucket_boundary:
                if key == len(bucket_boundaries):
                    raise pb.errors.InvalidArgumentError(
                        "bucket_by_sequence_length: an element is longer than the last boundary"
                    )
                wanted = [batches.filled_shape(shape, bucket_boundaries[key] - 1) for shape in shapes]
            return next(batches.padded(group, len(group), False, wanted, fills))

        def elements(p: Pass) -> Iterator[Element]:
            def key_of(x: Element) -> int:
                return bisect_right(bucket_boundaries, int(length_of(x, p)[0]))

            for key, group in grouped(dataset.elements(p), key_of, lambda key: bucket_batch_sizes[key]):
                if len(group) == bucket_batch_sizes[key] or not drop_remainder:
                    yield batch(key, group)

        spec = batches.stacked_spec(batches.padded_spec(dataset.element_spec, shapes), None)
        return Dataset(spec, [*dataset.inputs, *length_of.inputs], elements)

    return apply


def grouped(
    elements: Iterable[Element], key_of: Callable[[Element], int], size_of: Callable[[int], Any]
) -> Iterator[tuple[int, list[Element]]]:
    """Elements of one key, as many at a time as that key asks for; what is left at the end by rising keys."""
    waiting: dict[int, list[Element]] = {}
    for x in elements:
        key = key_of(x)
        waiting.setdefault(key, []).append(x)
        if len(waiting[key]) >= int(size_of(key)):
            yield key, waiting.pop(key)
    yield from sorted(waiting.items())


def window(size: int, shift: int | None = None, stride: int = 1, drop_remainder: bool = False) -> Transformation:
    """Datasets of `size` elements, every `stride`-th, each `shift` further on; of parts one dataset for each part."""

    def apply(dataset: Dataset) -> Dataset:
        kinds = leaves(dataset.element_spec)
        spec = packed(dataset.element_spec, [DatasetSpec(kind) for kind in kinds])

        def elements(p: Pass) -> Iterator[Element]:
            for group in windows(dataset.elements(p), size, shift or size, stride, drop_remainder):
                yield [window_of([[x[i]] for x in group]) for i in range(len(kinds))]

        def count_of(n: int) -> int:
            reach = (size - 1) * stride if drop_remainder else 0
            return max(0, -(-(n - reach) // (shift or size)))

        return Dataset(spec, dataset.inputs, elements, changed(dataset.count, count_of))

    return apply


def reduce(dataset: Any, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
    """The last state, in tensors: `reduce_func(state, element)` gives the next one."""
    first = as_leaves(initial_state)
    step = ElementFunction("reduce", reduce_func, (types_of(first), dataset.element_spec), as_tensors)
    inputs = [*dict.fromkeys([*dataset.inputs, *step.inputs, *[x for x in leaves(first) if isinstance(x, pb.Tensor)]])]

    def call(session: Any, *values: Any) -> Element:
        p = Pass(ref(session), dict(zip(inputs, values, strict=True)))
        state: Element = [value_of(x, p) for x in leaves(first)]
        for x in dataset.elements(p):
            state = step([*state, *x], p)
        return state

    return elements_of(types_of(step.structure), call, inputs, name or "ReduceDataset")


def choose_from_datasets(
    datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """For each number of `choice_dataset` the next element of the dataset of that number, while it has one."""

    def elements(p: Pass) -> Iterator[Element]:
        places = [iter(dataset.elements(p)) for dataset in datasets]
        for (number,) in choice_dataset.elements(p):
            found = list(islice(places[int(number)], 1))
            if stop_on_empty_dataset and not found:
                return
            yield from found

    inputs = [x for dataset in [*datasets, choice_dataset] for x in dataset.inputs]
    return Dataset(datasets[0].element_spec, inputs, elements)


def sample_from_datasets(
    datasets: Sequence[Dataset],
    weights: Sequence[float] | None = None,
    seed: int | None = None,
    stop_on_empty_dataset: bool = False,
) -> Dataset:
    """The next element of a dataset that is drawn, by `weights`, each time, until all are at their end, or one is."""
    seeds = pb.get_seed(seed)

    def elements(p: Pass) -> Iterator[Element]:
        generator = np.random.default_rng(None if seeds == (None, None) else [abs(s or 0) for s in seeds])
        places = [iter(dataset.elements(p)) for dataset in datasets]
        left = np.ones(len(datasets)) if weights is None else np.array(weights, np.float64)
        while left.any():
            chosen = int(generator.choice(len(places), p=left / left.sum()))
            found = next(places[chosen], None)
            if found is not None:
                yield found
            elif stop_on_empty_dataset:
                return
            else:
                left[chosen] = 0.0

    return Dataset(datasets[0].element_spec, [x for dataset in datasets for x in dataset.inputs], elements)


def get_single_element(dataset: Dataset) -> Any:
    """The one element of a dataset, in tensors: of what its inputs are in each run.

    Raises:
        InvalidArgumentError: from a run, if it has none, or more.
    """

    def call(session: Any, *values: Any) -> Element:
        found = list(islice(dataset.elements(Pass(ref(session), dict(zip(dataset.inputs, values, strict=True)))), 2))
        if len(found) != 1:
            raise pb.errors.InvalidArgumentError(f"Dataset {'had more than one element' if found else 'was empty'}.")
        return found[0]

    return elements_of(dataset.element_spec, call, dataset.inputs, "DatasetToSingleElement")
