"""A peer as a process with the protocol of runner.cc:

    python3 engine.py litert|onnxruntime|onnxruntime_exact|openvino MODEL THREADS cpu|wall FOLDER
"""

import json
import sys
import time
from pathlib import Path

import numpy as np


def status_bytes(key):
    for line in open("/proc/self/status"):
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    return 0


def read_input(folder, i, dtype, shape):
    """The file's bytes. FOLDER/shapes, if it exists, has the shapes of all inputs, one in each line."""
    shapes = folder / "shapes"
    if shapes.exists():
        shape = [int(n) for n in shapes.read_text().splitlines()[i].split()]
    return np.fromfile(folder / f"input{i}", dtype=dtype).reshape(shape)


class LiteRt:
    """With the XNNPACK delegate, which is LiteRT's default."""

    def __init__(self, path, threads):
        self.interpreter = litert.Interpreter(model_path=path, num_threads=threads)
        self.interpreter.allocate_tensors()
        self.invoke = self.interpreter.invoke

    def feed(self, folder):
        for i, detail in enumerate(self.interpreter.get_input_details()):
            data = read_input(folder, i, detail["dtype"], detail["shape"])
            self.interpreter.set_tensor(detail["index"], data)

    def outputs(self):
        return [np.array(self.interpreter.get_tensor(d["index"]))
                for d in self.interpreter.get_output_details()]


class OnnxRuntime:
    """With its default optimizations; inputs and outputs bound, so that no run converts them."""

    TYPES = {"float": "float32", "float16": "float16", "double": "float64"}

    def __init__(self, path, threads, exact=False):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        if exact:    # never saturates (the default does on CPUs that have AVX2 but no VNNI)
            options.add_session_config_entry("session.x64quantprecision", "1")
        self.session = onnxruntime.InferenceSession(path, options,
                                                    providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        self.invoke = lambda: self.session.run_with_iobinding(self.binding)

    def feed(self, folder):
        self.values = []
        for i, tensor in enumerate(self.session.get_inputs()):
            name = tensor.type.removeprefix("tensor(").removesuffix(")")
            data = read_input(folder, i, self.TYPES.get(name, name), tensor.shape)
            self.values.append(onnxruntime.OrtValue.ortvalue_from_numpy(data))
            self.binding.bind_ortvalue_input(tensor.name, self.values[-1])
        for tensor in self.session.get_outputs():
            self.binding.bind_output(tensor.name)

    def outputs(self):
        outputs = self.binding.copy_outputs_to_cpu()
        declared = self.session.get_outputs()
        if any(len(t.shape) != a.ndim for t, a in zip(declared, outputs)):
            # A second run refuses outputs that the first one gave another rank than the file says.
            names = [t.name for t in declared]
            values = {t.name: v for t, v in zip(self.session.get_inputs(), self.values)}
            self.invoke = lambda: self.session.run_with_ort_values(names, values)
        return outputs


class OpenVino:
    """Asked for the least latency, and for float32 where others compute in it. It compiles a model for
    the shapes of its inputs, which FOLDER/shapes names."""

    def __init__(self, path, threads):
        self.core = openvino.Core()
        self.model = self.core.read_model(path)
        self.options = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
                        "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}

    def feed(self, folder):
        data = [read_input(folder, i, port.get_element_type().to_dtype(), -1)
                for i, port in enumerate(self.model.inputs)]
        self.model.reshape({i: list(a.shape) for i, a in enumerate(data)})
        self.request = self.core.compile_model(self.model, "CPU", self.options).create_infer_request()
        for i, a in enumerate(data):
            self.request.set_input_tensor(i, openvino.Tensor(a))

    def invoke(self):
        self.request.start_async()
        self.request.wait()

    def outputs(self):
        return [np.array(self.request.get_output_tensor(i).data)
                for i in range(len(self.model.outputs))]


def fastest(invoke, seconds, clock):
    invoke()
    best = float("inf")
    start = clock()
    end = start + seconds * 1e9
    while start < end:
        invoke()
        stop = clock()
        best = min(best, stop - start)
        start = stop
    return best


def main(engine, path, threads, clock, folder):
    clock = time.process_time_ns if clock == "cpu" else time.perf_counter_ns
    folder = Path(folder)
    Path("/proc/self/clear_refs").write_text("5")
    resident = status_bytes("VmRSS")
    opened = clock()
    contender = engine(path, int(threads))
    contender.feed(folder)
    contender.invoke()
    outputs = contender.outputs()
    first = clock() - opened
    peak = status_bytes("VmHWM")
    for i, output in enumerate(outputs):
        (folder / f"output{i}").write_bytes(output.tobytes())
    print(json.dumps({"first_ms": first / 1e6, "peak_bytes": peak - resident,
                      "types": [output.dtype.name for output in outputs]}), flush=True)
    for line in sys.stdin:
        print(f"{fastest(contender.invoke, float(line), clock):.0f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "litert":
        from ai_edge_litert import interpreter as litert
        main(LiteRt, *sys.argv[2:])
    elif sys.argv[1] == "openvino":
        import openvino
        main(OpenVino, *sys.argv[2:])
    else:
        import onnxruntime
        onnxruntime.set_default_logger_severity(3)
        exact = sys.argv[1] == "onnxruntime_exact"
        main(lambda path, threads: OnnxRuntime(path, threads, exact), *sys.argv[2:])
