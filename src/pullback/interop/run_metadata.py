"""Protocol messages of traced runs: `RunMetadata`, as event files hold it."""

from __future__ import annotations

from ..engines.configuration import RunMetadata


def serialized_metadata(run_metadata: RunMetadata) -> bytes:
    """The bytes of the message of TensorFlow's that says the same."""
    from tensorboard.compat.proto.config_pb2 import RunMetadata as Message

    message = Message()
    stats = run_metadata.step_stats
    for device in () if stats is None else stats.dev_stats:
        there = message.step_stats.dev_stats.add(device=device.device)
        for node in device.node_stats:
            there.node_stats.add(
                node_name=node.node_name,
                all_start_micros=node.all_start_micros,
                op_start_rel_micros=node.op_start_rel_micros,
                op_end_rel_micros=node.op_end_rel_micros,
                all_end_rel_micros=node.all_end_rel_micros,
                timeline_label=node.timeline_label,
                thread_id=node.thread_id,
            )
    written: bytes = message.SerializeToString()
    return written
