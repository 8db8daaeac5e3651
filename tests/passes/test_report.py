"""What a report says: counts, estimates, lines of users, and a page of its own."""

from __future__ import annotations

import pullback as pb
from pullback.primitives.linalg.matmul import MatMul


def _made() -> object:
    x = pb.placeholder(pb.float32, ["batch", 4], name="x")
    y = pb.log(1.0 + pb.exp(x), name="y")
    return pb.optimize([y + pb.log(1.0 + pb.exp(x), name="z"), pb.transpose(pb.transpose(x))]).report


def test_a_report_says_what_it_saved_and_which_rules_did() -> None:
    lines = str(_made()).splitlines()
    assert lines[0] == "2 operations, were 9; 8 flops, were 28; 80 bytes moved, were 312"
    assert lines[1].startswith("  3 equal operations  test_report.py:")
    assert [line.split("  ")[1] for line in lines[2:]] == ["1 softplus by hand", "1 transposes"]
    assert all(len(line) <= 100 for line in lines)


def test_a_rewrite_says_which_operations_stand_for_which_and_whose_line_they_are() -> None:
    rewrite = next(r for r in _made().rewrites if r.rule == "softplus by hand")  # type: ignore[attr-defined]
    assert str(rewrite).startswith("softplus by hand: y, add, Exp -> y/Softplus (test_report.py:")
    assert "pb.log(1.0 + pb.exp(x)" in rewrite.place


def test_a_long_report_fits_a_screen() -> None:
    from pullback.passes.report import Report
    from pullback.passes.simplify import Rewrite

    op = pb.tanh(pb.placeholder(pb.float32, [3])).op
    text = str(Report.of([op], [op], [Rewrite(f"rule {i}", (op,), ()) for i in range(50)]))
    assert len(text.splitlines()) == 22
    assert text.endswith("  and 30 more rules")


def test_large_numbers_are_short() -> None:
    x = pb.placeholder(pb.float32, [1000, 1000])
    assert str(pb.optimize(pb.matmul(x * 1.0, x)).report).startswith(
        "1 operation, was 2; 2G flops, were 2G; 12M bytes moved, were 20M"
    )


def test_a_page_links_both_graphs() -> None:
    html = _made().html.html  # type: ignore[attr-defined]
    assert "<h2>Before</h2>" in html
    for part in ("softplus by hand", "<a href='#before-", "<a href='#after-", 'id="after-'):
        assert part in html
    assert html.count("<li id=") == 11 + 2


def test_what_has_a_shape_that_nobody_knows_costs_nothing() -> None:
    x = pb.placeholder(pb.float32)
    assert str(pb.optimize(pb.exp(x) + pb.exp(x)).report).startswith("2 operations, were 3; 0 flops, were 0")


def test_a_length_of_a_shape_which_nobody_knows_is_taken_to_be_one() -> None:
    x, w = pb.placeholder(pb.float32, [2, 4]), pb.placeholder(pb.float32)
    y = MatMul(transpose_b=True)(x, w)
    assert str(pb.optimize(y + y).report) == "2 operations, were 2; 2 flops, were 2; 24 bytes moved, were 24"


def test_costs_are_estimated_where_a_length_that_is_taken_for_one_is_known_otherwise() -> None:
    dy, filter = pb.placeholder(pb.float32, [1, "rows", 2, "channels"]), pb.placeholder(pb.float32, [3, 3, 2, 2])
    dy = pb.tanh(dy)
    dx = pb.nn.depthwise_conv2d_native_backprop_input([1, 5, 4, 2], filter, dy, [1, 2, 2, 1], "SAME")
    report = pb.optimize([dx]).report
    assert (report.before.operations, report.after.operations) == (2, 2)
    assert report.before.flops >= 2 * dx.shape.num_elements()
