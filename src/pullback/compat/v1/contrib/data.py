"""Input pipelines before they were `tf.data`, and what is for `Dataset.apply`: `tf.contrib.data`."""

from ..data import AUTOTUNE as AUTOTUNE
from ..data import Dataset as Dataset
from ..data import FixedLengthRecordDataset as FixedLengthRecordDataset
from ..data import Iterator as Iterator
from ..data import TextLineDataset as TextLineDataset
from ..data import TFRecordDataset as TFRecordDataset
from ..data.experimental import Counter as Counter
from ..data.experimental import CsvDataset as CsvDataset
from ..data.experimental import batch_and_drop_remainder as batch_and_drop_remainder
from ..data.experimental import bucket_by_sequence_length as bucket_by_sequence_length
from ..data.experimental import choose_from_datasets as choose_from_datasets
from ..data.experimental import enumerate_dataset as enumerate_dataset
from ..data.experimental import get_single_element as get_single_element
from ..data.experimental import group_by_window as group_by_window
from ..data.experimental import make_batched_features_dataset as make_batched_features_dataset
from ..data.experimental import make_csv_dataset as make_csv_dataset
from ..data.experimental import map_and_batch as map_and_batch
from ..data.experimental import padded_batch_and_drop_remainder as padded_batch_and_drop_remainder
from ..data.experimental import parallel_interleave as parallel_interleave
from ..data.experimental import prefetch_to_device as prefetch_to_device
from ..data.experimental import sample_from_datasets as sample_from_datasets
from ..data.experimental import scan as scan
from ..data.experimental import shuffle_and_repeat as shuffle_and_repeat
from ..data.experimental import unbatch as unbatch
from ..data.experimental import unique as unique
