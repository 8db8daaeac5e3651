"""Vocabularies of texts: `tf.contrib.learn.preprocessing`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

learn = tf.contrib.learn
TEXTS = ["the cat sat on the mat", "the dog isn't HTMLParser-like", "cat"]


def rows(found: Any) -> list[list[int]]:
    return [row.tolist() for row in found]


def test_words_have_numbers_in_the_order_in_which_they_come() -> None:
    processor = learn.preprocessing.VocabularyProcessor(5)
    found = list(processor.fit_transform(TEXTS))
    assert rows(found) == [[1, 2, 3, 4, 1], [1, 6, 7, 8, 9], [2, 0, 0, 0, 0]]
    assert found[0].dtype == np.int64
    assert len(processor.vocabulary_) == 10
    assert rows(processor.transform(iter(["a cat"]))) == [[0, 2, 0, 0, 0]]
    assert list(processor.reverse([[1, 2, 0]])) == ["the cat <UNK>"]
    assert (processor.vocabulary_._mapping["isn't"], processor.vocabulary_._mapping["HTML"]) == (7, 8)


def test_rare_words_are_not_known() -> None:
    processor = learn.preprocessing.VocabularyProcessor(6, min_frequency=1)
    assert rows(processor.fit_transform([TEXTS[0], "cat"])) == [[2, 1, 0, 0, 2, 0], [1, 0, 0, 0, 0, 0]]
    vocabulary = learn.preprocessing.CategoricalVocabulary(support_reverse=False)
    for word, count in (("b", 5), ("a", 2), ("c", 2), ("d", 1)):
        vocabulary.add(word, count)
    vocabulary.trim(1, max_frequency=5)
    assert vocabulary._mapping == {"<UNK>": 0, "a": 1, "c": 2}
    with pytest.raises(ValueError, match="support_reverse to support reverse"):
        vocabulary.reverse(1)


def test_a_vocabulary_is_kept_in_a_file(tmp_path: Path) -> None:
    processor = learn.preprocessing.VocabularyProcessor(4).fit(TEXTS)
    processor.save(tmp_path / "vocab")
    again = learn.preprocessing.VocabularyProcessor.restore(str(tmp_path / "vocab"))
    assert rows(again.transform(TEXTS)) == rows(processor.transform(TEXTS))
    assert (rows(again.transform(["new"])), again.max_document_length) == ([[0, 0, 0, 0]], 4)


def test_texts_may_be_taken_apart_otherwise() -> None:
    processor = learn.preprocessing.VocabularyProcessor(3, tokenizer_fn=lambda texts: (list(x) for x in texts))
    assert rows(processor.fit_transform(["aba"])) == [[1, 2, 1]]
    assert learn.ModeKeys.INFER == "infer"
    with pytest.raises(
        AttributeError, match=r"^module 'tensorflow\.contrib\.learn' has no attribute 'Estimator': call"
    ):
        _ = learn.Estimator
