"""Models as .tflite files: those of networks.py, which exist as .onnx files too, and a folder's."""

from pathlib import Path

import numpy as np
from ai_edge_litert import interpreter as litert
from ai_edge_litert import schema_py_generated as schema

import networks
import onnx_file
import tflite

KINDS = ("network", "operator", "hybrid", "float32")
PACKAGES = ("ai-edge-litert", "onnxruntime", "openvino")
COLUMNS = {"intaglio": "intaglio", "litert": "litert", "onnxruntime": "onnxrt",
           "onnxruntime_exact": "ort exact", "openvino": "openvino",
           "litert_float": "litert f", "onnxruntime_float": "onnxrt f"}
DETAILED = ("intaglio", "litert", "onnxruntime")    # with memory and first results
PEERS = {"ratio": ("litert", "onnxruntime"),    # the faster one's time over ours
         "ratio_exact": ("onnxruntime_exact",), "ratio_openvino": ("openvino",)}
DIFFERENCES = ("difference",)


class Case:
    """A model and the files of it that each contender runs."""

    batch = 1    # images that a run takes, of the networks that are made here

    def __init__(self, name, path, onnx=(), real=None, kind="network"):
        """`onnx`: the contenders that run an .onnx file of the same numbers, and that file."""
        self.name, self.kind = name, kind
        self.files = {"intaglio": path, "litert": path, **dict(onnx)}
        if real is not None:
            self.files["litert_float"], self.files["onnxruntime_float"] = real

    def write_inputs(self, folder, contender):
        interpreter = litert.Interpreter(model_path=str(self.files["litert"]))
        rng = np.random.default_rng(1)
        for i, detail in enumerate(interpreter.get_input_details()):
            data = rng.integers(0, 256, detail["shape"], dtype=np.uint8)
            reads_onnx = contender.startswith(("onnxruntime", "openvino"))
            if contender.endswith("_float"):
                data = (data.view(np.int8) / 64).astype(np.float32)
            elif np.issubdtype(detail["dtype"], np.floating):
                data = (data / 128 - 1).astype(np.float32)
            elif np.dtype(detail["dtype"]).itemsize > 1:
                data = data.astype(detail["dtype"])
            elif reads_onnx:
                data ^= 0x80    # moved by 128, as the file's zero points are
            if reads_onnx:
                data = data.transpose(0, 3, 1, 2)
            (folder / f"input{i}").write_bytes(data.tobytes())

    def differences(self, running):
        """The largest difference between our outputs and LiteRT's, in steps of the output."""
        if not {"intaglio", "litert"} <= running.keys():
            return {}
        worst = 0
        for i, detail in enumerate(litert.Interpreter(
                model_path=str(self.files["litert"])).get_output_details()):
            x, y = (np.fromfile(running[name].folder / f"output{i}", dtype=detail["dtype"])
                    for name in ("intaglio", "litert"))
            worst = max(worst, float(np.max(np.abs(x.astype(np.float64) - y), initial=0)))
        return {"difference": worst}


def cases(folder, options):
    for case in generated(folder, options):
        case.batch = options.batch
        yield case
    if options.models is not None:
        yield from found(options.models, options.filter, options.real)


def generated(folder, options):
    text = options.filter
    more = ("onnxruntime_exact", "openvino") if options.all_peers else ()
    for name, make in networks.ALL.items():
        kinds = [k for k in ("hybrid", "float32") if options.real and text in f"{name} {k}"]
        if text not in name and not kinds:
            continue
        network = make()
        assert network.name == name
        if text in name:
            yield generated_int8(folder, network, ("onnxruntime", *more), options.float)
        for kind in kinds:
            path = folder / f"{name}.{kind}.tflite"
            tflite.write(network, path, kind)
            onnx = folder / f"{name}.{kind}.onnx"
            if kind == "float32":
                onnx_file.write(network, onnx, real=True)
            peers = ("onnxruntime", *more[1:]) if kind == "float32" else ()
            yield Case(f"{name} {kind}", path, dict.fromkeys(peers, onnx), kind=kind)


def generated_int8(folder, network, peers, with_float):
    paths = [folder / f"{network.name}.{kind}" for kind in
             ("int8.tflite", "int8.onnx", "float.tflite", "float.onnx")]
    tflite.write(network, paths[0])
    onnx_file.write(network, paths[1])
    if with_float:
        tflite.write(network, paths[2], "float32")
        onnx_file.write(network, paths[3], real=True)
    return Case(network.name, paths[0], dict.fromkeys(peers, paths[1]),
                paths[2:] if with_float else None)


def kind_of(path):
    """What a file is counted as; None for one whose inputs are of other types."""
    model = schema.Model.GetRootAs(path.read_bytes(), 0)
    graph = model.Subgraphs(0)
    types = {graph.Tensors(graph.Inputs(i)).Type() for i in range(graph.InputsLength())}
    quantized = {schema.TensorType.INT8, schema.TensorType.UINT8, schema.TensorType.INT16}
    if types <= quantized and graph.OperatorsLength() > 0:
        return "operator" if graph.OperatorsLength() == 1 else "network"
    if types != {schema.TensorType.FLOAT32}:
        return None
    constants = {graph.Tensors(i).Type() for i in range(graph.TensorsLength())
                 if model.Buffers(graph.Tensors(i).Buffer()).DataLength() > 0}
    return "hybrid" if schema.TensorType.INT8 in constants else "float32"


def litert_reads(path):
    try:
        litert.Interpreter(model_path=str(path))
        return True
    except ValueError as error:
        print(f"{path.stem}: LiteRT cannot read it: {str(error)[:80]}", flush=True)
        return False


def found(folder, text, with_real):
    for path in sorted(Path(folder).rglob("*.tflite")):
        if text not in str(path):
            continue
        kind = kind_of(path)
        wanted = kind in ("network", "operator") or (with_real and kind is not None)
        if wanted and litert_reads(path):
            yield Case(path.stem, path, kind=kind)
