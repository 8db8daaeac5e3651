"""Variables: names, reads, assignments in program order, scopes, and the way through the dict form."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

ENGINES = ["numpy", "xla"]


def refused(error: type[Exception], act: Callable[[], Any]) -> str:
    """The message of the exception of class `error` that `act` raises."""
    with pytest.raises(error) as caught:
        act()
    return str(caught.value)


def started(engine: str = "numpy") -> pb.Session:
    """A session of the default graph whose variables have their initial values."""
    session = pb.Session(engine=engine)
    session.run(pb.global_variables_initializer())
    return session


def test_the_operations_of_a_variable_have_the_names_of_tensorflow() -> None:
    pb.Variable(1.0, name="w")
    assert [(op.name, op.type) for op in pb.get_default_graph().operations] == [
        ("w/Initializer/initial_value", "Const"),
        ("w", "VarHandleOp"),
        ("w/Assign", "AssignVariableOp"),
        ("w/Read/ReadVariableOp", "ReadVariableOp"),
    ]


def test_names_are_made_unique() -> None:
    assert [pb.Variable(0.0).name, pb.Variable(0.0).name] == ["Variable:0", "Variable_1:0"]


def test_each_use_is_a_read_of_its_own() -> None:
    v = pb.Variable(1.0)
    (a, _), (b, _) = (v * 2.0).op.inputs, (v * 3.0).op.inputs
    assert a.op.type == b.op.type == "ReadVariableOp"
    assert a is not b


def test_the_derivative_by_a_variable_counts_all_reads_and_by_one_read_only_that() -> None:
    v = pb.Variable(3.0)
    read = v.read_value()
    y = read * v
    dv, dhandle, dread = pb.gradients(y, [v, v.handle, read])
    assert started().run([dv, dhandle, dread]) == [6.0, 6.0, 3.0]


def test_assignments_are_not_differentiated() -> None:
    x = pb.constant(2.0)
    v = pb.Variable(1.0)
    assert pb.gradients(v.assign(x), x) == [None]


def test_an_unconnected_variable_gives_zeros_where_asked() -> None:
    small, large, unknown = (
        pb.Variable([1.0, 2.0]),
        pb.Variable(pb.ones([200])),
        pb.Variable([1.0], validate_shape=False),
    )
    zeros = pb.gradients(pb.constant(1.0), [small, large, unknown], unconnected_gradients="zero")
    assert [z.op.name for z in zeros] == ["zeros", "zeros_1", "zeros_2"]
    assert [z.shape for z in started().run(zeros)] == [(2,), (200,), (1,)]


@pytest.mark.parametrize("engine", ENGINES)
def test_reads_and_assignments_of_one_run_act_in_the_order_of_making(engine: str) -> None:
    v = pb.Variable(1.0)
    before = v.read_value()
    assign = v.assign_add(10.0, read_value=False)
    after = v.read_value()
    doubled = v.assign(v * 2.0)
    last = v.read_value()
    assert started(engine).run([last, assign, before, doubled, after]) == [22.0, None, 1.0, 22.0, 11.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_variable_may_start_from_another(engine: str) -> None:
    a = pb.Variable(2.0)
    b = pb.Variable(a.initialized_value() * 3.0)
    assert started(engine).run(b) == 6.0


@pytest.mark.parametrize("engine", ENGINES)
def test_changes_do_not_reach_the_constant_that_was_assigned(engine: str) -> None:
    one = pb.constant([1.0, 1.0])
    v = pb.Variable(one)
    session = started(engine)
    session.run(v.assign_add([1.0, 1.0]))
    session.run(v.scatter_add(pb.IndexedSlices(pb.constant([5.0]), pb.constant([0]))))
    assert session.run(one).tolist() == [1.0, 1.0]
    assert session.run(v).tolist() == [7.0, 2.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_fetched_values_do_not_change_afterwards(engine: str) -> None:
    v = pb.Variable([1.0, 2.0])
    session = started(engine)
    before = session.run(v)
    session.run(v.assign_add([1.0, 1.0]))
    assert before.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_whether_a_variable_has_a_value_can_be_asked(engine: str) -> None:
    v = pb.Variable(1.0)
    known = pb.is_variable_initialized(v)
    session = pb.Session(engine=engine)
    assert not session.run(known)
    session.run(v.initializer)
    assert session.run(known)


def test_load_and_eval_use_the_session_given() -> None:
    v = pb.Variable([1.0, 2.0])
    session = started()
    v.load([5.0, 6.0], session)
    assert v.eval(session).tolist() == [5.0, 6.0]


def test_a_variable_of_unknown_shape_takes_values_of_other_shapes() -> None:
    v = pb.Variable([1.0], validate_shape=False)
    session = started()
    assert session.run(v.assign([1.0, 2.0, 3.0])).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_operator_stands_for_that_of_the_value(engine: str) -> None:
    v, n = pb.Variable([7.0, 8.0]), pb.Variable([6, 3])
    values = [v + 1, 1 + v, v - 1, 1 - v, v * 2, 2 * v, v / 2, 2 / v, v // 2, v % 3, v**2, -v, abs(v), v[0], n & 2, ~n]
    session = started(engine)
    x, k = np.array([7.0, 8.0]), np.array([6, 3])
    wanted = [x + 1, 1 + x, x - 1, 1 - x, x * 2, 2 * x, x / 2, 2 / x, x // 2, x % 3, x**2, -x, abs(x), x[0], k & 2, ~k]
    for actual, expected in zip(session.run(values), wanted, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_a_variable_is_equal_to_what_its_handle_gives_and_hashes_so() -> None:
    v, w = pb.Variable(0.0), pb.Variable(0.0)
    again = pb.Variable.from_handle(v.handle)
    assert again == v
    assert v != w
    assert len({v, w, again}) == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_variables_survive_the_dict_form_of_their_graph(engine: str) -> None:
    v = pb.Variable([1.0, 2.0], name="v")
    pb.Variable(0, name="count", trainable=False)
    v.assign_add([1.0, 1.0], name="more")
    copy = pb.Graph.from_dict(json.loads(json.dumps(pb.get_default_graph().to_dict())))
    with copy.as_default():
        assert [x.name for x in pb.global_variables()] == ["v:0", "count:0"]
        assert [x.name for x in pb.trainable_variables()] == ["v:0"]
        session = started(engine)
        session.run(copy.get_operation_by_name("more"))
        assert session.run(pb.global_variables()[0]).tolist() == [2.0, 3.0]


def test_a_failed_variable_leaves_no_trace() -> None:
    with pytest.raises(ValueError, match="shape"):
        pb.Variable(pb.placeholder(pb.float32, [None]), name="v")
    assert [op.type for op in pb.get_default_graph().operations] == ["Placeholder"]
    assert pb.global_variables() == []
    assert pb.Variable(0.0, name="v").name == "v:0"


def test_control_dependencies_do_not_reach_the_initializer() -> None:
    with pb.get_default_graph().control_dependencies([pb.no_op()]):
        v = pb.Variable(0.0)
    assert v.initializer is not None
    assert v.initializer.control_inputs == []


# Messages


def test_a_missing_initial_value_is_named() -> None:
    assert refused(ValueError, lambda: pb.Variable()) == "Variable: initial_value must be specified."


def test_an_unknown_initial_shape_is_named() -> None:
    x = pb.placeholder(pb.float32, [None], name="x")
    assert refused(ValueError, lambda: pb.Variable(x)) == (
        "Variable: initial_value must have a shape specified: float32[?] 'x:0'; or pass validate_shape=False"
    )


def test_an_assigned_shape_that_does_not_fit_is_named() -> None:
    v = pb.Variable([1.0, 2.0])
    assert refused(ValueError, lambda: v.assign([1.0])) == (
        "assign: the value is float32[1], but the variable is float32[2]; their shapes must agree"
    )


def test_a_scatter_that_does_not_fit_is_named() -> None:
    v = pb.Variable(pb.zeros([4, 2]))
    assert refused(ValueError, lambda: v.scatter_add(pb.IndexedSlices(pb.constant([[1.0]]), pb.constant([0])))) == (
        "scatter_add: the updates float32[1,1] must have the shape (1, 2) for the indices int32[1] "
        "of the variable float32[4,2]"
    )


def test_what_is_no_handle_is_refused() -> None:
    x = pb.constant(1.0, name="x")
    assert (
        refused(TypeError, lambda: pb.Variable.from_handle(x))
        == "Variable.from_handle: <Tensor 'x:0' float32[]> is not the handle of a variable"
    )


def test_a_row_out_of_range_raises_on_numpy_and_is_left_out_on_xla() -> None:
    v = pb.Variable([1.0, 2.0])
    change = v.scatter_add(pb.IndexedSlices(pb.constant([5.0]), pb.constant([2])))
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"indices\[0\] = 2 is not in \[0, 2\)"):
        started().run(change)
    assert started("xla").run(change).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_older_functions_change_variables_as_the_methods_do(engine: str) -> None:
    v = pb.Variable([1.0, 2.0, 3.0])
    changes = [
        (pb.assign(v, [1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]),
        (pb.assign_add(v, [1.0, 1.0, 1.0]), [2.0, 3.0, 4.0]),
        (pb.assign_sub(v, [0.0, 1.0, 1.0]), [2.0, 2.0, 3.0]),
        (pb.scatter_update(v, [0], [5.0]), [5.0, 2.0, 3.0]),
        (pb.scatter_add(v, [1, 1], [1.0, 2.0]), [5.0, 5.0, 3.0]),
        (pb.scatter_sub(v, [0], [1.0]), [4.0, 5.0, 3.0]),
        (pb.scatter_mul(v, [0, 0], [2.0, 2.0]), [16.0, 5.0, 3.0]),
        (pb.scatter_div(v, [0], [4.0]), [4.0, 5.0, 3.0]),
        (pb.scatter_min(v, [0, 1], [9.0, 1.0]), [4.0, 1.0, 3.0]),
        (pb.scatter_max(v, [0, 1], [9.0, 0.0]), [9.0, 1.0, 3.0]),
        (pb.scatter_nd_update(v, [[2]], [0.0]), [9.0, 1.0, 0.0]),
        (pb.scatter_nd_add(v, [[2], [2]], [1.0, 1.0]), [9.0, 1.0, 2.0]),
        (pb.scatter_nd_sub(v, [[0]], [8.0]), [1.0, 1.0, 2.0]),
    ]
    session = started(engine)
    assert [x.tolist() for x in session.run([value for value, _ in changes])] == [wanted for _, wanted in changes]


def test_what_is_no_variable_cannot_be_changed() -> None:
    message = refused(TypeError, lambda: pb.assign(pb.constant(1.0, name="x"), 2.0))
    assert message == "assign: only a variable can be changed, not float32[] 'x:0'"


@pytest.mark.parametrize("index", [2, -1])
def test_reading_a_row_out_of_range_fails_on_numpy_and_gives_nan_on_xla(index: int) -> None:
    v = pb.Variable([1.0, 2.0])
    row = v.sparse_read([index])
    with pytest.raises(
        pb.errors.InvalidArgumentError, match=rf"sparse_read: indices\[0\] = {index} is not in \[0, 2\)"
    ):
        started().run(row)
    assert np.isnan(started("xla").run(row)).all()


# get_variable


def test_get_variable_names_by_variable_scope_and_not_by_name_scope() -> None:
    with pb.get_default_graph().name_scope("outer"), pb.variable_scope("a"), pb.variable_scope("b"):
        v = pb.get_variable("v", [2])
        x = v + 1.0
    assert v.name == "a/b/v:0"
    assert x.name == "outer/a/b/add:0"


def test_a_variable_is_shared_only_where_reuse_says_so() -> None:
    with pb.variable_scope("a"):
        v = pb.get_variable("v", [2])
        assert refused(ValueError, lambda: pb.get_variable("v", [2])) == (
            "Variable a/v already exists, disallowed. "
            "Did you mean to set reuse=True or reuse=pb.AUTO_REUSE in variable_scope?"
        )
    with pb.variable_scope("a", reuse=True):
        assert pb.get_variable("v") is v
        assert refused(ValueError, lambda: pb.get_variable("w", [2])) == (
            "Variable a/w does not exist, or was not created with get_variable(). "
            "Did you mean to set reuse=pb.AUTO_REUSE in variable_scope?"
        )
    with pb.variable_scope("a", reuse=pb.AUTO_REUSE):
        assert pb.get_variable("v", [2]) is v
        assert pb.get_variable("w", [2]).name == "a/w:0"


def test_a_shared_variable_must_have_the_shape_and_dtype_asked_for() -> None:
    pb.get_variable("v", [2])
    with pb.variable_scope("", reuse=True):
        with pytest.raises(
            ValueError, match=r"Trying to share variable v, but specified shape \(3,\) and found shape \(2,\)"
        ):
            pb.get_variable("v", [3])
        with pytest.raises(ValueError, match="specified dtype float64 and found dtype float32"):
            pb.get_variable("v", dtype=pb.float64)


def test_a_scope_hands_its_initializer_regularizer_and_dtype_to_the_variables_inside() -> None:
    options = {"initializer": pb.ones_initializer(), "regularizer": pb.reduce_sum, "dtype": pb.float64}
    with pb.variable_scope("a", **options), pb.variable_scope("b"):
        v = pb.get_variable("v", [3])
    (loss,) = pb.get_collection(pb.GraphKeys.REGULARIZATION_LOSSES)
    assert started().run([v, loss])[1] == 3.0
    assert v.dtype == pb.float64


def test_a_default_name_is_made_unique() -> None:
    names = []
    for _ in range(2):
        with pb.variable_scope(None, default_name="layer"):
            names.append(pb.get_variable("w", [1]).name)
    assert names == ["layer/w:0", "layer_1/w:0"]


def named_by_default() -> str:
    """The name of a scope that is called dense unless one inside the same block is."""
    with pb.variable_scope(None, default_name="dense") as scope:
        return scope.name


def test_default_names_begin_anew_in_a_scope_that_is_entered_again() -> None:
    found = []
    for _ in range(2):
        with pb.variable_scope("q"):
            found += [named_by_default(), named_by_default()]
    assert found == ["q/dense", "q/dense_1"] * 2


def test_a_scope_that_is_passed_on_counts_as_it_did_outside() -> None:
    with pb.variable_scope("q") as q:
        assert named_by_default() == "q/dense"
        with pb.variable_scope(q):
            assert named_by_default() == "q/dense_1"
        assert named_by_default() == "q/dense_1"
    with pb.variable_scope(q):
        assert named_by_default() == "q/dense"


def test_a_scope_without_variables_counts_too() -> None:
    assert [named_by_default(), named_by_default()] == ["dense", "dense_1"]
    with pb.variable_scope("dense_2"):
        assert named_by_default() == "dense_2/dense"
    assert named_by_default() == "dense_3"


def test_a_network_that_is_built_again_with_auto_reuse_shares_its_variables() -> None:
    def network() -> list[str]:
        with pb.variable_scope("q", reuse=pb.AUTO_REUSE):
            names = []
            for _ in range(2):
                with pb.variable_scope(None, default_name="dense"):
                    names.append(pb.get_variable("w", [1]).name)
            return names

    assert network() == network() == ["q/dense/w:0", "q/dense_1/w:0"]
    assert len(pb.global_variables()) == 2


def test_a_default_name_cannot_be_one_to_reuse() -> None:
    with pytest.raises(ValueError, match="variable_scope: reuse=True needs a name_or_scope; default_name is made uni"):
        pb.variable_scope(None, default_name="dense", reuse=True).__enter__()


def test_the_variable_scope_of_one_graph_is_not_that_of_another() -> None:
    with pb.variable_scope("a"), pb.Graph().as_default():
        assert pb.get_variable("v", [1]).name == "v:0"


@pytest.mark.parametrize(
    ("initializer", "limit"),
    [
        (pb.initializers.glorot_uniform(), (6 / 150) ** 0.5),
        (pb.initializers.he_uniform(), (6 / 100) ** 0.5),
        (pb.initializers.RandomUniform(-0.1, 0.1), 0.1),
        (pb.initializers.TruncatedNormal(stddev=0.1), 0.2),
    ],
)
def test_bounded_initializers_stay_within_their_bounds_and_reach_them(initializer: object, limit: float) -> None:
    w = pb.get_variable("w", [100, 50], initializer=initializer)
    value = np.abs(started().run(w))
    assert 0.95 * limit < value.max() <= limit * 1.0001


@pytest.mark.parametrize("distribution", ["truncated_normal", "untruncated_normal", "uniform"])
def test_variance_scaling_has_the_variance_it_says(distribution: str) -> None:
    initializer = pb.initializers.VarianceScaling(2.0, "fan_out", distribution, seed=1)
    value = pb.Session(engine="numpy").run(initializer([3, 3, 40, 50]))
    np.testing.assert_allclose(value.var(), 2.0 / (9 * 50), rtol=0.05)


# Slices


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_slice_of_a_variable_can_be_assigned_to(engine: str) -> None:
    start = np.arange(12.0).reshape(3, 4)
    v, i = pb.Variable(start), pb.placeholder(pb.int32, [])
    session = pb.Session(engine=engine)
    steps = [
        (v[1:3, ::2].assign([[-1.0, -2.0], [-3.0, -4.0]]), (slice(1, 3), slice(None, None, 2)), [[-1, -2], [-3, -4]]),
        (v[i].assign(5.0), 2, 5.0),
        (v[..., -1:].assign(pb.ones([1], pb.float64)), (..., slice(-1, None)), 1.0),
        (v[:].assign(np.zeros((3, 4))), (...,), 0.0),
    ]
    for step, place, value in steps:
        session.run(v.initializer)
        expected = start.copy()
        expected[place] = value
        np.testing.assert_array_equal(session.run(step, {i: 2}), expected)
        np.testing.assert_array_equal(session.run(v), expected)


def test_assign_takes_a_part_of_a_variable() -> None:
    v, x = pb.Variable([[1.0, 2.0], [3.0, 4.0]]), pb.constant([1.0, 2.0])
    with pb.Session(engine="numpy") as session:
        session.run(v.initializer)
        assert session.run(pb.assign(v[1, ::-1], [5.0, 6.0])).tolist() == [[1.0, 2.0], [6.0, 5.0]]
        assert session.run(v).tolist() == [[1.0, 2.0], [6.0, 5.0]]
    with pytest.raises(TypeError, match="assign: only a variable can be changed"):
        pb.assign(x[:1], [5.0])


def test_slices_are_assigned_to_in_the_order_of_making_and_in_loops() -> None:
    v = pb.Variable([0, 0, 0])
    first = v[0:1].assign([1])
    second = v[1].assign(v[0] + 1)
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    assert session.run([first, second])[1].tolist() == [1, 2, 0]

    def step(i: Any) -> Any:
        with pb.control_dependencies([v[i].assign(i * 10, read_value=False)]):
            return i + 1

    session.run(pb.while_loop(lambda i: i < 3, step, [0]))
    assert session.run(v).tolist() == [0, 10, 20]


def test_what_is_no_slice_of_a_variable_cannot_be_assigned_to() -> None:
    x = pb.constant([1.0, 2.0], name="x")
    assert not hasattr(x, "assign")
    with pytest.raises(AttributeError, match=r"'strided_slice:0' cannot be assigned to: it is no slice of a var"):
        x[0:1].assign([1.0])
    v = pb.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match="3"):
        v[0:2].assign([1.0, 2.0, 3.0])
    named = pb.strided_slice(v, [0], [1], var=v).assign([7.0])
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    assert session.run(named).tolist() == [7.0, 2.0]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_initial_values_made_of_others_need_no_order(engine: str) -> None:
    v = pb.Variable(pb.random.normal([2]))
    w = pb.Variable(v.initialized_value() * 2.0)
    u = pb.Variable(w.initialized_value() + 1.0)
    session = pb.Session(engine=engine)
    session.run(u.initializer)
    with pytest.raises(pb.errors.FailedPreconditionError, match="uninitialized value"):
        session.run(v)
    session.run(v.assign([5.0, 7.0]))
    session.run(w.initializer)
    assert session.run(w).tolist() == [10.0, 14.0]
    session = pb.Session(engine=engine)
    session.run(pb.global_variables_initializer())
    a, b, c = session.run([v, w, u])
    np.testing.assert_array_equal([2.0 * a, b + 1.0], [b, c])


def test_the_derivative_by_a_variable_goes_through_its_initialized_value() -> None:
    with pb.device("/device:CPU:1"):
        v = pb.Variable(2.0)
    y = v.initialized_value() * 3.0
    assert v.initialized_value().device == v.device
    assert pb.Session(engine="numpy").run([y, *pb.gradients(y, v)]) == [6.0, 3.0]
    assert pb.gradients(y, v.initial_value) == [None]
    assert pb.Variable.from_handle(v.handle).initialized_value().op.type == "InitializedValue"
