"""Broadcast factors: products whose second factor YNNPACK broadcasts itself, which it computes wrongly.

XLA makes one fusion for YNNPACK of a product and of a sum that one of its factors is made of, with what lies between
them. Where the second factor is broadcast in there, as a number to a matrix, or one column to many, the result is
memory that nobody has written: x @ fill([n, n], sum(x)). What XLA makes of a plan, with functions written out, loops of
one step unrolled, lengths known, only the compiled program says; such a one is compiled anew, without YNNPACK.
"""

from __future__ import annotations

import re

_FUSION = "__ynn_fusion"
_PRODUCTS = "dot", "convolution"
_CALLED = re.compile(r"calls=%?([\w.\-]+)[^\n]*" + _FUSION)
_COMPUTATION = re.compile(r"^%?([\w.\-]+) \([^\n]*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_INSTRUCTION = re.compile(r"%([\w.\-]+) = \S+ ([\w\-]+)\(([^)]*)\)")
_NAME = re.compile(r"%([\w.\-]+)")


def has_broadcast_factor(program: str) -> bool:
    """Whether a fusion of YNNPACK's has such a product; `program` is the text of a compiled one."""
    if _FUSION not in program:
        return False
    fusions = {*_CALLED.findall(program)}
    return any(name in fusions and _is_wrong(body) for name, body in _COMPUTATION.findall(program))


def _is_wrong(fusion: str) -> bool:
    made = {name: (kind, _NAME.findall(given)) for name, kind, given in _INSTRUCTION.findall(fusion)}
    return any(kind in _PRODUCTS and _is_broadcast(given[1], made) for kind, given in made.values())


def _is_broadcast(name: str, made: dict[str, tuple[str, list[str]]]) -> bool:
    """Whether an instruction is a broadcast, or made of nothing but one."""
    kind, given = made[name]
    while kind != "broadcast" and len(given) == 1:
        kind, given = made[given[0]]
    return kind == "broadcast"
