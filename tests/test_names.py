"""Programs that come from TensorFlow: names, the order of arguments, defaults, and what is taken or refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb

# The same names by another import


def test_a_program_that_imports_version_1_runs_with_another_import() -> None:
    program = """
import pullback.compat.v1 as tf
tf.disable_v2_behavior()
x = tf.placeholder(tf.float32, [None, 2])
w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
step = tf.train.GradientDescentOptimizer(0.5).minimize(loss, tf.train.get_or_create_global_step())
config = tf.ConfigProto(allow_soft_placement=True)
config.gpu_options.allow_growth = True
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([step, loss], feed_dict={x: [[1.0, 0.0]]})[1], sess.run("w:0").tolist())
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out == "1.0 [[1.0], [0.0]]\n"


def test_compat_v1_is_pullback_itself() -> None:
    assert pb.compat.v1.placeholder is pb.placeholder
    assert pb.compat.v1.train.Saver is pb.train.Saver
    assert pb.compat.v1.__all__ == pb.__all__
    with pytest.raises(AttributeError, match="module 'pullback' has no attribute 'tpu'"):
        _ = pb.compat.v1.tpu


def test_dtypes_have_their_namespace_and_their_old_names() -> None:
    assert pb.dtypes.as_dtype("half") is pb.half is pb.dtypes.float16
    assert pb.double is pb.float64
    assert pb.to_bfloat16(1.0).dtype == pb.bfloat16


# Tensors


def test_set_shape_does_nothing_where_the_shape_says_it_already() -> None:
    x = pb.placeholder(pb.float32, [2, None])
    x.set_shape([2, None])
    x.set_shape(None)
    assert x.ndim == 2
    assert pb.placeholder(pb.float32).ndim is None


def test_set_shape_refuses_what_cannot_be() -> None:
    x = pb.placeholder(pb.float32, [2, None], name="x")
    with pytest.raises(ValueError, match=r"Shapes \(2, None\) and \(3, None\) are not compatible"):
        x.set_shape([3, None])
    with pytest.raises(ValueError, match=r"use pb.Variable\(..., shape=\)"):
        pb.Variable(np.zeros(2), validate_shape=False).set_shape([2])


def test_a_reference_stands_for_a_tensor_or_a_variable_in_sets() -> None:
    x, v = pb.constant(1.0), pb.Variable(1.0)
    assert {x.ref(), x.ref(), v.ref()} == {x.ref(), v.ref()}
    assert x.ref().deref() is x
    assert v.ref().deref() == v


def test_is_tensor_tells_tensors_from_arrays() -> None:
    sparse = pb.SparseTensor([[0]], [1.0], [2])
    tensors = [pb.constant(1.0), pb.Variable(1.0), sparse, pb.IndexedSlices(pb.constant([1.0]), pb.constant([0]))]
    assert all(pb.is_tensor(x) for x in tensors)
    assert not any(pb.is_tensor(x) for x in [1.0, np.ones(2), [pb.constant(1.0)]])


def test_a_static_value_is_a_copy() -> None:
    x = pb.constant([1, 2])
    value = pb.get_static_value(x)
    assert value is not None
    value[0] = 5
    assert pb.Session(engine="numpy").run(x).tolist() == [1, 2]


# Sessions


def test_the_name_of_a_variable_is_fetched_as_the_variable_is() -> None:
    v = pb.Variable(3.0, name="v")
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    assert session.run(["v:0", v]) == [3.0, 3.0]


def test_soft_placement_can_be_asked_for_by_a_config() -> None:
    with pb.device("/job:far"):
        x = pb.constant(1.0) + 1.0
    config = pb.ConfigProto(allow_soft_placement=False)
    with pytest.raises(ValueError, match="/job:far"):
        pb.Session(config=config, engine="xla").run(x)
    assert pb.Session(config=pb.ConfigProto(), engine="xla").run(x) == 2.0


def test_modes_that_are_not_there_are_refused() -> None:
    with pytest.raises(RuntimeError) as error:
        pb.enable_eager_execution()
    assert str(error.value) == (
        "enable_eager_execution: functions of pullback add to a graph; run it with pb.Session, or wrap them in "
        "pb.function"
    )


# Collections and scopes


def test_values_go_to_several_collections_once() -> None:
    graph = pb.get_default_graph()
    pb.add_to_collections(["a", "b", "a"], 1)
    assert (graph.get_collection("a"), graph.get_collection("b")) == ([1], [1])
    graph.get_collection_ref("a").append(2)
    assert graph.get_collection("a") == [1, 2]
    assert graph.get_all_collection_keys() == ["a", "b"]
    graph.clear_collection("a")
    assert graph.get_collection("a") == []


def test_reuse_variables_holds_to_the_end_of_the_block() -> None:
    with pb.variable_scope("layer"):
        v = pb.get_variable("v", [2])
        pb.get_variable_scope().reuse_variables()
        assert pb.get_variable("v") == v
    with pb.variable_scope("layer"), pytest.raises(ValueError, match="already exists"):
        pb.get_variable("v", [2])


def test_reuse_variables_without_a_block_holds_from_there_on() -> None:
    pb.get_variable_scope().reuse_variables()
    with pb.variable_scope("layer") as scope, pytest.raises(ValueError, match="does not exist"):
        pb.get_variable("v", [2])
    assert scope.reuse is True


def test_reuse_is_inherited_by_name_and_kept_by_scopes() -> None:
    with pb.variable_scope("layer", reuse=True) as shared, pb.variable_scope("inner", reuse=False) as inner:
        assert inner.reuse is True
    with pb.variable_scope("layer") as plain:
        pass
    with pb.variable_scope(shared, reuse=False) as again, pb.variable_scope(plain) as other:
        assert (again.reuse, other.reuse) == (True, False)


def test_what_is_set_of_a_scope_holds_from_there_on() -> None:
    with pb.variable_scope("layer") as scope:
        scope.set_dtype("float64")
        scope.set_initializer(pb.ones_initializer())
        scope.set_regularizer(pb.reduce_sum)
        scope.set_custom_getter(lambda getter, name, *args, **kwargs: getter(name + "_own", *args, **kwargs))
        with pb.variable_scope("inner"):
            v = pb.get_variable("v", [2])
    assert (v.name, v.dtype.name, len(pb.get_collection("regularization_losses"))) == (
        "layer/inner/v_own:0",
        "float64",
        1,
    )
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    assert session.run(v).tolist() == [1.0, 1.0]


def test_a_scope_keeps_the_names_of_its_first_operations() -> None:
    with pb.name_scope("model"), pb.variable_scope("layer") as scope:
        assert scope.original_name_scope == "model/layer/"
    with pb.variable_scope(scope) as again:
        assert (again.original_name_scope, pb.constant(1.0, name="c").op.name) == ("model/layer/", "layer/c")
    with pb.variable_scope("flat", auxiliary_name_scope=False) as flat:
        assert flat.original_name_scope == ""
    with (
        pytest.raises(TypeError, match="auxiliary_name_scope must be True or False, not 'no'"),
        pb.variable_scope(
            "layer",
            auxiliary_name_scope="no",  # type: ignore[arg-type]
        ),
    ):
        pass


def test_what_a_custom_getter_makes_is_in_no_name_scope() -> None:
    def doubled(getter: Any, name: str, *args: Any, **kwargs: Any) -> pb.Tensor:
        return pb.multiply(getter(name, *args, **kwargs), 2.0, name="doubled")

    with pb.variable_scope("layer", custom_getter=doubled):
        assert pb.get_variable("v", []).name == "doubled:0"


def test_initial_values_have_the_shape_and_dtype_asked_for() -> None:
    assert pb.get_variable("free", initializer=lambda: pb.ones([3])).shape.as_list() == [3]
    with pytest.raises(ValueError, match=r"the initializer of 'v' was asked for shape \(2,\) and made \(3,\)"):
        pb.get_variable("v", [2], initializer=lambda shape, dtype: pb.ones([3]))
    with pytest.raises(ValueError, match=r"'w' has the initial value int32.* and dtype=float64, which don't match"):
        pb.get_variable("w", initializer=pb.constant(1), dtype="float64")
    assert pb.global_variables() == [pb.Variable.from_handle(pb.get_default_graph().get_operation_by_name("free"))]


def test_a_scope_knows_its_variables() -> None:
    other = pb.get_variable("layer_2", [2])
    with pb.variable_scope("layer") as scope:
        v = pb.get_variable("v", [2])
        local = pb.get_local_variable("n", [])
    assert (scope.global_variables(), scope.trainable_variables(), scope.local_variables()) == ([v], [v], [local])
    assert pb.global_variables() == [other, v]


# Arguments that are honoured or refused


@pytest.mark.parametrize(
    "call",
    [
        lambda policy: pb.scatter_nd([[0]], [1.0], [2], policy),
        lambda policy: pb.tensor_scatter_nd_add([1.0], [[0]], [1.0], policy),
        lambda policy: pb.tensor_scatter_nd_sub([1.0], [[0]], [1.0], policy),
        lambda policy: pb.tensor_scatter_nd_max([1.0], [[0]], [1.0], policy),
        lambda policy: pb.tensor_scatter_nd_min([1.0], [[0]], [1.0], policy),
    ],
)
def test_a_policy_for_bad_indices_stands_before_the_name(call: Any) -> None:
    assert call("DEFAULT").shape.rank == 1
    with pytest.raises(ValueError, match="bad_indices_policy must be '' or 'DEFAULT', not 'IGNORE'"):
        call("IGNORE")


def test_other_random_algorithms_are_refused() -> None:
    run = pb.Session(engine="numpy").run
    a, b = (pb.random.stateless_uniform([2], [1, 2], alg=alg) for alg in ("auto_select", "threefry"))
    assert run(a).tolist() == run(b).tolist()
    with pytest.raises(ValueError, match="stateless_normal: alg must be 'auto_select' or 'threefry', not 'philox'"):
        pb.random.stateless_normal([2], [1, 2], alg="philox")


def test_composites_are_leaves_of_nests() -> None:
    assert pb.nest.flatten([1, [2]], False) == [1, 2]
    with pytest.raises(NotImplementedError) as error:
        pb.nest.flatten([1], expand_composites=True)
    assert str(error.value) == "nest.flatten: expand_composites=True is not supported; IndexedSlices are leaves"


def test_the_data_of_an_old_assertion_is_shown_in_place_of_what_is_compared() -> None:
    x = pb.placeholder(pb.float32, [])
    check = pb.assert_positive(x, [pb.constant(7), "seven"])
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"x > 0 did not hold\. x: 7 seven"):
        pb.Session(engine="numpy").run(check, {x: -1.0})


def saved(saver: Any, session: Any, folder: Path, steps: int) -> list[str]:
    for step in range(steps):
        saver.save(session, folder / "model", step, write_meta_graph=False)
    return sorted(path.name for path in folder.iterdir() if path.suffix)


def initialized() -> Any:
    pb.Variable(1.0)
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    return session


def test_a_saver_pads_the_step_and_keeps_as_many_files_as_it_is_told(tmp_path: Path) -> None:
    session = initialized()
    saver = pb.train.Saver(max_to_keep=2, pad_step_number=True)
    assert saved(saver, session, tmp_path, 3) == ["model-00000001.npz", "model-00000002.npz"]


def test_a_saver_lets_a_file_stay_for_each_of_the_hours_it_is_told(tmp_path: Path) -> None:
    session = initialized()
    saver = pb.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=-1.0)
    assert saved(saver, session, tmp_path, 3) == ["model-0.npz", "model-1.npz", "model-2.npz"]
    with pytest.raises(ValueError, match="builder is not supported"):
        pb.train.Saver(builder=object())


# Moving averages


def test_averages_of_tensors_start_from_zero_and_move_faster_at_first() -> None:
    count = pb.Variable(0.0, trainable=False)
    x = pb.placeholder_with_default(8.0, [])
    averages = pb.train.ExponentialMovingAverage(0.9, num_updates=count)
    update = averages.apply([x])
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    session.run(update)
    np.testing.assert_allclose(session.run(averages.average(x)), 8.0 * 0.9)
    assert averages.average(pb.constant(1.0)) is None


def test_averages_are_restored_in_place_of_what_they_are_averages_of() -> None:
    w, n = pb.Variable(1.0, name="w"), pb.Variable(0, trainable=False, name="n")
    averages = pb.train.ExponentialMovingAverage(0.9)
    averages.apply()
    assert averages.variables_to_restore() == {"w/ExponentialMovingAverage": w, "n": n}


def test_averages_of_tensors_without_bias_are_means_of_what_came() -> None:
    v, x = pb.Variable(1.0), pb.placeholder(pb.float32, [], name="x")
    averages = pb.train.ExponentialMovingAverage(0.5, zero_debias=True)
    update = averages.apply([v, x])
    names = ["x/ExponentialMovingAverage" + end for end in (":0", "/biased:0", "/local_step:0")]
    assert [w.name for w in pb.global_variables()[2:]] == names
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    for fed, mean in ((4.0, 4.0), (6.0, 16.0 / 3.0)):
        session.run(update, {x: fed})
        np.testing.assert_allclose(session.run([averages.average(x), averages.average(v)]), [mean, 1.0], rtol=1e-6)


# Small functions


def test_division_of_python_2_rounds_integers_down() -> None:
    run = pb.Session(engine="numpy").run
    assert run([pb.div(-7, 2), pb.div(-7.0, 2.0)]) == [-4, -3.5]


def test_shapes_broadcast_while_a_graph_runs() -> None:
    x = pb.placeholder(pb.int32, [None])
    y = pb.broadcast_dynamic_shape(x, [4, 1, 3])
    run = pb.Session(engine="numpy").run
    assert [run(y, {x: dims}).tolist() for dims in ([1], [2, 3], [5, 1, 1, 1])] == [[4, 1, 3], [4, 2, 3], [5, 4, 1, 3]]


def test_positions_become_coordinates() -> None:
    found = pb.Session(engine="numpy").run([pb.unravel_index(5, [2, 3]), pb.unravel_index(np.array([5, 1]), [2, 3])])
    assert [x.tolist() for x in found] == [[1, 2], [[1, 0], [2, 1]]]


def test_a_tuple_waits_for_all_and_keeps_none_and_slices() -> None:
    v = pb.Variable(1.0)
    slices = pb.IndexedSlices(pb.constant([2.0]), pb.constant([0]))
    x, nothing, kept = pb.tuple([pb.constant(3.0), None, slices], control_inputs=[v.assign(5.0).op])
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    assert session.run(x) == 3.0
    assert session.run(v) == 5.0
    assert nothing is None
    assert isinstance(kept, pb.IndexedSlices)


def test_matrices_are_orthogonal_whichever_side_is_longer() -> None:
    session = pb.Session(engine="numpy")
    wide = session.run(pb.initializers.orthogonal(2.0)([2, 5], pb.float64))
    tall = session.run(pb.initializers.orthogonal()([2, 3, 4], pb.float64)).reshape(6, 4)
    np.testing.assert_allclose(wide @ wide.T, 4.0 * np.eye(2), atol=1e-12)
    np.testing.assert_allclose(tall.T @ tall, np.eye(4), atol=1e-12)


def test_images_are_resized_by_the_number_of_the_method() -> None:
    image = np.arange(16.0, dtype=np.float32).reshape(4, 4, 1)
    run = pb.Session(engine="numpy").run
    assert run(pb.image.resize_images(image, [2, 2], 1)).reshape(-1).tolist() == [0.0, 2.0, 8.0, 10.0]
    with pytest.raises(ValueError, match="method must be one of"):
        pb.image.resize_images(image, [2, 2], 4)


def test_a_polynomial_has_derivatives_by_its_coefficients() -> None:
    x, a = pb.constant(3.0), pb.constant(2.0)
    y = pb.math.polyval([a, 1.0, 5.0], x)
    assert pb.Session(engine="numpy").run([y, *pb.gradients(y, [x, a])]) == [26.0, 13.0, 9.0]


# Sparse tensors and templates


def test_a_sparse_tensor_is_fed_by_its_three_arrays() -> None:
    x = pb.sparse_placeholder(pb.float32, [None, 2])
    y = pb.sparse_tensor_to_dense(pb.sparse_retain(2.0 * x, x.values > 1.0))
    run = pb.Session(engine="numpy").run
    value = pb.SparseTensorValue([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
    assert run(y, {x: value}).tolist() == [[0.0, 0.0], [0.0, 0.0], [4.0, 0.0]]
    assert pb.sparse_placeholder(pb.float32, [3, 2]).shape == [3, 2]
    with pytest.raises(pb.errors.InvalidArgumentError) as error:
        run(y, {x: np.ones(2)})
    assert str(error.value) == (
        "cannot feed ndarray to SparseTensor(float32[?,2], ? values). "
        "Give SparseTensorValue(indices, values, dense_shape), or a tuple of the three."
    )


def test_a_template_makes_its_variables_once() -> None:
    layer = pb.make_template("layer", lambda x, units: x * pb.get_variable("w", [units]), units=2)
    other = pb.make_template("layer", lambda x: x * pb.get_variable("w", [3]))
    layer(layer(1.0))
    other(1.0)
    assert [v.name for v in pb.global_variables()] == ["layer/w:0", "layer_1/w:0"]
    assert layer.trainable_variables == layer.variables == pb.global_variables()[:1]


def test_a_template_takes_a_getter() -> None:
    layer = pb.make_template(
        "layer",
        lambda: pb.get_variable("w", [2]),
        custom_getter_=lambda getter, name, *args, **kwargs: getter(name + "_own", *args, **kwargs),
    )
    assert layer() == layer()
    assert (pb.global_variables()[0].name, layer.variable_scope.name) == ("layer/w_own:0", "layer")


def test_a_template_refuses_variables_that_its_first_call_has_not_made() -> None:
    layer = pb.make_template("layer", lambda name: pb.get_variable(name, []), create_scope_now_=True)
    layer("v")
    with pytest.raises(ValueError, match="Variable layer/w does not exist"):
        layer("w")


def test_a_template_refuses_trainable_variables_of_later_calls() -> None:
    layer = pb.make_template("layer", lambda trainable: pb.Variable(0.0, trainable=trainable))
    layer(True)
    layer(False)
    with pytest.raises(
        ValueError, match=r"^make_template: a later call of 'layer' made <Variable .*; use pb.get_varia"
    ):
        layer(True)
    with pytest.raises(ValueError, match=r"^make_template: name cannot be None.$"):
        pb.make_template(None, lambda: None)  # type: ignore[arg-type]


def test_a_template_lists_its_variables_by_kind() -> None:
    def build() -> None:
        pb.get_variable("w", [])
        pb.get_variable("fixed", [], trainable=False)
        pb.get_variable("local", [], trainable=False, collections=[pb.GraphKeys.LOCAL_VARIABLES])

    layer = pb.make_template("layer", build)
    assert (layer.variable_scope, layer.variable_scope_name) == (None, None)
    layer()
    assert layer.variable_scope_name == "layer"
    kinds = (layer.trainable_variables, layer.global_variables, layer.local_variables, layer.non_trainable_variables)
    names = [[v.op.name.removeprefix("layer/") for v in kind] for kind in kinds]
    assert names == [["w"], ["w", "fixed"], ["local"], ["fixed", "local"]]
    assert len(layer.variables) == 3


@pytest.mark.parametrize("used", ["", "pb.get_variable; "])
def test_the_layers_of_tensorflow_are_not_there_whatever_was_used_before(used: str) -> None:
    program = f"import pullback as pb\n{used}pb.layers.dense"
    error = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr
    assert "make variables with pb.get_variable, and layers of the functions of pb.nn" in error.splitlines()[-1]
