"""A process killed at any moment: all begin again from the last checkpoint, and compute what they would have."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from .several_processes import launched

pytest.importorskip("jax")
pytest.importorskip("tensorstore")

KILLS = 20
PROGRAM = """
import json, os, signal, threading
from pathlib import Path

folder, victim, at, delay = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
random = np.random.default_rng(0)
T, IDS = random.normal(size=(12, 16, 2)), random.integers(0, 64, size=(12, 16)).astype(np.int32)
own = slice(index * 16 // count, (index + 1) * 16 // count)

ids, t = pb.placeholder(pb.int32, [16]), pb.placeholder(pb.float64, ["batch", 2])
table = pb.Variable(pb.sharding(random.normal(size=(64, 4)), ["data", None]), name="table")
w = pb.Variable(pb.sharding(random.normal(size=(4, 2)), [None, None]), name="w")
x = pb.nn.dropout(pb.nn.embedding_lookup(table, pb.sharding(ids, ["data"])), 0.8, seed=1)
loss = pb.reduce_mean(pb.square(pb.tanh(x) @ w - pb.sharding(t, ["data", None])))
number = pb.train.get_or_create_global_step()
train = pb.train.AdamOptimizer(0.1).minimize(loss, global_step=number)
saver, session = pb.train.Saver(sharded=True, max_to_keep=2), pb.Session(mesh={"data": 2 * count})
latest = pb.train.latest_checkpoint(folder)
session.run(pb.global_variables_initializer()) if latest is None else saver.restore(session, latest)
step = session.make_callable([loss, train], [ids, t])
first = not (folder / "killed").exists()
for i in range(int(session.run(number)), 12):
    if i == at and first and index == victim:
        (folder / "killed").touch()
        threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL)).start()
    value = step(IDS[i][own], T[i][own])[0]
    if index == 0:
        with open(folder / "losses", "a") as file:
            file.write(json.dumps([i, float(value)]) + chr(10))
    if i % 3 == 2:
        saver.save(session, folder / "model", global_step=i)
"""


def losses_of(folder: Path, victim: int, at: int, delay: float) -> dict[int, float]:
    """The last loss of each step of a program in two processes, of which one is killed so many seconds after a step."""
    folder.mkdir()
    done = launched(2, [PROGRAM], folder, "--restarts", "1", arguments=[str(folder), str(victim), str(at), str(delay)])
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads(line) for line in (folder / "losses").read_text().splitlines())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[int, float]:
    return losses_of(tmp_path_factory.mktemp("undisturbed") / "run", victim=0, at=99, delay=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
def test_losses_after_a_kill_are_those_of_an_undisturbed_run(
    number: int, undisturbed: dict[int, float], tmp_path: Path
) -> None:
    random = Random(number)
    found = losses_of(tmp_path / "run", random.randrange(2), random.randrange(12), random.uniform(0.0, 0.3))
    assert found == undisturbed
    assert sorted(found) == list(range(12))
