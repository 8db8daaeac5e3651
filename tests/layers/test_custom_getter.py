"""Variable scopes with a `custom_getter`, which has the last word on what `get_variable` returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


def test_a_getter_is_called_with_the_full_name_and_all_arguments() -> None:
    calls: list[dict[str, Any]] = []

    def noting(getter: Any, name: str, **kwargs: Any) -> Any:
        calls.append({"name": name, **kwargs})
        return getter(name, **kwargs)

    with pb.variable_scope("a", custom_getter=noting), pb.variable_scope("b", dtype=pb.float64):
        w = pb.get_variable("w", [2], trainable=False)
    assert (w.name, w.dtype, pb.trainable_variables()) == ("a/b/w:0", np.float64, [])
    assert [(c["name"], c["shape"], c["dtype"], c["trainable"]) for c in calls] == [("a/b/w", [2], np.float64, False)]


def test_what_a_getter_returns_is_what_the_program_gets() -> None:
    def doubled(getter: Any, *args: Any, **kwargs: Any) -> Any:
        return 2.0 * getter(*args, **kwargs)

    with pb.variable_scope("a", custom_getter=doubled):
        y = pb.get_variable("w", initializer=3.0)
    with pb.Session() as session:
        session.run(pb.global_variables_initializer())
        assert session.run(y) == 6.0


def test_the_getter_of_a_scope_is_given_to_the_getter_inside_it() -> None:
    order = []

    def named(what: str) -> Any:
        def getter(inner: Any, *args: Any, **kwargs: Any) -> Any:
            order.append(what)
            return inner(*args, **kwargs)

        return getter

    with pb.variable_scope("a", custom_getter=named("outer")), pb.variable_scope("b", custom_getter=named("inner")):
        w = pb.get_variable("w", [])
    assert (order, w.name) == (["inner", "outer"], "a/b/w:0")


def test_a_scope_that_is_entered_again_has_its_getter() -> None:
    def halved(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        return getter(f"{name}_half", *args, **kwargs)

    with pb.variable_scope("a", custom_getter=halved) as scope:
        pass
    with pb.variable_scope(scope):
        first = pb.get_variable("w", [])
    with pb.variable_scope(scope, reuse=True):
        assert pb.get_variable("w", []) is first
    assert first.name == "a/w_half:0"


def test_a_moving_average_stands_in_for_its_variable() -> None:
    with pb.variable_scope("net"):
        w = pb.get_variable("w", initializer=4.0)
    average = pb.train.ExponentialMovingAverage(0.5)
    step = average.apply([w])
    with pb.variable_scope("net", reuse=True, custom_getter=lambda g, *a, **k: average.average(g(*a, **k))):
        mean = pb.get_variable("w", [])
    with pb.Session() as session:
        session.run(pb.global_variables_initializer())
        session.run(pb.assign(w, 0.0))
        session.run(step)
        assert session.run(mean) == 2.0


def test_a_getter_may_be_given_for_one_variable() -> None:
    w = pb.get_variable(
        "w", [], custom_getter=lambda getter, *args, **kwargs: pb.stop_gradient(getter(*args, **kwargs))
    )
    assert pb.gradients(w * 2.0, pb.trainable_variables()) == [None]


def test_a_partitioner_leaves_one_variable() -> None:
    with pb.variable_scope("a", partitioner=lambda shape, dtype: [2, 1]):
        assert pb.get_variable("w", [4, 2]).shape == [4, 2]
        assert pb.get_variable("scalar", [], initializer=pb.zeros_initializer()).partitions is None
    assert [v.name for v in pb.global_variables()] == ["a/w:0", "a/scalar:0"]


def test_the_parts_of_a_variable_are_iterated_over() -> None:
    start = pb.constant([[1.0, 2.0, 3.0, 4.0, 5.0]])
    v = pb.get_variable("v", initializer=start, partitioner=lambda shape, dtype: [1, 3])
    whole = pb.get_variable("whole", [3], partitioner=lambda shape, dtype: [1])
    with pb.Session(engine="numpy") as session:
        session.run(pb.global_variables_initializer())
        assert [part.tolist() for part in session.run(list(v))] == [[[1.0, 2.0]], [[3.0, 4.0]], [[5.0]]]
        assert list(whole) == [whole]
    with pytest.raises(TypeError, match="is not iterable while the graph is built"):
        iter(pb.Variable([1.0]))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_parts_of_a_variable_stand_for_their_elements(engine: str) -> None:
    v = pb.get_variable("v", initializer=pb.constant([1.0, 2.0, 4.0]), partitioner=lambda shape, dtype: [2])
    first, second = v
    assert [first.name, second.name, first.shape, second.get_shape()] == ["v/part_0:0", "v/part_1:0", [2], [1]]
    assert (first.dtype, first.graph, first.op.type) == (pb.float32, v.graph, "SplitV")
    assert repr(second) == "<part 'v/part_1:0' of <Variable 'v:0' float32[3]>: float32[1]>"
    y = pb.reduce_sum(-(first**2.0) * second.value()) + second[0]
    with pb.Session(engine=engine):
        for part in v:
            part.initializer.run()
        assert [first.eval().tolist(), y.eval()] == [[1.0, 2.0], -16.0]
        assert [dy.eval().tolist() for dy in pb.gradients(y, [v, first, second])] == [
            [-8.0, -16.0, -4.0],
            [-8.0, -16.0],
            [-4.0],
        ]


@pytest.mark.parametrize(
    ("partitioner", "message"),
    [
        (3, "must be a function of shape and dtype, not 3"),
        (lambda shape, dtype: [2], r"must give a number of parts for each axis of \(4, 2\), not \[2\]"),
        (lambda shape, dtype: 2, r"must give a number of parts for each axis of \(4, 2\), not 2"),
        (lambda shape, dtype: [2, 0], r"must give a number of parts for each axis of \(4, 2\), not \[2, 0\]"),
        (lambda shape, dtype: [2, 2], r"divides more than one axis: \[2, 2\]"),
        (lambda shape, dtype: [5, 1], r"asks for 5 parts of axis 0 of \(4, 2\)"),
    ],
)
def test_a_partitioner_divides_one_axis(partitioner: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^get_variable: the partitioner of 'v' {message}$"):
        pb.get_variable("v", [4, 2], partitioner=partitioner)
    assert pb.global_variables() == []


def test_initializers_and_getters_of_programs_of_version_1_are_given_its_dtypes() -> None:
    pb.disable_v2_behavior()
    try:
        seen = []

        def start(shape: Any, dtype: Any) -> Any:
            seen.append(dtype.is_floating)
            return pb.zeros(shape, dtype)

        def getter(make: Any, *args: Any, **options: Any) -> Any:
            seen.append(options["dtype"].as_numpy_dtype)
            return make(*args, **options)

        pb.get_variable("w", [2], initializer=start, custom_getter=getter)
    finally:
        pb.enable_v2_tensorshape()
        pb.enable_resource_variables()
    assert seen == [np.float32, True]
