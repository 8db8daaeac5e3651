"""GraphDef import of Fourier transforms."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.signal import fft
from ..nodes import Node, reader

_COMPLEX: dict[str, Any] = {
    "FFT": fft.fft,
    "FFT2D": fft.fft2d,
    "FFT3D": fft.fft3d,
    "IFFT": fft.ifft,
    "IFFT2D": fft.ifft2d,
    "IFFT3D": fft.ifft3d,
}
_REAL: dict[str, Any] = {
    "RFFT": fft.rfft,
    "RFFT2D": fft.rfft2d,
    "RFFT3D": fft.rfft3d,
    "IRFFT": fft.irfft,
    "IRFFT2D": fft.irfft2d,
    "IRFFT3D": fft.irfft3d,
}


@reader(*_COMPLEX)
def transform(node: Node, x: Tensor) -> Any:
    return _COMPLEX[node.op_type](x, name=node.exactly)


@reader(*_REAL)
def real_transform(node: Node, x: Tensor, lengths: Tensor) -> Any:
    return _REAL[node.op_type](x, lengths, name=node.exactly)
