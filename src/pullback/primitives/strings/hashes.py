"""Hash functions of 64 bits: those by which TensorFlow puts texts into buckets.

FarmHash Fingerprint64: G. Pike, FarmHash, Google 2014, after CityHash. MurmurHash64A: A. Appleby, MurmurHash 2.0, 2008.
SipHash-2-4: J.-P. Aumasson and D. J. Bernstein, SipHash: a fast short-input PRF, 2012.
"""

from __future__ import annotations

_WORD = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_MURMUR = 0xC6A4A7935BD1E995
_SEED = 0xDECAFCAFFE
_SIP = [int.from_bytes(text, "big") for text in (b"somepseu", b"dorandom", b"lygenera", b"tedbytes")]
Pair = tuple[int, int]


def farmhash(data: bytes) -> int:
    """
    >>> hex(farmhash(b""))
    '0x9ae16a3b2f90404f'
    """
    n = len(data)
    if n <= 16:
        return _to_16(data, n)
    if n <= 32:
        return _to_32(data, n)
    return _to_64(data, n) if n <= 64 else _beyond_64(data, n)


def murmurhash(data: bytes) -> int:
    """
    >>> murmurhash(b"") % 2**61
    105434511174508091
    """
    whole = len(data) // 8 * 8
    h = _SEED ^ len(data) * _MURMUR & _WORD
    for i in range(0, whole, 8):
        h = (h ^ _mixed(_word(data, i) * _MURMUR & _WORD) * _MURMUR) * _MURMUR & _WORD
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * _MURMUR & _WORD
    return _mixed(_mixed(h) * _MURMUR & _WORD)


def siphash(key: Pair, data: bytes) -> int:
    """
    >>> siphash((11, 2**63 - 5), b"") % 2**61
    1027792674843669462
    """
    whole = len(data) // 8 * 8
    last = int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56
    a, b, c, d = [key[i % 2] ^ start for i, start in enumerate(_SIP)]
    for m in [*[_word(data, i) for i in range(0, whole, 8)], last]:
        a, b, c, d = _sip_round(*_sip_round(a, b, c, d ^ m))
        a ^= m
    c ^= 0xFF
    for _ in range(4):
        a, b, c, d = _sip_round(a, b, c, d)
    return a ^ b ^ c ^ d


def _sip_round(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    a, c = a + b & _WORD, c + d & _WORD
    b, d = _turned(b, 51) ^ a, _turned(d, 48) ^ c
    c, a = c + b & _WORD, _turned(a, 32) + d & _WORD
    b, d = _turned(b, 47) ^ c, _turned(d, 43) ^ a
    return a, b, _turned(c, 32), d


def _word(data: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _turned(x: int, n: int) -> int:
    """The bits of a word turned right by `n`."""
    x &= _WORD
    return (x >> n | x << 64 - n) & _WORD


def _mixed(x: int) -> int:
    return x ^ x >> 47


def _of_two(u: int, v: int, factor: int) -> int:
    """The hash of two words."""
    a = _mixed(((u ^ v) & _WORD) * factor & _WORD)
    return _mixed(((v ^ a) & _WORD) * factor & _WORD) * factor & _WORD


def _to_16(data: bytes, n: int) -> int:
    factor = _K2 + 2 * n & _WORD
    if n >= 8:
        a, b = _word(data, 0) + _K2 & _WORD, _word(data, n - 8)
        return _of_two(_turned(b, 37) * factor + a, (_turned(a, 25) + b) * factor, factor)
    if n >= 4:
        return _of_two(n + (_word(data, 0, 4) << 3), _word(data, n - 4, 4), factor)
    if not n:
        return _K2
    y, z = data[0] + (data[n >> 1] << 8), n + (data[n - 1] << 2)
    return _mixed((y * _K2 ^ z * _K0) & _WORD) * _K2 & _WORD


def _to_32(data: bytes, n: int) -> int:
    factor = _K2 + 2 * n
    a, b = _word(data, 0) * _K1, _word(data, 8)
    c, d = _word(data, n - 8) * factor, _word(data, n - 16) * _K2
    return _of_two(_turned(a + b, 43) + _turned(c, 30) + d, a + _turned(b + _K2, 18) + c, factor)


def _to_64(data: bytes, n: int) -> int:
    factor = _K2 + 2 * n
    a, b = _word(data, 0) * _K2, _word(data, 8)
    c, d = _word(data, n - 8) * factor, _word(data, n - 16) * _K2
    y = _turned(a + b, 43) + _turned(c, 30) + d
    z = _of_two(y, a + _turned(b + _K2, 18) + c, factor)
    e, f = _word(data, 16) * factor, _word(data, 24)
    g, h = (y + _word(data, n - 32)) * factor, (z + _word(data, n - 24)) * factor
    return _of_two(_turned(e + f, 43) + _turned(g, 30) + h, e + _turned(f + a, 18) + g, factor)


def _beyond_64(data: bytes, n: int) -> int:
    y = 81 * _K1 + 113 & _WORD
    x, z = 81 * _K2 + _word(data, 0) & _WORD, _mixed(y * _K2 + 113 & _WORD) * _K2 & _WORD
    v: Pair = (0, 0)
    w: Pair = (0, 0)
    for at in range(0, (n - 1) // 64 * 64, 64):
        x, y, z, v, w = _block(data, at, _K1, 1, x, y, z, v, w)
    factor = _K1 + ((z & 0xFF) << 1)
    first = w[0] + ((n - 1) & 63)
    v = (v[0] + first, v[1])
    x, y, z, v, w = _block(data, n - 64, factor, 9, x, y, z, v, (first + v[0], w[1]))
    left = _of_two(v[0], w[0], factor) + _mixed(y) * _K0 + z
    return _of_two(left, _of_two(v[1], w[1], factor) + x, factor)


def _block(
    data: bytes, at: int, factor: int, weight: int, x: int, y: int, z: int, v: Pair, w: Pair
) -> tuple[int, int, int, Pair, Pair]:
    """What 64 bytes make of the state."""
    x = _turned(x + y + v[0] + _word(data, at + 8), 37) * factor
    y = _turned(y + v[1] + _word(data, at + 48), 42) * factor
    x = (x ^ w[1] * weight) & _WORD
    y = y + v[0] * weight + _word(data, at + 40) & _WORD
    z = _turned(z + w[0], 33) * factor & _WORD
    v = _weak(data, at, v[1] * factor, x + w[0])
    w = _weak(data, at + 32, z + w[1], y + _word(data, at + 16))
    return z, y, x, v, w


def _weak(data: bytes, at: int, a: int, b: int) -> Pair:
    """A quick hash of 32 bytes and two words."""
    first, second, third, fourth = [_word(data, at + i) for i in (0, 8, 16, 24)]
    a = a + first & _WORD
    b = _turned(b + a + fourth, 21)
    whole = a + second + third & _WORD
    return whole + fourth & _WORD, b + _turned(whole, 44) + a & _WORD
