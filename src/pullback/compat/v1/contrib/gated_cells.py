"""Recurrent cells of papers: variations of the long short-term memory and of gated units, in `tf.contrib.rnn`."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any

import pullback as pb

from ....layers.rnn.activations import Activation, activation_of
from ....layers.rnn.cells import LSTMStateTuple, RNNCell
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
        self.recurrent_kernel = pb.get_variable("recurrent_kernel", [self.output_size, width])
        self.kernel = pb.get_variable("kernel", [self._depth(input_shape), width])
        self.bias = pb.get_variable("bias", [width], initializer=pb.zeros_initializer()) if self.use_bias else None
        if self.projected is not None:
            self.projection_weights = pb.get_variable("projection_weights", [self.units, self.projected])

    def call(self, inputs: pb.Tensor, state: Any) -> tuple[Any, Any]:
        """The output and the next state."""
        c, h = state
        of_output: Any = pb.matmul(h, self.recurrent_kernel)
        if self.bias is not None:
            of_output = of_output + self.bias
        xs, hs = pb.split(pb.matmul(inputs, self.kernel), 8, 1), pb.split(of_output, 8, 1)
        a = [x * h if i == 3 else x + h for i, (x, h) in enumerate(zip(xs, hs, strict=True))]
        first = pb.tanh(pb.tanh(pb.sigmoid(a[0]) * pb.nn.relu(a[1])) + c)
        second = pb.tanh(pb.sigmoid(a[2]) + pb.nn.relu(a[3]))
        third, fourth = pb.tanh(pb.tanh(a[4]) * pb.sigmoid(a[5])), pb.sigmoid(pb.tanh(a[6]) + pb.sigmoid(a[7]))
        c = first * second
        h = pb.tanh(c * pb.tanh(third + fourth))
        if self.projected is not None:
            h = pb.matmul(h, self.projection_weights)
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
        y_activation: Activation = pb.nn.relu,
        reuse: bool | str | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self.units, self.projected, self.initializer = num_units, num_in_proj, initializer
        self.forget_bias, self.activation = forget_bias, y_activation

    state_size = output_size = property(attrgetter("units"))

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output and the next state."""
        if inputs.shape.size(-1) != self.units:
            if not self.projected:
                raise ValueError(
                    f"IntersectionRNNCell: inputs must be of length {self.units}, not {inputs.type}; "
                    f"give num_in_proj={self.units} in the first layer"
                )
            with pb.variable_scope("in_projection"):
                inputs = linear([inputs], self.units, self.initializer)
        through_time, h, through_depth, y = pb.split(linear([inputs, state], 4 * self.units, self.initializer), 4, 1)
        time, depth = pb.sigmoid(through_time + self.forget_bias), pb.sigmoid(through_depth + self.forget_bias)
        return depth * inputs + (1.0 - depth) * self.activation(y), time * state + (1.0 - time) * pb.tanh(h)


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
        activation: Activation = pb.tanh,
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
        self.begin = (pb.constant_initializer(norm_gain), pb.constant_initializer(norm_shift))

    @property
    def state_size(self) -> Any:
        sizes = LSTMStateTuple(self.units, self.output_size)
        return sizes if self.state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self.projected or self.units

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output and the next state."""
        c, h = state if self.state_is_tuple else pb.split(state, [self.units, self.output_size], 1)
        x = pb.concat([inputs, h], 1)
        bias = pb.get_variable("B", [3 * self.units], initializer=pb.zeros_initializer())
        y: Any = pb.matmul(x, pb.get_variable("W", [x.shape.size(-1), 3 * self.units]))
        parts = pb.split(y if self.layer_norm else y + bias, 3, 1)
        j, f, o = [self._normalized(*pair) for pair in zip(parts, ("transform", "forget", "output"), strict=True)]
        if self.use_peepholes:
            f = f + pb.get_variable("W_F_diag", [self.units]) * c
        kept = pb.sigmoid(f + self.forget_bias)
        c = self._normalized(kept * c + (1.0 - kept) * self.activation(j), "state")
        if self.use_peepholes:
            o = o + pb.get_variable("W_O_diag", [self.units]) * c
        h = pb.sigmoid(o) * self.activation(c)
        if self.projected is not None:
            h = pb.matmul(h, pb.get_variable("W_P", [self.units, self.projected]))
        if self.projected is not None and self.proj_clip is not None:
            h = pb.clip_by_value(h, -self.proj_clip, self.proj_clip)
        return h, LSTMStateTuple(c, h) if self.state_is_tuple else pb.concat([c, h], 1)

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

    output_size = property(attrgetter("units"))

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """The output and the next state."""
        (time, x), (c, h) = inputs, state
        with self.entered(scope, pb.float32):
            after, shown = self._moved(x, c, h)
            open_ = self._openness(time)
        self._called = True
        c, h = open_ * after + (1.0 - open_) * c, open_ * shown + (1.0 - open_) * h
        return h, LSTMStateTuple(c, h)

    def _moved(self, x: Any, c: Any, h: Any) -> tuple[Any, Any]:
        """What is remembered, and what is shown, where the cell is open."""
        with pb.variable_scope("mask_gates"):
            seen = [x, h, c] if self.use_peepholes else [x, h]
            i, f = pb.split(pb.sigmoid(linear(seen, 2 * self.units)), 2, 1)
        with pb.variable_scope("new_input"):
            after = c * f + i * pb.tanh(linear([x, h], self.units))
        with pb.variable_scope("output_gate"):
            seen = [x, h, after] if self.use_peepholes else [x, h]
            return after, pb.tanh(after) * pb.sigmoid(linear(seen, self.units))

    def _openness(self, time: Any) -> Any:
        low, high = self.periods

        def periods(shape: Any, dtype: Any = pb.float32, **_: Any) -> pb.Tensor:
            return pb.exp(pb.random_uniform(shape, low, high, dtype))

        period: Any = pb.get_variable("period", [self.units], initializer=periods)

        def phases(shape: Any, dtype: Any = pb.float32, **_: Any) -> Any:
            return pb.random_uniform(shape, dtype=dtype) * period.initialized_value()

        phase = pb.get_variable("phase", [self.units], initializer=phases)
        ratio_on: Any = pb.get_variable(
            "ratio_on",
            [self.units],
            initializer=pb.constant_initializer(self.ratio_on),
            trainable=self.trainable_ratio_on,
        )
        shifted, long = time - pb.cast(phase, time.dtype), pb.cast(period, time.dtype)
        ratio = pb.cast((pb.stop_gradient(shifted % long - shifted) + shifted) / long, pb.float32)
        rising = 2.0 * ratio / ratio_on
        falling = pb.where(ratio < ratio_on, 2.0 - rising, self.leak * ratio)
        return pb.where(ratio < 0.5 * ratio_on, rising, falling)


class SRUCell(RNNCell):
    """A simple recurrent unit: products of the inputs alone, gates, and a sum that is carried.

    Source: T. Lei and Y. Zhang, "Training RNNs as fast as CNNs", 2017.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | str | None = None,
        reuse: bool | str | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, _reuse=reuse, **kwargs)
        self.units, self.activation = num_units, activation_of(activation)

    state_size = output_size = property(attrgetter("units"))

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        self._kernel = pb.get_variable("kernel", [self._depth(input_shape), 4 * self.units])
        self._bias = pb.get_variable("bias", [2 * self.units], initializer=pb.zeros_initializer())

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output and the next state."""
        x, gates, through = pb.split(pb.matmul(inputs, self._kernel), [self.units, 2 * self.units, self.units], 1)
        f, r = pb.split(pb.sigmoid(gates + self._bias), 2, 1)
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
        activation: Activation = pb.tanh,
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
        xs, hs, gates = pb.split(inputs, self.groups, 1), pb.split(h, self.groups, 1), []
        for k, pair in enumerate(zip(xs, hs, strict=True)):
            with pb.variable_scope(f"group{k}"):
                part = linear(pair, 4 * self.units // self.groups, self.initializer, bias=False)
            gates.append(pb.split(part, 4, 1))
        biases = [pb.get_variable(f"bias_{gate}", [self.units], initializer=pb.zeros_initializer()) for gate in "ijfo"]
        i, j, f, o = [pb.concat(parts, 1) + b for parts, b in zip(zip(*gates, strict=True), biases, strict=True)]
        c = pb.sigmoid(f + self.forget_bias) * c + pb.sigmoid(i) * pb.tanh(j)
        h = pb.sigmoid(o) * self.activation(c)
        if self.projected is not None:
            with pb.variable_scope("projection"):
                h = linear([h], self.projected, self.initializer, bias=False)
        return h, LSTMStateTuple(c, h)

    def _check(self, what: str, length: int | None) -> None:
        if length is None or length % self.groups:
            raise ValueError(f"GLSTMCell: {what} must be a multiple of {self.groups} groups, not {length}")
