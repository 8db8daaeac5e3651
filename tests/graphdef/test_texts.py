"""Operations on texts: those of a graph that TensorFlow wrote, and what is written and read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import UnimplementedError
from pullback.graphdef.messages import messages

pytest.importorskip("tensorboard")

FIXTURES = Path(__file__).with_name("fixtures")
FEEDS = {"s:0": [b"aa", b"b c", b" d"], "x:0": [0.0, 1.5, 2.0]}


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_graph_of_texts_has_the_values_and_derivatives_of_tensorflow(engine: str) -> None:
    pb.train.import_meta_graph(FIXTURES / "texts.meta")
    with np.load(FIXTURES / "texts.npz") as data, pb.Session(engine=engine) as session:
        session.run(pb.global_variables_initializer())
        for name, wanted in data.items():
            np.testing.assert_array_equal(session.run(name, FEEDS), wanted, err_msg=name)


def test_the_names_of_files_that_a_saver_joins_make_no_operations() -> None:
    pb.train.import_meta_graph(FIXTURES / "texts.meta")
    assert [op.name for op in pb.get_default_graph().operations if op.name.startswith("save")] == []


def every(s: pb.Tensor) -> list[Any]:
    """Something of each operation that is written."""
    strings = pb.strings
    numbers = [strings.length(s), strings.to_hash_bucket(s, 7), strings.to_hash_bucket_fast(s, 7)]
    numbers += [strings.to_hash_bucket_strong(s, 7, [1, 2]), strings.regex_full_match(s, "a.*")]
    changed = [strings.lower(s), strings.upper(s), strings.strip(s), strings.substr(s, 0, 1)]
    changed += [strings.regex_replace(s, "a", "b"), strings.join([s, s], "-"), strings.as_string(strings.length(s))]
    whole = [strings.reduce_join(s, 0, separator="+"), strings.format("{}!", s)]
    parts = [strings.split(s, " ").values, strings.bytes_split(s).values]
    return [*numbers, *changed, *whole, *parts, strings.to_number(strings.as_string(strings.length(s)))]


def test_texts_that_are_written_and_read_again_are_the_same() -> None:
    with pb.Graph().as_default() as graph:
        s = pb.placeholder(pb.string, [None], name="s")
        ys = [pb.identity(y, name=f"y{i}") for i, y in enumerate(every(s))]
        wanted = pb.Session().run(ys, {s: FEEDS["s:0"]})
        data = pb.graphdef.export(graph, ys)
    pb.import_graph_def(data, name="")
    found = pb.Session().run([y.name for y in ys], {"s:0": FEEDS["s:0"]})
    for y, a, b in zip(ys, found, wanted, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=y.name)


def test_a_pattern_that_a_run_computes_is_refused() -> None:
    made = messages().GraphDef()
    made.node.add(name="p", op="Placeholder").attr["dtype"].type = 7
    made.node.add(name="m", op="RegexFullMatch", input=["p", "p"])
    with pytest.raises(UnimplementedError) as caught:
        pb.import_graph_def(made, name="")
    assert str(caught.value) == (
        "import_graph_def: node 'm' (RegexFullMatch): pattern must be one known text; here it is computed by 'p'"
    )
