"""Quantization-aware training: `pb.quantization`, under TensorFlow's names."""

from .primitives.quantization.fake_quant import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from .primitives.quantization.fake_quant import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from .primitives.quantization.fake_quant import (
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
)
from .primitives.quantization.fake_quant import quantize_and_dequantize as quantize_and_dequantize
from .primitives.quantization.fake_quant import quantize_and_dequantize_v2 as quantize_and_dequantize_v2
