"""A graph of TensorFlow's operations on texts, with a table of embeddings by their hashes, for `make_fixtures.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
WORDS, NUMBERS = [b"aa", b"b c", b" d"], [0.0, 1.5, 2.0]


def outputs(s: Any, x: Any, table: Any) -> list[Any]:
    """What is computed of texts `s` [n] and numbers `x` [n]."""
    strings, few = tf.strings, tf.constant("few")
    return [
        *[strings.as_string(x, precision=2), strings.to_number(strings.as_string(x)), strings.length(s)],
        *[strings.lower(s), strings.upper(s), strings.strip(s), strings.substr(s, 1, 2)],
        *[
            strings.to_hash_bucket_fast(s, 7),
            v1.string_to_hash_bucket(s, 7),
            strings.to_hash_bucket_strong(s, 7, [1, 2]),
        ],
        *[strings.regex_replace(s, "a", "<\\0>"), strings.regex_full_match(s, "a.*")],
        *[v1.regex_replace(s, tf.constant("b"), "B")],
        *[strings.join([s, "-", s]), strings.reduce_join(s, 0, separator="+"), strings.format("{}", [s])],
        *[v1.string_split(s, delimiter=" ").values, v1.strings.split(s, sep=" ", result_type="SparseTensor").values],
        v1.strings.split(s, result_type="RaggedTensor").flat_values,
        *[tf.gather(tf.constant(["p", "q", "r"]), tf.cast(x, tf.int32)), tf.concat([s, ["z"]], 0)],
        *[
            tf.where(tf.equal(s, "b c"), s, tf.fill(tf.shape(s), "no")),
            tf.one_hot(strings.to_hash_bucket_fast(s, 3), 3),
        ],
        tf.cond(tf.shape(s)[0] > 5, lambda: s[0], lambda: few),
        tf.while_loop(lambda i, _: i < 3, lambda i, t: (i + 1, strings.join([t, "!"])), [0, tf.constant("w")])[1],
        tf.gradients(tf.reduce_sum(tf.nn.embedding_lookup(table, strings.to_hash_bucket_fast(s, 7)) ** 2), table)[0],
    ]


def write_texts(folder: Path) -> None:
    """A MetaGraphDef with its saver, and what TensorFlow computes; with version-1 loops and conditionals."""
    v1.disable_control_flow_v2()
    with tf.Graph().as_default(), v1.Session() as session:
        s, x = v1.placeholder(tf.string, [None], name="s"), v1.placeholder(tf.float32, [None], name="x")
        table = v1.get_variable("table", [7, 3], initializer=v1.initializers.constant(0.5), use_resource=True)
        ys = [tf.identity(y, name=f"y{i}") for i, y in enumerate(outputs(s, x, table))]
        v1.train.Saver()
        session.run(v1.global_variables_initializer())
        found = session.run(ys, {s: WORDS, x: NUMBERS})
        v1.train.export_meta_graph(str(folder / "texts.meta"))
    entries = {
        y.name: np.array(value, "S") if y.dtype == tf.string else value for y, value in zip(ys, found, strict=True)
    }
    np.savez_compressed(folder / "texts.npz", **entries)
