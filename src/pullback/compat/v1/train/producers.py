"""Input queues of TensorFlow 1: `slice_input_producer`, `batch`, `shuffle_batch` and their like.

>>> import pullback.compat.v1 as tf
>>> train = tf.train
>>> number = train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
>>> row, = train.slice_input_producer([tf.constant([5, 6])], num_epochs=1, shuffle=False)
>>> name = train.string_input_producer(["a"], num_epochs=1).dequeue()
>>> element = train.input_producer(tf.constant([8]), num_epochs=1).dequeue()
>>> once = train.limit_epochs(tf.constant(9), num_epochs=1)
>>> pairs = train.batch([number], 2)
>>> shuffled = train.shuffle_batch([row], 2, capacity=10, min_after_dequeue=0)
>>> with tf.Session() as session:
...     session.run(tf.local_variables_initializer())
...     coord = train.Coordinator()
...     threads = train.start_queue_runners(session, coord)
...     print(session.run(pairs), sorted(session.run(shuffled)), session.run([name, element, once]))
...     coord.request_stop()
...     coord.join(threads)
[0 1] [np.int32(5), np.int32(6)] [b'a', np.int32(8), np.int32(9)]
>>> kept = train.maybe_batch([tf.constant(1)], True, 2), train.maybe_shuffle_batch([tf.constant(1)], 2, 10, 0, True)
>>> joined = train.batch_join([[tf.constant(1)]], 2), train.shuffle_batch_join([[tf.constant(1)]], 2, 10, 0)
>>> one = [[tf.constant(1)]]
>>> both = train.maybe_batch_join(one, True, 2), train.maybe_shuffle_batch_join(one, 2, 10, 0, True)
>>> {tuple(x.shape) for x in (*kept, *joined, *both)}
{(2,)}
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from ....core.named_functions import named
from ..data.dataset import Dataset
from ..data.iterators import make_one_shot_iterator
from ..io.sparse_tensors import deserialize_many_sparse, serialize_many_sparse, serialize_sparse
from ..queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from ..summary import scalar
from .queue_runner import QueueRunner, add_queue_runner


def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue of the numbers below `limit`, `num_epochs` times over or without end, each time in another order."""
    del shared_name
    return _queue_of(Dataset.range(limit, output_type="int32"), num_epochs, shuffle, seed, capacity, name)


def slice_input_producer(
    tensor_list: Sequence[Any],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[pb.Tensor]:
    """A row of each of `tensor_list`, all of one number, another one in each run."""
    tensors = [pb.convert_to_tensor(x) for x in tensor_list]
    count = tensors[0].shape.size(0)
    limit = pb.shape(tensors[0])[0] if count is None else count
    row = range_input_producer(limit, num_epochs, shuffle, seed, capacity, shared_name).dequeue(name)
    return [pb.gather(x, row) for x in tensors]


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: object = None,
) -> QueueBase:
    """A queue of the rows of `input_tensor`, `num_epochs` times over or without end."""
    del shared_name, summary_name, cancel_op, element_shape
    rows = Dataset.from_tensor_slices(pb.convert_to_tensor(input_tensor))
    return _queue_of(rows, num_epochs, shuffle, seed, capacity, name)


def _queue_of(
    elements: Dataset, num_epochs: int | None, shuffle: bool, seed: int | None, capacity: int, name: str | None
) -> QueueBase:
    """A queue of the elements, `num_epochs` times over or without end."""
    if shuffle:
        elements = elements.shuffle(1 << 30, seed)
    queue = FIFOQueue(capacity, [elements.output_types], [elements.output_shapes])
    put = queue.enqueue(make_one_shot_iterator(elements.repeat(num_epochs)).get_next(), name)
    fill(queue, [put])
    with pb.name_scope(f"{put.name}/" if name else "input_producer"):
        summarize(queue, capacity)
    return queue


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: object = None,
) -> QueueBase:
    """A queue of texts, as `input_producer`."""
    return input_producer(string_tensor, None, num_epochs, shuffle, seed, capacity, shared_name, None, name, cancel_op)


def batch(
    tensors: Any,
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`batch_size` values of `tensors` on top of each other, from a queue that runs of threads fill."""
    del shared_name
    threads, last = [tensors] * num_threads, allow_smaller_final_batch
    return batch_join(threads, batch_size, capacity, enqueue_many, shapes, dynamic_pad, last, name=name or "batch")


def shuffle_batch(
    tensors: Any,
    batch_size: int,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """The same, in an order drawn from the elements in the queue, of which `min_after_dequeue` stay behind."""
    del shared_name
    threads, left, last = [tensors] * num_threads, min_after_dequeue, allow_smaller_final_batch
    name = name or "shuffle_batch"
    return shuffle_batch_join(threads, batch_size, capacity, left, seed, enqueue_many, shapes, last, name=name)


def batch_join(
    tensors_list: Sequence[Any],
    batch_size: int,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `batch`, of several structures of tensors, for each of which a thread fills the queue."""
    del shared_name
    kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    return _batched(
        lambda dtypes, known: kind(capacity, dtypes, known),
        tensors_list,
        batch_size,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        name or "batch_join",
        (capacity,),
    )


def shuffle_batch_join(
    tensors_list: Sequence[Any],
    batch_size: int,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `shuffle_batch`, of several structures of tensors, for each of which a thread fills the queue."""
    del shared_name
    return _batched(
        lambda dtypes, known: RandomShuffleQueue(capacity, min_after_dequeue, dtypes, known, seed=seed),
        tensors_list,
        batch_size,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        name or "shuffle_batch_join",
        (capacity, min_after_dequeue),
    )


def _maybe(general: Callable[..., Any], place: int) -> Callable[..., Any]:
    """`general` of those of its values for which `keep_input`, the argument at `place`, is true."""
    signature = inspect.signature(general)
    known = list(signature.parameters.values())
    keep_input = inspect.Parameter("keep_input", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = signature.replace(parameters=[*known[:place], keep_input, *known[place:]])

    def function(*args: Any, **options: Any) -> Any:
        given = signature.bind(*args, **options).arguments
        keep, many, values = given.pop("keep_input"), given.pop("enqueue_many", False), given.pop(known[0].name)
        joined = known[0].name == "tensors_list"
        kept = [_kept(x, keep, many) for x in values] if joined else _kept(values, keep, many)
        return general(kept, **given, enqueue_many=True)

    function.__signature__ = signature  # type: ignore[attr-defined]
    doc = f"As `{general.__name__}`, of those values, or rows with `enqueue_many`, for which `keep_input` is true."
    return named(f"maybe_{general.__name__}", doc, function)


maybe_batch, maybe_batch_join = _maybe(batch, 1), _maybe(batch_join, 1)
maybe_shuffle_batch, maybe_shuffle_batch_join = _maybe(shuffle_batch, 4), _maybe(shuffle_batch_join, 4)


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> pb.Tensor:
    """`tensor` in `num_epochs` runs, then the end of the sequence."""
    x = pb.convert_to_tensor(tensor)
    return make_one_shot_iterator(Dataset.from_tensors(x).repeat(num_epochs)).get_next(name)  # type: ignore[no-any-return]


def _batched(
    make: Any,
    tensors_list: Sequence[Any],
    batch_size: int,
    enqueue_many: bool,
    shapes: Any,
    allow_smaller_final_batch: bool,
    name: str,
    room: tuple[int, ...],
) -> Any:
    """Batches of what a thread for each of `tensors_list` puts in the queue that `make` makes, in their structure."""
    first = tensors_list[0]
    keys = sorted(first) if isinstance(first, dict) else None
    structures = [_flat(tensors, keys) for tensors in tensors_list]
    rows = [[_dense(x, enqueue_many) for x in row] for row in structures]
    known = shapes or [x.shape[1:] if enqueue_many else x.shape for x in rows[0]]
    queue = make([x.dtype for x in rows[0]], known)
    enqueue = queue.enqueue_many if enqueue_many else queue.enqueue
    fill(queue, [enqueue(row) for row in rows])
    taken = (queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many)(batch_size, name)
    parts = list(taken) if len(rows[0]) > 1 else [taken]
    with pb.name_scope(f"{parts[0].op.name}/"):
        summarize(queue, *room)
    found = [_restored(x, like, enqueue_many) for x, like in zip(parts, structures[0], strict=True)]
    if keys:
        return dict(zip(keys, found, strict=True))
    return found if len(found) > 1 else found[0]


def _flat(tensors: Any, keys: Sequence[str] | None) -> list[Any]:
    """The tensors, dense or sparse, of a dictionary by its keys, of a list, or one."""
    many = [tensors[key] for key in keys] if keys else tensors if isinstance(tensors, list | tuple) else [tensors]
    return [x if isinstance(x, pb.SparseTensor) else pb.convert_to_tensor(x) for x in many]


def _dense(x: Any, enqueue_many: bool) -> pb.Tensor:
    """What a queue takes: of a sparse tensor its messages."""
    if not isinstance(x, pb.SparseTensor):
        return x  # type: ignore[no-any-return]
    return serialize_many_sparse(x) if enqueue_many else serialize_sparse(x)


def _restored(x: pb.Tensor, like: Any, enqueue_many: bool) -> Any:
    """What a queue gave, as a sparse tensor where one was put in."""
    if not isinstance(like, pb.SparseTensor):
        return x
    rank = like.shape.rank
    return deserialize_many_sparse(x, like.dtype, None if rank is None else rank - int(enqueue_many))


def _kept(tensors: Any, keep_input: Any, enqueue_many: bool) -> Any:
    """Tensors of the rows that are kept, of which there may be none."""
    keep = pb.reshape(pb.convert_to_tensor(keep_input, pb.bool), [-1])

    def kept(x: Any) -> pb.Tensor:
        rows = pb.convert_to_tensor(x) if enqueue_many else pb.expand_dims(x, 0)
        count = pb.shape(rows)[:1]
        return pb.boolean_mask(rows, pb.broadcast_to(keep, count))

    if isinstance(tensors, dict):
        return {key: kept(x) for key, x in tensors.items()}
    return [kept(x) for x in tensors] if isinstance(tensors, list | tuple) else kept(tensors)


def summarize(queue: QueueBase, capacity: int, kept: int = 0) -> None:
    """A summary of how full `queue` is, or of how full beyond the `kept` elements that stay behind."""
    count = pb.cast(pb.maximum(queue.size() - kept, 0) if kept else queue.size(), pb.float32)
    part = f"over_{kept}_of_{capacity}" if kept else f"of_{capacity}"
    scalar(f"fraction_{part}_full", count * (1.0 / (capacity - kept)))


def fill(queue: QueueBase, enqueue_ops: Sequence[Any]) -> None:
    """Let `start_queue_runners` fill `queue`."""
    add_queue_runner(QueueRunner(queue, enqueue_ops))
