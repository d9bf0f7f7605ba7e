"""Writes networks of torchvision, and MobileNet v1, with random weights as .onnx files, and compares what
Intaglio and ONNX Runtime make of them, element by element. ONNX Runtime's tool quantizes them in three forms.
One of these is also written out as compilers do it.

    python3 -m venv venv
    venv/bin/pip install torch torchvision onnxscript onnx==1.23.2 onnxruntime==1.32.0
    venv/bin/python bench/models/torch_models.py FOLDER [--intaglio build/release/tools/intaglio]
                    [--networks resnet18,...]

The files stay in FOLDER, for bench/models --onnx-models. ONNX Runtime is made exact: of QOperator files it
gets a copy whose int8 weights are uint8, and of QDQ files int8 by int8 stays as it is.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
import torchvision
from onnx import numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

from written_out import written_out

NETWORKS = "resnet18,resnet50,resnet101,inception_v3,googlenet,mobilenet_v1,mobilenet_v2"
# Activations, weights, and whether weights have a scale per channel.
FORMS = {"qdq": (QuantFormat.QDQ, QuantType.QInt8, False),
         "qoperator": (QuantFormat.QOperator, QuantType.QUInt8, False),
         "qoperator_per_channel": (QuantFormat.QOperator, QuantType.QUInt8, True)}
# The last form once more, with the operators as compilers write them out (written_out.py).
WRITTEN_OUT = "written_out"
# Where the weights are, and how far behind them their zero points.
WEIGHTS = {"QLinearConv": (3, 2), "QLinearMatMul": (3, 2), "QGemm": (3, 2), "ConvInteger": (1, 2),
           "MatMulInteger": (1, 2)}


def side_of(name):
    return 299 if name == "inception_v3" else 224


def images(name, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, (1, 3, side_of(name), side_of(name))).astype(np.float32)


class Calibration(CalibrationDataReader):
    def __init__(self, name, tensor):
        self.batches = iter([{tensor: images(name, seed)} for seed in range(3)])

    def get_next(self):
        return next(self.batches, None)


def mobilenet_v1():
    """Howard et al., 2017, table 1: torchvision does not have it."""
    layers = []

    def convolve(inputs, outputs, stride, side=3, groups=1):
        layers.extend([torch.nn.Conv2d(inputs, outputs, side, stride, side // 2, groups=groups, bias=False),
                       torch.nn.BatchNorm2d(outputs), torch.nn.ReLU6()])

    convolve(3, 32, 2)
    channels = 32
    for outputs, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5,
                            (1024, 2), (1024, 1)]:
        convolve(channels, channels, stride, groups=channels)
        convolve(channels, outputs, 1, side=1)
        channels = outputs
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                               torch.nn.Linear(channels, 1000))


def network(name):
    if name == "mobilenet_v1":
        return mobilenet_v1()
    more = {"init_weights": True} if name in ("inception_v3", "googlenet") else {}
    return getattr(torchvision.models, name)(weights=None, **more)


def exported(name, folder):
    """PyTorch's export, with batch normalization of plausible statistics folded by ONNX Runtime."""
    path = folder / f"{name}.onnx"
    if path.exists():
        return path
    torch.manual_seed(1)
    side = side_of(name)
    model = network(name).train()
    with torch.no_grad():
        for _ in range(2):
            model(torch.randn(4, 3, side, side))
    with tempfile.TemporaryDirectory() as scratch:
        raw = f"{scratch}/raw.onnx"
        torch.onnx.export(model.eval(), (torch.randn(1, 3, side, side),), raw, dynamo=True,
                          verbose=False)
        whole = f"{scratch}/whole.onnx"
        onnx.save(onnx.load(raw), whole)
        session(whole, optimized_model_filepath=str(path),
                graph_optimization_level=onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC)
    return path


def session(path, entries=(), **settings):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    for key, value in settings.items():
        setattr(options, key, value)
    for entry in entries:
        options.add_session_config_entry(f"session.{entry}", "1")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def quantized(name, form, folder):
    path = folder / f"{name}.{form}.onnx"
    if not path.exists() and form == WRITTEN_OUT:
        onnx.save(written_out(onnx.load(quantized(name, "qoperator_per_channel", folder))), path)
    elif not path.exists():
        source = exported(name, folder)
        how, activations, per_channel = FORMS[form]
        quantize_static(source, path, Calibration(name, session(source).get_inputs()[0].name),
                        quant_format=how, activation_type=activations,
                        weight_type=QuantType.QInt8, per_channel=per_channel)
    return path


def with_uint8_weights(path):
    model = onnx.load(path)
    constants = {c.name: c for c in model.graph.initializer}
    names = set()
    for node in model.graph.node:
        if node.op_type in WEIGHTS:
            weights, zero_point = WEIGHTS[node.op_type]
            names |= {node.input[weights], node.input[weights + zero_point]}
    for name in names:
        array = numpy_helper.to_array(constants[name])
        if array.dtype == np.int8:
            moved = (array.astype(np.int32) + 128).astype(np.uint8)
            constants[name].CopyFrom(numpy_helper.from_array(moved, name))
    return model.SerializeToString()


def exact_session(path, form, folder):
    if form == "qdq":
        return session(path, ["qdqisint8allowed"])
    with tempfile.NamedTemporaryFile(dir=folder) as copy:
        copy.write(with_uint8_weights(path))
        copy.flush()
        return session(copy.name)


def run_intaglio(program, path, x, options=()):
    with tempfile.TemporaryDirectory() as scratch:
        np.save(f"{scratch}/x.npy", x)
        subprocess.run([program, "run", path, "--input", f"{scratch}/x.npy", "--output",
                        f"{scratch}/out", *options], check=True, stdout=subprocess.DEVNULL)
        [output] = Path(f"{scratch}/out").iterdir()
        return np.load(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--intaglio", default="build/release/tools/intaglio")
    parser.add_argument("--networks", default=NETWORKS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print("| network | form | equal elements | the same class | ONNX Runtime's default: equal elements |")
    print("|---|---|---|---|---|")
    for name in options.networks.split(","):
        for form in [*FORMS, WRITTEN_OUT]:
            path = quantized(name, form, options.folder)
            x = images(name, 9)
            feed = {session(path).get_inputs()[0].name: x}
            # ONNX Runtime computes sums of QDQ files by a fused kernel of its own.
            more = ["--ort-fused"] if form == "qdq" else []
            ours = run_intaglio(options.intaglio, path, x, more)
            [exact] = exact_session(path, form, options.folder).run(None, feed)
            [default] = session(path).run(None, feed)
            print(f"| {name} | {form} | {np.mean(ours == exact):.2%} | "
                  f"{'yes' if ours.argmax() == exact.argmax() else 'no'} | "
                  f"{np.mean(default == exact):.2%} |", flush=True)


if __name__ == "__main__":
    main()
