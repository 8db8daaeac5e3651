"""Training loops of TensorFlow 1 beside `pullback.train`: `tf.train`, monitored sessions, hooks, coordinators."""

from typing import Any

from .... import train as today
from ....records.messages import NAMES, messages
from .. import mixed_precision as experimental  # noqa: F401  (its name there)
from ..arguments import older
from ..io.files import match_filenames_once as match_filenames_once
from ..messages import message
from .checkpoints import checkpoints_iterator as checkpoints_iterator
from .checkpoints import export_meta_graph as export_meta_graph
from .checkpoints import generate_checkpoint_state_proto as generate_checkpoint_state_proto
from .checkpoints import get_checkpoint_mtimes as get_checkpoint_mtimes
from .checkpoints import init_from_checkpoint as init_from_checkpoint
from .checkpoints import remove_checkpoint as remove_checkpoint
from .checkpoints import summary_iterator as summary_iterator
from .checkpoints import update_checkpoint_state as update_checkpoint_state
from .cluster import ClusterSpec as ClusterSpec
from .cluster import Server as Server
from .cluster import replica_device_setter as replica_device_setter
from .coordinator import Coordinator as Coordinator
from .coordinator import LooperThread as LooperThread
from .hooks import FeedFnHook as FeedFnHook
from .hooks import FinalOpsHook as FinalOpsHook
from .hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
from .hooks import NanTensorHook as NanTensorHook
from .hooks import SecondOrStepTimer as SecondOrStepTimer
from .hooks import SessionRunArgs as SessionRunArgs
from .hooks import SessionRunContext as SessionRunContext
from .hooks import SessionRunHook as SessionRunHook
from .hooks import SessionRunValues as SessionRunValues
from .hooks import StopAtStepHook as StopAtStepHook
from .monitored_session import ChiefSessionCreator as ChiefSessionCreator
from .monitored_session import MonitoredSession as MonitoredSession
from .monitored_session import MonitoredTrainingSession as MonitoredTrainingSession
from .monitored_session import Scaffold as Scaffold
from .monitored_session import SingularMonitoredSession as SingularMonitoredSession
from .monitored_session import WorkerSessionCreator as WorkerSessionCreator
from .object_checkpoints import Checkpoint as Checkpoint
from .object_checkpoints import CheckpointManager as CheckpointManager
from .optimizer import Optimizer as Optimizer
from .producers import batch as batch
from .producers import batch_join as batch_join
from .producers import input_producer as input_producer
from .producers import limit_epochs as limit_epochs
from .producers import maybe_batch as maybe_batch
from .producers import maybe_batch_join as maybe_batch_join
from .producers import maybe_shuffle_batch as maybe_shuffle_batch
from .producers import maybe_shuffle_batch_join as maybe_shuffle_batch_join
from .producers import range_input_producer as range_input_producer
from .producers import shuffle_batch as shuffle_batch
from .producers import shuffle_batch_join as shuffle_batch_join
from .producers import slice_input_producer as slice_input_producer
from .producers import string_input_producer as string_input_producer
from .profiler_hook import ProfilerHook as ProfilerHook
from .queue_runner import QueueRunner as QueueRunner
from .queue_runner import add_queue_runner as add_queue_runner
from .queue_runner import start_queue_runners as start_queue_runners
from .recording_hooks import CheckpointSaverHook as CheckpointSaverHook
from .recording_hooks import CheckpointSaverListener as CheckpointSaverListener
from .recording_hooks import LoggingTensorHook as LoggingTensorHook
from .recording_hooks import StepCounterHook as StepCounterHook
from .recording_hooks import SummarySaverHook as SummarySaverHook
from .replicas import GlobalStepWaiterHook as GlobalStepWaiterHook
from .replicas import SyncReplicasOptimizer as SyncReplicasOptimizer
from .replicas import basic_train_loop as basic_train_loop
from .session_manager import SessionManager as SessionManager
from .supervisor import Supervisor as Supervisor
from .warm_start import VocabInfo as VocabInfo
from .warm_start import warm_start as warm_start

SessionCreator = ChiefSessionCreator
NewCheckpointReader = older(today.load_checkpoint, "filepattern:ckpt_dir_or_file")


def __getattr__(name: str) -> Any:
    if name in NAMES:
        return getattr(messages(), name)
    if name == "SaverDef":
        return message(name)
    return getattr(today, name)


def __dir__() -> list[str]:
    return sorted({*dir(today), *globals()})
