"""Where reads of a variable and assignments to it stand: with the variable, unless they are asked for."""

import pullback as pb


def test_an_assignment_under_a_device_sits_with_its_variable() -> None:
    with pb.Graph().as_default():
        with pb.device("/job:ps"):
            v = pb.Variable(0.0, name="v")
        with pb.device("/job:worker"):
            op = v.assign(1.0, read_value=False)
            assert pb.identity(v).device == "/job:worker"
    assert (op.device, op.colocation_groups()) == ("/job:ps", [b"loc:@v"])


def test_reads_that_nobody_asked_for_stand_on_the_device_of_the_variable() -> None:
    with pb.device("/device:CPU:1"):
        placed = pb.Variable([1.0])
    anywhere = pb.Variable([1.0])
    with pb.device("/device:CPU:0"):
        y, z, value, read = placed + 1.0, anywhere + 1.0, placed.value(), placed.read_value()
    assert [x.device for x in (y, y.op.inputs[0], value)] == ["/device:CPU:0", "/device:CPU:1", "/device:CPU:1"]
    assert [x.device for x in (z, z.op.inputs[0])] == ["/device:CPU:0", ""]
    assert read.device == "/device:CPU:0"
