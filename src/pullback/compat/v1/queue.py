"""Queues of TensorFlow 1 by the name of their module: `tf.queue`."""

from .queues import FIFOQueue as FIFOQueue
from .queues import PaddingFIFOQueue as PaddingFIFOQueue
from .queues import PriorityQueue as PriorityQueue
from .queues import QueueBase as QueueBase
from .queues import RandomShuffleQueue as RandomShuffleQueue
