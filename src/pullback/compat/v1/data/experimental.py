"""Transformations of `tf.data.experimental` and `tf.contrib.data`, for `Dataset.apply`."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb

from ....core.errors import PullbackError
from .cardinality import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from .cardinality import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from .cardinality import assert_cardinality as assert_cardinality
from .cardinality import cardinality as cardinality
from .dataset import Dataset, value_of
from .files import TFRecordWriter as TFRecordWriter
from .functions import ElementFunction, Pass
from .grouping import bucket_by_sequence_length as bucket_by_sequence_length
from .grouping import choose_from_datasets as choose_from_datasets
from .grouping import get_single_element as get_single_element
from .grouping import group_by_window as group_by_window
from .grouping import sample_from_datasets as sample_from_datasets
from .outputs import get_structure as get_structure
from .structure import as_leaves, as_tensors, leaves, types_of
from .tables import CsvDataset as CsvDataset
from .tables import make_batched_features_dataset as make_batched_features_dataset
from .tables import make_csv_dataset as make_csv_dataset

Transformation = Callable[[Dataset], Dataset]
AUTOTUNE = -1


def shuffle_and_repeat(buffer_size: int, count: int | None = None, seed: int | None = None) -> Transformation:
    """`shuffle`, then `repeat`."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: int,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """`map`, then `batch`."""
    del num_parallel_batches, num_parallel_calls

    def apply(dataset: Dataset) -> Dataset:
        mapped = dataset.map(map_func)
        counted = Dataset(mapped.element_spec, mapped.inputs, mapped.elements, dataset.count)
        return counted.batch(batch_size, drop_remainder)

    return apply


def batch_and_drop_remainder(batch_size: int) -> Transformation:
    """`batch` without a smaller last one."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size: int, padded_shapes: Any, padding_values: Any = None) -> Transformation:
    """`padded_batch` without a smaller last one."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def unbatch() -> Transformation:
    """`Dataset.unbatch`."""
    return Dataset.unbatch


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """The same dataset."""
    del device, buffer_size
    return Dataset.prefetch


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """The same dataset."""
    del target_device, source_device
    return Dataset.prefetch


def parallel_interleave(
    map_func: Callable[..., Dataset],
    cycle_length: int,
    block_length: int = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """`interleave`."""
    del sloppy, buffer_output_elements, prefetch_input_elements
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def enumerate_dataset(start: int = 0) -> Transformation:
    """`enumerate`."""
    return lambda dataset: dataset.enumerate(start)


def Counter(start: int = 0, step: int = 1, dtype: Any = "int64") -> Dataset:
    """The dataset of the numbers from `start` on, without end."""
    last = sys.maxsize if step > 0 else -sys.maxsize
    return Dataset.range(start, last, step, output_type=dtype)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements up to the first for which `predicate` is false."""

    def apply(dataset: Dataset) -> Dataset:
        holds = ElementFunction("take_while", predicate, dataset.element_spec, pb.convert_to_tensor)

        def elements(p: Pass) -> Any:
            return itertools.takewhile(lambda x: bool(holds(x, p)[0]), dataset.elements(p))

        return Dataset(dataset.element_spec, [*dataset.inputs, *holds.inputs], elements)

    return apply


def unique() -> Transformation:
    """The elements, numbers or texts, without those that were there before."""

    def apply(dataset: Dataset) -> Dataset:
        def elements(p: Pass) -> Any:
            known: set[Any] = set()
            for x in dataset.elements(p):
                value = np.asarray(x[0], object).item()
                if value not in known:
                    known.add(value)
                    yield x

        return Dataset(dataset.element_spec, dataset.inputs, elements)

    return apply


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """The second of what `scan_func(state, element)` returns; the first is the state for the next element."""

    def apply(dataset: Dataset) -> Dataset:
        first = as_leaves(initial_state)
        count = len(leaves(first))
        spec = (types_of(first), dataset.element_spec)
        step = ElementFunction("scan", scan_func, spec, as_tensors)

        def elements(p: Pass) -> Any:
            state = [value_of(x, p) for x in leaves(first)]
            for x in dataset.elements(p):
                found = step([*state, *x], p)
                state = found[:count]
                yield found[count:]

        inputs = [x for x in leaves(first) if isinstance(x, pb.Tensor)]
        all_inputs = [*dataset.inputs, *inputs, *step.inputs]
        return Dataset(types_of(step.structure)[1], all_inputs, elements, dataset.count)

    return apply


def ignore_errors(log_warning: bool = False) -> Transformation:
    """The elements but for those that cannot be computed."""
    del log_warning

    def apply(dataset: Dataset) -> Dataset:
        def elements(p: Pass) -> Any:
            rest = iter(dataset.elements(p))
            while True:
                try:
                    yield next(rest)
                except StopIteration:
                    return
                except PullbackError:
                    continue

        return Dataset(dataset.element_spec, dataset.inputs, elements)

    return apply


class Options:
    """Options of a dataset, as attributes; they change nothing here."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        made = self.__dict__[name] = Options()
        return made

    def merge(self, options: Options) -> Options:
        """The same."""
        del options
        return self


OptimizationOptions = ThreadingOptions = Options
