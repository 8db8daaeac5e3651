"""Input pipelines of TensorFlow: `tf.data`, on the host."""

from . import experimental as experimental
from .dataset import Dataset as Dataset
from .experimental import AUTOTUNE as AUTOTUNE
from .files import FixedLengthRecordDataset as FixedLengthRecordDataset
from .files import TextLineDataset as TextLineDataset
from .files import TFRecordDataset as TFRecordDataset
from .iterators import Iterator as Iterator
from .iterators import make_initializable_iterator as make_initializable_iterator
from .iterators import make_one_shot_iterator as make_one_shot_iterator
