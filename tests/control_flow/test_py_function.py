"""`py_function` and `numpy_function`: values, derivatives, errors, on both engines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pullback as pb

ENGINES = ["numpy", "xla"]
PAIR = pb.TensorSpec([2], pb.float32)
SCALAR = pb.TensorSpec([], pb.float32)


def noting(seen: list[Any], factor: float = 1.0) -> Any:
    """A function that returns its argument times `factor`, and notes it."""

    def note(a: Any) -> Any:
        seen.append(float(a))
        return a * np.float32(factor)

    return note


@pytest.mark.parametrize("engine", ENGINES)
def test_several_results_and_none(engine: str) -> None:
    seen = []

    def note(a: Any, b: Any) -> None:
        seen.append((a.tolist(), b.tolist()))

    x, n = pb.constant([1.0, 4.0]), pb.constant(3)
    op = pb.py_function(note, [x, n], [])
    first, second = pb.py_function(lambda a, b: (a * np.float32(b), b + 1), [x, n], [PAIR, pb.TensorSpec([], pb.int32)])
    with pb.Session(engine=engine) as session:
        assert session.run(op) is None
        values = session.run([first, second])
    assert [v.tolist() for v in values] == [[3.0, 12.0], 4]
    assert [v.dtype for v in values] == [np.float32, np.int32]
    assert seen == [([1.0, 4.0], 3)]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_it_raises_names_the_operation_and_keeps_variables(engine: str) -> None:
    v = pb.Variable([1.0, 2.0])

    def fail(a: Any) -> Any:
        raise KeyError("no such thing")

    new = v.assign_add(pb.py_function(fail, [v], PAIR, name="failing"))
    with pb.Session(engine=engine) as session:
        session.run(v.initializer)
        with pytest.raises(pb.errors.InvalidArgumentError) as error:
            session.run(new)
        assert session.run(v).tolist() == [1.0, 2.0]
    assert str(error.value).startswith(
        "operation 'failing' (EagerPyFunc) failed on float32[2]: 'no such thing'\n  made at"
    )
    assert isinstance(error.value.__cause__, KeyError)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("fed", [False, True])
def test_whatever_it_raises_is_the_cause(engine: str, fed: bool) -> None:
    def fail(a: Any) -> Any:
        raise NotImplementedError("later")

    x = pb.placeholder(pb.float32, [2]) if fed else pb.constant([1.0, 2.0])
    y = pb.py_function(fail, [x], PAIR, name="failing")
    with pytest.raises(
        pb.errors.InvalidArgumentError, match=r"^operation 'failing' .* failed on float32\[2\]: later"
    ) as error:
        pb.Session(engine=engine).run(y, {x: [1.0, 2.0]} if fed else None)
    assert isinstance(error.value.__cause__, NotImplementedError)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_what_asks_to_stop_stops_the_run_as_it_is(kind: type[BaseException], engine: str) -> None:
    def leave(x: Any) -> Any:
        raise kind("now")

    v = pb.Variable(1.0)
    y = pb.py_function(leave, [pb.placeholder_with_default(1.0, [])], SCALAR)
    with pb.Session(engine=engine) as session:
        session.run(v.initializer)
        with pytest.raises(kind, match="now"):
            session.run(v.assign_add(y))
        assert session.run(v) == 1.0


@pytest.mark.parametrize("engine", ENGINES)
def test_after_it_raised_it_is_not_called_again_in_that_run(engine: str) -> None:
    calls = []

    def fail(x: Any) -> Any:
        calls.append(float(x))
        raise OSError("no file")

    def body(i: Any, y: Any) -> Any:
        return i + 1, pb.py_function(fail, [y], SCALAR)

    x = pb.placeholder(pb.float32, [])
    _, y = pb.while_loop(lambda i, y: i < 4, body, (0, x))
    with pb.Session(engine=engine) as session:
        for number in range(2):
            with pytest.raises(pb.errors.InvalidArgumentError, match="no file"):
                session.run(y, {x: number})
    assert calls == [0.0, 1.0]


def test_runs_in_several_threads_meet_their_own_errors() -> None:
    def root(x: Any) -> Any:
        if x < 0:
            raise ValueError(f"no root of {x}")
        return np.sqrt(x)

    x = pb.placeholder(pb.float32, [])
    y = pb.py_function(root, [x], SCALAR)
    session = pb.Session(engine="xla")

    def outcome(value: float) -> Any:
        try:
            return float(session.run(y, {x: value}))
        except pb.errors.InvalidArgumentError as error:
            return str(error.__cause__)

    values = [4.0, -1.0, 9.0, -2.0] * 20
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(outcome, values))
    assert found == [2.0, "no root of -1.0", 3.0, "no root of -2.0"] * 20


def test_planning_does_not_call_it() -> None:
    ran: list[Any] = []
    y = pb.numpy_function(noting(ran), [pb.constant(1.0)], pb.TensorSpec([]))
    with pb.Session(engine="numpy") as session:
        session.run(y)
        session.run(y)
    assert len(ran) == 2


def test_a_result_of_another_type_is_an_error() -> None:
    y = pb.numpy_function(lambda a: a.astype(np.float64), [pb.constant([1.0])], pb.float32)
    with pytest.raises(
        pb.errors.InvalidArgumentError, match=r"returned float64\[1\] as value 0, and Tout declares float32\[...\]"
    ):
        pb.Session(engine="numpy").run(y)


@pytest.mark.parametrize("call", [pb.py_function, pb.numpy_function])
def test_a_tuple_is_as_many_results_as_it_holds(call: Any) -> None:
    session, one = pb.Session(engine="numpy"), np.float32(1.0)
    assert session.run(call(lambda: (one,), [], pb.float32)) == 1.0
    for returned in ((one, one), [one, one], ()):
        y = call(lambda returned=returned: returned, [], pb.float32)
        with pytest.raises(
            pb.errors.InvalidArgumentError, match=f"returned {len(returned)} values, and Tout declares 1"
        ):
            session.run(y)


@pytest.mark.parametrize("engine", ENGINES)
def test_results_need_no_shape_but_over_a_mesh(engine: str) -> None:
    y = pb.py_function(np.sqrt, [pb.constant([1.0, 4.0])], pb.float32, name="root")
    assert pb.Session(engine=engine).run(y).tolist() == [1.0, 2.0]
    with pytest.raises(pb.errors.InvalidArgumentError) as error:
        pb.Session(engine="xla", mesh={"x": 1}).run(y)
    lines = str(error.value).split("\n")
    assert lines[0] == "operation 'root' (EagerPyFunc) returns float32[...], and XLA compiles for whole shapes."
    assert lines[2] == "Say them: Tout=pb.TensorSpec([2, 3], pb.float32); or use Session(engine='numpy')."


@pytest.mark.parametrize("engine", ENGINES)
def test_its_gradient_is_another_python_function(engine: str) -> None:
    def backward(x: Any, n: Any, dy: Any) -> Any:
        return dy * n * x ** (n - 1), None

    x, n = pb.constant([1.0, 2.0]), pb.constant(3)
    y = pb.py_function(lambda a, k: a**k, [x, n], PAIR, gradient=backward)
    dx, dn = pb.gradients(y, [x, n])
    assert dn is None
    assert pb.Session(engine=engine).run(dx).tolist() == [3.0, 12.0]


def test_without_gradient_the_error_says_what_to_do() -> None:
    def wave(a: Any) -> Any:
        return np.sin(a)

    x = pb.constant([1.0, 2.0])
    y = pb.py_function(wave, [x], PAIR, name="wave")
    with pytest.raises(LookupError) as error:
        pb.gradients(y, x)
    text = str(error.value)
    assert text.startswith(
        "No gradient defined for operation'wave' (op type: EagerPyFunc), made at test_py_function.py:"
    )
    assert text.endswith(
        ": a graph cannot look into the Python function 'wave'. Pass gradient= to py_function; or, if the function is "
        "written with pullback's functions, call it on the tensors without py_function; or put pb.stop_gradient() on "
        "its inputs."
    )


def test_numpy_function_is_not_differentiable() -> None:
    x = pb.constant([1.0, 2.0])
    assert pb.gradients(pb.numpy_function(np.sin, [x], PAIR), x) == [None]


@pytest.mark.parametrize("engine", ENGINES)
def test_in_a_function_it_runs_though_nobody_reads_it(engine: str) -> None:
    seen: list[Any] = []

    @pb.function
    def f(x: Any) -> Any:
        pb.py_function(noting(seen), [x], pb.TensorSpec([]))
        return x

    pb.Session(engine=engine).run(f(pb.constant(2.0)))
    assert seen == [2.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_in_a_loop_it_runs_in_each_step(engine: str) -> None:
    seen: list[Any] = []

    def body(i: Any, y: Any) -> Any:
        return i + 1, pb.py_function(noting(seen, 2.0), [y], pb.TensorSpec([]))

    y = pb.while_loop(lambda i, y: i < 3, body, (0, pb.constant(1.0)))[1]
    assert pb.Session(engine=engine).run(y) == 8.0
    assert len(seen) == 3


def test_a_saved_graph_calls_only_what_is_handed_in() -> None:
    called: list[Any] = []
    y = pb.py_function(noting(called), [pb.constant(4.0)], pb.TensorSpec([]), name="y")
    data = json.loads(json.dumps(y.graph.to_dict()))
    with pytest.raises(pb.errors.FailedPreconditionError) as error:
        pb.Session(graph=pb.Graph.from_dict(data), engine="numpy").run("y:0")
    assert str(error.value) == (
        "the Python function 'note' is not part of the saved graph; if the graph may call it, hand it in: "
        "Graph.from_dict(data, python_functions={'note': ...})"
    )
    assert not called
    graph = pb.Graph.from_dict(data, {"note": np.sqrt})
    assert pb.Session(graph=graph, engine="numpy").run("y:0") == 2.0


def test_a_saved_derivative_calls_what_is_handed_in() -> None:
    x = pb.constant([1.0, 4.0])
    y = pb.py_function(np.sqrt, [x], PAIR, gradient=lambda x, dy: dy / (2.0 * np.sqrt(x)))
    pb.identity(pb.gradients(y, x)[0], name="dx")
    data = json.loads(json.dumps(x.graph.to_dict()))
    graph = pb.Graph.from_dict(data, {"<lambda>": lambda x, dy: 10.0 * dy})
    assert pb.Session(graph=graph, engine="numpy").run("dx:0").tolist() == [10.0, 10.0]


def test_python_functions_of_one_name_are_told_apart_in_a_saved_graph() -> None:
    x = pb.constant(2.0)
    for name, function in (("y", lambda a: a + 1.0), ("z", lambda a: a * 8.0)):
        pb.py_function(function, [x], pb.TensorSpec([]), name=name)
    data = json.loads(json.dumps(x.graph.to_dict()))
    handed = {"<lambda>": np.sqrt, "<lambda>_1": np.negative}
    session = pb.Session(graph=pb.Graph.from_dict(data, handed), engine="numpy")
    assert session.run(["y:0", "z:0"]) == [np.float32(np.sqrt(2.0)), -2.0]


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError) as error:
        pb.py_function("3", [1.0], pb.float32)  # type: ignore[arg-type]
    assert str(error.value) == "py_function: func must be callable, not '3'"


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_text_keeps_the_zeros_at_its_end(engine: str) -> None:
    given: list[object] = []

    def note(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        given.append(x[()])
        return x

    for text in (pb.constant(b"a\0"), pb.strings.join(["a", "\0"])):
        assert pb.Session(engine=engine).run(pb.numpy_function(note, [text], pb.TensorSpec([], pb.string))) == b"a\0"
    assert given == [b"a\0", b"a\0"]


@pytest.mark.parametrize("dtype", [pb.float64, pb.int64, pb.uint64, pb.complex128, pb.complex64, pb.bfloat16, pb.bool])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_functions_are_given_every_dtype_as_it_is(dtype: Any, shape: tuple[int, ...]) -> None:
    seen = []

    def note(a: Any) -> Any:
        seen.append(a)
        return a

    given = (np.arange(np.prod(shape, dtype=int)).reshape(shape) * np.float64(1 / 3) * 2.0**40).astype(dtype)
    x = pb.placeholder(dtype, shape)
    y = pb.numpy_function(note, [x], pb.TensorSpec(shape, dtype))
    found = pb.Session(engine="xla").run(y, {x: given})
    for array in (found, *seen):
        assert array.dtype == dtype
        np.testing.assert_array_equal(array, given)


def test_functions_that_other_threads_call_are_given_all_bits() -> None:
    """jax's switch for numbers of 64 bits is on in the thread of the run only, and XLA may call from its own."""
    seen = set()

    def note(a: Any) -> Any:
        seen.add(a.dtype.name)
        return np.float32(a.sum() - 300.0)

    x = pb.placeholder(pb.float64, [300, 300])
    parts = [pb.numpy_function(note, [pb.matmul(x, x) * (i + 1.0)], SCALAR) for i in range(4)]
    session = pb.Session(engine="xla")
    given = np.eye(300) * (1 + 2.0**-40)
    wanted = [np.float32((i + 1) * 300 * (1 + 2.0**-40) ** 2 - 300.0) for i in range(4)]
    for _ in range(40):
        np.testing.assert_allclose(session.run(parts, {x: given}), wanted, rtol=1e-4)
    assert seen == {"float64"}


ONE_PROCESSOR = """
import os
os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
import numpy as np, pullback as pb
x = pb.placeholder(pb.float64, [200, 200])
halves = [pb.numpy_function(lambda a: a / 2, [x * (i + 1.0)], pb.TensorSpec([200, 200], pb.float64)) for i in range(3)]
with pb.control_dependencies([pb.print(pb.reshape(x, [-1])[:1], x[:1, :1] + 2.0**-40)]):
    y = pb.add_n(halves)
print(pb.reduce_sum(y).graph is y.graph, pb.Session(engine="xla").run(pb.reduce_sum(y), {x: np.ones([200, 200])}))
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux says which processors a process has")
def test_large_arrays_are_handed_over_where_there_is_one_processor() -> None:
    """XLA's pool has one thread there, which the function is called in: nothing may wait for another."""
    run = subprocess.run([sys.executable, "-c", ONE_PROCESSOR], capture_output=True, text=True, timeout=300)
    assert run.stdout.split() == ["True", "120000.0"], run.stderr
    assert run.stderr.split() == ["[1]", "[[1.0000000000009095]]"]
