"""intaglio.torch: transformers, whose products have two activations."""

import numpy
import pytest

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: intaglio.torch is NOT TESTED"
)

import intaglio
import intaglio.torch
from intaglio import _core
from torch import nn
from torch.nn import functional as F
from torch_networks import Transformer, trained


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(1)
    torch.set_num_threads(1)


def words(count=6):
    return torch.randn(count, 6, 5)


def prepared(network=None, x=None, **options):
    x = words() if x is None else x
    network = trained(network or Transformer(), [x])
    return trained(intaglio.torch.prepare(network, x, **options), [x])


FORMS = [
    {"bits": "w8a8"},
    {"bits": "w6a6", "per_channel": False},
    {"bits": "w5a5", "learned_steps": True},
    {"bits": "w4a4", "freeze_above": 0.02, "threads": 2},
    {"bits": "w4a8", "recipe": [{"layers": "attention|places", "weights": 8, "activations": 5}]},
]


@pytest.mark.parametrize("options", FORMS, ids=str)
@pytest.mark.parametrize("io", ["float32", "int8"])
def test_the_file_computes_what_is_simulated(tmp_path, options, io):
    qm = prepared(**options)
    intaglio.torch.export(qm, tmp_path / "m.tflite", io=io)
    assert qm.verify(tmp_path / "m.tflite", words(3)) > 10_000


@pytest.mark.parametrize("kernel", ["scalar", "avx2", "sse4.1", "avx512bw"])
def test_every_kernel_computes_it(tmp_path, kernel):
    qm = prepared(bits="w4a6")
    intaglio.torch.export(qm, tmp_path / "m.tflite")
    try:
        qm.verify(tmp_path / "m.tflite", words(3), kernel=kernel, threads=2)
    except intaglio.Error as error:
        if isinstance(error, intaglio.torch.MismatchError):
            raise
        pytest.skip(str(error))


@pytest.mark.parametrize("options", FORMS, ids=str)
def test_the_emulation_has_the_same_bits(options):
    """In layers of float32, too."""
    qm = prepared(**options)
    x = words(4)
    kernels = qm.activations(x)
    emulated = qm.emulate().activations(x)
    assert {codes.dtype.name for codes in kernels.values()} == {"int8", "float32"}
    for name, codes in kernels.items():
        assert numpy.array_equal(codes, emulated[name]), name


def gradients(qm, network):
    """Pairs of the gradients of a parameter, in the quantized module and in float32."""
    exact = dict(network.named_parameters())
    pairs = {}
    for step in qm.steps:
        module = getattr(step, "module", None)
        mine = {"": step.numbers} if hasattr(step, "numbers") else {}
        mine.update(module.named_parameters(prefix=step.label) if module is not None else {})
        for name, parameter in mine.items():
            if isinstance(parameter, nn.Parameter):
                pairs[name or step.label] = (parameter.grad, exact[name or step.label].grad)
    return pairs


def test_gradients_come_close_to_those_of_floats():
    network = trained(Transformer(), [words(32)], 20).eval()
    x = words(32)
    qm = intaglio.torch.prepare(network, x).eval()
    for module in (network, qm):
        module.zero_grad()
        (first, second) = module(x)
        (first.square().sum() + second.square().sum()).backward()
    pairs = gradients(qm, network)
    assert set(pairs) == {name for name, _ in network.named_parameters()}
    for name, (mine, other) in pairs.items():
        if name.endswith("key.bias"):  # which softmax takes away again
            continue
        assert torch.cosine_similarity(mine.flatten(), other.flatten(), 0) > 0.99, name
        assert 0.9 < mine.norm() / other.norm() < 1.1, name


class _Product(nn.Module):
    def forward(self, a, b):
        return torch.bmm(torch.clamp(a, -1, 1), b)


def test_gradients_of_products_by_hand():
    """Of what the codes stand for, and 0 where an operand or the result was clipped."""
    a, b = torch.randn(3, 4, 5), torch.randn(3, 5, 2)
    qm = intaglio.torch.prepare(_Product(), (a, b), bits="w4a4").eval()
    a.requires_grad_(), b.requires_grad_()
    slope = torch.randn(3, 4, 2)
    qm(a, b).backward(slope)
    found = qm.activations(a, b)
    real = {s.name: s.quantizer.real(torch.from_numpy(found[s.name])) for s in qm.steps}
    result = qm.steps[-1].quantizer
    product = torch.bmm(real["clamp"], real["b"])
    slope *= (product > result.real(torch.tensor(-128.5))) & (
        product < result.real(torch.tensor(127.5))
    )
    left = torch.bmm(slope, real["b"].transpose(1, 2)) * (real["a"].abs() < 1)
    edge = (real["a"].abs() - 1).abs() < 1e-3
    assert (left == 0).any() and not edge.all()
    assert torch.allclose(a.grad[~edge], left[~edge], atol=1e-5)
    assert torch.allclose(b.grad, torch.bmm(real["clamp"].transpose(1, 2), slope), atol=1e-5)


def operators(qm, path):
    intaglio.torch.export(qm, path)
    return [layer.operator for layer in intaglio.load(path).layers]


def test_softmax_keeps_its_scale(tmp_path):
    qm = prepared(bits="w4a4", learned_steps=True)
    intaglio.torch.export(qm, tmp_path / "m.tflite")
    tensors = {t[0]: t for t in _core._open_runner(str(tmp_path / "m.tflite"), 1, "").tensors()}
    found = [step for step in qm.steps if type(step).__name__ == "Softmax"]
    assert len(found) == 3
    for step in found:
        assert tensors[step.name][2:4] == ([1 / 256], [-128])


def test_layer_normalization_stays_float32(tmp_path):
    module = nn.Sequential(nn.Linear(5, 48), nn.LayerNorm(48))
    found = operators(prepared(module, bits="w8a8"), tmp_path / "m.tflite")
    assert found[1:-1] == [
        "FULLY_CONNECTED",
        *("DEQUANTIZE", "MEAN", "SUB", "MUL", "MEAN", "ADD", "RSQRT", "MUL", "MUL", "ADD"),
        "QUANTIZE",
    ]


class _Call(nn.Module):
    """A function of results of layers, and of parameters if it has arguments c and d."""

    def __init__(self, function, *layers):
        super().__init__()
        self.function = function
        self.layers = nn.ModuleList(layers or [nn.Linear(5, 4), nn.Linear(5, 4)])
        self.numbers = nn.Parameter(torch.randn(6, 4))
        self.spots = nn.Parameter(torch.randn(4, 3, 2))

    def forward(self, x):
        arguments = [layer(x) for layer in self.layers]
        names = self.function.__code__.co_varnames[: self.function.__code__.co_argcount]
        arguments += [self.numbers] if "c" in names else []
        arguments += [self.spots] if "d" in names else []
        return self.function(*arguments)


def _image(x):
    return x.reshape(-1, 4, 3, 2)


def _turned(x):
    return x.transpose(1, 2).reshape(-1, 6, 4)


def _twice(a, b):
    return torch.cat([a @ b, b], 1)


# Functions, and the layers of the file between its ends.
def _squared(x):
    return x @ x


CALLS = [
    (lambda a, b: a @ b.transpose(1, 2), 2 * ["FULLY_CONNECTED"] + ["BATCH_MATMUL"]),
    (lambda a, b: a.permute(0, 2, 1) @ b, 2 * ["FULLY_CONNECTED"] + ["BATCH_MATMUL"]),
    (lambda a, b: (a @ b.transpose(-1, -2)) * -3, 2 * ["FULLY_CONNECTED"] + ["BATCH_MATMUL"]),
    (lambda a, b: (F.relu(a) / 3) @ b.transpose(-2, -1), ["MUL"]),
    (lambda a, b: 0.3 * torch.transpose(a.unsqueeze(1), 1, 2) + b.unsqueeze(2), ["ADD"]),
    (lambda a, b: F.relu(2 * a), ["FULLY_CONNECTED"]),
    (lambda a, b: _squared(a.reshape(-1, 6, 2, 2)) * 3, ["MUL", "BATCH_MATMUL"]),
    (lambda a, b: _squared(a.reshape(-1, 6, 2, 2).transpose(2, 3)), ["BATCH_MATMUL"]),
    (
        lambda a, b: torch.cat([F.softmax(a, 2), _turned(b.softmax(-1))], 1),
        ["CONCATENATION", "TRANSPOSE", "QUANTIZE"],
    ),
    (lambda a, b: F.avg_pool2d(_image(a), 2, 1).flatten(1), ["AVERAGE_POOL_2D", "TRANSPOSE"]),
    (lambda a, b: torch.cat([_image(a), F.max_pool2d(_image(b), 1)], 2).mean((1, 3)), ["MEAN"]),
    (lambda a, b: F.max_pool2d(_image(a), 1) - _image(b), ["SUB"]),
    (lambda a, b: F.max_pool2d(_image(a), 1).permute(0, 2, 3, 1).softmax(3), ["SOFTMAX"]),
    (lambda a, b: F.max_pool2d(_image(a), 1) @ _image(b).transpose(2, 3), ["BATCH_MATMUL"]),
    (
        lambda a, b: _image(a).mean((2, 3)).reshape(-1, 4, 1, 1) * F.max_pool2d(_image(b), 1),
        ["MUL"],
    ),
    (lambda a, b: F.max_pool2d(_image(a), 1).mean((1, 3), keepdim=True) * _image(b), ["MEAN"]),
    (lambda a, b: torch.cat([F.max_pool2d(_image(a), 1), _image(b)], 3), ["CONCATENATION"]),
    (lambda a, b: _twice(a, b.transpose(1, 2)), ["TRANSPOSE", "BATCH_MATMUL"]),
    (lambda a, b: F.max_pool2d(_image(a), 1).mean(2), ["MEAN", "TRANSPOSE"]),
    (lambda a, b, c: c - a * b, ["SUB", "MUL"]),
    (lambda a, b, d: F.max_pool2d(_image(a), 1) * d + d, ["ADD", "MUL"]),
    (lambda a, b, c: (c * a).mean(1, keepdim=True) + c, ["ADD", "MUL"]),
]


@pytest.mark.parametrize("bits", ["w8a8", "w4a5"])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_functions(tmp_path, number, bits):
    function, wanted = CALLS[number]
    x = words(16)
    qm = prepared(_Call(function), x, bits=bits).eval()
    found = operators(qm, tmp_path / "m.tflite")
    if bits == "w8a8":
        assert all(found.count(operator) >= wanted.count(operator) for operator in wanted), found
    qm.verify(tmp_path / "m.tflite", x)
    kernels = qm.activations(x)
    emulated = qm.emulate().activations(x)
    for name, codes in kernels.items():
        assert numpy.array_equal(codes, emulated[name]), name


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_functions_come_close_to_floats(number):
    network = _Call(CALLS[number][0]).eval()
    x = words(16)
    qm = intaglio.torch.prepare(network, x).eval()
    exact, rounded = network(x), qm(x)
    assert exact.shape == rounded.shape
    assert (exact - rounded).square().mean() < 0.001 * exact.square().mean()


def test_factors_become_a_part_of_weights(tmp_path):
    """Where nothing else reads what is multiplied."""
    alone = prepared(_Call(lambda a, b: (2 * a).reshape(-1, 6, 2, 2) @ b.reshape(-1, 6, 2, 2)))
    assert "MUL" not in operators(alone, tmp_path / "m.tflite")
    shared = prepared(_Call(lambda a, b: (2 * a) @ a.transpose(1, 2)))
    assert "MUL" in operators(shared, tmp_path / "m.tflite")


@pytest.mark.skipif(
    not hasattr(F, "scaled_dot_product_attention"), reason="PyTorch before 2.0: NOT TESTED"
)
def test_scaled_dot_product_attention(tmp_path):
    def product(scale, a, b):
        queries, keys = a.reshape(-1, 6, 2, 2), b.reshape(-1, 6, 2, 2)
        first = F.scaled_dot_product_attention(queries, keys, keys)
        return first * F.scaled_dot_product_attention(queries, keys, queries, scale=scale)

    x = words(16)
    for scale in (None, 0.3):
        network = _Call(lambda a, b, scale=scale: product(scale, a, b)).eval()
        qm = intaglio.torch.prepare(network, x).eval()
        exact, rounded = network(x), qm(x)
        assert (exact - rounded).square().mean() < 0.001 * exact.square().mean()
        intaglio.torch.export(qm, tmp_path / "m.tflite")
        qm.verify(tmp_path / "m.tflite", x)
    for options in ({"is_causal": True}, {"attn_mask": torch.zeros(6, 6)}):
        attend = F.scaled_dot_product_attention
        module = _Call(lambda a, o=options: attend(a, a, a, **o), nn.Identity())
        with pytest.raises(intaglio.torch.UnsupportedLayerError, match="is_causal and enable_gqa"):
            intaglio.torch.prepare(module, x)


@pytest.mark.parametrize("options", [{}, {"learned_steps": True}, {"per_channel": False}], ids=str)
def test_factors_do_not_change_codes(options):
    found = []
    for factor in (1, 50):
        torch.manual_seed(2)
        network = _Call(lambda a, b, factor=factor: a * factor)
        qm = intaglio.torch.prepare(network, words(), bits="w4a8", **options)
        step = qm.steps[1]
        weight, bias = step.folded()
        found.append(step.weights(weight, torch.zeros(len(bias)), step.learned_factor())[1])
    assert torch.equal(found[0], found[1]) and found[0].abs().max() > 3


def test_scales_of_constants_are_learned(tmp_path):
    qm = prepared(_Call(lambda a, b, c: a + b + c), bits="w4a4", learned_steps=True)
    constant = next(step for step in qm.steps if type(step).__name__ == "Constant")
    assert float(constant.weights.step) != 0 and constant.numbers.grad is not None
    intaglio.torch.export(qm, tmp_path / "m.tflite")
    qm.verify(tmp_path / "m.tflite", words(3))


REFUSED = [
    (_Call(lambda a, b: a @ b[0].reshape(4, 6)), r"getitem.* is not supported"),
    (_Call(lambda a, b: a @ b.mT), r"getattr.* is not supported"),
    (_Call(lambda a, b: a.permute(dims=(0, 2, 1))), r"permute.* its arguments|operand"),
    (_Call(lambda a, b: torch.mul(a, other=b)), r"mul.* its arguments"),
    (_Call(lambda a, b: (a.mul_(2), a)[1]), r"mul_.* changes what output reads afterwards"),
    (_Call(lambda a, b, c: torch.matmul(a.transpose(1, 2), c)), r"numbers is an operand; .*Linear"),
    (_Call(lambda a, b: a.unsqueeze(1) @ b.transpose(1, 2)), r"operands of the shapes"),
    (_Call(lambda a, b: a.softmax(1)), r"softmax \(softmax\): dim is 1; the last of 3"),
    (_Call(lambda a, b: a / b), r"only division by a number"),
    (_Call(lambda a, b: a * 0), r"the factor 0"),
    (_Call(lambda a, b: a + 1), r"an operand is 1"),
    (_Call(lambda a, b: a.transpose(0, 1)), r"moves the first dimension"),
    (_Call(lambda a, b: a.mean(0)), r"the first dimension must be kept"),
    (_Call(lambda a, b, c: a + c.unsqueeze(0)), r"parameter numbers can be added"),
    (nn.Sequential(nn.LayerNorm([6, 5])), r"the last dimension is supported"),
    (_Call(lambda a: a, nn.GELU()), r"layers.0 \(GELU\): is not supported; write ReLU"),
    (nn.TransformerEncoderLayer(5, 1), r"write it as Linear, reshape"),
]


@pytest.mark.parametrize(("module", "message"), REFUSED, ids=[m for _, m in REFUSED])
def test_what_is_not_supported_is_named(module, message):
    with pytest.raises(intaglio.torch.UnsupportedLayerError, match=message):
        intaglio.torch.prepare(module, words())


def test_a_changed_file_is_found(tmp_path):
    """In a layer of float32, too."""
    qm = prepared(nn.Sequential(nn.LayerNorm(5), nn.Linear(5, 4)))
    intaglio.torch.export(qm, tmp_path / "m.tflite")
    with torch.no_grad():
        qm.steps[1].module.weight.mul_(1.0001)
    with pytest.raises(intaglio.torch.MismatchError, match=r"layer MUL.*with_weight.*differ"):
        qm.verify(tmp_path / "m.tflite", words(3))


def test_layer_normalization_of_every_width():
    """Few numbers are added one after the other, many in 16 sums."""
    for width in (1, 5, 20, 31, 32, 40, 100):
        x = torch.randn(40, 2, width) + 1
        qm = intaglio.torch.prepare(nn.Sequential(nn.LayerNorm(width)), x).eval()
        kernels = qm.activations(x)
        emulated = qm.emulate().activations(x)
        for name, codes in kernels.items():
            assert numpy.array_equal(codes, emulated[name]), (name, width)


def test_softmax_of_every_scale():
    """Also of scales that use up all of the kernel's differences, or none."""

    class Only(nn.Module):
        def forward(self, x):
            return x.softmax(-1)

    for factor in (1e-4, 0.01, 1, 30, 1e4):
        for width in (1, 3, 40, 300):
            x = torch.randn(4, 2, width) * factor
            qm = intaglio.torch.prepare(Only(), x).eval()
            kernels = qm.activations(x)
            emulated = qm.emulate().activations(x)
            assert numpy.array_equal(kernels["softmax"], emulated["softmax"]), (factor, width)
