"""TensorFlow's data files: records of bytes, and the examples in them."""
