"""Vocabularies of texts: words as numbers, texts as rows of these: `tf.contrib.learn.preprocessing`.

>>> import pullback.compat.v1 as tf
>>> processor = tf.contrib.learn.preprocessing.VocabularyProcessor(max_document_length=4)
>>> [row.tolist() for row in processor.fit_transform(["to be or not to be", "be"])]
[[1, 2, 3, 4], [2, 0, 0, 0]]
>>> [row.tolist() for row in processor.transform(["not seen"])], list(processor.reverse([[4, 1, 9]]))
([[4, 0, 0, 0]], ['not to <UNK>'])
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text."""
    for text in iterator:
        yield _WORD.findall(text)


class CategoricalVocabulary:
    """Numbers for words, in the order in which they come; 0 for all that are not known once it is frozen."""

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token, self._support_reverse = unknown_token, support_reverse
        self._mapping: dict[Any, int] = {unknown_token: 0}
        self._freq: Counter[Any] = Counter()
        self._frozen = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Say whether words that are not known get no numbers from now on."""
        self._frozen = freeze

    def get(self, category: Any) -> int:
        """The number of a word."""
        if category not in self._mapping:
            if self._frozen:
                return 0
            self._mapping[category] = len(self._mapping)
        return self._mapping[category]

    def add(self, category: Any, count: int = 1) -> None:
        """Count a word."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Number anew, from the most frequent on, the words that came more than `min_frequency` times.

        Those that came `max_frequency` times or more, if that is positive, are left out.
        """
        ordered = sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0]))
        ordered.sort(key=lambda item: item[1], reverse=True)
        kept = [(word, n) for word, n in ordered if n > min_frequency and not 0 < max_frequency <= n]
        self._mapping = {self._unknown_token: 0} | {word: i for i, (word, _) in enumerate(kept, start=1)}
        self._freq = Counter(dict(kept))

    def reverse(self, class_id: int) -> Any:
        """The word of a number.

        Raises:
            ValueError: `support_reverse` is False.
        """
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        words = list(self._mapping)
        return words[class_id] if 0 <= class_id < len(words) else self._unknown_token


class VocabularyProcessor:
    """Texts as rows of `max_document_length` numbers of words, filled up with 0.

    `fit` numbers the words; those that come `min_frequency` times or less are not known, if that is positive.
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[Any]], Iterable[Sequence[Any]]] | None = None,
    ) -> None:
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[Any], unused_y: Any = None) -> VocabularyProcessor:
        """Number the words of texts, and know no others from then on."""
        del unused_y
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Iterable[Any], unused_y: Any = None) -> Iterator[Array]:
        """`fit`, then `transform`."""
        documents = list(raw_documents)
        return self.fit(documents, unused_y).transform(documents)

    def transform(self, raw_documents: Iterable[Any]) -> Iterator[Array]:
        """A row of numbers for each text."""
        for words in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            known = [self.vocabulary_.get(word) for word in words[: self.max_document_length]]
            row[: len(known)] = known
            yield row

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """The words of rows of numbers, with blanks between them."""
        for row in documents:
            yield " ".join(str(self.vocabulary_.reverse(int(number))) for number in row)

    def save(self, filename: str | PathLike[str]) -> None:
        """Write the vocabulary of texts into a file, which `restore` reads; not one that TensorFlow reads."""
        vocabulary = self.vocabulary_
        Path(filename).write_text(
            json.dumps(
                {
                    "max_document_length": self.max_document_length,
                    "min_frequency": self.min_frequency,
                    "words": list(vocabulary._mapping),
                    "counts": dict(vocabulary._freq),
                    "frozen": vocabulary._frozen,
                }
            ),
            encoding="utf-8",
        )

    @classmethod
    def restore(cls, filename: str | PathLike[str]) -> VocabularyProcessor:
        """The processor that `save` wrote, with the tokenizer of this module."""
        kept = json.loads(Path(filename).read_text(encoding="utf-8"))
        unknown, *words = kept["words"]
        vocabulary = CategoricalVocabulary(unknown)
        for word in words:
            vocabulary.get(word)
        vocabulary._freq = Counter(kept["counts"])
        vocabulary.freeze(kept["frozen"])
        return cls(kept["max_document_length"], kept["min_frequency"], vocabulary)
