"""Hash buckets: a number for each text, the same one in every run, on every machine, and in TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.dtypes import int64
from ...core.operation import Tensor
from ...core.typing import TensorLike
from ..creation.constant import convert_to_tensor
from .base import AbstractTextwise
from .hashes import farmhash, murmurhash, siphash


def to_hash_bucket(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """A number below `num_buckets` for each text, by MurmurHash; `to_hash_bucket_fast` spreads texts better.

    Shapes: any. Dtypes: string; the result is int64.

    Raises:
        TypeError: another dtype. ValueError: `num_buckets` is not positive.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.to_hash_bucket(["a", "b", "a"], 10))
    array([8, 0, 8])
    """
    _check("strings.to_hash_bucket", num_buckets)
    return StringToHashBucket(num_buckets)(convert_to_tensor(input), name=name)


class StringToHashBucket(AbstractTextwise):
    what = "strings.to_hash_bucket"
    result = int64

    num_buckets: int

    def of(self, text: bytes) -> int:
        return murmurhash(text) % self.num_buckets


def to_hash_bucket_fast(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """A number below `num_buckets` for each text, by FarmHash.

    Shapes: any. Dtypes: string; the result is int64.

    Raises:
        TypeError: another dtype. ValueError: `num_buckets` is not positive.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.to_hash_bucket_fast(["a", "b", "a"], 10))
    array([9, 2, 9])
    """
    _check("strings.to_hash_bucket_fast", num_buckets)
    return StringToHashBucketFast(num_buckets)(convert_to_tensor(input), name=name)


class StringToHashBucketFast(AbstractTextwise):
    what = "strings.to_hash_bucket_fast"
    result = int64

    num_buckets: int

    def of(self, text: bytes) -> int:
        return farmhash(text) % self.num_buckets


def to_hash_bucket_strong(input: TensorLike, num_buckets: int, key: Sequence[int], name: str | None = None) -> Tensor:
    """A number below `num_buckets` for each text, by SipHash: who does not know the two numbers `key` cannot find texts
    that share one.

    Shapes: any. Dtypes: string; the result is int64.

    Raises:
        TypeError: another dtype. ValueError: `num_buckets` is not positive, or `key` not two numbers of 64 bits.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.to_hash_bucket_strong(["a", "b", "a"], 10, [1, 2]))
    array([6, 4, 6])
    """
    _check("strings.to_hash_bucket_strong", num_buckets)
    numbers = tuple(key)
    if len(numbers) != 2 or not all(0 <= k < 1 << 64 for k in numbers):
        raise ValueError(f"strings.to_hash_bucket_strong: key must be two numbers of 64 bits, not {key}")
    return StringToHashBucketStrong(num_buckets, numbers)(convert_to_tensor(input), name=name)


class StringToHashBucketStrong(AbstractTextwise):
    what = "strings.to_hash_bucket_strong"
    result = int64

    num_buckets: int
    key: tuple[int, ...]

    def of(self, text: bytes) -> int:
        return siphash((self.key[0], self.key[1]), text) % self.num_buckets


def _check(what: str, num_buckets: int) -> None:
    if num_buckets < 1:
        raise ValueError(f"{what}: num_buckets must be positive, not {num_buckets}")
