"""A peer as a process with the protocol of runner.cc:

    python3 engine.py litert|onnxruntime MODEL THREADS cpu|wall FOLDER
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


class LiteRt:
    """With the XNNPACK delegate, which is LiteRT's default."""

    def __init__(self, path, threads):
        self.interpreter = litert.Interpreter(model_path=path, num_threads=threads)
        self.interpreter.allocate_tensors()
        self.invoke = self.interpreter.invoke

    def feed(self, folder):
        for i, detail in enumerate(self.interpreter.get_input_details()):
            data = np.fromfile(folder / f"input{i}", dtype=detail["dtype"])
            self.interpreter.set_tensor(detail["index"], data.reshape(detail["shape"]))

    def outputs(self):
        return [np.array(self.interpreter.get_tensor(d["index"]))
                for d in self.interpreter.get_output_details()]


class OnnxRuntime:
    """With its default optimizations; inputs and outputs bound, so that no run converts them."""

    def __init__(self, path, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options,
                                                    providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        self.invoke = lambda: self.session.run_with_iobinding(self.binding)

    def feed(self, folder):
        for i, tensor in enumerate(self.session.get_inputs()):
            quantized = "uint8" in tensor.type
            shape = [tensor.shape[j] for j in (0, 2, 3, 1)]
            data = np.fromfile(folder / f"input{i}", dtype=np.int8 if quantized else np.float32)
            data = data.reshape(shape).transpose(0, 3, 1, 2)
            if quantized:    # moved by 128, as the file's zero points are
                data = data.view(np.uint8) ^ 0x80
            self.value = onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(data))
            self.binding.bind_ortvalue_input(tensor.name, self.value)
        for tensor in self.session.get_outputs():
            self.binding.bind_output(tensor.name)

    def outputs(self):
        outputs = self.binding.copy_outputs_to_cpu()
        return [a.view(np.int8) ^ -128 if a.dtype == np.uint8 else a for a in outputs]


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
    print(json.dumps({"first_ms": first / 1e6, "peak_bytes": peak - resident}), flush=True)
    for line in sys.stdin:
        print(f"{fastest(contender.invoke, float(line), clock):.0f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "litert":
        from ai_edge_litert import interpreter as litert
        main(LiteRt, *sys.argv[2:])
    else:
        import onnxruntime
        onnxruntime.set_default_logger_severity(3)
        main(OnnxRuntime, *sys.argv[2:])
