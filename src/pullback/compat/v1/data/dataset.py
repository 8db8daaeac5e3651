"""Datasets (`tf.data.Dataset`): input pipelines, which are iterables of elements of NumPy arrays.

A dataset is the types of its elements, the tensors of the graph that it depends on, and a Python iterator made anew for
each pass. It runs on the host, one element after the other; `get_next` of an iterator hands an element to a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

import pullback as pb

from ....core.shape import as_shape
from . import batches, cardinality, sparse
from .functions import ElementFunction, Pass
from .structure import (
    Array,
    as_leaves,
    as_tensors,
    classes_in,
    declared,
    leaves,
    packed,
    rows_of_all,
    shapes_in,
    type_of,
    types_in,
    types_of,
)
from .transformations import Transformed

Element = Sequence[Array]


class Dataset(Transformed):
    """A dataset; made by `from_tensor_slices` and the like, never called by programs.

    >>> import numpy as np
    >>> import pullback.compat.v1 as tf
    >>> dataset = tf.data.Dataset.from_tensor_slices(np.arange(5.0)).map(lambda x: x * x).batch(2)
    >>> batch = dataset.make_one_shot_iterator().get_next()
    >>> with tf.Session() as sess:
    ...     print(sess.run(batch), sess.run(batch), sess.run(batch))
    [0. 1.] [4. 9.] [16.]
    """

    def __init__(
        self,
        spec: Any,
        inputs: Sequence[pb.Tensor],
        elements: Callable[[Pass], Iterable[Element]],
        count: cardinality.Count = cardinality.unknown,
    ) -> None:
        self.element_spec = spec
        self.inputs = tuple(dict.fromkeys(inputs))
        self.elements = elements
        self.count = count

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

    def __repr__(self) -> str:
        return f"<Dataset of {self.element_spec}>"

    def make_one_shot_iterator(self) -> Any:
        """An iterator that needs no initializer; see `Iterator`."""
        from .iterators import make_one_shot_iterator

        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """An iterator that its `initializer` puts at the beginning; see `Iterator`."""
        from .iterators import make_initializable_iterator

        return make_initializable_iterator(self, shared_name)

    # Sources

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """The dataset of one element."""
        del name
        structure = as_leaves(tensors)
        given = leaves(structure)
        return Dataset(types_of(structure), _tensors(given), lambda p: [[value_of(x, p) for x in given]], lambda p: 1)

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The dataset of the rows of arrays or tensors.

        Raises:
            ValueError: they have no rows, or not equally many.
        """
        del name
        structure = as_leaves(tensors)
        given, whole = leaves(structure), types_of(structure)
        dense = [x for x in sparse.kinds(structure) if not isinstance(x, sparse.SparseParts)]
        counts = {x.shape[0] if type(x) is np.ndarray and x.ndim else None for x in dense if type(x) is np.ndarray}
        if len(counts) > 1 or any(type_of(x).shape.rank == 0 for x in dense):
            found = ", ".join(str(type_of(x)) for x in given)
            raise ValueError(f"Dataset.from_tensor_slices: equally many rows are needed, of {found}")
        by = sparse.rows
        return Dataset(
            rows_of_all(whole),
            _tensors(given),
            lambda p: by(whole, [value_of(x, p) for x in given]),
            lambda p: len(value_of(given[0], p)) if dense else cardinality.UNKNOWN_CARDINALITY,
        )

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> Dataset:
        """The dataset of the numbers of Python's `range`."""
        dtype: Any = pb.as_dtype(kwargs.get("output_type", pb.int64))
        bounds = [as_leaves(x) for x in args]

        def numbers(p: Pass) -> Sequence[int]:
            return range(*[int(value_of(x, p)) for x in bounds])

        def elements(p: Pass) -> Iterator[Element]:
            return ([np.array(i, dtype)] for i in numbers(p))

        spec = pb.TensorType(dtype, pb.TensorShape.SCALAR)
        return Dataset(spec, _tensors(bounds), elements, lambda p: len(numbers(p)))

    @staticmethod
    def from_generator(
        generator: Callable[..., Iterable[Any]],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Sequence[Any] | None = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """The dataset of what `generator(*args)` yields."""
        del name
        spec = declared(output_types, output_shapes) if output_signature is None else _signature(output_signature)
        given = [as_leaves(x) for x in args or ()]
        return Dataset(
            spec,
            _tensors(given),
            lambda p: (_checked(spec, element) for element in generator(*[value_of(x, p) for x in given])),
        )

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: int | None = None, name: Any = None
    ) -> Dataset:
        """The dataset of the names of files that match a pattern, or one of several, in another order each time."""
        from .files import list_files

        del name
        return list_files(file_pattern, shuffle, seed)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """The dataset of the elements of several datasets, side by side; as long as the shortest."""
        del name
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        parts: list[Dataset] = leaves(structure)
        spec = packed(structure, [part.element_spec for part in parts])

        def elements(p: Pass) -> Iterator[Element]:
            for row in zip(*[part.elements(p) for part in parts], strict=False):
                yield [leaf for element in row for leaf in element]

        inputs = [x for part in parts for x in part.inputs]
        return Dataset(spec, inputs, elements, lambda p: cardinality.shortest([part.count(p) for part in parts]))

    # One element after the other

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """What `map_func` returns for each element; NumPy runs it, traced once."""
        del num_parallel_calls, deterministic, synchronous, use_unbounded_threadpool, name
        function = ElementFunction("map", map_func, self.element_spec, as_tensors)
        spec = types_of(function.structure)

        def elements(p: Pass) -> Iterator[Element]:
            return map(lambda x: function(x, p), self.elements(p))  # noqa: C417  (goes on after an error)

        return self._derived(elements, spec, function.inputs)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which `predicate` is true."""
        del name
        function = ElementFunction("filter", predicate, self.element_spec, pb.convert_to_tensor)
        return self._derived(lambda p: (x for x in self.elements(p) if function(x, p)[0]), None, function.inputs)

    def flat_map(self, map_func: Callable[..., Dataset], name: str | None = None) -> Dataset:
        """The elements of the datasets that `map_func` returns, one dataset after the other."""
        return self.interleave(map_func, 1, name=name)

    def interleave(
        self,
        map_func: Callable[..., Dataset],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of `cycle_length` datasets that `map_func` returns, `block_length` of each in turn."""
        del num_parallel_calls, deterministic, name
        made: list[Dataset] = []

        def inputs_of(dataset: Dataset) -> Any:
            made.append(dataset)
            return dataset.inputs

        function = ElementFunction("flat_map", map_func, self.element_spec, inputs_of)
        inner = made[0]

        def elements(p: Pass) -> Iterator[Element]:
            def opened(x: Element) -> Iterator[Element]:
                given = dict(zip(inner.inputs, function(x, p), strict=True))
                yield from inner.elements(p.within(given))

            return batches.interleaved(map(opened, self.elements(p)), cycle_length or 1, block_length or 1)

        return self._derived(elements, inner.element_spec, function.inputs)

    # The order, and how often

    def take(self, count: int, name: str | None = None) -> Dataset:
        """The first `count` elements; all for -1."""
        del name
        return self._counted(batches.taken, count, cardinality.taken)

    def skip(self, count: int, name: str | None = None) -> Dataset:
        """What follows the first `count` elements."""
        del name
        return self._counted(batches.skipped, count, cardinality.skipped)

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Dataset:
        """Every element whose number leaves the remainder `index`."""
        del name
        return self._derived(
            lambda p: (x for i, x in enumerate(self.elements(p)) if i % num_shards == index),
            count=cardinality.changed(self.count, lambda n: len(range(index, n, num_shards))),
        )

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """The elements `count` times over; without end for None and -1."""
        del name
        return self._counted(batches.repeated, -1 if count is None else count, cardinality.repeated)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this dataset, then those of the other one."""
        del name
        pairs = zip(leaves(self.element_spec), leaves(dataset.element_spec), strict=True)
        types = [pb.TensorType(a.dtype, a.shape.most_specific_compatible_shape(b.shape)) for a, b in pairs]
        spec = packed(self.element_spec, types)
        both = (self, dataset)
        return self._derived(
            lambda p: (x for part in both for x in part.elements(p)),
            spec,
            dataset.inputs,
            lambda p: cardinality.joined([part.count(p) for part in both]),
        )

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements in an order drawn from `buffer_size` of them at a time; another order for each repetition."""
        del name
        seeds = pb.get_seed(seed)
        anew = reshuffle_each_iteration is not False
        fixed = np.random.SeedSequence(None if seeds == (None, None) else [abs(s or 0) for s in seeds])

        def elements(p: Pass) -> Iterator[Element]:
            first = np.random.default_rng(None if anew and seeds == (None, None) else fixed)
            generator = p.memory.setdefault(id(result), first) if anew else first
            return batches.shuffled(self.elements(p), int(buffer_size), generator)

        result = self._derived(elements, count=self.count)
        return result

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """The elements, computed once and kept in memory."""
        del filename, name

        def elements(p: Pass) -> Iterator[Element]:
            kept = p.memory.get(id(result))
            if kept is None:
                kept = []
                for x in self.elements(p):
                    kept.append(x)
                    yield x
                p.memory[id(result)] = kept
            else:
                yield from kept

        result = self._derived(elements, count=self.count)
        return result

    def with_options(self, options: object, name: str | None = None) -> Dataset:
        """The same dataset: options change how TensorFlow runs it."""
        del options, name
        return self

    def prefetch(self, buffer_size: Any = None, name: str | None = None) -> Dataset:
        """The same dataset: elements are made when they are asked for."""
        del buffer_size, name
        return self

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What `transformation_func` makes of it."""
        return transformation_func(self)

    # Batches

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """`batch_size` elements on top of each other; the last batch is smaller, or left out with `drop_remainder`."""
        del num_parallel_calls, deterministic, name
        spec = batches.stacked_spec(self.element_spec, batch_size if drop_remainder else None)
        return self._counted(
            lambda elements, n: batches.batched(elements(), n, drop_remainder, self.element_spec),
            batch_size,
            cardinality.in_batches(drop_remainder),
            spec,
        )

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches of elements of different lengths, filled up to the longest of each batch or to `padded_shapes`."""
        del name
        kinds = leaves(self.element_spec)
        shapes = batches.padded_shapes(self.element_spec, padded_shapes)
        given = [None] * len(kinds) if padding_values is None else leaves(padding_values)
        fills = [None if x is None else as_leaves(x) for x in (given * len(kinds) if len(given) == 1 else given)]
        padded = batches.padded_spec(self.element_spec, shapes)
        spec = batches.stacked_spec(padded, batch_size if drop_remainder else None)
        count = as_leaves(batch_size)

        def elements(p: Pass) -> Iterator[Element]:
            values = [None if x is None else value_of(x, p) for x in fills]
            return batches.padded(self.elements(p), int(value_of(count, p)), drop_remainder, shapes, values)

        batched = cardinality.in_batches(drop_remainder)
        return self._derived(
            elements, spec, _tensors([count, *fills]), lambda p: batched(self.count(p), int(value_of(count, p)))
        )

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of the elements."""
        del name
        spec, own = rows_of_all(self.element_spec), self.element_spec
        return self._derived(lambda p: (row for x in self.elements(p) for row in sparse.rows(own, x)), spec)

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pairs of the number of an element, from `start` on, and the element."""
        del name
        spec = (pb.TensorType(pb.int64, pb.TensorShape.SCALAR), self.element_spec)
        return self._derived(
            lambda p: ([np.array(i, np.int64), *x] for i, x in enumerate(self.elements(p), start)),
            spec,
            count=self.count,
        )

    def _counted(
        self,
        function: Callable[[Callable[[], Iterable[Element]], int], Iterable[Element]],
        count: Any,
        counted: Callable[[int, int], int],
        spec: Any = None,
    ) -> Dataset:
        """What `function` makes of passes over the elements, and of a number or the value of a tensor.

        `counted` says how many elements that are.
        """
        leaf = as_leaves(count)
        return self._derived(
            lambda p: function(lambda: self.elements(p), int(value_of(leaf, p))),
            spec,
            _tensors([leaf]),
            lambda p: counted(self.count(p), int(value_of(leaf, p))),
        )

    def _derived(
        self,
        elements: Callable[[Pass], Iterable[Element]],
        spec: Any = None,
        inputs: Sequence[pb.Tensor] = (),
        count: cardinality.Count = cardinality.unknown,
    ) -> Dataset:
        """A dataset that depends on this one, and on the tensors `inputs`."""
        return Dataset(self.element_spec if spec is None else spec, [*self.inputs, *inputs], elements, count)


def _tensors(given: Sequence[Any]) -> list[pb.Tensor]:
    return [x for x in given if isinstance(x, pb.Tensor)]


def value_of(leaf: Any, p: Pass) -> Array:
    """The array of a leaf, in a pass that knows the values of tensors."""
    return p.values[leaf] if isinstance(leaf, pb.Tensor) else leaf


def _signature(signature: Any) -> Any:
    """The types of a structure of TensorSpecs."""
    return packed(signature, [pb.TensorType(s.dtype, as_shape(s.shape)) for s in leaves(signature)])


def _checked(spec: Any, element: Any) -> list[Array]:
    """The leaves of what a generator yields, which must be of the types it was declared to have.

    Raises:
        TypeError: they are of other dtypes, or of another number. ValueError: they have other shapes.
    """
    kinds = leaves(spec)
    given = leaves(tuple(element) if isinstance(element, list) and len(kinds) > 1 else element)
    if len(given) != len(kinds):
        raise TypeError(f"Dataset.from_generator: {len(given)} arrays were yielded, and {len(kinds)} are declared")
    arrays = [np.asarray(x, kind.dtype) for x, kind in zip(given, kinds, strict=True)]
    for array, kind in zip(arrays, kinds, strict=True):
        if not kind.shape.is_compatible_with(array.shape):
            raise ValueError(
                f"Dataset.from_generator: an array of shape {array.shape} was yielded, and {kind} is declared"
            )
    return arrays
