"""N-grams, characters, encodings and joined segments of texts: results are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import pytest

import pullback.compat.v1 as tf
from pullback.core.errors import InvalidArgumentError

S = tf.strings
WORDS = [["a", "b", "c"], [], ["d"]]
TEXTS = ["Gööd".encode(), b"a\x01b", "😊!".encode(), b"\xffx\xe2\x82"]
BOTH = pytest.mark.parametrize("engine", ["numpy", "xla"])


def run(x: Any, engine: str = "numpy") -> Any:
    found = tf.Session(engine=engine).run(x)
    return found.to_list() if hasattr(found, "to_list") else found.tolist() if hasattr(found, "tolist") else found


@pytest.mark.parametrize(
    ("width", "options", "expected"),
    [
        (2, {}, [[b"a b", b"b c"], [], []]),
        ([1, 2], {}, [[b"a", b"b", b"c", b"a b", b"b c"], [], [b"d"]]),
        (
            3,
            {"pad_values": "!"},
            [
                [b"! ! a", b"! a b", b"a b c", b"b c !", b"c ! !"],
                [b"! ! !", b"! ! !"],
                [b"! ! d", b"! d !", b"d ! !"],
            ],
        ),
        (3, {"pad_values": ("<", ">"), "padding_width": 1}, [[b"< a b", b"a b c", b"b c >"], [], [b"< d >"]]),
        (3, {"preserve_short_sequences": True}, [[b"a b c"], [], [b"d"]]),
        ([2, 3], {"preserve_short_sequences": True}, [[b"a b", b"b c", b"a b c"], [], [b"d"]]),
    ],
)
@BOTH
def test_ngrams_of_rows(width: Any, options: Any, expected: Any, engine: str) -> None:
    assert run(S.ngrams(tf.ragged.constant(WORDS), width, **options), engine) == expected


def test_ngrams_of_tensors_and_of_rows_of_rows() -> None:
    dense = S.ngrams([["a", "b", "c"], ["d", "e", "f"]], 2, separator="_")
    assert (dense.shape.as_list(), run(dense)) == ([2, None], [[b"a_b", b"b_c"], [b"d_e", b"e_f"]])
    assert run(S.ngrams(["a", "b", "c"], 2)) == [b"a b", b"b c"]
    nested = tf.ragged.constant([[["a", "b"], ["c"]], [["d", "e", "f"]]])
    assert run(S.ngrams(nested, 2)) == [[[b"a b"], []], [[b"d e", b"e f"]]]
    for error, text, make in (
        (ValueError, "data must have a known rank of at least 1", lambda: S.ngrams("a", 2)),
        (ValueError, "All ngram_widths must be greater than 0. Got 0", lambda: S.ngrams(WORDS[0], 0)),
        (ValueError, "padding_width must be greater than 0. Got 0", lambda: S.ngrams(WORDS[0], 2, " ", "!", 0)),
        (ValueError, "pad_values must be provided if", lambda: S.ngrams(WORDS[0], 2, padding_width=1)),
        (TypeError, "pad_values must be a string, tuple of strings, or None", lambda: S.ngrams(WORDS[0], 2, " ", 3)),
    ):
        with pytest.raises(error, match=text):
            make()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [[71, 246, 246, 100], [97, 1, 98], [128522, 33], [65533, 120, 65533]]),
        ({"errors": "ignore"}, [[71, 246, 246, 100], [97, 1, 98], [128522, 33], [120]]),
        (
            {"replacement_char": 63, "replace_control_characters": True},
            [[71, 246, 246, 100], [97, 63, 98], [128522, 33], [63, 120, 63]],
        ),
        (
            {"errors": "ignore", "replace_control_characters": True},
            [[71, 246, 246, 100], [97, 98], [128522, 33], [120]],
        ),
    ],
)
@BOTH
def test_texts_are_the_numbers_of_their_characters(options: Any, expected: Any, engine: str) -> None:
    assert run(S.unicode_decode(TEXTS, "UTF-8", **options), engine) == expected


@BOTH
def test_characters_have_places(engine: str) -> None:
    codes, places = S.unicode_decode_with_offsets(TEXTS, "UTF-8")
    assert run(places, engine) == [[0, 1, 3, 5], [0, 1, 2], [0, 4], [0, 1, 2]]
    parts, again = S.unicode_split_with_offsets(TEXTS[2:], "UTF-8", errors="ignore")
    assert (run(parts), run(again)) == ([["😊".encode(), b"!"], [b"x"]], [[0, 4], [1]])
    assert codes.shape.as_list() == [4, None]
    one, at = S.unicode_decode_with_offsets("aéb", "UTF-8")
    assert (run(one), run(at)) == ([97, 233, 98], [0, 1, 3])
    assert run(S.unicode_decode([["ab", "c"], ["", "d"]], "UTF-8")) == [[[97, 98], [99]], [[], [100]]]
    assert run(S.unicode_split(tf.ragged.constant([["é"], []]), "UTF-8")) == [[[b"\xc3\xa9"]], []]
    assert run(S.unicode_decode(["aé".encode("utf-16-be")], "UTF-16-BE")) == [[97, 233]]


def test_texts_in_other_encodings() -> None:
    wide = [b"\x00G\x00\xf6\x00\xf6\x00d", b"\x00a\x00\x01\x00b", b"\xd8=\xde\n\x00!", b"\xff\xfd\x00x\xff\xfd"]
    assert run(S.unicode_transcode(TEXTS, "UTF-8", "UTF-16-BE")) == wide
    assert run(S.unicode_transcode([b"G\xf6"], "ISO-8859-1", "UTF-8")) == [b"G\xc3\xb6"]
    controls = S.unicode_transcode(tf.ragged.constant([[b"a\x01b"], []]), "UTF-8", "UTF-8", "replace", 65533, True)
    assert run(controls) == [["a\ufffdb".encode()], []]


@BOTH
def test_numbers_of_characters_are_texts(engine: str) -> None:
    rows = tf.ragged.constant([[71, 246, 100], [128522], []])
    assert run(S.unicode_encode(rows, "UTF-8"), engine) == ["Göd".encode(), "😊".encode(), b""]
    assert run(S.unicode_encode([[71, 246]], "UTF-16-BE"), engine) == [b"\x00G\x00\xf6"]
    assert run(S.unicode_encode([71, 0x110000, 0xD800], "UTF-8")) == "G\ufffd\ufffd".encode()
    assert run(S.unicode_encode([71, 0x110000], "UTF-8", errors="ignore")) == b"G"
    assert run(S.unicode_encode([[[71, 72], [73, 74]]], "UTF-8")) == [[b"GH", b"IJ"]]
    assert run(S.unicode_encode(tf.ragged.constant([[[71], [72, 73]], []]), "UTF-8")) == [[b"G", b"HI"], []]


def test_malformed_texts_may_be_refused() -> None:
    for make in (
        lambda: S.unicode_decode(TEXTS, "UTF-8", errors="strict"),
        lambda: S.unicode_transcode(TEXTS, "UTF-8", "UTF-8", errors="strict"),
        lambda: S.unicode_encode([0x110000], "UTF-8", errors="strict"),
    ):
        with pytest.raises(InvalidArgumentError, match="Invalid formatting on input string"):
            run(make())
    for text, make in (
        ("there is no input_encoding 'foo'", lambda: S.unicode_decode(TEXTS, "foo")),
        ("output_encoding must be 'UTF-8', 'UTF-16-BE' or", lambda: S.unicode_encode([71], "latin1")),
        ("errors must be 'strict', 'replace' or 'ignore', not 'foo'", lambda: S.unicode_split(TEXTS, "UTF-8", "foo")),
        ("replacement_char must be the number of a char", lambda: S.unicode_split(TEXTS, "UTF-8", "replace", -1)),
        ("input must have at least one axis", lambda: S.unicode_encode(71, "UTF-8")),
        ("the rank of texts must be known", lambda: S.unicode_decode(tf.placeholder(tf.string), "UTF-8")),
    ):
        with pytest.raises(ValueError, match=text):
            make()


@BOTH
def test_segments_of_texts_are_joined(engine: str) -> None:
    join = S.unsorted_segment_join
    assert run(join(["a", "b", "c", "d"], [0, 2, 0, 2], 4, separator=":"), engine) == [b"a:c", b"", b"b:d", b""]
    assert run(join([["a", "b"], ["c", "d"]], [[0, 1], [1, 0]], 2), engine) == [b"ad", b"bc"]
    rows = join([["a", "b"], ["c", "d"]], [1, 1], 2)
    assert (rows.shape.as_list(), run(rows, engine)) == ([2, 2], [[b"", b""], [b"ac", b"bd"]])
    with pytest.raises(InvalidArgumentError, match=r"segment_ids must be from 0 to 1, and are \[-1, 0\]"):
        run(join(["a", "b"], [-1, 0], 2))
