"""A quantized network as a list of layers with random weights, from which tflite.py and onnx_file.py
write the same numbers for every engine.

Tensors are NHWC. Activations have fixed ranges, and weights a spread that keeps the results of every
layer inside them, so that int8 results take all values and few saturate.
"""

import zlib

import numpy as np

RELU_SCALE = 6 / 255        # of [0, 6]
LINEAR_SCALE = 16 / 255     # of [-8, 8]
SPREAD = 1.5                # standard deviation of a layer's results before the activation


class Value:
    """A tensor: shape, and value = scale (q - zero) with q of int8."""

    def __init__(self, name, shape, scale, zero, data=None):
        self.name, self.shape, self.scale, self.zero = name, tuple(shape), np.float32(scale), zero
        self.data = data    # of constants: int8, or int32 where scale is that of a bias


class Weights:
    """Filters and bias. Conv: [out, height, width, in]; depthwise: [1, height, width, out]."""

    def __init__(self, data, scales, axis, bias):
        self.data, self.scales, self.axis, self.bias = data, scales, axis, bias

    def real(self):
        shape = [1] * self.data.ndim
        shape[self.axis] = -1
        return self.data.astype(np.float32) * self.scales.reshape(shape)


class Layer:
    def __init__(self, kind, inputs, output, weights=None, **parameters):
        self.kind, self.inputs, self.output, self.weights = kind, inputs, output, weights
        self.parameters = parameters


class Network:
    batch = 1    # images that a run takes

    def __init__(self, name, side):
        self.name, self.layers = name, []
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.input = Value("input", (self.batch, side, side, 3), 2 / 255, 0)

    def _value(self, shape, activation):
        linear = activation in ("none", "hard_swish")
        scale, zero = (LINEAR_SCALE, 0) if linear else (RELU_SCALE, -128)
        return Value(f"t{len(self.layers)}", shape, scale, zero)

    def _add(self, kind, inputs, output, weights=None, **parameters):
        self.layers.append(Layer(kind, inputs, output, weights, **parameters))
        return output

    def _weights(self, shape, axis, depth, x):
        data = self.rng.integers(-127, 128, shape, dtype=np.int8)
        channels = shape[axis]
        scales = (SPREAD / (73 * np.sqrt(depth * 1.2))
                  * self.rng.uniform(0.7, 1.3, channels)).astype(np.float32)
        bias = self.rng.normal(0, 0.3, channels) / (np.float64(x.scale) * scales)
        return Weights(data, scales, axis, bias.round().astype(np.int32))

    @staticmethod
    def _side(side, kernel, stride, padding):
        return -(-side // stride) if padding == "same" else (side - kernel) // stride + 1

    def _window(self, x, kernel, stride, padding):
        return [self._side(x.shape[1 + i], kernel[i], stride, padding) for i in (0, 1)]

    def conv(self, x, outputs, kernel=1, stride=1, act="relu", padding="same"):
        kernel = (kernel, kernel) if isinstance(kernel, int) else kernel
        depth = kernel[0] * kernel[1] * x.shape[3]
        weights = self._weights((outputs, *kernel, x.shape[3]), 0, depth, x)
        out = self._value((x.shape[0], *self._window(x, kernel, stride, padding), outputs), act)
        return self._add("conv", [x], out, weights, stride=stride, padding=padding, act=act)

    def depthwise(self, x, kernel=3, stride=1, act="relu"):
        channels = x.shape[3]
        weights = self._weights((1, kernel, kernel, channels), 3, kernel * kernel, x)
        out = self._value((x.shape[0], *self._window(x, (kernel, kernel), stride, "same"), channels), act)
        return self._add("depthwise", [x], out, weights, stride=stride, padding="same", act=act)

    def dense(self, x, outputs, act="none"):
        depth = int(np.prod(x.shape[1:]))
        weights = self._weights((outputs, depth), 0, depth, x)
        return self._add("dense", [x], self._value((x.shape[0], outputs), act), weights, act=act)

    def pool(self, kind, x, kernel, stride, padding="same"):
        shape = (x.shape[0], *self._window(x, (kernel, kernel), stride, padding), x.shape[3])
        out = Value(f"t{len(self.layers)}", shape, x.scale, x.zero)
        return self._add(kind, [x], out, kernel=kernel, stride=stride, padding=padding)

    def mean(self, x):
        out = Value(f"t{len(self.layers)}", (x.shape[0], 1, 1, x.shape[3]), x.scale, x.zero)
        return self._add("mean", [x], out)

    def add(self, a, b, act="none"):
        return self._add("add", [a, b], self._value(a.shape, act), act=act)

    def mul(self, a, b):
        return self._add("mul", [a, b], Value(f"t{len(self.layers)}", a.shape, a.scale, a.zero))

    def concat(self, inputs):
        shape = (*inputs[0].shape[:3], sum(x.shape[3] for x in inputs))
        return self._add("concat", inputs, self._value(shape, "relu"))

    def hard_swish(self, x):
        return self._add("hard_swish", [x], self._value(x.shape, "none"))

    def constant(self, name, real, scale):
        data = np.array([round(real / scale)], dtype=np.int8)
        return Value(f"{name}{len(self.layers)}", (1,), scale, 0, data)

    def hard_sigmoid(self, x):
        """relu6(x + 3) / 6."""
        ramp = self.add(x, self.constant("three", 3, 3 / 64), "relu")
        out = Value(f"t{len(self.layers)}", x.shape, 1 / 255, -128)
        return self._add("mul", [ramp, self.constant("sixth", 1 / 6, 1 / 384)], out)

    def softmax(self, x):
        return self._add("softmax", [x], Value("output", x.shape, 1 / 256, -128))
