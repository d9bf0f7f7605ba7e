"""The networks of the evaluation."""

import numpy
import torch
from torch import nn


def _conv(inputs, outputs, kernel, stride=1, groups=1, activation=nn.ReLU):
    parts = [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*parts, *([activation()] if activation else []))


class _Residual(nn.Module):
    def __init__(self, inputs, outputs, stride, activation):
        super().__init__()
        self.first = _conv(inputs, outputs, 3, stride, activation=activation)
        self.second = _conv(outputs, outputs, 3, activation=None)
        same = stride == 1 and inputs == outputs
        self.side = nn.Identity() if same else _conv(inputs, outputs, 1, stride, activation=None)
        self.end = activation()

    def forward(self, x):
        return self.end(self.second(self.first(x)) + self.side(x))


class ResNet(nn.Sequential):
    """It has 6 n + 2 layers, as for CIFAR-10 (He et al., 2016)."""

    def __init__(self, n=1, width=16, activation=nn.ReLU):
        widths = [width, 2 * width, 4 * width]
        blocks = []
        before = width
        for stage, channels in enumerate(widths):
            for i in range(n):
                blocks.append(_Residual(before, channels, 2 if stage > 0 and i == 0 else 1, activation))
                before = channels
        super().__init__(
            _conv(1, width, 3, activation=activation),
            *blocks,
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(before, 10),
        )


class _Inverted(nn.Module):
    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        inner = inputs * expansion
        self.layers = nn.Sequential(
            _conv(inputs, inner, 1, activation=nn.ReLU6),
            _conv(inner, inner, 3, stride, inner, nn.ReLU6),
            _conv(inner, outputs, 1, activation=None),
        )
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


class MobileNet(nn.Sequential):
    """Inverted residuals as of MobileNetV2, for images of 28 x 28."""

    def __init__(self):
        super().__init__(
            _conv(1, 16, 3, 2, activation=nn.ReLU6),
            _Inverted(16, 16, 1, 4),
            _Inverted(16, 24, 2, 4),
            _Inverted(24, 24, 1, 4),
            _Inverted(24, 40, 2, 4),
            _Inverted(40, 40, 1, 4),
            _conv(40, 128, 1, activation=nn.ReLU6),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(128, 10),
        )


class DsCnn(nn.Sequential):
    """Depthwise convolutions and pointwise ones in turn, as in DS-CNN (Zhang et al., 2017)."""

    def __init__(self, width=64, blocks=4):
        pairs = [(_conv(width, width, 3, groups=width), _conv(width, width, 1)) for _ in range(blocks)]
        super().__init__(
            _conv(1, width, 3, 2),
            *(layer for pair in pairs for layer in pair),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(width, 10),
        )


class Lstm(nn.Module):
    """An LSTM over the rows of an image, and a layer behind its last state."""

    def __init__(self, width=64):
        super().__init__()
        self.cell = nn.LSTM(28, width, batch_first=True)
        self.last = nn.Linear(width, 10)

    def forward(self, x):
        states, _ = self.cell(x.squeeze(1))
        return self.last(states[:, -1])


class _Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.width = heads, width
        self.query, self.key, self.value, self.last = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        places = x.shape[1]

        def split(y):
            return y.reshape(-1, places, self.heads, self.width // self.heads).permute(0, 2, 1, 3)

        query = split(self.query(x)) * (self.width // self.heads) ** -0.5
        shares = torch.matmul(query, split(self.key(x)).transpose(2, 3)).softmax(3)
        joined = torch.matmul(shares, split(self.value(x))).permute(0, 2, 1, 3)
        return self.last(joined.reshape(-1, places, self.width))


class _Encoder(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = _Attention(width, heads)
        self.layers = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.layers(self.second(x))


class Transformer(nn.Module):
    """Two encoders over the letters of a word, and a layer behind the mean of its places (Vaswani et al., 2017)."""

    def __init__(self, places=16, letters=26, width=64, heads=4):
        super().__init__()
        self.letters = nn.Linear(letters, width)
        self.places = nn.Parameter(0.1 * torch.randn(places, width))
        self.encoders = nn.Sequential(*(_Encoder(width, heads) for _ in range(2)))
        self.end = nn.LayerNorm(width)
        self.last = nn.Linear(width, 10)

    def forward(self, x):
        return self.last(self.end(self.encoders(self.letters(x) + self.places)).mean(1))


NETWORKS = {
    "resnet8": ResNet,
    "resnet8_relu6": lambda: ResNet(activation=nn.ReLU6),
    "resnet14": lambda: ResNet(2),
    "resnet20": lambda: ResNet(3),
    "mobilenet": MobileNet,
    "dscnn": DsCnn,
    "lstm": Lstm,
    "transformer": Transformer,
}
BY_ADAM = ("transformer",)  # the others are trained by SGD


def products(module):
    """The layers with weights, in the order in which they run."""
    return [m for m in module.modules() if isinstance(m, (nn.Conv2d, nn.Linear))]


def save_folded(module, path):
    """Weights and biases one after the other, with batch normalization in them. Those of a network without batch
    normalization have their names."""
    norms = [m for m in module.modules() if isinstance(m, nn.BatchNorm2d)]
    if not norms:
        numpy.savez(path, **{name: array.numpy() for name, array in module.state_dict().items()})
        return
    arrays = []
    for layer in products(module):
        weight, bias = layer.weight, layer.bias
        if isinstance(layer, nn.Conv2d):  # a normalization follows each of them
            norm = norms.pop(0)
            factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
            weight = weight * factor.reshape(-1, 1, 1, 1)
            bias = norm.bias - norm.running_mean * factor
        arrays += [weight.detach().numpy(), bias.detach().numpy()]
    numpy.savez(path, *arrays)


def load_folded(name, path):
    """The network with the weights that save_folded() wrote, without batch normalization."""
    module = NETWORKS[name]()
    file = numpy.load(path)
    if "arr_0" not in file:
        module.load_state_dict({key: torch.from_numpy(file[key]) for key in file.files})
        return module.eval()
    for parent in list(module.modules()):
        for child_name, child in list(parent.named_children()):
            if isinstance(child, nn.BatchNorm2d):
                setattr(parent, child_name, nn.Identity())
    arrays = [torch.from_numpy(file[f"arr_{i}"]) for i in range(len(file.files))]
    for layer, weight, bias in zip(products(module), arrays[::2], arrays[1::2], strict=True):
        assert layer.weight.shape == weight.shape, path
        layer.weight.data = weight
        layer.bias = nn.Parameter(bias)
    return module.eval()
