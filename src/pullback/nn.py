"""Neural network operations, under TensorFlow's names of `tf.nn`: those of `nn.pyi`, imported when first used."""

from .names import on_demand as _on_demand

__all__, __getattr__, __dir__ = _on_demand(__name__)
