"""Files and their contents in TensorFlow 1: `tf.io`."""

from ....graphdef.exporting import write_graph as write_graph
from ....layers.image.files import decode_and_crop_jpeg as decode_and_crop_jpeg
from ....layers.image.files import decode_bmp as decode_bmp
from ....layers.image.files import decode_gif as decode_gif
from ....layers.image.files import decode_image as decode_image
from ....layers.image.files import decode_jpeg as decode_jpeg
from ....layers.image.files import decode_png as decode_png
from ....layers.image.files import encode_jpeg as encode_jpeg
from ....layers.image.files import encode_png as encode_png
from ....layers.image.files import extract_jpeg_shape as extract_jpeg_shape
from ....layers.image.files import is_jpeg as is_jpeg
from ....records.features import FixedLenFeature as FixedLenFeature
from ....records.features import FixedLenSequenceFeature as FixedLenSequenceFeature
from ....records.features import SparseFeature as SparseFeature
from ....records.features import VarLenFeature as VarLenFeature
from ....records.parsing import parse_example as parse_example
from ....records.parsing import parse_single_example as parse_single_example
from ....records.parsing import parse_single_sequence_example as parse_single_sequence_example
from ..queues import FIFOQueue as FIFOQueue
from ..queues import PaddingFIFOQueue as PaddingFIFOQueue
from ..queues import PriorityQueue as PriorityQueue
from ..queues import QueueBase as QueueBase
from ..queues import RandomShuffleQueue as RandomShuffleQueue
from . import gfile as gfile
from .decoding import decode_base64 as decode_base64
from .decoding import decode_compressed as decode_compressed
from .decoding import decode_csv as decode_csv
from .decoding import decode_raw as decode_raw
from .decoding import encode_base64 as encode_base64
from .files import match_filenames_once as match_filenames_once
from .files import matching_files as matching_files
from .files import read_file as read_file
from .files import write_file as write_file
from .readers import FixedLengthRecordReader as FixedLengthRecordReader
from .readers import IdentityReader as IdentityReader
from .readers import ReaderBase as ReaderBase
from .readers import TextLineReader as TextLineReader
from .readers import TFRecordReader as TFRecordReader
from .readers import WholeFileReader as WholeFileReader
from .records import TFRecordCompressionType as TFRecordCompressionType
from .records import TFRecordOptions as TFRecordOptions
from .records import TFRecordWriter as TFRecordWriter
from .records import tf_record_iterator as tf_record_iterator
from .sparse_tensors import deserialize_many_sparse as deserialize_many_sparse
from .sparse_tensors import serialize_many_sparse as serialize_many_sparse
from .sparse_tensors import serialize_sparse as serialize_sparse
from .tensors import make_ndarray as make_ndarray
from .tensors import make_tensor_proto as make_tensor_proto
from .tensors import parse_tensor as parse_tensor
from .tensors import serialize_tensor as serialize_tensor

OF_TENSORFLOW = {
    *("FixedLenFeature", "FixedLenSequenceFeature", "SparseFeature", "VarLenFeature"),
    *("parse_example", "parse_single_example", "parse_single_sequence_example"),
    *("decode_base64", "decode_compressed", "decode_csv", "decode_raw", "encode_base64"),
    *("make_ndarray", "make_tensor_proto", "parse_tensor", "serialize_tensor"),
    *("deserialize_many_sparse", "serialize_many_sparse", "serialize_sparse"),
    *("matching_files", "read_file", "write_file"),
    *("FixedLengthRecordReader", "IdentityReader", "ReaderBase", "TFRecordReader", "TextLineReader", "WholeFileReader"),
}
"""The names that `tf` itself has too."""
OF_IMAGES = {
    *("decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image", "decode_jpeg", "decode_png", "encode_jpeg"),
    *("encode_png", "extract_jpeg_shape", "is_jpeg"),
}
"""The names that `tf.image` has too."""
