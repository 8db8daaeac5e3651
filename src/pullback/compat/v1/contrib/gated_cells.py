"""Recurrent cells of papers: variations of the long short-term memory and of gated units, in `tf.contrib.rnn`."""

from __future__ import annotations

import math
from typing import Any

from ....core.dtypes import float32
from ....core.graph import Tensor
from ....layers.rnn.cells import Activation, LSTMStateTuple, RNNCell
from ....layers.variables.initializers import Constant, Zeros
from ....layers.variables.scope import get_variable, variable_scope
from ....primitives.activations.rectifiers import relu
from ....primitives.activations.sigmoid import sigmoid
from ....primitives.casting.cast import cast
from ....primitives.elementwise.clip import clip_by_value
from ....primitives.elementwise.exponential import exp
from ....primitives.elementwise.hyperbolic import tanh
from ....primitives.identity.identity import stop_gradient
from ....primitives.indexing.where import where
from ....primitives.linalg.matmul import matmul
from ....primitives.random.stateful import random_uniform
from ....primitives.shape.stacking import concat, split
from .linear_cells import linear, normalized


class NASCell(RNNCell):
    """A cell that a search found: eight products of inputs and of the output before, put together pair by pair.

    Source: B. Zoph and Q. V. Le, "Neural architecture search with reinforcement learning", 2017.
    """

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: bool | str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self.units, self.projected, self.use_bias = num_units, num_proj, use_bias

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self.units, self.output_size)

    @property
    def output_size(self) -> int:
        return self.projected or self.units

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        width = 8 * self.units
        self.recurrent_kernel = get_variable("recurrent_kernel", [self.output_size, width])
        self.kernel = get_variable("kernel", [self._depth(input_shape), width])
        self.bias = get_variable("bias", [width], initializer=Zeros()) if self.use_bias else None
        if self.projected is not None:
            self.projection_weights = get_variable("projection_weights", [self.units, self.projected])

    def call(self, inputs: Tensor, state: Any) -> tuple[Any, Any]:
        """The output and the next state."""
        c, h = state
        of_output: Any = matmul(h, self.recurrent_kernel)
        if self.bias is not None:
            of_output = of_output + self.bias
        xs, hs = split(matmul(inputs, self.kernel), 8, 1), split(of_output, 8, 1)
        a = [x * h if i == 3 else x + h for i, (x, h) in enumerate(zip(xs, hs, strict=True))]
        first = tanh(tanh(sigmoid(a[0]) * relu(a[1])) + c)
        second = tanh(sigmoid(a[2]) + relu(a[3]))
        third, fourth = tanh(tanh(a[4]) * sigmoid(a[5])), sigmoid(tanh(a[6]) + sigmoid(a[7]))
        c = first * second
        h = tanh(c * tanh(third + fourth))
        if self.projected is not None:
            h = matmul(h, self.projection_weights)
        return h, LSTMStateTuple(c, h)


class IntersectionRNNCell(RNNCell):
    """Two gates, one through time and one through depth: the output is the input where that one is open.

    Source: J. Collins et al., "Capacity and trainability in recurrent neural networks", 2017.

    Raises:
        ValueError: the inputs are of another length, and `num_in_proj` is not given.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Any = None,
        forget_bias: float = 1.0,
        y_activation: Activation = relu,
        reuse: bool | str | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self.units, self.projected, self.initializer = num_units, num_in_proj, initializer
        self.forget_bias, self.activation = forget_bias, y_activation

    @property
    def state_size(self) -> int:
        return self.units

    @property
    def output_size(self) -> int:
        return self.units

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output and the next state."""
        if inputs.shape.size(-1) != self.units:
            if not self.projected:
                raise ValueError(
                    f"IntersectionRNNCell: inputs must be of length {self.units}, not {inputs.type}; "
                    f"give num_in_proj={self.units} in the first layer"
                )
            with variable_scope("in_projection"):
                inputs = linear([inputs], self.units, self.initializer)
        through_time, h, through_depth, y = split(linear([inputs, state], 4 * self.units, self.initializer), 4, 1)
        time, depth = sigmoid(through_time + self.forget_bias), sigmoid(through_depth + self.forget_bias)
        return depth * inputs + (1.0 - depth) * self.activation(y), time * state + (1.0 - time) * tanh(h)


class CoupledInputForgetGateLSTMCell(RNNCell):
    """A long short-term memory that takes in what it forgets: `c = f * c + (1 - f) * activation(j)`.

    Source: K. Greff et al., "LSTM: a search space odyssey", 2015.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation = tanh,
        reuse: bool | str | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        del initializer, num_unit_shards, num_proj_shards
        super().__init__(_reuse=reuse)
        self.units, self.projected, self.proj_clip = num_units, num_proj, proj_clip
        self.use_peepholes, self.forget_bias, self.activation = use_peepholes, forget_bias, activation
        self.state_is_tuple, self.layer_norm = state_is_tuple, layer_norm
        self.begin = (Constant(norm_gain), Constant(norm_shift))

    @property
    def state_size(self) -> Any:
        sizes = LSTMStateTuple(self.units, self.output_size)
        return sizes if self.state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self.projected or self.units

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output and the next state."""
        c, h = state if self.state_is_tuple else split(state, [self.units, self.output_size], 1)
        x = concat([inputs, h], 1)
        bias = get_variable("B", [3 * self.units], initializer=Zeros())
        y: Any = matmul(x, get_variable("W", [x.shape.size(-1), 3 * self.units]))
        parts = split(y if self.layer_norm else y + bias, 3, 1)
        j, f, o = [self._normalized(*pair) for pair in zip(parts, ("transform", "forget", "output"), strict=True)]
        if self.use_peepholes:
            f = f + get_variable("W_F_diag", [self.units]) * c
        kept = sigmoid(f + self.forget_bias)
        c = self._normalized(kept * c + (1.0 - kept) * self.activation(j), "state")
        if self.use_peepholes:
            o = o + get_variable("W_O_diag", [self.units]) * c
        h = sigmoid(o) * self.activation(c)
        if self.projected is not None:
            h = matmul(h, get_variable("W_P", [self.units, self.projected]))
        if self.projected is not None and self.proj_clip is not None:
            h = clip_by_value(h, -self.proj_clip, self.proj_clip)
        return h, LSTMStateTuple(c, h) if self.state_is_tuple else concat([c, h], 1)

    def _normalized(self, x: Any, name: str) -> Any:
        return normalized(x, name, self.begin) if self.layer_norm else x


class PhasedLSTMCell(RNNCell):
    """A long short-term memory whose state changes in a part of each period only; inputs are (time, features).

    Source: D. Neil et al., "Phased LSTM: accelerating recurrent network training", 2016.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: Any = 0.001,
        ratio_on: Any = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: bool | str | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self.units, self.use_peepholes, self.leak = num_units, use_peepholes, leak
        self.ratio_on, self.trainable_ratio_on = ratio_on, trainable_ratio_on
        self.periods = (math.log(period_init_min), math.log(period_init_max))

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self.units, self.units)

    @property
    def output_size(self) -> int:
        return self.units

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """The output and the next state."""
        (time, x), (c, h) = inputs, state
        with self.entered(scope, float32):
            after, shown = self._moved(x, c, h)
            open_ = self._openness(time)
        self._called = True
        c, h = open_ * after + (1.0 - open_) * c, open_ * shown + (1.0 - open_) * h
        return h, LSTMStateTuple(c, h)

    def _moved(self, x: Any, c: Any, h: Any) -> tuple[Any, Any]:
        """What is remembered, and what is shown, where the cell is open."""
        with variable_scope("mask_gates"):
            seen = [x, h, c] if self.use_peepholes else [x, h]
            i, f = split(sigmoid(linear(seen, 2 * self.units)), 2, 1)
        with variable_scope("new_input"):
            after = c * f + i * tanh(linear([x, h], self.units))
        with variable_scope("output_gate"):
            seen = [x, h, after] if self.use_peepholes else [x, h]
            return after, tanh(after) * sigmoid(linear(seen, self.units))

    def _openness(self, time: Any) -> Any:
        low, high = self.periods

        def periods(shape: Any, dtype: Any = float32, **_: Any) -> Tensor:
            return exp(random_uniform(shape, low, high, dtype))

        period: Any = get_variable("period", [self.units], initializer=periods)

        def phases(shape: Any, dtype: Any = float32, **_: Any) -> Any:
            return random_uniform(shape, dtype=dtype) * period.initialized_value()

        phase = get_variable("phase", [self.units], initializer=phases)
        ratio_on: Any = get_variable(
            "ratio_on", [self.units], initializer=Constant(self.ratio_on), trainable=self.trainable_ratio_on
        )
        shifted, long = time - cast(phase, time.dtype), cast(period, time.dtype)
        ratio = cast((stop_gradient(shifted % long - shifted) + shifted) / long, float32)
        rising = 2.0 * ratio / ratio_on
        falling = where(ratio < ratio_on, 2.0 - rising, self.leak * ratio)
        return where(ratio < 0.5 * ratio_on, rising, falling)


class SRUCell(RNNCell):
    """A simple recurrent unit: products of the inputs alone, gates, and a sum that is carried.

    Source: T. Lei and Y. Zhang, "Training RNNs as fast as CNNs", 2017.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | str | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, _reuse=reuse, **kwargs)
        self.units, self.activation = num_units, activation or tanh

    @property
    def state_size(self) -> int:
        return self.units

    @property
    def output_size(self) -> int:
        return self.units

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        self._kernel = get_variable("kernel", [self._depth(input_shape), 4 * self.units])
        self._bias = get_variable("bias", [2 * self.units], initializer=Zeros())

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output and the next state."""
        x, gates, through = split(matmul(inputs, self._kernel), [self.units, 2 * self.units, self.units], 1)
        f, r = split(sigmoid(gates + self._bias), 2, 1)
        c = f * state + (1.0 - f) * x
        return r * self.activation(c) + (1.0 - r) * through, c


class GLSTMCell(RNNCell):
    """A long short-term memory in groups: each sees its part of inputs and output, and makes its part of the gates.

    Source: O. Kuchaiev and B. Ginsburg, "Factorization tricks for LSTM networks", 2017.

    Raises:
        ValueError: a length is no multiple of `number_of_groups`.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Activation = tanh,
        reuse: bool | str | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self.units, self.initializer, self.projected, self.groups = num_units, initializer, num_proj, number_of_groups
        self.forget_bias, self.activation = forget_bias, activation
        self._check("num_units", num_units)
        self._check("num_proj", num_proj or 0)

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self.units, self.output_size)

    @property
    def output_size(self) -> int:
        return self.projected or self.units

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output and the next state."""
        c, h = state
        self._check("the length of the inputs", inputs.shape.size(-1))
        xs, hs, gates = split(inputs, self.groups, 1), split(h, self.groups, 1), []
        for k, pair in enumerate(zip(xs, hs, strict=True)):
            with variable_scope(f"group{k}"):
                part = linear(pair, 4 * self.units // self.groups, self.initializer, bias=False)
            gates.append(split(part, 4, 1))
        biases = [get_variable(f"bias_{gate}", [self.units], initializer=Zeros()) for gate in "ijfo"]
        i, j, f, o = [concat(parts, 1) + b for parts, b in zip(zip(*gates, strict=True), biases, strict=True)]
        c = sigmoid(f + self.forget_bias) * c + sigmoid(i) * tanh(j)
        h = sigmoid(o) * self.activation(c)
        if self.projected is not None:
            with variable_scope("projection"):
                h = linear([h], self.projected, self.initializer, bias=False)
        return h, LSTMStateTuple(c, h)

    def _check(self, what: str, length: int | None) -> None:
        if length is None or length % self.groups:
            raise ValueError(f"GLSTMCell: {what} must be a multiple of {self.groups} groups, not {length}")
