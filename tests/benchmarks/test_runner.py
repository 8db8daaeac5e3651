"""The runner of the benchmarks, on what NumPy alone can do: no peer needs to be installed."""

import sys
from collections.abc import Callable

import pytest
from benchmarks.peers import PEERS
from benchmarks.process import PeerFailedError, PeerProcess
from benchmarks.report import markdown
from benchmarks.runner import DisagreementError, Result, compare_losses, run_workload
from benchmarks.settings import Settings
from benchmarks.workload import Step, Workload
from benchmarks.workloads import all_workloads


def test_every_peer_of_every_workload_is_known():
    for workload in all_workloads().values():
        assert set(workload.peers) <= set(PEERS)
        assert workload.reference in workload.peers


@pytest.mark.parametrize("model", ["chain", "wide"])
def test_cost_of_an_operation_is_measured_from_a_hundred_to_a_hundred_thousand(model):
    sizes = [workload.per for name, workload in all_workloads().items() if name.startswith(f"graph-{model}-")]
    assert sizes == [100, 1_000, 10_000, 100_000]


def test_runner_measures_two_peers_and_their_ratio():
    settings = Settings(peers=["pullback-numpy", "numpy"], rounds=3, batch=0.001)
    results = run_workload(all_workloads()["dispatch"], settings, tell=print)
    assert [result.peer for result in results] == ["pullback-numpy", "numpy"]
    assert all(result.problem is None and result.step > 0 for result in results)
    assert results[0].ratio == 1.0
    assert results[0].loss == pytest.approx(results[1].loss, rel=1e-5)


def test_peer_that_is_not_installed_is_a_result_that_says_so():
    settings = Settings(peers=["torch"], pythons={"torch": "/nothing/python"}, rounds=1)
    (result,) = run_workload(all_workloads()["dispatch"], settings, tell=print)
    assert result.problem == "cannot run /nothing/python"


def test_error_of_a_peer_names_it_and_the_log():
    process = PeerProcess(all_workloads()["dispatch"], PEERS["numpy"], sys.executable, Settings(peers=["numpy"]))
    try:
        with pytest.raises(PeerFailedError, match=r"'build' comes before the steps \(see .*dispatch-numpy\.log\)"):
            process.run_batch(0.1)
    finally:
        process.close()


def test_different_losses_are_refused():
    with pytest.raises(DisagreementError) as caught:
        compare_losses("mlp", {"jax": [2.0, 1.0, 0.5], "torch": [2.0, 1.0, 0.6]}, tolerance=0.1)
    assert str(caught.value) == (
        "mlp: torch computes another model than jax: losses [2.0, 1.0, 0.6] and [2.0, 1.0, 0.5]"
    )


def test_loss_that_is_not_a_number_is_refused():
    with pytest.raises(DisagreementError):
        compare_losses("mlp", {"jax": [2.0], "torch": [float("nan")]}, tolerance=0.1)


def test_report_shows_ratios_times_and_what_failed():
    workload = Workload("walk", "", data=_nothing, peers={"pullback": _stand, "jax": _stand, "torch": _stand})
    about = {"package": "jax", "version": "1.0", "python": "3.11.7", "installed": 2_000_000}
    results = [
        Result("walk", "pullback", {}, build=1.5, compile=0.02, step=3e-6, memory=2048, ratio=1.0),
        Result("walk", "jax", about, build=1e-3, compile=0.5, step=6e-6, memory=3e9, ratio=2.0),
        Result("walk", "torch", {}, problem="its process ended"),
    ]
    text = markdown({"walk": workload}, results, Settings(peers=[]))
    assert "|      | step of pullback | pullback | jax | torch |" in text
    assert "| walk | 3 us             | 1        | 2   | -     |" in text
    assert "| walk     | pullback | 1.5 s | 20 ms      | 3 us        | 2.05 kB | step |" in text
    assert "- walk, torch: its process ended" in text
    assert "| jax     | 1.0     | 3.11.7 | 2 MB" in text


def _nothing() -> None:
    return None


def _stand(data: None) -> Step:
    del data
    step: Callable[[], None] = _nothing
    return step
