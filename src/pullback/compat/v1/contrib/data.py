"""Input pipelines before they were `tf.data`, and what is for `Dataset.apply`: `tf.contrib.data`."""

from ..data import AUTOTUNE as AUTOTUNE
from ..data import Dataset as Dataset
from ..data import FixedLengthRecordDataset as FixedLengthRecordDataset
from ..data import Iterator as Iterator
from ..data import TextLineDataset as TextLineDataset
from ..data import TFRecordDataset as TFRecordDataset
from ..data.experimental import batch_and_drop_remainder as batch_and_drop_remainder
from ..data.experimental import map_and_batch as map_and_batch
from ..data.experimental import prefetch_to_device as prefetch_to_device
from ..data.experimental import shuffle_and_repeat as shuffle_and_repeat
from ..data.experimental import unbatch as unbatch
