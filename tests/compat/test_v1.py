"""Programs of TensorFlow 1 by another import: the expected numbers are what TensorFlow 2.21 gives for `compat.v1`."""

from __future__ import annotations

import subprocess
import sys
import threading
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

ROWS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def value(x: Any) -> Any:
    return pb.Session(engine="numpy").run(x)


def image() -> Any:
    return tf.reshape(tf.constant(ROWS), [1, 2, 3, 1])


CALLS: dict[str, tuple[Any, Any]] = {
    "reduction_indices": (lambda x: tf.reduce_sum(x, reduction_indices=[1]), [6.0, 15.0]),
    "keep_dims": (lambda x: tf.reduce_mean(x, 0, keep_dims=True), [[2.5, 3.5, 4.5]]),
    "math": (lambda x: tf.math.reduce_sum(x, 1, True, "sum"), [[6.0], [15.0]]),
    "dimension": (lambda x: tf.argmax(x, dimension=1), [2, 2]),
    "name is third": (lambda x: tf.argmax(x, 1, "largest"), [2, 2]),
    "dim": (lambda x: tf.shape(tf.expand_dims(x, dim=0), "shape"), [1, 2, 3]),
    "squeeze_dims": (lambda x: tf.squeeze(x[None], squeeze_dims=[0]), ROWS),
    "tensor": (lambda x: tf.zeros_like(tensor=x), [[0.0] * 3] * 2),
    "pad": (lambda x: tf.pad(x[:, :1], [[0, 0], [1, 0]], "CONSTANT", "pad", 5.0), [[5.0, 1.0], [5.0, 4.0]]),
    "transpose": (lambda x: tf.transpose(x, [1, 0], "t"), [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]),
    "gather": (lambda x: tf.gather(x, [1], None, "rows", 1), [[2.0], [5.0]]),
    "convert_to_tensor": (lambda x: tf.convert_to_tensor([1, 2], tf.float32, "x"), [1.0, 2.0]),
    "count_nonzero": (lambda x: tf.count_nonzero(x, reduction_indices=[0]), [2, 2, 2]),
    "in_top_k": (lambda x: tf.nn.in_top_k([[0.1, 0.9], [0.9, 0.1]], [1, 1], 1), [True, False]),
    "moments": (lambda x: tf.nn.moments(x, [0], None, "m", True)[0], [[2.5, 3.5, 4.5]]),
    "softmax": (lambda x: tf.nn.softmax(x - x, dim=0), [[0.5] * 3] * 2),
    "confusion_matrix": (lambda x: tf.math.confusion_matrix([0, 1], [1, 1], 2, tf.float32), [[0.0, 1.0], [0.0, 1.0]]),
    "conv2d": (
        lambda x: tf.nn.conv2d(input=image(), filter=tf.ones([2, 2, 1, 1]), strides=[1] * 4, padding="VALID"),
        [[[[12.0], [16.0]]]],
    ),
    "max_pool": (
        lambda x: tf.nn.max_pool(value=image(), ksize=[1, 2, 2, 1], strides=[1] * 4, padding="VALID"),
        [[[[5.0], [6.0]]]],
    ),
    "convolution": (
        lambda x: tf.nn.convolution(image(), tf.ones([2, 2, 1, 1]), "VALID", [1, 1], [1, 1]),
        [[[[12.0], [16.0]]]],
    ),
    "constant": (lambda x: tf.constant([1, 2, 3], shape=[2, 2]), [[1, 2], [3, 3]]),
    "constant of no value": (lambda x: tf.constant([], shape=[2]), [0.0, 0.0]),
    "stack": (lambda x: tf.stack([1, 2.5]), [1.0, 2.5]),
    "stack of lists": (lambda x: tf.stack([[1, 2], [2.5, 3]]), [[1.0, 2.0], [2.5, 3.0]]),
    "where": (lambda x: tf.where([True, False], x, -x), [[1.0, 2.0, 3.0], [-4.0, -5.0, -6.0]]),
    "while_loop": (lambda x: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]), 3),
    "while_loop's name": (
        lambda x: tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [0], None, 10, True, False, "loop"),
        3,
    ),
    "keep_prob": (lambda x: tf.nn.dropout(x, keep_prob=1.0), ROWS),
    "targets": (
        lambda x: tf.nn.weighted_cross_entropy_with_logits(targets=[1.0], logits=[0.0], pos_weight=2.0),
        [1.3862944],
    ),
    "embedding_lookup": (lambda x: tf.nn.embedding_lookup(x, [1], "mod", "rows"), [[4.0, 5.0, 6.0]]),
}


@pytest.mark.parametrize("call", CALLS)
def test_arguments_are_those_of_version_1(call: str) -> None:
    function, expected = CALLS[call]
    np.testing.assert_allclose(value(function(tf.constant(ROWS))), expected, rtol=1e-6)


def test_dropout_is_given_what_stays() -> None:
    y = value(tf.nn.dropout(tf.ones([1000]), 0.75, seed=1))
    assert sorted(set(y.tolist())) == pytest.approx([0.0, 4.0 / 3.0])
    assert 700 < np.count_nonzero(y) < 800
    keep = tf.placeholder_with_default(1.0, [])
    assert value(tf.nn.dropout(tf.ones([3]), keep)).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="dropout: give keep_prob, or rate, which is 1 - keep_prob"):
        tf.nn.dropout(tf.ones([3]))


def test_labels_of_the_older_cross_entropy_have_no_derivative() -> None:
    labels, logits = tf.constant([[0.0, 1.0]]), tf.constant([[1.0, 1.0]])
    older = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    newer = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    assert tf.gradients(older, labels) == [None]
    assert tf.gradients(newer, labels) != [None]
    assert value(tf.gradients(older, logits)[0]).tolist() == [[0.5, -0.5]]
    with pytest.raises(ValueError, match="give labels= and logits= by name"):
        tf.nn.softmax_cross_entropy_with_logits(logits, labels)


def test_initializers_spread_as_in_version_1() -> None:
    normal, truncated, uniform = value(
        [
            tf.random_normal_initializer(seed=1)([2000]),
            tf.truncated_normal_initializer(seed=1)([2000]),
            tf.initializers.random_uniform(seed=1)([2000]),
        ]
    )
    assert normal.std().round(1) == 1.0
    assert truncated.std().round(1) == 0.9
    assert (uniform.min().round(1), uniform.max().round(1)) == (0.0, 1.0)
    assert value(pb.random_normal_initializer(seed=1)([2000])).std().round(2) == 0.05


def test_more_labels_than_steps_are_an_error_of_the_older_ctc_loss_or_cost_nothing() -> None:
    x = tf.constant(np.ones([3, 2, 3], np.float32))
    labels = tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 0]], [0, 1, 1, 1], [2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="ctc_loss: more labels than steps"):
        value(tf.nn.ctc_loss(labels, x, [2, 3]))
    for collapsed in (False, True):
        options = {"preprocess_collapse_repeated": collapsed, "ignore_longer_outputs_than_inputs": True}
        loss = tf.nn.ctc_loss(labels, x, [2, 3], **options)
        (dx,) = tf.gradients(tf.reduce_sum(loss), x)
        assert (value(loss)[0], value(dx)[:, 0].any(), np.isfinite(value(dx)).all()) == (0.0, False, True)


def test_repeated_labels_are_collapsed_first_where_that_is_asked_for() -> None:
    x = tf.constant(np.random.default_rng(1).normal(size=(4, 1, 3)).astype(np.float32))
    twice = tf.SparseTensor([[0, 0], [0, 1], [0, 2]], [0, 0, 1], [1, 3])
    once = tf.SparseTensor([[0, 0], [0, 1]], [0, 1], [1, 2])
    collapsed = tf.nn.ctc_loss(twice, x, [4], preprocess_collapse_repeated=True)
    np.testing.assert_allclose(value(collapsed), value(tf.nn.ctc_loss(once, x, [4])), rtol=1e-6)
    with pytest.raises(
        NotImplementedError, match="ctc_loss: there are no alignments that do not merge repeated labels"
    ):
        tf.nn.ctc_loss(twice, x, [4], ctc_merge_repeated=False)


def test_a_target_that_is_no_class_is_not_among_the_largest() -> None:
    assert value(tf.nn.in_top_k([[0.1, 0.9], [0.1, 0.9]], [2, -1], 2)).tolist() == [False, False]


@pytest.mark.parametrize("worst", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("target", [0, 1])
def test_where_a_score_is_not_finite_no_target_is_among_the_largest(worst: float, target: int) -> None:
    assert value(tf.nn.in_top_k([[0.1, worst]], [target], 2)).tolist() == [False]


def test_the_blank_of_the_older_ctc_loss_is_the_last_class() -> None:
    labels = tf.SparseTensor([[0, 0]], [1], [1, 1])
    np.testing.assert_allclose(value(tf.nn.ctc_loss(labels, tf.zeros([3, 1, 3]), [3])), [1.504077], rtol=1e-6)


@pytest.mark.parametrize("module", [tf, tf.debugging])
def test_assertions_show_the_data_that_they_are_given(module: Any) -> None:
    check = module.assert_greater(
        tf.placeholder_with_default(1.0, []), 2.0, data=["found", tf.constant(7)], message="small"
    )
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"small\..*found 7"):
        value(check)


def test_one_parameter_under_two_names_is_refused() -> None:
    with pytest.raises(ValueError, match="argmax: axis and dimension are the same parameter; give one of them"):
        tf.argmax([1.0], axis=0, dimension=0)
    with pytest.raises(TypeError, match="reduce_sum: takes no argument 'axes', but input_tensor, axis, keepdims, name"):
        tf.reduce_sum([1.0], axes=0)
    with pytest.raises(TypeError, match="expand_dims: 'axis' is given twice"):
        tf.expand_dims([1.0], 0, axis=0)
    with pytest.raises(TypeError, match="expand_dims: takes 4 arguments, input, axis, name, dim, and not 5"):
        tf.expand_dims([1.0], 0, "a", 0, 0)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("known", [None, [None, None], [2, 2]])
@pytest.mark.parametrize("condition", [None, [None], [2]])
def test_a_vector_chooses_rows_whatever_is_known_of_shapes(engine: str, known: Any, condition: Any) -> None:
    x, rows = tf.placeholder(tf.float32, known), tf.placeholder(tf.bool, condition)
    chosen = tf.where(rows, x, -x)
    (dx,) = tf.gradients(chosen, x)
    feeds = {x: [[1.0, 2.0], [3.0, 4.0]], rows: [True, False]}
    y, slopes = pb.Session(engine=engine).run([chosen, dx], feeds)
    assert y.tolist() == [[1.0, 2.0], [-3.0, -4.0]]
    assert slopes.tolist() == [[1.0, 1.0], [-1.0, -1.0]]


def test_what_is_chosen_among_has_the_lengths_of_both() -> None:
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [2, None])
    assert tf.where(x > 0, x, y).shape.as_list() == [2, 3]


@pytest.mark.parametrize("known", [[4, 3, 1], [None, None, 1]])
def test_an_image_is_framed_by_the_pixels_of_version_1(known: list[int | None]) -> None:
    """4 x 3 pixels fit into 7 x 9 as 7 x 5.25: they are 6 high, by rounding in float32, and 1.875 from the left."""
    image, x = np.arange(12.0, dtype=np.float32).reshape(4, 3, 1), tf.placeholder(tf.float32, known)
    framed = tf.image.resize_image_with_pad(x, 7, 9)
    rows = pb.Session(engine="numpy").run(framed, {x: image})[..., 0]
    assert rows[0].tolist() == pytest.approx([0.0, 0.0, 0.6, 1.2, 1.8, 2.0, 0.0, 0.0, 0.0])
    assert rows[-1].tolist() == [0.0] * 9


def test_the_blank_and_what_is_beyond_end_the_labels_of_the_older_ctc_loss() -> None:
    x = tf.constant(np.random.default_rng(1).normal(size=(3, 1, 3)).astype(np.float32))

    def loss(*labels: int) -> Any:
        places = [[0, i] for i in range(len(labels))]
        return value(tf.nn.ctc_loss(tf.SparseTensor(places, list(labels), [1, len(labels)]), x, [3]))

    assert loss(0, 2) == loss(0, 7, 2) == loss(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ctc_loss: a label stands behind one that is the blank"):
        loss(0, 2, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ctc_loss: all labels must be nonnegative integers"):
        loss(0, -1)


def dealt(table: np.ndarray, how: str) -> list[tf.Variable]:
    """The rows of a table dealt out to three variables in turn ("mod"), or one after the other ("div")."""
    parts = [table[i::3] for i in range(3)] if how == "mod" else np.array_split(table, 3)
    return [tf.Variable(part) for part in parts]


@pytest.mark.parametrize("how", ["mod", "div"])
@pytest.mark.parametrize("rows", [3, 4, 5, 6])
def test_rows_of_several_tables_are_found_where_they_were_dealt_to(how: str, rows: int) -> None:
    table = np.arange(2.0 * rows, dtype=np.float32).reshape(rows, 2)
    tables, ids = dealt(table, how), np.array([rows - 1, 0, 1, 0])
    found = tf.nn.embedding_lookup(tables, ids, partition_strategy=how)
    dxs = [tf.convert_to_tensor(dx) for dx in tf.gradients(found, tables)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        rows_found, *slopes = session.run([found, *dxs])
    assert rows_found.tolist() == table[ids].tolist()
    counts = np.bincount(ids, minlength=rows)
    expected = [counts[i::3] for i in range(3)] if how == "mod" else np.array_split(counts, 3)
    assert [slope[:, 0].tolist() for slope in slopes] == [part.tolist() for part in expected]


def test_rows_of_several_arrays_are_dealt_out_in_turn_unless_told_otherwise() -> None:
    arrays = [np.array([[0.0], [2.0]]), np.array([[1.0], [3.0]])]
    assert value(tf.nn.embedding_lookup(arrays, [[1, 2], [3, 0]])).tolist() == [[[1.0], [2.0]], [[3.0], [0.0]]]


def test_a_list_of_lists_of_numbers_is_one_of_tables() -> None:
    assert value(tf.nn.embedding_lookup([[1.0, 2.0], [3.0, 4.0]], [0, 1, 2, 3])).tolist() == [1.0, 3.0, 2.0, 4.0]
    assert value(tf.nn.embedding_lookup([[[1.0, 2.0], [3.0, 4.0]]], [1])).tolist() == [[3.0, 4.0]]
    assert value(tf.nn.embedding_lookup([[1.0, 2.0], [3.0]], [2], "div")).tolist() == [3.0]


@pytest.mark.parametrize("how", ["mod", "div"])
@pytest.mark.parametrize("loss", [tf.nn.sampled_softmax_loss, tf.nn.nce_loss])
def test_sampled_losses_find_the_weights_of_each_class(loss: Any, how: str) -> None:
    weights = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)
    inputs, labels = tf.ones([2, 4]), tf.constant([[3], [6]], tf.int64)
    sample = (tf.constant([1, 5], tf.int64), tf.ones([2, 1]), tf.ones([2]))
    losses = [
        loss(tables, tf.zeros([7]), labels, inputs, 2, 7, sampled_values=sample, partition_strategy=how)
        for tables in (weights, dealt(weights, how))
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        whole, parts = session.run(losses)
    np.testing.assert_allclose(parts, whole, rtol=1e-6)


def test_another_way_of_dealing_is_refused() -> None:
    with pytest.raises(ValueError, match="embedding_lookup: partition_strategy must be 'mod' or 'div', not 'even'"):
        tf.nn.embedding_lookup([tf.zeros([2, 3]), tf.ones([2, 3])], [1], "even")


def test_every_table_names_parameters_that_are_there() -> None:
    from pullback.compat.v1 import functions, nn

    for module, table in ((tf, functions.PARAMETERS), (tf.nn, nn.PARAMETERS)):
        for name in table:
            assert callable(getattr(module, name)), name


def test_namespaces_are_modules() -> None:
    program = "from pullback.compat.v1 import nn; import pullback.compat.v1.nn; print(nn.relu, nn.dropout)"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "relu" in out
    assert tf.nn.relu.__wrapped__ is pb.nn.relu
    assert tf.sigmoid is tf.nn.sigmoid is tf.math.sigmoid
    assert "relu" in dir(tf.nn)


def test_the_names_of_c_mean_what_they_mean_in_c() -> None:
    assert [pb.placeholder(name).dtype for name in ("float", "double", "half")] == [pb.float32, pb.float64, pb.float16]


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("jit", "use pb.function"),
        ("vmap", "use pb.vectorized_map"),
        ("distribute", "spread a batch with pb.sharding over the mesh of a session; pb.distributed joins processes"),
    ],
)
def test_a_name_that_is_not_here_says_what_is(name: str, instead: str) -> None:
    for module in (pb, tf):
        with pytest.raises(AttributeError) as error:
            getattr(module, name)
        assert str(error.value) == f"module 'pullback' has no attribute '{name}'; {instead}"
    assert not hasattr(pb, "queue")


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("tpu", '; Session(engine="xla") runs a graph on the accelerators that jax finds'),
        ("estimator", "; call the model function yourself, and run its train_op in a session"),
        ("nothing_of_the_kind", ""),
    ],
)
def test_a_contributed_module_that_is_not_here_says_what_is(name: str, instead: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(tf.contrib, name)
    assert str(error.value) == f"module 'tensorflow.contrib' has no attribute '{name}'{instead}"


def test_programs_find_a_version_whose_branches_are_for_these_names() -> None:
    assert tf.__version__ == tf.VERSION == "1.15.0"
    assert f"pullback {pb.__version__}" == tf.GIT_VERSION
    assert pb.__version__ != tf.__version__


def test_the_third_argument_of_a_variable_is_its_collections() -> None:
    v = tf.Variable(1.0, False, [tf.GraphKeys.LOCAL_VARIABLES], True, None, "count")
    assert (tf.local_variables(), tf.global_variables(), tf.trainable_variables()) == ([v], [], [])
    assert (v.name, v.trainable) == ("count:0", False)


def test_every_variable_is_a_variable_of_version_1() -> None:
    made = [tf.Variable(1.0), pb.Variable(1.0), tf.get_variable("v", [])]
    assert all(isinstance(v, tf.Variable) and isinstance(v, pb.Variable) for v in made)
    assert not isinstance(tf.constant(1.0), tf.Variable)


def test_programs_derive_their_own_initializers() -> None:
    class Shifted(tf.random_normal_initializer):
        def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return super().__call__(shape, dtype) + 5.0

    w = tf.get_variable("w", [3], initializer=Shifted(stddev=0.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(w).tolist() == [5.0, 5.0, 5.0]
    assert isinstance(pb.random_normal_initializer(), tf.random_normal_initializer)
    assert not isinstance(pb.random_normal_initializer(), Shifted)


class Assertions(tf.test.TestCase):
    """The assertions of test cases, on themselves."""

    def test_arrays_that_differ(self) -> None:
        self.assertNotAllEqual([1, 2], tf.constant([1, 3]))
        self.assertNotAllClose([1.0], tf.constant([1.1]))
        with self.assertRaisesWithLiteralMatch(AssertionError, "the arrays are equal"):
            self.assertNotAllEqual([1], [1])
        with self.assertRaisesWithLiteralMatch(AssertionError, "the arrays are equal within rtol=1e-06 and atol=1e-06"):
            self.assertNotAllClose([1.0], [1.0])

    def test_an_error_of_a_run(self) -> None:
        with self.assertRaisesOpError("uninitialized"), self.session() as session:
            session.run(tf.Variable(1.0))

    def test_arrays_of_other_shapes_are_not_equal(self) -> None:
        for check in (self.assertAllEqual, self.assertAllClose):
            with pytest.raises(AssertionError):
                check([1.0, 1.0], 1.0)

    def test_elements_are_compared_with_a_bound(self) -> None:
        x = tf.constant([1, 2])
        holds = {
            self.assertAllGreater: (0, 1),
            self.assertAllGreaterEqual: (1, 2),
            self.assertAllLess: (3, 2),
            self.assertAllLessEqual: (2, 1),
            self.assertAllInSet: ([1, 2], [1]),
        }
        for check, (right, wrong) in holds.items():
            check(x, right)
            with pytest.raises(AssertionError):
                check(x, wrong)

    def test_texts_and_devices(self) -> None:
        self.assertStartsWith("layer/kernel", "layer")
        self.assertDeviceEqual("/gpu:0", "/device:GPU:0")
        with pytest.raises(AssertionError):
            self.assertStartsWith("layer", "kernel")
        with pytest.raises(AssertionError):
            self.assertDeviceEqual("/cpu:0", None)

    def test_what_a_block_writes_to_a_stream(self) -> None:
        path = Path(self.get_temp_dir()) / "log"
        with path.open("w") as stream:
            stream.write("before ")
            with self.captureWritesToStream(stream) as written:
                stream.write("inside")
                stream.flush()
                subprocess.run([sys.executable, "-c", "print(' and below', end='')"], stdout=stream, check=True)
            with pytest.raises(KeyError), self.captureWritesToStream(stream) as failed:
                raise KeyError(stream.write("failing"))
            stream.write("after")
        assert (written.contents(), failed.contents()) == ("inside and below", "failing")
        assert path.read_text() == "before after"

    def test_what_is_true_of_an_exception(self) -> None:
        with self.assertRaisesWithPredicateMatch(ValueError, lambda error: "five" in str(error)):
            raise ValueError("not five")
        with pytest.raises(AssertionError), self.assertRaisesWithPredicateMatch(ValueError, "six"):
            raise ValueError("not five")


class Resetting(tf.test.TestCase):  # type: ignore[misc]
    __test__ = False

    def setUp(self) -> None:
        tf.constant(1.0)
        tf.reset_default_graph()

    def runTest(self) -> None:
        assert tf.get_default_graph().get_operations() == []


def test_a_test_case_may_reset_its_graph() -> None:
    found = unittest.TestResult()
    thread = threading.Thread(target=Resetting().run, args=[found])  # Here a graph is open already.
    thread.start()
    thread.join()
    assert found.testsRun == 1
    assert found.wasSuccessful()


@pytest.mark.parametrize("given", [list, tuple])
@pytest.mark.parametrize("returned", [list, tuple])
def test_a_loop_gives_the_list_or_the_tuple_that_its_body_returns(given: type, returned: type) -> None:
    found = tf.while_loop(lambda i, a: i < 3, lambda i, a: returned([i + 1, a * 2.0]), given([0, 1.0]))
    assert type(found) is returned
    assert tf.Session(engine="numpy").run(found) == returned([3, 8.0])
    with pytest.raises(TypeError):
        tf.while_loop(lambda i: i < 3, 3, [0])


def test_a_loop_of_one_tensor_and_empty_structures_gives_the_tensor() -> None:
    def holds(i: Any, _: Any) -> Any:
        return i < 10

    def step(i: Any, empty: Any) -> Any:
        return [i + 1, empty]

    assert value(tf.while_loop(holds, step, [0, []])) == 10
    assert value(tf.while_loop(holds, step, [0, []], return_same_structure=True)) == [10, []]
    assert value(tf.while_loop(holds, step, [0, []], maximum_iterations=3)) == [3, []]


def test_variables_of_version_1_are_true_as_objects_are() -> None:
    tf.disable_resource_variables()
    try:
        v, resource = tf.Variable(0.0), tf.get_variable("w", [2], use_resource=True)
        assert bool(v)
        assert (None or v) is v
        assert tf.get_variable("b", [2])
    finally:
        tf.enable_resource_variables()
    for x in (resource, tf.Variable(1.0), v + 1.0):
        with pytest.raises(TypeError, match="is not known while the graph is built"):
            bool(x)


def test_maps_have_dense_or_ragged_results() -> None:
    numbers = tf.constant([1, 2])
    with pytest.raises(NotImplementedError, match=r"^map_fn: results of fn cannot be of SparseTensorSpec"):
        tf.map_fn(tf.range, numbers, fn_output_signature=tf.SparseTensorSpec([None], tf.int32))
    with pytest.raises(TypeError, match=r"^map_fn: fn returns int32\[\?\].*, but dtype says float32; convert"):
        tf.map_fn(tf.range, numbers, fn_output_signature=tf.RaggedTensorSpec([None], tf.float32))
    with pytest.raises(ValueError, match=r"^map_fn: the shape of elements, below the rows, must be known"):
        tf.map_fn(tf.range, numbers, fn_output_signature=tf.RaggedTensorSpec([None, None], tf.int32, ragged_rank=0))
    rows = tf.map_fn(tf.range, numbers, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
    assert tf.Session(engine="numpy").run(rows).to_list() == [[0], [0, 1]]
    assert tf.Session(engine="numpy").run(tf.map_fn(tf.square, tf.constant([1, 2]), tf.int32)).tolist() == [1, 4]


def test_vectors_are_chosen_from_without_another_operation() -> None:
    x = tf.placeholder(tf.float32, [3])
    y = tf.where(x > 0.0, x, -x)
    assert [op.type for op in y.graph.get_operations()][-3:] == ["Greater", "Neg", "SelectV2"]
