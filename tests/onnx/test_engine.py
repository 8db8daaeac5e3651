"""The onnxruntime engine behind `Session`, and the comparison of engines."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("onnxruntime")


def test_a_training_step_learns_as_on_numpy() -> None:
    x = pb.placeholder(pb.float32, [None, 3])
    w = pb.Variable(np.ones((3, 2), np.float32))
    loss = pb.reduce_sum(pb.square(pb.tanh(pb.matmul(x, w))))
    step = pb.train.GradientDescentOptimizer(0.1).minimize(loss)
    batch = np.random.default_rng(0).normal(size=(4, 3))
    found = []
    for engine in ("numpy", "onnxruntime"):
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        losses = [session.run([loss, step], {x: batch})[0] for _ in range(3)]
        found.append((losses, session.run(w)))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-5)


def test_a_variable_without_a_value_is_named() -> None:
    w = pb.Variable(1.0, name="w")
    with pytest.raises(pb.errors.FailedPreconditionError, match="w"):
        pb.Session(engine="onnxruntime").run(w * 2.0)


def test_a_variable_changes_in_a_branch_and_in_a_loop() -> None:
    w = pb.Variable(1.0)
    x = pb.placeholder(pb.float32, [])
    grown = pb.while_loop(lambda i: i < 3, lambda i: (_added(w, x, i),), (0,))
    session = pb.Session(engine="onnxruntime")
    session.run(w.initializer)
    session.run(grown, {x: 2.0})
    assert session.run(w) == 7.0


def _added(w: Any, x: Any, i: Any) -> Any:
    with pb.control_dependencies([pb.cond(x > 0.0, lambda: w.assign_add(x).op, lambda: pb.no_op())]):
        return i + 1


def test_dtypes_that_onnxruntime_does_not_take_cross_its_border() -> None:
    x, z = pb.placeholder(pb.bfloat16, [2]), pb.placeholder(pb.complex64, [2])
    session = pb.Session(engine="onnxruntime")
    squares = session.run([x * x, z * z], {x: [1.0, 2.0], z: [1j, 2.0]})
    assert squares[0].dtype == pb.bfloat16
    np.testing.assert_allclose(squares[0].astype(np.float32), [1, 4])
    np.testing.assert_allclose(squares[1], [-1, 4])


def test_variables_of_bfloat16_cross_its_border() -> None:
    v = pb.Variable(np.array([1.5, 2.0], pb.bfloat16))
    x = pb.placeholder(pb.bfloat16, [2])
    changed = pb.cond(x[0] > 0, lambda: v.assign_add(v * x), lambda: v.assign(x))
    (dv,) = pb.gradients(pb.square(v) * x, v)
    session = pb.Session(engine="onnxruntime")
    session.run(v.initializer)
    for given, new in (([1.0, 2.0], [3.0, 6.0]), ([-1.0, 2.0], [-1.0, 2.0])):
        slope = session.run(dv, {x: given})
        np.testing.assert_array_equal(slope, 2 * session.run(v) * np.array(given, pb.bfloat16))
        for value in (session.run(changed, {x: given}), session.run(v)):
            assert value.dtype == pb.bfloat16
            assert value.tolist() == new


def test_what_onnxruntime_refuses_is_an_invalid_argument() -> None:
    x = pb.placeholder(pb.float32, [None])
    y = pb.reshape(x, [2, 2])
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"^onnxruntime: "):
        pb.Session(engine="onnxruntime").run(y, {x: [1.0, 2.0, 3.0]})


def test_an_option_that_it_does_not_have_is_refused() -> None:
    with pytest.raises(NotImplementedError, match=r"^Session: engine='onnxruntime' has no check_numerics; "):
        pb.Session(engine="onnxruntime", check_numerics=True)


def test_what_cannot_be_written_is_listed_with_every_line() -> None:
    x = pb.placeholder(pb.float32, [2])
    sines = pb.py_function(np.sin, [x], pb.float32)
    after = pb.math.nextafter(x, 2.0 * x)
    with pytest.raises(pb.errors.UnimplementedError) as caught:
        pb.Session(engine="onnxruntime").run([sines, after], {x: [1.0, 2.0]})
    lines = str(caught.value).splitlines()
    assert [line.split(":")[0].strip() for line in lines[1:3]] == ["EagerPyFunc", "NextAfter"]
    assert "after = pb.math.nextafter" in lines[2]


def test_without_onnxruntime_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.delitem(sys.modules, "pullback.onnx.engine", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'pullback\[onnxruntime\]'"):
        pb.Session(engine="onnxruntime")


def test_what_an_operation_has_made_of_a_variable_is_compared() -> None:
    w = pb.Variable([3.0, 1.0])
    session = pb.Session(engine="numpy")
    session.run(w.initializer)
    step = w.assign(pb.tanh(w))
    assert pb.compare_engines(step.op, engines=("numpy", "onnxruntime"), session=session).agree
    apart = pb.compare_engines(step.op, engines=("numpy", "onnxruntime"), session=session, tolerance=-1.0)
    assert [d.tensor.op.type for d in apart.differences] == ["VarHandleOp"]
    assert apart.first is None


def test_a_variable_that_only_a_loop_reads_has_its_value() -> None:
    w, x = pb.Variable(2.0), pb.placeholder(pb.float32, [])
    y = pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w), (0, x))[1]
    session = pb.Session(engine="numpy")
    session.run(w.initializer)
    assert pb.compare_engines(y, {x: 1.5}, session=session).agree


def test_engines_that_agree_say_so() -> None:
    x = pb.placeholder(pb.float32, [3])
    found = pb.compare_engines([pb.tanh(x), pb.reduce_sum(x)], {x: [1.0, 2.0, 3.0]})
    assert found.agree
    assert str(found) == "numpy, xla, onnxruntime agree"


def test_the_first_operation_that_differs_is_named_with_its_line() -> None:
    x = pb.placeholder(pb.float32, [1, 3, 1])
    largest = pb.nn.max_pool1d(x, 2, 1, "VALID", name="largest")
    found = pb.compare_engines(largest * 2.0, {x: [[[1.0], [np.nan], [3.0]]]}, ("numpy", "onnxruntime"))
    assert not found.agree
    assert found.first is not None
    assert found.first.tensor is largest
    assert "largest = pb.nn.max_pool1d(x" in str(found)


def test_variables_have_the_values_of_the_session_given() -> None:
    w = pb.Variable(3.0)
    session = pb.Session(engine="numpy")
    session.run(w.initializer)
    assert pb.compare_engines(w * 2.0, engines=("numpy", "onnxruntime"), session=session).agree


def _on_both(build: Any, *arrays: Any) -> list[list[Any]]:
    """What `build(placeholders)` is on NumPy and on onnxruntime, with its gradients where it has them."""
    found = []
    for engine in ("numpy", "onnxruntime"):
        with pb.Graph().as_default():
            xs = [pb.placeholder(a.dtype, [f"n{i}{axis}" for axis in range(a.ndim)]) for i, a in enumerate(arrays)]
            y = build(*xs)
            fetches = [y, *([] if y.dtype in (pb.complex64, pb.int32) else pb.gradients(y, xs))]
            found.append(pb.Session(engine=engine).run(fetches, dict(zip(xs, arrays, strict=True))))
    return found


LOOPS = {
    "map": lambda x: pb.map_fn(lambda row: row * 2.0, x),
    "map of complex numbers": lambda x: pb.map_fn(lambda row: row * 2.0, pb.complex(x, x)),
    "scan": lambda x: pb.scan(lambda s, row: s * pb.sin(row), x, pb.reduce_sum(x, 0)),
    "scan from the end": lambda x: pb.scan(lambda s, row: s * pb.sin(row), x, pb.reduce_sum(x, 0), reverse=True),
    "recurrence": lambda x: pb.math.cumulative_logsumexp(x, 0),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_of_no_steps_keeps_the_lengths_of_its_rows(name: str) -> None:
    for shape in [(0, 3), (2, 0), (2, 3)]:
        for a, b in zip(*_on_both(LOOPS[name], np.ones(shape, np.float32)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, strict=True)


@pytest.mark.parametrize("reverse", [False, True])
def test_nothing_is_put_in_front_of_no_elements(reverse: bool) -> None:
    def build(x: pb.Tensor) -> pb.Tensor:
        return pb.math.cumulative_logsumexp(x, 1, exclusive=True, reverse=reverse)

    for shape in [(2, 0), (2, 1), (2, 3)]:
        for a, b in zip(*_on_both(build, np.ones(shape, np.float32)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, strict=True)


def test_complex_numbers_of_any_rank_cross_the_border() -> None:
    for shape in [(), (3,), (3, 2)]:
        x = pb.placeholder(pb.complex64, None)
        array = np.arange(np.prod(shape)).reshape(shape).astype(np.complex64) * (1 + 2j)
        np.testing.assert_array_equal(pb.Session(engine="onnxruntime").run(pb.math.conj(x), {x: array}), array.conj())


@pytest.mark.parametrize("approximate", [False, True])
def test_gelu_of_a_number_in_a_loop(approximate: bool) -> None:
    """onnxruntime fuses its nodes to one whose kernel takes no scalars."""

    def build(x: pb.Tensor) -> pb.Tensor:
        array = pb.TensorArray(pb.float32, size=3).unstack(x)
        return pb.while_loop(
            lambda i, _: i < 3, lambda i, y: (i + 1, y + pb.nn.gelu(array.read(i), approximate)), (0, 0.0)
        )[1]

    for a, b in zip(*_on_both(build, np.array([-1.0, 0.5, 2.0], np.float32)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_a_shape_with_a_length_of_zero_is_that_of_what_is_reshaped_like() -> None:
    def build(x: pb.Tensor) -> pb.Tensor:
        return pb.reshape(x, pb.concat([pb.shape(x)[:1], [1, -1]], 0)) * 2.0

    for a, b in zip(*_on_both(build, np.ones((2, 0), np.float32)), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def test_a_map_in_a_map_that_reads_nothing_of_its_row() -> None:
    """What it has of the loop around it is no node with outputs."""

    def build(x: pb.Tensor, rows: pb.Tensor) -> pb.Tensor:
        return pb.vectorized_map(lambda row: pb.map_fn(lambda e: e * 2.0, x), rows)

    found = []
    for engine in ("numpy", "onnxruntime"):
        x, rows = pb.placeholder(pb.float32, ["n"]), pb.placeholder(pb.float32, [2])
        y = build(x, rows)
        found.append(pb.Session(engine=engine).run([y, *pb.gradients(y, x)], {x: [1.0, 2.0, 3.0], rows: [0.0, 0.0]}))
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("counts", [[1, -1, 2], [-1, -1, -1]])
def test_negative_numbers_of_repeats_are_refused(counts: list[int]) -> None:
    x, repeats = pb.placeholder(pb.float32, [None]), pb.placeholder(pb.int32, [None])
    y = pb.repeat(x, repeats)
    session = pb.Session(engine="onnxruntime")
    np.testing.assert_array_equal(session.run(y, {x: [1.0, 2.0, 3.0], repeats: [2, 0, 1]}), [1.0, 1.0, 3.0])
    with pytest.raises(pb.errors.InvalidArgumentError, match="indices element out of data bounds"):
        session.run(y, {x: [1.0, 2.0, 3.0], repeats: counts})


@pytest.mark.parametrize("numbers", [[1, 1, 0], [0, 3, 1], [-1, 0, 1], [0, 0, 0], [2, 1, -3]])
def test_what_is_no_permutation_is_refused(numbers: list[int]) -> None:
    x = pb.placeholder(pb.int32, [None])
    y = pb.invert_permutation(x)
    session = pb.Session(engine="onnxruntime")
    np.testing.assert_array_equal(session.run(y, {x: [2, 0, 1]}), [1, 2, 0])
    assert session.run(y, {x: []}).size == 0
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"element out of data bounds"):
        session.run(y, {x: numbers})
