"""intaglio.torch: what is simulated in training is what runs."""

import copy
import re
import subprocess
import sys

import numpy
import pytest

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: intaglio.torch is NOT TESTED"
)

import intaglio
import intaglio.torch
from conftest import ROOT  # noqa: E402
from intaglio import _core
from intaglio.torch._quantizers import ActivationQuantizer
from torch import nn
from torch.nn import functional as F
from torch_networks import Everything, conv, trained


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(1)
    torch.set_num_threads(1)


def images(count=6):
    return torch.randn(count, 2, 16, 16)


def prepared(network=None, **options):
    network = trained(network or Everything(), [images()])
    return trained(intaglio.torch.prepare(network, images(16), **options), [images()])


FORMS = [
    {"bits": "w8a8"},
    {"bits": "w8a8", "per_channel": False},
    {"bits": "w4a4"},
    {"bits": "w5a6", "learned_steps": True},
    {"bits": "w3a5", "freeze_above": 0.02, "delay": 2},
    {"bits": "w8a8", "recipe": [{"layers": "blocks", "weights": 4, "activations": 5}]},
    {"bits": "w2a2", "threads": 2},
]


@pytest.mark.parametrize("options", FORMS, ids=str)
@pytest.mark.parametrize("io", ["float32", "int8"])
def test_the_file_computes_what_is_simulated(tmp_path, options, io):
    qm = prepared(**options)
    intaglio.torch.export(qm, tmp_path / "m.tflite", io=io)
    assert qm.verify(tmp_path / "m.tflite", images(3)) > 10_000


def test_the_outputs_of_the_file_are_those_of_the_module(tmp_path):
    qm = prepared(bits="w6a6").eval()
    x = images(4)
    intaglio.torch.export(qm, tmp_path / "m.tflite")
    with intaglio.load(tmp_path / "m.tflite") as model:
        image = numpy.ascontiguousarray(x.permute(0, 2, 3, 1).numpy())
        model.resize([image.shape])
        results = model.run([image])
    for simulated, found in zip(qm(x), results):
        assert numpy.array_equal(simulated.detach().numpy(), found)


@pytest.mark.parametrize("kernel", ["scalar", "avx2", "sse4.1", "avx512bw"])
def test_every_kernel_computes_it(tmp_path, kernel):
    qm = prepared(bits="w4a6")
    intaglio.torch.export(qm, tmp_path / "m.tflite")
    try:
        qm.verify(tmp_path / "m.tflite", images(3), kernel=kernel, threads=2)
    except intaglio.Error as error:
        if isinstance(error, intaglio.torch.MismatchError):
            raise
        pytest.skip(str(error))


def test_training_and_eval_compute_the_same():
    qm = prepared(bits="w4a4", norm_momentum=0.0)
    x = images()
    qm.eval()
    first, _ = qm(x)
    with torch.no_grad():
        second, _ = qm(x)
    assert torch.equal(first, second)


def test_scales_do_not_change_within_a_pass():
    qm = prepared(norm_momentum=0.0, decay=0.5).eval()
    x = images() / 2
    with torch.no_grad():
        expected, _ = qm(x)
    qm.train()
    first, _ = qm(x)
    second, _ = qm(x)
    assert torch.equal(first, expected)
    assert not torch.equal(second, expected)


@pytest.mark.parametrize("options", FORMS[:5], ids=str)
def test_the_emulation_has_the_same_bits(options):
    qm = prepared(**options)
    x = images(4)
    kernels = qm.activations(x)
    emulated = qm.emulate().activations(x)
    assert kernels.keys() == emulated.keys()
    for name, codes in kernels.items():
        assert numpy.array_equal(codes, emulated[name]), name


def test_the_emulation_has_the_same_gradients():
    qm = prepared(bits="w4a4").eval()
    other = copy.deepcopy(qm).emulate()
    assert other.steps[1].executor.settings.emulates and not qm.settings.emulates
    x = images()
    for module in (qm, other):
        module.zero_grad()
        sum(result.square().sum() for result in module(x)).backward()
    for a, b in zip(qm.parameters(), other.parameters()):
        torch.testing.assert_close(a.grad, b.grad)


def test_gradients_are_those_of_the_network_of_floats():
    """With 8 bits, gradients come close to those without rounding."""
    network = trained(Everything(), [images()]).eval()
    x = images(16)
    qm = intaglio.torch.prepare(network, x).eval()
    for module in (network, qm):
        module.zero_grad()
        sum(result.square().sum() for result in module(x)).backward()
    mine = dict(qm.named_parameters())
    for name, parameter in network.named_parameters():
        found = [p for n, p in mine.items() if p.shape == parameter.shape]
        cosines = [
            torch.cosine_similarity(p.grad.flatten(), parameter.grad.flatten(), 0) for p in found
        ]
        assert max(cosines) > 0.97, name


def quantized(values, learned=False):
    """The results and gradients of a quantizer of 3 bits with the numbers -1 to 6, by steps of 1."""
    quantizer = ActivationQuantizer("q", 3, 0.9, learned)
    quantizer.observe(quantizer.add_writer(), torch.tensor(-1.0), torch.tensor(6.0))
    quantizer.start_learning()
    real = torch.tensor(values, requires_grad=True)
    codes = (torch.round(real.detach()) + quantizer.zero).clamp(quantizer.lowest, 127).to(torch.int8)
    result = quantizer.through(real, codes)
    result.backward(torch.arange(1.0, len(values) + 1))
    return result.tolist(), real.grad.tolist(), quantizer


def test_gradients_pass_straight_through_within_the_range():
    result, gradient, _ = quantized([-1.6, -1.4, 0.2, 5.0, 6.4, 6.6])
    assert result == [-1, -1, 0, 5, 6, 6]
    assert gradient == [0, 2, 3, 4, 5, 0]


def test_the_gradient_of_a_learned_step():
    """Equation 3 of Esser et al.: -v + round(v) within the range, and its ends outside."""
    _, _, quantizer = quantized([-1.6, 0.25, 4.75, 9.0], learned=True)
    slopes = -1 * 1 + -0.25 * 2 + 0.25 * 3 + 6 * 4
    assert abs(float(quantizer.step.grad) - slopes * quantizer.scale) < 1e-6


@pytest.mark.parametrize("learned", [False, True])
def test_float_and_quantized_agree(learned):
    network = trained(Everything(), [images()]).eval()
    x = images(32)
    qm = intaglio.torch.prepare(network, x, learned_steps=learned).eval()
    with torch.no_grad():
        exact, rounded = network(x)[0], qm(x)[0]
    noise = (exact - rounded).square().mean() / exact.square().mean()
    assert noise < 0.01


def test_batch_normalization_is_folded_by_its_averages():
    network = trained(conv(2, 8), [images()])
    qm = intaglio.torch.prepare(network, images(16))
    qm.train()
    before = qm.steps[1].norm.running_mean.clone()
    x = images(64) / 2
    qm(x)
    network.train()
    network(x)
    mine, own = qm.steps[1].norm, network[1]
    assert not torch.equal(mine.running_mean, before)
    torch.testing.assert_close(mine.running_mean, own.running_mean, rtol=0.05, atol=0.02)
    torch.testing.assert_close(mine.running_var, own.running_var, rtol=0.05, atol=0.02)
    qm.freeze_norm()
    kept = mine.running_mean.clone()
    qm(x)
    assert torch.equal(mine.running_mean, kept)


def test_weights_are_rounded_after_batch_normalization_is_folded(tmp_path):
    """By equation 14 of Jacob et al., with the averages of the variance, not with a batch's."""
    network = trained(conv(2, 8), [images()])
    with torch.no_grad():
        network[1].weight.copy_(torch.linspace(-1.5, 1.5, 8))
    qm = intaglio.torch.prepare(network, images(16)).train()
    norm, module = qm.steps[1].norm, qm.steps[1].module
    before = norm.running_var.clone()
    qm(images(32) * 3)
    assert not torch.allclose(before, norm.running_var, rtol=0.05)
    name = qm.steps[1].label + "/weight"
    constants = {t.name: t.array for t in qm.eval().plan(1, False).tensors if t.array is not None}
    codes = constants[name].astype(float).transpose(0, 3, 1, 2)
    intaglio.torch.export(qm, tmp_path / "m.tflite")
    tensors = {t[0]: t for t in _core._open_runner(str(tmp_path / "m.tflite"), 1, "").tensors()}
    factor = norm.weight.double() / torch.sqrt(norm.running_var.double() + norm.eps)
    folded = (module.weight.double() * factor.reshape(-1, 1, 1, 1)).detach().numpy()
    scales = abs(folded).max((1, 2, 3), keepdims=True) / 127
    numpy.testing.assert_allclose(tensors[name][2], scales.flatten(), rtol=1e-5)
    assert (abs(codes - folded / scales) <= 0.501).all()


class Joined(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = conv(2, 4)
        self.b = conv(2, 4, activation=nn.ReLU6)
        self.c = conv(2, 3, activation=None)

    def forward(self, x):
        return torch.cat([F.relu(self.a(x) + self.b(x)), self.c(x)], 1)


def test_numbers_are_rounded_where_the_runtime_rounds(tmp_path):
    """After activations, ADD and CONCATENATION, and not before activations. ADD changes scales, and
    what CONCATENATION joins has the scale of its result."""
    network = trained(Joined(), [images()])
    qm = intaglio.torch.prepare(network, images(16)).eval()
    by_name = {step.name: step.quantizer for step in qm.steps}
    assert len(by_name) == 6 and len(qm.quantizers()) == 4
    shared = {step.name for step in qm.steps if step.quantizer is by_name[qm.steps[-1].name]}
    assert len(shared) == 3
    assert len({quantizer.scale for quantizer in qm.quantizers()}) == 4
    intaglio.torch.export(qm, tmp_path / "m.tflite", io="int8")
    layers = intaglio.load(tmp_path / "m.tflite").layers
    assert sorted(layer.operator for layer in layers) == ["ADD", "CONCATENATION"] + 3 * ["CONV_2D"]
    assert qm.verify(tmp_path / "m.tflite", images(3)) > 10_000


def test_codes_have_so_many_bits():
    qm = prepared(bits="w3a4")
    for step in qm.steps:
        if hasattr(step, "weights"):
            _, codes, _ = step.weights(
                step.folded()[0], torch.zeros(len(step.module.weight)), step.learned_factor()
            )
            assert codes.abs().max() <= 3
    codes = qm.activations(images())
    inner = [v for k, v in codes.items() if k in ("stem_0", "blocks_0_end", "add")]
    assert inner and all(v.min() >= 127 - 15 for v in inner)


def test_only_layers_without_relu_need_a_bound(tmp_path):
    """Codes of few bits end at 127, where all layers saturate. RELU bounds them below."""
    for activation, bounds in ((nn.ReLU(), 0), (nn.ReLU6(), 0), (nn.Identity(), 1)):
        torch.manual_seed(1)
        module = nn.Sequential(nn.Conv2d(3, 4, 3), activation, nn.Conv2d(4, 5, 3)).eval()
        x = torch.randn(16, 3, 8, 8)
        qm = intaglio.torch.prepare(module, x, bits="w4a4").eval()
        intaglio.torch.export(qm, tmp_path / "m.tflite")
        qm.verify(tmp_path / "m.tflite", x)
        labels = [layer.operator for layer in intaglio.load(tmp_path / "m.tflite").layers]
        assert labels.count("MAXIMUM") == bounds, labels


def test_the_file_has_the_scales_of_training(tmp_path):
    """Weights in [-127, 127], biases on the grid of the products, shared parameters where TFLite
    asks for them, and all scales as float32."""
    qm = prepared()
    intaglio.torch.export(qm, tmp_path / "m.tflite", io="int8")
    tensors = {t[0]: t for t in _core._open_runner(str(tmp_path / "m.tflite"), 1, "").tensors()}
    constants = {t.name: t.array for t in qm.plan(1, False).tensors if t.array is not None}
    by_name = {step.name: step for step in qm.steps}
    products = [step for step in qm.steps if hasattr(step, "weights")]
    assert len(products) > 8
    for step in products:
        weights, bias = tensors[step.label + "/weight"], tensors[step.label + "/bias"]
        assert abs(constants[step.label + "/weight"].astype(int)).max() == 127
        source = by_name[step.sources[0]].quantizer
        grid = numpy.float32(numpy.float64(source.scale) * numpy.array(weights[2], numpy.float64))
        assert numpy.array_equal(numpy.array(bias[2], numpy.float32), grid)
        assert set(weights[3]) == set(bias[3]) == {0}
    for step in qm.steps:
        assert tensors[step.name][2:4] == ([step.quantizer.scale], [step.quantizer.zero])
        if type(step).__name__ in ("Concatenate", "Pool", "Reshape"):
            assert {by_name[name].quantizer for name in step.sources} == {step.quantizer}


def test_training_repeats_bit_for_bit():
    states = []
    for _ in range(2):
        torch.manual_seed(5)
        states.append(prepared(bits="w4a4", learned_steps=True, threads=2).state_dict())
    for name, tensor in states[0].items():
        assert torch.equal(tensor, states[1][name]), name


def test_relu6_of_few_bits_needs_no_layer_more(tmp_path):
    qm = prepared(
        nn.Sequential(conv(2, 8, activation=nn.ReLU6), conv(8, 4, activation=None)), bits="w4a4"
    )
    intaglio.torch.export(qm, tmp_path / "m.tflite", io="int8")
    operators = [layer.operator for layer in intaglio.load(tmp_path / "m.tflite").layers]
    assert operators == ["CONV_2D", "CONV_2D"]
    assert qm.quantizers()[1].scale == float(numpy.float32(6 / 15))


def test_activations_are_rounded_after_the_delay():
    network = trained(conv(2, 8), [images()])
    qm = intaglio.torch.prepare(network, images(), delay=2).train()
    counts = [len(torch.unique(qm(images()))) for _ in range(4)]
    assert min(counts[:2]) > 256 >= max(counts[2:])


def test_ranges_are_averages():
    qm = intaglio.torch.prepare(conv(2, 4, norm=False), images(), decay=0.9).train()
    quantizer = qm.steps[0].quantizer
    low, high = quantizer.range()
    x = images() * 3
    qm(x)
    expected = 0.9 * high + 0.1 * float(x.max())
    assert abs(quantizer.range()[1] - expected) < 1e-5
    assert quantizer.range()[0] < low
    assert float(quantizer.real(torch.tensor(quantizer.zero))) == 0


def test_oscillating_weights_freeze():
    qm = intaglio.torch.prepare(
        nn.Linear(3, 1, bias=False), torch.randn(8, 3), bits="w2a8", freeze_above=0.02
    )
    weights, module = qm.steps[1].weights, qm.steps[1].module
    x = torch.randn(8, 3)
    qm.train()
    for i in range(20):
        with torch.no_grad():
            module.weight.copy_(torch.tensor([[1.0, 0.49 if i % 2 else 0.51, 0.2]]))
        qm(x).sum().backward()
    assert weights.frozen.tolist() == [[0, 1, 0]]
    assert module.weight.grad is not None


def test_steps_are_learned():
    qm = intaglio.torch.prepare(Everything(), images(), bits="w4a4", learned_steps=True)
    before = {n: p.detach().clone() for n, p in qm.named_parameters() if n.endswith("step")}
    assert len(before) > 10
    trained(qm, [images()])
    changed = [n for n, p in qm.named_parameters() if n in before and not torch.equal(p, before[n])]
    assert len(changed) > len(before) * 0.8


def test_a_changed_file_is_found(tmp_path):
    qm = prepared(bits="w8a8")
    intaglio.torch.export(qm, tmp_path / "m.tflite")
    with torch.no_grad():
        qm.steps[1].module.weight.mul_(1.3)
        qm.steps[1].module.weight[0].neg_()
    with pytest.raises(intaglio.torch.MismatchError, match=r"layer CONV_2D.*differ"):
        qm.verify(tmp_path / "m.tflite", images(3))


def test_state_is_saved_and_loaded(tmp_path):
    qm = prepared(bits="w4a4")
    other = intaglio.torch.prepare(Everything(), images(), bits="w4a4")
    other.load_state_dict(qm.state_dict())
    intaglio.torch.export(qm, tmp_path / "m.tflite")
    other.verify(tmp_path / "m.tflite", images())


class _Pairs(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.a, self.b = conv(2, 4, norm=False), conv(2, 4, norm=False, activation=None)

    def forward(self, x):
        return self.function(self.a(x), self.b(x))


# Functions of two images, and what the file has for them.
PAIRS = [
    (lambda a, b: a - b, "SUB"),
    (lambda a, b: torch.sub(b, a), "SUB"),
    (lambda a, b: F.relu(a - b), "SUB"),
    (lambda a, b: a * b, "MUL"),
    (lambda a, b: F.relu6(a.mul(b)), "MUL"),
    (lambda a, b: b * b, "MUL"),
    (lambda a, b: b * F.adaptive_avg_pool2d(a, 1), "MUL"),
    (lambda a, b: F.adaptive_avg_pool2d(a, 1) - b, "SUB"),
    (lambda a, b: F.interpolate(b, scale_factor=3), "RESIZE_NEAREST_NEIGHBOR"),
    (lambda a, b: F.interpolate(b, size=(16, 80), mode="nearest"), "RESIZE_NEAREST_NEIGHBOR"),
    (lambda a, b: F.interpolate(b, (32, 112)) + F.interpolate(a, scale_factor=(2, 7)), "ADD"),
    (lambda a, b: F.avg_pool2d(b, 3, 1, 1, count_include_pad=False), "AVERAGE_POOL_2D"),
    (lambda a, b: F.avg_pool2d(b, 3, 2, count_include_pad=False), "AVERAGE_POOL_2D"),
    (lambda a, b: F.avg_pool2d(b, 3, 2, 1), "AVERAGE_POOL_2D"),
    (lambda a, b: F.max_pool2d(b, 3, 2, 1), "MAX_POOL_2D"),
]


@pytest.mark.parametrize("bits", ["w8a8", "w4a5"])
@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_functions_of_two_images(tmp_path, number, bits):
    function, operator = PAIRS[number]
    network = _Pairs(function).eval()
    x = images(16)
    qm = trained(intaglio.torch.prepare(network, x, bits=bits), [x]).eval()
    intaglio.torch.export(qm, tmp_path / "m.tflite")
    qm.verify(tmp_path / "m.tflite", x)
    assert operator in [layer.operator for layer in intaglio.load(tmp_path / "m.tflite").layers]
    kernels = qm.activations(x)
    emulated = qm.emulate().activations(x)
    for name, codes in kernels.items():
        assert numpy.array_equal(codes, emulated[name]), name


def test_modules_that_upsample(tmp_path):
    network = nn.Sequential(conv(2, 4), nn.Upsample(scale_factor=2), nn.UpsamplingNearest2d((64, 96)))
    qm = prepared(network, bits="w4a4")
    intaglio.torch.export(qm, tmp_path / "m.tflite")
    qm.verify(tmp_path / "m.tflite", images(3))
    operators = [layer.operator for layer in intaglio.load(tmp_path / "m.tflite").layers]
    assert operators.count("RESIZE_NEAREST_NEIGHBOR") == 2


@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_functions_of_two_images_come_close_to_floats(number):
    network = _Pairs(PAIRS[number][0]).eval()
    x = images(16)
    qm = intaglio.torch.prepare(network, x).eval()
    exact, rounded = network(x), qm(x)
    assert exact.shape == rounded.shape
    assert (exact - rounded).square().mean() < 0.001 * exact.square().mean()
    for result in (exact, rounded):
        result.square().sum().backward()
    found = {step.label: step.module.weight.grad for step in qm.steps if hasattr(step, "weights")}
    for label, mine in found.items():
        other = network.get_submodule(label).weight.grad
        if other is None:  # the function does not take this image
            continue
        assert torch.cosine_similarity(mine.flatten(), other.flatten(), 0) > 0.99, label


class _Sigmoid(nn.Module):
    def forward(self, x):
        return torch.sigmoid(x)


class _Branch(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


class _Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


REFUSED = [
    (nn.Sequential(conv(2, 4), nn.Sigmoid()), r"1 \(Sigmoid\): is not supported"),
    (_Sigmoid(), r"sigmoid.*is not supported"),
    (_Branch(), r"cannot be traced"),
    (nn.BatchNorm2d(2), r"must be the only reader"),
    (nn.Conv2d(2, 4, 3, padding=1, padding_mode="reflect"), r"padding_mode 'reflect'"),
    (nn.AdaptiveAvgPool2d(2), r"an output of 2"),
    (nn.MaxPool2d(3, dilation=2), r"dilation is not 1"),
    (nn.AvgPool2d(4, 1, 1, count_include_pad=False), r"count_include_pad is False"),
    (nn.Upsample(scale_factor=1.5), r"makes .* whole factors"),
    (nn.Upsample(scale_factor=2.03125), r"makes .* whole factors"),
    (nn.Upsample(scale_factor=2, mode="bilinear"), r"the mode 'bilinear'"),
    (_Call(lambda x: x + 2), r"an operand is 2"),
    (_Call(lambda x: F.adaptive_avg_pool2d(x, 1) - x.mean((2, 3))), r"operands of the shapes"),
    (_Call(lambda x: torch.sub(x, x, alpha=2)), r"alpha is not 1"),
    (nn.MaxPool2d(2, ceil_mode=True), r"ceil_mode is True"),
    (nn.Hardtanh(1.0, 2.0), r"bounds 1.0 and 2.0"),
]


@pytest.mark.parametrize(("module", "message"), REFUSED, ids=[m for _, m in REFUSED])
def test_what_is_not_supported_is_named(module, message):
    with pytest.raises(intaglio.torch.UnsupportedLayerError, match=message):
        intaglio.torch.prepare(module, images())


def test_arguments_are_checked():
    network = conv(2, 4)
    with pytest.raises(intaglio.errors.ArgumentError, match="matches no layer"):
        intaglio.torch.prepare(network, images(), recipe=[{"layers": "nowhere", "weights": 4}])
    with pytest.raises(intaglio.errors.ArgumentError, match="none of"):
        intaglio.torch.prepare(network, images(), recipe=[{"layers": ".", "wieghts": 4}])
    with pytest.raises(intaglio.errors.ArgumentError, match="bits"):
        intaglio.torch.prepare(network, images(), bits="w9a8")
    with pytest.raises(intaglio.errors.ArgumentError, match="NaN"):
        intaglio.torch.prepare(network, images() * float("nan"))
    qm = intaglio.torch.prepare(network, images())
    with pytest.raises(intaglio.errors.ArgumentError, match="prepared for"):
        qm(torch.randn(1, 2, 9, 9))


def test_constant_and_dead_channels(tmp_path):
    network = conv(2, 4).eval()
    with torch.no_grad():
        network[0].weight[1] = 0
        network[1].weight[2] = 0
        network[1].bias[3] = 1e4
    qm = intaglio.torch.prepare(network, torch.zeros(2, 2, 16, 16)).eval()
    intaglio.torch.export(qm, tmp_path / "m.tflite")
    qm.verify(tmp_path / "m.tflite", images())


def test_documentation_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = re.search(r"```python\n(.*?)```", (ROOT / "docs/training.md").read_text(), re.DOTALL)
    names = {"torch": torch, "module": Everything(), "samples": images(), "images": images(2)}
    exec(compile(program[1], "docs/training.md", "exec"), names)


def test_intaglio_does_not_need_torch():
    code = "import sys; sys.modules['torch'] = None; import intaglio; print('torch' in intaglio.__dict__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_runner_updates_without_preparing_anew():
    network = _core._Network("n")
    x = network.tensor("x", "int8", [1, 4], [0.1], [0], 0)
    w = network.constant("w", numpy.ones((2, 4), numpy.int8), [0.5], [0], 0)
    y = network.layer("FULLY_CONNECTED", {}, [x, w], "y", [0.1], [0], "", False)
    network.interface([x], [y])
    runner = network.prepare(1, "")
    runner.run([numpy.ones((1, 4), numpy.int8)])
    assert runner.read(y).tolist() == [[2, 2]]
    runner.update([(w, numpy.full((2, 4), 3, numpy.int8), [0.25], [0], 0)])
    runner.run([numpy.ones((1, 4), numpy.int8)])
    assert runner.read(y).tolist() == [[3, 3]]
    with pytest.raises(intaglio.errors.ShapeError):
        runner.update([(w, numpy.ones((2, 3), numpy.int8), [0.25], [0], 0)])
