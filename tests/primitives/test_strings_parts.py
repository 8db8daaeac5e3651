"""Texts cut, searched, split and hashed: values as in TensorFlow 2.21."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.core.errors import InvalidArgumentError
from pullback.primitives.strings.hashes import farmhash, murmurhash, siphash

LENGTHS = [0, 1, 3, 4, 7, 8, 9, 16, 17, 32, 33, 64, 65, 127, 128, 129, 300]
WORDS = [("abcdefghijklmnopqrstuvwxyz0123456789ä" * 8).encode()[:n] for n in LENGTHS]
FARM = [
    *(1936946117179621455, 1388589064740894179, 334871249046467433, 1897425971756105985, 2035848218575336277),
    *(2227542566675949833, 1381636230552599106, 1469030743107030717, 2171023947900359592, 934449955909727258),
    *(1485818756332027403, 1922564794171979541, 1908808208445151656, 251999963066418541, 2166242960957354640),
    *(1381075865792317273, 83725936034085762),
]
MURMUR = [
    *(105434511174508091, 690789896157841916, 1046625677629754806, 404301170780174469, 654502902295506496),
    *(1124008166558006354, 2154505082538699157, 956259514752743408, 1369333817846520989, 173811288617231736),
    *(370557812084391300, 455369007734431079, 362630796297906937, 437615561947957659, 875987981920745334),
    *(632253401377647276, 230692552144209511),
]
SIP = [
    *(1027792674843669462, 1124391588354146194, 1967729381952367253, 1314444583544017300, 1967557827656797139),
    *(1841127243389684076, 1303934390258159028, 1611154256256989343, 115311957128158685, 256780683680318891),
    *(1618970131425942527, 950796975115117192, 318523630229303527, 1371060158926739190, 1684002163138561605),
    *(680300141658910549, 1033711475203615553),
]
"""The numbers of TensorFlow, modulo 2 ** 61."""


def run(fetches: Any, feeds: Any = None, engine: str = "numpy") -> Any:
    return pb.Session(engine=engine).run(fetches, feeds)


def refused(error: type[Exception], act: Callable[[], Any]) -> str:
    with pytest.raises(error) as caught:
        act()
    return str(caught.value)


def test_hashes_are_those_of_tensorflow() -> None:
    assert [farmhash(word) % 2**61 for word in WORDS] == FARM
    assert [murmurhash(word) % 2**61 for word in WORDS] == MURMUR
    assert [siphash((11, 2**63 - 5), word) % 2**61 for word in WORDS] == SIP


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_buckets_are_integers_that_a_program_goes_on_with(engine: str) -> None:
    rows = pb.gather(pb.constant(np.eye(3, dtype=np.float32)), pb.strings.to_hash_bucket_fast([["a"], ["b"]], 3))
    assert run(rows, engine=engine).shape == (2, 1, 3)
    assert pb.strings.to_hash_bucket(["a"], 3).dtype == pb.int64
    for function in (pb.strings.to_hash_bucket, pb.strings.to_hash_bucket_fast):
        assert refused(ValueError, lambda f=function: f(["a"], 0)).endswith(": num_buckets must be positive, not 0")
    assert refused(ValueError, lambda: pb.strings.to_hash_bucket_strong(["a"], 1, [1, -1])) == (
        "strings.to_hash_bucket_strong: key must be two numbers of 64 bits, not [1, -1]"
    )
    assert refused(TypeError, lambda: pb.strings.to_hash_bucket_fast([1], 2)) == (
        "strings.to_hash_bucket_fast: takes no int32[1]; it takes string"
    )


VALUES: list[tuple[Callable[[], Any], Any]] = [
    (lambda: pb.strings.substr(["hello", "world"], [1, -3], [2, 2]), [b"el", b"rl"]),
    (lambda: pb.strings.substr(["hello", "world"], 1, 100), [b"ello", b"orld"]),
    (lambda: pb.strings.substr("hello", 5, 1), b""),
    (lambda: pb.strings.substr(["zölf"], 1, 2, unit="UTF8_CHAR"), ["öl".encode()]),
    (lambda: pb.strings.strip([" a b\n\t", "\x0b\x0c\r "]), [b"a b", b""]),
    (lambda: pb.strings.lower(["ABÄ"]), ["abÄ".encode()]),
    (lambda: pb.strings.lower(["ABÄ"], encoding="utf-8"), ["abä".encode()]),
    (lambda: pb.strings.upper([["abä"]], "utf-8"), [["ABÄ".encode()]]),
    (lambda: pb.strings.regex_replace(["aaa bbb"], "(a)(a)", r"<\2\1\0>"), [b"<aaaa>a bbb"]),
    (lambda: pb.strings.regex_replace(["aaa bbb"], "[ab]", r"\\x", replace_global=False), [b"\\xaa bbb"]),
    (lambda: pb.strings.regex_replace([b"\xffa"], "a|(b)", r"\1."), [b"\xff."]),
    (lambda: pb.strings.regex_full_match(["ab", "abc"], "a.?"), [True, False]),
    (lambda: pb.strings.reduce_join([["a", "b"], ["c", "d"]], 0), [b"ac", b"bd"]),
    (lambda: pb.strings.reduce_join([["a", "b"], ["c", "d"]], -1, True, "+"), [[b"a+b"], [b"c+d"]]),
    (lambda: pb.strings.reduce_join([["a", "b"], ["c", "d"]]), b"abcd"),
    (lambda: pb.strings.reduce_join([["a", "b"], ["c", "d"]], [1, 0]), b"abcd"),
    (lambda: pb.strings.reduce_join([["a", "b"], ["c", "d"]], [0, 1]), b"acbd"),
    (lambda: pb.strings.reduce_join(pb.zeros([2, 0], pb.string), 1), [b"", b""]),
]


@pytest.mark.parametrize(("build", "expected"), VALUES)
def test_values_are_those_of_tensorflow(build: Callable[[], Any], expected: Any) -> None:
    y = build()
    found = run(y)
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected
    assert y.shape == np.shape(found)


SPLITS: list[tuple[Any, Any, list[Any]]] = [
    (tf.string_split, {}, [[b"a", b"b", b"c"], [], [b"d"]]),
    (tf.string_split, {"skip_empty": False}, [[b"a", b"b", b"", b"c"], [], [b"", b"d", b""]]),
    (tf.string_split, {"delimiter": "c "}, [[b"a", b"b"], [], [b"d"]]),
    (tf.string_split, {"sep": ""}, [[b"a", b" ", b"b", b" ", b" ", b"c"], [], [b" ", b"d", b" "]]),
    (tf.strings.split, {}, [[b"a", b"b", b"c"], [], [b"d"]]),
    (tf.strings.split, {"sep": "b  "}, [[b"a ", b"c"], [b""], [b" d "]]),
    (tf.strings.split, {"maxsplit": 1}, [[b"a", b"b  c"], [], [b"d"]]),
]


@pytest.mark.parametrize(("split", "options", "expected"), SPLITS)
def test_parts_of_texts_are_sparse_or_ragged(split: Any, options: Any, expected: list[Any]) -> None:
    texts = ["a b  c", "", " d "]
    sparse, ragged = run([split(texts, **options), split(texts, result_type="RaggedTensor", **options)])
    assert sparse.indices.tolist() == [[i, j] for i, row in enumerate(expected) for j in range(len(row))]
    assert sparse.values.tolist() == [part for row in expected for part in row]
    assert sparse.dense_shape.tolist() == [3, max(map(len, expected))]
    assert ragged.to_list() == expected


def test_one_text_has_a_vector_of_parts() -> None:
    assert run(pb.strings.split("a b")).tolist() == [b"a", b"b"]
    assert run(tf.string_split("a b")).dense_shape.tolist() == [1, 2]
    assert run(pb.strings.unicode_split(b"z\xff", "UTF-8", replacement_char=63)).tolist() == [b"z", b"?"]
    assert run(pb.strings.unicode_split(b"z\xff", "UTF-8", "ignore")).tolist() == [b"z"]
    assert run(pb.strings.bytes_split("zö")).tolist() == [b"z", b"\xc3", b"\xb6"]


def test_words_are_numbers_by_their_parts() -> None:
    text = pb.placeholder(pb.string, [None])
    numbers = tf.string_to_number(tf.string_split(text).values, tf.int32)
    assert run(pb.reduce_sum(numbers), {text: ["1 2", "3"]}, "xla") == 6


def test_what_cannot_be_is_refused() -> None:
    x = pb.constant([["a"]])
    for error, act, text in (
        (ValueError, lambda: pb.strings.split(x), "strings.split: takes a vector of texts, not string[1,1]"),
        (ValueError, lambda: tf.string_split(["a"], result_type="list"), "result_type must be"),
        (ValueError, lambda: pb.strings.unicode_split(["a"], "UTF-16"), "input_encoding must be 'UTF-8', not 'UTF-16'"),
        (
            ValueError,
            lambda: pb.strings.unicode_split(["a"], "UTF-8", "no"),
            "errors must be 'replace' or 'ignore'",
        ),
        (
            ValueError,
            lambda: pb.strings.lower(x, "latin"),
            "strings.lower: encoding must be '' or 'utf-8', not 'latin'",
        ),
        (ValueError, lambda: pb.strings.substr(x, 0, 1, "BIT"), "strings.substr: unit must be 'BYTE' or 'UTF8_CHAR'"),
        (TypeError, lambda: pb.strings.substr(x, 0.0, 1), "strings.substr: pos and len are integers, not float32[]"),
        (
            ValueError,
            lambda: pb.strings.reduce_join(x, [0, -2]),
            "reduce_join: string[1,1] 'Const:0' has no axes",
        ),
        (
            InvalidArgumentError,
            lambda: pb.strings.regex_replace(x, "(", ""),
            "strings.regex_replace: invalid pattern '(': missing ), unterminated subpattern at position 0",
        ),
        (
            InvalidArgumentError,
            lambda: pb.strings.regex_replace(x, "(a)", r"\2"),
            r"strings.regex_replace: rewrite '\\2' has '\2', and the groups of '(a)' are 1",
        ),
        (
            InvalidArgumentError,
            lambda: run(pb.strings.substr(["hello"], 6, 1)),
            "strings.substr: pos 6 out of range for string b'hello'",
        ),
    ):
        assert text in refused(error, act)


def test_texts_become_nodes_of_tensorflow() -> None:
    x = pb.placeholder(pb.string, [None], name="x")
    made = [
        pb.strings.lower(x),
        pb.strings.substr(x, 1, 2),
        pb.strings.regex_replace(x, "a", "b"),
        pb.strings.to_hash_bucket_strong(x, 9, [1, 2]),
    ]
    nodes = {node.op: node for node in x.graph.as_graph_def().node}
    assert len(made) < len(nodes)
    assert {"StringLower", "Substr", "StaticRegexReplace", "StringToHashBucketStrong"} <= set(nodes)
    assert list(nodes["StringToHashBucketStrong"].attr["key"].list.i) == [1, 2]


def test_texts_are_added_one_behind_the_other() -> None:
    x = pb.constant([["a"], ["b"]])
    sums = [x + "c", "c" + x, x + pb.constant(["d", "e"]), pb.add("c", x)]
    found = pb.Session(engine="numpy").run(sums)
    assert [y.tolist() for y in found] == [
        [[b"ac"], [b"bc"]],
        [[b"ca"], [b"cb"]],
        [[b"ad", b"ae"], [b"bd", b"be"]],
        [[b"ca"], [b"cb"]],
    ]
    with pytest.raises(TypeError, match=r"^add: dtypes differ: string\[2,1\] and int32\[\]; convert one with pb.cast$"):
        x + 1
