"""Input pipelines of TensorFlow: `tf.data`, on the host."""

from . import experimental as experimental
from .cardinality import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from .cardinality import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from .dataset import Dataset as Dataset
from .experimental import AUTOTUNE as AUTOTUNE
from .experimental import Options as Options
from .files import FixedLengthRecordDataset as FixedLengthRecordDataset
from .files import TextLineDataset as TextLineDataset
from .files import TFRecordDataset as TFRecordDataset
from .iterators import Iterator as Iterator
from .iterators import make_initializable_iterator as make_initializable_iterator
from .iterators import make_one_shot_iterator as make_one_shot_iterator
from .outputs import get_output_classes as get_output_classes
from .outputs import get_output_shapes as get_output_shapes
from .outputs import get_output_types as get_output_types
