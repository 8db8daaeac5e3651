"""onnxruntime engine: a plan is exported once; its variables are inputs and outputs of the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import onnxruntime
from google.protobuf.message import EncodeError
from onnx import ModelProto

from ..core.dtypes import COMPLEX, bfloat16, float32
from ..core.errors import InvalidArgumentError, UnimplementedError
from ..core.function import AbstractFunctional, Parameter
from ..core.operation import Operation, Tensor
from ..engines import messages
from ..engines.engine import EngineOptions, Run, as_arrays
from ..engines.host_engine import AbstractHostEngine
from ..engines.plan import Plan
from ..primitives.base.state import AbstractStateful
from .exporting import DEFAULT_OPSET, model_of

Array = np.ndarray[Any, Any]


class OnnxruntimeEngine(AbstractHostEngine):
    """Runs plans as models of onnxruntime, on its CPU provider."""

    def __init__(self, options: EngineOptions) -> None:
        for name, asked in (("check_numerics", options.check_numerics), ("mesh", options.mesh is not None)):
            if asked:
                raise NotImplementedError(f"Session: engine='onnxruntime' has no {name}; use engine='numpy' or 'xla'")
        self.values: dict[Operation, Array] = {}
        super().__init__(self.values)
        self.options = onnxruntime.SessionOptions()
        self.options.log_severity_level = 3

    def prepare(self, plan: Plan, to_host: bool = True) -> Run:
        """The function that runs `plan`; its arrays are on the host either way."""
        feeds = {f"feed/{i}": x for i, x in enumerate(plan.feeds)}
        fetches = {f"fetch/{i}": x for i, x in enumerate(plan.fetches)}
        actions = [step.op for step in plan.steps if not step.op.outputs or step.op.primitive.stateful]
        exported = model_of(fetches, actions, feeds, DEFAULT_OPSET, handles_of(plan))
        compute = self._loaded(exported.model) if exported.model.graph.output else None
        taken = set() if compute is None else {entry.name for entry in compute.get_inputs()}
        states, changed = exported.states, exported.changed
        outputs = [*fetches, *changed.values()]
        types = [x.dtype for x in plan.fetches]

        def run(given: Sequence[Any]) -> list[Any]:
            arrays = dict(zip(feeds, map(_border, given), strict=True))
            for handle, name in states.items():
                if handle not in self.values:
                    raise messages.uninitialized(handle)
                arrays[name] = _border(self.values[handle])
            if compute is None:
                return []
            try:
                found = compute.run(outputs, {name: a for name, a in arrays.items() if name in taken})
            except Exception as error:  # onnxruntime's errors have no base of their own
                raise InvalidArgumentError(f"onnxruntime: {error}") from error
            new = zip(changed, found[len(fetches) :], strict=True)
            assigned = {handle: value.astype(_state_dtype(handle), copy=False) for handle, value in new}
            results = [_result(x, dtype) for x, dtype in zip(found, types, strict=False)]
            self.values.update(assigned)  # One call: a signal comes before all changes, or after.
            return results

        return run if to_host else as_arrays(run)

    def _loaded(self, model: ModelProto) -> Any:
        """The model, ready to run."""
        try:
            return onnxruntime.InferenceSession(model.SerializeToString(), self.options)
        except EncodeError:
            size = f"{model.ByteSize() / 2**30:.1f} GiB"
            text = f"the constants make a model of {size}, and a model in memory can have 2 GiB at most"
            raise UnimplementedError(f"onnxruntime: {text}; feed them, or use another engine") from None
        except Exception as error:  # onnxruntime's errors have no base of their own
            raise UnimplementedError(f"onnxruntime does not take the model of these fetches: {error}") from error

    def compiled_memory(self, plan: Plan, feeds: Sequence[Any]) -> dict[str, int]:
        """Not here: onnxruntime does not say."""
        raise NotImplementedError("compiled_memory: onnxruntime does not say; use Session(engine='xla')")


def _border(array: Any) -> Array:
    """What is handed to onnxruntime: it knows no complex numbers, and takes no bfloat16 from NumPy."""
    x = np.asarray(array)
    if x.dtype in COMPLEX:
        return np.stack([x.real, x.imag], -1)
    return x.astype(float32) if x.dtype == bfloat16 else x


def _result(x: Array, dtype: Any) -> Any:
    if dtype in COMPLEX:
        x = np.ascontiguousarray(x).view(dtype)[..., 0]
    x = x.astype(dtype, copy=False)
    return x if x.ndim else x[()]


def _state_dtype(handle: Operation) -> Any:
    p: Any = handle.primitive
    return p.dtype


def handles_of(plan: Plan) -> dict[Tensor, Operation]:
    """For the parameters of a function that are handles, the operation of the variable that each stands for."""
    found: dict[Tensor, Operation] = {}
    for step in plan.steps:
        p, inputs = step.op.primitive, step.op.inputs
        if isinstance(p, AbstractStateful) and step.state is not None and not p.owns_state:
            found[inputs[0]] = plan.states[step.state]
        if isinstance(p, AbstractFunctional):
            given = zip(p.functions, p.arguments(inputs), step.bodies, strict=True)
            for f, args, body in given:
                inner = handles_of(body.plan)
                pairs: Iterable[Any] = zip(f.parameters, args, strict=True)
                found.update({x: inner[q] for q, x in pairs if q in inner})
    return {x: op for x, op in found.items() if isinstance(x.op.primitive, Parameter)}
