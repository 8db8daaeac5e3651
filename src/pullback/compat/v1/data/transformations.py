"""Methods of datasets that are transformations of `tf.data.experimental` as well."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dataset import Dataset


class Transformed:
    """What a dataset does by a transformation: each method applies the function of that name."""

    @abstractmethod
    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What `transformation_func` makes of it."""

    def window(
        self, size: int, shift: int | None = None, stride: int = 1, drop_remainder: bool = False, name: Any = None
    ) -> Dataset:
        """Datasets of `size` elements, each `shift` (None: `size`) further on; of parts one dataset for each part.

        >>> import pullback.compat.v1 as tf
        >>> windows = tf.data.Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> rows = windows.flat_map(lambda window: window.batch(3)).make_one_shot_iterator().get_next()
        >>> with tf.Session() as session:
        ...     [session.run(rows).tolist() for _ in range(3)]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        from . import grouping

        del name
        return self.apply(grouping.window(size, shift, stride, drop_remainder))

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Dataset],
        window_size: int | None = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of the datasets that `reduce_func(key, window)` makes of `window_size` elements of one key."""
        from . import grouping

        del name
        return self.apply(grouping.group_by_window(key_func, reduce_func, window_size, window_size_func))

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches of elements of about the same length."""
        from . import grouping

        del name
        buckets = grouping.bucket_by_sequence_length(
            element_length_func,
            bucket_boundaries,
            bucket_batch_sizes,
            padded_shapes,
            padding_values,
            pad_to_bucket_boundary,
            no_padding,
            drop_remainder,
        )
        return self.apply(buckets)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """The last state, in tensors: `reduce_func(state, element)` gives the next one.

        >>> import pullback.compat.v1 as tf
        >>> total = tf.data.Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda total, i: total + i)
        >>> tf.Session().run(total)
        np.int64(10)
        """
        from . import grouping

        return grouping.reduce(self, initial_state, reduce_func, name)

    def get_single_element(self, name: str | None = None) -> Any:
        """The one element, in tensors."""
        from . import grouping

        del name
        return grouping.get_single_element(self)  # type: ignore[arg-type]

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The second of what `scan_func(state, element)` returns; the first is the state for the next element."""
        from . import experimental

        del name
        return self.apply(experimental.scan(initial_state, scan_func))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements up to the first for which `predicate` is false."""
        from . import experimental

        del name
        return self.apply(experimental.take_while(predicate))

    def unique(self, name: str | None = None) -> Dataset:
        """The elements, numbers or texts, without those that were there before."""
        from . import experimental

        del name
        return self.apply(experimental.unique())

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """The elements but for those that cannot be computed."""
        from . import experimental

        del name
        return self.apply(experimental.ignore_errors(log_warning))

    def cardinality(self, name: str | None = None) -> Any:
        """How many elements there are, as far as that is known without reading them: see `cardinality`."""
        from .cardinality import cardinality

        del name
        return cardinality(self)  # type: ignore[arg-type]

    def options(self) -> Any:
        """Its options, which change nothing."""
        from .experimental import Options

        return Options()

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """For each number of `choice_dataset` the next element of the dataset of that number, until one has none."""
        from . import grouping

        return grouping.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Dataset],
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """The next element of a dataset that is drawn, by `weights`, each time."""
        from . import grouping

        del rerandomize_each_iteration
        return grouping.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)

    @staticmethod
    def counter(start: int = 0, step: int = 1, dtype: Any = "int64", name: str | None = None) -> Dataset:
        """The numbers from `start` on, without end."""
        from . import experimental

        del name
        return experimental.Counter(start, step, dtype)
