"""Runs that leave values where they were computed, feeds that other libraries hold, batches that are sent ahead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback as pb

from .on_devices import run_on_devices

ENGINES = ["numpy", "xla", "onnxruntime"]


@dataclass
class Lent:
    """An array of the array API standard, and of nothing else: it speaks DLPack."""

    array: Any

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, number = self.array.__dlpack_device__()
        return int(kind), number


@dataclass
class Elsewhere(Lent):
    """An array on a device that nothing here can read."""

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("it is on cuda:0")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


class Tensor:
    """An array that gives NumPy its memory, as a tensor of torch does."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.array, dtype=dtype, copy=copy)

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_values_left_where_they_are_are_those_of_the_host(engine: str, shape: tuple[int, ...]) -> None:
    x = pb.placeholder(pb.float32, shape)
    fetches = {"y": pb.exp(x), "both": [x * 2.0, pb.no_op()]}
    given = np.full(shape, 0.5, np.float32)
    with pb.Session(engine=engine) as session:
        found = session.run(fetches, {x: given}, to_host=False)
        expected = session.run(fetches, {x: given})
        assert found["both"][1] is None
        for a, b in [(found["y"], expected["y"]), (found["both"][0], expected["both"][0])]:
            np.testing.assert_array_equal(np.from_dlpack(a), b)
            np.testing.assert_array_equal(jnp.asarray(a), b)
            assert a.dtype == b.dtype


def test_on_xla_they_are_arrays_of_jax_of_every_dtype() -> None:
    for dtype in (pb.float64, pb.int64, pb.bfloat16, pb.complex128, pb.bool):
        x = pb.placeholder(dtype, [2])
        value = pb.Session(engine="xla").run(pb.identity(x), {x: np.ones(2, dtype)}, to_host=False)
        assert isinstance(value, jax.Array)
        assert value.dtype == dtype


def test_constants_are_left_on_the_device_too() -> None:
    y = pb.constant([1.0, 2.0]) * 2.0
    found = pb.Session(engine="xla").run(y, to_host=False)
    assert isinstance(found, jax.Array)
    assert found.tolist() == [2.0, 4.0]


def test_a_callable_takes_what_another_one_left_on_the_device() -> None:
    x = pb.placeholder(pb.float64, [3])
    session = pb.Session(engine="xla")
    twice = session.make_callable(x * 2.0, [x], to_host=False)
    value = np.ones(3)
    for _ in range(3):
        value = twice(value)
    np.testing.assert_array_equal(value, [8.0] * 3)


def test_both_kinds_of_runs_of_the_same_fetches_stand_beside_each_other(session: pb.Session) -> None:
    y = pb.exp(pb.placeholder_with_default(np.float32(0.0), []))
    for _ in range(2):
        assert isinstance(session.run(y), np.float32)
        assert session.run(y, to_host=False).shape == ()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_value_of_a_variable_stays_as_it_was_when_later_steps_change_it(engine: str) -> None:
    v = pb.Variable(np.zeros(100, np.float32))
    before, after = v.read_value(), v.assign_add(np.ones(100, np.float32))
    with pb.Session(engine=engine) as session:
        session.run(v.initializer)
        read = session.make_callable(v, to_host=False)
        step = session.make_callable([before, after], to_host=False)
        seen = [read(), *step(), *step(), read(), *step()]
        assert [float(x[7]) for x in seen] == [0, 0, 1, 1, 2, 2, 2, 3]
        assert float(session.run(v)[7]) == 3


def test_a_guard_that_refuses_raises_in_the_run_itself() -> None:
    x = pb.placeholder(pb.float32, [])
    with pb.control_dependencies([pb.debugging.assert_positive(x)]):
        y = pb.identity(x)
    with pytest.raises(pb.errors.InvalidArgumentError):
        pb.Session(engine="xla").run(y, {x: -1.0}, to_host=False)


def test_a_run_returns_before_it_is_done_and_its_feeds_may_change_at_once() -> None:
    m, x = pb.placeholder(pb.float32, [700, 700]), pb.placeholder(pb.float32, [4])
    product = m
    for _ in range(6):
        product = pb.matmul(product, m) * 1e-3
    call = pb.Session(engine="xla").make_callable(x + 0.0 * product[0, 0], [m, x], to_host=False)
    given, factor = np.ones(4, np.float32), jnp.ones([700, 700])
    call(factor, given)
    for _ in range(3):
        given[:] = 1.0
        value = call(factor, given)
        given[:] = 7.0
        np.testing.assert_array_equal(value, [1.0] * 4)


def test_rows_of_a_loop_are_as_many_as_there_are() -> None:
    n = pb.placeholder(pb.int32, [])
    rows = pb.history(
        pb.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 2.0), (0, 1.0), maximum_iterations=9)[1]
    )
    found = pb.Session(engine="xla").run(rows, {n: 3}, to_host=False)
    assert found.shape[0] in (3, 4)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("wrap", [Lent, Tensor, jnp.asarray])
@pytest.mark.parametrize(("dtype", "given"), [(pb.float32, "float32"), (pb.float64, "float32"), (pb.int32, "int32")])
def test_arrays_of_other_libraries_are_fed(engine: str, wrap: Any, dtype: Any, given: str) -> None:
    x = pb.placeholder(dtype, [2, 3])
    array = np.arange(6).reshape(2, 3).astype(given)
    np.testing.assert_array_equal(pb.Session(engine=engine).run(x * 2, {x: wrap(array)}), array * 2)


@pytest.mark.parametrize("engine", ENGINES)
def test_parts_of_arrays_of_other_libraries_are_fed(engine: str) -> None:
    x = pb.placeholder(pb.float32, [3, 2])
    array = np.arange(12, dtype=np.float32).reshape(4, 3)[::2].T
    np.testing.assert_array_equal(pb.Session(engine=engine).run(x * 1.0, {x: Lent(array)}), array)


@pytest.mark.parametrize("wrap", [Lent, Tensor])
def test_the_memory_of_another_library_is_read_without_a_copy(wrap: Any) -> None:
    from pullback.engines.foreign_arrays import host_array

    array = np.ones(3, np.float32)
    assert np.shares_memory(host_array(wrap(array), np.dtype("float32")), array)


@pytest.mark.parametrize(("engine", "said"), [("numpy", "NumPy no array: it is on cuda:0"), ("xla", "jax no array: ")])
def test_arrays_that_cannot_be_read_here_are_refused(engine: str, said: str) -> None:
    x = pb.placeholder(pb.float32, [3], name="x")
    with pytest.raises(pb.errors.InvalidArgumentError) as error:
        pb.Session(engine=engine).run(x, {x: Elsewhere(None)})
    assert f": this Elsewhere gives {said}" in str(error.value)
    assert str(error.value).endswith(". Copy it to the host first")


def test_numbers_of_bfloat16_are_lent_to_xla() -> None:
    x = pb.placeholder(pb.bfloat16, [3])
    lent = Lent(jnp.asarray([1.0, 2.0, 3.0], jnp.bfloat16))
    assert pb.Session(engine="xla").run(x * 2, {x: lent}).tolist() == [2.0, 4.0, 6.0]


def test_what_another_library_does_not_lend_is_refused_in_its_words() -> None:
    class Refusing(Lent):
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("it requires a gradient")

    x = pb.placeholder(pb.float32, [3], name="x")
    for engine in ("numpy", "xla"):
        with pytest.raises(pb.errors.InvalidArgumentError, match=r"gives NumPy no array: it requires a gradient$"):
            pb.Session(engine=engine).run(x, {x: Refusing(np.ones(3))})


@pytest.mark.parametrize("engine", ENGINES)
def test_what_jax_takes_for_an_array_is_fed(engine: str) -> None:
    class Parameter:
        def __jax_array__(self) -> Any:
            return jnp.arange(3.0)

    x = pb.placeholder(pb.float32, [3])
    assert pb.Session(engine=engine).run(x * 2, {x: Parameter()}).tolist() == [0.0, 2.0, 4.0]


def test_arrays_of_jax_without_numbers_are_refused() -> None:
    x, gone = pb.placeholder(pb.float32, [], name="x"), jnp.asarray(1.0)
    gone.delete()
    session = pb.Session(engine="xla")
    refused = {
        "given away (donated) or deleted; feed a copy made before": lambda: session.run(x, {x: gone}),
        "run the session outside of jax's functions": lambda: jax.jit(lambda y: session.run(x, {x: y}))(1.0),
        "holds no numbers; feed jax.random.key_data of it": lambda: session.run(x, {x: jax.random.key(0)}),
    }
    for said, run in refused.items():
        with pytest.raises(pb.errors.InvalidArgumentError) as error:
            run()
        assert str(error.value).startswith("cannot feed float32[] 'x:0'")
        assert str(error.value).endswith(said)


def test_an_array_of_jax_is_converted_on_its_device_where_no_value_is_lost() -> None:
    for dtype, wanted in [(np.float32, pb.float64), (np.float64, pb.float32), (np.int32, pb.float32)]:
        with jax.enable_x64(True):
            array = jnp.ones(3, dtype)
        x = pb.placeholder(wanted, [3])
        np.testing.assert_array_equal(pb.Session(engine="xla").run(x, {x: array}), [1.0] * 3)
    x = pb.placeholder(pb.int8, [])
    with pytest.raises(pb.errors.InvalidArgumentError, match="does not fit int8"):
        pb.Session(engine="xla").run(x, {x: jnp.asarray(300)})
    x = pb.placeholder(pb.float32, [])
    with pytest.raises(pb.errors.InvalidArgumentError, match="was given where float32 is needed"):
        pb.Session(engine="xla").run(x, {x: jnp.asarray(1j)})


def test_fractions_of_arrays_of_jax_are_lost_as_those_of_others(engine: str) -> None:
    x = pb.placeholder(pb.int32, [2])
    assert pb.Session(engine=engine).run(x, {x: jnp.asarray([1.5, -1.5])}).tolist() == [1, -1]


def batches_in_one_buffer(count: int) -> Iterator[tuple[np.ndarray[Any, Any], float]]:
    """Batches each of which is written over the one before, as some loaders do.

    The memory is aligned to 64 bytes: jax reads that in place on processors, and no other.
    """
    memory = np.empty(1024 * 4 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    buffer = memory[start : start + 1024 * 4].view(np.float32)
    for i in range(count):
        buffer[:] = i
        yield buffer, float(i)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
def test_prefetched_batches_are_those_of_the_iterator(engine: str, count: int) -> None:
    x, y = pb.placeholder(pb.float32, [None]), pb.placeholder(pb.float64, [])
    session = pb.Session(engine=engine)
    step = session.make_callable([pb.reduce_max(x), y], [x, y], to_host=False)
    seen = [step(*batch) for batch in session.prefetch(batches_in_one_buffer(count), [x, y])]
    assert [[float(a), float(b)] for a, b in seen] == [[i, i] for i in range(count)]


def test_prefetched_feed_dictionaries_are_fed_as_they_are(session: pb.Session) -> None:
    x, v = pb.placeholder(pb.float32, [2], name="x"), pb.Variable(1.0)
    slices = pb.IndexedSlices(pb.placeholder(pb.float32, [1, 2]), pb.placeholder(pb.int32, [1]))
    y = pb.reduce_sum(x) * v + pb.reduce_sum(slices.values)
    feeds = [{"x:0": [i, i], v: 3.0, slices: ([[1.0, 1.0]], [0])} for i in range(4)]
    assert [float(session.run(y, feed)) for feed in session.prefetch(feeds)] == [2.0, 8.0, 14.0, 20.0]


def test_two_batches_are_on_the_way_while_one_is_used() -> None:
    asked: list[int] = []

    def batches() -> Iterator[list[float]]:
        for i in range(5):
            asked.append(i)
            yield [float(i)]

    x = pb.placeholder(pb.float32, [])
    ahead = [len(asked) for _ in pb.Session(engine="xla").prefetch(batches(), [x])]
    assert ahead == [3, 4, 5, 5, 5]


def test_a_batch_that_does_not_fit_is_refused() -> None:
    x = pb.placeholder(pb.float32, [2], name="x")
    session = pb.Session(engine="xla")
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"cannot feed float32\[3\]"):
        list(session.prefetch([[np.ones(3, np.float32)]], [x]))
    with pytest.raises(pb.errors.InvalidArgumentError, match="each batch takes 1 values, for 'x:0'; 2 were given"):
        list(session.prefetch([[1.0, 2.0]], [x]))
    with pytest.raises(pb.errors.InvalidArgumentError, match="feed_dict must be a dictionary"):
        list(session.prefetch([[1.0, 2.0]]))


def test_batches_before_one_that_fails_are_given_first() -> None:
    def batches() -> Iterator[list[float]]:
        yield [1.0]
        yield [2.0]
        raise OSError("no more of the disk")

    x, seen = pb.placeholder(pb.float32, []), []
    ahead = pb.Session(engine="xla").prefetch(batches(), [x])
    with pytest.raises(OSError, match="no more of the disk"):
        seen.extend(float(batch[0]) for batch in ahead)
    assert seen == [1.0, 2.0]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_texts_are_prefetched_as_they_are(engine: str) -> None:
    x = pb.placeholder(pb.string, [None])
    session = pb.Session(engine=engine)
    ((batch,),) = session.prefetch([[["a", "b"]]], [x])
    assert session.run(pb.strings.upper(x), {x: batch}).tolist() == [b"A", b"B"]


def test_a_feed_list_is_a_list_and_its_batches_are_sequences(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [2], name="x")
    with pytest.raises(pb.errors.InvalidArgumentError) as error:
        list(session.prefetch([{x: [1.0, 2.0]}], [x]))
    assert str(error.value) == (
        "prefetch: with feed_list, a batch is a sequence of values, not a dict. "
        "To prefetch feed dictionaries leave feed_list out."
    )
    for refused in (session.make_callable, session.prefetch):
        with pytest.raises(pb.errors.InvalidArgumentError) as error:
            refused(x, x)
        assert str(error.value) == (
            "feed_list must be a list of what is fed, not <Tensor 'x:0' float32[2]>. Write [...] around it."
        )


def test_prefetching_for_a_closed_session_is_refused() -> None:
    x = pb.placeholder(pb.float32, [])
    session = pb.Session(engine="numpy")
    session.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        list(session.prefetch([[1.0]], [x]))


@pytest.mark.slow
def test_feeds_bound_to_other_devices_are_moved_to_the_program() -> None:
    run_on_devices(
        4,
        """
        x = pb.placeholder(pb.float32, [8])
        v = pb.Variable(np.ones(8, np.float32))
        step = v.assign_add(pb.sharding(x, ["data"]))
        second = jax.device_put(np.ones(8, np.float32), jax.devices()[1])
        for options in ({}, {"mesh": {"data": 4}}):
            session = pb.Session(engine="xla", **options)
            session.run(v.initializer)
            first = session.run(step, {x: second}, to_host=False)
            again = session.run(step, {x: first}, to_host=False)
            third = session.run(step, {x: np.ones(8)}, to_host=False)
            assert float(third[0]) == 5.0, third
        with pb.device("/cpu:2"):
            y = x * 2.0
            z = pb.exp(x)
        session = pb.Session(engine="xla")
        assert session.run(y, {x: second}, to_host=False).device == jax.devices()[2]
        with pb.device("/cpu:3"):
            w = y + 1.0
        a, b, c = session.run([y, w, x], {x: second}, to_host=False)
        assert a.device == jax.devices()[2] and b.device == jax.devices()[3]
        assert np.asarray(b).tolist() == [3.0] * 8 and np.asarray(c).tolist() == [1.0] * 8
        """,
    )


@pytest.mark.slow
def test_prefetched_batches_are_spread_as_the_graph_says() -> None:
    run_on_devices(
        4,
        """
        x, y = pb.placeholder(pb.float32, [None, 2]), pb.placeholder(pb.float32, [None])
        loss = pb.reduce_sum(pb.sharding(x, ["data", None])) + pb.reduce_sum(y)
        session = pb.Session(engine="xla", mesh={"data": 4})
        step = session.make_callable(loss, [x, y], to_host=False)
        for rows in (8, 7):
            for batch in session.prefetch([(np.ones((rows, 2)), np.ones(rows))], [x, y]):
                assert batch[0].sharding.shard_shape(batch[0].shape) == ((2, 2) if rows == 8 else (7, 2))
                assert float(step(*batch)) == 3.0 * rows
        """,
    )
