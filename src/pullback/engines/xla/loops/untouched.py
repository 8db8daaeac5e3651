"""Uninitialised buffers: memory of a processor that nothing has written to, so that the system has not yet given it.

XLA has no operation for that, but calls what is registered with it, and one that leaves its result alone gives such a
buffer: a page of it takes memory when a step writes there. Of the frames with which XLA calls (the C interface of its
foreign functions) only that part is described here which tells XLA that the version is its own.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_int, c_size_t, c_void_p
from functools import cache
from typing import Any

import jax
from jax.sharding import SingleDeviceSharding

from ..interrupts import to_its_end
from ..platform import PROCESSOR

_NAME = "pullback_untouched"
_METADATA = 1
"""The type of the extension of a frame with which XLA asks for the version."""
_SYSTEMS = ("linux", "darwin")
"""Those that give memory page by page, as it is written to."""


class _Version(Structure):
    _fields_ = (("size", c_size_t), ("extension", c_void_p), ("major", c_int), ("minor", c_int))


class _Metadata(Structure):
    _fields_ = (("size", c_size_t), ("version", _Version))


class _Extension(Structure):
    _fields_ = (("size", c_size_t), ("type", c_int), ("next", c_void_p), ("metadata", POINTER(_Metadata)))


class _Interface(Structure):
    _fields_ = (("size", c_size_t), ("extension", c_void_p), ("version", _Version))


class _Frame(Structure):
    _fields_ = (("size", c_size_t), ("extension", POINTER(_Extension)), ("interface", POINTER(_Interface)))


def _leave_alone(frame: Any) -> None:
    """Write nothing; where XLA asks for a version, tell its own."""
    extension = frame.contents.extension
    if extension and extension.contents.type == _METADATA:
        asked, own = extension.contents.metadata.contents.version, frame.contents.interface.contents.version
        asked.major, asked.minor = own.major, own.minor


_HANDLER = ctypes.CFUNCTYPE(c_void_p, POINTER(_Frame))(_leave_alone)


@cache
def can_be_had() -> bool:
    """Whether there are such buffers: the system gives memory page by page, and XLA takes what is registered here."""
    if not sys.platform.startswith(_SYSTEMS):
        return False
    ffi: Any = jax.ffi
    try:
        ffi.register_ffi_target(_NAME, ffi.pycapsule(_HANDLER), platform=PROCESSOR)
    except Exception:  # A later version of jax may refuse it in another way.
        return False
    return True


def untouched(types: Sequence[jax.ShapeDtypeStruct], device: jax.Device | None) -> list[jax.Array]:
    """A buffer of each of the types on a processor; None: on the default one."""
    made: list[jax.Array] = []
    place: Any = {} if device is None else {"out_shardings": SingleDeviceSharding(device)}
    program = jax.jit(lambda: [jax.ffi.ffi_call(_NAME, each)() for each in types], **place)

    def make() -> None:
        with jax.enable_x64(True):
            made.extend(program())

    to_its_end(make)  # An interrupt would be lost in what XLA calls.
    return made
