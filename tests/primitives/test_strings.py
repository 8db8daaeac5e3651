"""Texts: a dtype whose elements are bytes, on the host whatever the engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import DataLossError, InvalidArgumentError, UnimplementedError

ENGINES = ["numpy", "xla"]
WORDS = ["a", "bc", "zwölf"]
BYTES = [b"a", b"bc", "zwölf".encode()]


def refused(error: type[Exception], act: Callable[[], Any]) -> str:
    """The message of the exception of class `error` that `act` raises."""
    with pytest.raises(error) as caught:
        act()
    return str(caught.value)


def listed(value: Any) -> Any:
    """Arrays as lists."""
    return [listed(v) for v in value] if isinstance(value, list) else getattr(value, "tolist", lambda: value)()


def test_texts_are_a_dtype() -> None:
    x = pb.constant([["a", b"b"]])
    assert (x.dtype, str(x)) == (pb.string, "string[1,2] 'Const:0'")
    assert {pb.as_dtype(kind) for kind in ("string", str, bytes, np.dtype("U3"), np.str_)} == {pb.string}
    assert pb.TensorSpec([], pb.string).dtype == pb.string


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("build", "wanted"),
    [
        (lambda p, i: p, BYTES),
        (lambda p, i: p[0], b"a"),
        (lambda p, i: pb.constant("hello"), b"hello"),
        (lambda p, i: pb.gather(p, i), [BYTES[2], b"a"]),
        (lambda p, i: pb.concat([p, ["x"]], 0), [*BYTES, b"x"]),
        (lambda p, i: pb.reshape(p, [3, 1]), [[b] for b in BYTES]),
        (lambda p, i: pb.transpose(pb.stack([p, p]))[1], [b"bc", b"bc"]),
        (lambda p, i: pb.unstack(pb.constant(WORDS)), BYTES),
        (lambda p, i: pb.equal(p, "bc"), [False, True, False]),
        (lambda p, i: pb.not_equal(p, p), [False] * 3),
        (lambda p, i: pb.where(pb.equal(p, "a"), p, pb.fill([3], "no")), [b"a", b"no", b"no"]),
        (lambda p, i: pb.shape(p), [3]),
        (lambda p, i: pb.zeros_like(p), [b"", b"", b""]),
        (lambda p, i: pb.zeros([2], pb.string), [b"", b""]),
        (lambda p, i: pb.tile(p, [2]), BYTES * 2),
        (lambda p, i: pb.tensor_scatter_nd_update(p, [[1]], ["new"]), [b"a", b"new", BYTES[2]]),
        (lambda p, i: pb.scatter_nd([[3], [0], [3]], p, [4]), [b"bc", b"", b"", "azwölf".encode()]),
        (lambda p, i: pb.pad(p, [[1, 0]]), [b"", *BYTES]),
        (lambda p, i: pb.pad(p, i[None], constant_values="x"), [b"x", b"x", *BYTES]),
        (lambda p, i: pb.pad(p, [[0, 1]], "SYMMETRIC"), [*BYTES, BYTES[2]]),
        (lambda p, i: pb.boolean_mask(p, [True, False, True]), [b"a", BYTES[2]]),
        (lambda p, i: pb.cond(i[0] > 1, lambda: p[0], lambda: p[1]), b"a"),
        (lambda p, i: pb.map_fn(lambda t: t, p), BYTES),
        (lambda p, i: pb.while_loop(lambda n, t: n < 2, lambda n, t: (n + 1, p[n]), [0, pb.constant("")])[1], b"bc"),
        (lambda p, i: pb.py_function(lambda x: b"q" + x[0], [p], pb.TensorSpec([], pb.string)), b"qa"),
        (lambda p, i: [pb.strings.as_string(2 * i), pb.reduce_sum(i)], [[b"4", b"0"], 2]),
        (lambda p, i: pb.strings.length(p) * pb.constant([1, 2, 3]), [1, 4, 18]),
        (lambda p, i: pb.function(lambda x: pb.strings.join([x, "!"]))(p), [b + b"!" for b in BYTES]),
    ],
)
def test_texts_are_moved_and_compared_on_every_engine(build: Any, wanted: Any, engine: str) -> None:
    p, i = pb.placeholder(pb.string, [None]), pb.placeholder(pb.int32, [None])
    made = pb.Session(engine=engine).run(build(p, i), {p: WORDS, i: [2, 0]})
    assert listed(made) == wanted


@pytest.mark.parametrize("value", [WORDS, BYTES, np.array(WORDS), np.array(WORDS, object), tuple(WORDS)])
def test_texts_are_fed_as_any_of_pythons(value: Any) -> None:
    p = pb.placeholder(pb.string, [3])
    assert pb.Session(engine="numpy").run(p, {p: value}).tolist() == BYTES


@pytest.mark.parametrize("engine", ENGINES)
def test_texts_and_numbers_meet_in_one_run(engine: str) -> None:
    w = pb.Variable([1.0, 2.0])
    session = pb.Session(engine=engine)
    session.run(w.initializer)
    shown = pb.strings.as_string(w * 2.0, precision=1)
    with pb.control_dependencies([shown]):
        added = w.assign_add(pb.strings.to_number(pb.strings.join(["1", "0"])) * [1.0, 0.0])
    assert listed(session.run([shown, added])) == [[b"2.0", b"4.0"], [11.0, 2.0]]
    assert session.run(w).tolist() == [11.0, 2.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_texts_are_printed(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = pb.constant(WORDS)
    session = pb.Session(engine=engine)
    session.run(pb.print("words:", words, words[2]))
    session.run(pb.Print(pb.constant(1.0), [words], "said "))
    assert capsys.readouterr().err == 'words: ["a" "bc" "zwölf"] "zwölf"\nsaid ["a" "bc" "zwölf"]\n'
    message = refused(InvalidArgumentError, lambda: session.run(pb.Assert(pb.equal(words[0], "b"), [words])))
    assert 'assertion failed: ["a" "bc" "zwölf"]' in message


@pytest.mark.parametrize("engine", ENGINES)
def test_a_variable_keeps_texts(engine: str) -> None:
    v = pb.Variable("old", name="v")
    session = pb.Session(engine=engine)
    session.run(v.initializer)
    assert [session.run(v), session.run(v.assign("new")), session.run(v)] == [b"old", b"new", b"new"]
    v.load(b"loaded\0", session)
    assert [session.run(v), v.eval(session)] == [b"loaded\0"] * 2


def test_derivatives_by_texts_are_none_and_pass_them_by() -> None:
    p, x = pb.placeholder(pb.string, []), pb.constant(3.0)
    y = x * pb.strings.to_number(p) * x
    assert pb.gradients(y, p) == [None]
    assert pb.Session(engine="numpy").run(pb.gradients(y, x), {p: "2"}) == [12.0]


def test_texts_survive_the_dict_form() -> None:
    y = pb.strings.join([pb.constant([["x", b"\xff"]]), "-"])
    data = json.loads(json.dumps(y.graph.to_dict()))
    again = pb.Graph.from_dict(data)
    assert pb.Session(graph=again, engine="numpy").run(y.name).tolist() == [[b"x-", b"\xff-"]]
    constant = data["operations"][0]["attributes"]["value"]
    for texts in (["zz"], [1], ["78"], None):
        constant["texts"] = texts
        with pytest.raises(DataLossError):
            pb.Graph.from_dict(data)


def test_equal_constants_are_merged_and_others_are_not() -> None:
    values = [pb.constant(["a", "b"]), pb.constant(["a", "b"]), pb.constant(["a", "c"])]
    a, b, c = [x.op.primitive for x in values]
    assert (a == b, a == c, hash(a) == hash(b)) == (True, False, True)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda p: p - "b", "found string[2] and string[]"),
        (lambda p: pb.exp(p), "exp: 'x' has DataType string not in list of allowed values: "),
        (lambda p: pb.cast(p, pb.float32), "cast: no string[2] to float32; use strings.as_string or strings.to_number"),
        (
            lambda p: pb.cast([1.0], "string"),
            "cast: no float32[1] to string; use strings.as_string",
        ),
        (lambda p: pb.reduce_sum(p), "no such reduction of string[2]"),
        (lambda p: pb.ones_like(p), "ones: there is no text that is one"),
        (lambda p: pb.constant(["a", 1]), "1 was given where a text is needed; convert it with pb.strings.as_string"),
        (
            lambda p: pb.constant("1", pb.float32),
            "Expected float32, got '1' of type 'str' instead: '1' is not an array of numbers (NumPy makes it <U1)",
        ),
        (lambda p: pb.constant([None]), "[None] is not an array of numbers (NumPy makes it object)"),
        (lambda p: pb.strings.join([p, [1.0, 2.0]]), "strings.join: takes no float32[2]; it takes string"),
        (lambda p: pb.strings.to_number(p, pb.int8), "out_type must be a float or integer, not int8"),
    ],
)
def test_what_is_no_business_of_texts_is_refused(act: Any, message: str) -> None:
    assert message in refused(TypeError, lambda: act(pb.constant(["a", "b"])))


def test_zeros_are_not_put_between_texts() -> None:
    kept = pb.linalg.band_part(pb.constant([["a"]]), 0, 0, name="kept")
    message = refused(UnimplementedError, lambda: pb.Session(engine="numpy").run(kept))
    assert message.startswith("operation 'kept' (made at ")
    assert message.endswith("puts zeros between texts, which have none; use pb.where, or pb.concat with texts of yours")


@pytest.mark.parametrize(
    ("value", "settings", "wanted"),
    [
        ([1, -20], {}, [b"1", b"-20"]),
        ([1, -20], {"width": 4, "fill": "0"}, [b"0001", b"-020"]),
        ([1.5, 2.0], {}, [b"1.500000", b"2.000000"]),
        ([1.5, 1e10], {"shortest": True}, [b"1.5", b"1e+10"]),
        ([1.5], {"scientific": True, "precision": 2}, [b"1.50e+00"]),
        ([1.5], {"width": 6, "precision": 1, "fill": "-"}, [b"1.5   "]),
        ([True, False], {}, [b"true", b"false"]),
        ([1 + 2j], {"precision": 1}, [b"(1.0,2.0)"]),
        ([np.inf, np.nan], {}, [b"inf", b"nan"]),
        (["text"], {}, [b"text"]),
    ],
)
def test_numbers_become_texts_as_in_c(value: Any, settings: dict[str, Any], wanted: list[bytes]) -> None:
    assert pb.Session(engine="numpy").run(pb.strings.as_string(value, **settings)).tolist() == wanted


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_text_that_is_fed_and_not_read(engine: str) -> None:
    mode, v = pb.placeholder(pb.string, []), pb.Variable([1.0, 2.0])
    session = pb.Session(engine=engine)
    session.run(pb.global_variables_initializer())
    found, text = session.run([v * 2.0, mode], {mode: "train"})
    assert (found.tolist(), text) == ([2.0, 4.0], b"train")
    assert session.run(v.assign_add([1.0, 1.0]), {mode: "train"}).tolist() == [2.0, 3.0]


def test_arguments_of_strings_are_checked() -> None:
    strings = pb.strings
    assert refused(ValueError, lambda: strings.as_string(1, fill="x")) == (
        "as_string: fill must be '', '0', '+', '-' or ' ', not 'x'"
    )
    assert refused(ValueError, lambda: strings.format("{} {}", [1])) == (
        "2 placeholder(s) in template does not match 1 tensor(s) provided as input"
    )
    assert refused(ValueError, lambda: strings.join([])) == "strings.join: there are no inputs"
    assert refused(ValueError, lambda: strings.join([["a"], ["b", "c"]])) == (
        "strings.join: shapes differ: string[1], string[2]"
    )
    message = refused(InvalidArgumentError, lambda: pb.Session(engine="numpy").run(strings.to_number("2x")))
    assert "strings.to_number: b'2x' is no float32" in message


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("build", "wanted"),
    [
        (lambda x: x, b"a\0"),
        (lambda x: pb.identity(x), b"a\0"),
        (lambda x: pb.reshape(x, [1]), [b"a\0"]),
        (lambda x: pb.expand_dims(x, 0), [b"a\0"]),
        (lambda x: pb.stack([x, x]), [b"a\0"] * 2),
        (lambda x: pb.fill([2], x), [b"a\0"] * 2),
        (lambda x: pb.broadcast_to(x, [2]), [b"a\0"] * 2),
        (lambda x: pb.where(pb.equal(x, "a\0"), x, "b"), b"a\0"),
        (lambda x: pb.strings.join([x, x]), b"a\0a\0"),
        (lambda x: pb.strings.length(x), 2),
        (lambda x: pb.gather(pb.constant(["b\0"]), 0), b"b\0"),
        (lambda x: pb.cond(pb.equal(x, "a\0"), lambda: x, lambda: pb.constant("b")), b"a\0"),
        (lambda x: pb.map_fn(lambda t: pb.strings.join([t, x]), pb.constant(["q", "r\0"])), [b"qa\0", b"r\0a\0"]),
        (lambda x: pb.map_fn(lambda t: t, pb.constant(["q\0", "r"])), [b"q\0", b"r"]),
    ],
)
def test_a_text_keeps_the_zeros_at_its_end(engine: str, build: Any, wanted: Any) -> None:
    assert listed(pb.Session(engine=engine).run(build(pb.constant("a\0")))) == wanted


def test_the_zeros_of_texts_are_texts_for_programs_of_version_1_too() -> None:
    pb.disable_v2_behavior()
    try:
        y = pb.zeros_like(["a", "b"])
    finally:
        pb.enable_v2_tensorshape()
        pb.enable_resource_variables()
    assert pb.Session(engine="numpy").run(y).tolist() == [b"", b""]


PRINTED: dict[str, tuple[Any, str]] = {
    "whole": ([1.0, 2.0], "[1 2]"),
    "six digits": ([1.5, 2e-7, 1e10, 0.0001], "[1.5 2e-07 1e+10 0.0001]"),
    "nine digits": ([1 / 3, 123456789.0, 1234567.0], "[0.333333343 123456792 1234567]"),
    "fifteen digits": (np.float64(16777217.0), "16777217"),
    "seventeen digits": (np.float64(np.pi), "3.1415926535897931"),
    "float16": (np.float16(1 / 3), "0.333251953"),
    "not finite": ([np.nan, np.inf, -np.inf, -0.0], "[nan inf -inf -0]"),
    "truth": ([True, False], "[1 0]"),
    "text": ("s", '"s"'),
    "matrix": (np.arange(20.0).reshape(2, 10), "[[0 1 2 ... 7 8 9]\n [10 11 12 ... 17 18 19]]"),
}
"""As TensorFlow 2.21 prints them."""


@pytest.mark.parametrize("name", PRINTED)
def test_numbers_are_printed_as_in_tensorflow(name: str) -> None:
    x, wanted = PRINTED[name]
    value = x if isinstance(x, str | np.generic | np.ndarray) else np.array(x, None if x[0] is True else np.float32)
    assert pb.Session(engine="numpy").run(pb.strings.format("{}", pb.constant(value))).decode() == wanted
