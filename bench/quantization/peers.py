"""Accuracy of networks that were quantized after training: by Intaglio, ONNX Runtime and ai-edge-quantizer.

    PYTHONPATH=build/release/python python bench/quantization/peers.py FOLDER [--networks resnet8] [--seeds 5]
        [--only REGEX] [--out peers.json]

FOLDER is what train_float.py wrote. Every quantizer gets the same weights and the same 1,024 images, and each
file answers 10,000 images in its maker's runtime: .onnx in ONNX Runtime, .tflite in LiteRT, ours in Intaglio.
Prints how many answers are right, how many are those of float32, and how near the logits are to float32's. Needs
onnxruntime; ai-edge-quantizer and ai-edge-litert where they are there.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import intaglio
import numpy
from networks_data import model_of, read_part

WITHOUT_TFLITE = ("lstm",)

# The options of intaglio.quantize. What is recommended:
BEST = {"method": "mse", "learn_rounding": True, "correct_bias": True}
OURS = {
    "intaglio w8a8": {},
    "intaglio w8a8 per tensor": {"per_channel": False},
    "intaglio w8a8 per tensor, equalize, correct bias": {
        "per_channel": False,
        "equalize": True,
        "correct_bias": True,
    },
    "intaglio w8a8 percentile": {"method": "percentile"},
    "intaglio w8a8 mse": {"method": "mse"},
    "intaglio w8a8 smooth": {"smooth": True},
    "intaglio w8a8 learn rounding, correct bias": {"learn_rounding": True, "correct_bias": True},
    "intaglio w8a8 mse, learn rounding, correct bias": BEST,
    "intaglio w4a8": {"bits": "w4a8"},
    "intaglio w4a8 correct bias": {"bits": "w4a8", "correct_bias": True},
    "intaglio w4a8 learn rounding": {"bits": "w4a8", "learn_rounding": True},
    "intaglio w4a8 learn rounding, correct bias": {
        "bits": "w4a8",
        "learn_rounding": True,
        "correct_bias": True,
    },
    "intaglio w6a6 mse, learn rounding, correct bias": BEST | {"bits": "w6a6"},
    "intaglio w4a4 mse": {"bits": "w4a4", "method": "mse"},
    "intaglio w4a4 mse, learn rounding, correct bias": BEST | {"bits": "w4a4"},
    "intaglio .onnx w8a8": {"format": "onnx"},
    "intaglio .onnx w8a8 mse, learn rounding, correct bias": BEST | {"format": "onnx"},
}


class Data:
    def __init__(self, folder, network):
        parts = ("samples", "images", "labels")
        self.samples, self.images, self.labels = (read_part(folder, network, p) for p in parts)

    def answers(self, answer):
        """The logits of all images, by a function of batches of 100."""
        batches = (self.images[start : start + 100] for start in range(0, len(self.images), 100))
        return numpy.concatenate([answer(images) for images in batches]).astype(numpy.float64)

    def score(self, logits, exact):
        """Percent of the images whose answer is right, of those whose answer is that of float32, and decibels of the
        logits over their distance from float32's."""
        chosen, noise = logits.argmax(1), ((logits - exact) ** 2).sum()
        return {
            "right": 100 * float((chosen == self.labels).mean()),
            "same": 100 * float((chosen == exact.argmax(1)).mean()),
            "sqnr": 10 * math.log10((exact**2).sum() / noise) if noise else math.inf,
        }


def in_intaglio(file):
    model = intaglio.load(file)
    shape = model.inputs[0].shape  # one channel: both layouts are the same
    return lambda images: numpy.concatenate([model.run([x.reshape(shape)])[0].copy() for x in images])


def in_onnxruntime(file):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda images: numpy.concatenate([session.run(None, {name: x[None]})[0] for x in images])


def in_litert(file):
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_content=file, num_threads=1)
    interpreter.allocate_tensors()
    (details,) = interpreter.get_input_details()
    (output,) = interpreter.get_output_details()

    def codes(image):
        image = image.reshape(details["shape"])  # one channel: both layouts are the same
        if details["dtype"] == numpy.float32:
            return image
        scale, zero = details["quantization"]
        limits = numpy.iinfo(details["dtype"])
        return numpy.clip(numpy.round(image / scale) + zero, limits.min, limits.max).astype(details["dtype"])

    def numbers(codes):
        scale, zero = output["quantization"]
        return codes if codes.dtype == numpy.float32 else scale * (codes.astype(numpy.float32) - zero)

    def answer(images):
        answers = []
        for image in images:
            interpreter.set_tensor(details["index"], codes(image))
            interpreter.invoke()
            answers.append(interpreter.get_tensor(output["index"])[0])
        return numbers(numpy.stack(answers))

    return answer


def ours(path, data, options):
    file = intaglio.quantize(path, data.samples, report_samples=0, **options).data
    return in_intaglio(file)


def by_onnxruntime(method, per_channel):
    def quantize(path, data):
        from onnxruntime import quantization
        from onnxruntime.quantization import shape_inference

        class Reader(quantization.CalibrationDataReader):
            def __init__(self):
                self.samples = iter(data.samples)

            def get_next(self):
                sample = next(self.samples, None)
                return None if sample is None else {"image": sample[None]}

        with tempfile.TemporaryDirectory() as folder:
            prepared, made = Path(folder, "prepared.onnx"), Path(folder, "made.onnx")
            shape_inference.quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True)
            quantization.quantize_static(
                str(prepared),
                str(made),
                Reader(),
                quant_format=quantization.QuantFormat.QDQ,
                per_channel=per_channel,
                activation_type=quantization.QuantType.QUInt8,
                weight_type=quantization.QuantType.QInt8,
                calibrate_method=getattr(quantization.CalibrationMethod, method),
            )
            return in_onnxruntime(made.read_bytes())

    return quantize


def by_ai_edge_quantizer(path, data):
    os.environ["TQDM_DISABLE"] = "1"  # thousands of lines of progress
    from ai_edge_quantizer import quantizer, recipe

    with tempfile.TemporaryDirectory() as folder:
        real, made = Path(folder, "float.tflite"), Path(folder, "int8.tflite")
        command = [sys.executable, "-m", "intaglio", "convert", "--finite", path, real]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        shape = add_signature(real)
        maker = quantizer.Quantizer(str(real), recipe.static_wi8_ai8())
        ranges = maker.calibrate({"run": [{"image": x.reshape(shape)} for x in data.samples]})
        maker.quantize(ranges).export_model(str(made), overwrite=True)
        return in_litert(made.read_bytes())


def add_signature(path):
    """The quantizer wants names of inputs and outputs, and tensors of different names. Returns the shape of
    the input."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(path.read_bytes(), 0))
    (graph,) = model.subgraphs
    for number, tensor in enumerate(graph.tensors):
        tensor.name = f"tensor {number}"

    def named(name, index):
        entry = schema.TensorMapT()
        entry.name, entry.tensorIndex = name, index
        return entry

    signature = schema.SignatureDefT()
    signature.signatureKey, signature.subgraphIndex = "run", 0
    signature.inputs = [named("image", graph.inputs[0])]
    signature.outputs = [named("logits", graph.outputs[0])]
    model.signatureDefs = [signature]
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))
    return tuple(graph.tensors[graph.inputs[0]].shape)


def described(scores):
    return f"{scores['right']:.2f} % right  {scores['same']:.2f} % as float32  {scores['sqnr']:.1f} dB"


def forms(path, data):
    """Names, and functions that return one that answers."""
    yield "float32", lambda: in_intaglio(str(path))
    for name, options in OURS.items():
        merged = {"format": "tflite"} | options
        yield name, lambda merged=merged: ours(path, data, merged)
    for method in ("MinMax", "Entropy", "Percentile"):
        for per_channel in (False, True):
            name = f"ONNX Runtime w8a8 {method.lower()}" + ("" if per_channel else " per tensor")
            yield name, lambda m=method, p=per_channel: by_onnxruntime(m, p)(path, data)
    yield "ai-edge-quantizer w8a8", lambda: by_ai_edge_quantizer(path, data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--networks", default="resnet8,mobilenet")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default=".", help="the forms to measure, a regular expression")
    parser.add_argument("--out", type=Path, default=Path("peers.json"))
    options = parser.parse_args()
    results = {}
    for name in options.networks.split(","):
        data = Data(options.folder, name)
        for seed in range(options.seeds):
            path = model_of(options.folder, name, seed)
            exact = data.answers(in_intaglio(str(path)))
            for form, make in forms(path, data):
                if not re.search(options.only, form):
                    continue
                start = time.process_time()
                try:
                    scores = data.score(data.answers(make()), exact)
                except ImportError as error:
                    print(f"{form}: left out, {error}")
                    continue
                except (intaglio.errors.UnsupportedError, subprocess.CalledProcessError) as error:
                    if name not in WITHOUT_TFLITE:
                        raise
                    print(f"{form}: left out, {error}")
                    continue
                rows = results.setdefault(name, {}).setdefault(form, {})
                for score, number in scores.items():
                    rows.setdefault(score, []).append(number)
                seconds = time.process_time() - start
                print(f"{name}.{seed} {form:55} {described(scores)}  {seconds:.0f} CPU s", flush=True)
                options.out.write_text(json.dumps(results, indent=1) + "\n")
    for name, rows in results.items():
        print(f"\n{name}: means over {options.seeds} seeds, and the deviation of the right ones")
        for form, scores in rows.items():
            deviation = statistics.stdev(scores["right"]) if len(scores["right"]) > 1 else 0
            means = {score: statistics.mean(numbers) for score, numbers in scores.items()}
            print(f"  {form:55} {described(means)}  {deviation:.2f}")


main()
