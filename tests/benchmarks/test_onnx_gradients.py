"""The models that gradients are measured on: hands that wrote the right gradient, and checks that see a wrong one."""

from dataclasses import replace

import pytest
from benchmarks.onnx_models import attention, chain, gather, large, light, long, perceptron
from benchmarks.peers import PEERS
from benchmarks.report import markdown
from benchmarks.runner import Result
from benchmarks.settings import Settings
from benchmarks.worker import Worker
from benchmarks.workload import Made, Workload
from benchmarks.workloads import all_workloads
from benchmarks.workloads.onnx_gradients import by_hand, file_with_pullback, forward, with_pullback

HAND = {
    "perceptron": lambda: perceptron((5, 4, 3, 2), batch=3),
    "attention": lambda: attention(batch=2, length=3, width=4, heads=2),
    "chain": lambda: chain(40),
    "rows": lambda: gather(sparse=True, rows=9, width=3),
    "table": lambda: gather(sparse=False, rows=9, width=3),
}


@pytest.mark.parametrize("name", HAND)
def test_gradient_by_hand_is_that_of_pullback(name):
    case = HAND[name]()
    made, hand = with_pullback(case), by_hand(case)
    assert made.step() == pytest.approx(hand.step(), rel=1e-4)


@pytest.mark.parametrize("name", HAND)
def test_pullback_writes_few_more_nodes_than_a_hand(name):
    """A tenth, and four for the rows of softmax that a mask may hide: their derivative by hand is NaN."""
    case = HAND[name]()
    assert with_pullback(case).facts["nodes"] <= 1.1 * by_hand(case).facts["nodes"] + 4 * (name == "attention")


def test_forward_alone_has_the_nodes_of_the_model():
    made = forward(chain(40))
    assert made.step() is None
    assert made.facts["nodes"] == 40


def test_wrong_gradient_is_refused(monkeypatch):
    case = perceptron((5, 4, 2), batch=3)
    wrong = replace(case, model=case.hand)
    for x in wrong.model.graph.node:
        if x.op_type == "Where":  # the derivative of relu, turned around
            x.input[1], x.input[2] = x.input[2], x.input[1]
    monkeypatch.setattr("benchmarks.workloads.onnx_gradients.pullback_model", lambda _: wrong.model)
    with pytest.raises(ArithmeticError, match="the gradient's length is"):
        with_pullback(case)


def test_light_model_has_weights_of_which_the_gradient_is_not_zero():
    case = light("squeezenet")
    assert [node.op_type for node in case.model.graph.node].count("ConstantOfShape") == 0
    assert with_pullback(case).facts["nodes"] > forward(case).facts["nodes"]


def test_long_model_is_a_chain(tmp_path):
    made = file_with_pullback(long(tmp_path, length=40), most=1e9)
    assert made.facts["nodes"] == with_pullback(chain(40)).facts["nodes"]


def test_what_takes_more_memory_than_is_allowed_is_refused(tmp_path):
    with pytest.raises(ArithmeticError, match="MB became resident"):
        file_with_pullback(long(tmp_path, length=400), most=-1e12)


def test_large_model_keeps_its_weights_in_their_file(tmp_path):
    made = file_with_pullback(large(tmp_path, layers=2, width=100), most=1e9)
    assert made.facts["nodes"] > 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gradient.onnx", "large.onnx", "weights.bin"]


def test_every_onnx_workload_is_compared_with_onnx_ad():
    found = [workload for workload in all_workloads().values() if workload.onnx]
    assert len(found) == 17
    assert all({"pullback-onnx", "onnx-ad"} <= set(workload.peers) for workload in found)


def test_worker_reports_the_facts_and_seconds_of_what_was_made():
    workload = Workload("one", "", lambda: None, {"numpy": lambda _: Made(lambda: 1.0, 2.5, {"nodes": 3})})
    worker = Worker(workload, PEERS["numpy"], threads=1)
    assert worker.build() == {"seconds": 2.5, "facts": {"nodes": 3}}
    assert worker.steps(1)["loss"] == 1.0


def test_models_have_tables_of_their_own():
    peers = {"pullback-onnx": by_hand, "onnx-ad": by_hand, "onnx-forward": forward}
    workload = Workload("onnx-net", "", lambda: None, peers, reference="onnx-forward", onnx=True)
    results = [
        Result("onnx-net", "pullback-onnx", {}, build=0.25, step=2e-3, ratio=2.0, facts={"nodes": 1200, "bytes": 4e4}),
        Result("onnx-net", "onnx-ad", {}, problem="UnsupportedOperator: Det"),
        Result("onnx-net", "onnx-forward", {}, step=1e-3, ratio=1.0, facts={"nodes": 500, "bytes": 2e4}),
    ]
    text = markdown({"onnx-net": workload}, results, Settings(peers=[]))
    assert "| net | 500         | 1,200           | -              |" in text
    assert "| net | 1 ms  | 2        | -       |" in text
    assert "- onnx-net, onnx-ad: UnsupportedOperator: Det" in text
    assert "steady step" not in text
