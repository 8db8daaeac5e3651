"""XLA and jax interface: compile scopes, and graphs handed over to jax."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..autodiff.compile_scopes import jit_scope
from ..core.graph import Tensor
from ..engines.random_stream import untouched_stream
from ..engines.session import Session

if TYPE_CHECKING:
    from jax.export import Exported

experimental = SimpleNamespace(jit_scope=jit_scope)
"""`pb.xla.experimental.jit_scope`."""


def to_jax(outputs: Any, inputs: Sequence[Tensor], session: Session | None = None) -> Callable[..., Any]:
    """A function of jax arrays, one for each of `inputs`, that returns `outputs`, nested as they are.

    It can be compiled, vectorized and differentiated by jax, forward and in reverse, again and again. Its derivatives
    are those of `gradients`: with `stop_gradient`, with rules of one's own, through loops of any length. Variables
    have the values that they have now in `session`, or in the default one. Inputs whose values decide shapes must not
    be traced by jax.

    Raises:
        ImportError: jax is not installed. InvalidArgumentError: the outputs assign to variables; in a call, an array
            of another dtype or shape. FailedPreconditionError: a variable is read, and there is no session.
            LookupError: jax asks for the derivative of an operation that has none.

    >>> import jax, pullback as pb
    >>> x = pb.placeholder(pb.float32, [None])
    >>> dx, = pb.gradients(pb.reduce_sum(pb.square(x)), x)
    >>> f = pb.xla.to_jax(dx, [x])
    >>> jax.jit(f)(jax.numpy.float32([1.0, 2.0]))
    Array([2., 4.], dtype=float32)
    >>> y = pb.reduce_sum(x * pb.stop_gradient(x))
    >>> jax.grad(pb.xla.to_jax(y, [x]))(jax.numpy.float32([1.0, 2.0]))
    Array([1., 2.], dtype=float32)
    """
    return _border("to_jax").jax_function(outputs, inputs, session)  # type: ignore[no-any-return]


def to_stablehlo(
    outputs: Any, inputs: Sequence[Tensor], session: Session | None = None, *, platform: str | None = None
) -> Exported:
    """`outputs` as a function of `inputs` in StableHLO: a `jax.export.Exported`.

    Its `serialize()` gives bytes that jax loads again (`jax.export.deserialize`), its `mlir_module()` the text.
    Variables become constants. Lengths of inputs that only a call knows are symbolic dimensions of jax, by their names;
    what is called then may have any batch, say. `platform` is what it is compiled for, "cpu", "cuda", "rocm" or "tpu",
    which need not be here: formulas are those for it. What jax takes by itself unless given.

    Raises:
        InvalidArgumentError: the rank of an input is not known, there is no such platform, or an operation cannot be
            compiled for lengths that only a call knows, such as slices of a batch or loops over it.
        UnimplementedError: an operation calls Python, or prints. Others as for `to_jax`.

    >>> import jax, pullback as pb
    >>> x = pb.placeholder(pb.float32, [2], name="x")
    >>> exported = pb.xla.to_stablehlo(pb.gradients(pb.tanh(x), x), [x])
    >>> "stablehlo.tanh" in exported.mlir_module()
    True
    >>> jax.export.deserialize(exported.serialize()).call(jax.numpy.zeros(2))
    [Array([1., 1.], dtype=float32)]
    >>> x = pb.placeholder(pb.float32, ["batch", 2])
    >>> pb.xla.to_stablehlo(pb.gradients(pb.nn.softmax(x) ** 2, x), [x]).in_avals
    (ShapedArray(float32[batch,2]),)
    """
    return _border("to_stablehlo").stablehlo(outputs, inputs, session, platform)  # type: ignore[no-any-return]


def _border(what: str) -> Any:
    """What speaks with jax; ImportError where that is not installed."""
    try:
        with untouched_stream():
            from ..engines.xla import export as xla_export
    except ModuleNotFoundError as error:
        raise ImportError(f"xla.{what} needs jax ({error}): pip install 'pullback[xla]'") from error
    return xla_export
