"""Loop history: the values of each step of a loop, as one tensor."""

from __future__ import annotations

from ..core.graph import Tensor, site_of
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.identity.identity import identity
from .loop import Loop


def history(result: Tensor, name: str | None = None) -> Tensor:
    """What a loop variable was at the beginning of each step, stacked: [steps, ...].

    `result` is what the variable is in the end, as a loop returned it: `while_loop`, or `gradients` by the initial
    value of a loop variable, which is the result of a loop too. That one's rows are the derivatives by what the
    variable was at the *end* of each step. Nothing is computed twice, and nothing is kept that nobody reads.

    XLA needs to know a bound on the steps (`maximum_iterations`), and has zeros behind the rows of the steps that were
    made. What is fetched is cut, and so is what elementwise operations make of the rows; sums do not see the zeros.

    Shapes: `result` [...]. Dtypes: any.

    Raises:
        ValueError: `result` is not what a loop returned for a variable that changes.
        InvalidArgumentError: when XLA runs it: there is no bound; a mean or an extreme over the steps, or their number,
            is asked for.

    >>> import pullback as pb
    >>> x = pb.constant(1.0)
    >>> y = pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y * 2.0), (0, x), maximum_iterations=3)[1]
    >>> dx, = pb.gradients(y, x)
    >>> pb.Session().run([pb.history(y), pb.history(dx)])
    [array([1., 2., 8.], dtype=float32), array([256.,  32.,   1.], dtype=float32)]
    """
    y = convert_to_tensor(result)
    loop = y.op.primitive
    if not isinstance(loop, Loop) or y.value_index not in loop.places.final:
        raise ValueError(
            f"history: {y} (made at {site_of(y)}) is not what a loop returned for a variable that changes. Where it is "
            "a derivative of which a loop computes only a part, differentiate by pb.identity(x), and start the loop "
            "from that."
        )
    rows = y.op.outputs[loop.places.history[y.value_index - 1]]
    return rows if name is None else identity(rows, name=name)
