"""Clusters of TensorFlow 1, as far as one process goes: what they are made of, and where variables would be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


class ClusterSpec:
    """The addresses of the tasks of jobs.

    >>> import pullback.compat.v1 as tf
    >>> cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:1"], "ps": ["c:1"]})
    >>> cluster.jobs, cluster.num_tasks("worker"), cluster.task_address("ps", 0)
    (['ps', 'worker'], 2, 'c:1')
    """

    def __init__(self, cluster: Any) -> None:
        given: Mapping[str, Any] = cluster.as_dict() if isinstance(cluster, ClusterSpec) else cluster
        self._jobs = {
            job: dict(tasks) if isinstance(tasks, Mapping) else dict(enumerate(tasks)) for job, tasks in given.items()
        }

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return sorted(self._jobs)

    def as_dict(self) -> dict[str, Any]:
        """The addresses by job: lists, or dictionaries where numbers are left out."""
        return {
            job: list(tasks.values()) if list(tasks) == list(range(len(tasks))) else dict(tasks)
            for job, tasks in self._jobs.items()
        }

    def num_tasks(self, job_name: str) -> int:
        """The number of the tasks of a job."""
        return len(self._tasks(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of the tasks of a job."""
        return sorted(self._tasks(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task.

        Raises:
            ValueError: there is no such job, or no such task.
        """
        tasks = self._tasks(job_name)
        if task_index not in tasks:
            raise ValueError(f"ClusterSpec: job '{job_name}' has no task {task_index}")
        return str(tasks[task_index])

    def job_tasks(self, job_name: str) -> list[str]:
        """The addresses of a job."""
        return [str(address) for address in self._tasks(job_name).values()]

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    __hash__ = None  # type: ignore[assignment]

    def _tasks(self, job_name: str) -> dict[int, Any]:
        if job_name not in self._jobs:
            raise ValueError(f"ClusterSpec: there is no job '{job_name}'; there are {', '.join(self.jobs)}")
        return self._jobs[job_name]


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[..., Any] | None = None,
) -> Callable[[Any], str]:
    """A function for `tf.device` that leaves all operations on the devices of this process.

    >>> import pullback.compat.v1 as tf
    >>> with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
    ...     tf.Variable(1.0).device
    ''
    """
    del ps_tasks, ps_device, worker_device, merge_devices, cluster, ps_ops, ps_strategy
    return lambda op: ""


class Server:
    """This process as the only task of a cluster: `tf.Session(server.target)` is a session of its own.

    Several processes run one program here, each the whole of it: see `pb.distributed` and `pullback launch`.

    Raises:
        NotImplementedError: the cluster has more tasks than one.

    >>> import pullback.compat.v1 as tf
    >>> server = tf.train.Server.create_local_server()
    >>> with tf.Session(server.target) as session:
    ...     session.run(tf.constant(1.0))
    np.float32(1.0)
    """

    target = ""
    """What a session is given to run here."""

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
    ) -> None:
        del job_name, task_index, protocol, config, start
        cluster = ClusterSpec(server_or_cluster_def)
        if sum(cluster.num_tasks(job) for job in cluster.jobs) > 1:
            raise NotImplementedError(
                f"train.Server: the cluster has several tasks, {cluster.as_dict()}, and a server is one process; run "
                "the program on all of them with `pullback launch`, or call pb.distributed.initialize() in each, and "
                "spread arrays by Session(mesh=...)"
            )
        self.server_def = cluster

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """A server of one task."""
        return Server({"local": ["localhost:0"]}, config=config, start=start)

    def start(self) -> None:
        """Nothing: it runs."""

    def join(self) -> None:
        """NotImplementedError: nobody else would ever ask it for anything."""
        raise NotImplementedError(
            "train.Server.join: a server that only waits for others is not needed; variables lie where the program "
            "runs, see pb.distributed"
        )
