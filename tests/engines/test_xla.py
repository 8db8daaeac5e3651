"""What is particular to the XLA engine: compiled programs, donated variables, shapes known when it compiles."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.engines.engine import EngineOptions
from pullback.engines.plan import make_plan
from pullback.passes.run_lengths import Lengths

pytest.importorskip("jax")

import jax
from jax.experimental.compilation_cache import compilation_cache

from pullback.engines.xla.compiler_options import compiler_options


@pytest.fixture
def xla(graph: pb.Graph) -> pb.Session:
    return pb.Session(graph=graph, engine="xla")


def device_array(session: pb.Session, variable: pb.Variable) -> Any:
    engine: Any = session._engine
    return engine.values[variable.handle.op]


def test_a_step_changes_variables_in_place(xla: pb.Session) -> None:
    v = pb.Variable(np.ones(100_000, np.float32))
    xla.run(v.initializer)
    step = v.assign_sub(v * 0.5).op
    xla.run(step)
    before = device_array(xla, v).unsafe_buffer_pointer()
    xla.run(step)
    assert device_array(xla, v).unsafe_buffer_pointer() == before
    memory = xla.compiled_memory(step)
    assert memory["aliased"] == 400_000
    assert memory["temporary"] == 0


def test_changing_rows_copies_no_table(xla: pb.Session) -> None:
    v = pb.Variable(np.ones((100_000, 8), np.float32))
    xla.run(v.initializer)
    rows = pb.placeholder(pb.int32, [16])
    picked = pb.gather(v, rows)
    step = v.scatter_sub(pb.IndexedSlices(picked * 0.5, rows)).op
    assert xla.compiled_memory(step, {rows: np.arange(16)})["temporary"] < 10_000


def test_an_unrelated_read_of_a_table_copies_no_table(xla: pb.Session) -> None:
    v = pb.Variable(np.ones((100_000, 8), np.float32))
    xla.run(v.initializer)
    rows = pb.placeholder(pb.int32, [16])
    other = pb.gather(v, rows + 1)
    step = v.scatter_add(pb.IndexedSlices(pb.ones([16, 8]), rows)).op
    memory = xla.compiled_memory([other, step], {rows: np.arange(16)})
    assert memory["temporary"] < 10_000


def test_large_constants_are_arguments(xla: pb.Session) -> None:
    c = pb.constant(np.ones((300, 300), np.float32))
    x = pb.placeholder(pb.float32, [])
    assert xla.compiled_memory(c * x, {x: 2.0})["arguments"] >= c.shape.num_elements() * 4  # type: ignore[operator]
    f = xla.make_callable(c * x, [x])
    assert [f(v)[0, 0] for v in (2.0, 3.0, 4.0)] == [2.0, 3.0, 4.0]


def test_an_initial_value_is_copied_to_the_device_once_and_is_no_argument(xla: pb.Session) -> None:
    initial = np.ones((300, 300), np.float32)
    v, w = pb.Variable(initial), pb.Variable(initial)
    assert xla.compiled_memory([v.initializer, w.initializer]) == dict.fromkeys(
        ["arguments", "outputs", "aliased", "temporary"], 0
    )
    for _ in range(3):
        xla.run([v.initializer, w.initializer])
        xla.run([v.assign_add(v).op, w.assign_sub(w).op])
        np.testing.assert_array_equal(xla.run([v, w]), [initial * 2, initial * 0])


def test_shapes_computed_from_shapes_need_no_compiled_values(xla: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [None, None])
    y = pb.reshape(x, pb.stack([pb.shape(x)[1], pb.shape(x)[0]]))
    assert xla.run(y, {x: np.ones((2, 3))}).shape == (3, 2)
    assert xla.run(y, {x: np.ones((4, 5))}).shape == (5, 4)


def test_a_feed_that_decides_a_shape_is_compiled_in(xla: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [6])
    n = pb.placeholder(pb.int32, [])
    f = xla.make_callable(pb.reshape(x, pb.stack([n + 1, -1])) * 2.0, [x, n])
    assert f(np.ones(6), 1).shape == (2, 3)
    assert f(np.ones(6), 2).shape == (3, 2)
    assert f(np.ones(6), 1).shape == (2, 3)


def test_many_programs_for_one_plan_are_warned_of(xla: pb.Session, caplog: pytest.LogCaptureFixture) -> None:
    n = pb.placeholder(pb.int32, [1], name="n")
    f = xla.make_callable(pb.broadcast_to(pb.constant(1.0), n), [n])
    with caplog.at_level(logging.WARNING, "pullback"):
        for i in range(18):
            f([i])
    assert [record.getMessage() for record in caplog.records] == [
        "XLA has compiled 16 programs for one set of fetches, because the values of the feeds 'n:0' decide shapes. "
        "Pad to few different shapes, or use Session(engine='numpy')."
    ]


def test_jax_arrays_are_fed_as_they_are(xla: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [3])
    np.testing.assert_array_equal(xla.run(x + 1.0, {x: jax.numpy.arange(3.0)}), [1.0, 2.0, 3.0])


def test_jax_arrays_of_another_dtype_are_converted(xla: pb.Session) -> None:
    x = pb.placeholder(pb.float64, [3])
    assert xla.run(x + 1.0, {x: jax.numpy.arange(3.0)}).dtype == np.float64


def test_the_precision_of_jax_is_left_alone(xla: pb.Session) -> None:
    x = pb.placeholder(pb.float64, [])
    xla.run(x + 1.0, {x: 1.0})
    assert jax.numpy.ones(1).dtype == np.float32


def test_one_program_serves_all_feeds_of_a_shape(xla: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [None])
    v = pb.Variable(1.0)
    xla.run(v.initializer)
    f = xla.make_callable(v.assign_add(pb.reduce_sum(x)), [x])
    with jax.log_compiles(False):
        f(np.ones(3))
        compiled = _compilations()
        f(np.ones(3))
        f(np.full(3, 2.0))
    assert _compilations() == compiled
    f(np.ones(4))
    assert _compilations() > compiled


_compiled: list[str] = []


def _compilations() -> int:
    return len(_compiled)


@pytest.fixture(autouse=True, scope="module")
def _count_compilations() -> None:
    def listener(event: str, duration: float, **_: Any) -> None:
        del duration
        if event == "/jax/core/compile/backend_compile_duration":
            _compiled.append(event)

    jax.monitoring.register_event_duration_secs_listener(listener)


def test_a_run_that_fails_while_it_is_built_loses_nothing(xla: pb.Session) -> None:
    v = pb.Variable([1.0, 2.0])
    x = pb.placeholder(pb.float32)
    xla.run(v.initializer)
    with pytest.raises(pb.errors.InvalidArgumentError):
        xla.run(v.assign_add(pb.ensure_shape(x, [2])), {x: np.ones(3)})
    np.testing.assert_array_equal(xla.run(v), [1.0, 2.0])


def test_a_variable_whose_memory_a_failed_run_gave_up_says_so(xla: pb.Session) -> None:
    v = pb.Variable([1.0, 2.0], name="v")
    xla.run(v.initializer)
    engine: Any = xla._engine
    engine.values[v.handle.op].delete()
    engine.lose([v.handle.op])
    for access in (lambda: xla.run(v), lambda: xla.read_variable(v.handle.op)):
        with pytest.raises(pb.errors.FailedPreconditionError) as error:
            access()
        assert str(error.value).startswith("the value of variable 'v' (made at test_xla.py:")
        assert str(error.value).endswith(
            "was lost when a run that assigns to it failed on the device. "
            "Restore it from a checkpoint, or run its initializer again."
        )
    xla.run(v.initializer)
    np.testing.assert_array_equal(xla.run(v), [1.0, 2.0])


def test_an_index_out_of_range_gives_nan(xla: pb.Session) -> None:
    rows = pb.placeholder(pb.int32, [3])
    v = pb.Variable([1.0, 2.0])
    xla.run(v.initializer)
    expected = [2.0, np.nan, np.nan]
    for source in (pb.constant([1.0, 2.0]), v):
        np.testing.assert_array_equal(xla.run(pb.gather(source, rows), {rows: [1, 2, -1]}), expected)


def test_an_update_of_a_row_out_of_range_is_left_out(xla: pb.Session) -> None:
    v = pb.Variable([1.0, 2.0])
    xla.run(v.initializer)
    rows = pb.placeholder(pb.int32, [3])
    step = v.scatter_add(pb.IndexedSlices(pb.ones([3]), rows))
    np.testing.assert_array_equal(xla.run(step, {rows: [1, 2, -1]}), [1.0, 3.0])


def test_fast_compilation_computes_the_same(graph: pb.Graph) -> None:
    x = pb.placeholder(pb.float32, [2])
    session = pb.Session(graph=graph, engine="xla", compile_effort="fast")
    np.testing.assert_array_equal(session.run(x * 2.0, {x: [1.0, 2.0]}), [2.0, 4.0])


def test_compiled_programs_are_kept_in_a_folder(graph: pb.Graph, tmp_path: Path) -> None:
    folder = jax.config.jax_compilation_cache_dir
    try:
        x = pb.placeholder(pb.float32, [7])
        pb.Session(graph=graph, engine="xla", cache_dir=str(tmp_path)).run(x * 3.0 + x, {x: np.ones(7)})
        assert list(tmp_path.iterdir())
    finally:
        jax.config.update("jax_compilation_cache_dir", folder)


def test_a_folder_that_was_unset_is_still_written_to(graph: pb.Graph, tmp_path: Path) -> None:
    """jax goes on writing programs to it, and XLA writes none that takes its memory in several pieces."""
    folder = jax.config.jax_compilation_cache_dir
    x = pb.placeholder(pb.float32, [7])
    try:
        compilation_cache.reset_cache()
        assert "xla_multiheap_size_constraint_per_heap" in options_of(x * 2.0)
        pb.Session(graph=graph, engine="xla", cache_dir=str(tmp_path)).run(x * 3.0 + x, {x: np.ones(7)})
        jax.config.update("jax_compilation_cache_dir", None)
        assert "xla_multiheap_size_constraint_per_heap" not in options_of(x * 4.0)
    finally:
        jax.config.update("jax_compilation_cache_dir", folder)
        compilation_cache.reset_cache()


def inside(x: pb.Tensor) -> pb.Tensor:
    return pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + pb.reduce_sum(pb.tanh(x))), [0, 1.0])[1]


@pytest.mark.parametrize("make", [lambda x: pb.reduce_sum(pb.tanh(x)), inside])
def test_no_pieces_where_an_array_is_larger(make: Callable[[pb.Tensor], pb.Tensor]) -> None:
    """XLA would print a warning for each buffer of its size."""
    x = pb.placeholder(pb.float32, ["n", 3000])
    plan = make_plan([make(x)], [], [x])
    assert x.shape.lengths is not None
    for n, has_pieces in ((30, True), (3000, False)):
        options = compiler_options(EngineOptions(), plan, "cpu", Lengths({x.shape.lengths[0]: n}))
        assert ("xla_multiheap_size_constraint_per_heap" in options) is has_pieces


def options_of(y: pb.Tensor) -> dict[str, Any]:
    """The compiler options of a plan on processors."""
    return compiler_options(EngineOptions(), make_plan([y], [], [y.op.inputs[0]]), "cpu", Lengths())


def residual(x: pb.Tensor, f: pb.Tensor) -> pb.Tensor:
    return x + pb.nn.conv2d(pb.nn.relu(pb.nn.conv2d(pb.nn.relu(x), f, 1, "SAME")), f, 1, "SAME")


def depthwise(x: pb.Tensor, f: pb.Tensor) -> pb.Tensor:
    return pb.nn.relu(pb.nn.depthwise_conv2d(x, f[:, :, :, :1], [1, 1, 1, 1], "SAME"))


@pytest.mark.parametrize(("layer", "depth"), [(residual, 4), pytest.param(depthwise, 6, marks=pytest.mark.slow)])
def test_gradients_keep_what_layers_give_once(layer: Callable[..., pb.Tensor], depth: int) -> None:
    shape, kept = (32, 32, 32, 32), 2 * depth if layer is residual else depth
    with pb.Graph().as_default():
        x = y = pb.placeholder(pb.float32, shape)
        filters = [pb.placeholder(pb.float32, [3, 3, 32, 32]) for _ in range(depth)]
        for f in filters:
            y = layer(y, f)
        fetches = pb.gradients(pb.reduce_sum(y * y), filters)
        feeds = {t: np.zeros(t.shape.known, np.float32) for t in (x, *filters)}
        found = pb.Session(engine="xla").compiled_memory(fetches, feeds)["temporary"]
    assert found < (1.5 * kept + 5) * 4 * np.prod(shape)


def test_compiled_memory_is_not_for_numpy() -> None:
    with pytest.raises(NotImplementedError, match="the NumPy engine compiles nothing"):
        pb.Session(engine="numpy").compiled_memory(pb.constant(1.0))


def test_many_decompositions_at_once_are_followed_by_one(xla: pb.Session) -> None:
    x = pb.placeholder(pb.float64, [3])
    a = pb.placeholder(pb.float64, [2, 2])
    covariance = pb.linalg.diag(pb.exp(x)) + pb.ones([3, 3], pb.float64)
    (h,) = pb.hessians(pb.reduce_sum(pb.linalg.logdet(covariance)), x)
    y = pb.linalg.solve(a, pb.ones([2, 1], pb.float64))
    feeds = {x: np.zeros(3), a: 2.0 * np.eye(2)}
    expected = pb.Session(engine="numpy").run([h, y], feeds)
    for found, value in zip(xla.run([h, y], feeds), expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-12)


def test_closing_gives_compiled_programs_back_though_the_session_and_a_callable_live() -> None:
    executables = jax.devices()[0].client.live_executables
    x, n = pb.placeholder(pb.float32, [None]), pb.placeholder(pb.int32, [])
    session = pb.Session(engine="xla")
    norm, total = session.make_callable(pb.reduce_sum(x * x), [x]), pb.reduce_sum(pb.fill([n], 2.0))
    gc.collect()  # What other tests left is given back now, not in between.
    before = len(executables())
    for length in range(1, 5):
        norm(np.ones(length))
        session.run(total, {n: length})
    assert len(executables()) >= before + 8
    session.close()
    assert len(executables()) <= before
    with pytest.raises(RuntimeError, match="closed Session"):
        norm(np.ones(2))


def test_what_is_known_is_computed_in_double_precision() -> None:
    with pb.Graph().as_default():
        y = pb.math.special.bessel_y1(pb.sharding(pb.constant(2.0, pb.float64), []))
        found, expected = [pb.Session(engine=engine).run(y) for engine in ("xla", "numpy")]
    assert (found, found.dtype) == (expected, np.float64)


@pytest.mark.parametrize("dtype", [pb.float32, pb.float64])
def test_constants_are_not_added_up_before_a_run(dtype: Any) -> None:
    eps = np.asarray(np.finfo(dtype).eps / 16, dtype)
    x = pb.placeholder(dtype, [3])
    sums = [
        (1.0 - x) + eps,
        eps + (1.0 - x),
        (x - 1.0) - eps,
        eps - (x - 1.0),
        ((x + 3.0) - 4.0) + eps,
        (1.0 - x + 1.0) - 1.0 + eps,
    ]
    found = pb.Session(engine="xla").run([*sums, pb.log(sums[0])], {x: np.ones(3)})
    for value, sign in zip(found, [1, 1, -1, 1, 1, 1], strict=False):
        np.testing.assert_array_equal(value, np.full(3, sign * eps))
    np.testing.assert_allclose(found[-1], np.log(np.full(3, eps)), rtol=1e-6)
