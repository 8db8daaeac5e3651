"""GraphDef import of Fourier transforms."""

from __future__ import annotations

from ...primitives.signal import fft
from ..nodes import calling, reader

reader("FFT")(calling(fft.fft, 1))
reader("FFT2D")(calling(fft.fft2d, 1))
reader("FFT3D")(calling(fft.fft3d, 1))
reader("IFFT")(calling(fft.ifft, 1))
reader("IFFT2D")(calling(fft.ifft2d, 1))
reader("IFFT3D")(calling(fft.ifft3d, 1))
reader("RFFT")(calling(fft.rfft, 2))
reader("RFFT2D")(calling(fft.rfft2d, 2))
reader("RFFT3D")(calling(fft.rfft3d, 2))
reader("IRFFT")(calling(fft.irfft, 2))
reader("IRFFT2D")(calling(fft.irfft2d, 2))
reader("IRFFT3D")(calling(fft.irfft3d, 2))
