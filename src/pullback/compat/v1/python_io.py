"""Record files of TensorFlow 1: `tf.python_io`."""

from .io.records import TFRecordCompressionType as TFRecordCompressionType
from .io.records import TFRecordOptions as TFRecordOptions
from .io.records import TFRecordWriter as TFRecordWriter
from .io.records import tf_record_iterator as tf_record_iterator
