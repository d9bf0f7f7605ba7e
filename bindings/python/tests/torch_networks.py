"""Networks of PyTorch for the tests of intaglio.torch."""

import torch
import torch.nn.functional as F
from torch import nn


def conv(inputs, outputs, kernel=3, activation=nn.ReLU, norm=True, **options):
    options.setdefault("padding", kernel // 2)
    parts = [nn.Conv2d(inputs, outputs, kernel, bias=not norm, **options)]
    if norm:
        parts.append(nn.BatchNorm2d(outputs))
    if activation:
        parts.append(activation())
    return nn.Sequential(*parts)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride, activation):
        super().__init__()
        self.first = conv(inputs, outputs, activation=activation, stride=stride)
        self.second = conv(outputs, outputs, activation=None)
        same = stride == 1 and inputs == outputs
        self.side = nn.Identity() if same else conv(inputs, outputs, 1, None, stride=stride)
        self.end = activation()

    def forward(self, x):
        return self.end(self.second(self.first(x)) + self.side(x))


class Everything(nn.Module):
    """Every kind of layer that prepare() knows."""

    def __init__(self, activation=nn.ReLU):
        super().__init__()
        self.stem = conv(2, 8, activation=activation)
        self.blocks = nn.Sequential(Residual(8, 8, 1, activation), Residual(8, 16, 2, activation))
        self.deep = conv(16, 16, activation=nn.ReLU6, groups=16)
        self.wide = conv(16, 32, activation=nn.ReLU6, groups=16, stride=2)
        self.grouped = conv(16, 16, norm=False, activation=None, groups=4, dilation=2, padding=2)
        self.unpadded = nn.Conv2d(32, 8, 3, padding="valid")
        self.large = nn.MaxPool2d(3, 2, 1)
        self.average = nn.AvgPool2d(2)
        self.drop = nn.Dropout(0.1)
        self.hidden = nn.Linear(8 * 2 * 2, 12)
        self.norm = nn.BatchNorm1d(12)
        self.last = nn.Linear(12 + 16 + 16, 5)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        a = self.deep(x)
        b = F.hardtanh(self.grouped(x), -1.0, 2.0)
        both = torch.cat([a, b], 1)
        c = torch.relu(self.unpadded(self.wide(x)))
        c = self.norm(self.hidden(self.drop(c).view(c.size(0), -1)))
        d = F.relu6(self.average(x) + self.large(x)).mean((2, 3))
        e = torch.flatten(F.adaptive_avg_pool2d(both, 1), 1)
        e = F.relu(e)
        return self.last(torch.cat([F.relu(c), d, d], 1)), e


def trained(network, inputs, steps=4):
    """Some steps with an optimizer, so that nothing is as it was at the start."""
    optimizer = torch.optim.SGD(network.parameters(), 0.02)
    network.train()
    for _ in range(steps):
        optimizer.zero_grad()
        results = network(*inputs)
        results = results if isinstance(results, tuple) else (results,)
        sum((result**2).mean() for result in results).backward()
        optimizer.step()
    return network


class Attention(nn.Module):
    """Of several heads."""

    def __init__(self, width, heads, scales_scores):
        super().__init__()
        self.heads, self.depth, self.scales_scores = heads, width // heads, scales_scores
        self.query, self.key, self.value, self.last = (nn.Linear(width, width) for _ in range(4))

    def split(self, y, places):
        return y.reshape(-1, places, self.heads, self.depth).permute(0, 2, 1, 3)

    def forward(self, x):
        places = x.shape[1]
        query, key, value = (
            self.split(part(x), places) for part in (self.query, self.key, self.value)
        )
        if self.scales_scores:
            scores = (query @ key.transpose(2, 3)) / self.depth**0.5
        else:
            scores = torch.matmul(query * self.depth**-0.5, key.permute(0, 1, 3, 2))
        joined = torch.matmul(F.softmax(scores, -1), value).transpose(1, 2)
        return self.last(joined.flatten(2))


class Encoder(nn.Module):
    def __init__(self, width, heads, scales_scores):
        super().__init__()
        self.first = nn.LayerNorm(width)
        self.second = nn.LayerNorm(width, elementwise_affine=False)
        self.attention = Attention(width, heads, scales_scores)
        self.layers = nn.Sequential(nn.Linear(width, 24), nn.ReLU(), nn.Linear(24, width))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.layers(self.second(x))


class Transformer(nn.Module):
    """Every kind of layer of a transformer that prepare() knows."""

    def __init__(self, places=6, inputs=5, width=48):
        super().__init__()
        self.letters = nn.Linear(inputs, width)
        self.places = nn.Parameter(0.3 * torch.randn(places, width))
        self.register_buffer("gate", 1 + torch.rand(width))
        self.encoders = nn.Sequential(Encoder(width, 4, False), Encoder(width, 2, True))
        self.end = nn.LayerNorm(width)
        self.soft = nn.Softmax(dim=2)
        self.last = nn.Linear(width, 3)

    def forward(self, x):
        y = self.encoders((self.letters(x) + self.places) * self.gate)
        shares = self.soft(-0.7 * F.relu(y))
        together = torch.bmm(shares.transpose(1, 2), self.end(y))
        return self.last(together.mean(dim=1, keepdim=False)), y.mean(2)
